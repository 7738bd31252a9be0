"""Regressors follow scikit-learn's conventions."""

import doctest
from importlib import import_module

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernbench import KernelNoveltyDetector, KernelNuSVR, KernelRegressor, KernelSVR, LinearRegressor
from kernbench._models import BY_NAME

MODELS = [BY_NAME["KernelRegressor"], BY_NAME["LinearRegressor"], BY_NAME["KernelSVR"], BY_NAME["KernelNuSVR"]]


# Free support vectors are at the level: the sign of a rounding error decides what `predict` says of them.
AT_THE_LEVEL = {
    f"check_sample_weight_equivalence_on_{form}_data": "training rows at the level are on either side by rounding; "
    "test_weights_are_repetitions compares scores"
    for form in ("dense", "sparse")
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        LinearRegressor(),
        LinearRegressor("epsilon_insensitive"),
        KernelRegressor(),
        KernelRegressor(tol=1e-13),
        KernelRegressor("huber", kernel="precomputed", tol=1e-13),
        KernelRegressor("epsilon_insensitive", tol=1e-9),
        KernelSVR(tol=1e-9),
        KernelNuSVR(tol=1e-9),
        KernelNoveltyDetector(tol=1e-9),
    ],
    expected_failed_checks=lambda estimator: AT_THE_LEVEL if isinstance(estimator, KernelNoveltyDetector) else {},
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_docstring_examples(model):
    results = doctest.testmod(import_module(model.address.partition(":")[0]))
    assert results.attempted > 3 and results.failed == 0


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_parameter_is_cloned(model):
    values = {name: [name] for name in model.load()().get_params(deep=False)}
    estimator = model.load()().set_params(**values)
    assert clone(estimator).get_params(deep=False) == values
