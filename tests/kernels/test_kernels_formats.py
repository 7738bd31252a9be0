"""The storage of rows has no effect: shapes, orders, precisions, dense, sparse, mapped from a file."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from kernbench.kernels import ArcCosine, ChiSquared, Cosine, Linear
from kernbench.kernels.rows import KernelRows
from kernbench.reference.kernels.rows import evaluate

# Around the widths of the engine: 64 queries of a sparse panel, 512 of a dense one, 512 columns of a stretch.
EDGES = [1, 2, 63, 64, 65, 255, 256, 257, 511, 513]


def untidy_csr(X, index_dtype, seed=0):
    """The same matrix with unsorted indices, every third entry stored twice, and explicit zeros."""
    rng = np.random.default_rng(seed)
    tidy = sparse.coo_array(X)
    twice = np.arange(tidy.nnz) % 3 == 0
    values = np.where(twice, tidy.data / 2, tidy.data)
    zeros = rng.integers(0, X.shape[0], 7), rng.integers(0, X.shape[1], 7)
    rows = np.concatenate([tidy.coords[0], tidy.coords[0][twice], zeros[0]])
    columns = np.concatenate([tidy.coords[1], tidy.coords[1][twice], zeros[1]])
    values = np.concatenate([values, values[twice], np.zeros(7)])
    order = np.lexsort((rng.random(len(rows)), rows))  # row by row, shuffled within
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=X.shape[0]))])
    matrix = sparse.csr_matrix((values[order], columns[order], starts), shape=X.shape)
    # The constructor narrows indices that fit; concatenations and files may keep wide ones.
    matrix.indices, matrix.indptr = matrix.indices.astype(index_dtype), matrix.indptr.astype(index_dtype)
    return matrix


@settings(max_examples=25, deadline=None)
@given(
    n=st.sampled_from(EDGES),
    m=st.sampled_from(EDGES),
    d=st.integers(1, 40),
    density=st.sampled_from([0.05, 0.2, 1.0]),
    seed=st.integers(0, 100),
)
@example(n=1, m=1, d=1, density=1.0, seed=0)
@example(n=257, m=513, d=1, density=1.0, seed=0)
@example(n=65, m=513, d=9, density=0.05, seed=0)
def test_any_shape_and_density_agrees_with_the_reference(
    kernel, dtype, assert_close, thin_rows, n, m, d, density, seed
):
    X, Z = thin_rows(n, d, seed, density), thin_rows(m, d, seed + 1, density)
    K = evaluate(kernel, X, Z)
    assert_close(kernel(X, Z, dtype=dtype), K, dtype)
    assert_close(kernel(sparse.csr_matrix(X), sparse.csr_matrix(Z), dtype=dtype), K, dtype)


@pytest.mark.parametrize("density", [0.1, 0.6], ids=["swept sparse", "multiplied dense"])
@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
def test_csr_equals_dense_however_it_is_stored(kernel, dtype, index_dtype, density, thin_rows, assert_close):
    X, Z = thin_rows(70, 15, 1, density), thin_rows(130, 15, 2, density)
    untidy = untidy_csr(X, index_dtype), untidy_csr(Z, index_dtype)
    assert untidy[0].indices.dtype == index_dtype and not untidy[0].has_canonical_format
    assert untidy[0].nnz > np.count_nonzero(X)
    stored = untidy[0].data.copy(), untidy[0].indices.copy()
    K = evaluate(kernel, X, Z)
    for left, right in (untidy, (X, untidy[1]), (untidy[0], Z), (X, Z)):
        assert_close(kernel(left, right, dtype=dtype), K, dtype)
    # The user's matrix is not changed.
    np.testing.assert_array_equal(untidy[0].data, stored[0])
    np.testing.assert_array_equal(untidy[0].indices, stored[1])
    assert_close(kernel.diag(sparse.csr_matrix(X)), np.diag(evaluate(kernel, X)))


@pytest.mark.parametrize("storage", [sparse.csc_matrix, sparse.coo_array, sparse.csr_array, sparse.lil_matrix])
def test_other_sparse_formats_are_read(kernel, storage, thin_rows, assert_close):
    X = thin_rows(40, 12)
    assert_close(kernel(storage(X)), evaluate(kernel, X))


def test_whole_numbers_and_truth_values_are_read(kernel, assert_close):
    X = np.arange(60).reshape(6, 10) % 7 == 0
    for rows in (X, X.astype(np.int8), sparse.csr_matrix(X), sparse.csr_matrix(X.astype(np.int64))):
        assert_close(kernel(rows), evaluate(kernel, X.astype(np.float64)))


def test_memory_layout_agnosticism(kernel, dtype, tmp_path):
    X = np.random.default_rng(3).normal(size=(80, 6)).astype(dtype)
    expected = kernel(X)
    wide = np.zeros((160, 12), dtype=dtype)
    wide[::2, ::2] = X
    mapped = np.memmap(tmp_path / "X", dtype=dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    mapped = np.memmap(tmp_path / "X", dtype=dtype, mode="r", shape=X.shape)
    swapped = X.astype(X.dtype.newbyteorder())
    for rows in (np.asfortranarray(X), wide[::2, ::2], X[::-1][::-1], mapped, swapped):
        np.testing.assert_allclose(kernel(rows, dtype=dtype), expected, rtol=0, atol=np.finfo(dtype).eps * 64)
        np.testing.assert_array_equal(rows, X)


def test_rows_that_may_not_be_written_are_read(kernel, dtype, thin_rows):
    X = sparse.csr_matrix(thin_rows(40, 12)).astype(dtype)
    expected = kernel(X)
    for part in (X.data, X.indices, X.indptr):
        part.setflags(write=False)
    np.testing.assert_array_equal(kernel(X), expected)


def test_no_rows_give_an_empty_matrix(kernel, dtype):
    X, none = np.ones((4, 3)), np.ones((0, 3))
    for left, right in ((none, X), (X, none), (none, none)):
        for wrap in (np.asarray, sparse.csr_matrix):
            values = kernel(wrap(left), wrap(right), dtype=dtype)
            assert values.shape == (len(left), len(right)) and values.dtype == dtype


def test_empty_sparse_rows_are_rows_of_zeros(kernel, dtype, assert_close):
    nothing = sparse.csr_matrix((70, 20))
    assert_close(kernel(nothing, dtype=dtype), evaluate(kernel, np.zeros((70, 20))), dtype)


def test_features_must_agree(kernel):
    """The message is ours: NumPy's message on broadcasting would not help."""
    for d in (1, 2, 4):
        for wrap in (np.asarray, sparse.csr_matrix):
            with pytest.raises(ValueError, match="features"):
                kernel(wrap(np.eye(3, d)), wrap(np.eye(3, 3)))


