"""`KernelSVC` in place of `SVC`: its parameters, its attributes, and errors that say what to change."""

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from kernbench import ROCSVC, KernelNoveltyDetector, KernelNuSVC, KernelNuSVR, KernelSVC, KernelSVR, LinearSVC
from kernbench.kernels.functions import Gaussian
from kernbench.saving import load, save
from kernbench.solvers.kernel.smo import smo

X, Y = load_iris(return_X_y=True)


def test_takes_every_parameter_of_SVC():
    params = SVC().get_params()
    assert params["max_iter"] == -1 and params["cache_size"] == 200 and params["verbose"] is False
    model = KernelSVC(**params).fit(X, Y)  # from scikit-learn 1.9 on, probability is "deprecated"
    np.testing.assert_array_equal(model.predict(X), SVC().fit(X, Y).predict(X))
    assert model.shape_fit_ == SVC().fit(X, Y).shape_fit_ == X.shape
    KernelNuSVC(**NuSVC().get_params()).fit(X, Y)


@pytest.mark.parametrize("shrinking", [True, False])
def test_shrinking_is_an_option_of_smo(monkeypatch, shrinking):
    seen = []

    class Watched(smo.SMO):
        compiled_core = "kernbench.solvers.kernel.smo._smo"

        def __init__(self, *args, **kwargs):
            seen.append(kwargs["shrinking"])
            super().__init__(*args, **kwargs)

    monkeypatch.setattr(smo, "SMO", Watched)
    from kernbench._lazy import load as load_address

    load_address.cache_clear()
    try:
        KernelSVC(shrinking=shrinking, max_iter=1000).fit(X[50:], Y[50:])
    finally:
        load_address.cache_clear()
    assert seen == [shrinking]
    KernelSVC(solver="sdca", shrinking=shrinking, random_state=0).fit(X[50:], Y[50:])


def test_ties_are_broken_as_in_SVC():
    angles = 2 * np.pi * np.arange(3) / 3
    centres = np.column_stack([np.cos(angles), np.sin(angles)])
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    rows = centres[y] + 0.3 * rng.normal(size=(90, 2))
    grid = rng.uniform(-0.3, 0.3, size=(4000, 2))
    answers = []
    for break_ties in (False, True):
        ours = KernelSVC("linear", break_ties=break_ties).fit(rows, y)
        theirs = SVC(kernel="linear", tol=1e-8, break_ties=break_ties).fit(rows, y)
        answers.append(ours.predict(grid))
        assert np.mean(answers[-1] != theirs.predict(grid)) < 1e-3
    assert np.any(answers[0] != answers[1])
    np.testing.assert_array_equal(answers[1], ours.decision_function(grid).argmax(axis=1))


@pytest.mark.parametrize(
    "params, message",
    [
        ({"probability": True}, r"CalibratedClassifierCV\(KernelSVC\(\), ensemble=False\)"),
        ({"break_ties": True, "decision_function_shape": "ovo"}, "needs decision_function_shape='ovr'"),
        ({"shrinking": 1}, "shrinking must be True or False, got 1"),
        ({"kernel": Gaussian}, r"kernel=Gaussian is a class: pass a kernel object, Gaussian\(...\)"),
        ({"max_iter": 9, "solver_options": {"foo": 1}}, "unknown option of solver 'smo' 'foo'. Known: classic_rows"),
        ({"solver": "sbp", "solver_options": {"foo": 1}}, "Known: average_power, burn_in, fetch_rows, nu"),
    ],
    ids=str,
)
def test_refusals_say_what_to_do(params, message):
    with pytest.raises(ValueError, match=message) as caught:
        KernelSVC(**params).fit(X, Y)
    assert "__init__" not in str(caught.value) and "__new__" not in str(caught.value)


@pytest.mark.parametrize("labels", [[None, "a"], [1, "a"], [None, None]], ids=str)
@pytest.mark.parametrize(
    "learn", [KernelSVC().fit, LinearSVC().fit, ROCSVC().fit, ROCSVC().partial_fit, KernelSVC(solver="scs").partial_fit]
)
def test_labels_of_several_types_are_refused(learn, labels):
    y = np.array(labels * 75, dtype=object)
    with pytest.raises(
        ValueError, match="the labels in y cannot be sorted, since they are of type .*: use labels of one type"
    ):
        learn(X, y)


