"""Columns far from the origin: models with an intercept do not depend on a shift of the rows."""

import warnings
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from exact_objectives import exact_objective
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

import kernbench
from kernbench.estimators.fit import centring, folding
from kernbench.estimators.fit.centring import (
    centre_of,
    centred,
    combined,
    exact_intercept,
    left_over,
    mean_of,
    rounding_of,
    shift_of,
)
from kernbench.estimators.fit.small_problem import _SmallProblem
from kernbench.estimators.svm.kernel_task import KernelTask
from kernbench.estimators.svm.nu_task import KernelNuTask
from kernbench.losses.margin import Hinge
from kernbench.solvers.base import Solution

SHIFTS = (100.0, 1e4, 1e6)
FORMATS = {"dense": np.asarray, "csr": sparse.csr_matrix}
SHIFTED = {
    "KernelSVC": {"kernel": "linear"},
    "KernelRegressor": {"kernel": "linear"},
    "AUCMarginClassifier": {},
    "RankedRangeClassifier": {},
    "RankedRangeRegressor": {},
    "ROCSVC": {},
    "PartialAUCClassifier": {},
}
OF_A_DTYPE = [
    (name, dtype)
    for name in SHIFTED
    for dtype in ("auto", "float32", "float64")
    if dtype == "auto" or name == "KernelSVC"
]


def problem(name, n=None, d=6):
    """Rows around the origin and targets, for `KernelSVC` as many as take float32 by ``dtype="auto"``."""
    n = n or (2200 if name == "KernelSVC" else 800)
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, d))
    targets = X @ np.linspace(-1.0, 1.0, d) + 0.7 * rng.normal(size=n)
    return X, targets if name.endswith("Regressor") else (targets > 0).astype(int)


def fitted(name, X, y, **parameters):
    model = getattr(kernbench, name)(random_state=0, **{**SHIFTED[name], **parameters})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model.fit(X, y)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name, dtype", OF_A_DTYPE)
def test_a_shift_of_the_rows_changes_nothing(name, dtype, form):
    X, y = problem(name)
    plain = fitted(name, X, y, dtype=dtype)
    values = plain.predict(X) if name.endswith("Regressor") else plain.decision_function(X)
    for shift in SHIFTS:
        rows = FORMATS[form](X + shift)
        model = fitted(name, rows, y, dtype=dtype)
        moved = model.predict(rows) if name.endswith("Regressor") else model.decision_function(rows)
        tol = 0.1 * model.tol if name.startswith("Kernel") else 10 * model.tol
        assert model.objective_ == pytest.approx(plain.objective_, rel=tol)
        assert abs(model.score(rows, y) - plain.score(X, y)) < 0.01
        np.testing.assert_allclose(moved - moved.mean(), values - values.mean(), atol=0.02 * values.std())


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shift", SHIFTS)
def test_the_fitted_attributes_are_those_of_scikit_learn(shift, form):
    X, y = problem("KernelSVC", n=300)
    y = y + 2 * (X[:, 0] > 0.5)
    rows = X + shift
    ours = kernbench.KernelSVC("linear", tol=1e-6, decision_function_shape="ovo").fit(FORMATS[form](rows), y)
    theirs = SVC(kernel="linear", tol=1e-6, decision_function_shape="ovo").fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(
        ours.intercept_, theirs.intercept_ - shift * theirs.coef_.sum(axis=1), atol=1e-4 * (1 + shift)
    )
    np.testing.assert_array_equal(dense(ours.support_vectors_), rows[ours.support_])
    np.testing.assert_allclose(ours.decision_function(FORMATS[form](rows)), theirs.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(ours.decision_function(rows), rows @ ours.coef_.T + ours.intercept_, atol=1e-6)


def test_the_dual_coefficients_belong_to_the_rows_as_they_are():
    X, y = problem("KernelSVC", n=200)
    X = X + 10.0
    model = kernbench.KernelSVC("linear", tol=1e-6).fit(X, y)
    assert abs(model.dual_coef_.sum()) < 1e-10
    expansion = X @ model.support_vectors_.T @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), expansion, atol=1e-8)


