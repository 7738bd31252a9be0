"""What a second fit takes from the first one, and what it must not: other problems, other classes, old attributes."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification

from kernbench import ROCSVC, KernelNoveltyDetector, KernelNuSVC, KernelRegressor, KernelSVC, LinearRegressor, LinearSVC
from kernbench.estimators.fit.continuation import Continuation, cold_start, digest
from kernbench.estimators.fit.outcome import NOT_STARTED
from kernbench.estimators.svm import expansion
from kernbench.kernels import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.plot import TraceDisplay
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.conjugate.scs import SCS


def unbalanced(n=200):
    return make_classification(n, 5, n_informative=4, n_redundant=0, weights=[0.75], flip_y=0.1, random_state=0)


@pytest.mark.parametrize("solver", ["smo", "sdca", "pegasos", "norma", "norm-ball-sgd"])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_warm_start_with_another_intercept_solves_the_other_problem(solver, first):
    X, y = unbalanced()
    settings = {"solver": solver, "tol": 1e-3, "random_state": 0, "max_iter": 20_000, "gamma": 0.2}
    warm = KernelSVC(fit_intercept=first, warm_start=True, **settings).fit(X, y)
    warm.set_params(fit_intercept=not first).fit(X, y)
    cold = KernelSVC(fit_intercept=not first, **settings).fit(X, y)
    assert warm.objective_ == pytest.approx(cold.objective_, rel=0.02)
    if cold.converged_:
        assert warm.converged_
    if first:
        assert np.all(warm.intercept_ == 0.0)


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
@pytest.mark.parametrize("before, C", [(1.0, 1e-3), (1e3, 1.0), (1.0, 1e3)])
@pytest.mark.parametrize(
    "Model, solver", [(KernelSVC, "norma"), (KernelSVC, "pegasos"), (LinearSVC, "pegasos"), (LinearSVC, "sbmd")]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_warm_start_with_a_C_far_from_the_last_one_soon_equals_a_cold_one(Model, solver, before, C, loss):
    X, y = unbalanced(100)
    settings = {"solver": solver, "loss": loss, "random_state": 0, "max_iter": 1_000}
    warm = Model(C=before, warm_start=True, **settings).fit(X, y)
    for _ in range(3):
        warm.set_params(C=C).fit(X, y)
    cold = Model(C=C, **settings).fit(X, y)
    assert np.ravel(warm.objective_)[0] <= 1.02 * np.ravel(cold.objective_)[0]


@pytest.mark.parametrize("first", ["ovo", "ovr"])
@pytest.mark.parametrize("solver", ["smo", "sdca"])
def test_a_warm_start_with_another_scheme_of_classes_starts_afresh(first, solver):
    X, y = load_iris(return_X_y=True)
    second = {"ovo": "ovr", "ovr": "ovo"}[first]
    warm = KernelSVC(multi_class=first, solver=solver, warm_start=True, random_state=0).fit(X, y)
    warm.set_params(multi_class=second).fit(X, y)
    cold = KernelSVC(multi_class=second, solver=solver, random_state=0).fit(X, y)
    np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=2e-3)


def test_while_it_waits_a_stream_predicts_the_class_that_has_weight():
    model = KernelSVC(solver="scs")
    model.partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1], sample_weight=[0.0, 1.0])
    assert model.predict([[0.0], [5.0]]).tolist() == [1, 1]


def test_rows_without_weight_do_not_end_a_stream():
    X, y = unbalanced(3_000)
    weights = np.zeros(3_000)
    weights[np.concatenate([np.flatnonzero(y == c)[-30:] for c in (0, 1)])] = 1.0
    for seed in range(3):
        model = KernelSVC(solver="scs", gamma=0.2, random_state=seed)
        model.partial_fit(X, y, classes=[0, 1], sample_weight=weights)
        chunks = [(X[k::3], y[k::3], weights[k::3]) for k in range(3)]
        of_chunks = KernelSVC(solver="scs", gamma=0.2, max_iter=100, random_state=seed).fit_chunks(chunks)
        assert min(len(one.support_vectors_) for one in (model, of_chunks)) > 20


def test_no_attributes_of_the_fit_before_are_left():
    X, y = unbalanced()
    model = KernelSVC(solver="scs", solver_options={"sample_cap": 60}, random_state=0).fit(X, y)
    assert hasattr(model, "objective_of_sample_")
    model.set_params(solver="smo", solver_options=None).fit(X, y)
    assert not hasattr(model, "objective_of_sample_") and model.shape_fit_ == X.shape
    model.set_params(solver="scs").partial_fit(X[:3], [0, 0, 0], classes=[0, 1])
    for name in ("objective_", "duality_gap_", "converged_", "status_", "trace_", "shape_fit_"):
        assert not hasattr(model, name), name
    model.set_params(solver="smo").fit(X, y)
    model.set_params(solver="scs").fit_chunks([(X, y)])
    assert model.converged_ in (True, False) and not hasattr(model, "shape_fit_")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_outputs", [None, 2])
def test_a_linear_regressor_of_many_outputs_and_columns_predicts_from_its_rows(form, n_outputs, monkeypatch):
    """Beyond so many weights, predictions are sums over support vectors, of which the centre was taken."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) + [50.0, 0.5, -3.0]
    y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=80) + rng.standard_cauchy(size=80)
    y = y if n_outputs is None else np.column_stack([y, -y + X[:, 2]])
    X = form(X)
    model = KernelRegressor("huber", kernel="linear", alpha=1e-3).fit(X, y)
    expected = model.predict(X)
    monkeypatch.setattr(expansion, "MOST_WEIGHTS", 0)
    assert not model._has_weights
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-3)


