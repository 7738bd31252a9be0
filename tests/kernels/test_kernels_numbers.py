"""The limits of floating-point numbers: exponentials, huge and tiny distances, rows far from the origin, overflow."""

import numpy as np
import pytest
from scipy import sparse

from kernbench.kernels import DotProduct, Gaussian, Laplacian, Linear, Polynomial
from kernbench.kernels.blocks import block, matmul
from kernbench.kernels.rows import KernelRows
from kernbench.reference.kernels.rows import evaluate

RADIAL = {"gaussian": Gaussian(1.7), "laplacian": Laplacian(2.5)}
radial = pytest.mark.parametrize("radial", RADIAL.values(), ids=RADIAL)
storage = pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])


@pytest.mark.parametrize(
    "dtype, step, low, error", [(np.float32, 2**-6, 87.2, 2e-7), (np.float64, 2**-3, 707.9, 1e-15)]
)
def test_exponential_is_accurate_down_to_its_end(dtype, step, low, error):
    # Binary fractions, symmetric about zero: nothing is rounded before the exponential, whatever the origin.
    t = np.concatenate([2.0 ** -np.arange(1, 13), np.arange(0, low, step)])
    values = Laplacian(1.0)(np.zeros((1, 1)), np.concatenate([t, -t])[:, None], dtype=dtype)[0]
    np.testing.assert_allclose(values.astype(np.float64), np.tile(np.exp(-t), 2), rtol=error, atol=0)


@pytest.mark.parametrize("dtype, limit, end", [(np.float32, 87.5, 2e-38), (np.float64, 709, 1e-307)])
def test_beyond_the_end_values_are_tiny_and_never_negative(dtype, limit, end):
    origin = np.zeros((1, 1))
    for t in limit * np.array([1, 1.01, 1.1, 2, 10, 1e6, 1e15]):
        assert 0 <= Laplacian(1.0)(origin, [[t]], dtype=dtype).item() <= end
        assert 0 <= Gaussian(1.0)(origin, [[np.sqrt(2 * t)]], dtype=dtype).item() <= end


@radial
@storage
@pytest.mark.parametrize("dtype, size", [(np.float32, 1e17), (np.float64, 1e150)])
def test_huge_distances_give_tiny_values(radial, storage, dtype, size):
    X = storage(np.diag(size * np.array([1.0, 2.0, -3.0, 1.0, 5.0, 1.0, 1.0, 1.0, 1.0, 1.0])))
    K = radial(X, dtype=dtype)
    apart = K[~np.eye(10, dtype=bool)]
    assert np.all((apart >= 0) & (apart <= 2e-38))
    # test_float32_error_grows_with_the_squared_norm_only tests the 1 on the diagonal.
    assert np.all((np.diag(K) >= 0) & (np.diag(K) <= 1))


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@radial
@pytest.mark.parametrize("density", [0.1, 1.0], ids=["swept sparse", "multiplied dense"])
def test_distances_out_of_range_are_tiny_or_refused(radial, density, dtype, thin_rows):
    """Squares that overflow must not become NaN, which every sum over the rows would propagate silently."""
    X = thin_rows(10, 12, density=density)
    X[:, 0] = np.arange(10) - 3.5
    for size in (1e20, 1e100, 1e200, 1e300):
        try:
            K = radial(size * X, dtype=dtype)
        except ValueError as refused:
            assert "too large" in str(refused)
        else:
            apart = K[~np.eye(10, dtype=bool)]
            assert np.all((apart >= 0) & (apart <= 2e-38))


@radial
@storage
@pytest.mark.parametrize("offset", [1e3, 1e5])
def test_rows_far_from_the_origin_keep_their_digits(radial, storage, offset):
    """Distances do not depend on the origin: float64 data lose nothing when float32 kernels are computed."""
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(40, 5)) + offset, rng.normal(size=(60, 5)) + offset
    K = evaluate(radial, X, Z)
    X, Z = storage(X), storage(Z)
    a = rng.normal(size=60)
    np.testing.assert_allclose(radial(X, Z, dtype=np.float32), K, rtol=0, atol=1e-5)
    np.testing.assert_allclose(matmul(radial, X, Z, a, dtype=np.float32), K @ a, rtol=0, atol=1e-4)
    rows = KernelRows(Z, radial, dtype=np.float32)
    np.testing.assert_allclose(rows.batch(np.arange(60)), evaluate(radial, Z), rtol=0, atol=1e-5)


@radial
@storage
def test_one_column_far_away_does_not_drown_the_others(radial, storage):
    """A year next to a one-hot code: mostly zeros, so swept sparse; its square dwarfs the distances."""
    rng = np.random.default_rng(1)
    X = np.zeros((50, 20))
    X[np.arange(50), rng.integers(0, 19, 50)] = 1
    X[:, 19] = 2000 + rng.integers(0, 5, 50)
    np.testing.assert_allclose(radial(storage(X), dtype=np.float32), evaluate(radial, X), rtol=0, atol=1e-5)


