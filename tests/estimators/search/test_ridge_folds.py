"""Kernel ridge regression: all folds and alphas from one eigendecomposition, equal to a fit for each."""

from _thread import interrupt_main
from contextlib import nullcontext
from threading import Event, current_thread

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneOut, PredefinedSplit, TimeSeriesSplit

from kernbench import KernelRegressor, KernelRegressorCV
from kernbench.estimators.regression import ridge_folds
from kernbench.estimators.regression.ridge_folds import is_cheaper
from kernbench.estimators.search import fold_paths
from kernbench.estimators.search.held_out import HeldOutPredictions
from kernbench.kernels import Laplacian
from kernbench.problems.kernel.ridge import Ridge

ALPHAS = [10.0, 1e-3, 1e-6]
HALVES = [(np.arange(20, 50), np.r_[0:20]), (np.arange(0, 40), np.arange(40, 50))]  # rows outside of both parts
SPLITTERS = [
    KFold(4),
    KFold(3, shuffle=True, random_state=0),
    GroupKFold(3),
    PredefinedSplit(np.arange(50) % 4 - 1),
    TimeSeriesSplit(3),
    LeaveOneOut(),
    HALVES,
]


@pytest.fixture
def fits(monkeypatch):
    """The fits to a fold by itself."""
    fits, fit = [], fold_paths._FoldPath.fit

    def counted(self, *arguments):
        fits.append(self.fold)
        return fit(self, *arguments)

    monkeypatch.setattr(fold_paths._FoldPath, "fit", counted)
    return fits


def data(seed=0, n=50):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = np.column_stack([np.sin(X[:, 0]) + 5.0, X[:, 1] ** 2]) + 0.1 * rng.normal(size=(n, 2))
    return X, Y, rng.uniform(0.2, 3.0, n) * (rng.random(n) < 0.8)


