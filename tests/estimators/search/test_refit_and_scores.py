"""What a search keeps of GridSearchCV's form: refit, several scores, columns, jobs; and calibrated probabilities."""

import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score, brier_score_loss, f1_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)

import kernbench
from kernbench import KernelSVC, KernelSVCCV
from kernbench.estimators.search.calibration import out_of_fold_probabilities
from kernbench.estimators.search.folds import Fold
from kernbench.metrics import auc_difference, roc_auc, threshold_for
from kernbench.solvers import progress

CS, GAMMAS = [0.1, 1.0, 10.0], ["scale", 0.1]


def examples(n=150, n_classes=2, seed=0):
    return make_classification(n, 8, n_informative=5, n_classes=n_classes, flip_y=0.1, random_state=seed)


def two_scores(estimator, X, y):
    labels = estimator.predict(X)
    return {"accuracy": accuracy_score(y, labels), "f1": f1_score(y, labels)}


def most_regularised(table):
    """Return the cell of the smallest C within .02 of the best."""
    mean = table["mean_test_score"]
    return int(np.flatnonzero(mean >= mean.max() - 0.02)[0])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"refit": False},
        {"scoring": ["accuracy", "roc_auc"], "refit": "roc_auc"},
        {"scoring": {"a": "accuracy", "b": "f1"}, "refit": "b"},
        {"scoring": ("accuracy", "f1"), "refit": False},
        {"scoring": two_scores, "refit": "f1"},
        {"refit": most_regularised},
    ],
    ids=lambda settings: (
        ", ".join(f"{name}={getattr(value, '__name__', value)}" for name, value in settings.items()) or "defaults"
    ),
)
def test_attributes_and_columns_are_those_of_a_grid_search(settings):
    X, y = examples()
    search = KernelSVCCV(CS, GAMMAS, cv=3, tol=1e-6, **settings).fit(X, y)
    grid = GridSearchCV(KernelSVC(tol=1e-6), {"C": CS, "gamma": GAMMAS}, cv=3, **settings).fit(X, y)
    assert list(search.cv_results_) == list(grid.cv_results_)
    for name, column in grid.cv_results_.items():
        own = search.cv_results_[name]
        assert type(own) is type(column)
        if name != "params":
            assert own.dtype == column.dtype and own.shape == column.shape
    assert search.cv_results_["params"] == grid.cv_results_["params"]
    for name in ("best_index_", "best_params_", "best_score_", "n_splits_", "multimetric_", "refit_time_"):
        assert hasattr(search, name) == hasattr(grid, name), name
    if hasattr(search, "best_index_"):
        assert search.best_params_ == search.cv_results_["params"][search.best_index_]
        assert search.oof_decision_.shape == y.shape
    if settings.get("refit", True):
        alone = KernelSVC(tol=1e-6, **search.best_params_).fit(X, y)
        np.testing.assert_allclose(search.decision_function(X), alone.decision_function(X), atol=1e-3)
    else:
        with pytest.raises(NotFittedError, match="refit=False"):
            search.predict(X)
        with pytest.raises(NotFittedError, match="refit=False"):
            _ = search.estimator_


