"""The frame of all searches: refit, jobs, stores, warm starts, limits; errors that say what to change."""

import threading
from _thread import interrupt_main
from time import perf_counter, sleep

import joblib
import numpy as np
import pytest
from search_faces import FACES, KERNELS, assert_same_cells, step_of
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GroupKFold, ShuffleSplit

from kernbench import KernelRegressorCV, KernelSVCCV, LinearSVCCV
from kernbench.estimators.search import cells, fold_paths, one_kernel, store, svc_search
from kernbench.estimators.search.results import results_of

every_face = pytest.mark.parametrize("face", FACES, ids=str)


@every_face
def test_without_a_refit_there_is_no_model(face):
    X, y = face.data()
    search = face.make(refit=False).fit(X, y)
    with pytest.raises(NotFittedError, match=rf"fit {face.estimator.__name__}\(\*\*search.best_params_\)"):
        search.predict(X)
    with pytest.raises(NotFittedError):
        _ = search.estimator_


@every_face
def test_folds_side_by_side_give_the_same_cells(face, tmp_path):
    X, y = face.data()
    with joblib.parallel_config(backend="threading"):
        several = face.make(n_jobs=2, memory=tmp_path).fit(X, y)
    one = face.make().fit(X, y)
    assert several.n_kernel_evaluations_ == one.n_kernel_evaluations_ and several.best_params_ == one.best_params_
    assert_same_cells(several, one, 1e-9)
    assert len(list(tmp_path.iterdir())) == len(one.cv_results_["params"])
    again = face.make(memory=tmp_path).fit(X, y)
    assert_same_cells(again, one, 1e-9)
    assert all(np.all(search.cv_results_["mean_fit_time"] > 0.0) for search in (several, one, again))


def test_folds_side_by_side_are_all_counted_that_did_not_converge():
    X, y = FACES[1].data()
    said = []
    for n_jobs in (1, 2):
        with joblib.parallel_config(backend="threading"), pytest.warns(ConvergenceWarning) as caught:
            FACES[1].make(n_jobs=n_jobs, max_iter=1, refit=False).fit(X, y)
        said += [str(warning.message) for warning in caught if "fits of the search" in str(warning.message)]
    assert len(said) == 2 and said[0] == said[1]


def test_columns_of_scores_are_those_of_a_grid_search():
    """Population standard deviations; equal cells have the best of their ranks, unfinished ones the last."""
    times = {"fit_seconds": np.ones(2), "score_seconds": np.ones(2)}
    found = [{"score": np.array(own)} for own in ((0.5, 0.7), (0.9, 0.7), (0.7, 0.9))]
    cells = [{"params": {"C": float(k)}, "scores": own, **times} for k, own in enumerate(found)]
    table = results_of([*cells, {"params": {"C": 9.0}}], 2)
    assert table["mean_test_score"][:3] == pytest.approx([0.6, 0.8, 0.8])
    assert table["std_test_score"][:3] == pytest.approx([0.1] * 3)
    assert table["rank_test_score"].tolist() == [3, 1, 1, 4]


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")  # deviations from -inf
@pytest.mark.parametrize(
    "scores, ranks",
    [
        ([np.nan, -np.inf, np.nan], [2, 1, 2]),
        ([np.nan, np.inf, -np.inf], [3, 1, 2]),
        ([-1e300, np.nan, 1.0], [2, 3, 1]),
        ([np.nan, np.nan, np.nan], [1, 1, 1]),
    ],
)
def test_a_score_that_is_not_a_number_is_below_all_others(scores, ranks):
    times = {"fit_seconds": np.ones(2), "score_seconds": np.ones(2)}
    cells = [{"params": {"C": float(k)}, "scores": {"score": np.full(2, own)}, **times} for k, own in enumerate(scores)]
    assert results_of(cells, 2)["rank_test_score"].tolist() == ranks


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_a_cell_with_a_score_of_minus_infinity_is_better_than_one_without_a_score():
    found = iter([0.5, np.nan, np.nan, -np.inf, -np.inf])  # the first is of a model that predicts a constant

    def score(model, X, y):
        return next(found)

    X, y = FACES[0].data()
    with pytest.warns(UserWarning, match="No cell has a finite mean score"):
        search = KernelSVCCV([0.1, 1.0], [0.2], cv=2, scoring=score).fit(X, y)
    assert search.best_index_ == 1 and search.best_score_ == -np.inf
    assert search.cv_results_["rank_test_score"].tolist() == [2, 1]