@pytest.mark.parametrize("X", [np.ones(3), np.ones((2, 2, 2)), 1.0], ids=["vector", "cube", "number"])
def test_rows_have_two_dimensions(kernel, X):
    with pytest.raises(ValueError, match="two dimensions"):
        kernel(X)


@pytest.mark.parametrize("dtype", ["float16", "int32", np.int64, "complex128"])
def test_other_precisions_are_refused(kernel, X, dtype):
    with pytest.raises(ValueError, match="float32 or float64"):
        kernel(X, dtype=dtype)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("value, what", [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_a_kernel_that_is_called_refuses_nan_and_infinity(kernel, storage, value, what):
    """NaN in one entry would otherwise become NaN in all values, through the centre of its column."""
    X = np.ones((4, 3))
    X[2, 1] = value
    for rows in ((storage(X),), (storage(np.ones((2, 3))), storage(X)), (storage(X), storage(np.ones((2, 3))))):
        with pytest.raises(ValueError, match=f"column 1 holds {what}, first in row 2"):
            kernel(*rows)
    largest = np.full((2, 3), np.finfo(np.float64).max / 2)  # finite, though their sum is not
    try:
        kernel(storage(largest))
    except ValueError as refused:
        assert "too large" in str(refused)


@pytest.mark.parametrize("index", [-1, 3, 2**31 - 1])
def test_indices_out_of_range_are_refused(kernel, index):
    X = sparse.csr_matrix((np.ones(2), [0, 1], [0, 1, 2]), shape=(2, 3))
    X.indices[1] = index
    with pytest.raises(ValueError, match="column indices go from 0 to 2"):
        kernel(X)


def test_float16_rows_that_are_mostly_zero_are_taken(kernel, thin_rows):
    """They are stored sparse, and SciPy has no sparse float16."""
    X = thin_rows(40, 12).astype(np.float16)
    np.testing.assert_array_equal(kernel(X), kernel(X.astype(np.float64)))


def test_spare_room_behind_the_entries_counts_for_nothing(kernel):
    X = sparse.random(10, 20, 0.2, format="csr", random_state=0)
    roomy = X.copy()
    roomy.data, roomy.indices = np.append(X.data, [1e9, 1e9]), np.append(X.indices, [3, 3]).astype(np.int32)
    for one in (kernel, ChiSquared()):
        np.testing.assert_array_equal(one(roomy), one(X))
        np.testing.assert_array_equal(one.diag(roomy), one.diag(X))
        np.testing.assert_array_equal(KernelRows(roomy, one).diagonal(), one.diag(X))
    assert len(roomy.data) == X.nnz + 2


@pytest.mark.parametrize("one", [Cosine(), ArcCosine(1)], ids=repr)
def test_sparse_rows_without_features_are_rows_of_zeros(one):
    np.testing.assert_array_equal(one(sparse.csr_matrix((3, 0))), np.zeros((3, 3)))


def test_more_features_than_indices_of_32_bits_are_refused():
    """Their indices would wrap around, to other features or to memory that is not the panel's."""
    columns, starts = np.array([5, 2**32 + 5]), np.array([0, 1, 2])
    X = sparse.csr_matrix((np.ones(2), columns, starts), shape=(2, 2**40))
    with pytest.raises(ValueError, match="X has 1099511627776 features"):
        Linear()(X)
