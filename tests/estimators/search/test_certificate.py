"""Bands of decision values and intervals of the accuracy hold for minimisers that were found independently."""

import warnings
from itertools import count

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

import kernbench
from kernbench import KernelSVC, KernelSVCCV
from kernbench.estimators.search import certificate, kernel_svc_cv, one_kernel
from kernbench.estimators.search.bands import decision_band
from kernbench.estimators.search.certificate import _largest_growth, _shares, certified_interval, covered_range
from kernbench.estimators.search.folds import Fold
from kernbench.estimators.svm.kernel_task import KernelTask
from kernbench.kernels.functions import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.solvers import driver
from kernbench.solvers.kernel.smo.smo import SMO


def examples(n=150, seed=0, n_classes=2):
    return make_classification(
        n, 5, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.15, random_state=seed
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_band_holds_for_the_exact_minimiser(seed, C, fit_intercept):
    X, codes = examples(seed=seed)
    y, n = 2.0 * codes - 1.0, len(codes)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, n) * (np.arange(n) % 4 > 0)
    rows = KernelRows(X, Gaussian(1.0), dtype=np.float64)

    def solve(tol):
        settings = {"alpha": 1.0 / (C * n), "weights": weights, "fit_intercept": fit_intercept}
        solver = SMO(rows, y, **settings, tol=tol)
        solver.rough = True  # uncertified: the band says how good it is
        return driver.run(solver, tol=tol).solution

    exact = solve(1e-12)
    scores = rows.matvec(exact.coef)
    widths = []
    for tol in (0.5, 0.1, 1e-2, 1e-4, 1e-8):
        found = solve(tol)
        own = rows.matvec(found.coef)
        lower, upper = decision_band(y, C * weights, found.coef, own, rows.diagonal(), fit_intercept)
        assert np.all(lower <= scores + exact.intercept + 1e-9) and np.all(scores + exact.intercept <= upper + 1e-9)
        widths.append((upper - lower).max())
    assert widths[-1] < 1e-2 * widths[0] or widths[-1] < 1e-3 or C == 0.01  # the intercept may have no single value


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_band_holds_for_a_range_of_C(fit_intercept):
    X, codes = examples(seed=3)
    y, n, C = 2.0 * codes - 1.0, len(codes), 1.0
    rows = KernelRows(X, Gaussian(1.0), dtype=np.float64)

    def solve(C):
        solver = SMO(rows, y, alpha=1.0 / (C * n), fit_intercept=fit_intercept, tol=1e-10)
        return driver.run(solver, tol=1e-10).solution

    found = solve(C)
    for growth in (1.001, 1.1, 2.0):
        own = rows.matvec(found.coef)
        lower, upper = decision_band(y, np.full(n, C), found.coef, own, rows.diagonal(), fit_intercept, growth)
        for other in np.linspace(1.0, growth, 5):
            exact = solve(C * other)
            values = rows.matvec(exact.coef) + exact.intercept
            assert np.all(lower <= values + 1e-8) and np.all(values - 1e-8 <= upper)


@pytest.mark.parametrize("cost, growth", [(0.25, 4.0), (0.1, 3.0), (0.5, 1.0)])
def test_a_band_of_a_bad_solution_holds_for_larger_C(cost, growth):
    """From f = 0, for two rows that know nothing of each other: the minimiser at s C is y min(1, s c)."""
    y, zeros = np.array([1.0, -1.0]), np.zeros(2)
    lower, upper = decision_band(y, np.full(2, cost), zeros, zeros, np.ones(2), False, growth)
    for other in np.linspace(1.0, growth, 9):
        exact = y * min(1.0, other * cost)
        assert np.all(lower <= exact) and np.all(exact <= upper)


