"""`out=`: blocks written to memory of the caller's; and the one pass that prepares rows for the engine."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from kernbench.kernels import Callable, Cauchy, Gaussian, Linear, Matern, Precomputed
from kernbench.kernels.blocks import block
from kernbench.kernels.engine.operands.prepared import prepare

KERNELS = [Gaussian(2.0), Matern(0.5), Cauchy(), Gaussian() + Cauchy(), Callable(lambda A, B: np.asarray(A @ B.T))]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_a_block_is_written_to_out(kernel, dtype):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(30, 5)), rng.normal(size=(40, 5))
    for rows in ((X, Z), (X,), (X, X)):
        expected = kernel(*rows, dtype=dtype)
        out = np.full(expected.shape, np.nan, dtype=dtype)
        assert kernel(*rows, out=out) is out  # whose precision is that of the result
        np.testing.assert_array_equal(out, expected)
        assert block(kernel, *rows, dtype=dtype, out=out[:]).base is out


def test_a_precomputed_block_is_written_to_out(dtype):
    K = np.random.default_rng(0).normal(size=(4, 6))
    for given in (K, sparse.csr_matrix(K)):
        out = np.empty((4, 6), dtype=dtype)
        assert block(Precomputed(), given, out=out) is out
        np.testing.assert_array_equal(out, K.astype(dtype))


@pytest.mark.parametrize(
    "out, message",
    [
        (np.empty((3, 4)), "shape"),
        (np.empty((3, 3), dtype=np.int64), "dtype must be float32 or float64"),
        (np.empty((3, 6))[:, ::2], "C-contiguous"),
        (np.empty((3, 3), order="F"), "C-contiguous"),
        (np.broadcast_to(np.zeros(()), (3, 3)), "C-contiguous"),
        ([[0.0] * 3] * 3, "C-contiguous"),
    ],
)
def test_what_cannot_be_written_to_is_refused(out, message):
    with pytest.raises(ValueError, match=message):
        Gaussian()(np.ones((3, 2)), out=out)


def test_out_of_another_precision_than_asked_is_refused():
    with pytest.raises(ValueError, match="out must be a float32 array"):
        Gaussian()(np.ones((3, 2)), dtype=np.float32, out=np.empty((3, 3)))


@pytest.mark.parametrize("given", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(0, 5), (7, 0), (1, 1), (50, 3), (41, 27)])
@pytest.mark.parametrize("kernel", [Gaussian(0.3), Matern(2.2, 1.7)], ids=repr)
def test_rows_are_prepared_in_one_pass(kernel, shape, given, dtype):
    X = (np.random.default_rng(1).normal(size=shape) * 3 + 100).astype(given)
    rows = prepare(kernel, X, np.dtype(dtype))
    expected = ((X.astype(np.float64) - rows.centre) / kernel.unit).astype(dtype)
    np.testing.assert_array_equal(rows.data, expected)
    squares = np.square(expected.astype(np.float64)).sum(axis=1)
    np.testing.assert_allclose(rows.terms, kernel.norm_factor * squares, rtol=4 * np.finfo(dtype).eps)


def test_other_layouts_are_prepared_alike(dtype):
    X = np.random.default_rng(2).integers(-9, 9, size=(33, 20))
    expected = prepare(Gaussian(3.0), X.astype(np.float64), np.dtype(dtype))
    read_only = X.astype(np.float64)
    read_only.flags.writeable = False
    for given in (X, X.astype(np.int8), np.asfortranarray(X, dtype=np.float64), X.astype(">f8"), read_only):
        rows = prepare(Gaussian(3.0), given, np.dtype(dtype))
        np.testing.assert_array_equal(rows.data, expected.data)
        np.testing.assert_array_equal(rows.terms, expected.terms)


def test_threads_prepare_the_same_rows(dtype):
    X = np.random.default_rng(4).normal(size=(2100, 240))  # fewer values are not worth threads
    found = []
    for n_threads in (1, 3):
        with threadpool_limits(n_threads, user_api="openmp"):
            found.append(prepare(Gaussian(3.0), X, np.dtype(dtype)))
    np.testing.assert_array_equal(found[0].data, found[1].data)
    np.testing.assert_array_equal(found[0].terms, found[1].terms)


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_rows_out_of_range_are_refused_and_nan_goes_its_way():
    X = np.ones((4, 4))
    X[1, 2] = np.nan
    rows = prepare(Gaussian(), X, np.dtype(np.float32), like=prepare(Gaussian(), np.ones((1, 4)), np.dtype(np.float32)))
    assert np.isnan(rows.terms).tolist() == [False, True, False, False]
    X[2, 0] = 1e30
    with pytest.raises(ValueError, match="too large for this kernel in float32"):
        prepare(Gaussian(), X, np.dtype(np.float32))


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(20.0) + Cauchy(20.0)], ids=["rows as they are", "prepared rows"])
def test_out_may_be_the_rows_themselves(kernel):
    """More than one tile: a tile would overwrite rows that the next one reads."""
    X = np.random.default_rng(3).normal(size=(600, 600))
    expected = kernel(X)
    for rows in ((), (X.copy(),)):
        out = X.copy()
        assert kernel(out, *rows, out=out) is out
        np.testing.assert_array_equal(out, expected)
    memory = np.r_[X, X]
    np.testing.assert_array_equal(kernel(X, memory[300:900], out=memory[:600]), kernel(X, np.r_[X[300:], X[:300]]))
