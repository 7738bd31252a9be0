"""LinearSVC follows scikit-learn's conventions: its checks, and tools for classifiers."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernbench
import kernbench.estimators.svm.linear_svc
from kernbench.cli.models.estimators import NAMES
from kernbench.features import RandomFeatures
from kernbench.kernels import Gaussian

X, Y = load_iris(return_X_y=True)
X = scale(X)


def expected_failures(estimator):
    if estimator.fit_intercept:
        return {}
    reason = "weighs a class so that only an intercept can follow: scikit-learn's LinearSVC fails it without one, too"
    return {"check_class_weight_classifiers": reason}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        kernbench.LinearSVC(),
        kernbench.LinearSVC(dtype="float32", warm_start=True, n_jobs=2),
        kernbench.LinearSVC(fit_intercept=False),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_it_is_offered_where_users_look():
    assert "LinearSVC" in kernbench.__all__
    assert NAMES["linearsvc"].name == "LinearSVC"


def test_clone_and_pickle_know_the_parameters_and_the_model():
    model = kernbench.LinearSVC("hinge", C=3.0, random_state=0).fit(X, Y)
    assert clone(model).get_params() == model.get_params()
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_grid_search_in_a_pipeline_on_random_features():
    features = RandomFeatures(Gaussian(1.5), 64, random_state=0)
    pipeline = make_pipeline(StandardScaler(), features, kernbench.LinearSVC(random_state=0))
    search = GridSearchCV(pipeline, {"linearsvc__C": [0.1, 10.0]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.9
