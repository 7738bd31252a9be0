"""KernelRows: every method returns parts of the same matrix, for any content of the cache."""

import numpy as np
import pytest
from scipy import sparse

from kernbench.kernels import Callable, Gaussian, Laplacian, Precomputed
from kernbench.kernels.rows import DEFAULT_CACHE_BYTES, KernelRows
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.reference.kernels.rows import evaluate

NO_CACHE = 0  # two rows, the minimum


@pytest.fixture(params=["dense", "sparse"], scope="session")
def data(request, thin_rows):
    """150 rows as an array or as a CSR matrix that the engine sweeps sparse."""
    X = thin_rows(150, 12, density=1.0 if request.param == "dense" else 0.1)
    return X if request.param == "dense" else sparse.csr_matrix(X)


@pytest.mark.parametrize("cache_bytes", [NO_CACHE, DEFAULT_CACHE_BYTES], ids=["no cache", "cache"])
def test_all_ways_give_parts_of_one_matrix(data, kernel, dtype, cache_bytes, assert_close):
    K, rng = evaluate(kernel, data), np.random.default_rng(1)
    rows = KernelRows(data, kernel, cache_bytes=cache_bytes, dtype=dtype)
    assert rows.n_rows == 150 and rows.dtype == dtype
    a = np.where(rng.random(150) < 0.5, 0.0, rng.normal(size=150))
    for _ in range(2):  # fresh and from the cache
        for wanted in ([3], [5, 1, 9], np.arange(150), rng.permutation(150), [7] * 5, rng.integers(0, 150, 400)):
            assert_close(rows.batch(wanted), K[wanted], dtype)
        assert_close(rows.row(149), K[149], dtype)
    assert rows.batch([1]).dtype == rows.row(1).dtype == dtype
    I, J = rng.integers(0, 150, 70), rng.integers(0, 150, 90)
    assert_close(rows.block(I, J), K[np.ix_(I, J)], dtype)
    assert rows.block(I, J).dtype == dtype
    assert_close(rows.diagonal(), np.diag(K))
    assert_close(rows.matvec(a), K @ a, dtype, factor=50)
    assert rows.matvec(a).dtype == rows.diagonal().dtype == np.float64


def test_product_is_the_block_times_the_vector(data, kernel, dtype, assert_close):
    K, rng = evaluate(kernel, data), np.random.default_rng(2)
    rows = KernelRows(data, kernel, dtype=dtype)
    for n_asked, n_columns in ((1, 1), (20, 149), (150, 20), (20, 150), (150, 150)):
        I, J = (np.sort(rng.choice(150, size, replace=False)) for size in (n_asked, n_columns))
        a = rng.normal(size=n_columns)
        assert_close(rows.product(I, J, a), K[np.ix_(I, J)] @ a, dtype, factor=50)


@pytest.mark.parametrize("cache_bytes", [NO_CACHE, DEFAULT_CACHE_BYTES], ids=["no cache", "cache"])
def test_products_with_several_columns_are_added(data, kernel, dtype, cache_bytes, assert_close):
    K, rng = evaluate(kernel, data), np.random.default_rng(2)
    rows = KernelRows(data, kernel, cache_bytes=cache_bytes, dtype=dtype)
    for size in (0, 1, 70, 150):
        J = rng.choice(150, size, replace=False)
        A = rng.normal(size=(size, 3)) * (rng.random((size, 3)) < 0.5)
        out = np.ones((3, 150))
        for own in (rows, ReferenceRows(data, kernel)):
            out[:] = 1.0
            own.add_products(J, A, out)
            assert_close(out, 1.0 + A.T @ K[J], dtype, factor=50)
    with pytest.raises(ValueError, match=r"A must have the shape \(2, 3\)"):
        rows.add_products([0, 1], np.ones((2, 2)), np.ones((3, 150)))


