"""Numbers worked by hand, and the kernels of other libraries."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import gamma, kv
from sklearn.gaussian_process import kernels as processes
from sklearn.metrics import pairwise

from kernbench.kernels import (
    ArcCosine,
    Cauchy,
    ChiSquared,
    DotProduct,
    ExponentialChiSquared,
    ExponentialSemigroup,
    Gaussian,
    Hellinger,
    Intersection,
    JensenShannon,
    Laplacian,
    Matern,
    Polynomial,
    ReciprocalSemigroup,
    Sigmoid,
    SkewedChiSquared,
    SkewedIntersection,
)
from kernbench.reference.kernels.rows import evaluate

POINTS = np.array([[1.0, 0.0]]), np.array([[0.5, 1.0]])
HISTOGRAMS = np.array([[0.5, 0.5, 0.0]]), np.array([[0.25, 0.25, 0.5]])
SPACE = np.array([[0.3, -0.5, 0.8]]), np.array([[0.1, 0.2, 0.4]])
BINS = np.array([[0.2, 0.0, 0.5, 0.3]]), np.array([[0.1, 0.3, 0.2, 0.4]])
WORKED = [
    (Gaussian(1.0), POINTS, 0.5352614285),
    (Laplacian(1.0), POINTS, 0.2231301601),
    (Cauchy(1.0), POINTS, 0.4),
    (Matern(1.5, 1.0), POINTS, 0.4234685148),
    (Matern(2.5, 1.0), POINTS, 0.4583079090),
    (Sigmoid(2.0, -0.5), POINTS, 0.4621171573),  # tanh(1/2)
    (Sigmoid(1.0, -3.5), POINTS, -0.9950547537),  # tanh(-3)
    (ArcCosine(0), POINTS, 0.6475836177),
    (ArcCosine(1), POINTS, 0.6421016950),
    (ArcCosine(2), POINTS, 1.6107361602),
    (Hellinger(), HISTOGRAMS, 0.7071067812),
    (ChiSquared(), HISTOGRAMS, 2 / 3),
    (Intersection(), HISTOGRAMS, 0.5),
    (JensenShannon(), HISTOGRAMS, 0.6887218755),
    (SkewedChiSquared(1.0), HISTOGRAMS, 0.9716984104),
    (SkewedIntersection(1.0), HISTOGRAMS, 0.6804138174),
    (ExponentialSemigroup(0.5), HISTOGRAMS, 0.2953545457),
    (ReciprocalSemigroup(1.0), HISTOGRAMS, 0.2176870748),
]
# To the six digits that the table of Monte Carlo checks has.
ROUNDED = [
    (Gaussian(0.7), SPACE, 0.494563),
    (Laplacian(0.7), SPACE, 0.156118),
    (Cauchy(0.7), SPACE, 0.348476),
    (Matern(0.5, 0.9), SPACE, 0.397342),
    (Matern(1.0, 0.9), SPACE, 0.482412),
    (Matern(1.5, 0.9), SPACE, 0.525380),
    (Matern(2.5, 0.9), SPACE, 0.569280),
    (DotProduct.exponential(), SPACE, 1.284025),
    (Polynomial(3, 1.0), SPACE, 1.953125),
    (Polynomial(3, 0.5), SPACE, 0.421875),
    (ArcCosine(0), SPACE, 0.685785),
    (ArcCosine(1), SPACE, 0.291943),
    (ArcCosine(2), SPACE, 0.317230),
    (Hellinger(), BINS, 0.804059),
    (ChiSquared(), BINS, 0.761905),
    (Intersection(), BINS, 0.6),
    (JensenShannon(), BINS, 0.784666),
    (SkewedChiSquared(0.3), BINS, 0.908980),
    (SkewedIntersection(0.3), BINS, 0.462910),
    (ExponentialSemigroup(0.4), BINS, 0.330382),
    (ReciprocalSemigroup(0.6), BINS, 0.094675),
]


@pytest.mark.parametrize("kernel, rows, value", WORKED, ids=lambda case: str(case)[:30])
def test_values_worked_by_hand(kernel, rows, value):
    for wrap in (np.asarray, sparse.csr_matrix):
        assert kernel(wrap(rows[0]), wrap(rows[1])).item() == pytest.approx(value, abs=1e-9)
    assert evaluate(kernel, *rows).item() == pytest.approx(value, abs=1e-9)
    single = kernel(rows[0].astype(np.float32), rows[1].astype(np.float32))
    assert single.dtype == np.float32 and single.item() == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("kernel, rows, value", ROUNDED, ids=lambda case: str(case)[:30])
def test_values_of_the_table(kernel, rows, value):
    assert kernel(*rows).item() == pytest.approx(value, abs=6e-7)


@pytest.fixture
def histograms():
    rng = np.random.default_rng(0)
    X, Z = rng.gamma(0.7, size=(40, 13)), rng.gamma(0.7, size=(55, 13)) * (rng.random((55, 13)) < 0.7)
    return X / X.sum(axis=1, keepdims=True), Z / Z.sum(axis=1, keepdims=True)


def test_laplacian_is_scikit_learns(histograms, dtype, assert_close):
    assert_close(Laplacian(2.5)(*histograms, dtype=dtype), pairwise.laplacian_kernel(*histograms, gamma=0.4), dtype)


def test_chi_squared_are_scikit_learns(histograms, dtype, assert_close):
    X, Z = histograms
    assert_close(ExponentialChiSquared(0.3)(X, Z, dtype=dtype), pairwise.chi2_kernel(X, Z, gamma=0.3), dtype)
    sums = X.sum(axis=1)[:, None] + Z.sum(axis=1)
    assert_close(2 * ChiSquared()(X, Z, dtype=dtype) - sums, pairwise.additive_chi2_kernel(X, Z), dtype)


def test_jensen_shannon_is_one_minus_scipys_divergence(histograms, dtype, assert_close):
    divergence = cdist(*histograms, "jensenshannon") ** 2 / np.log(2)
    assert_close(JensenShannon()(*histograms, dtype=dtype), 1 - divergence, dtype)


@pytest.mark.parametrize("nu", [0.1, 0.5, 0.9, 1.0, 1.5, 2.0, 2.5, 3.7, 20.0])
def test_matern_is_scikit_learns(nu, dtype, assert_close):
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(30, 4)), rng.normal(size=(41, 4))
    Z[:5] = X[:5]
    expected = processes.Matern(length_scale=1.3, nu=nu)(X, Z)
    # scikit-learn puts 1e-16 or so in the place of a distance of 0, which k(x, x) = 1 does not survive if nu is small.
    expected[np.arange(5), np.arange(5)] = 1.0
    assert_close(Matern(nu, 1.3)(X, Z, dtype=dtype), expected, dtype, factor=20)


@pytest.mark.parametrize("nu", [0.2, 0.5, 1.0, 3.0, 17.3, 120.0, 500.0])
def test_matern_is_smooth_down_to_no_distance(nu, assert_close):
    """From 1 at distance 0 through the range where K_nu overflows to where it can be called."""
    r = np.concatenate([[0.0], np.logspace(-200, 1.5, 300)])
    values = Matern(nu, 1.0)(np.zeros((1, 1)), r[:, None])[0]
    assert values[0] == 1.0 and np.all((values >= 0) & (values <= 1 + 1e-12))
    assert np.all(np.diff(values) <= 1e-12)
    if nu < 100:
        t = np.sqrt(2 * nu) * r[r > 0.1]
        assert_close(values[r > 0.1], 2 ** (1 - nu) / gamma(nu) * t**nu * kv(nu, t), factor=10)


def test_matern_of_large_nu_is_near_the_gaussian():
    X = np.random.default_rng(2).normal(size=(20, 3))
    np.testing.assert_allclose(Matern(500, 1.4)(X), Gaussian(1.4)(X), atol=2e-3)


@pytest.mark.parametrize("nu", [0.3, 0.5, 1.0])
def test_rough_kernels_keep_their_digits_where_rows_meet(nu, dtype):
    """1 - k grows like a power of the distance below 2: an inner product's rounding would show through it."""
    X = np.random.default_rng(3).normal(size=(40, 6)).astype(dtype).astype(np.float64)
    near = X + np.float64(2.0**-12) * np.sign(X)
    for rows in (X, near):
        exact = evaluate(Matern(nu), X, rows.astype(dtype).astype(np.float64))
        np.testing.assert_allclose(Matern(nu)(X, rows, dtype=dtype), exact, atol=4e-6 if dtype is np.float32 else 1e-13)
    exact = evaluate(ArcCosine(0), X, np.concatenate([near, -near]))
    values = ArcCosine(0)(X, np.concatenate([near, -near]), dtype=dtype)
    np.testing.assert_allclose(values, exact, atol=1e-6 if dtype is np.float32 else 1e-13)
