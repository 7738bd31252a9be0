"""A scorer that is a function of one's own is given held-out rows as they were passed, as by GridSearchCV."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from search_faces import FACES, gaussian_matrix, step_of
from sklearn import config_context
from sklearn.metrics import accuracy_score, make_scorer, median_absolute_error
from sklearn.model_selection import GridSearchCV

from kernbench import KernelRegressorCV, KernelSVC, KernelSVCCV
from kernbench.estimators.search.held_out import HeldOut

BY_NAME = {str(face): face for face in FACES}
COSTS = np.array([1.0, 2.0, 5.0])


def costs_of(X):
    return COSTS[np.arange(len(X)) % 3] + np.abs(X["c0"].to_numpy())


def minus_cost(model, X, y):
    """Of a table with names of columns, which indices of rows have not."""
    return -np.average(np.abs(model.predict(X) - y), weights=costs_of(X))


@pytest.mark.parametrize("name", ["KernelSVCCV", "LinearSVCCV", "KernelRegressorCV"])
def test_it_sees_the_rows_of_each_fold(name):
    face = BY_NAME[name]
    X, y = face.data()
    X = pd.DataFrame(X, columns=[f"c{k}" for k in range(5)])
    search = face.make(scoring=minus_cost).fit(X, y)
    grid = GridSearchCV(face.alone(), face.cells, cv=3, scoring=minus_cost).fit(X, y)
    assert search.cv_results_["params"] == grid.cv_results_["params"]
    for k in range(3):
        mine, theirs = (one.cv_results_[f"split{k}_test_score"] for one in (search, grid))
        assert np.abs(mine - theirs).max() <= 7 * step_of(face)  # one row of the largest cost


def test_one_among_several_scores_and_the_workers():
    X, y = BY_NAME["KernelSVCCV"].data(120)
    seen = []

    def rows_seen(model, X, y):
        seen.append(X)
        return float(np.mean(model.decision_function(X) * (2 * y - 1)))

    settings = {"scoring": {"own": rows_seen, "accuracy": "accuracy"}, "refit": "accuracy", "cv": 3}
    search = KernelSVCCV([0.1, 10.0], [0.1, 1.0], tol=1e-6, **settings, n_jobs=2).fit(X, y)
    grid = GridSearchCV(KernelSVC(tol=1e-6), {"C": [0.1, 10.0], "gamma": [0.1, 1.0]}, **settings).fit(X, y)
    for column in ("mean_test_own", "mean_test_accuracy"):
        np.testing.assert_allclose(search.cv_results_[column], grid.cv_results_[column], atol=1.01 / 40)
    assert {rows.shape for rows in seen} == {(40, 5)}


def test_a_row_on_the_boundary_has_the_label_that_its_model_predicts():
    model = KernelSVC("linear").fit([[-1.0], [1.0]], [3, 5])
    values = model.decision_function([[0.0]])
    held_out = HeldOut.of(values[:, None], model.classes_, "ovr", False)
    assert values == 0.0 and held_out.predict([[0]]) == model.predict([[0.0]]) == 5


def test_weights_go_to_the_scores_that_take_them():
    X, y = BY_NAME["KernelSVCCV"].data(120)
    weights = np.linspace(0.1, 2.0, 120)

    def right(model, X, y):
        return float(np.mean(model.predict(X) == y))

    def weighted(model, X, y, sample_weight=None):
        return float(np.average(model.predict(X) == y, weights=sample_weight))

    settings = {"Cs": [0.1, 1.0], "gammas": [0.1], "cv": 3}
    scores = {"right": right, "weighted": weighted, "accuracy": "accuracy"}
    found = KernelSVCCV(**settings, scoring=scores, refit=False).fit(X, y, sample_weight=weights).cv_results_
    np.testing.assert_allclose(found["mean_test_weighted"], found["mean_test_accuracy"])
    assert np.abs(found["mean_test_right"] - found["mean_test_accuracy"]).max() > 1e-4


def test_a_metric_in_place_of_a_scorer_is_refused():
    with pytest.raises(ValueError, match="scorer should require an estimator"):
        KernelSVCCV([1.0], [0.1], scoring={"a": accuracy_score}, refit=False).fit(*BY_NAME["KernelSVCCV"].data())


@pytest.mark.parametrize("form", [sparse.coo_array, sparse.csr_matrix, list, "matrix"])
def test_rows_of_any_form(form):
    X, y = BY_NAME["KernelSVCCV"].data()
    kernel, gammas = "rbf", [0.2]
    if form == "matrix":
        X, kernel, gammas, shape = gaussian_matrix(X), "precomputed", ["scale"], (30, 60)
    else:
        X, shape = form(X) if form is not list else X.tolist(), (30, 5)

    def score(model, rows, y):
        assert np.shape(rows) == shape
        return float(np.mean(model.predict(rows) == y))

    search = KernelSVCCV([1.0, 10.0], gammas, kernel=kernel, cv=3, scoring=score).fit(X, y)
    by_name = KernelSVCCV([1.0, 10.0], gammas, kernel=kernel, cv=3).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_name.cv_results_["mean_test_score"])


def test_halving_gives_it_the_rows_of_a_subsample():
    X, y = BY_NAME["KernelSVCCV"].data(900)

    def score(model, rows, y):
        assert len({tuple(row) for row in rows} - known) == 0 and len(rows) == len(y)
        return float(np.mean(model.predict(rows) == y))

    known = {tuple(row) for row in X}
    settings = {"Cs": [0.01, 0.1, 1.0, 10.0], "gammas": [0.05, 5.0], "cv": 3, "search": "halving", "random_state": 0}
    own, by_name = (KernelSVCCV(**settings, scoring=scoring).fit(X, y) for scoring in (score, None))
    np.testing.assert_allclose(own.cv_results_["dropped_score"], by_name.cv_results_["dropped_score"])
    assert own.best_params_ == by_name.best_params_


@pytest.mark.parametrize(
    "asks", [lambda model, X: model.predict(X[:5]), lambda model, X: model.predict(X + 1.0)], ids=["some", "others"]
)
def test_predictions_of_other_rows_are_refused(asks):
    X, y = BY_NAME["KernelSVCCV"].data()
    with pytest.raises(ValueError, match="predictions of all these rows, not of some or of others"):
        KernelSVCCV([1.0], [0.1], cv=3, scoring=lambda model, X, y: float(asks(model, X).sum())).fit(X, y)


@pytest.mark.parametrize(
    "settings",
    [
        {"calibration": "sigmoid", "scoring": "neg_log_loss"},
        {"scoring": ["roc_auc", "f1"], "refit": "f1"},
        {"scoring": {"own": lambda model, X, y, sample_weight: sample_weight.sum(), "auc": "roc_auc"}, "refit": "own"},
        {"scoring": "roc_auc"},
    ],
    ids=["calibration", "list", "dict", "one"],
)
def test_weights_are_passed_whatever_the_routing_of_metadata(settings):
    """Scorers and calibration, to which no request can be added, failed with it; scores "needed probabilities"."""
    X, y = BY_NAME["KernelSVCCV"].data(120)
    weights, search = np.linspace(0.1, 2.0, 120), KernelSVCCV([0.1, 10.0], [0.1], cv=3, **settings)
    expected = search.fit(X, y, weights).cv_results_
    with config_context(enable_metadata_routing=True):
        found = search.fit(X, y, weights).cv_results_
    for name in expected:
        if name.startswith("split"):
            np.testing.assert_array_equal(found[name], expected[name])


def test_equal_rows_in_another_array_are_the_same_rows():
    X, y = BY_NAME["KernelSVCCV"].data()
    for rows in (X, sparse.csr_array(X)):
        search = KernelSVCCV([1.0], [0.1], cv=3, scoring=lambda model, X, y: np.mean(model.predict(X.copy()) == y))
        assert search.fit(rows, y).best_score_ == KernelSVCCV([1.0], [0.1], cv=3).fit(rows, y).best_score_


def test_scorers_of_scikit_learn_copy_no_rows(monkeypatch):
    from kernbench.estimators.search.folds import Examples

    monkeypatch.setattr(Examples, "given_to_scorer", None)
    X, y = BY_NAME["KernelRegressorCV"].data()
    KernelRegressorCV(cv=3, scoring=make_scorer(median_absolute_error, greater_is_better=False)).fit(X, y)


@pytest.mark.parametrize("name", ["KernelSVCCV", "KernelRegressorCV"])
def test_what_a_function_does_to_predictions_stays_with_it(name):
    face = BY_NAME[name]
    X, y = face.data()

    def plain(model, X, y):
        return float(np.mean(model.predict(X) * y))

    def in_place(model, X, y):
        predictions = model.predict(X)
        predictions *= 0
        return float(np.mean(predictions))

    found = face.make(scoring={"in_place": in_place, "plain": plain}, refit=False).fit(X, y).cv_results_
    alone = face.make(scoring=plain).fit(X, y).cv_results_
    np.testing.assert_array_equal(found["mean_test_in_place"], 0.0)
    np.testing.assert_array_equal(found["mean_test_plain"], alone["mean_test_score"])


def test_a_function_may_need_weights():
    X, y = BY_NAME["KernelSVCCV"].data(60)

    def weighted(model, X, y, sample_weight):
        return float(np.average(model.predict(X) == y, weights=sample_weight))

    weights = np.linspace(0.1, 2.0, 60)
    found, expected = (
        KernelSVCCV([1.0], [0.1], cv=3, scoring=scoring).fit(X, y, sample_weight=weights).best_score_
        for scoring in (weighted, "accuracy")
    )
    assert found == pytest.approx(expected)
