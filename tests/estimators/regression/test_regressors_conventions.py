"""Regressors follow scikit-learn's conventions."""

import doctest
from importlib import import_module

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernbench import KernelRegressor, LinearRegressor
from kernbench._models import BY_NAME

MODELS = [BY_NAME["KernelRegressor"], BY_NAME["LinearRegressor"]]


WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
TOLERANCE = "two runs agree to tol=1e-3, not to 1e-7; the same model at tol=1e-13 passes"


def expected_failures(model):
    """Return the checks that a model is known to fail, each with the reason."""
    is_exact = isinstance(model, LinearRegressor) or model.tol < 1e-12
    return {} if is_exact else dict.fromkeys(WEIGHTS, TOLERANCE)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        LinearRegressor(),
        LinearRegressor("epsilon_insensitive"),
        KernelRegressor(),
        KernelRegressor(tol=1e-13),
        KernelRegressor("huber", kernel="precomputed", tol=1e-13),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_docstring_examples(model):
    results = doctest.testmod(import_module(model.address.partition(":")[0]))
    assert results.attempted > 3 and results.failed == 0


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_parameter_is_cloned(model):
    estimator = model.load()()
    assert clone(estimator).get_params().keys() == estimator.get_params().keys()
