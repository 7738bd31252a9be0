"""All searches: their cells are those of GridSearchCV, and they are their estimators, fitted."""

import statistics

import numpy as np
import pytest
from scipy import sparse
from search_faces import FACES, KERNELS, assert_same_cells, gaussian_matrix, step_of
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    ParameterGrid,
    PredefinedSplit,
    StratifiedKFold,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernbench
from kernbench import (
    KernelRegressor,
    KernelRegressorCV,
    KernelSVCCV,
    LinearSVC,
    LinearSVCCV,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
)
from kernbench.estimators.search import one_kernel
from kernbench.metrics import partial_auc
from kernbench.plot import SearchDisplay

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


class EveryThirdDay:
    """A splitter that looks at a column of a table, by its name."""

    def split(self, X, y=None, groups=None):
        for k in range(3):
            held_out = (X["day"] % 3 == k).to_numpy()
            yield np.flatnonzero(~held_out), np.flatnonzero(held_out)

    def get_n_splits(self, X=None, y=None, groups=None):
        return 3


@every_face
def test_a_splitter_is_given_the_rows_as_they_were_passed(face):
    """As by ``GridSearchCV``."""
    pandas = pytest.importorskip("pandas")
    X, y = face.data(60)
    table = pandas.DataFrame(X, columns=list("abcde")).assign(day=np.arange(60))
    one = {name: values[:1] for name, values in face.grid.items()}
    search = face.make(**one, cv=EveryThirdDay()).fit(table, y)
    by_hand = [(np.flatnonzero(np.arange(60) % 3 != k), np.flatnonzero(np.arange(60) % 3 == k)) for k in range(3)]
    alike = face.make(**one, cv=by_hand).fit(table, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], alike.cv_results_["mean_test_score"])


@every_face
def test_several_scores_of_which_one_decides(face):
    X, y = face.data()
    names = ("r2", "neg_mean_absolute_error") if face.n_classes is None else ("accuracy", "balanced_accuracy")
    search = face.make(scoring=list(names), refit=names[1]).fit(X, y)
    mean = search.cv_results_[f"mean_test_{names[1]}"]
    assert search.multimetric_ and search.best_index_ == mean.argmax() and search.best_score_ == mean.max()
    last = face.make(refit=lambda table: len(table["params"]) - 1).fit(X, y)
    assert last.best_params_ == last.cv_results_["params"][-1]


SMO = [
    {"loss": "epsilon_insensitive"},
    {"loss": "squared_epsilon_insensitive"},
    {"loss": "quantile", "quantile": 0.3},
    {"loss": "absolute_error", "solver": "smo", "fit_intercept": False},
    {"loss": "epsilon_insensitive", "kernel": "linear", "gammas": ["scale"]},
]


@pytest.mark.parametrize("settings", SMO, ids=str)
def test_folds_of_a_regression_in_joint_rounds(monkeypatch, settings):
    """As of more rows than one working set."""
    monkeypatch.setattr(one_kernel, "ONE_SET_ROWS", 0)
    face = FACES[2]
    X, y = face.data(150)
    Y = np.column_stack([y, X[:, 2] ** 2])
    gammas = {"gamma": settings.get("gammas", face.cells["gamma"])}
    search = face.make(**settings).fit(X, Y)
    alone = {name: value for name, value in settings.items() if name != "gammas"}
    assert_same_cells(search, grid_search(face, X, Y, cells={**face.cells, **gammas}, **alone), 1e-5)
    expected = face.alone(**alone, **search.best_params_).fit(X, Y)
    np.testing.assert_allclose(search.predict(X), expected.predict(X), atol=1e-5)
    assert search.n_kernel_evaluations_ <= 2 * 150 * 150 * len(gammas["gamma"])  # of all folds and alphas


def test_settings_of_one_search():
    X, y = FACES[3].data()
    with pytest.raises(ValueError, match="both choose"):
        FACES[3].make(selection="1se", refit=lambda table: 0).fit(X, y)
    by_accuracy = FACES[3].make(scoring="accuracy", selection="1se").fit(X, y)
    assert by_accuracy.alpha_ == by_accuracy.best_params_["alpha"] and not hasattr(by_accuracy, "auc_path_")
    upper = PartialAUCClassifierCV((0.0, 0.2), alphas=[0.01], threshold="window", cv=3).fit(X, y)
    assert upper.fpr_range_ == (0.0, 0.2) and (upper.predict(X)[y == 0] == 1).mean() <= 0.2