def test_no_C_in_a_covered_range_is_better():
    X, y = examples(100, seed=4)
    folds = [Fold(*parts) for parts in StratifiedKFold(3).split(X, y)]

    def accuracy(C):
        model = SVC(C=C, gamma=0.3, tol=1e-10)
        return np.mean([model.fit(X[f.train], y[f.train]).score(X[f.test], y[f.test]) for f in folds])

    task = KernelTask(KernelSVC(C=1.0, gamma=0.3), X, y, None)
    accuracies = {C: accuracy(C) for C in np.geomspace(0.5, 1.0, 40)}
    best = max(accuracies.values())
    covered, n_solved = covered_range(task, None, folds, 0.5, 1.0, best + 0.04, np.inf)
    assert covered == 1.0 and 1 <= n_solved
    worst = min(accuracies.values())
    covered, _ = covered_range(task, None, folds, 0.5, 1.0, worst - 0.04, np.inf)
    assert covered == 0.5
    covered, _ = covered_range(task, None, folds, 0.5, 1.0, best - 1e-6, np.inf)
    assert max([found for C, found in accuracies.items() if C <= covered], default=0.0) < best


@pytest.mark.parametrize("most", [1.0015, 2.0, 1e6, np.inf])
@pytest.mark.parametrize("largest", [1.0, 1.0012, 1.3])
def test_a_growth_is_the_largest_whatever_the_range(most, largest):
    """Also one little above the least one, 1.001, from which on the tolerance need not be made stricter."""
    growth = _largest_growth(lambda growth: growth <= largest, most)
    assert growth <= largest and growth == pytest.approx(min(most, largest), rel=1.01e-4)


def test_every_minimising_intercept_is_in_the_band():
    """Two rows of each class, all of them bounded: an interval of intercepts has the same losses."""
    X, y = np.array([[0.0], [0.1], [0.2], [0.3]]), np.array([-1.0, 1.0, -1.0, 1.0])
    rows, costs = KernelRows(X, Gaussian(1.0), dtype=np.float64), np.full(4, 0.01)
    beta = y * costs
    scores = rows.matvec(beta)
    lower, upper = decision_band(y, costs, beta, scores, rows.diagonal())
    losses = [costs @ np.maximum(0.0, 1.0 - y * (scores + b)) for b in np.linspace(-2.0, 2.0, 4001)]
    best = np.linspace(-2.0, 2.0, 4001)[np.isclose(losses, min(losses), rtol=0.0, atol=1e-12)]
    assert best[-1] - best[0] > 1.0  # there is such an interval
    assert np.all(lower <= scores + best[0] + 1e-3) and np.all(scores + best[-1] - 1e-3 <= upper)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_interval_holds_for_independent_solutions_and_narrows(n_classes):
    X, y = examples(160, seed=1, n_classes=n_classes)
    folds = [Fold(*parts) for parts in StratifiedKFold(4).split(X, y)]
    expected = np.mean([
        SVC(C=2.0, gamma=0.3, tol=1e-12).fit(X[fold.train], y[fold.train]).score(X[fold.test], y[fold.test])
        for fold in folds
    ])  # fmt: skip
    widths = []
    for width in (1.0, 0.05, 0.0):
        task = KernelTask(KernelSVC(C=2.0, gamma=0.3, tol=0.1), X, y, None)
        lower, upper, _ = certified_interval(task, None, folds, 2.0, width, np.inf)
        assert lower <= expected + 1e-12 and expected <= upper + 1e-12
        assert upper - lower <= max(width, 0.01)
        widths.append(upper - lower)
    assert widths[0] >= widths[1] >= widths[2]


def test_a_prediction_is_certain_where_no_other_class_may_have_as_many_votes():
    """Rows of the first class, that weigh 1, 2 and 5: certain, a tie at best or at worst, and wrong."""
    certain = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    possible = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    codes = np.zeros(3, dtype=int)
    assert _shares(np.array([certain, possible]), codes, np.array([1.0, 2.0, 5.0])) == pytest.approx((1 / 8, 3 / 8))
    assert _shares(np.array([certain, possible]), codes, None) == pytest.approx((1 / 3, 2 / 3))


