"""Models of windows and ranked ranges follow scikit-learn's conventions."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernbench
from kernbench import AUCMarginClassifier, PartialAUCClassifier, RankedRangeClassifier, RankedRangeRegressor

DRAWS = "batches and landmarks are drawn from the rows there are: weighted and repeated rows agree in the mean only"
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def expected_failures(model):
    """Return the checks that a model is known to fail, each with the reason."""
    if model.solver == "pesg" or is_exact(model):
        return {}
    return dict.fromkeys(WEIGHTS, DRAWS)


def is_exact(model):
    return model.solver in ("dca-exact", "svmpauc-tight") and model.features != "nystroem"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:n_landmarks")
@parametrize_with_checks(
    [
        PartialAUCClassifier(),
        PartialAUCClassifier((0.05, 0.5), kernel="rbf", features="nystroem", n_landmarks=10, loss="hinge"),
        PartialAUCClassifier((0.0, 0.5), solver="svmpauc-tight"),
        PartialAUCClassifier((0.05, 0.5), solver="agd-sbcd", max_iter=300, warm_start=True),
        AUCMarginClassifier(max_iter=300),
        RankedRangeClassifier(),
        RankedRangeClassifier(solver="agd", max_iter=300),
        RankedRangeRegressor(),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    if check.func.__name__ in WEIGHTS and is_exact(estimator):
        estimator.set_params(tol=1e-12)  # two fits are compared at 1e-7
    check(estimator)


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


MODELS = [
    PartialAUCClassifier((0.05, 0.5), random_state=0),
    PartialAUCClassifier((0.0, 0.3), kernel="rbf", n_landmarks=30, random_state=0),
    PartialAUCClassifier((0.05, 0.5), solver="agd-sbcd", random_state=0, max_iter=500),
    AUCMarginClassifier(random_state=0, max_iter=500),
    RankedRangeClassifier(random_state=0),
    RankedRangeRegressor(random_state=0),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_saved_pickled_and_cloned_models_predict_alike(model, tmp_path):
    X, y = cancer()
    fitted = clone(model).fit(X, y)
    fitted.save(tmp_path / "model.npz")
    predict = "predict" if isinstance(model, RankedRangeRegressor) else "decision_function"
    expected = getattr(fitted, predict)(X)
    for other in (kernbench.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(getattr(other, predict)(X), expected)
    again = clone(fitted).fit(X, y)
    np.testing.assert_array_equal(getattr(again, predict)(X), expected)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_sparse_rows_give_what_dense_rows_give(model):
    X, y = cancer()
    predict = "predict" if isinstance(model, RankedRangeRegressor) else "decision_function"
    dense = getattr(clone(model).fit(X, y), predict)(X)
    X = sparse.csr_matrix(X)
    assert np.corrcoef(getattr(clone(model).fit(X, y), predict)(X), dense)[0, 1] > 0.99


def test_one_against_the_rest_takes_more_classes():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    model = OneVsRestClassifier(PartialAUCClassifier((0, 0.5), kernel="rbf"))
    assert model.fit(X, y).score(X, y) > 0.9