@pytest.mark.parametrize("n_asked, n_columns", [(150, 20), (20, 150), (150, 150), (300, 20), (20, 300)])
def test_product_takes_indices_in_any_order_and_twice(data, n_asked, n_columns, assert_close):
    """As many indices as there are rows are not yet all the rows in their order."""
    K, rng = evaluate(Gaussian(1.7), data), np.random.default_rng(n_asked + n_columns)
    rows = KernelRows(data, Gaussian(1.7), dtype=np.float64)
    I, J, a = rng.integers(0, 150, n_asked), rng.integers(0, 150, n_columns), rng.normal(size=n_columns)
    assert_close(rows.product(I, J, a), K[np.ix_(I, J)] @ a, factor=50)


@pytest.mark.parametrize("n_columns", [1, 33, 1100])
def test_step_is_the_sum_of_the_rows_past_the_cache(data, kernel, dtype, n_columns, assert_close):
    """Also for more rows than are gathered at a time, and over restricted rows."""
    K, rng = evaluate(kernel, data), np.random.default_rng(n_columns)
    rows = KernelRows(data, kernel, dtype=dtype)
    J, a = rng.integers(0, 150, n_columns), rng.normal(size=n_columns) / n_columns
    assert_close(rows.step(J, a), K[:, J] @ a, dtype, factor=50)
    assert (rows.n_evaluations, rows.n_cached) == (150 * n_columns, 0)
    keep = np.arange(0, 150, 2)
    rows.restrict(keep)
    assert_close(rows.step(J // 2, a), K[np.ix_(keep, keep[J // 2])] @ a, dtype, factor=50)


def test_rows_of_few_entries_are_cheap(thin_rows):
    wide = thin_rows(20, 400, density=1.0)
    thin = sparse.csr_matrix(thin_rows(20, 400, density=0.05))
    assert KernelRows(wide[:, :30], Gaussian(1.0)).cheap and KernelRows(thin, Gaussian(1.0)).cheap
    assert not KernelRows(wide, Gaussian(1.0)).cheap and not KernelRows(wide[:, :30], Laplacian(1.0)).cheap
    assert not KernelRows(np.eye(20), Precomputed()).cheap
    assert not KernelRows(wide[:, :2], Callable(lambda X, Z: X @ Z.T)).cheap


def test_precomputed_rows_are_rows_of_the_matrix(dtype):
    K = np.random.default_rng(2).normal(size=(40, 40)).astype(np.float32)
    for matrix in (K, K.astype(np.float64), np.asfortranarray(K), sparse.csr_matrix(K)):
        rows = KernelRows(matrix, Precomputed(), cache_bytes=NO_CACHE, dtype=dtype)
        np.testing.assert_array_equal(rows.batch([4, 2, 4]), K[[4, 2, 4]])
        np.testing.assert_array_equal(rows.block([4, 2], [0, 1, 1]), K[np.ix_([4, 2], [0, 1, 1])])
        np.testing.assert_array_equal(rows.diagonal(), np.diag(K))
        a = np.random.default_rng(3).normal(size=40)
        np.testing.assert_allclose(rows.matvec(a), K.astype(np.float64) @ a, rtol=1e-12)
        np.testing.assert_allclose(rows.product([3, 1], range(40), a), K[[3, 1]].astype(np.float64) @ a, rtol=1e-12)
        assert rows.batch([0]).dtype == dtype
        with pytest.raises(ValueError, match="precomputed kernel cannot be restricted"):
            rows.restrict(np.arange(3))


def test_compiled_rows_have_the_interface_of_the_reference(data):
    public = {name for name in dir(ReferenceRows(data, Gaussian())) if not name.startswith("_")}
    assert public <= set(dir(KernelRows(data, Gaussian())))


def test_handed_out_rows_are_copies(data):
    rows = KernelRows(data, Gaussian(1.0))
    before = rows.row(0)
    rows.row(0)[:] = -1
    np.testing.assert_array_equal(rows.row(0), before)
    K = np.eye(3, dtype=np.float32)
    precomputed = KernelRows(K, Precomputed())
    precomputed.row(1)[:] = -1
    precomputed.block([0], [0])[:] = -1
    np.testing.assert_array_equal(K, np.eye(3))


def test_no_rows_at_all():
    rows = KernelRows(np.zeros((0, 3)), Gaussian())
    assert rows.batch([]).shape == rows.block([], []).shape == (0, 0)
    assert rows.matvec([]).shape == rows.diagonal().shape == rows.product([], [], []).shape == (0,)


def test_asking_for_nothing_gives_nothing(data):
    rows = KernelRows(data, Laplacian(), dtype=np.float64)
    assert rows.batch([]).shape == (0, 150)
    assert rows.block([], [1, 2]).shape == (0, 2) and rows.block([1], []).shape == (1, 0)
    np.testing.assert_array_equal(rows.product([1, 2], [], []), [0, 0])
    np.testing.assert_array_equal(rows.matvec(np.zeros(150)), np.zeros(150))
    assert rows.n_evaluations == rows.n_cached == 0


def test_single_row_and_single_feature(kernel, dtype, assert_close):
    rows = KernelRows([[2.0]], kernel, dtype=dtype)
    expected = evaluate(kernel, np.array([[2.0]]))
    assert rows.capacity == 1
    for value in (rows.batch([0, 0, 0]), rows.matvec([1.0]), rows.block([0], [0]), rows.diagonal()):
        assert_close(value, np.broadcast_to(expected.item(), value.shape), dtype)


@pytest.mark.parametrize("indices", [[150], [-1], [0, 3, 150], np.array([2**40])], ids=str)
def test_index_out_of_range_is_refused(data, indices):
    rows = KernelRows(data, Gaussian())
    for ask in (
        lambda: rows.batch(indices),
        lambda: rows.row(indices[-1]),
        lambda: rows.block(indices, [0]),
        lambda: rows.block([0], indices),
        lambda: rows.product(indices, [0], [1.0]),
        lambda: rows.product([0], indices, np.ones(len(indices))),
        lambda: rows.step(indices, np.ones(len(indices))),
    ):
        with pytest.raises(IndexError, match=r"row indices must be in \[0, 150\)"):
            ask()
    assert rows.n_evaluations == rows.n_cached == 0
    np.testing.assert_allclose(rows.row(0), evaluate(Gaussian(), data)[0], atol=1e-6)


def test_indices_that_may_not_be_written_are_read(data):
    indices = np.array([1, 2])
    indices.setflags(write=False)
    rows = KernelRows(data, Gaussian())
    assert rows.batch(indices).shape == (2, 150)
    assert rows.block(indices, indices).shape == (2, 2)


def test_vectors_must_have_one_entry_per_column(data):
    """Without the check the compiled loops read past the end of a short one."""
    for rows in (KernelRows(data, Gaussian()), KernelRows(np.eye(150), Precomputed())):
        for a in (np.ones(0), np.ones(1), np.ones(149), np.ones(151), np.ones((150, 1)), 1.0):
            with pytest.raises(ValueError, match="one entry"):
                rows.matvec(a)
            with pytest.raises(ValueError, match="one entry"):
                rows.product([0, 1], range(150), a)
            with pytest.raises(ValueError, match="one entry"):
                rows.step(range(150), a)


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (1, 2)])
def test_precomputed_matrix_must_be_square(shape):
    for matrix in (np.ones(shape), sparse.csr_matrix(np.ones(shape))):
        with pytest.raises(ValueError, match="must be square, got shape"):
            KernelRows(matrix, Precomputed())


@pytest.mark.parametrize(
    "settings", [{"dtype": "float16"}, {"cache_bytes": -1}, {"cache_bytes": float("nan")}], ids=str
)
def test_bad_settings_are_refused(data, settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        KernelRows(data, Gaussian(), **settings)


def test_rows_have_two_dimensions():
    with pytest.raises(ValueError, match="two dimensions"):
        KernelRows(np.ones(3), Gaussian())
