"""One set of laws for every kernel, in every precision and storage."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from kernbench.kernels import Callable, Gaussian, Intersection, Linear, Precomputed, Sigmoid
from kernbench.kernels.blocks import matmul
from kernbench.kernels.functions import KERNELS
from kernbench.kernels.rows import KernelRows
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.reference.kernels.rows import evaluate

density = pytest.mark.parametrize("density", [0.1, 1.0], ids=["thin", "full"])
storage = pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])


def test_every_kernel_of_the_catalogue_is_among_those_tested(all_kernels):
    assert {type(kernel) for kernel in all_kernels} == set(KERNELS.values()) - {Precomputed, Callable}


@density
@pytest.mark.parametrize("d", [1, 40])
def test_values_agree_with_the_reference(kernel_and_rows, dtype, density, d, assert_close):
    kernel, draw = kernel_and_rows
    X, Z = draw(67, d, 1, density), draw(131, d, 2, density)
    Z[:5] = X[:5]  # equal rows, where some kernels have an edge
    truth = evaluate(kernel, X, Z)
    for A, B in ((X, Z), (sparse.csr_matrix(X), sparse.csr_matrix(Z)), (sparse.csr_matrix(X), Z)):
        values = kernel(A, B, dtype=dtype)
        assert values.dtype == dtype and values.shape == (67, 131)
        assert_close(values, truth, dtype, factor=10)


def test_many_features_and_columns_agree_with_the_reference(kernel_and_rows, dtype, assert_close):
    """More features than one pass over a strip, more columns than one tile."""
    kernel, draw = kernel_and_rows
    X, Z = draw(3, 300, 3), draw(1100, 300, 4)
    assert_close(kernel(X, Z, dtype=dtype), evaluate(kernel, X, Z), dtype, factor=50)


@pytest.mark.parametrize("dtype, density", [(np.float32, 1.0), (np.float64, 0.1)], ids=["full", "thin"])
def test_threads_agnosticism(kernel_and_rows, dtype, density):
    kernel, draw = kernel_and_rows
    X = draw(600, 20, 5, density)  # several tiles, in which threads divide either result
    results = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="openmp"):
            results.append((kernel(X[:270], X, dtype=dtype), matmul(kernel, X, X[:270], np.ones(270), dtype=dtype)))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


def test_training_matrix_is_symmetric_and_positive_semi_definite(kernel_and_rows, dtype):
    kernel, draw = kernel_and_rows
    K = kernel(draw(90, 4, 6), dtype=dtype).astype(np.float64)
    size, tolerance = np.abs(K).max(), np.finfo(dtype).eps * 32
    np.testing.assert_allclose(K, K.T, rtol=0, atol=tolerance * size)
    if isinstance(kernel, Sigmoid):
        return  # indefinite
    least = np.linalg.eigvalsh((K + K.T) / 2).min()
    assert least > -tolerance * size * len(K)
    if dtype is np.float64:
        assert least > -1e-10 * len(K) * size


@pytest.mark.parametrize("storage, density", [(np.asarray, 1.0), (sparse.csr_matrix, 0.1)], ids=["dense", "csr"])
def test_rows_batches_blocks_and_products_are_parts_of_one_matrix(
    kernel_and_rows, dtype, density, storage, assert_close
):
    kernel, draw = kernel_and_rows
    X = storage(draw(90, 12, 7, density))
    rows, truth = KernelRows(X, kernel, dtype=dtype), ReferenceRows(X, kernel)
    close = dict(dtype=dtype, factor=50)
    I, J, a = np.array([5, 1, 77]), np.arange(3, 40), np.where(np.arange(90) % 3, np.linspace(-1, 1, 90), 0.0)
    assert_close(rows.diagonal(), truth.diagonal())
    assert_close(rows.batch(I), truth.batch(I), **close)
    assert_close(rows.block(I, J), truth.block(I, J), **close)
    assert_close(rows.matvec(a), truth.matvec(a), **close)
    assert_close(rows.product(I, J, a[J]), truth.block(I, J) @ a[J], **close)
    assert_close(
        matmul(kernel, X, X, np.stack([a, a**2], axis=1), dtype=dtype),
        truth.batch(np.arange(90)) @ np.stack([a, a**2], axis=1),
        **close,
    )


@density
def test_restricted_rows_are_those_of_the_subset(kernel_and_rows, dtype, density, assert_close):
    kernel, draw = kernel_and_rows
    X, keep = draw(100, 12, 8, density), np.flatnonzero(np.arange(100) % 3)
    rows, truth = KernelRows(X, kernel, dtype=dtype), evaluate(kernel, X)
    rows.batch([1, 50, 98])  # two of them are kept, squeezed
    rows.restrict(keep)
    assert rows.n_rows == len(keep)
    assert_close(rows.batch(np.arange(len(keep))), truth[np.ix_(keep, keep)], dtype, factor=50)
    rows.release()
    assert_close(rows.batch([7, 3]), truth[[7, 3]], dtype, factor=50)


@storage
def test_diagonal_is_the_diagonal_of_the_matrix(kernel_and_rows, storage, assert_close):
    kernel, draw = kernel_and_rows
    X = draw(40, 6, 9, 0.5)
    X[0] = 0.0
    assert_close(kernel.diag(storage(X)), np.diag(evaluate(kernel, X)))


@storage
def test_rows_of_zeros_agree_with_the_reference(kernel_and_rows, dtype, storage, assert_close):
    """0/0, log 0 and the angle of a zero row all occur here."""
    kernel, draw = kernel_and_rows
    X = np.concatenate([np.zeros((2, 20)), draw(4, 20, 10, 0.2)])
    values = kernel(storage(X), dtype=dtype)
    assert np.all(np.isfinite(values))
    assert_close(values, evaluate(kernel, X), dtype, factor=10)


@pytest.mark.parametrize("size", [1e-30, 1e-6, 1e6, 1e30])
def test_scale_of_the_rows_makes_no_nan(kernel_and_rows, dtype, size):
    """Tiny and huge rows give the value, its limit or an error that says what to change, never NaN."""
    kernel, draw = kernel_and_rows
    X = abs(draw(20, 5, 11)) * size
    try:
        values = kernel(X, dtype=dtype)
    except ValueError as refused:
        assert "too large" in str(refused)
    else:
        assert not np.any(np.isnan(values))


def test_memory_layout_and_no_rows(kernel_and_rows, dtype):
    kernel, draw = kernel_and_rows
    X = draw(33, 6, 12).astype(dtype)
    expected = kernel(X)
    for rows in (np.asfortranarray(X), X.astype(X.dtype.newbyteorder()), np.repeat(X, 2, axis=0)[::2]):
        tolerance = 64 * np.finfo(dtype).eps * expected.max()
        np.testing.assert_allclose(kernel(rows, dtype=dtype), expected, rtol=0, atol=tolerance)
    for wrap in (np.asarray, sparse.csr_matrix):
        assert kernel(wrap(X[:0]), wrap(X), dtype=dtype).shape == (0, 33)
        assert kernel(wrap(X), wrap(X[:0]), dtype=dtype).shape == (33, 0)


def test_kernels_are_values_that_travel(all_kernels):
    for kernel in all_kernels:
        other = pickle.loads(pickle.dumps(kernel))
        assert other == kernel and hash(other) == hash(kernel)
        assert type(kernel).__name__ in repr(kernel)
    assert len(set(all_kernels)) == len(all_kernels)


def test_how_a_combination_is_written_does_not_matter(dtype):
    a, b, c = Gaussian(), Intersection(), Linear()
    X = np.random.default_rng(0).gamma(1.0, size=(20, 3))
    assert (a + b) + c == a + (b + c) and (a * b) * c == a * (b * c)
    assert 2.0 * (a + b) == 2 * a + 2 * b
    np.testing.assert_allclose((2 * a)(X, dtype=dtype), 2 * a(X, dtype=dtype))
    parts = [kernel(X, dtype=dtype) for kernel in (a, b, c)]
    tolerance = 1e-5 if dtype is np.float32 else 1e-13
    np.testing.assert_allclose((a + b * c)(X, dtype=dtype), parts[0] + parts[1] * parts[2], rtol=tolerance)
    function = Callable(lambda P, Q: (P @ Q.T) ** 2)
    np.testing.assert_allclose((a + function)(X), a(X) + (X @ X.T) ** 2)
    rows = KernelRows(X, 3 * a * function).batch([4, 5])
    np.testing.assert_allclose(rows, 3 * a(X)[4:6] * ((X @ X.T) ** 2)[4:6], rtol=1e-5)
