"""Results do not depend on the number of threads, bit for bit."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from kernbench.kernels._thread_pool import call_each
from kernbench.kernels.blocks import block, matmul
from kernbench.kernels.rows import KernelRows
from kernbench.kernels.threads import single_threaded_blas


@pytest.fixture(scope="module")
def results(thin_rows):
    """A function that computes everything that the engine distributes over threads, in sizes for which it does."""

    def compute(kernel, dtype, thin, n_threads):
        X = thin_rows(1100, 24, density=0.1 if thin else 1.0)
        X = sparse.csr_matrix(X) if thin else X
        A = np.random.default_rng(0).normal(size=(1100, 3))
        with threadpool_limits(n_threads, user_api="openmp"):
            rows, sums = KernelRows(X, kernel, dtype=dtype), np.zeros((3, 1100))
            rows.add_products(np.arange(0, 1100, 2), A[::2], sums)
            return {
                "block": block(kernel, X[:600], X, dtype=dtype),
                "matmul": matmul(kernel, X, X, A[:, 0], dtype=dtype),
                "matmul of many": matmul(kernel, X, X, A, dtype=dtype),
                "rows": rows.batch(np.arange(0, 1100, 3)),
                "matvec": rows.matvec(A[:, 1]),
                "product": rows.product(np.arange(700), np.arange(5, 900), A[:895, 2]),
                "sums of rows": sums,
            }

    return compute


# The other two pairs: `test_kernels_catalogue`.
@pytest.mark.parametrize("dtype, thin", [(np.float64, False), (np.float32, True)], ids=["dense", "sparse"])
def test_threads_agnosticism(kernel, dtype, thin, results):
    one, two, three = (results(kernel, dtype, thin, n_threads) for n_threads in (1, 2, 3))
    for what in one:
        np.testing.assert_array_equal(one[what], two[what], err_msg=what)
        np.testing.assert_array_equal(one[what], three[what], err_msg=what)


def test_blas_is_single_threaded_inside_and_as_before_outside():
    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with single_threaded_blas():
            assert set(threads()) <= {1}
            with single_threaded_blas():
                assert set(threads()) <= {1}
            assert set(threads()) <= {1}
        assert threads() == before


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_a_function_is_called_once_for_each_item(n_threads):
    for n in (0, 1, 2, 20):
        called = []
        call_each(called.append, range(n), n_threads)
        assert sorted(called) == list(range(n))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_of_a_call_is_raised(n_threads):
    def fail(item):
        raise KeyboardInterrupt(item)

    with pytest.raises(KeyboardInterrupt):
        call_each(fail, range(5), n_threads)
    called = []
    call_each(called.append, range(5), n_threads)
    assert len(called) == 5
