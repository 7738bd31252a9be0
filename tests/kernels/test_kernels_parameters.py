"""Parameters out of range raise an error that names them when the kernel is made."""

import numpy as np
import pytest

from kernbench.kernels import Callable, DotProduct, Gaussian, Laplacian, Polynomial

NOT_POSITIVE = [0, -1.0, float("nan"), float("inf"), "1", None, True, [1.0], 1j, np.array([1.0, 2.0])]


@pytest.mark.parametrize("make", [Gaussian, Laplacian])
@pytest.mark.parametrize("sigma", NOT_POSITIVE, ids=repr)
def test_sigma_is_a_positive_number(make, sigma):
    with pytest.raises(ValueError, match=f"{make.__name__}: sigma must be"):
        make(sigma)


@pytest.mark.parametrize("scale", NOT_POSITIVE, ids=repr)
def test_scale_is_a_positive_number(scale):
    with pytest.raises(ValueError, match="Polynomial: scale must be"):
        Polynomial(3, 1.0, scale)


@pytest.mark.parametrize("degree", [0, -1, 2.5, float("nan"), float("inf"), "3", None, True], ids=repr)
def test_degree_is_a_positive_integer(degree):
    with pytest.raises(ValueError, match="Polynomial: degree must be"):
        Polynomial(degree)


@pytest.mark.parametrize("degree", [2**31, 2**32 + 3, 2.0**40], ids=repr)
def test_degree_is_an_int_of_the_compiled_loop(degree):
    with pytest.raises(ValueError, match="Polynomial: degree must be a number below 2147483648"):
        Polynomial(degree)
    X = np.array([[1.0, 0.0], [0.5, 0.5]])
    np.testing.assert_array_equal(Polynomial(2**31 - 1, 0.0)(X), [[1.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize("c", [-0.1, float("nan"), float("inf"), "1", None, True, [1.0, 2.0]], ids=repr)
def test_c_is_at_least_zero(c):
    with pytest.raises(ValueError, match="Polynomial: c must be"):
        Polynomial(3, c)


@pytest.mark.parametrize("n_terms", [0, -1, 2.5, True, None], ids=repr)
def test_number_of_terms_is_a_positive_integer(n_terms):
    with pytest.raises(ValueError, match="DotProduct: n_terms must be a positive integer"):
        DotProduct.exponential(n_terms)


@pytest.mark.filterwarnings("error")
def test_terms_whose_factorials_are_infinite_are_zero():
    many, all_terms = DotProduct.exponential(200), DotProduct.exponential(171)
    assert many.coefficients == (*all_terms.coefficients, *[0.0] * 29) and all_terms.coefficients[-1] > 0


def test_function_is_callable():
    with pytest.raises(ValueError, match="Callable: function must be callable"):
        Callable("rbf")


def test_numpy_scalars_are_numbers(X):
    for one in (np.float32(1.0), np.int64(1), np.float64(1.0), 1):
        np.testing.assert_array_equal(Gaussian(one)(X), Gaussian(1.0)(X))
        np.testing.assert_array_equal(Polynomial(one, one, one)(X), Polynomial(1, 1.0, 1.0)(X))


@pytest.mark.parametrize("make", [Gaussian, Laplacian])
@pytest.mark.parametrize("sigma", [1e-300, 1e300])
def test_any_positive_sigma_works_or_is_refused(make, sigma, X, dtype):
    """Its square has no floating-point value; an ArithmeticError would say nothing about sigma."""
    try:
        K = make(sigma)(X, dtype=dtype)
    except ValueError as refused:
        assert "sigma" in str(refused) or "too large" in str(refused)
    else:
        np.testing.assert_allclose(K, np.eye(30) if sigma < 1 else np.ones((30, 30)), rtol=0, atol=2e-38)
