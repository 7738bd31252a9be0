"""A precomputed kernel matrix must be square and symmetric, for every estimator that takes one."""

import inspect

import numpy as np
import pytest

from kernbench import KernelSVC
from kernbench._models import MODELS
from kernbench.kernels.domain import ASYMMETRY, BLOCK

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + 0.3 * RNG.normal(size=N) > 0).astype(int)
K = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))


def takes_precomputed(model):
    if model.name == "RandomFeatures" or "kernel" not in inspect.signature(model.load()).parameters:
        return False  # random features need the kernel's formula
    estimator = model.load()(kernel="precomputed")
    return estimator.__sklearn_tags__().input_tags.pairwise


TAKERS = [model for model in MODELS if takes_precomputed(model)]


def made(model):
    parameters = inspect.signature(model.load()).parameters
    small = {"n_landmarks": 10} if "n_landmarks" in parameters and model.task == "transform" else {}
    return model.load()(kernel="precomputed", **small)


def test_the_estimators_are_found():
    names = {model.name for model in TAKERS}
    assert {"KernelSVC", "KernelRegressor", "ROCSVC", "RankedRangeClassifier", "Nystroem"} <= names


@pytest.mark.parametrize("model", TAKERS, ids=lambda model: model.name)
def test_an_asymmetric_matrix_is_rejected(model):
    other = K.copy()
    other[3, 40] += 0.25
    with pytest.raises(ValueError, match=r"symmetric matrix: X and its transpose differ by up to 0\.25"):
        made(model).fit(other, Y)
    with pytest.raises(ValueError, match="square"):
        made(model).fit(K[:, :-1], Y)


@pytest.mark.parametrize("model", TAKERS, ids=lambda model: model.name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_is_no_asymmetry(model, dtype):
    noise = 0.9 * ASYMMETRY * K.max() * np.random.default_rng(1).uniform(size=K.shape)
    made(model).fit((K + np.triu(noise, 1)).astype(dtype), Y)


@pytest.mark.parametrize("place", [(0, 1), (BLOCK, BLOCK - 1), (BLOCK + 1, 2 * BLOCK), (0, -1), (-1, -2)])
def test_each_block_is_compared(place):
    n = 2 * BLOCK + 5
    matrix = np.eye(n)
    matrix[place] = -1e-4
    with pytest.raises(ValueError, match="differ by up to 0.0001"):
        KernelSVC(kernel="precomputed").fit(matrix, np.arange(n) % 2)