def test_finalists_of_a_search_are_certified():
    X, y = examples(120, seed=2)
    search = KernelSVCCV([0.001, 1.0, 2.0], [0.1, 50.0], cv=3, certify=0.05).fit(X, y)
    table, n = search.cv_results_, len(y)
    best, scores = search.best_score_, table["mean_test_score"]
    lower, upper = table["certified_lower"], table["certified_upper"]
    is_finalist = scores >= best - np.sqrt(best * (1.0 - best) / n)
    assert 0 < is_finalist.sum() < 6 and np.array_equal(np.isnan(lower), ~is_finalist)
    assert np.all((upper - lower)[is_finalist] <= 0.05)
    tight = KernelSVCCV([0.001, 1.0, 2.0], [0.1, 50.0], cv=3, tol=1e-9, dtype="float64").fit(X, y)
    exact = tight.cv_results_["mean_test_score"]
    assert np.all((lower <= exact + 1e-12)[is_finalist]) and np.all((exact - 1e-12 <= upper)[is_finalist])
    assert "certified_lower" not in tight.cv_results_


@pytest.mark.parametrize(
    ("parameters", "message"), [({"certify": 0.0}, "certify must be"), ({"scoring": "roc_auc"}, "certify bounds")]
)
def test_bad_input_is_rejected_with_what_to_change(parameters, message):
    X, y = examples(60)
    with pytest.raises(ValueError, match=message):
        KernelSVCCV([1.0], [0.1], cv=2, **{"certify": 0.1, **parameters}).fit(X, y)


def test_a_search_says_which_range_of_C_is_covered():
    X, y = examples(90, seed=5)
    search = KernelSVCCV([0.5, 0.6], [0.3], cv=3).fit(X, y)
    assert search.covered_C(X, y, 0.5, 0.6, gain=0.1) == 0.6
    for wrong, message in (({"high": 0.5}, "high must be"), ({"gain": 0.0}, "gain must be")):
        with pytest.raises(ValueError, match=message):
            search.covered_C(X, y, **{"low": 0.5, "high": 1.0, **wrong})
    for rows, labels in ((X[:60], y[:60]), (X[:, :1], y), (X, np.arange(90) % 3)):
        with pytest.raises(ValueError, match="are not those of fit"):
            search.covered_C(rows, labels, 0.5, 1.0)
    chosen = KernelSVCCV([0.5], [0.3], cv=3, refit=lambda table: 0).fit(X, y)
    assert chosen.covered_C(X, y, 0.5, 0.6, gain=0.2) == 0.6


def test_a_range_is_covered_for_a_kernel_without_gamma():
    X, y = examples(90, seed=5)
    search = KernelSVCCV([0.5], [0.3], kernels=["rbf", "linear"], cv=3, refit=lambda table: 1).fit(X, y)
    assert search.best_params_ == {"C": 0.5, "kernel": "linear"}
    assert search.covered_C(X, y, 0.5, 0.55, gain=0.2) == 0.55


def test_the_covered_range_of_a_loaded_search_is_that_of_the_median_of_the_fit(tmp_path, monkeypatch):
    """Of more rows than it takes, the median is that of some, which a fit without a seed draws anew."""
    X, y = examples(2100, seed=5)
    search = KernelSVCCV([1e-3], ["median"], cv=2).fit(X, y)
    search.save(tmp_path / "search.npz")
    kernels = []
    monkeypatch.setattr(kernel_svc_cv, "covered_range", lambda task, *_: kernels.append(task.model.kernel_) or [1.0])
    for one in (search, kernbench.load(tmp_path / "search.npz")):
        one.covered_C(X, y, 0.5, 1.0)
    assert [kernel.sigma for kernel in kernels] == [search.kernel_.sigma] * 2


def test_where_the_time_is_used_up_the_C_reached_so_far_is_returned(monkeypatch):
    X, y = examples(90, seed=5)
    search, clock = KernelSVCCV([0.5, 0.6], [0.3], cv=3).fit(X, y), count()
    monkeypatch.setattr(one_kernel, "perf_counter", lambda: kernel_svc_cv.perf_counter() + 1e6 * next(clock))
    reached = [search.covered_C(X, y, 0.5, 1e6, gain=0.02, max_seconds=seconds) for seconds in (1e-9, 3e7)]
    assert reached[0] == 0.5 < reached[1] < 1e6


