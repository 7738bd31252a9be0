"""All searches: the cells of GridSearchCV, one frame around them, and errors that say what to change."""

import warnings

import joblib
import numpy as np
import pytest
from scipy import sparse
from search_faces import FACES, KERNELS, gaussian_matrix
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.utils.estimator_checks import check_estimator

import kernbench
from kernbench import KernelRegressor, KernelRegressorCV, LinearSVC, LinearSVCCV, PartialAUCClassifierCV
from kernbench.estimators.search import cells, fold_paths, store
from kernbench.plot import SearchDisplay

TOLERANCE = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "two runs agree to tol=1e-3, not to 1e-7, as those of PartialAUCClassifier",
)
every_face = pytest.mark.parametrize("face", FACES, ids=str)
LINEAR = [{"loss": "hinge"}, {"class_weight": "balanced"}, {"intercept_scaling": np.inf}, {"solver": "sdca"}]
REGRESSION = [{"loss": "epsilon_insensitive"}, {"loss": "huber"}, {"solver": "sdca"}, {"fit_intercept": False}]
OTHERS = [(face, {}) for face in FACES]
OTHERS += [(FACES[1], settings) for settings in LINEAR] + [(FACES[2], settings) for settings in REGRESSION]


def grid_search(face, X, y, weights=None, cv=3, cells=None, **settings):
    """Return the GridSearchCV of a face, fitted."""
    scoring = None if face.metric is None else make_scorer(face.metric, response_method="decision_function")
    if weights is not None:
        pytest.importorskip("sklearn", "1.9", reason="scores of GridSearchCV have weights from 1.9 on")
    grid = GridSearchCV(face.alone(**settings), cells or face.cells, cv=cv, scoring=scoring)
    return grid.fit(X, y) if weights is None else grid.fit(X, y, sample_weight=weights)


def assert_same_cells(search, grid, step):
    """Scores of each fold agree within `step`."""
    assert search.cv_results_["params"] == grid.cv_results_["params"]
    for k in range(grid.n_splits_):
        name = f"split{k}_test_score"
        assert np.abs(search.cv_results_[name] - grid.cv_results_[name]).max() <= step


def step_of(face):
    """Within one row of 30: a label, or the pairs of a row of the smaller class."""
    return {"KernelRegressorCV": 1e-5, "ROCSVCCV": 0.01, "PartialAUCClassifierCV": 0.05}.get(str(face), 1.01 / 30)


@pytest.mark.parametrize("face, settings", OTHERS, ids=lambda value: str(value) if value else "defaults")
@pytest.mark.parametrize("form", ["dense", "CSR"])
def test_every_cell_is_that_of_a_grid_search(face, settings, form):
    X, y = face.data()
    given = X if form == "dense" else sparse.csr_matrix(X)
    search, grid = face.make(**settings).fit(given, y), grid_search(face, given, y, **settings)
    assert_same_cells(search, grid, step_of(face))
    assert list(search.cv_results_) == list(grid.cv_results_)
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    alone = face.alone(**settings, **search.best_params_).fit(given, y)
    np.testing.assert_allclose(search.predict(given), alone.predict(given), atol=1e-4)
    assert type(search.estimator_) is face.estimator
    np.testing.assert_array_equal(search.estimator_.predict(given), search.predict(given))


@pytest.mark.parametrize("face", KERNELS, ids=str)
def test_cells_of_a_precomputed_kernel(face):
    X, y = face.data()
    K, strength = gaussian_matrix(X), dict(list(face.cells.items())[:1])
    settings = {"kernel": "precomputed"}
    own = {"gammas": ["scale"]} if "gammas" in face.grid else {}
    search = face.make(**settings, **own).fit(K, y)
    others = {"gamma": ["scale"]} if own else {}
    assert_same_cells(search, grid_search(face, K, y, cells={**strength, **others}, **settings), step_of(face))


@every_face
def test_weights_reach_the_fits_of_the_folds(face):
    X, y = face.data()
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    search, grid = face.make().fit(X, y, sample_weight=weights), grid_search(face, X, y, weights)
    assert_same_cells(search, grid, 3 * step_of(face))  # a row may weigh three times the mean
    values = search._oof_name
    for train, test in (StratifiedKFold(3) if face.n_classes else KFold(3)).split(X, y):
        alone = face.alone(**search.best_params_).fit(X[train], y[train], sample_weight=weights[train])
        expected = alone.predict(X[test]) if face.n_classes is None else alone.decision_function(X[test])
        np.testing.assert_allclose(getattr(search, values)[test], expected, atol=5e-3)


@every_face
def test_any_splitter(face):
    X, y = face.data(60)
    groups = np.arange(60) % 6
    one = {name: values[:1] for name, values in face.grid.items()}
    grouped = face.make(**one, cv=GroupKFold(3)).fit(X, y, groups=groups)
    by_hand = [(np.flatnonzero(train), np.flatnonzero(~train)) for train in (groups % 3 != k for k in range(3))]
    np.testing.assert_allclose(
        np.sort(grouped.cv_results_["mean_test_score"]),
        face.make(**one, cv=by_hand).fit(X, y).cv_results_["mean_test_score"],
        atol=1e-6,
    )
    fold = np.where(np.arange(60) < 20, 0, -1)
    part = face.make(**one, cv=PredefinedSplit(fold)).fit(X, y)
    values = getattr(part, part._oof_name)
    assert np.isfinite(values[:20]).all() and np.isnan(values[20:]).all()
    scoring = "neg_mean_absolute_error" if face.n_classes is None else "accuracy"
    alone = face.make(**one, cv=LeaveOneOut(), scoring=scoring, tol=1e-3).fit(X, y)
    assert alone.n_splits_ == 60 and np.isfinite(getattr(alone, alone._oof_name)).all()