class Solved:
    """Counts the cells that paths solve."""

    def __init__(self, monkeypatch):
        self.n, plain = 0, store.StoredCells.keep

        def keep(own, *cell):
            self.n += 1
            plain(own, *cell)

        monkeypatch.setattr(store.StoredCells, "keep", keep)

    def since(self):
        n, self.n = self.n, 0
        return n


@every_face
def test_a_warm_start_solves_new_cells_only(face, monkeypatch):
    X, y = face.data()
    solved, (name, values) = Solved(monkeypatch), face.strengths
    search = face.make(warm_start=True).fit(X, y)
    n_cells = len(search.cv_results_["params"])
    assert solved.since() == n_cells
    search.fit(X, y)
    assert solved.since() == 0
    grown = {name: [*values, 0.02]}
    search.set_params(**grown).fit(X, y)
    assert solved.since() == n_cells // len(values)
    cold = face.make(**grown).fit(X, y)
    assert_same_cells(search, cold, step_of(face))
    solved.since()
    search.fit(X + 1e-9, y)  # other data: nothing is reused, neither now nor when the old ones come back
    assert solved.since() == len(cold.cv_results_["params"])
    search.set_params(tol=1e-6).fit(X + 1e-9, y)
    assert solved.since() == len(cold.cv_results_["params"])
    search.set_params(warm_start=False).fit(X, y)
    assert not hasattr(search, "_kept_cells")


def interrupt_second_cell(monkeypatch):
    """Have the next search interrupted as it adds its second cell; return the list to which the first one comes."""
    add, added = cells.GridOfCells._add, []

    def interrupted(self, index, cell):
        if added:
            raise KeyboardInterrupt
        added.append(index)
        add(self, index, cell)

    monkeypatch.setattr(cells.GridOfCells, "_add", interrupted)
    return added


@every_face
def test_an_interrupted_search_takes_the_best_of_the_finished_cells(face, monkeypatch):
    X, y = face.data()
    added = interrupt_second_cell(monkeypatch)
    with pytest.warns(ConvergenceWarning, match="after 1 of . cells, since it was interrupted"):
        search = face.make(warm_start=True).fit(X, y)
    assert [search.best_index_] == added and np.isfinite(search.cv_results_["mean_test_score"]).sum() == 1
    monkeypatch.undo()
    solved = Solved(monkeypatch)
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all() and solved.n < len(search.cv_results_["params"])


def test_an_interrupted_search_keeps_the_cells_of_the_one_before(monkeypatch):
    """Also of the kernels that it did not come to."""
    face = next(face for face in FACES if face.search is KernelSVCCV)
    X, y = face.data()
    search = face.make(warm_start=True).fit(X, y)
    interrupt_second_cell(monkeypatch)
    with pytest.warns(ConvergenceWarning, match="since it was interrupted"):
        search.fit(X, y)
    monkeypatch.undo()
    solved = Solved(monkeypatch)
    search.fit(X, y)
    assert solved.n == 0


@every_face
def test_ctrl_c_in_the_last_fit_keeps_the_cells_and_what_that_fit_had_reached(face, monkeypatch):
    def press_ctrl_c(model):
        raise KeyboardInterrupt

    X, y = face.data()
    whole, search = face.make().fit(X, y), face.make(callback=press_ctrl_c, warm_start=True)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert np.ravel(search.status_)[0] == "interrupted" and search.predict(X).shape == y.shape
    assert search.best_params_ == whole.best_params_ and search.best_score_ == whole.best_score_
    assert_same_cells(search, whole, 0.0)
    solved = Solved(monkeypatch)
    search.set_params(callback=None).fit(X, y)
    assert solved.n == 0 and np.ravel(search.status_)[0] != "interrupted"


@every_face
def test_an_error_in_the_last_fit_keeps_the_cells_for_a_warm_start(face, monkeypatch):
    def fail(model):
        raise RuntimeError("of a callback")

    X, y = face.data()
    search = face.make(callback=fail, warm_start=True)
    with pytest.raises(RuntimeError, match="of a callback"):
        search.fit(X, y)
    with pytest.raises(NotFittedError):
        search.predict(X)
    solved = Solved(monkeypatch)
    search.set_params(callback=None).fit(X, y)
    assert solved.n == 0