def test_the_partial_auc_of_held_out_rows_counts_their_weights():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(200, 3)), np.arange(200) % 2, rng.uniform(0.2, 3.0, 200)
    X[:, 0] += 1.5 * y
    train, test = next(StratifiedKFold(2).split(X, y))
    settings = {"fpr_range": (0.0, 0.5), "random_state": 0}
    search = PartialAUCClassifierCV(alphas=[1e-4], cv=[(train, test)], **settings).fit(X, y, sample_weight=weights)
    alone = PartialAUCClassifier(alpha=1e-4, **settings).fit(X[train], y[train], sample_weight=weights[train])
    expected = partial_auc(y[test], alone.decision_function(X[test]), (0.0, 0.5), sample_weight=weights[test])
    assert search.best_score_ == pytest.approx(expected, abs=1e-3)
    assert abs(partial_auc(y[test], alone.decision_function(X[test]), (0.0, 0.5)) - expected) > 1e-2


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


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        KernelSVCCV([1.0, 10.0], cv=2),
        LinearSVCCV([0.1, 1.0], cv=2, random_state=0),
        KernelRegressorCV([0.1], kernels=["rbf", "linear"], cv=2),
        PartialAUCClassifierCV(alphas=[0.01], cv=2, tol=1e-12, random_state=0),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_a_linear_search_keeps_its_model_sparse_on_request():
    X, y = FACES[1].data()
    search = FACES[1].make().fit(X, y)
    expected = LinearSVC(tol=1e-7, random_state=0, **search.best_params_).fit(X, y).decision_function(X)
    np.testing.assert_allclose(search.sparsify().decision_function(X), expected, atol=1e-6)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("solver", ["smo", "sdca"])
def test_a_grid_over_epsilon(loss, solver):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 3))
    y = X[:, 0] ** 2 + X[:, 1] + 0.1 * rng.standard_normal(90)
    settings = {"loss": loss, "solver": solver, "gamma": 0.2, "tol": 1e-7}
    grid = {"alpha": [0.1, 0.01], "epsilon": [0.0, 0.1, 0.5]}
    expected = GridSearchCV(KernelRegressor(**settings), grid, cv=3).fit(X, y)
    settings["gammas"] = [settings.pop("gamma")]
    search = KernelRegressorCV(grid["alpha"], epsilons=grid["epsilon"], cv=3, **settings).fit(X, y)
    own = [{**cell} for cell in search.cv_results_["params"]]
    assert all(cell.pop("gamma") == 0.2 for cell in own) and own == expected.cv_results_["params"]
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], atol=1e-4
    )
    assert search.estimator_.epsilon == search.best_params_["epsilon"] == expected.best_params_["epsilon"]


def test_cells_over_gamma_and_epsilon_are_in_the_order_of_a_grid_search():
    search = KernelRegressorCV([0.1], [0.1, 1.0], epsilons=[0.2, 0.1], loss="epsilon_insensitive", cv=3)
    search.fit(np.eye(9), np.arange(9.0) / 9)
    grid = ParameterGrid({"alpha": [0.1], "epsilon": [0.2, 0.1], "gamma": [0.1, 1.0]})
    assert search.cv_results_["params"] == list(grid)


