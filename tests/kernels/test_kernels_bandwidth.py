"""Length scales estimated from the data."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist

from kernbench.kernels import Laplacian, bandwidth, names
from kernbench.kernels.bandwidth import median_distance, scale
from kernbench.kernels.names import resolve_gamma, resolve_kernel


def wide_csr(X):
    """CSR with 64-bit indices."""
    X = sparse.csr_array(X)
    return sparse.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)


STORAGES = {
    "dense": np.asarray,
    "csr": sparse.csr_array,
    "csr of 64-bit indices": wide_csr,
    "float32": lambda X: X.astype(np.float32),
}
FEW, MANY = 5, bandwidth.GEMM_FEATURES + 1  # features: loops over pairs, and the matrix product


@pytest.fixture(params=[FEW, MANY], ids=["few features", "many features"])
def X(request):
    """Rows, half of whose entries are zero, far from the origin in the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(20.0, 2.0, size=(41, request.param)) * (rng.random((41, request.param)) < 0.5)
    return X.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
@pytest.mark.parametrize("metric, name", [("euclidean", "euclidean"), ("l1", "cityblock")])
def test_median_of_all_pairs(X, storage, metric, name):
    assert median_distance(storage(X), metric=metric) == pytest.approx(np.median(pdist(X, name)), rel=1e-12)


def test_rows_of_the_subset_are_drawn_without_replacement():
    """Of 30 rows 29 are drawn: all but one, none of them twice."""
    X = 2.0 ** np.arange(30.0)[:, None]
    without_one = [np.median(pdist(np.delete(X, k, axis=0))) for k in range(30)]
    for seed in range(5):
        assert median_distance(X, n_rows=29, random_state=seed) in without_one


def test_uniform_square():
    """The value that the doubly stochastic experiments start from."""
    X = np.random.default_rng(0).uniform(-5, 5, size=(2000, 2))
    assert median_distance(X) == pytest.approx(5.108, abs=1e-3)


def test_even_number_of_pairs_takes_the_mean_of_the_middle_two():
    X = np.array([[0.0], [1.0], [3.0], [10.0]])  # distances 1 2 3 | 7 9 10
    assert median_distance(X) == 5.0


def test_chunks_do_not_matter(X, monkeypatch):
    whole = median_distance(X)
    monkeypatch.setattr(bandwidth, "CHUNK_VALUES", 100)
    assert median_distance(X) == pytest.approx(whole, rel=1e-14)


def test_subset_is_drawn_by_the_seed():
    X = np.random.default_rng(1).normal(size=(500, 3))
    one, same, other = (median_distance(X, n_rows=100, random_state=seed) for seed in (0, 0, 1))
    assert one == same != other
    assert one == pytest.approx(np.median(pdist(X)), rel=0.1)
    assert median_distance(X, n_rows=500) == median_distance(X, n_rows=10**6) == np.median(pdist(X))


@pytest.mark.parametrize("n_features", [FEW, MANY])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("metric", ["euclidean", "l1"])
@pytest.mark.parametrize("n_rows", [1, 6])
def test_no_distance_is_one(n_features, storage, metric, n_rows):
    assert median_distance(storage(np.full((n_rows, n_features), np.pi)), metric=metric) == 1.0


def test_rows_are_not_changed(X):
    before = X.copy()
    median_distance(X)
    np.testing.assert_array_equal(X, before)


def test_unknown_metric():
    with pytest.raises(ValueError, match="unknown metric 'euclid'; did you mean 'euclidean'"):
        median_distance(np.eye(3), metric="euclid")


def test_laplacian_takes_the_median_of_l1_distances(X):
    median = np.median(pdist(X, "cityblock"))
    kernel = resolve_kernel("laplacian", X, gamma="median")
    assert isinstance(kernel, Laplacian) and kernel.sigma == pytest.approx(median, rel=1e-12)
    assert resolve_gamma("median", X, metric="l1") == pytest.approx(1 / median, rel=1e-12)
    # Half of the off-diagonal values are above 1/e.
    values = kernel(X)[np.triu_indices(len(X), 1)]
    assert np.median(values) == pytest.approx(np.exp(-1.0), rel=1e-6)


def test_scale_goes_through_chunks(X, monkeypatch):
    monkeypatch.setattr(bandwidth, "CHUNK_VALUES", 3 * X.shape[1])
    assert scale(X) == pytest.approx(1 / (X.shape[1] * X.var()), rel=1e-13)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("far", [1e7, 1e10, 1e30, 1e200])
@pytest.mark.parametrize("n_far", [1, 20])
def test_rows_afar_do_not_round_away_the_distances_of_the_others(far, n_far):
    """Squared norms from a mean between them hold no digit of these."""
    X = np.random.default_rng(0).normal(size=(60, MANY))
    X[:n_far] *= 2.0
    X[:n_far] += far
    assert median_distance(X) == pytest.approx(np.median(pdist(X)), rel=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("far", [1e7, 1e9, 1e200])
@pytest.mark.parametrize("n_zeros", [0, 15])
def test_a_column_afar_does_not_round_away_the_distances_of_sparse_rows(far, n_zeros):
    """Without zeros, the column can be centred; with some, it would not stay sparse."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, MANY)) * (rng.random((60, MANY)) < 0.2)
    X[:, 0] = far
    X[:n_zeros, 0] = 0.0
    assert median_distance(sparse.csr_matrix(X)) == pytest.approx(np.median(pdist(X)), rel=1e-6)


def test_mostly_equal_rows_and_few_features():
    X = np.zeros((50, MANY))
    X[:10] = np.random.default_rng(0).normal(size=(10, MANY))
    assert median_distance(X) == 1.0


def test_entries_stored_twice_are_added():
    X = sparse.csr_matrix((np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    assert scale(X) == scale(X.toarray())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_features", [FEW, MANY])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize(
    "gamma, size, problem",
    [("median", 1e-158, "small"), ("median", 1e-170, "small"), ("scale", 1e-160, "small"), ("scale", 1e153, "large")],
)
def test_rows_of_extreme_scales_are_refused(gamma, size, problem, storage, n_features):
    X = size * np.random.default_rng(0).normal(size=(30, n_features))
    with pytest.raises(ValueError, match=f"X (is|are) too {problem} for gamma='{gamma}': scale the features"):
        resolve_kernel("rbf", storage(X), gamma=gamma)


@pytest.mark.parametrize("median, problem", [(1.1e-162, "small"), (1e200, "large"), (np.inf, "large")])
def test_a_median_whose_square_is_0_or_too_large_is_refused(median, problem, monkeypatch):
    """As that of few rows can be, of which half the distances underflow: the mean of 0 and the least square root."""
    monkeypatch.setattr(names, "median_distance", lambda *_, **__: median)
    with pytest.raises(ValueError, match=f"X are too {problem} for gamma='median': scale the features"):
        resolve_gamma("median", np.eye(3))