@radial
@storage
def test_one_row_far_away_does_not_drown_the_others(radial, storage):
    """An origin at the mean of the rows would be far from all of them."""
    X = np.random.default_rng(4).normal(size=(300, 5))
    X[7] = 1e6
    near = np.arange(300) != 7
    K = radial(storage(X), dtype=np.float32)
    np.testing.assert_allclose(K[near][:, near], evaluate(radial, X[near]), rtol=0, atol=1e-5)
    assert np.all((K[7, near] >= 0) & (K[7, near] <= 2e-38))


@storage
@pytest.mark.parametrize("d", [2, 30])
@pytest.mark.parametrize(
    "given, offset, share",
    [("float32", 1e2, 1e-5), ("float32", 1e6, 1e-5), ("float64", 1e6, 1e-5), ("float64", 1e4, 1e-9)],
)
def test_nearly_equal_rows_far_from_the_origin(given, offset, share, d, storage, dtype, global_random_seed):
    """Centred in float64, before the squared norms cancel: a difference of squares would have no right digit."""
    rng = np.random.default_rng(global_random_seed)
    X = (offset * rng.uniform(0.5, 1, size=d) + share * offset * rng.normal(size=(60, d))).astype(given)
    sigma = share * offset * np.sqrt(d)
    wide = X.astype(np.longdouble)
    exact = np.exp(-((wide[:, None] - wide) ** 2).sum(axis=2) / (2 * np.longdouble(sigma) ** 2))
    for values in (
        block(Gaussian(sigma), storage(X), storage(X[:25]), dtype=dtype),
        matmul(Gaussian(sigma), storage(X), storage(X[:25]), np.eye(25), dtype=dtype),
        KernelRows(storage(X), Gaussian(sigma), dtype=dtype).batch(np.arange(60)),
    ):
        error = np.abs(values - exact[:, : values.shape[1]]).max()
        assert error < (1e-6 if dtype == np.float32 else 1e-13)


@storage
@pytest.mark.parametrize("unit", [1e-30, 1e-12, 1e12, 1e25])
@pytest.mark.parametrize("make", [Gaussian, Laplacian])
def test_the_unit_of_the_data_does_not_matter(make, storage, unit, dtype, assert_close):
    X = np.random.default_rng(2).normal(size=(40, 5))
    assert_close(make(2.0 * unit)(storage(unit * X), dtype=dtype), evaluate(make(2.0), X), dtype)


def test_float32_error_grows_with_the_squared_norm_only():
    """|x|^2 + |z|^2 - 2 <x, z> cancels: the error is a few roundings of gamma |x|^2, from the middle."""
    X = np.random.default_rng(3).normal(size=(200, 20))
    for sigma in (10.0, 3.0, 1.0, 0.3):
        bound = 8 * np.finfo(np.float32).eps * (1 + 0.5 / sigma**2 * np.square(X - X.mean(0)).sum(1).max())
        np.testing.assert_allclose(Gaussian(sigma)(X, dtype=np.float32), evaluate(Gaussian(sigma), X), 0, bound)


@pytest.mark.parametrize("degree", [1, 2, 5, 16])
def test_powers_are_exact_where_they_can_be(degree, dtype):
    x = np.array([[2.0]])
    assert Polynomial(degree, 0.0, 1.0)(x, dtype=dtype).item() == 4.0**degree
    assert Polynomial(degree, 1.0, 0.5)(x, -x, dtype=dtype).item() == (-1.0) ** degree
    assert Linear()(x, -x, dtype=dtype).item() == -4.0


@storage
@pytest.mark.parametrize("n_terms", [12, 36, 40, 60, 170])
def test_coefficients_below_float32_keep_their_digits(n_terms, storage):
    """1 / 40! is 0 in float32, but 30^40 / 40! is not negligible against exp(30)."""
    X = np.random.default_rng(5).normal(size=(50, 12))
    X *= np.sqrt(30 / np.square(X).sum(axis=1).max())
    X[::2, 3:] = 0
    kernel = DotProduct.exponential(n_terms)
    exact = evaluate(kernel, X)
    assert np.abs(kernel(storage(X), dtype="float32") - exact).max() < 1e-5 * exact.max()
    assert np.abs(kernel(storage(X)) - exact).max() < 1e-13 * exact.max()


def test_one_tiny_coefficient_of_huge_products():
    X = 1e10 * np.random.default_rng(6).normal(size=(20, 3))
    for kernel in (DotProduct((0.0, 0.0, 1e-46)), DotProduct((1e-3, 0.0, 0.0, 0.0, 1e-86))):
        np.testing.assert_allclose(np.diag(kernel(X, dtype="float32")), kernel.diag(X), rtol=1e-5)
