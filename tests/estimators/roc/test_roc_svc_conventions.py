"""ROCSVC and ROCSVCCV follow scikit-learn's conventions: its checks, and tools for classifiers."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernbench import ROCSVC, ROCSVCCV
from kernbench.metrics import roc_auc

DRAWS = (
    "which pairs or landmarks are drawn depends on the rows there are, so a weighted and a repeated set of rows agree "
    "in the mean only; test_weight_k_equals_repeat_k holds the exact variants to it"
)
ONE_ROW = "among the rows left by weights of 0 a class has one, which cannot be held out and fitted to both"
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def expected_failures(model):
    """Return the checks that a model is known to fail, each with the reason."""
    if model.pairs != "all" or model.features == "nystroem":
        return dict.fromkeys(WEIGHTS, DRAWS)
    if model.threshold_on != "train":
        return dict.fromkeys(WEIGHTS, ONE_ROW)
    return {}


# One model for each path through the estimator. Solvers have tests of their own.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:all scores are equal")
@pytest.mark.filterwarnings("ignore:n_landmarks")
@parametrize_with_checks(
    [
        ROCSVC(),
        ROCSVC(kernel="rbf"),
        ROCSVC(kernel="precomputed"),
        ROCSVC(kernel="rbf", features="nystroem", n_landmarks=15),
        ROCSVC(kernel="rbf", features="random", n_features=16, solver="newton", tol=1e-12),
        ROCSVC(loss="squared"),
        ROCSVC(pairs="n_samples"),
        ROCSVC(threshold=("sensitivity", 0.9), threshold_on=0.2),
        ROCSVC(warm_start=True),
        ROCSVCCV(cv=2, alphas=[1e-1, 1e-3]),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_classifier_in_scikit_learns_tools():
    X, y = cancer()
    model = make_pipeline(StandardScaler(), ROCSVC())
    assert cross_val_score(model, X, y, scoring="roc_auc", cv=3).min() > 0.98
    search = GridSearchCV(ROCSVC(), {"alpha": [1e-3, 1e-1], "pairs": ["all", "n_samples"]}, scoring="roc_auc", cv=3)
    assert search.fit(X, y).best_score_ > 0.98
    probabilities = CalibratedClassifierCV(ROCSVC(), ensemble=False).fit(X, y).predict_proba(X)
    assert probabilities.shape == (len(y), 2)


def test_one_against_the_rest_takes_more_classes():
    X, y = load_iris(return_X_y=True)
    assert OneVsRestClassifier(ROCSVC(kernel="rbf")).fit(X, y).score(X, y) > 0.9


def test_any_two_labels_and_the_larger_is_positive():
    X, y = cancer()
    model = ROCSVC().fit(X, np.array(["ill", "well"])[y])
    np.testing.assert_array_equal(model.classes_, ["ill", "well"])
    assert model.decision_function(X)[y == 1].mean() > model.decision_function(X)[y == 0].mean()
    assert set(model.predict(X)) == {"ill", "well"}


@pytest.mark.parametrize("settings", [{}, {"kernel": "rbf"}, {"kernel": "rbf", "n_landmarks": 40}])
def test_format_agnosticism(settings):
    X, y = cancer()
    model = ROCSVC(random_state=0, **settings).fit(X, y)
    expected = model.decision_function(X)
    scale = np.abs(expected).max()
    frozen = X.copy()
    frozen.flags.writeable = False
    for same in (np.asfortranarray(X), frozen):
        again = clone(model).fit(same, y)
        np.testing.assert_array_equal(again.decision_function(same), expected)
    for form in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix):
        again = clone(model).fit(form(X), y)
        np.testing.assert_allclose(again.decision_function(form(X)), expected, atol=0.03 * scale)
    wide = sparse.csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    np.testing.assert_allclose(clone(model).fit(wide, y).decision_function(wide), expected, atol=0.03 * scale)


def test_single_precision_rows_are_not_widened_and_give_nearly_the_same():
    X, y = cancer()
    model = ROCSVC(tol=1e-8).fit(X, y)
    single = ROCSVC(tol=1e-8).fit(X.astype(np.float32), y)
    assert single.dtype_ == "float32" and model.dtype_ == "float64"
    np.testing.assert_allclose(single.coef_, model.coef_, atol=1e-3)


@pytest.mark.parametrize("settings", [{}, {"kernel": "rbf"}, {"kernel": "rbf", "features": "random"}])
def test_pickled_is_live(settings):
    X, y = cancer()
    model = ROCSVC(random_state=0, **settings).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    "settings",
    [
        {"pairs": "n_samples"},
        {"pairs": 50, "solver": "adamax"},
        {"kernel": "rbf", "n_landmarks": 20},
        {"kernel": "rbf", "features": "random", "n_features": 32},
        {"threshold_on": 0.3},
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_random_state_decides_all_that_is_drawn(settings):
    X, y = cancer()
    scores = [ROCSVC(random_state=seed, **settings).fit(X, y).decision_function(X) for seed in (3, 3, 4)]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


def test_partial_fit_is_there_where_a_stream_has_features():
    assert hasattr(ROCSVC(kernel="rbf"), "partial_fit")
    assert not hasattr(ROCSVC(kernel="rbf", features="exact"), "partial_fit")
    assert not hasattr(ROCSVC(kernel="precomputed"), "partial_fit")


def test_wide_sparse_rows_are_never_made_dense():
    rng = np.random.default_rng(0)
    X = sparse.random(400, 50_000, density=1e-3, format="csr", random_state=rng)  # a seed would permute all entries
    y = (np.asarray(X[:, :2000].sum(axis=1)).ravel() > rng.normal(0.9, 0.3, 400)).astype(int)
    for settings in ({}, {"solver": "newton"}, {"kernel": "rbf", "features": "exact"}):
        model = ROCSVC(random_state=0, **settings).fit(X, y)
        assert roc_auc(y, model.decision_function(X)) > 0.9
    assert sparse.issparse(ROCSVC("rbf", n_landmarks=30, random_state=0).fit(X, y).feature_map_.landmarks_)
    stream = ROCSVC(random_state=0).partial_fit(X, y)
    assert roc_auc(y, stream.decision_function(X)) > 0.9
    with pytest.raises(ValueError, match="features"):
        ROCSVC(loss="squared").fit(X, y)
