"""Certificates of fits on float32 kernel values: true, and close enough to call a converged fit converged."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from kernbench import KernelNoveltyDetector, KernelSVC
from kernbench.estimators.fit.certificate import Examined, certified
from kernbench.experiments.measure.objectives import expansion_objective
from kernbench.kernels import DotProduct, ExponentialChiSquared, Gaussian, Matern, Sigmoid
from kernbench.kernels import rows as compiled
from kernbench.problems.certificate.kernel_values import error_of_values, with_subnormals
from kernbench.problems.certificate.risks import MarginRisk
from kernbench.problems.margin_problem import MarginProblem
from kernbench.reference.kernels.rows import KernelRows
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo.smo import SMO


@pytest.mark.parametrize("C", [1.0, 100.0, 3000.0])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_large_C_has_a_true_gap_in_float32(C, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(2500, 6))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=2500) > 0, 1, -1)
    model = KernelSVC(gamma=0.2, C=C, dtype="float32").fit(X, y)
    assert model.converged_ == (model.duality_gap_ <= model.tol * model.objective_)
    assert model.converged_ or C > 100  # beyond, rounding of float32 values may be larger than tol
    tight = KernelSVC(gamma=0.2, C=C, dtype="float64", tol=1e-6).fit(X, y)
    exact = expansion_objective(X, y, 0.2, 1 / (C * 2500), model.support_, model.dual_coef_[0], model.intercept_[0])
    lower = model.objective_ - model.duality_gap_
    assert lower <= tight.objective_ and lower <= exact
    assert exact == pytest.approx(model.objective_, abs=model.duality_gap_)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_rows_beyond_the_kink_of_a_hinge_are_not_sensitive(loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), np.repeat([-1.0, 1.0], 25)
    weights = np.ones(50)
    weights[7] = 0.0
    risk = MarginRisk(MarginProblem(KernelRows(X, Gaussian()), y, alpha=0.1, weights=weights, loss=loss))
    scores, error = 2.0 * rng.normal(size=50), 0.1
    margins = y * scores
    expected = np.arange(50) if loss == "log_loss" else np.flatnonzero(margins < 1 + error)
    assert risk.sensitive(scores, error).tolist() == [row for row in expected if row != 7]
    rows, errors = np.array([3, 30]), np.array([0.02, -0.03])
    changed = scores.copy()
    changed[rows] -= errors
    whole = (risk.value(scores, 0.0) - risk.value(changed, 0.0)) * 50
    assert risk.changes(rows, scores[rows], errors).sum() == pytest.approx(float(whole))


def test_scores_that_were_updated_step_by_step_are_measured_as_they_are():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    rows = compiled.KernelRows(X.astype(np.float32), Gaussian(2.0), dtype=np.float32)
    risk = MarginRisk(MarginProblem(rows, y, alpha=1 / 300))
    examined = Examined(risk, X, Gaussian(2.0), rows, "float32", own_dual=True)
    coef = 0.1 * y * rng.random(300)
    products = rows.matvec(coef)

    def measured(drift, n_updates, state=True):
        known = {"products": products + drift} if state else {}
        return examined.measure(Solution(coef, 0.0, state=known), 0.5, n_updates, 64).total

    # However many the updates: their rounding is in the scores. It is bounded where scores are not known.
    assert measured(0.0, 10**9) == measured(0.0, 0)
    assert measured(0.0, 10**9, state=False) > 2 * measured(0.0, 0, state=False)
    assert measured(1e-3, 0) > measured(0.0, 0) + 1e-4


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_billions_of_updates_do_not_widen_a_gap_that_they_left_alone(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2600, 4))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=2600) > 0, 1.0, -1.0)
    kernel = Gaussian(2.0)
    rows = compiled.KernelRows(X.astype(dtype), kernel, dtype=np.dtype(dtype))
    solver = SMO(rows, y, alpha=1 / 2600, tol=1e-4)
    result = driver.run(solver, max_iter=10**6, tol=1e-4)
    examined = Examined(MarginRisk(solver.problem), X, kernel, rows, dtype, own_dual=True)
    found = certified(examined, replace(result, n_iter=10**11), 1e-3)
    assert found.status == "converged" and found.gap <= 1e-3 * found.objective
    blind = replace(result.solution, state={})  # scores are not known
    assert dtype == "float32" or certified(examined, replace(result, n_iter=10**11, solution=blind), 1e-3).gap > 1e-3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("size", [1.0, 1e2, 1e4, 1e6])
def test_bound_of_exponential_chi_squared_values_grows_with_the_rows(size, form, dtype, global_random_seed):
    """Sums over stored entries start with the sum of a row and subtract from it."""
    rng = np.random.default_rng(global_random_seed)
    X = rng.gamma(1.0, size=(60, 2 if form is np.asarray else 40)) * size
    X[1::2] = X[::2] * (1 + rng.normal(size=(30, 1)) / size**0.5)  # chi-squared distances of about 1
    X = np.abs(X) * (rng.random(X.shape[1]) < 0.2 if form is sparse.csr_matrix else 1)
    wide, kernel = X.astype(np.longdouble), ExponentialChiSquared(1.0)
    total = wide[:, None] + wide
    quotients = np.square(wide[:, None] - wide) / np.where(total > 0, total, 1)
    error = np.abs(compiled.KernelRows(form(X), kernel, dtype=dtype).batch(np.arange(60)) - np.exp(-quotients.sum(2)))
    assert error.max() <= error_of_values(kernel, dtype, form(X))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("degree", [2, 20, 200])
def test_bound_of_power_series_grows_with_their_degree(degree, dtype, global_random_seed):
    X = np.random.default_rng(global_random_seed).normal(size=(400, 3))
    X /= np.linalg.norm(X, axis=1).max()
    kernel, wide = DotProduct((0.0,) * degree + (1.0,)), X.astype(np.longdouble)
    exact = (wide @ wide.T) ** degree
    error = np.abs(compiled.KernelRows(X, kernel, dtype=dtype).batch(np.arange(400)) - exact).max() / exact.max()
    assert error <= error_of_values(kernel, dtype, X)
    assert error_of_values(DotProduct.exponential(20), dtype, X) == error_of_values(DotProduct(), dtype, X)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("c", [0.0, -1.0, -1e4, 1e-3])
def test_bound_of_sigmoid_values_grows_with_the_argument_of_tanh(c, dtype, global_random_seed):
    """Its two terms may cancel, and their rounding remains."""
    X = 0.3 * np.random.default_rng(global_random_seed).normal(size=(60, 3))
    X[:, 0] += max(0.0, -c) ** 0.5
    kernel, wide = Sigmoid(1.0, c), X.astype(np.longdouble)
    exact = np.tanh(wide @ wide.T + np.longdouble(c))
    error = np.abs(compiled.KernelRows(X, kernel, dtype=dtype).batch(np.arange(60)) - exact).max()
    assert error <= error_of_values(kernel, dtype, X) * np.diagonal(exact).max()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_sigmoid_whose_float32_values_are_all_zero_is_not_certified():
    y = np.tile([-1.0, 1.0], 20)
    X = np.column_stack([np.full(40, 1e4), y])  # 1e8 + y y' in float32 is 1e8
    model = KernelSVC("sigmoid", gamma=1.0, coef0=-1e8, dtype="float32").fit(X, y)
    optimum = 0.5 / np.tanh(1.0) / 40  # of f(x) = y, whose margins are 1
    assert not model.converged_ and model.objective_ - model.duality_gap_ <= optimum * (1 + 1e-6)


def test_few_rows_are_all_measured():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.repeat([-1.0, 1.0], 20)
    rows, alpha = compiled.KernelRows(X.astype(np.float32), Gaussian(), dtype=np.float32), 1 / 40
    examined = Examined(MarginRisk(MarginProblem(rows, y, alpha=alpha)), X, Gaussian(), rows, "float32", own_dual=True)
    coef, drift = np.zeros(40), np.zeros(40)
    coef[:4], drift[1:4] = [1e5, 1.0, 1.0, 1.0], 0.1  # draws in proportion to the coefficients miss these rows
    solution = Solution(coef, 0.0, state={"products": rows.matvec(coef) + drift})
    assert examined.measure(solution, 0.5, 0, 64).bound >= 0.5 * alpha * 0.3


def test_weights_of_which_few_rows_hold_most_where_no_row_is_sensitive():
    """All scores are far beyond the kink of the hinge: there is nothing to draw from."""
    y, weights = np.repeat([-1.0, 1.0], 150), np.ones(300)
    weights[:3] = 1e3
    X = 5.0 * y[:, None] + 0.1 * np.random.default_rng(0).normal(size=(300, 2))
    rows = compiled.KernelRows(X.astype(np.float32), Gaussian(2.0), dtype=np.float32)
    risk = MarginRisk(MarginProblem(rows, y, alpha=1 / 300, weights=weights))
    examined = Examined(risk, X, Gaussian(2.0), rows, "float32", own_dual=True)
    products = rows.matvec(y)
    assert risk.sensitive(products, 1e-3).size == 0
    assert 0.0 < examined.measure(Solution(y, 0.0, state={"products": products}), 0.5, 0, 64).total < 1e-3


def test_few_rows_of_most_of_the_weight_are_measured():
    X, weights, nu = np.random.default_rng([200, 3, 0]).normal(size=(200, 3)), np.ones(200), 0.1
    K = np.exp(-1e-4 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    weights[:3] = 1e6
    model, tight = (
        KernelNoveltyDetector(kernel="precomputed", nu=nu, tol=tol, dtype=dtype).fit(K, sample_weight=weights)
        for tol, dtype in ((1e-5, "float32"), (1e-9, "float64"))
    )
    coef = np.zeros(200)
    coef[model.support_] = model.dual_coef_[0]
    f = K @ coef
    losses = weights @ np.maximum(0.0, model.offset_ - f) - nu * model.offset_ * weights.sum()
    assert (0.5 * (coef @ f) + losses) / 200 - tight.objective_ <= model.duality_gap_


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("weight", [1.0, 5.0, 1000.0])
def test_errors_of_a_few_rows_count_by_their_weights_and_by_their_squares(loss, weight):
    rng = np.random.default_rng(0)
    n, few = 5000, 250
    X, y = rng.normal(size=(n, 2)), np.repeat([-1.0, 1.0], n // 2)
    weights = np.where(np.arange(n) < few, weight, 1.0)
    problem = MarginProblem(KernelRows(X, Gaussian()), y, alpha=0.1, weights=weights, loss=loss)
    examined = Examined(MarginRisk(problem), X, Gaussian())
    errors = np.where(np.arange(n) < few, 1e-3, 1e-9)
    bound = examined._error_of_scores(lambda rows: errors[rows], 1024, rng)
    power = 1 if loss == "hinge" else 2
    exact = np.average(errors**power, weights=weights) ** (1 / power)
    assert exact <= bound < 4 * exact


@pytest.mark.parametrize("solver", ["sdca", "smo"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_equal_rows_of_a_steep_kernel_have_a_true_gap(solver):
    X, y = np.ones((200, 3)), np.repeat([1, -1], [130, 70])
    options = {"C": 1.0, "fit_intercept": False, "random_state": 0}
    model = KernelSVC(Matern(nu=0.3), solver=solver, max_iter=3, **options).fit(X, y)
    optimum = KernelSVC(Gaussian(1.0), tol=1e-9, **options).fit(X, y).objective_  # of the same problem: k = 1
    assert model.objective_ - model.duality_gap_ <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_values_below_the_normal_range_of_float32_have_a_true_gap(kernel):
    """They are multiples of 1.4e-45, here a few per cent of the largest."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] + 0.3 * X[:, 1] > 0
    optimum = KernelSVC("linear", C=0.1, tol=1e-9).fit(X, y).objective_  # of the same problem in other units
    rows = 1e-22 * X if kernel == "linear" else (1e-22 * X) @ (1e-22 * X).T
    model = KernelSVC(kernel, C=1e43, tol=0.01, solver="sdca", dtype="float32", random_state=0).fit(rows, y)
    coef = np.zeros(60)
    coef[model.support_] = model.dual_coef_[0]
    f = (1e-22 * X) @ ((1e-22 * X).T @ coef)
    losses = np.maximum(0.0, 1.0 - np.where(y, 1.0, -1.0) * (f + model.intercept_[0]))
    objective = (0.5 * 1e-43 * (coef @ f) + losses.sum()) / 60
    assert abs(model.objective_ - objective) <= model.duality_gap_
    assert model.objective_ - model.duality_gap_ <= optimum * (1 + 1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bounds_of_values_in_the_normal_range_stay_as_they_are(dtype):
    tiny, eps = np.finfo(dtype).tiny, np.finfo(dtype).eps
    for largest in (1e-20, 1.0, 1e30):
        assert with_subnormals(100 * eps, dtype, largest) == 100 * eps
    assert with_subnormals(100 * eps, dtype, tiny * eps) > 1.0  # of the least number above 0
    assert with_subnormals(100 * eps, dtype, 0.0) == 100 * eps
