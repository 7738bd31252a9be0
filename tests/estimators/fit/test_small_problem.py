"""The fast path for one problem of few rows gives the same model as solver and driver."""

import numpy as np
import pytest
from scipy import sparse

from kernbench import KernelNoveltyDetector, KernelNuSVC, KernelNuSVR, KernelRegressor, KernelSVR
from kernbench.estimators.fit import small_problem
from kernbench.estimators.novelty import kernel_novelty
from kernbench.estimators.regression import kernel_regressor, kernel_svr
from kernbench.estimators.svm import kernel_nu_svc
from kernbench.kernels.functions import Gaussian
from kernbench.problems import intercept
from kernbench.problems.intercept import weighted_quantile

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3)) + 5.0
Y = np.sin(X[:, 0]) + X[:, 1] + 0.3 * RNG.normal(size=300) + 7.0
WEIGHTS = RNG.uniform(0.5, 3.0, size=300)


@pytest.fixture
def taken(monkeypatch):
    """The return values of `fit_small_problem`."""
    answers = []

    def watched(task):
        answers.append(small_problem.fit_small_problem(task))
        return answers[-1]

    for module in (kernel_novelty, kernel_nu_svc, kernel_regressor, kernel_svr):
        monkeypatch.setattr(module, "fit_small_problem", watched)
    return answers


def fit(model, rows=X, **more):
    if isinstance(model, KernelNoveltyDetector):
        return model.fit(rows, **more)
    return model.fit(rows, Y > np.median(Y) if isinstance(model, KernelNuSVC) else Y, **more)


def by_the_driver(model, rows=X, **more):
    """A limit on iterations, even one that is never reached, needs the driver."""
    return fit(type(model)(**{**model.get_params(deep=False), "max_iter": 10**9}), rows, **more)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize("n", [50, 300], ids=str)
