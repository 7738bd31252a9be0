"""KernelSVC follows scikit-learn's conventions: its checks, and tools for classifiers."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernbench.estimators import ROCSVC, KernelRegressor, KernelSVC

WEIGHTS_CHANGE_DRAWS = (
    "weights change which examples are drawn, so a weighted and a repeated run agree in the limit only, not "
    "to 1e-7 after some hundred steps; test_stochastic_weight_k_equals_repeat_k holds them to their gaps"
)
NEGATIVE_ROWS = "its rows have negative entries, whatever the tag positive_only says"
TWO_CLASSES = "calls partial_fit with three classes; fit takes them, but a stream has two"


def expected_failures(model):
    """Return the checks that a model is known to fail, each with the reason."""
    failures = {}
    if model.solver != "smo":
        failures |= {
            "check_sample_weight_equivalence_on_dense_data": WEIGHTS_CHANGE_DRAWS,
            "check_sample_weight_equivalence_on_sparse_data": WEIGHTS_CHANGE_DRAWS,
        }
    if model.solver == "scs":
        failures |= {
            "check_estimators_partial_fit_n_features": TWO_CLASSES,
            "check_fit_score_takes_y": TWO_CLASSES,
            "check_n_features_in_after_fitting": TWO_CLASSES,
        }
    if model.kernel == "chi2":
        failures["check_class_weight_classifiers"] = NEGATIVE_ROWS
    return failures


# One model for each path through the estimator. Solvers have tests of their own.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        KernelSVC(),
        KernelSVC(kernel="precomputed"),  # rows and columns of X
        KernelSVC(kernel="chi2"),  # no negative entries
        KernelSVC(multi_class="ovr", n_jobs=2),  # shared rows, threads
        KernelSVC(dtype="float32", warm_start=True),
        KernelSVC(solver="pegasos"),  # draws
        KernelSVC(solver="scs", max_iter=100),  # streams
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_grid_search_finds_what_svc_finds():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    grid = {"C": [0.01, 1.0], "gamma": [0.01, "scale"]}
    ours = GridSearchCV(KernelSVC(), grid, cv=3).fit(X, y)
    theirs = GridSearchCV(SVC(break_ties=True), grid, cv=3).fit(X, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1.01 / len(y)
    )
    assert ours.best_params_ == theirs.best_params_


def test_cross_validation_slices_a_precomputed_kernel_both_ways():
    X, y = load_iris(return_X_y=True)
    plain = cross_val_score(KernelSVC(kernel="linear"), X, y, cv=3)
    sliced = cross_val_score(KernelSVC(kernel="precomputed"), X @ X.T, y, cv=3)
    np.testing.assert_array_equal(plain, sliced)


def test_calibration_gives_probabilities():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = CalibratedClassifierCV(KernelSVC(), ensemble=False, cv=3).fit(X[:400], y[:400])
    probability = model.predict_proba(X[400:])
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert np.mean((probability[:, 1] > 0.5) == y[400:]) > 0.93
    assert not hasattr(KernelSVC(), "predict_proba")


def test_pipeline_hands_feature_names_on():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = make_pipeline(StandardScaler(), KernelSVC()).set_output(transform="pandas").fit(frame, y)
    assert list(model[-1].feature_names_in_) == ["a", "b", "c", "d"]
    assert model.score(frame, y) > 0.95
    with pytest.raises(ValueError, match="feature names"):
        model[-1].predict(frame[["b", "a", "c", "d"]])


def test_pickled_model_is_the_live_one():
    X, y = load_iris(return_X_y=True)
    model = KernelSVC(warm_start=True).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(copy.fit(X, y).dual_coef_, model.fit(X, y).dual_coef_)


def test_clone_is_unfitted_and_has_the_same_parameters():
    model = KernelSVC("laplacian", C=3.0, solver_options={}, callback=print)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "support_")


def test_parameters_of_svc_are_taken():
    """SVC can be replaced by KernelSVC with the same keywords."""
    shared = set(SVC().get_params()) & set(KernelSVC().get_params())
    assert shared >= {
        "C", "kernel", "degree", "gamma", "coef0", "tol", "cache_size", "class_weight", "verbose", "max_iter",
        "decision_function_shape", "random_state",
    }  # fmt: skip
    missing = set(SVC().get_params()) - shared
    assert not missing
    same = shared - {"cache_size", "verbose", "probability"}
    assert all(SVC().get_params()[name] == KernelSVC().get_params()[name] for name in same)


@pytest.mark.parametrize("model", [KernelSVC(), KernelRegressor(), ROCSVC(kernel="rbf", features="exact")], ids=str)
def test_a_kernel_set_after_fit_does_not_change_the_predictions(model):
    X = np.random.default_rng(0).normal(size=(4, 4))  # as many columns as rows: a kernel matrix by its shape
    predict = "decision_function" if hasattr(model, "decision_function") else "predict"
    expected = getattr(model.fit(X, [0, 1, 0, 1]), predict)(X)
    model.set_params(kernel="precomputed")
    np.testing.assert_array_equal(getattr(model, predict)(X), expected)
    np.testing.assert_allclose(getattr(model, predict)(csr_matrix(X)), expected, atol=1e-6)
