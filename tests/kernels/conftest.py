"""Kernels and precisions that every law is tested with, and how close a precision has to come."""

import numpy as np
import pytest

from kernbench.kernels import Gaussian, Laplacian, Linear, Polynomial

KERNELS = {
    "gaussian": Gaussian(1.7),
    "laplacian": Laplacian(2.5),
    "linear": Linear(),
    "polynomial": Polynomial(3, 0.5, 0.2),
}
TOLERANCE = {np.float32: 1e-6, np.float64: 1e-12}


# Of session scope, so that Hypothesis may use them.
@pytest.fixture(params=KERNELS.values(), ids=KERNELS, scope="session")
def kernel(request):
    return request.param


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"], scope="session")
def dtype(request):
    return request.param


@pytest.fixture(scope="session")
def assert_close():
    """A function that compares values of one precision with the truth, by the largest true value or 1."""

    def compare(actual, desired, dtype=np.float64, factor=1.0):
        actual, desired = np.asarray(actual, dtype=np.float64), np.asarray(desired, dtype=np.float64)
        size = max(1.0, np.abs(desired).max(initial=0.0))
        np.testing.assert_allclose(actual, desired, rtol=0, atol=factor * TOLERANCE[dtype] * size)

    return compare


@pytest.fixture
def X():
    """Thirty rows of five features."""
    return np.random.default_rng(0).normal(size=(30, 5))


@pytest.fixture(scope="session")
def thin_rows():
    """A function that draws rows of which a small share is not zero: the engine sweeps them sparse."""

    def draw(n, d, seed=0, density=0.1):
        rng = np.random.default_rng(seed)
        return rng.normal(size=(n, d)) * (rng.random((n, d)) < density)

    return draw
