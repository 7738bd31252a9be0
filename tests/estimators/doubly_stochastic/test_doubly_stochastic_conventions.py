"""Doubly stochastic models follow scikit-learn's conventions."""

import doctest
from importlib import import_module

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernbench import (
    DoublyStochasticClassifier,
    DoublyStochasticGPRegressor,
    DoublyStochasticNoveltyDetector,
    DoublyStochasticRegressor,
)
from kernbench._models import ESTIMATORS

MODELS = [model for model in ESTIMATORS if model.name.startswith("DoublyStochastic")]
WEIGHTS_CHANGE_DRAWS = (
    "weights change which rows are in a batch, so a weighted and a repeated run agree in the mean only; "
    "test_a_weight_of_2_is_the_row_twice_in_a_batch_of_all holds a whole batch to it"
)


@parametrize_with_checks(
    [
        DoublyStochasticClassifier(max_iter=20),
        DoublyStochasticClassifier(loss="log_loss", precondition=False),
        DoublyStochasticRegressor(max_iter=30),
        DoublyStochasticGPRegressor(max_iter=3),
        DoublyStochasticNoveltyDetector(max_iter=60),
    ],
    expected_failed_checks=lambda model: {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS_CHANGE_DRAWS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS_CHANGE_DRAWS,
    },
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
    assert np.all([hasattr(estimator, name) for name in estimator.get_params()])