@pytest.mark.parametrize("solver", ["sdca", "pegasos", "wolfe", "sbp", "norma"])
def test_every_solver_takes_centred_rows(solver):
    X, y = problem("KernelSVC", n=300)
    models = [kernbench.KernelSVC("linear", solver=solver, tol=0.05, random_state=0, max_iter=2000) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, far = models[0].fit(X, y), models[1].fit(X + 1e5, y)
    np.testing.assert_allclose(far.decision_function(X + 1e5), plain.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(far.objective_, plain.objective_, rtol=1e-6)


def test_without_an_intercept_rows_are_taken_as_they_are():
    X, y = problem("KernelSVC", n=200)
    model = kernbench.KernelSVC("linear", fit_intercept=False).fit(X + 5.0, y)
    assert model.centre_ is None
    assert model.intercept_ == 0


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_a_linear_kernel_regressor_is_ridge_regression(form, weighted, shift):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 5)) + shift
    X[:, :2] *= rng.random((150, 2)) < 0.3  # columns with zeros, which sparse rows must not fill
    y = X[:, 2] - shift + rng.normal(size=150)
    weights = rng.integers(0, 3, size=150).astype(float) if weighted else None
    total = 150 if weights is None else weights.sum()
    X[:, :2] /= max(1.0, shift)
    model = kernbench.KernelRegressor(kernel="linear", alpha=0.1, tol=1e-10, random_state=0)
    model.fit(FORMATS[form](X), y, weights)
    ridge = Ridge(alpha=0.1 * total).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, ridge.coef_, atol=1e-4)
    np.testing.assert_allclose(model.predict(FORMATS[form](X)), ridge.predict(X), atol=1e-4)


def test_models_far_from_the_origin_survive_a_file(tmp_path):
    X, y = problem("KernelSVC", n=100)
    model = kernbench.KernelSVC("linear").fit(X + 1e5, y)
    model.save(tmp_path / "model.npz")
    again = kernbench.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.decision_function(X + 1e5), model.decision_function(X + 1e5))
    np.testing.assert_array_equal(again.centre_, model.centre_)


def test_the_centre_leaves_columns_with_zeros():
    X = np.array([[1e6, 0.0, 3.0], [1e6 + 1, 5.0, 3.0], [1e6 + 2, 5.0, 3.0]])
    for form in FORMATS.values():
        np.testing.assert_array_equal(centre_of(form(X)), [1e6 + 1, 0.0, 3.0])
        assert centre_of(form(X[:, 1:2])) is None
        moved = centred(form(X), centre_of(X))
        np.testing.assert_array_equal(dense(moved), X - centre_of(X))
    assert centred(X, None) is X
    assert centred(X.astype(np.float32), centre_of(X)).dtype == np.float32


def test_zeros_that_are_stored_are_zeros():
    X = np.array([[5.0, 0.0], [6.0, 4.0], [7.0, 5.0]])
    stored = sparse.csr_matrix((X.ravel(), np.tile([0, 1], 3), [0, 2, 4, 6]), shape=(3, 2))
    np.testing.assert_array_equal(centre_of(stored), centre_of(X))


def test_sums_of_centred_rows_are_those_of_dense_ones():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3)) + [1e6, 0.0, 0.0]
    X[::2, 1] = 0
    coef, centre = rng.normal(size=(2, 40)), np.array([1e6, 0.5, -2.0])
    expected = coef @ (X - centre)
    for form in FORMATS.values():
        np.testing.assert_allclose(combined(coef, form(X), centre), expected, rtol=1e-9)
        np.testing.assert_allclose(combined(coef[0], form(X), centre), expected[0], rtol=1e-9)
        np.testing.assert_allclose(mean_of(form(X)), X.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(mean_of(form(X), np.arange(40.0)), np.average(X, axis=0, weights=range(40)))
    np.testing.assert_array_equal(left_over(sparse.csr_matrix(X), centre), [0.0, 0.5, 0.0])
    np.testing.assert_allclose(shift_of(expected, centre), expected @ centre)


FAR = {
    "pair": lambda: kernbench.KernelSVC("linear"),
    "pair, large C": lambda: kernbench.KernelSVC("linear", C=100.0),
    "driver": lambda: kernbench.KernelSVC("linear", C=100.0, max_iter=10**8),
    "driver, tight": lambda: kernbench.KernelSVC("linear", max_iter=10**8, tol=1e-6),
    "squared hinge": lambda: kernbench.KernelSVC("linear", loss="squared_hinge", tol=1e-6),
    "LinearSVC hinge": lambda: kernbench.LinearSVC("hinge", C=100.0, intercept_scaling=np.inf),
    "LinearSVC log_loss": lambda: kernbench.LinearSVC("log_loss", C=100.0, intercept_scaling=np.inf),
    "LinearRegressor": lambda: kernbench.LinearRegressor("absolute_error", alpha=0.01),
    "LinearRegressor squares": lambda: kernbench.LinearRegressor("squared_error", alpha=0.01),
    "mean of targets": lambda: kernbench.LinearRegressor("squared_error", alpha=0.01, solver="sdca"),
    "kernel ridge": lambda: kernbench.KernelRegressor("squared_error", kernel="linear", alpha=0.01),
    "KernelRegressor": lambda: kernbench.KernelRegressor("absolute_error", kernel="linear", alpha=0.01),
}


def far_problem(shift, is_regression, n=60):
    """Rows and targets that are exact in float64 wherever they are."""
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(n, 3)) * 256) / 256 + 1 / 512
    y = np.round((X @ [1.0, -1.0, 0.5] + 0.5 * rng.normal(size=n)) * 256) / 256
    return X + shift, y if is_regression else (y > 0).astype(int)