@pytest.mark.parametrize(
    "model, rows",
    [
        (KernelSVR(C=10.0, tol=1e-6), X),
        (KernelSVR(C=0.1, epsilon=0.0, dtype="float32", tol=0.01), X),
        (KernelSVR(kernel="linear"), X),
        (KernelSVR(kernel="poly", degree=2, coef0=1.0), sparse.csr_matrix(X)),
        (KernelSVR(kernel="precomputed", tol=1e-6), Gaussian(1.0)(X)),
        (KernelRegressor("epsilon_insensitive", fit_intercept=False), X),
        (KernelRegressor("absolute_error", alpha=0.01), X),
        (KernelRegressor("quantile", quantile=0.9), X),
        (KernelNuSVC(tol=1e-6), X),
        (KernelNuSVC(nu=0.6, dtype="float32", tol=0.01), X),
        (KernelNuSVC(nu=0.8, kernel="poly", degree=2, coef0=1.0), sparse.csr_matrix(X)),
        (KernelNuSVC(kernel="precomputed"), Gaussian(1.0)(X)),
        (KernelNuSVR(C=10.0, tol=1e-6), X),
        (KernelNuSVR(nu=1.0), X),
        (KernelNuSVR(nu=0.3, dtype="float32", tol=0.1), X),
        (KernelNoveltyDetector(nu=0.1), X),
        (KernelNoveltyDetector(tol=1e-6), X),
        (KernelNoveltyDetector(nu=1.0, dtype="float32"), X),
    ],
    ids=lambda value: str(value).replace("\n", "") if hasattr(value, "fit") else "",
)
def test_it_agrees_with_the_driver(taken, model, rows, n, weights, monkeypatch):
    few = (slice(n), slice(n)) if model.kernel == "precomputed" else slice(n)
    rows, more = rows[few], {} if weights is None else {"sample_weight": weights[:n]}
    monkeypatch.setitem(globals(), "Y", Y[:n])
    other = by_the_driver(model, rows, **more)
    fit(model, rows, **more)
    assert taken == [False, True]
    assert model.converged_ and 0 <= model.duality_gap_ <= model.tol * abs(model.objective_)
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-6)
    # The same steps; from a start other than 0 to 1e-11 up to the rounding of its gradient, summed in another order.
    np.testing.assert_allclose(model.n_iter_, other.n_iter_, rtol=0.1 if hasattr(model, "nu") else 0.0)
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_allclose(model.dual_coef_, other.dual_coef_, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(model.intercept_, other.intercept_, rtol=1e-6)
    for name in {"rho_", "epsilon_"} & set(vars(model)):
        np.testing.assert_allclose(getattr(model, name), getattr(other, name), rtol=1e-5)
    for name in ("status_", "dtype_", "fit_status_"):
        assert getattr(model, name) == getattr(other, name), name
    assert set(vars(model)) == set(vars(other))
    for name in ("n_iter", "objective"):
        ends, expected = model.trace_[name], other.trace_[name]
        rtol = 0.1 if name == "n_iter" and hasattr(model, "nu") else 1e-6
        np.testing.assert_allclose([ends[0], ends[-1]], [expected[0], expected[-1]], rtol=rtol)


@pytest.mark.parametrize(
    "model, more",
    [
        (KernelSVR(loss="squared_epsilon_insensitive"), {}),
        (KernelSVR(), {"sample_weight": np.arange(300) % 2}),
        (KernelSVR(max_seconds=100.0), {}),
        (KernelSVR(callback=lambda model: None), {}),
        (KernelSVR(warm_start=True), {}),
        (KernelSVR(shrinking=False), {}),
        (KernelSVR(kernel=lambda A, B: A @ B.T), {}),
        (KernelRegressor("epsilon_insensitive", solver_options={"working_set_size": 64}), {}),
        (KernelRegressor("huber"), {}),
        (KernelNuSVC(max_iter=10_000), {}),
        (KernelNuSVC(), {"sample_weight": np.where(np.arange(300) < 5, 0.0, 1.0)}),
        (KernelNuSVR(warm_start=True), {}),
        (KernelNoveltyDetector(max_iter=10_000), {}),
    ],
    ids=[
        "loss",
        "zero weights",
        "max_seconds",
        "callback",
        "warm_start",
        "shrinking",
        "function",
        "working sets",
        "another solver",
        "nu, max_iter",
        "nu, zero weights",
        "nu, warm_start",
        "max_iter",
    ],
)
def test_what_needs_the_driver_gets_it(taken, model, more):
    fit(model, **more)
    assert taken == [False] and model.converged_


def test_a_hard_problem_is_left_to_the_driver(taken):
    model = KernelSVR(kernel="linear", C=1e5).fit(X[:30], Y[:30])
    assert taken == [False] and model.n_iter_[0] > 1000 * 30


def test_the_best_constant_is_computed_once_for_the_targets_and_once_for_the_problem(monkeypatch):
    calls, whole = [], intercept.weighted_quantile
    monkeypatch.setattr(intercept, "weighted_quantile", lambda *parts: calls.append(1) or whole(*parts))
    KernelSVR().fit(X, Y)
    assert len(calls) == 2


def test_one_class_computes_no_kernel_value_twice():
    for nu in (0.1, 0.5, 1.0):
        assert KernelNoveltyDetector(nu=nu).fit(X).n_kernel_evaluations_ <= 300 * 300


@pytest.mark.parametrize("level", [1.0, 2.5, 3.0, 4.0, 4.0 * (1 - 1e-12)])
def test_a_quantile_of_equal_masses_is_that_of_almost_equal_ones(level):
    points, masses = np.array([3.0, -1.0, 7.0, 2.0]), np.ones(4)
    other = np.append(masses[:3], 1.0 + 1e-15)
    assert weighted_quantile(points, masses, level) == weighted_quantile(points, other, level)
    assert weighted_quantile(points, masses, 4.0) == 7.0
