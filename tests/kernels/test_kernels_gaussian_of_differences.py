"""The Gaussian kernel of rows so far apart that squared norms round away all that tells them apart."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from kernbench import KernelSVC
from kernbench.kernels import Gaussian
from kernbench.kernels.blocks import block, matmul
from kernbench.kernels.rows import KernelRows
from kernbench.reference.kernels.formulas import gaussian


def _far_rows(seed, scale, d):
    """Rows of this scale; the second equals the first, the fourth differs from the third by half a unit."""
    X = np.random.default_rng(seed).normal(size=(40, d)) * scale
    X[2] = np.round(X[2])
    X[1], X[3] = X[0], X[2]
    X[3, 0] += 0.5
    return X


def _thin(X):
    """The same distances in sparse rows of 100 times as many columns."""
    return sparse.csr_matrix(np.kron(X, np.eye(1, 100)))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, _thin])
@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("scale", [1e8, 1e12])
def test_values_are_those_of_squared_differences(scale, d, form, global_random_seed):
    X = _far_rows(global_random_seed, scale, d)
    exact = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    rows = form(X)
    for values in (
        Gaussian()(rows),
        block(Gaussian(), rows, rows[:25]),
        matmul(Gaussian(), rows, rows[:25], np.eye(25), dtype="float64"),
        KernelRows(rows, Gaussian(), dtype=np.float64).batch(np.arange(40)),
        KernelRows(rows, Gaussian(), dtype=np.float64).row(3)[None],
    ):
        expected = exact[3:4] if len(values) == 1 else exact[:, : values.shape[1]]
        assert values == pytest.approx(expected, abs=1e-14)
    assert np.array_equal(np.diagonal(Gaussian()(rows)), np.ones(40))


def test_rows_in_float32_whose_kernel_is_narrow():
    X = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    X[1] = X[0]
    values = Gaussian(1e-3)(X)
    assert values.dtype == np.float32
    assert values == pytest.approx(np.exp(-0.5e6 * ((X[:, None] - X[None]).astype(float) ** 2).sum(axis=2)), abs=1e-3)
    assert np.array_equal(np.diagonal(values), np.ones(30))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, _thin])
def test_an_svm_of_far_rows_tells_them_apart(form):
    X = form(_far_rows(1, 1e8, 5))
    y = np.arange(40) // 2 % 2
    assert KernelSVC(gamma=1.0, C=10.0).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, _thin])
def test_parts_of_the_matrix_and_products_with_it(form, global_random_seed):
    X = _far_rows(global_random_seed, 1e8, 3)
    exact = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    rows, some, a = KernelRows(form(X), Gaussian(), dtype=np.float64), np.array([3, 0, 1, 2, 7]), np.arange(40.0)
    for values, expected in (
        (rows.block(some, some[:3]), exact[np.ix_(some, some[:3])]),
        (rows.product(some, np.arange(40), a), exact[some] @ a),
        (rows.step(some, a[:5]), exact[:, some] @ a[:5]),
        (rows.matvec(a), exact @ a),
    ):
        assert values == pytest.approx(expected, abs=1e-11)
    rows.restrict(np.arange(10))
    assert rows.step(some, a[:5]) == pytest.approx(exact[:10, some] @ a[:5], abs=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the bound by norms is no certificate
def test_working_sets_of_far_rows():
    X = 1e8 * np.random.default_rng(0).normal(size=(1300, 2)).round(2)
    X, y = np.r_[X, X + 0.5], np.r_[np.ones(1300), -np.ones(1300)]
    matrix = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    found = KernelSVC(gamma=0.5, C=10.0).fit(X, y)
    expected = KernelSVC("precomputed", C=10.0).fit(matrix, y)
    assert found.objective_ == pytest.approx(expected.objective_, rel=2e-3)


@pytest.mark.parametrize("d", [2, 30, 200])
@pytest.mark.parametrize("reach", [2.5, 10.0, 25.0, 40.0, 200.0, 1000.0])
def test_float32_is_float64_but_for_the_rounding_of_rows_where_the_length_scale_is_small(reach, d, global_random_seed):
    """`reach` is the largest distance from the centre in length scales; every second row has a near neighbour."""
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(200, d))
    sigma = np.linalg.norm(X[::2] - X[::2].mean(axis=0), axis=1).max() / reach
    X[1::2] = X[::2] + sigma / d**0.5 * rng.normal(size=(100, d))
    X = X.astype(np.float32)
    exact = Gaussian(sigma)(X.astype(np.float64))
    assert np.diagonal(exact, 1)[::2].mean() > 0.2
    # Inner products round squared norms, reach² / 2 in the exponent; differences round rows.
    limit = 2e-7 * (1.0 + d**0.5 / 3.0) * (4.0 + reach**2) if reach < 20 else 2e-7 * reach
    rows = KernelRows(X, Gaussian(sigma), dtype=np.float32)
    for values in (Gaussian(sigma)(X), rows.batch(np.arange(200)), rows.block(np.arange(200), np.arange(200))):
        assert values.dtype == np.float32
        assert np.abs(values - exact).max() <= limit


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_narrow_kernel_of_sparse_rows_is_computed_in_float64_unless_float32_is_asked_for():
    X = sparse.random(2600, 40, 0.1, format="csr", random_state=0)
    X.data += 1.0
    y = np.arange(2600) % 2
    narrow = {"gamma": 200.0, "max_iter": 10}
    assert KernelSVC(**narrow).fit(X, y).dtype_ == "float64"
    assert KernelSVC(**narrow, dtype="float32").fit(X, y).dtype_ == "float32"
    assert KernelSVC(gamma=1.0, max_iter=10).fit(X, y).dtype_ == "float32"
    dense = np.random.default_rng(0).normal(size=(2600, 5))  # squared differences are accurate enough
    assert KernelSVC(**narrow).fit(dense, y).dtype_ == "float32"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_queries", [3, 20, 70])
@pytest.mark.parametrize("d", [800, 20_000])
def test_thin_rows_have_the_values_of_dense_ones(d, n_queries, dtype, global_random_seed):
    """Some of them afar, each second one with a neighbour; panels of few, of many, and of the stored features only."""
    rng = np.random.default_rng(global_random_seed)
    X = sparse.random(70, d, 8 / d, format="csr", random_state=global_random_seed)
    X.data *= np.repeat(10.0 ** rng.uniform(-1, 6, size=70), np.diff(X.indptr))
    X = X[np.arange(70) // 2 * 2]
    X.data += 0.1 * rng.normal(size=X.nnz)
    X = X.astype(dtype)
    used = X[:, np.unique(X.indices)].toarray().astype(np.longdouble)
    exact = np.exp(-0.5 * np.square(used[:n_queries, None] - used).sum(axis=2))
    assert (np.diagonal(exact, 1)[::2] > 0.5).any()
    values = block(Gaussian(), X[:n_queries], X, dtype=dtype)
    assert values == pytest.approx(exact.astype(float), abs=2e-9 if dtype == "float64" else 0.02)


def test_both_twins_subtract_sparse_rows_afar(global_random_seed):
    X = _far_rows(global_random_seed, 1e8, 4)
    for rows in (sparse.csr_matrix(X), _thin(X)):
        assert gaussian(Gaussian(), rows, rows) == pytest.approx(Gaussian()(rows), abs=1e-14)


def test_thin_rows_of_a_narrow_kernel_stay_sparse():
    X = sparse.random(200, 40_000, 1e-3, format="csr", random_state=0)
    y = np.arange(200) % 2
    model = KernelSVC(gamma=1e7).fit(X, y)
    tracemalloc.start()
    try:
        model.fit(X, y).decision_function(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * X.shape[0] * X.shape[1] / 8