def far_fit(name, shift):
    """Return a fitted model and its exact objective."""
    model = FAR[name]()
    X, y = far_problem(shift, hasattr(model, "alpha"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    alpha = model.alpha if hasattr(model, "alpha") else 1.0 / (model.C * len(y))
    targets = y if hasattr(model, "alpha") else None
    return model, exact_objective(model, X, y, None, alpha, targets=targets).value


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e6, 1e8, 1e10, 1e12, 1e13])
@pytest.mark.parametrize("name", FAR)
def test_gaps_count_the_rounding_of_the_stored_intercept(name, shift):
    model, exact = far_fit(name, shift)
    near, best = far_fit(name, 0.0)
    rounding = 1e-13 * best
    assert exact - model.objective_ <= model.duality_gap_ + rounding
    assert exact - best <= model.duality_gap_ + rounding
    # A fit is called stagnated only if it is one: the best float64 intercept costs more than the tolerance.
    assert model.converged_ or exact - best + near.duality_gap_ > 0.9 * model.tol * best


@pytest.mark.parametrize(("estimator", "scheme"), [("KernelSVC", "ovo"), ("KernelSVC", "ovr"), ("LinearSVC", "ovr")])
def test_gaps_of_many_classes_count_the_rounding_of_their_intercepts(estimator, scheme):
    X, y = far_problem(0.0, True)
    y = np.digitize(y, [-0.7, 0.7])
    options = {"KernelSVC": {"kernel": "linear", "multi_class": scheme}, "LinearSVC": {"intercept_scaling": np.inf}}
    model = getattr(kernbench, estimator)(loss="hinge", **options[estimator]).fit(X + 1e12, y)
    pairs = [(0, 1), (0, 2), (1, 2)] if estimator == "KernelSVC" and scheme == "ovo" else [(None, k) for k in range(3)]
    for k, (negative, positive) in enumerate(pairs):
        rows = np.ones(len(y), bool) if negative is None else (y == negative) | (y == positive)
        signs = np.where(y[rows] == positive, 1.0, -1.0) * (1.0 if negative is None else -1.0)
        scores = [
            sum((Fraction(w) * Fraction(x) for w, x in zip(model.coef_[k], row)), Fraction(model.intercept_[k]))
            for row in X[rows] + 1e12
        ]
        losses = [max(0.0, float(1 - Fraction(sign) * score)) for sign, score in zip(signs, scores)]
        exact = model.coef_[k] @ model.coef_[k] / (2.0 * model.C * rows.sum()) + np.mean(losses)
        assert exact - model.objective_[k] <= model.duality_gap_[k] + 1e-12
    assert max(model.duality_gap_) > 1e-7


def test_targets_afar_are_counted_with_any_kernel():
    X, y = far_problem(0.0, True)
    model = kernbench.KernelRegressor("absolute_error", kernel="rbf", gamma=0.3, alpha=0.01).fit(X, y + 1e12)
    exact = exact_objective(model, X, y + 1e12, None, 0.01, targets=y).value
    assert 1e-7 < exact - model.objective_ <= model.duality_gap_ + 1e-12


def test_near_the_origin_the_norms_suffice(monkeypatch):
    monkeypatch.setattr(folding, "_least_cost", None)
    for name in FAR:
        for shift in (0.0, 3.0):
            far_fit(name, shift)