def test_a_second_fit_leaves_nothing_of_the_first():
    X, y = examples()
    search = KernelSVCCV([1.0], [0.1], cv=3, calibration="sigmoid").fit(X, y)
    search.set_params(refit=False, calibration=None).fit(X, y)
    assert not hasattr(search, "calibration_") and not hasattr(search, "dual_coef_")


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"scoring": ["accuracy", "f1"]}, "refit must be the name of the one that decides"),
        ({"scoring": ["accuracy", "f1"], "refit": np.True_}, "refit must be the name of the one that decides"),
        ({"scoring": ["accuracy", "f1"], "refit": "roc_auc"}, "the scores are accuracy, f1"),
        ({"scoring": []}, "scoring is empty"),
        ({"scoring": lambda *_: "good"}, "must return a number or a dict"),
        ({"refit": 1.5}, "refit must be"),
        ({"refit": lambda table: -1}, "refit must return the index"),
        ({"refit": lambda table: "C"}, "refit must return the index"),
        ({"refit": lambda table: 0, "search": "race"}, "search='exact' or 'halving', or pass refit=True"),
        ({"warm_start": True, "search": "race"}, "search='exact' or 'halving', or warm_start=False"),
        ({"calibration": "platt"}, "calibration"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"scoring": "neg_brier_score"}, "calibration='sigmoid' or 'isotonic'"),
        (
            {
                "scoring": "neg_brier_score",
                "calibration": "sigmoid",
                "cv": PredefinedSplit(np.repeat([0, -1], [50, 100])),
            },
            "rows that the other folds hold out, which lack a class",
        ),
        (
            {"calibration": "sigmoid", "cv": PredefinedSplit(np.where(examples()[1] == 1, -1, np.arange(150) % 3))},
            "of which none is of class '1'",
        ),
    ],
)
def test_bad_settings_are_rejected_with_what_to_change(settings, message):
    with pytest.raises(ValueError, match=message):
        KernelSVCCV(**{"Cs": [1.0], "gammas": [0.1], "cv": 3, **settings}).fit(*examples())


@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.slow), "threading"])
def test_kernels_side_by_side_give_the_same_cells(backend):
    from joblib import parallel_backend

    X, y = examples(n_classes=3)
    alone = KernelSVCCV(CS, GAMMAS, cv=3, tol=1e-6).fit(X, y)
    with parallel_backend(backend, n_jobs=2):
        several = KernelSVCCV(CS, GAMMAS, cv=3, tol=1e-6, n_jobs=2).fit(X, y)
    np.testing.assert_allclose(several.oof_decision_, alone.oof_decision_, atol=1e-3)
    assert several.n_kernel_evaluations_ > 0
    for k in range(3):
        mine, theirs = (one.cv_results_[f"split{k}_test_score"] for one in (several, alone))
        assert np.abs(mine - theirs).max() <= 1.01 / 50


def test_kernels_side_by_side_keep_the_time_limit():
    from joblib import parallel_backend

    with parallel_backend("threading", n_jobs=2), pytest.raises(ValueError, match="before its first cell"):
        KernelSVCCV(CS, GAMMAS, n_jobs=2, max_seconds=1e-9).fit(*examples())


def test_a_model_file_keeps_the_table(tmp_path):
    X, y = examples()
    search = KernelSVCCV(CS, GAMMAS, cv=3, scoring=two_scores, refit="f1", calibration="isotonic").fit(X, y)
    search.save(tmp_path / "model.npz")
    loaded = kernbench.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict_proba(X), search.predict_proba(X))
    assert list(loaded.cv_results_["param_gamma"]) == list(search.cv_results_["param_gamma"])


# --- probabilities ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_probabilities_are_those_of_scikit_learn(n_classes, method, shape):
    X, y = examples(n_classes=n_classes)
    settings = {"cv": 3, "tol": 1e-6, "decision_function_shape": shape}
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    search = KernelSVCCV([1.0], [0.1], calibration=method, **settings).fit(X, y, weights)
    model = CalibratedClassifierCV(KernelSVC(C=1.0, gamma=0.1, tol=1e-6), method=method, cv=3, ensemble=False)
    expected = model.fit(X, y, weights).predict_proba(X)
    np.testing.assert_allclose(search.predict_proba(X).sum(axis=1), 1.0)
    # Steps of an isotonic function move by as much as the decision values do.
    assert np.median(np.abs(search.predict_proba(X) - expected)) < 1e-3


