"""KernelSVCCV: the cells of GridSearchCV, fewer kernel values, errors that say what to change, searches cut short."""

import numpy as np
import pytest
from scipy import sparse
from search_faces import assert_same_cells
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from threadpoolctl import threadpool_info, threadpool_limits

from kernbench import KernelSVC, KernelSVCCV, kernels, load
from kernbench.estimators.search import cells, one_kernel, parameters, small_folds
from kernbench.estimators.search.starts import restored, scaled
from kernbench.kernels.blocks import block
from kernbench.kernels.rows import KernelRows
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo import joint

CS, GAMMAS = [0.1, 1.0, 10.0], [0.02, 0.1]


def examples(n=240, n_classes=2, seed=0):
    return make_classification(n, 8, n_informative=5, n_classes=n_classes, flip_y=0.1, random_state=seed)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    "settings",
    [{}, {"class_weight": "balanced"}, {"fit_intercept": False}, {"kernel": "laplacian"}, {"class_weight": {0: 3.0}}],
    ids=str,
)
def test_every_cell_is_that_of_a_grid_search(n_classes, settings):
    X, y = examples(n_classes=n_classes)
    search = KernelSVCCV(CS, GAMMAS, cv=4, tol=1e-6, **settings).fit(X, y)
    grid = GridSearchCV(KernelSVC(tol=1e-6, **settings), {"C": CS, "gamma": GAMMAS}, cv=4).fit(X, y)
    assert_same_cells(search, grid, 1.01 / (len(y) // 4))
    assert set(grid.cv_results_) == set(search.cv_results_)
    alone = KernelSVC(tol=1e-6, **search.best_params_, **settings).fit(X, y)
    np.testing.assert_allclose(search.decision_function(X), alone.decision_function(X), atol=1e-3)
    assert search.converged_ and search.best_score_ == search.cv_results_["mean_test_score"].max()


@pytest.mark.parametrize("settings", [{}, {"class_weight": "balanced"}, {"fit_intercept": False}], ids=str)
def test_folds_in_joint_rounds(monkeypatch, settings):
    """As of more rows than one working set."""
    monkeypatch.setattr(one_kernel, "ONE_SET_ROWS", 0)
    for name, value in (("LEAST_MEMBERS", 40), ("SHARED_MEMBERS", 100)):
        monkeypatch.setattr(joint, name, value)
    X, y = examples(n_classes=3)
    search = KernelSVCCV([0.01, *CS], [0.05], cv=4, tol=1e-6, **settings).fit(X, y)
    grid = GridSearchCV(KernelSVC(tol=1e-6, **settings), {"C": [0.01, *CS], "gamma": [0.05]}, cv=4).fit(X, y)
    assert_same_cells(search, grid, 1.01 / (len(y) // 4))


def test_threads_do_not_change_a_search(monkeypatch):
    """BLAS is limited to one thread for all of it: its rounding depends on their number, and their threads would slow
    down those of the compiled loops."""
    monkeypatch.setattr(one_kernel, "ONE_SET_ROWS", 0)
    for name, value in (("LEAST_MEMBERS", 40), ("SHARED_MEMBERS", 100), ("FACE_LEAST", 2)):
        monkeypatch.setattr(joint, name, value)
    starts, blas = one_kernel.without_rows, set()

    def watched(*arguments):
        blas.update(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return starts(*arguments)

    monkeypatch.setattr(one_kernel, "without_rows", watched)
    X, y = examples()
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(KernelSVCCV([1.0, 100.0], [0.05], cv=4, store_oof_decisions=True).fit(X, y))
    one, two = found
    np.testing.assert_array_equal(one.oof_decisions_, two.oof_decisions_)
    assert one.n_kernel_evaluations_ == two.n_kernel_evaluations_ and blas <= {1}


def test_large_working_sets_in_single_precision():
    """More rows than one working set, where the solver works in rounds."""
    X, y = examples(4400)
    search = KernelSVCCV([1.0, 10.0], [0.05], cv=3, tol=1e-4).fit(X, y)
    grid = GridSearchCV(KernelSVC(tol=1e-4), {"C": [1.0, 10.0], "gamma": [0.05]}, cv=3).fit(X, y)
    assert_same_cells(search, grid, 1.01 / (len(y) / 3 / 2))


def test_out_of_fold_scores_are_predictions_of_the_folds():
    X, y = examples(n_classes=3)
    search = KernelSVCCV([1.0], [0.1], cv=4, tol=1e-6, decision_function_shape="ovo").fit(X, y)
    model = KernelSVC(C=1.0, gamma=0.1, tol=1e-6, decision_function_shape="ovo")
    expected = cross_val_predict(model, X, y, cv=4, method="decision_function")
    np.testing.assert_allclose(search.oof_decision_, expected, atol=1e-3)


def test_weights_of_whole_numbers_are_repetitions():
    X, y = examples(120)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    fold = np.arange(len(y)) % 3
    weighted = KernelSVCCV([1.0], [0.1], cv=PredefinedSplit(fold), tol=1e-6).fit(X, y, sample_weight=times)
    rows = np.repeat(np.arange(len(y)), times)
    repeated = KernelSVCCV([1.0], [0.1], cv=PredefinedSplit(fold[rows]), tol=1e-6).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.oof_decision_[rows], repeated.oof_decision_, atol=1e-3)


def test_formats_of_rows_agree():
    X, y = examples(150)
    dense = KernelSVCCV(CS, [0.1], cv=3, tol=1e-6).fit(X, y)
    by_rows = KernelSVCCV(CS, [0.1], cv=3, tol=1e-6).fit(sparse.csr_matrix(X), y)
    K = kernels.Gaussian(sigma=np.sqrt(0.5 / 0.1))
    matrix = KernelSVCCV(CS, kernel="precomputed", cv=3, tol=1e-6).fit(block(K, X, X), y)
    for other in (by_rows, matrix):
        np.testing.assert_allclose(other.oof_decision_, dense.oof_decision_, atol=1e-3)


def test_any_splitter_that_holds_rows_out_once():
    X, y = examples(60)
    groups = np.arange(60) % 6
    search = KernelSVCCV([1.0], [0.1], cv=GroupKFold(3), tol=1e-6).fit(X, y, groups=groups)
    grid = GridSearchCV(KernelSVC(tol=1e-6), {"C": [1.0], "gamma": [0.1]}, cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert_same_cells(search, grid, 1.01 / 20)
    alone = KernelSVCCV([1.0], [0.1], cv=LeaveOneOut()).fit(X, y)
    assert len([name for name in alone.cv_results_ if name.startswith("split")]) == 60
    part = KernelSVCCV([1.0], [0.1], cv=[(np.arange(20, 60), np.arange(20))]).fit(X, y)
    assert np.isfinite(part.oof_decision_[:20]).all() and np.isnan(part.oof_decision_[20:]).all()


@pytest.mark.parametrize("settings", [{}, {"class_weight": "balanced"}, {"fit_intercept": False}], ids=str)
@pytest.mark.parametrize("form", ["dense", "sparse", "precomputed", "weighted"])
def test_few_rows_of_many_classes_are_fitted_fold_by_fold(monkeypatch, settings, form):
    """As `KernelSVC` fits them: decision values are the same, not up to `tol`, and solver objects are not made."""
    X, y = examples(150, n_classes=5)
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float) if form == "weighted" else None
    kernel = {"kernel": "precomputed"} if form == "precomputed" else {"gamma": 0.1}
    if form == "sparse":
        X = sparse.csr_matrix(X)
    elif form == "precomputed":
        X = block(kernels.Gaussian(sigma=np.sqrt(0.5 / 0.1)), X, X)
    monkeypatch.setattr(one_kernel, "make_solver", None)
    own = {"kernel": "precomputed"} if form == "precomputed" else {"gammas": [0.1]}
    search = KernelSVCCV([1.0, 10.0], cv=3, decision_function_shape="ovo", **own, **settings)
    search.fit(X, y, sample_weight=weights)
    model = KernelSVC(**{"C": search.best_params_["C"], "decision_function_shape": "ovo"}, **kernel, **settings)
    for train, test in StratifiedKFold(3).split(X, y):
        rows, columns = (train, train), (test, train)
        parts = [X[np.ix_(*part)] if form == "precomputed" else X[part[0]] for part in (rows, columns)]
        model.fit(parts[0], y[train], sample_weight=None if weights is None else weights[train])
        np.testing.assert_allclose(search.oof_decision_[test], model.decision_function(parts[1]), atol=1e-9)
    assert 0 < search.n_kernel_evaluations_ <= 5 * len(y) ** 2  # of each fold once, and of the last fit


def test_many_classes_go_on_together_where_a_pair_needs_more_steps(monkeypatch):
    """From the first C that `KernelSVC` leaves to the driver, and where folds are too many for their kernel rows."""
    X, y = examples(120, n_classes=4)
    expected = KernelSVCCV(CS, [0.1], cv=4, tol=1e-6, certify=0.5, calibration="sigmoid").fit(X, y)
    fit = small_folds.fit_small_pairs
    monkeypatch.setattr(small_folds, "fit_small_pairs", lambda task, rows: task.model.C < 1.0 and fit(task, rows))
    solved, solve = [], one_kernel.OneKernel.cells
    monkeypatch.setattr(one_kernel.OneKernel, "cells", lambda self, Cs: solved.append(list(Cs)) or solve(self, Cs))
    for cache_size, Cs in ((500, CS[1:]), (0.001, CS)):
        solved.clear()
        search = KernelSVCCV(CS, [0.1], cv=4, tol=1e-6, calibration="sigmoid", cache_size=cache_size).fit(X, y)
        assert solved == [Cs]
        for name in ("mean_test_score", "split2_test_score"):
            np.testing.assert_allclose(search.cv_results_[name], expected.cv_results_[name], atol=1.01 / 30)
        np.testing.assert_allclose(search.predict_proba(X), expected.predict_proba(X), atol=1e-3)
    assert np.isfinite(expected.cv_results_["certified_lower"][expected.best_index_])


@pytest.mark.parametrize("scoring", ["roc_auc", "balanced_accuracy", "average_precision"])
def test_scores_of_decision_values_and_labels(scoring):
    X, y = examples()
    search = KernelSVCCV(CS, [0.1], cv=3, tol=1e-6, scoring=scoring).fit(X, y)
    grid = GridSearchCV(KernelSVC(tol=1e-6), {"C": CS, "gamma": [0.1]}, cv=3, scoring=scoring).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], atol=0.02)


@pytest.mark.parametrize("n", [300, 4400])
def test_ten_folds_cost_twice_the_kernel_values_of_the_path_at_most(n):
    """Also beyond the size up to which the whole problem is one working set, and for rows that are cheap to compute."""
    X, y = examples(n)
    Cs = np.logspace(-2, 1, 10 if n < 1000 else 4)
    search = KernelSVCCV(Cs, [0.05], cv=10).fit(X, y)
    path = KernelSVC(gamma=0.05).path(X, y, Cs)
    assert search.n_kernel_evaluations_ <= 2 * sum(model.n_kernel_evaluations_ for model in path)


def test_the_kernel_values_of_the_cells_are_counted_with_those_of_the_refit():
    X, y = examples(120)
    search = KernelSVCCV([1.0], GAMMAS, cv=3).fit(X, y)
    alone = [KernelSVC(gamma=gamma, tol=1e-3).fit(X, y).n_kernel_evaluations_ for gamma in GAMMAS]
    assert search.n_kernel_evaluations_ >= sum(alone) > 0


def test_of_equal_cells_the_first_is_the_best():
    X, y = examples(60)
    search = KernelSVCCV(CS, GAMMAS, cv=3, scoring=lambda model, rows, y: 0.5).fit(X, y)
    assert search.best_index_ == 0 and search.best_params_ == {"C": CS[0], "gamma": GAMMAS[0]}
    assert search.cv_results_["rank_test_score"].tolist() == [1] * 6


def test_kept_rows_are_not_computed_again():
    X = np.random.default_rng(0).normal(size=(50, 2))
    rows = [KernelRows(X, kernels.Gaussian(sigma=1.0), keep=keep) for keep in (False, True)]
    assert rows[0].cheap and not rows[1].cheap


@pytest.mark.parametrize("seed", range(5))
def test_restored_starts_are_feasible(seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([-1.0, 1.0], 50))
    lower, upper = np.minimum(y, 0.0), np.maximum(y, 0.0)
    coef = rng.choice([0.0, 0.3, 1.0], 100) * y
    lower[:30] = upper[:30] = 0.0
    start = restored(coef, lower, upper, rng.normal(size=100), True)
    assert np.all((lower <= start) & (start <= upper)) and abs(start.sum()) < 1e-12


@pytest.mark.parametrize("size, growth", [(1e-8, 1.0), (1e-2, 10.0)])
def test_starts_do_not_multiply_the_rounding_of_tiny_products(size, growth):
    y = np.array([1.0, -1.0])
    solution = Solution(size * y, state={"products": 0.5 * size * y})
    start = scaled(solution, y, 10.0, (np.minimum(y, 0.0), np.maximum(y, 0.0)))
    np.testing.assert_array_equal(start.coef, growth * solution.coef)
    np.testing.assert_array_equal(start.state["products"], growth * solution.state["products"])


BAD = [
    ({"Cs": []}, {}, "Cs must be a list of positive numbers"),
    ({"Cs": [1.0, 0.0]}, {}, "Cs must be a list of positive numbers"),
    ({"Cs": [1.0, 1]}, {}, "Cs holds a value twice"),
    ({"gammas": []}, {}, "gammas must hold at least one value"),
    ({"gammas": [0.1, 0.1]}, {}, "gammas holds a value twice"),
    ({"gammas": [-1.0]}, {}, "gamma"),
    ({"kernel": "linear", "gammas": [0.1, 1.0]}, {}, "does not depend on gamma"),
    ({"store_oof_decisions": "no"}, {}, "store_oof_decisions must be True or False, got 'no'"),
    ({"cv": 40}, {}, "cv=40 folds need at least 40 rows of each class"),
    ({"cv": ShuffleSplit(8, random_state=0)}, {}, "out .* times"),
    ({"cv": GroupKFold(3)}, {}, "splits by groups: pass them"),
    ({"cv": PredefinedSplit(np.repeat([0, 1], 30))}, {}, "has no row of class"),
    ({"cv": [(np.arange(30), np.arange(60))]}, {}, "trains on rows that it holds out"),
    ({"cv": [(np.arange(60), np.arange(60, 70))]}, {}, "row numbers outside"),
    ({"cv": [(np.arange(59), [-1])]}, {}, "fold 0 of cv has row numbers outside of 0 to 59"),
    ({"cv": 9}, {"sample_weight": np.repeat([0.0, 1.0], [22, 38])}, "at least 9 rows of each class, but .* has 8"),
    ({"cv": [(np.repeat(np.arange(20, 60), 2), np.arange(20))]}, {}, "has rows twice in its training part"),
    ({"cv": [(np.arange(60), [])]}, {}, "holds out no rows"),
    ({"cv": []}, {}, "makes no folds"),
    ({"scoring": "neg_log_loss"}, {}, "needs probabilities"),
    ({"max_seconds": -1.0}, {}, "max_seconds must be"),
]


@pytest.mark.parametrize("parameters, given, message", BAD, ids=[message for *_, message in BAD])
def test_bad_input_is_rejected_with_what_to_change(parameters, given, message):
    X, y = examples(60)
    y = np.repeat([0, 1], 30)
    with pytest.raises(ValueError, match=message):
        KernelSVCCV(**parameters).fit(X, y, **given)


def test_folds_that_do_not_fit_into_memory_are_rejected(monkeypatch):
    X, y = examples(60)

    class Memory:
        available = parameters.BYTES_PER_FOLD * 60 * 3 + 8 * 60**2 + 1

    monkeypatch.setattr(parameters.psutil, "virtual_memory", Memory)
    KernelSVCCV([1.0], [0.1], cv=3).fit(X, y)
    with pytest.raises(ValueError, match="at most 3 folds fit; a smaller cache_size"):
        KernelSVCCV([1.0], [0.1], cv=4).fit(X, y)
    KernelSVCCV([1.0], [0.1], cv=4, cache_size=0.01).fit(X, y)


def test_a_search_without_time_for_one_cell_is_rejected():
    X, y = examples()
    with pytest.raises(ValueError, match="before its first cell"):
        KernelSVCCV(CS, GAMMAS, max_seconds=1e-9).fit(X, y)


def test_a_search_that_runs_out_of_time_says_so(monkeypatch):
    X, y = examples()
    add, added = cells.GridOfCells._add, []

    def slow(self, index, *cell):
        if added:
            raise cells.SearchEnded("max_seconds")
        added.append(index)
        add(self, index, *cell)

    monkeypatch.setattr(cells.GridOfCells, "_add", slow)
    with pytest.warns(ConvergenceWarning, match="after 1 of 6 cells, since max_seconds was used up.*or shorten Cs"):
        search = KernelSVCCV(CS, GAMMAS, max_seconds=1e9).fit(X, y)
    assert [search.best_index_] == added and np.isfinite(search.best_score_)


def test_an_interrupted_search_takes_the_best_of_the_finished_cells(monkeypatch):
    X, y = examples()
    whole = KernelSVCCV(CS, GAMMAS, cv=3).fit(X, y)
    add, added = cells.GridOfCells._add, []

    def interrupted(self, index, *cell):
        if len(added) == 4:
            raise KeyboardInterrupt
        added.append(index)
        add(self, index, *cell)

    monkeypatch.setattr(cells.GridOfCells, "_add", interrupted)
    with pytest.warns(
        ConvergenceWarning, match="after 4 of 6 cells, since it was interrupted: the best of these was taken.$"
    ):
        search = KernelSVCCV(CS, GAMMAS, cv=3).fit(X, y)
    mean = search.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(mean[added], whole.cv_results_["mean_test_score"][added])
    assert np.isfinite(mean).sum() == 4 and search.best_index_ == np.nanargmax(mean)
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1


def test_fits_that_stop_at_max_iter_are_counted_in_a_warning():
    X, y = examples()
    with pytest.warns(ConvergenceWarning, match="fits of the search did not reach tol"):
        KernelSVCCV([10.0], [0.1], cv=3, max_iter=1).fit(X, y)


def test_the_estimator_is_a_kernel_svc():
    X, y = examples()
    search = KernelSVCCV(CS, GAMMAS, cv=StratifiedKFold(3), verbose=0).fit(X, y)
    model = search.estimator_
    assert type(model) is KernelSVC and model.C == search.best_params_["C"] and not hasattr(model, "cv_results_")
    np.testing.assert_array_equal(model.predict(X), search.predict(X))


KERNELS = ["rbf", "linear", kernels.Laplacian(sigma=3.0)]


@pytest.mark.parametrize("method", ["exact", "race", "halving"])
def test_a_grid_over_kernels(method):
    """Those without gamma have one cell for each C."""
    X, y = examples(n_classes=3)
    search = KernelSVCCV(CS, GAMMAS, kernels=KERNELS, cv=4, tol=1e-6, search=method).fit(X, y)
    with_gamma, without = {"C": CS, "gamma": GAMMAS, "kernel": KERNELS[:1]}, {"C": CS, "kernel": KERNELS[1:]}
    grid = GridSearchCV(KernelSVC(tol=1e-6), [with_gamma, without], cv=4).fit(X, y)
    scores = [dict(zip(map(repr, (sorted(cell.items()) for cell in table["params"])), table["mean_test_score"]))
              for table in (search.cv_results_, grid.cv_results_)]  # fmt: skip
    assert len(search.cv_results_["params"]) == len(CS) * (len(GAMMAS) + 2) and scores[0].keys() == scores[1].keys()
    assert np.isfinite(search.best_score_)
    for cell, score in scores[0].items():
        if method == "exact" or not np.isnan(score):  # the others drop cells
            assert abs(score - scores[1][cell]) <= 1.01 / (len(y) // 4)
    np.testing.assert_array_equal(
        search.cv_results_["param_gamma"].mask, ["gamma" not in p for p in search.cv_results_["params"]]
    )
    assert repr(search.estimator_.kernel) == repr(search.best_params_["kernel"])
    alone = KernelSVC(tol=1e-6, **search.best_params_).fit(X, y)
    np.testing.assert_allclose(search.decision_function(X), alone.decision_function(X), atol=1e-3)


def test_a_search_over_kernels_is_saved(tmp_path):
    X, y = examples(60)
    search = KernelSVCCV([1.0], GAMMAS, kernels=KERNELS, cv=2).fit(X, y)
    search.save(tmp_path / "search.npz")
    loaded = load(tmp_path / "search.npz")
    np.testing.assert_array_equal(loaded.decision_function(X), search.decision_function(X))
    for name in ("param_kernel", "param_gamma"):
        assert str(loaded.cv_results_[name]) == str(search.cv_results_[name])


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"kernels": []}, "kernels must hold at least one value"),
        ({"kernels": ["rbf", "rbf"]}, "kernels holds a value twice"),
        ({"kernels": ["rbf", "precomputed"]}, "a precomputed matrix is one kernel"),
        ({"kernels": ["rbf"], "kernel": "precomputed"}, "a precomputed matrix is one kernel"),
        ({"kernels": ["linear"], "gammas": GAMMAS}, "do not depend on gamma"),
        ({"kernels": ["rbf", "linaer"]}, "unknown kernel 'linaer'"),
    ],
    ids=str,
)
def test_kernels_that_make_no_grid(settings, message):
    with pytest.raises(ValueError, match=message):
        KernelSVCCV([1.0], **settings).fit(*examples(60))