def test_ctrl_c_before_the_last_fit_runs_leaves_the_model_as_it_was(monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    face = next(face for face in FACES if face.search is KernelSVCCV)
    X, y = face.data()
    search = face.make(warm_start=True).fit(X, y)
    before = dict(vars(search))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(svc_search, "fit_task", interrupted)
        search.fit(X + 1e-9, y)
    after = vars(search)
    assert before.keys() == after.keys()
    assert all(after[name] is value for name, value in before.items() if name != "_kept_cells")
    solved = Solved(monkeypatch)
    search.fit(X + 1e-9, y)
    assert solved.n == 0


@every_face
def test_a_grid_that_cannot_be_finished_says_so(face):
    X, y = face.data()
    with pytest.raises(ValueError, match="before its first cell was finished"):
        face.make(max_seconds=1e-9).fit(X, y)


def test_what_was_finished_within_max_seconds_is_returned(monkeypatch):
    face = FACES[1]
    X, y = face.data()
    clock, fit = [0.0], fold_paths._FoldPath.fit

    def slow(self, *arguments):
        clock[0] += 1.0
        return fit(self, *arguments)

    for module in (fold_paths, cells):
        monkeypatch.setattr(module, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(fold_paths._FoldPath, "fit", slow)
    with pytest.warns(ConvergenceWarning, match="after 1 of 2 cells, since max_seconds was used up.*shorten Cs"):
        search = face.make(max_seconds=3.5).fit(X, y)
    assert search.best_params_ == {"C": 0.01} and np.isnan(search.cv_results_["mean_test_score"][1])


@pytest.mark.parametrize("search", [KernelSVCCV, LinearSVCCV], ids=lambda search: search.__name__)
def test_ctrl_c_ends_the_folds_that_threads_solve(search, monkeypatch):
    """Signals reach the main thread only; joblib lets the others work on."""
    own = {"gammas": [1e-4, 2e-4]} if search is KernelSVCCV else {"solver": "pegasos", "max_iter": 10**9}
    X, y = make_classification(800, 8, flip_y=1.0, random_state=0)
    before, timer = set(threading.enumerate()), threading.Timer(0.2, interrupt_main)
    solved, begun = cells._solved, []

    def solve(*args):
        begun.append(threading.current_thread())
        if len(begun) == 1:
            timer.start()
        return solved(*args)

    monkeypatch.setattr(cells, "_solved", solve)
    with joblib.parallel_config(backend="threading"), pytest.raises(KeyboardInterrupt):
        search([1e8, 1e9], cv=4, n_jobs=2, tol=1e-14, **own).fit(X, y)
    begin = perf_counter()
    while any(thread.is_alive() for thread in begun) and perf_counter() < begin + 5.0:
        sleep(0.02)
    assert begun and not before & set(begun) and not any(thread.is_alive() for thread in begun)


def test_workers_that_begin_late_have_no_more_time(monkeypatch):
    left = []

    def wait(paths, strengths):
        left.append(paths.deadline - perf_counter())
        sleep(0.05)
        raise one_kernel.SearchEnded("max_seconds")

    monkeypatch.setattr(fold_paths.FoldPaths, "cells", wait)
    X, y = FACES[1].data()
    with joblib.parallel_config(backend="threading"), pytest.raises(ValueError, match="before its first cell"):
        FACES[1].make(cv=6, n_jobs=2, max_seconds=1.0).fit(X, y)
    assert len(left) == 6 and max(left) <= 1.0 and min(left) <= 0.92


@every_face
def test_fits_that_stop_early_are_counted(face):
    X, y = face.data()
    solver = {"solver": "sdca"} if face.search is KernelRegressorCV else {}  # one step of Newton's method is exact
    with pytest.warns(ConvergenceWarning, match=f"fits of the search did not .* leave out the .*{face.strengths[0]}"):
        face.make(max_iter=1, tol=1e-9, **solver).fit(X, y)


def test_folds_whose_data_do_not_fit_into_memory_make_them_again(monkeypatch):
    for face in FACES[1:4]:
        X, y = face.data()
        kept = face.make(random_state=None).set_params(random_state=1).fit(X, y)
        monkeypatch.setattr(fold_paths, "KEPT_SHARE", 0.0)
        again = face.make(random_state=1).fit(X, y)
        monkeypatch.undo()
        assert_same_cells(kept, again, 1e-9)


BAD = [
    (lambda name: {name: []}, "must be a list of positive numbers"),
    (lambda name: {name: [1.0, -1.0]}, "must be a list of positive numbers"),
    (lambda name: {name: [1.0, 0.0]}, "must be a list of positive numbers"),
    (lambda name: {name: "many"}, "must be a list of positive numbers"),
    (lambda name: {name: [0.1, 0.1]}, "holds a value twice"),
    (lambda name: {"cv": ShuffleSplit(8, random_state=0)}, "out .* times"),
    (lambda name: {"cv": GroupKFold(3)}, "splits by groups: pass them"),
    (lambda name: {"cv": [(np.arange(30), np.arange(90))]}, "trains on rows that it holds out"),
    (lambda name: {"cv": [(np.r_[0:60, 0], np.arange(60, 90))]}, "rows twice in its training part"),
    (lambda name: {"cv": [(np.arange(90), [])]}, "holds out no rows"),
    (lambda name: {"cv": []}, "makes no folds"),
    (lambda name: {"refit": 1.5}, "refit must be"),
    (lambda name: {"n_jobs": 0}, "n_jobs must be"),
    (lambda name: {"max_seconds": -1.0}, "max_seconds must be"),
    (lambda name: {"warm_start": "yes"}, "warm_start must be"),
    (lambda name: {"memory": 1.5}, "memory must be the path of a folder"),
    (lambda name: {"scoring": []}, "scoring is empty"),
    (lambda name: {"scoring": "neg_log_loss"}, "needs probabilities, which"),
]


@every_face
@pytest.mark.parametrize("settings, message", BAD, ids=[message for _, message in BAD])
def test_bad_input_is_rejected_with_what_to_change(face, settings, message):
    X, y = face.data()
    with pytest.raises(ValueError, match=message):
        face.make(**settings(face.strengths[0])).fit(X, y)


@pytest.mark.parametrize("face", [face for face in FACES if face.n_classes], ids=str)
def test_folds_need_every_class(face):
    X, y = face.data(60)
    y = np.sort(y)
    with pytest.raises(ValueError, match=f"cv=40 folds need .* or {face.estimator.__name__} with fixed parameters"):
        face.make(cv=40).fit(X, y)
    with pytest.raises(ValueError, match="has no row of class|of one class only"):
        face.make(cv=[(np.arange(25), np.arange(25, 60))]).fit(X, y)
    with pytest.raises(ValueError, match="greater than one|one class"):
        face.make().fit(X, np.zeros(60))


def test_regression_folds_need_weight_and_rows():
    X, y = FACES[2].data(60)
    weights = np.where(np.arange(60) < 20, 1.0, 0.0)
    with pytest.raises(ValueError, match="training part of fold 0 of cv has no row of positive weight"):
        FACES[2].make(cv=3).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="n_splits=70"):
        FACES[2].make(cv=70).fit(X, y)
    with pytest.raises(ValueError, match="does not depend on gamma"):
        FACES[2].make(kernel="linear").fit(X, y)


@pytest.mark.filterwarnings("error:R.2 score is not well-defined", "ignore:Only one class is present in y_true")
def test_scores_that_choose_nothing_are_named():
    """R² of one held-out row is not defined, as in scikit-learn, which says so for every row."""
    with pytest.warns(UserWarning, match="No cell has a finite mean score.*another scoring"):
        search = KernelRegressorCV([0.1, 0.01], cv=2).fit([[0.0], [1.0]], [0.0, 1.0])
    assert np.isnan(search.best_score_) and search.best_params_["alpha"] == 0.1
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2  # the folds hold out a class each
    sorted_folds = [(np.setdiff1d(np.arange(20), rows), rows) for rows in (np.arange(0, 10, 2), np.arange(1, 11, 2))]
    with pytest.warns(UserWarning, match="stratified folds .*nor is the AUC of one class"):
        KernelSVCCV(cv=sorted_folds, scoring="roc_auc").fit(X, y)


@pytest.mark.parametrize("face", KERNELS, ids=str)
def test_a_kernel_function_cannot_be_compared(face):
    X, y = face.data(60)
    own = {"gammas": ["scale"]} if "gammas" in face.grid else {}
    with pytest.raises(ValueError, match="warm_start cannot tell whether a kernel that is a Python function"):
        face.make(kernel=lambda a, b: a @ b.T, warm_start=True, **own).fit(X, y)
