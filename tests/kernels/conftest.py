"""Kernels and precisions for the tests of laws, and the required accuracy of each precision."""

import numpy as np
import pytest

from kernbench.kernels import (
    ArcCosine,
    Cauchy,
    ChiSquared,
    Cosine,
    DotProduct,
    ExponentialChiSquared,
    ExponentialSemigroup,
    Gaussian,
    Hellinger,
    Intersection,
    JensenShannon,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    ReciprocalSemigroup,
    Sigmoid,
    SkewedChiSquared,
    SkewedIntersection,
)

KERNELS = {
    "gaussian": Gaussian(1.7),
    "laplacian": Laplacian(2.5),
    "linear": Linear(),
    "polynomial": Polynomial(3, 0.5, 0.2),
}
# Every kernel that is computed from rows of numbers, each routine once at least, with a smallest entry its rows
# may have: the laws of `test_kernels_catalogue`.
ALL_KERNELS = {
    "gaussian": (Gaussian(1.7), -3.0),
    "laplacian": (Laplacian(2.5), -3.0),
    "cauchy": (Cauchy(1.5), -3.0),
    "matern-1/2": (Matern(0.5, 1.3), -3.0),
    "matern-3/2": (Matern(1.5, 1.3), -3.0),
    "matern-5/2": (Matern(2.5, 1.3), -3.0),
    "matern-0.3": (Matern(0.3, 1.3), -3.0),
    "matern-1": (Matern(1.0, 1.3), -3.0),
    "matern-7.7": (Matern(7.7, 1.3), -3.0),
    "linear": (Linear(), -3.0),
    "cosine": (Cosine(), -3.0),
    "polynomial": (Polynomial(3, 0.5, 0.2), -3.0),
    "dot-product": (DotProduct((0.5, 0.0, 0.2, 0.05)), -3.0),
    "sigmoid": (Sigmoid(0.1, -0.3), -3.0),
    "arc-cosine-0": (ArcCosine(0), -3.0),
    "arc-cosine-1": (ArcCosine(1), -3.0),
    "arc-cosine-2": (ArcCosine(2), -3.0),
    "hellinger": (Hellinger(), 0.0),
    "chi-squared": (ChiSquared(), 0.0),
    "exponential-chi-squared": (ExponentialChiSquared(0.3), 0.0),
    "intersection": (Intersection(), 0.0),
    "jensen-shannon": (JensenShannon(), 0.0),
    "skewed-chi-squared": (SkewedChiSquared(0.3), -0.25),
    "skewed-intersection": (SkewedIntersection(0.3), -0.25),
    "exponential-semigroup": (ExponentialSemigroup(0.4), 0.0),
    "reciprocal-semigroup": (ReciprocalSemigroup(0.6), 0.0),
    "sum": (0.5 * Gaussian(2.0) + Laplacian(1.0), -3.0),
    "product": (Gaussian(2.0) * ChiSquared() * ArcCosine(1), 0.0),
    "sum of products": (Polynomial(2) * Cauchy(2.0) + 2.0 * Matern(0.5) + Intersection() * Linear(), 0.0),
}
TOLERANCE = {np.float32: 1e-6, np.float64: 1e-12}


# Of session scope, so that Hypothesis may use them.
@pytest.fixture(params=KERNELS.values(), ids=KERNELS, scope="session")
def kernel(request):
    return request.param


@pytest.fixture(scope="session")
def all_kernels():
    return [kernel for kernel, _ in ALL_KERNELS.values()]


@pytest.fixture(params=ALL_KERNELS.values(), ids=ALL_KERNELS, scope="session")
def kernel_and_rows(request):
    """Any kernel, and a function that draws rows of its domain, of which a share of the entries is not zero."""
    kernel, low = request.param

    def draw(n, d, seed=0, density=1.0):
        rng = np.random.default_rng(seed)
        rows = np.maximum(low, rng.normal(size=(n, d))) if low < 0 else rng.gamma(0.7, size=(n, d))
        return rows * (rng.random((n, d)) < density)

    return kernel, draw


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