def test_scores_are_not_computed_where_the_sum_of_offset_and_intercept_is_nearly_exact(monkeypatch):
    """Those of kernel rows, in extended precision, took longer than a fit to targets such as temperatures in kelvin."""
    monkeypatch.setattr(folding, "_scores", None)
    X, y = far_problem(0.0, True)
    for loss, alpha, noise in (("squared_error", 1e-6, 0.0), ("absolute_error", 0.01, 0.06)):
        model = kernbench.KernelRegressor(loss, kernel="rbf", gamma=0.3, alpha=alpha)
        assert model.fit(X, 300.0 + np.sin(X[:, 0]) * (noise == 0.0) + noise * y).converged_


def test_exact_intercepts_take_no_fraction_for_each_column(monkeypatch):
    """For 20,000 columns these took longer than a fit."""
    rng = np.random.default_rng(0)
    weights, centre = rng.normal(size=(2, 50)) * 10.0 ** rng.integers(-150, 150, size=(2, 50))
    weights[:3], centre[::7] = (5e-324, -1e300, 0.0), 0.0
    single = rng.normal(size=50).astype(np.float32)
    for w, c in ((weights, centre), (single, centre), (weights, np.zeros(50)), (np.empty(0), np.empty(0))):
        made = []
        monkeypatch.setattr(centring, "Fraction", lambda *given: made.append(given) or Fraction(*given))
        products = [Fraction(float(a)) * Fraction(float(b)) for a, b in zip(w, c)]
        assert exact_intercept(w, c, 3.0, 0.1) == Fraction(3.0) + Fraction(0.1) - sum(products)
        assert len(made) < 10


def test_nearest_intercepts_are_stored_where_rounding_counts():
    model, _ = far_fit("LinearSVC hinge", 1e12)
    X, y = far_problem(1e12, False)
    beside = [np.nextafter(model.intercept_, side) for side in (-np.inf, np.inf)]
    for intercept in beside:
        other = far_fit("LinearSVC hinge", 1e12)[0]
        other.intercept_ = intercept
        worse = exact_objective(other, X, y, None, 1.0 / (model.C * len(y))).value
        assert worse > exact_objective(model, X, y, None, 1.0 / (model.C * len(y))).value


def test_small_problems_count_the_weights_of_rows():
    X, y = far_problem(1e6, False)
    weights = np.full(len(y), 64.0)
    task = KernelNuTask(kernbench.KernelNuSVC(kernel="linear"), X, y, weights)
    coef = np.where(y == 1, 1.0, -1.0) / len(y)
    found = _SmallProblem(task).folding(SimpleNamespace(dual_coef=coef[None], intercept=np.ones(1)))
    scores = rounding_of(task.X.T @ coef, task.model.centre_, 1.0)
    assert found == pytest.approx(task.problems[0].risk_of(0.5).change(1.0, scores)) == pytest.approx(64.0 * scores)


def test_pairs_count_the_heaviest_row():
    X, y = far_problem(1e6, False)
    weights = np.linspace(1.0, 64.0, len(y))
    model = kernbench.KernelSVC("linear").fit(X, y, weights)
    assert KernelTask(model, X, y, weights).stored(model, [Solution(None, 0.0)]).heaviest == 64.0


@pytest.mark.parametrize("shift", [-0.5, 0.5])
def test_the_penalty_of_an_intercept_that_is_a_coefficient_may_grow(shift):
    own = folding.StoredFunction(None, (), Solution(np.array([1.0, -3.0])))
    stored = folding.Stored([own], None, None, None, 1.0, constant=2.0)
    assert folding._penalty(stored, own, 0.1, shift) == pytest.approx(0.05 * (3.25**2 - 3.0**2))


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def test_a_cost_that_the_gap_contains_is_not_counted_twice(monkeypatch):
    own = folding.StoredFunction(np.array([1e6]), (), Solution(np.zeros(1)))
    stored = folding.Stored([own], np.array([1e12]), None, Hinge, 1.0)
    task = SimpleNamespace(strength="C", stored=lambda model, solutions: stored)
    model = SimpleNamespace(C=1.0, intercept_=0.0)
    monkeypatch.setattr(folding, "_least_cost", lambda task, model, k, stored, intercept, *rest: (3.0, intercept))
    for counted, cost in ((0.0, 3.0), (1.0, 2.0), (4.0, 0.0)):
        assert folding.costs_of_storing(task, model, [own.solution], [1.0], [counted]) == [cost]
