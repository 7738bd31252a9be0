"""scikit-learn's checks of estimators, on a linear module."""

from functools import partial

import pytest

pytest.importorskip("torch", reason="kernbench.deep needs PyTorch")

from sklearn.utils.estimator_checks import parametrize_with_checks

from kernbench.deep import DeepPartialAUCClassifier, Linear


@parametrize_with_checks([
    DeepPartialAUCClassifier(partial(Linear, bias=True), (0.0, 0.5), method="cross-entropy", learning_rate=0.1,
                             validation=None, max_epochs=30),
])  # fmt: skip
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
