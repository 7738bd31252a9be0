"""The values of the kernels: against scikit-learn, the plain NumPy reference and numbers worked by hand."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise

from kernbench.kernels import (
    Callable,
    ChiSquared,
    ExponentialSemigroup,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
)
from kernbench.reference.kernels.rows import evaluate

TEXTBOOK = {
    "gaussian": lambda X, Z: pairwise.rbf_kernel(X, Z, gamma=0.5 / 1.7**2),
    "laplacian": lambda X, Z: pairwise.laplacian_kernel(X, Z, gamma=1 / 2.5),
    "linear": lambda X, Z: pairwise.linear_kernel(X, Z),
    "polynomial": lambda X, Z: pairwise.polynomial_kernel(X, Z, degree=3, gamma=0.2, coef0=0.5),
}


def test_values_agree_with_scikit_learn_and_the_reference(kernel, dtype, assert_close, request):
    name = request.node.callspec.id.split("-")[0]
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(70, 9)), rng.normal(size=(301, 9))
    values = kernel(X, Z, dtype=dtype)
    assert values.dtype == dtype and values.shape == (70, 301)
    assert_close(values, TEXTBOOK[name](X, Z), dtype)
    assert_close(values, evaluate(kernel, X, Z), dtype)


@pytest.mark.parametrize(
    "kernel, value",
    [
        (Gaussian(1.0), 0.5352614285),  # exp(-(0.25 + 1) / 2)
        (Laplacian(1.0), 0.2231301601),  # exp(-1.5)
        (Linear(), 0.5),
        (Polynomial(1, 0.0, 1.0), 0.5),
        (Polynomial(2, 1.0, 1.0), 2.25),  # (0.5 + 1)^2
        (Polynomial(3, 0.5, 2.0), 3.375),  # (2 * 0.5 + 0.5)^3
        (Polynomial(7, 1.0, 2.0), 128.0),  # (2 * 0.5 + 1)^7: three bits of the exponent
        (Polynomial(8, 1.0, 2.0), 256.0),
        (Polynomial(11, 0.0, 4.0), 2048.0),
    ],
    ids=str,
)
def test_values_worked_by_hand(kernel, value, dtype):
    x, z = np.array([[1.0, 0.0]]), np.array([[0.5, 1.0]])
    assert kernel(x, z, dtype=dtype).item() == pytest.approx(value, abs=1e-9 if dtype is np.float64 else 1e-7)


def test_precision_follows_the_data_unless_asked(kernel, X):
    assert kernel(X).dtype == kernel(X.astype(np.float16)).dtype == np.float64
    assert kernel(X.astype(np.float32)).dtype == kernel(X, dtype="float32").dtype == np.float32
    assert kernel(X.astype(np.float32), X, dtype=np.float64).dtype == np.float64
    whole = np.arange(12).reshape(4, 3)
    np.testing.assert_array_equal(kernel(whole), kernel(whole.astype(np.float64)))
    np.testing.assert_array_equal(kernel(whole.tolist()), kernel(whole))


def test_diagonal_is_the_diagonal_of_the_matrix(kernel, X, assert_close):
    assert_close(kernel.diag(X), np.diag(evaluate(kernel, X)))
    assert kernel.diag(X.astype(np.float32)).dtype == np.float64


def test_diagonal_of_precomputed_and_callable(X, assert_close):
    K = X @ X.T
    assert_close(Precomputed().diag(K), np.diag(K))
    assert_close(Callable(lambda A, B: A @ B.T).diag(X), np.diag(K))
    with pytest.raises(ValueError, match="square"):
        Precomputed().diag(K[:3])


def test_training_matrix_is_symmetric_and_positive_semi_definite(kernel, dtype):
    X = np.random.default_rng(2).normal(size=(130, 3))
    K = kernel(X, dtype=dtype).astype(np.float64)
    size, tolerance = np.abs(K).max(), np.finfo(dtype).eps * 8
    np.testing.assert_allclose(K, K.T, rtol=0, atol=tolerance * size)
    assert np.linalg.eigvalsh((K + K.T) / 2).min() > -tolerance * size * len(X)


@pytest.mark.parametrize("radial", [Gaussian(3.0), Laplacian(3.0)], ids=str)
@pytest.mark.parametrize("thin", [False, True], ids=["dense", "sparse"])
def test_equal_rows_give_one_and_nothing_gives_more(radial, thin, dtype, thin_rows):
    X = thin_rows(150, 12) if thin else np.random.default_rng(3).normal(size=(150, 12))
    X = np.concatenate([X, X + 1e-10 * (X != 0), X])  # equal rows and rows that differ by a rounding
    K = radial(X, dtype=dtype)
    equal = np.concatenate([np.diag(K), np.diag(K, 150), np.diag(K, 300)])
    np.testing.assert_allclose(equal, 1.0, rtol=0, atol=1e-6 if dtype is np.float32 else 1e-9)
    assert K.max() <= 1.0 and K.min() >= 0.0


@pytest.mark.parametrize("one_row", [Gaussian(0.3), Laplacian(0.3)], ids=str)
def test_zero_distance_is_exactly_one(one_row, dtype):
    assert one_row(np.zeros((3, 2)), dtype=dtype).tolist() == np.ones((3, 3)).tolist()
    assert one_row(np.full((1, 1), 0.1), dtype=dtype).item() == 1.0


def test_kernels_are_values(X):
    assert Gaussian(2.0) == Gaussian(2.0) != Gaussian(1.0)
    assert len({Linear(), Linear(), Polynomial(), Polynomial(3, 1.0, 1.0)}) == 2
    with pytest.raises(AttributeError):
        Gaussian().sigma = 2.0


@pytest.mark.parametrize(
    "rows, message",
    [
        ([[0.5, np.nan]], "column 1 holds NaN"),
        ([[0.5, None]], "column 1 holds NaN"),
        (np.array([[np.inf, 1.0]], dtype=np.float32), "column 0 holds infinity"),
        (sparse.csr_matrix([[0.0, np.nan]]), "column 1 holds NaN"),
        ([0.5, 1.0], "two dimensions"),
        ([["a", "b"]], "must hold numbers"),
        ([[1j, 0.5]], "must hold real numbers"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_diagonal_refuses_what_the_kernel_refuses(kernel, rows, message):
    for call in (kernel.diag, kernel, lambda X: kernel([[0.5, 0.5]], X)):
        with pytest.raises(ValueError, match=message):
            call(rows)


def test_the_diagonal_checks_the_domain_and_takes_lists():
    for call in (ChiSquared(), ChiSquared().diag, (ChiSquared() + Gaussian(1.0)).diag):
        with pytest.raises(ValueError, match="column 0 holds -1"):
            call([[-1.0, 2.0]])
    np.testing.assert_array_equal(Linear().diag([[1, 2], [3, 4]]), [5.0, 25.0])


@pytest.mark.parametrize("given", [bool, np.uint8, np.int16, np.float16, np.float32, np.longdouble])
@pytest.mark.parametrize("kernel", [ExponentialSemigroup(0.05), Linear(), Polynomial()], ids=repr)
def test_the_diagonal_of_other_numbers_is_that_in_float64(kernel, given):
    """Of 8-bit integers NumPy's square root is float16, which SciPy's sparse matrices do not have."""
    X = np.random.default_rng(4).integers(0, 100, size=(6, 5)).astype(given)
    expected = kernel.diag(X.astype(np.float64))
    forms = [X] if given is np.float16 else [X, sparse.csr_matrix(X)]
    for rows in forms:
        assert kernel.diag(rows) == pytest.approx(expected, rel=1e-14)