def test_scores_of_probabilities_use_calibrations_of_the_other_folds():
    X, y = examples()
    search = KernelSVCCV([1.0], [0.1], cv=3, calibration="sigmoid", scoring="neg_brier_score").fit(X, y)
    fold = np.empty(len(y), dtype=int)
    for k, (_, test) in enumerate(StratifiedKFold(3).split(X, y)):
        fold[test] = k
    scores = search.oof_decision_[:, None]

    class Known(KernelSVC):
        def decision_function(self, rows):
            return rows[:, 0]

    for k in range(3):
        rest = np.flatnonzero(fold != k)
        known = Known().fit(scores, y)
        platt = CalibratedClassifierCV(FrozenEstimator(known), method="sigmoid", cv=[(rest, rest)], ensemble=True)
        p = platt.fit(scores, y).predict_proba(scores[fold == k])[:, 1]
        found = search.cv_results_[f"split{k}_test_score"][0]
        assert found == pytest.approx(-brier_score_loss(y[fold == k], p), abs=1e-6)


def test_predict_proba_exists_with_a_calibration_only():
    assert hasattr(KernelSVCCV(calibration="sigmoid"), "predict_proba") and not hasattr(KernelSVCCV(), "predict_proba")


def test_probabilities_are_those_of_the_calibration_of_the_fit():
    """A calibration set after the fit was looked for in vain, and one set to None hid that of the fit."""
    X, y = examples()
    search = KernelSVCCV([1.0], [0.1], cv=3).fit(X, y).set_params(calibration="sigmoid")
    with pytest.raises(AttributeError, match="no attribute 'predict_proba'"):
        search.predict_proba(X)
    expected = search.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(search.set_params(calibration=None).predict_proba(X), expected)


def test_a_threshold_comes_from_the_out_of_fold_scores():
    X, y = examples()
    search = KernelSVCCV(CS, [0.1], cv=3).fit(X, y)
    threshold = threshold_for(y, search.oof_decision_, sensitivity=0.9)
    assert np.mean(search.oof_decision_[y == 1] >= threshold) >= 0.9


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_out_of_fold_scores_of_all_cells(shape):
    X, y = examples(n_classes=4)
    settings = {"cv": 3, "tol": 1e-6, "decision_function_shape": shape}
    search = KernelSVCCV(CS, [0.1], store_oof_decisions=True, **settings).fit(X, y)
    assert len(search.oof_decisions_) == len(CS) and not hasattr(search.estimator_, "oof_decisions_")
    np.testing.assert_array_equal(search.oof_decisions_[search.best_index_], search.oof_decision_)
    for C, found in zip(CS, search.oof_decisions_):
        alone = KernelSVCCV([C], [0.1], **settings).fit(X, y)
        np.testing.assert_allclose(found, alone.oof_decision_, atol=5e-3)
        assert not hasattr(alone, "oof_decisions_")


def test_two_cells_are_compared_by_their_areas():
    X, y = examples()
    search = KernelSVCCV([1e-3, 1.0], [0.1, 100.0], cv=3, store_oof_decisions=True, scoring="roc_auc").fit(X, y)
    good, bad = search.best_index_, int(np.argmin(search.cv_results_["mean_test_score"]))
    found = auc_difference(y, search.oof_decisions_[good], search.oof_decisions_[bad])
    areas = [roc_auc(y, search.oof_decisions_[k]) for k in (good, bad)]
    assert found.difference == pytest.approx(areas[0] - areas[1]) and found.low > 0


# --- a search is a run -------------------------------------------------------------------------------


def test_the_progress_bar_names_the_leader(monkeypatch):
    texts = []
    monkeypatch.setattr(progress._Bar, "describe", lambda self, text: texts.append(text))
    search = KernelSVCCV(CS, [0.1], cv=3, verbose=1).fit(*examples())
    assert len(texts) == 3
    assert texts[-1] == f"best {search.best_score_:.4g} at C={search.best_params_['C']:g}, gamma=0.1"


