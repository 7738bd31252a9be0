"""The fast path for small pairs of classes gives the same model as solvers and their driver."""

import signal

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine

from kernbench import KernelSVC
from kernbench.estimators.svm import kernel_svc, small_pairs
from kernbench.kernels.functions import Gaussian, Laplacian

X, Y = load_iris(return_X_y=True)
WINE, CULTIVARS = load_wine(return_X_y=True)
WINE = (WINE - WINE.mean(axis=0)) / WINE.std(axis=0)


def many_classes(n_classes, n=300):
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n_classes, 8))[y] + 0.5 * rng.normal(size=(n, 8)), y


def by_the_driver(model, rows, y, weights=None):
    """A limit on iterations, even one that is never reached, needs the driver."""
    return KernelSVC(**{**model.get_params(deep=False), "max_iter": 10**9}).fit(rows, y, sample_weight=weights)


@pytest.fixture
def taken(monkeypatch):
    """The return values of `fit_small_pairs`."""
    answers = []

    def watched(task):
        answers.append(small_pairs.fit_small_pairs(task))
        return answers[-1]

    monkeypatch.setattr(kernel_svc, "fit_small_pairs", watched)
    return answers


def assert_agree(model, other, rows, atol=1e-6):
    np.testing.assert_array_equal(model.classes_, other.classes_)
    np.testing.assert_allclose(model.decision_function(rows), other.decision_function(rows), atol=atol)
    np.testing.assert_array_equal(model.predict(rows), other.predict(rows))
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=atol)
    for name in ("n_support_", "n_iter_", "intercept_", "support_", "dual_coef_"):
        assert getattr(model, name).dtype == getattr(other, name).dtype, name
    np.testing.assert_allclose(model.objective_, other.objective_, rtol=model.tol, atol=1e-7)
    assert model.dtype_ == other.dtype_ and model.status_ == other.status_
    if model.kernel == "linear":
        return  # dual coefficients are not unique
    dense, other_dense = np.zeros((2, len(model.dual_coef_), model.shape_fit_[0]))
    dense[:, model.support_], other_dense[:, other.support_] = model.dual_coef_, other.dual_coef_
    np.testing.assert_allclose(dense, other_dense, atol=1e-4 * max(1.0, model.C))


@pytest.mark.parametrize(
    "model, rows, y",
    [
        (KernelSVC(), X, Y),
        (KernelSVC(decision_function_shape="ovo"), WINE, CULTIVARS),
        (KernelSVC(C=100.0, class_weight="balanced"), WINE, CULTIVARS),
        (KernelSVC("linear", fit_intercept=False), X, Y),
        (KernelSVC(Laplacian(2.0), C=0.1, dtype="float32", break_ties=True), X, Y),
        (KernelSVC("precomputed"), Gaussian(1.0)(X), Y),
        (KernelSVC(), sparse.csr_matrix(X), Y),
        (KernelSVC(), *many_classes(26)),
        (KernelSVC(gamma="median", random_state=0), *many_classes(40, 120)),
    ],
    ids=["iris", "ovo", "balanced", "linear", "single", "precomputed", "sparse", "26", "40"],
)
def test_small_pairs_agree_with_the_driver(taken, model, rows, y):
    # Steps that end at `tol` may end at different points within it.
    tol = 1e-3 if model.dtype == "float32" or model.kernel == "linear" else 1e-6
    model = KernelSVC(**{**model.get_params(deep=False), "tol": tol})
    other = by_the_driver(model, rows, y)
    model.fit(rows, y)
    assert taken == [False, True]
    assert_agree(model, other, rows, atol=max(tol, 1e-5))
    gap, limit = model.duality_gap_, model.tol * model.objective_
    assert np.all((gap >= 0) & (gap <= limit)) and model.converged_


def test_two_classes_take_the_same_steps():
    rows, y = X[50:], Y[50:]
    model = KernelSVC().fit(rows, y)
    other = by_the_driver(model, rows, y)
    for name in ("support_", "dual_coef_", "intercept_", "n_iter_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name))
    assert model.trace_["n_iter"][-1] == model.n_iter_[0]
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-12)


