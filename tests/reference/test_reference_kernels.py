import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise

from kernbench.kernels.functions import Callable, Gaussian, Kernel, Laplacian, Linear, Polynomial, Precomputed
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.reference.kernels.rows import evaluate

KERNELS = {
    "gaussian": (Gaussian(1.7), lambda X, Z: pairwise.rbf_kernel(X, Z, gamma=0.5 / 1.7**2)),
    "laplacian": (Laplacian(2.5), lambda X, Z: pairwise.laplacian_kernel(X, Z, gamma=1 / 2.5)),
    "linear": (Linear(), lambda X, Z: X @ Z.T),
    "polynomial": (Polynomial(3, 0.5, 0.2), lambda X, Z: pairwise.polynomial_kernel(X, Z, 3, 0.2, 0.5)),
    "callable": (Callable(lambda X, Z: np.asarray((X @ Z.T) ** 2)), lambda X, Z: (X @ Z.T) ** 2),
}


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(23, 5)) * (rng.random((23, 5)) < 0.6)


@pytest.mark.parametrize("name", KERNELS)
def test_values_agree_with_the_textbook(name, X):
    kernel, oracle = KERNELS[name]
    np.testing.assert_allclose(evaluate(kernel, X[:4], X), oracle(X[:4], X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(evaluate(kernel, X), oracle(X, X), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "callable"])
def test_format_agnosticism(name, X):
    kernel, _ = KERNELS[name]
    dense = evaluate(kernel, X, X[:7])
    A, B = sparse.csr_matrix(X), sparse.csr_matrix(X[:7])
    for pair in ((A, B), (A, X[:7]), (X, B), (np.asfortranarray(X), X[:7])):
        np.testing.assert_allclose(evaluate(kernel, *pair), dense, rtol=1e-12, atol=1e-13)
    single = evaluate(kernel, X.astype(np.float32), X[:7].astype(np.float32))
    np.testing.assert_allclose(single, dense, rtol=1e-5, atol=1e-6)
    assert single.dtype == np.float64


@pytest.mark.parametrize("name", KERNELS)
def test_rows_batches_blocks_and_products_are_parts_of_one_matrix(name, X):
    kernel, oracle = KERNELS[name]
    K, rows = oracle(X, X), ReferenceRows(X, kernel)
    a = np.where(np.arange(23) % 3 == 0, 0.0, np.linspace(-1, 1, 23))
    close = dict(rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(rows.diagonal(), np.diag(K), **close)
    np.testing.assert_allclose(rows.row(3), K[3], **close)
    np.testing.assert_allclose(rows.batch([5, 1, 5]), K[[5, 1, 5]], **close)
    np.testing.assert_allclose(rows.block([2, 0], [1, 7, 9]), K[np.ix_([2, 0], [1, 7, 9])], **close)
    np.testing.assert_allclose(rows.matvec(a), K @ a, **close)
    np.testing.assert_array_equal(rows.matvec(np.zeros(23)), np.zeros(23))


def test_precomputed_rows_are_rows_of_the_matrix(X):
    K = X @ X.T
    for matrix in (K, sparse.csr_matrix(K)):
        rows = ReferenceRows(matrix, Precomputed())
        np.testing.assert_array_equal(rows.row(4), K[4])
        np.testing.assert_array_equal(rows.block([4, 2], [0, 1]), K[np.ix_([4, 2], [0, 1])])
        np.testing.assert_array_equal(rows.diagonal(), np.diag(K))
        np.testing.assert_allclose(rows.matvec(K[0]), K @ K[0])


def test_product_with_more_rows_than_one_chunk():
    X = np.random.default_rng(1).normal(size=(1100, 2))
    a = np.random.default_rng(2).normal(size=1100)
    product = ReferenceRows(X, Gaussian(1.0)).matvec(a)
    np.testing.assert_allclose(product, pairwise.rbf_kernel(X, gamma=0.5) @ a, rtol=1e-10, atol=1e-12)


def test_evaluations_are_counted_and_products_are_not(X):
    rows = ReferenceRows(X, Linear())
    rows.row(0)
    rows.batch([1, 2])
    rows.block([1, 2], [3, 4, 5])
    rows.matvec(np.ones(23))
    rows.diagonal()
    assert rows.n_evaluations == 23 + 2 * 23 + 2 * 3
    assert rows.n_cached == 0


def test_dtype_rounds_the_values(X):
    rows = ReferenceRows(X, Gaussian(1.0), cache_bytes=10**6, dtype=np.float32)
    assert rows.row(0).dtype == rows.block([0], [1]).dtype == rows.dtype == np.float32
    assert rows.matvec(np.ones(23)).dtype == rows.diagonal().dtype == np.float64


def test_bad_input_is_refused(X):
    with pytest.raises(ValueError, match="square"):
        ReferenceRows(X, Precomputed())
    with pytest.raises(ValueError, match=r"return shape \(23, 23\)"):
        evaluate(Callable(lambda X, Z: np.ones(3)), X)
    with pytest.raises(ValueError, match="no reference for the kernel"):
        evaluate(Kernel(), X)