def test_ctrl_c_during_the_certificates_keeps_the_cells(monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(certificate, "_interval", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        search = KernelSVCCV([1.0, 2.0], [0.1], cv=3, certify=0.05).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all() and search.score(X, y) > 0.9


def test_ctrl_c_while_a_range_is_covered_is_raised(monkeypatch):
    """It is not an end of the time, after which the C reached so far is returned."""

    def interrupted(*args):
        raise KeyboardInterrupt

    X, y = examples(90, seed=5)
    search = KernelSVCCV([0.5, 0.6], [0.3], cv=3).fit(X, y)
    monkeypatch.setattr(SMO, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        search.covered_C(X, y, 0.5, 0.6, gain=0.1)


def distances(X):
    return np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))


def symmetric_with_ones(n):
    A = np.random.default_rng(0).uniform(-1.0, 1.0, size=(n, n))
    K = 0.5 * (A + A.T)
    np.fill_diagonal(K, 1.0)
    return K


@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "precomputed", "matrix": lambda X: symmetric_with_ones(len(X))},
        {"kernel": "precomputed", "matrix": lambda X: -np.eye(len(X))},
        {"kernel": "precomputed", "matrix": lambda X: -distances(X)},  # a fit with an intercept is certified
        {"kernel": "sigmoid", "coef0": 0.0, "gammas": [1.0]},
        {"kernel": lambda A, B: np.tanh(A @ B.T - 1.0)},
    ],
    ids=["ones", "minus", "conditional", "sigmoid", "function"],
)
def test_nothing_is_certified_with_kernels_that_are_not_semi_definite(settings):
    X, y = examples(60, seed=2)
    settings = dict(settings)
    matrix = settings.pop("matrix", None)
    X = X if matrix is None else matrix(X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search = KernelSVCCV([1, 10], cv=3, certify=0.05, **settings).fit(X, y)
        with pytest.raises(ValueError, match="exist only for a positive semi-definite kernel"):
            search.covered_C(X, y, 1.0, 2.0)
    assert sum("certify bounds nothing" in str(warning.message) for warning in caught) == 1
    assert not any(issubclass(warning.category, RuntimeWarning) for warning in caught)
    for end in ("lower", "upper"):
        assert np.isnan(search.cv_results_[f"certified_{end}"]).all()
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_negative_diagonal_is_seen_where_the_row_is_not_looked_at():
    X, y = examples(400, seed=2)
    K, weights = Gaussian(1.0)(X, X, dtype=np.float64), np.ones(400)
    K[7], K[:, 7], weights[7] = 0.0, 0.0, 0.0
    folds = [Fold(*parts) for parts in StratifiedKFold(3).split(X, y)]
    for end, is_certified in ((1.0, True), (-1e-17, True), (-1.0, False)):
        K[7, 7] = end
        task = KernelTask(KernelSVC("precomputed", C=0.01), K, y, weights)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            lower, upper, _ = certified_interval(task, weights, folds, 0.01, 1.0, np.inf)
        assert (0.0 <= lower <= upper <= 1.0) == is_certified and np.isnan(lower) != is_certified


def test_a_semi_definite_matrix_is_certified_as_its_kernel():
    X, y = examples(120, seed=2)
    settings = {"cv": 3, "certify": 0.05, "refit": False}
    of_kernel = KernelSVCCV([1.0, 2.0], kernel=Gaussian(1.5), **settings).fit(X, y).cv_results_
    of_matrix = (
        KernelSVCCV([1.0, 2.0], kernel="precomputed", **settings)
        .fit(Gaussian(1.5)(X, X, dtype=np.float64), y)
        .cv_results_
    )
    for end in ("lower", "upper"):
        np.testing.assert_allclose(of_matrix[f"certified_{end}"], of_kernel[f"certified_{end}"], atol=0.01)
    assert np.isfinite(of_matrix["certified_lower"]).any()