def test_a_function_cannot_take_a_cell_that_was_not_finished(monkeypatch):
    from kernbench.estimators.search import cells

    add, added = cells.GridOfCells._add, []

    def interrupted(self, index, *cell):
        if added:
            raise KeyboardInterrupt
        added.append(index)
        add(self, index, *cell)

    monkeypatch.setattr(cells.GridOfCells, "_add", interrupted)
    with pytest.raises(ValueError, match="not finished"):
        KernelSVCCV(CS, [0.1], cv=3, refit=lambda table: len(CS) - 1).fit(*examples())
    added.clear()
    with pytest.warns(ConvergenceWarning, match="after 1 of 3 cells"):
        KernelSVCCV(CS, [0.1], cv=3, refit=lambda table: 0).fit(*examples())


def test_a_calibration_needs_rows_with_weight_of_all_classes_in_the_other_folds():
    y, scores, none = np.tile([0, 1], 4), np.tile([-1.0, 1.0], 4), np.empty(0, dtype=int)
    folds = [Fold(none, np.arange(4)), Fold(none, np.arange(4, 8))]
    weights = np.where((np.arange(8) >= 4) & (y == 1), 0.0, 1.0)
    with pytest.raises(ValueError, match="fold 0 of cv is fitted to the rows .* lack a class"):
        out_of_fold_probabilities("sigmoid", scores, folds, y, np.array([0, 1]), weights)


# --- splitters -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_leave_one_out_of_2000_rows():
    X, y = examples(2000)
    search = KernelSVCCV([1.0], [0.1], cv=LeaveOneOut()).fit(X, y)
    assert search.n_splits_ == 2000 and np.isfinite(search.oof_decision_).all()
    for k in np.random.default_rng(0).choice(2000, 3, replace=False):
        rest = np.arange(2000) != k
        alone = KernelSVC(C=1.0, gamma=0.1, tol=1e-6).fit(X[rest], y[rest]).decision_function(X[k : k + 1])
        assert search.oof_decision_[k] == pytest.approx(alone[0], abs=0.05)


@pytest.mark.parametrize(
    "splitter",
    [StratifiedGroupKFold(3), LeaveOneGroupOut(), LeavePGroupsOut(1), PredefinedSplit(np.arange(150) % 4), KFold(5)],
    ids=lambda splitter: type(splitter).__name__,
)
def test_splitters_with_weights_classes_and_a_precomputed_kernel(splitter):
    X, y = examples(n_classes=3)
    groups, weights = np.arange(150) // 30, np.random.default_rng(0).integers(0, 3, 150).astype(float)
    K = rbf_kernel(X, gamma=0.1)
    search = KernelSVCCV([1.0, 10.0], kernel="precomputed", cv=splitter, tol=1e-6, decision_function_shape="ovo")
    search.fit(K, y, weights, groups=groups)
    model = KernelSVC("precomputed", tol=1e-6, decision_function_shape="ovo", **{"C": search.best_params_["C"]})
    for train, test in splitter.split(X, y, groups):
        alone = model.fit(K[np.ix_(train, train)], y[train], weights[train])
        expected = alone.decision_function(K[np.ix_(test, train)])
        np.testing.assert_allclose(search.oof_decision_[test], expected, atol=5e-3)


@pytest.mark.parametrize("splitter", [RepeatedStratifiedKFold(n_splits=3, n_repeats=2), LeavePGroupsOut(2)])
def test_rows_held_out_several_times_are_refused(splitter):
    X, y = examples()
    with pytest.raises(ValueError, match="out . times.* without repetitions"):
        KernelSVCCV([1.0], [0.1], cv=splitter).fit(X, y, groups=np.arange(150) // 50)


def test_warnings_are_of_scores_of_models_and_at_the_line_that_calls_fit():
    X, y = examples(n_classes=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        KernelSVCCV([1.0], [0.1], cv=3, scoring="precision_macro", max_iter=1, refit=False).fit(X, y)
    assert [str(one.message)[:9] for one in caught] == ["12 fits o"]
    assert caught[0].filename == __file__