def test_a_kernel_class_is_refused_by_rankings_too():
    with pytest.raises(ValueError, match="kernel=Gaussian is a class"):
        ROCSVC(kernel=Gaussian).fit(X[:100], Y[:100])


@pytest.mark.parametrize("estimator, params", [(KernelSVC, {"C": -1}), (LinearSVC, {"C": -1}), (ROCSVC, {"alpha": -1})])
def test_parameters_are_checked_without_data(estimator, params):
    estimator()._check_parameters()
    with pytest.raises(ValueError, match="must be a positive number"):
        estimator(**params)._check_parameters()


@pytest.mark.parametrize("y", [[0, 1, 0, 1], [0, 1, 2, 2], [2, 0, 1, 0]], ids=str)
def test_a_value_of_exactly_0_is_of_the_class_that_SVC_takes(y):
    K = np.zeros((4, 4))
    theirs = SVC(kernel="precomputed").fit(K, y)
    ours = KernelSVC("precomputed").fit(K, y)
    np.testing.assert_allclose(ours.decision_function(K), theirs.decision_function(K))
    np.testing.assert_array_equal(ours.predict(K), theirs.predict(K))
    rows = np.array([[-1.0], [1.0], [-2.0], [2.0]])
    theirs, ours = (model.fit(rows, [0, 1, 0, 1]) for model in (SVC(kernel="linear"), KernelSVC("linear")))
    assert ours.decision_function([[0.0]]) == theirs.decision_function([[0.0]]) == 0
    assert ours.predict([[0.0]]) == theirs.predict([[0.0]]) == 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_linear_svc_sparsify_and_densify(n_classes, tmp_path):
    rows, y = X[Y < n_classes], Y[Y < n_classes]
    model = LinearSVC(random_state=0).fit(rows, y)
    coef, values = model.coef_, model.decision_function(rows)
    assert model.sparsify() is model and sparse.issparse(model.coef_)
    for given in (rows, sparse.csr_matrix(rows)):
        scores = model.decision_function(given)
        assert type(scores) is np.ndarray
        np.testing.assert_allclose(scores, values, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.predict(rows), LinearSVC(random_state=0).fit(rows, y).predict(rows))
    save(model, tmp_path / "model.npz")
    np.testing.assert_array_equal(load(tmp_path / "model.npz").predict(rows), model.predict(rows))
    np.testing.assert_array_equal(model.densify().densify().coef_, coef)


@pytest.mark.filterwarnings("ignore:Attribute `prob:FutureWarning")
@pytest.mark.parametrize(
    "ours, theirs, y",
    [
        (KernelSVC(), SVC(), Y),
        (KernelSVC("linear"), SVC(kernel="linear"), Y),
        (KernelNuSVC(), NuSVC(), Y),
        (KernelSVR(), SVR(), Y),
        (KernelNuSVR(kernel="linear"), NuSVR(kernel="linear"), Y),
        (KernelNoveltyDetector(), OneClassSVM(), None),
        (LinearSVC(), sklearn.svm.LinearSVC(), Y),
    ],
    ids=lambda value: type(value).__name__,
)
def test_has_every_attribute_of_the_fitted_model_it_stands_for(ours, theirs, y, tmp_path):
    def attributes(model):
        return {name for name in dir(model) if name.endswith("_") and not name.startswith("_") and hasattr(model, name)}

    ours, theirs = (clone(model).fit(X, y) for model in (ours, theirs))
    assert attributes(theirs) - attributes(ours) <= {"probA_", "probB_"}  # of probability=True
    if hasattr(theirs, "shape_fit_"):
        ours.save(tmp_path / "model.npz")
        for model in (ours, load(tmp_path / "model.npz")):
            assert model.shape_fit_ == theirs.shape_fit_ == X.shape