def assert_each_fold_is_its_fit(search, X, Y, weights=None, groups=None, **settings):
    """Fits to the training part of each fold predict the same as the search, at every alpha."""
    cv = search.cv if isinstance(search.cv, list) else list(search.cv.split(X, Y, groups))
    for alpha in ALPHAS:
        own = KernelRegressorCV([alpha], [0.3], tol=search.tol, cv=search.cv, scoring=search.scoring, **settings)
        found = own.fit(X, Y, sample_weight=weights, groups=groups)
        for train, test in cv[:: 1 + len(cv) // 8]:
            alone = KernelRegressor(gamma=0.3, alpha=alpha, **settings)  # a step of Newton's method is exact
            alone.fit(X[train], Y[train], sample_weight=None if weights is None else weights[train])
            np.testing.assert_allclose(found.oof_prediction_[test], alone.predict(X[test]), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_fold_is_its_fit(cv, weighted, fits):
    X, Y, weights = data()
    weights, groups = (weights if weighted else None), np.arange(50) // 7
    if weighted and isinstance(cv, LeaveOneOut):
        weights = weights + 0.1  # the score of a row of weight 0 is rejected
    model = KernelRegressorCV(ALPHAS, [0.3], cv=cv, scoring="neg_mean_squared_error", tol=1e-6)
    model.fit(X, Y, sample_weight=weights, groups=groups)
    assert not fits and model.n_kernel_evaluations_ == 2 * 50**2  # search, last fit
    assert_each_fold_is_its_fit(model, X, Y, weights, groups)


@pytest.mark.parametrize(
    "settings", [{"fit_intercept": False}, {"kernel": Laplacian(2.0)}, {"kernel": "poly"}], ids=str
)
def test_other_kernels_and_no_intercept(settings, fits):
    X, Y, weights = data()
    model = KernelRegressorCV(ALPHAS, [0.3], cv=KFold(3), tol=1e-6, **settings).fit(X, Y, weights)
    assert not fits
    assert_each_fold_is_its_fit(model, X, Y, weights, **settings)


@pytest.mark.parametrize("form", ["CSR", "precomputed", "linear", "float32"])
def test_cells_are_those_of_a_grid_search(form, fits):
    X, Y, _ = data()
    settings = {"tol": 1e-9}
    if form == "float32":
        settings = {"dtype": "float32", "tol": 1e-4}
    elif form == "precomputed":
        X, settings["kernel"] = np.exp(-0.3 * np.square(X[:, None] - X).sum(axis=2)), "precomputed"
    elif form == "linear":
        settings["kernel"] = "linear"
    else:
        X = sparse.csr_matrix(X * (np.abs(X) > 0.5))
    gamma = {} if "kernel" in settings else {"gamma": [0.3]}
    grid = GridSearchCV(KernelRegressor(**settings), {"alpha": ALPHAS, **gamma}, cv=4).fit(X, Y)
    search = KernelRegressorCV(ALPHAS, gamma.get("gamma", ["scale"]), cv=4, **settings).fit(X, Y)
    for k in range(4):
        name, atol = f"split{k}_test_score", 1e-4 if form == "float32" else 1e-8
        np.testing.assert_allclose(search.cv_results_[name], grid.cv_results_[name], atol=atol)
    # A linear kernel with an intercept is that of the columns of each fold less their means; and where alpha is small,
    # the bound on the rounding of float32 values does not suffice.
    assert len(fits) == {"linear": 12, "float32": 4}.get(form, 0)


@pytest.mark.parametrize("cv", ["one", "mixed"])
@pytest.mark.parametrize("is_certified", [True, False])
def test_many_single_rows_are_left_out_at_once(monkeypatch, fits, cv, is_certified):
    """Where the bounds on rounding suffice: else their coefficients are computed, or they are fitted by themselves."""
    X, Y, weights = data()
    weights += 0.1
    order, starts = np.arange(50), np.arange(50) if cv == "one" else np.r_[0:40, 41, 45]
    cv = [(np.setdiff1d(order, test), test) for test in np.split(order, starts[1:])]
    settings = {"cv": cv, "scoring": "neg_mean_squared_error"}
    expected = KernelRegressorCV(ALPHAS[:2], [0.3], **settings).fit(X, Y, weights)
    monkeypatch.setattr(ridge_folds, "COLUMNS", 16)
    solved, solve = [], Ridge.solve
    monkeypatch.setattr(Ridge, "solve", lambda self, parts, alpha: solved.extend(parts) or solve(self, parts, alpha))
    model = KernelRegressorCV(ALPHAS[:2], [0.3], **settings, tol=1e-4 if is_certified else 1e-30)
    with nullcontext() if is_certified else pytest.warns(ConvergenceWarning, match="fits of the search"):
        model.fit(X, Y, weights)
    n_blocks = len(cv) - sum(len(test) == 1 for _, test in cv)
    assert len(solved) == 2 * (n_blocks if is_certified else len(cv)) and len(fits) == (
        0 if is_certified else 2 * len(cv)
    )
    for k in range(len(cv)):
        name = f"split{k}_test_score"
        np.testing.assert_allclose(model.cv_results_[name], expected.cv_results_[name], rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", "neg_mean_absolute_error"])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_scores_of_single_rows_are_those_of_scikit_learn(monkeypatch, scoring, n_outputs):
    X, Y, weights = data()
    y = Y[:, 0] if n_outputs == 1 else Y
    calls, scorer = [], get_scorer(scoring)
    monkeypatch.setattr(type(scorer), "__call__", lambda *arguments, **given: calls.append(given) or 0.0)
    settings = {"scoring": scoring, "cv": LeaveOneOut()}
    search = KernelRegressorCV([1e-3], [0.3], **settings).fit(X, y, weights + 0.1)
    assert len(calls) == 1  # a trial: a call takes longer than a row
    monkeypatch.undo()
    for i in (0, 7, 49):
        own = HeldOutPredictions.of(search.oof_prediction_)
        expected = scorer(own, np.array([[i]]), y[i : i + 1], sample_weight=weights[i : i + 1] + 0.1)
        assert search.cv_results_[f"split{i}_test_score"][0] == pytest.approx(expected, rel=1e-12)
    blocks = KernelRegressorCV([1e-3], [0.3], scoring=scoring, cv=3).fit(X, y, weights + 0.1)
    test = np.arange(17)
    expected = scorer(
        HeldOutPredictions.of(blocks.oof_prediction_), test[:, None], y[test], sample_weight=weights[test] + 0.1
    )
    assert blocks.cv_results_["split0_test_score"][0] == pytest.approx(expected, rel=1e-12)


def test_a_fold_that_is_not_certified_is_fitted_by_itself(fits):
    X, Y, _ = data()
    expected = KernelRegressorCV(ALPHAS, [0.3], cv=3).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="fits of the search did not reach tol=1e-30"):
        search = KernelRegressorCV(ALPHAS, [0.3], cv=3, tol=1e-30).fit(X, Y)
    assert len(fits) == 9
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], atol=1e-7
    )


