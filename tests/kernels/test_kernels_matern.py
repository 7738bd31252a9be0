"""Matérn kernels: the table of any order against closed forms and Bessel functions, and rows that nearly coincide."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, kve

from kernbench.kernels import Gaussian, Matern
from kernbench.kernels.engine.values._matern import MaternProfile
from kernbench.reference.kernels.rows import evaluate

ORDERS = (0.05, 0.3, 0.999, 1.0, 1.001, 2.0, 3.5, 7.7, 30.0, 100.0, 500.0)
# Factors of exp(-r) for 2 nu = 7 and 9, and of the closed forms that the engine has.
POLYNOMIALS = {
    0.5: (1,),
    1.5: (1, 1),
    2.5: (1, 1, 1 / 3),
    3.5: (1, 1, 2 / 5, 1 / 15),
    4.5: (1, 1, 3 / 7, 2 / 21, 1 / 105),
}
# As stated in matern_table.py, and with nu = 500 in float64 that of the Bessel functions.
ERROR = {np.float32: 2e-7, np.float64: 1e-12}


def squared_distances(nu, dtype):
    """Squared distances of all magnitudes, and many where the kernel falls."""
    rng = np.random.default_rng(0)
    s = np.concatenate([10.0 ** rng.uniform(-30, 7, 20_000), rng.uniform(0, 10 + 5 * nu, 20_000)])
    return s.astype(dtype)


@pytest.mark.parametrize("nu", POLYNOMIALS)
def test_half_integer_orders_agree_with_their_closed_forms(nu, dtype):
    s = squared_distances(nu, dtype)
    r = np.sqrt(s.astype(np.float64))
    expected = np.polynomial.polynomial.polyval(r, POLYNOMIALS[nu]) * np.exp(-r)
    error = 1e-13 if dtype is np.float64 else ERROR[dtype]
    np.testing.assert_allclose(MaternProfile(nu, dtype)(s), expected, rtol=0, atol=error)


@pytest.mark.parametrize("nu", ORDERS)
def test_tables_agree_with_bessel_functions(nu, dtype):
    s = squared_distances(nu, dtype)
    r = np.sqrt(s.astype(np.float64))
    with np.errstate(over="ignore", invalid="ignore"):
        expected = np.exp((1 - nu) * np.log(2) - gammaln(nu) + nu * np.log(r) - r + np.log(kve(nu, r)))
    finite = np.isfinite(expected)  # K_nu overflows near 0
    assert finite[np.argsort(s)[-1000:]].all()
    values = MaternProfile(nu, dtype)(s)
    np.testing.assert_allclose(values[finite], expected[finite], rtol=0, atol=ERROR[dtype])
    order = np.argsort(s)
    assert np.diff(values[order].astype(np.float64)).max() <= ERROR[dtype]  # where there is no expected value too


@pytest.mark.parametrize("nu", [0.3, 0.5, 1.5, 7.7, 500.0])
def test_profiles_at_their_ends(nu, dtype):
    tiny = np.finfo(dtype).tiny
    values = MaternProfile(nu, dtype)(np.array([0.0, tiny, 1e9, np.finfo(dtype).max, np.inf, np.nan]))
    assert values[0] == 1.0 and values[1] == pytest.approx(1.0, abs=1e-6)
    assert np.all((values[2:5] >= 0) & (values[2:5] <= 1e-34))
    assert np.isnan(values[5])


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("length_scale", [0.1, 0.5, 1.3, 10.0])
@pytest.mark.parametrize("nu", [0.5, 0.9, 1.01, 1.5, 2.5, 7.7, 40.0])
def test_error_does_not_grow_with_the_length_of_the_rows(nu, length_scale, storage):
    """|x|^2 + |z|^2 - 2 <x, z> cancels where rows are near each other in float32, at long rows most."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40)) * (rng.random((60, 40)) < (1.0 if storage is np.asarray else 0.2))
    X = X.astype(np.float32)
    Z = np.concatenate([X, X * np.float32(1.0001), X + np.float32(0.01) * (X != 0), X[::-1]])
    values = Matern(nu, length_scale)(storage(X), storage(Z), dtype=np.float32)
    np.testing.assert_allclose(values, evaluate(Matern(nu, length_scale), X, Z), rtol=0, atol=5e-6)
    np.testing.assert_allclose(np.diag(values[:, :60]), 1.0, rtol=0, atol=1e-6)


def test_large_orders_tend_to_the_gaussian(dtype):
    X = np.random.default_rng(1).normal(size=(40, 3))
    np.testing.assert_allclose(Matern(500.0)(X, dtype=dtype), Gaussian()(X, dtype=dtype), atol=1e-3)