@pytest.mark.parametrize("n", [60, 1000])
def test_rounding_errors_of_many_steps_need_no_second_run(taken, n):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 8))
    y = rows @ rng.normal(size=8) + rng.normal(size=n) > 0
    model = KernelSVC(C=1000.0, tol=1e-5).fit(rows, y)
    assert taken == [True] and model.n_iter_[0] > 2 * n
    scores, coef = model.decision_function(rows), model.dual_coef_[0]
    norm = coef @ (scores[model.support_] - model.intercept_[0])
    loss = np.maximum(0.0, 1.0 - np.where(y, scores, -scores)).mean()
    assert abs(norm / (2 * 1000.0 * n) + loss - model.objective_) <= model.duality_gap_ <= 1e-5 * model.objective_


def test_shrinking_to_one_coordinate(taken):
    """Without an intercept, of rows that each need one step: after a hundred of them one is left."""
    rows, y = np.zeros((201, 101)), np.ones(201)
    rows[0, 0], rows[1:101, 0] = 1.0, 2.0  # the first one moves the next hundred beyond the margin
    rows[range(101, 201), range(1, 101)], y[101:151] = 1.0, -1.0
    model = KernelSVC("linear", fit_intercept=False, C=0.6).fit(rows, y)
    assert taken == [True] and model.n_iter_[0] == 101
    np.testing.assert_allclose(np.abs(model.dual_coef_), 0.6)
    np.testing.assert_array_equal(np.sort(model.support_), [0, *range(101, 201)])


def test_weights_of_zero_leave_rows_out(taken):
    weights = np.arange(len(Y)) % 3 / 2
    model = KernelSVC(tol=1e-7).fit(X, Y, sample_weight=weights)
    assert taken == [True] and np.all(weights[model.support_] > 0)
    assert_agree(model, by_the_driver(model, X, Y, weights), X)


@pytest.mark.parametrize(
    "params",
    [
        {"solver": "sdca", "random_state": 0},
        {"loss": "squared_hinge"},
        {"multi_class": "ovr"},
        {"max_iter": 10_000},
        {"max_seconds": 100.0},
        {"callback": lambda model: None},
        {"warm_start": True},
        {"solver_options": {"working_set_size": 64}},
        {"kernel": lambda X, Z: X @ Z.T},
    ],
    ids=lambda params: next(iter(params)),
)
def test_what_needs_the_driver_gets_it(taken, params):
    model = KernelSVC(**params).fit(X, Y)
    assert taken == [False] and model.score(X, Y) > 0.9


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_hard_pair_is_left_to_the_driver(taken):
    rng = np.random.default_rng(0)
    model = KernelSVC("linear", C=1e7).fit(rng.normal(size=(30, 3)), np.arange(30) % 2)
    assert taken == [False] and model.dual_coef_.any()


def test_interrupt_leaves_a_model_of_the_pairs_done(monkeypatch):
    class Interrupted(small_pairs.SmallPairs):
        def run(self):
            signal.setitimer(signal.ITIMER_REAL, 0.005)
            return super().run()

    monkeypatch.setattr(small_pairs, "SmallPairs", Interrupted)
    rows, y = many_classes(200, 800)
    model = KernelSVC()
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(rows, y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    n_done = model.status_.index("interrupted")
    assert set(model.status_[:n_done]) <= {"converged"} and set(model.status_[n_done + 1 :]) == {"not started"}
    assert not model.converged_ and np.all(np.isnan(model.objective_[n_done:])) and not model.n_iter_[n_done:].any()
    assert np.isfinite(model.objective_[:n_done]).all() and np.isnan(model.duality_gap_).all()  # not yet certified
    assert model.predict(rows).shape == y.shape


def test_traces_of_thousands_of_pairs_are_made_when_asked_for():
    rows, y = many_classes(60)
    model = KernelSVC().fit(rows, y)
    assert len(model.trace_) == len(model.n_iter_) == 60 * 59 // 2
    assert model.trace_[-1]["n_iter"] == [0, model.n_iter_[-1]]
    assert model.trace_[3]["objective"][-1] == pytest.approx(model.objective_[3] - model.duality_gap_[3])
    assert [trace["n_iter"][1] for trace in model.trace_[:5]] == model.n_iter_[:5].tolist()
    assert isinstance(KernelSVC().fit(X, Y).trace_, list)