def test_an_indefinite_matrix_is_left_to_the_fits(fits):
    X, Y, _ = data()
    K = X @ X.T - 4.0 * np.eye(50)
    grid = GridSearchCV(KernelRegressor(kernel="precomputed"), {"alpha": [1.0]}, cv=3)
    search = KernelRegressorCV([1.0], kernel="precomputed", cv=3)
    for model in (grid, search):
        with pytest.warns(UserWarning, match="not positive semi-definite"):
            model.fit(K, Y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], atol=1e-6)
    assert len(fits) == 3


def test_without_memory_for_the_eigenvectors_each_fold_is_fitted(monkeypatch, fits):
    X, Y, _ = data()
    expected = KernelRegressorCV(ALPHAS, [0.3], cv=3).fit(X, Y)
    monkeypatch.setattr(ridge_folds, "MATRICES", 1e12)
    search = KernelRegressorCV(ALPHAS, [0.3], cv=3).fit(X, Y)
    assert len(fits) == 9
    np.testing.assert_allclose(search.oof_prediction_, expected.oof_prediction_, atol=1e-6)


@pytest.mark.parametrize("cost, n_fits", [(1e-3, 1), (1e15, 1 + 9)])
def test_a_time_budget_that_ends_before_the_decomposition_is_spent_on_fits(monkeypatch, fits, cost, n_fits):
    X, Y, _ = data()
    monkeypatch.setattr(ridge_folds, "is_cheaper", lambda *arguments: True)
    monkeypatch.setattr(ridge_folds, "DECOMPOSITION", cost)
    KernelRegressorCV(ALPHAS, [0.3], cv=3, max_seconds=100).fit(X, Y)
    assert len(fits) == n_fits  # of which one is to measure


def test_ctrl_c_does_not_wait_for_the_decomposition(monkeypatch):
    X, Y, _ = data()
    done, workers = Event(), []

    def slow(M):
        workers.append(current_thread())
        interrupt_main()
        done.wait(20)
        raise AssertionError("the decomposition was waited for")

    monkeypatch.setattr(ridge_folds.np.linalg, "eigh", slow)
    try:
        with pytest.raises(KeyboardInterrupt):
            KernelRegressorCV(ALPHAS, [0.3], cv=3).fit(X, Y)
        (thread,) = workers
        assert thread.is_alive() and not thread.daemon  # an exit of Python waits for it
    finally:
        done.set()
        monkeypatch.undo()


def test_an_error_of_the_decomposition_is_raised(monkeypatch):
    def fail(M):
        raise MemoryError("no memory")

    monkeypatch.setattr(ridge_folds.np.linalg, "eigh", fail)
    with pytest.raises(MemoryError, match="no memory"):
        KernelRegressorCV(ALPHAS, [0.3], cv=3).fit(*data()[:2])


def test_without_a_decomposition_each_fold_is_fitted(monkeypatch, fits):
    def fail(M):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    monkeypatch.setattr(ridge_folds.np.linalg, "eigh", fail)
    search = KernelRegressorCV(ALPHAS, [0.3], cv=3).fit(*data()[:2])
    assert len(fits) == 9 and np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_larger_grid_finds_its_cells(tmp_path, fits):
    X, Y, _ = data()
    first = KernelRegressorCV(ALPHAS[:2], [0.3], cv=3, memory=tmp_path, random_state=0).fit(X, Y)
    second = KernelRegressorCV(ALPHAS, [0.3], cv=3, memory=tmp_path, random_state=0).fit(X, Y)
    own = second.cv_results_["mean_test_score"][:2]
    np.testing.assert_array_equal(own, first.cv_results_["mean_test_score"])
    assert len(list(tmp_path.iterdir())) == 3 and not fits


def test_which_way_is_cheaper():
    def folds(n, k):
        return [(n, n - n // k)] * k

    assert is_cheaper(1, folds(100, 3)) and is_cheaper(10, folds(2000, 10)) and is_cheaper(1, folds(4000, 4000))
    assert not is_cheaper(1, folds(2000, 5)) and not is_cheaper(5, folds(4000, 5))
    assert is_cheaper(10, folds(1000, 10)) and not is_cheaper(10, folds(1000, 10), n_workers=10)
