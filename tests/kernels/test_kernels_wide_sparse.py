"""CSR rows of very many features: the values of narrow rows, in memory that does not grow with d."""

import numpy as np
import pytest
from scipy import sparse

from kernbench.kernels import ArcCosine, Gaussian, Laplacian, Linear, Matern
from kernbench.kernels.rows import KernelRows

N, D = 150, 1_000_003


@pytest.fixture(scope="module")
def wide_and_narrow():
    """Rows of a million features, and the same rows without the features that nobody stores."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.choice(D, 400, replace=False))
    values = np.where(rng.random((N, 400)) < 0.06, rng.uniform(0.1, 1.0, (N, 400)), 0.0)
    values[7], values[9] = 0.0, values[8]
    narrow = sparse.csr_matrix(values)
    wide = sparse.csr_matrix((narrow.data, columns[narrow.indices], narrow.indptr), shape=(N, D))
    return wide, narrow


KERNELS = [Gaussian(1.5), Linear(), Laplacian(2.0), Matern(0.5, 2.0), ArcCosine(0)]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_that_nobody_stores_change_nothing(wide_and_narrow, kernel, dtype):
    tolerance = {"rtol": 1e-6, "atol": 1e-6} if dtype == np.float32 else {"rtol": 1e-13, "atol": 1e-13}
    expected = kernel(wide_and_narrow[1].toarray())
    for count in (1, 3, 5, 64, 130):
        chosen = np.random.default_rng(count).permutation(N)[:count]
        wide, narrow = (KernelRows(X, kernel, dtype=dtype) for X in wide_and_narrow)
        values = wide.batch(chosen)
        np.testing.assert_allclose(values, narrow.batch(chosen), **tolerance)
        np.testing.assert_allclose(values, expected[chosen], atol=2e-5 if dtype == np.float32 else 1e-10)
    a = np.random.default_rng(1).normal(size=N)
    np.testing.assert_allclose(wide.matvec(a), expected @ a, atol=1e-3 if dtype == np.float32 else 1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_one_by_one_are_those_of_a_batch(wide_and_narrow, kernel, dtype):
    X = wide_and_narrow[1]
    batch = KernelRows(X, kernel, dtype=dtype).batch(np.arange(N))
    one_by_one = KernelRows(X, kernel, dtype=dtype)
    rows = np.array([one_by_one.row(i) for i in range(N)])
    tolerance = 1e-6 if dtype == np.float32 else 1e-14
    np.testing.assert_allclose(rows, batch, rtol=2 * tolerance, atol=tolerance)


def test_memory_of_a_batch_does_not_grow_with_the_features(run_with_peak):
    """64 rows side by side of two million features, dense, would take 512 MB."""
    code = """
import numpy as np
from scipy import sparse
from kernbench.kernels import Gaussian
from kernbench.kernels.rows import KernelRows
rng = np.random.default_rng(0)
columns, starts = rng.integers(0, 2_000_000, 3000), np.arange(0, 3001, 30)
X = sparse.csr_matrix((np.ones(3000), columns, starts), shape=(100, 2_000_000))
X.sum_duplicates()
rows = KernelRows(X, Gaussian(3.0))
before = peak()
rows.batch(np.arange(64))
print(peak() - before)
"""
    assert int(run_with_peak(code)) < 100e6
