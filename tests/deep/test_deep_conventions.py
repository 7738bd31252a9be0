"""scikit-learn's checks of estimators, on a linear module.

Its numbers are of double precision, as the checks expect of float64 rows: they compare scores of all rows with those of
some at 1e-7. A network of single precision does not promise as much, since PyTorch adds the products of a row in an
order that depends on how many rows there are, and on the processor.
"""

from functools import partial

import numpy as np
import pytest

pytest.importorskip("torch", reason="kernbench.deep needs PyTorch")

import torch
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernbench.deep import MLP, DeepPartialAUCClassifier, Linear


class DoubleLinear(Linear):
    """A linear score in double precision."""

    def __init__(self):
        super().__init__(bias=True)
        self.double()


@parametrize_with_checks([
    DeepPartialAUCClassifier(DoubleLinear, (0.0, 0.5), method="cross-entropy", learning_rate=0.1, validation=None,
                             max_epochs=30),
])  # fmt: skip
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("module", [partial(Linear, bias=True), MLP])
def test_scores_of_some_rows_are_those_of_all_rows_in_single_precision(module):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 7))
    model = DeepPartialAUCClassifier(module, method="cross-entropy", validation=None, max_epochs=2, random_state=0)
    model.fit(X, X[:, 0] > 0)
    assert next(model.module_.parameters()).dtype == torch.float32
    scores = model.decision_function(X)
    few = np.concatenate([model.decision_function(X[k : k + 3]) for k in range(0, 60, 3)])
    np.testing.assert_allclose(few, scores, rtol=0, atol=32 * np.finfo(np.float32).eps * np.abs(scores).max())