def test_a_grid_over_epsilon_and_kernels():
    """A kernel without gamma has one cell for each epsilon too."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = X[:, 0] + 0.1 * rng.standard_normal(60)
    grids = [
        {"epsilon": [0.0, 0.5], "gamma": [0.1, 1.0], "kernel": ["rbf"]},
        {"epsilon": [0.0, 0.5], "kernel": ["linear", "cosine"]},
    ]
    settings = {"loss": "epsilon_insensitive", "tol": 1e-6}
    expected = GridSearchCV(KernelRegressor(alpha=0.1, **settings), grids, cv=3).fit(X, y)
    search = KernelRegressorCV(
        [0.1], [0.1, 1.0], epsilons=[0.0, 0.5], kernels=["rbf", "linear", "cosine"], cv=3, **settings
    ).fit(X, y)
    cells, scores = search.cv_results_["params"], search.cv_results_["mean_test_score"]
    own = {repr(sorted({**cell, "alpha": 0}.items())): score for cell, score in zip(cells, scores, strict=True)}
    assert len(own) == len(cells) == 8
    for cell, score in zip(expected.cv_results_["params"], expected.cv_results_["mean_test_score"], strict=True):
        assert own[repr(sorted({**cell, "alpha": 0}.items()))] == pytest.approx(score, abs=1e-3)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"loss": "huber", "epsilons": [0.1]}, "does not depend on epsilon"),
        ({"epsilons": []}, "epsilons must hold at least one value"),
        ({"epsilons": [0.1, 0.1]}, "epsilons holds a value twice"),
        ({"epsilons": [-0.1]}, "epsilon must be a number of at least 0"),
    ],
    ids=str,
)
def test_epsilons_that_make_no_grid(settings, message):
    with pytest.raises(ValueError, match=message):
        KernelRegressorCV([0.1], **{"loss": "epsilon_insensitive", **settings}).fit(np.eye(9), np.arange(9.0))


@pytest.mark.parametrize("scoring", ["neg_mean_poisson_deviance", "neg_mean_gamma_deviance"])
def test_scores_of_positive_predictions(scoring):
    X = np.random.default_rng(0).standard_normal((60, 2))
    y, alphas = np.exp(0.3 * X[:, 0]) + 3.0, [0.1, 0.01]
    search = KernelRegressorCV(alphas, [0.1], cv=3, scoring=scoring).fit(X, y)
    grid = GridSearchCV(KernelRegressor(gamma=0.1), {"alpha": alphas}, cv=3, scoring=scoring).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], rtol=1e-3)


@pytest.mark.filterwarnings("ignore:Scoring failed", "ignore:One or more of the test scores")
def test_a_score_that_fails_on_a_fold_is_nan_as_in_a_grid_search():
    X = np.random.default_rng(0).standard_normal((60, 2))
    y, alphas, scoring = np.exp(2.0 * X[:, 0]), [10.0, 1e-6], "neg_mean_gamma_deviance"
    with pytest.warns(UserWarning, match="a score of a fold is NaN, as scoring it raised ValueError: .*positive"):
        search = KernelRegressorCV(alphas, [0.1], cv=3, scoring=scoring).fit(X, y)
    grid = GridSearchCV(KernelRegressor(gamma=0.1), {"alpha": alphas}, cv=3, scoring=scoring).fit(X, y)
    means = search.cv_results_["mean_test_score"]
    np.testing.assert_allclose(means, grid.cv_results_["mean_test_score"], rtol=1e-3)
    assert np.isnan(means).tolist() == [False, True] and search.best_index_ == grid.best_index_ == 0


@pytest.mark.filterwarnings("ignore:Scoring failed", "ignore:One or more of the test scores")
def test_of_several_scores_only_the_one_that_fails_is_nan():
    X = np.random.default_rng(0).standard_normal((60, 2))
    y, alphas, scoring = np.exp(2.0 * X[:, 0]), [10.0, 1e-6], ["r2", "neg_mean_gamma_deviance"]
    with pytest.warns(UserWarning, match="'neg_mean_gamma_deviance' of a fold is NaN, as .* ValueError: .*positive"):
        search = KernelRegressorCV(alphas, [0.1], cv=3, scoring=scoring, refit="r2").fit(X, y)
    grid = GridSearchCV(KernelRegressor(gamma=0.1), {"alpha": alphas}, cv=3, scoring=scoring, refit="r2").fit(X, y)
    for name in scoring:
        means = [found.cv_results_[f"mean_test_{name}"] for found in (search, grid)]
        np.testing.assert_allclose(*means, rtol=1e-3)
    assert np.isfinite(search.cv_results_["mean_test_r2"]).all() and search.best_index_ == grid.best_index_ == 1


def correlation(y, predicted):
    """Without a value for constants, as that of the standard library."""
    return statistics.correlation(y.tolist(), predicted.tolist())


def precision(model, X, y):
    predicted = model.predict(X) == 1
    return int((predicted & (y == 1)).sum()) / int(predicted.sum())


def test_scores_without_a_value_for_constant_predictions():
    X = np.random.default_rng(0).standard_normal((60, 2))
    search = KernelRegressorCV([1.0, 1e-3], [0.1], cv=3, scoring=make_scorer(correlation)).fit(X, X[:, 0])
    assert search.best_score_ > 0.9
    y = np.where(X[:, 0] > 0.5, 1, -1)
    for scoring in (precision, {"precision": precision}):
        search = KernelSVCCV([1.0, 10.0], [0.1], cv=3, scoring=scoring, refit=False).fit(X, y)
        name = "score" if callable(scoring) else "precision"
        assert search.cv_results_[f"mean_test_{name}"].min() > 0.5


def test_a_score_that_the_first_fold_lacks_is_tried_on_the_next():
    X = np.random.default_rng(0).standard_normal((60, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    one_class = np.flatnonzero(y == 1)[:15]
    rest = np.setdiff1d(np.arange(60), one_class)
    folds = [(rest, one_class), (np.setdiff1d(np.arange(60), rest[:20]), rest[:20])]
    for order in (folds, folds[::-1]):
        with pytest.warns(UserWarning, match="a score of a fold is NaN, as scoring it raised ValueError"):
            search = KernelSVCCV([1.0], [0.1], cv=order, scoring=of_two_classes, refit=False).fit(X, y)
        assert np.isnan([search.cv_results_[f"split{k}_test_score"][0] for k in range(2)]).sum() == 1


def of_two_classes(model, X, y):
    if len(np.unique(y)) < 2:
        raise ValueError("one class")
    return float(np.mean(model.predict(X) == y))


def test_a_function_may_have_any_attributes():
    """Among several it is wrapped."""

    class Cost:
        def __init__(self, function):
            self.function = function

        def __call__(self, model, X, y):
            return self.function(y, model.predict(X))

    X = np.random.default_rng(0).standard_normal((60, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    scoring = {"cost": Cost(lambda y, found: -float(np.sum(y != found))), "accuracy": "accuracy"}
    search = KernelSVCCV([1.0, 10.0], [0.1], cv=3, scoring=scoring, refit="cost").fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_cost"], 20 * (search.cv_results_["mean_test_accuracy"] - 1)
    )