@every_face
def test_several_scores_of_which_one_decides(face):
    X, y = face.data()
    names = ("r2", "neg_mean_absolute_error") if face.n_classes is None else ("accuracy", "balanced_accuracy")
    search = face.make(scoring=list(names), refit=names[1]).fit(X, y)
    mean = search.cv_results_[f"mean_test_{names[1]}"]
    assert search.multimetric_ and search.best_index_ == mean.argmax() and search.best_score_ == mean.max()
    last = face.make(refit=lambda table: len(table["params"]) - 1).fit(X, y)
    assert last.best_params_ == last.cv_results_["params"][-1]


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


@every_face
def test_an_interrupted_search_takes_the_best_of_the_finished_cells(face, monkeypatch):
    X, y = face.data()
    add, added = cells.GridOfCells._add, []

    def interrupted(self, index, cell):
        if added:
            raise KeyboardInterrupt
        added.append(index)
        add(self, index, cell)

    monkeypatch.setattr(cells.GridOfCells, "_add", interrupted)
    with pytest.warns(ConvergenceWarning, match="after 1 of . cells, for it was interrupted"):
        search = face.make(warm_start=True).fit(X, y)
    assert [search.best_index_] == added and np.isfinite(search.cv_results_["mean_test_score"]).sum() == 1
    monkeypatch.undo()
    solved = Solved(monkeypatch)
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all() and solved.n < len(search.cv_results_["params"])


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
    with pytest.warns(ConvergenceWarning, match="after 1 of 2 cells, for max_seconds was used up.*shorten Cs"):
        search = face.make(max_seconds=3.5).fit(X, y)
    assert search.best_params_ == {"C": 0.01} and np.isnan(search.cv_results_["mean_test_score"][1])


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


@pytest.mark.parametrize("face", KERNELS, ids=str)
def test_a_kernel_function_cannot_be_compared(face):
    X, y = face.data(60)
    own = {"gammas": ["scale"]} if "gammas" in face.grid else {}
    with pytest.raises(ValueError, match="warm_start cannot tell whether a kernel that is a Python function"):
        face.make(kernel=lambda a, b: a @ b.T, warm_start=True, **own).fit(X, y)


def test_settings_of_one_search():
    X, y = FACES[3].data()
    with pytest.raises(ValueError, match="both choose"):
        FACES[3].make(selection="1se", refit=lambda table: 0).fit(X, y)
    by_accuracy = FACES[3].make(scoring="accuracy", selection="1se").fit(X, y)
    assert by_accuracy.alpha_ == by_accuracy.best_params_["alpha"] and not hasattr(by_accuracy, "auc_path_")
    upper = PartialAUCClassifierCV((0.0, 0.2), alphas=[0.01], threshold="window", cv=3).fit(X, y)
    assert upper.fpr_range_ == (0.0, 0.2) and (upper.predict(X)[y == 0] == 1).mean() <= 0.2


def test_several_outputs():
    X, y = FACES[2].data()
    Y = np.column_stack([y, X[:, 2] ** 2])
    search = FACES[2].make().fit(X, Y)
    grid = GridSearchCV(KernelRegressor(tol=1e-7), FACES[2].cells, cv=3).fit(X, Y)
    assert_same_cells(search, grid, 1e-6)
    assert search.oof_prediction_.shape == Y.shape


@every_face
def test_a_model_file_keeps_the_table(face, tmp_path):
    X, y = face.data()
    search = face.make().fit(X, y)
    search.save(tmp_path / "model.npz")
    loaded = kernbench.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))
    np.testing.assert_array_equal(loaded.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])
    assert loaded.best_params_ == search.best_params_


@every_face
def test_scores_are_drawn(face):
    import matplotlib

    matplotlib.use("agg")
    search = face.make().fit(*face.data())
    display = SearchDisplay.from_estimator(search)
    assert display.x_name == next(iter(face.cells)) and np.isfinite(display.means).all()
    assert display.best[0] == search.best_params_[display.x_name]


@pytest.mark.parametrize(
    "search",
    [
        LinearSVCCV([0.1, 1.0], cv=2, random_state=0),
        KernelRegressorCV([0.1, 0.01], cv=2),
        PartialAUCClassifierCV(alphas=[0.01, 0.001], cv=2, random_state=0),
    ],
    ids=lambda search: type(search).__name__,
)
def test_conventions_of_scikit_learn(search):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(search, expected_failed_checks=TOLERANCE if type(search) is PartialAUCClassifierCV else None)


def test_a_linear_search_keeps_its_model_sparse_on_request():
    X, y = FACES[1].data()
    search = FACES[1].make().fit(X, y)
    expected = LinearSVC(tol=1e-7, random_state=0, **search.best_params_).fit(X, y).decision_function(X)
    np.testing.assert_allclose(search.sparsify().decision_function(X), expected, atol=1e-6)
