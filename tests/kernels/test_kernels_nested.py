"""The parameters of kernel objects as parameters of estimators."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernbench import KernelSVC, LinearSVC
from kernbench._models import MODELS
from kernbench.features import Nystroem
from kernbench.kernels import Gaussian, Linear, Matern

WITH_KERNEL = [model for model in MODELS if "kernel" in model.load()().get_params()]


def data():
    X = np.random.default_rng(0).normal(size=(80, 3))
    return X, (np.abs(X[:, 0]) > 0.7).astype(int)


@pytest.mark.parametrize("model", WITH_KERNEL, ids=lambda model: model.name)
def test_every_model_has_the_parameters_of_its_kernel_object(model):
    kernel = Gaussian(1.0)
    estimator = clone(model.load()(kernel=kernel))
    assert estimator.get_params()["kernel__sigma"] == 1.0
    assert "kernel__sigma" not in estimator.get_params(deep=False)
    assert estimator.set_params(kernel__sigma=2.0).kernel == Gaussian(2.0) == clone(estimator).kernel
    assert kernel == Gaussian(1.0)
    assert estimator.set_params(kernel=Matern(), kernel__nu=2.5).kernel == Matern(nu=2.5)
    assert not any(name.startswith("kernel__") for name in model.load()().get_params())  # of a name


def test_a_grid_search_sets_the_parameters_of_a_kernel_object():
    X, y = data()
    model = make_pipeline(StandardScaler(), KernelSVC(Gaussian(1.0)))
    search = GridSearchCV(model, {"kernelsvc__kernel__sigma": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"kernelsvc__kernel__sigma": 1.0}
    whole = GridSearchCV(KernelSVC(), {"kernel": [Gaussian(0.01), Gaussian(1.0)]}, cv=3)
    whole.fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"], atol=0.05)


def test_a_fitted_model_keeps_its_kernel():
    X, y = data()
    model = KernelSVC(Gaussian(1.0)).fit(X, y)
    before = model.decision_function(X)
    np.testing.assert_array_equal(model.set_params(kernel__sigma=3.0).decision_function(X), before)
    assert model.kernel_ == Gaussian(1.0) and model.fit(X, y).kernel_ == Gaussian(3.0)


def test_the_kernels_of_a_sum_are_one_parameter():
    model = Nystroem(Gaussian(1.0) + Linear())
    assert model.get_params()["kernel__weights"] == (1.0, 1.0)
    assert model.set_params(kernel__weights=(0.5, 2.0)).kernel == 0.5 * Gaussian(1.0) + 2.0 * Linear()


def test_a_kernel_of_scikit_learn_has_its_own_parameters():
    model = clone(KernelSVC(RBF(1.0)))
    assert model.set_params(kernel__length_scale=2.0).get_params()["kernel__length_scale"] == 2.0
    assert model.kernel == RBF(2.0)


@pytest.mark.parametrize(
    ("model", "name", "value", "message"),
    [
        (KernelSVC(), "kernel__sigma", 1.0, "is a parameter of a kernel object, but kernel='rbf': set gamma"),
        (KernelSVC(Gaussian()), "kernel__sigmas", 1.0, "unknown parameter of Gaussian 'sigmas'; did you mean 'sigma'?"),
        (KernelSVC(Gaussian()), "kernel__sigma", -1.0, "Gaussian: sigma must be a positive number"),
        (LinearSVC(), "kernel__sigma", 1.0, "Invalid parameter 'kernel'"),
        (KernelSVC(Gaussian()), "kernels", 1.0, "Invalid parameter 'kernels'"),
    ],
)
def test_bad_names_and_values_are_refused_and_change_nothing(model, name, value, message):
    before = model.get_params()
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        model.set_params(tol=0.5, **{name: value})
    if name != "kernels" and hasattr(model, "kernel"):
        assert model.get_params() == before