def test_the_relative_gap_of_a_negative_optimum_is_drawn():
    X, _ = unbalanced()
    model = KernelNoveltyDetector(nu=0.1).fit(X)
    assert model.objective_ < 0
    display = TraceDisplay.from_estimator(model, y="relative_gap")
    ((_, gaps),) = next(iter(display.curves.values()))
    assert np.all(np.asarray(gaps) >= 0) and np.any(np.asarray(gaps) > 0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("change", [{"C": 1.0}, {"class_weight": {0: 1e3, 1: 1e3}}], ids=str)
def test_scs_does_not_take_the_end_of_one_problem_for_that_of_another(change):
    """Its rule looks at the last direction, which a run on more rows than the sample ends with."""
    X, y = unbalanced(1_200)
    settings = {"solver": "scs", "gamma": 0.2, "solver_options": {"sample_cap": 300, "eps": 0.05}, "random_state": 0}
    warm = KernelSVC(C=1e-3, warm_start=True, **settings).fit(X, y)
    warm.set_params(**change).fit(X, y)
    cold = KernelSVC(**{"C": 1e-3, **settings, **change}).fit(X, y)
    assert warm.objective_ <= 1.1 * cold.objective_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("C", [1e-2, 1.0])
def test_wolfe_does_not_keep_the_direction_of_another_objective(C):
    X, y = unbalanced()
    warm = KernelSVC(solver="wolfe", C=100.0, gamma=0.2, warm_start=True).fit(X, y).set_params(C=C).fit(X, y)
    cold = KernelSVC(solver="wolfe", C=C, gamma=0.2).fit(X, y)
    assert warm.objective_ <= 1.01 * cold.objective_


def test_scs_goes_on_with_a_smaller_sample_or_from_nothing():
    X, y = unbalanced(1_200)
    model = KernelSVC(solver="scs", gamma=0.2, warm_start=True, random_state=0, solver_options={"sample_cap": 300})
    model.fit(X, y).set_params(solver_options={"sample_cap": 100}).fit(X, y)
    assert model.score(X, y) > 0.75
    start = Solution(np.zeros(len(y)))
    rows = KernelRows(X, Gaussian(1.0))
    for core in ("compiled", "reference"):
        solver = SCS(rows, np.where(y, 1.0, -1.0), alpha=1e-3, sample_cap=100, initial=start, random_state=0, core=core)
        assert solver.advance(20) == 20 and solver.objective() < 1.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver, loss", [("norma", "hinge"), ("norma", "log_loss"), ("pegasos", "log_loss")])
def test_kernel_values_that_are_all_negative_make_no_nan(solver, loss):
    X, y = unbalanced()
    model = KernelSVC(kernel="sigmoid", gamma=1e-3, coef0=-10.0, solver=solver, loss=loss, random_state=0).fit(X, y)
    assert np.isfinite(model.objective_) and np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("model", [LinearSVC("squared_hinge", solver="newton"), LinearRegressor("huber")], ids=str)
def test_newton_draws_its_first_rows_from_those_with_weight(model):
    """Of 20,000 rows 4 have a weight: most samples of 4,096 have none of them, or one class."""
    X, y = make_classification(20_000, 4, n_informative=3, n_redundant=0, random_state=0)
    weights = np.zeros(20_000)
    weights[np.concatenate([np.flatnonzero(y == c)[:2] for c in (0, 1)])] = 1.0
    for seed in range(4):
        own = clone(model).set_params(random_state=seed).fit(X, y, sample_weight=weights)
        few = clone(model).set_params(random_state=seed).fit(X[weights > 0], y[weights > 0])
        np.testing.assert_allclose(own.coef_, few.coef_, atol=1e-2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*fitted its sample of")
def test_a_run_of_the_driver_leaves_no_objective_of_a_sample():
    X, y = unbalanced()
    model = KernelSVC(solver="scs", solver_options={"sample_cap": 60}, random_state=0).fit(X, y)
    assert hasattr(model, "objective_of_sample_")
    model.set_params(solver="smo", solver_options=None, max_iter=10**6).fit(X, y)  # a limit sends it to the driver
    assert not hasattr(model, "objective_of_sample_")


OTHER_PROBLEMS = [
    (KernelSVC(gamma=0.2), {"dtype": "float32"}),
    (KernelSVC(gamma=0.2), {"loss": "squared_hinge"}),
    (KernelSVC(gamma=0.2), {"gamma": 0.3}),
    (KernelNuSVC(gamma=0.2, nu=0.2), {"nu": 0.3}),
    (KernelRegressor("huber", gamma=0.2), {"delta": 2.0}),
    (KernelRegressor("huber", gamma=0.2), {"alpha": 0.01}),
    (ROCSVC("rbf", gamma=0.2, features="random", n_features=20), {"n_features": 30}),
    (ROCSVC("rbf", gamma=0.2), {"dtype": "float32"}),
]


@pytest.mark.parametrize("model, change", OTHER_PROBLEMS, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_state_of_a_solver_is_not_that_of_another_problem(model, change):
    X, y = unbalanced(60)
    model = clone(model).set_params(warm_start=True, random_state=0)
    key = model.fit(X, y)._continuation.key
    assert model.fit(X, y)._continuation.key == key
    assert model.set_params(**change).fit(X, y)._continuation.key != key


@pytest.mark.parametrize(
    "model", [LinearSVC(), KernelNuSVC(gamma=0.2, nu=0.2), KernelRegressor(gamma=0.2), LinearRegressor(), ROCSVC()]
)
def test_the_state_of_a_solver_is_not_that_of_other_weights(model):
    X, y = unbalanced(60)
    model = clone(model).set_params(warm_start=True, random_state=0)
    keys = [model.fit(X, y, np.linspace(1.0, end, 60))._continuation.key for end in (1.4, 1.5)]
    assert keys[0] != keys[1]


@pytest.mark.parametrize(
    "model",
    [KernelSVC(gamma=0.2), LinearSVC(), KernelNuSVC(gamma=0.2, nu=0.2), KernelRegressor(gamma=0.2), LinearRegressor(),
     ROCSVC(), ROCSVC("rbf", gamma=0.2)],
    ids=str,
)  # fmt: skip
def test_the_state_of_a_solver_is_not_that_of_other_rows_or_labels(model):
    X, y = unbalanced(60)
    model = clone(model).set_params(warm_start=True, random_state=0)
    key = model.fit(X, y)._continuation.key
    for other in ((X + 1.0, y), (X, 1 - y), (X[::-1].copy(), y[::-1].copy())):
        assert model.fit(*other)._continuation.key != key


def test_a_warm_start_on_other_rows_solves_their_problem():
    X, y = unbalanced()
    other = X + np.random.default_rng(0).normal(size=X.shape)
    warm = KernelSVC(gamma=0.2, warm_start=True).fit(X, y).fit(other, y)
    cold = KernelSVC(gamma=0.2).fit(other, y)
    np.testing.assert_allclose(warm.decision_function(other), cold.decision_function(other), atol=5e-3)


def test_problems_that_were_not_begun_keep_their_last_solution():
    last = Continuation((), None, [Solution(np.ones(2)), Solution(np.ones(2))], (None, None))
    results = [SimpleNamespace(status=status, solution=Solution(np.zeros(2))) for status in ("converged", NOT_STARTED)]
    now = last.after(results, ("key",))
    assert now.key == ("key",) and [solution.coef.tolist() for solution in now.solutions] == [[0.0, 0.0], [1.0, 1.0]]


def test_the_problems_of_a_fit_draw_different_numbers():
    assert len({rng.random() for rng in cold_start(KernelSVC(random_state=0), (), 3).draws}) == 3


def test_digests_tell_shapes_and_types_apart():
    arrays = [np.zeros((2, 3)), np.zeros((3, 2)), np.zeros((2, 3), dtype=np.int64), np.zeros((2, 6), dtype=np.float32)]
    assert len({digest(X) for X in arrays}) == 4
