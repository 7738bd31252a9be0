"""Laws of the choices of landmarks."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster
from threadpoolctl import threadpool_limits

from kernbench.features.nystroem import landmarks
from kernbench.features.nystroem.leverage import ridge_leverage_scores, ridge_of_dimension
from kernbench.kernels import Callable, Gaussian, Linear

rng = np.random.default_rng


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small matrices do not gain from two threads, and are slower on a busy machine."""
    with threadpool_limits(1):
        yield


def exact_scores(K, ridge):
    return np.linalg.solve(K + ridge * np.eye(len(K)), K).diagonal()


# --- uniform and stratified ---------------------------------------------------------------------------------


def test_uniform_draws_each_row_equally_often():
    X = np.zeros((12, 1))
    counts = np.zeros(12)
    for seed in range(3000):
        chosen = landmarks.uniform(X, 4, rng(seed))
        assert len(set(chosen)) == 4 and np.all(np.diff(chosen) > 0)
        counts[chosen] += 1
    # Binomial(3000, 1/3): mean 1000, standard deviation 26.
    assert np.all(np.abs(counts - 1000) < 5 * 26)


@pytest.mark.parametrize("total", [1, 2, 3, 4, 10, 37, 99, 100])
def test_stratified_follows_the_sizes_of_the_classes(total):
    y = np.repeat(["many", "some", "few"], [80, 17, 3])
    chosen = landmarks.stratified(y, total, rng(0))
    assert len(set(chosen)) == len(chosen) == total
    counts = {label: np.sum(y[chosen] == label) for label in ("many", "some", "few")}
    if total >= 3:
        assert min(counts.values()) >= 1
    for label, count in counts.items():
        share = total * np.mean(y == label)
        assert abs(count - share) <= 1.5 or count == 1


def test_shares_add_up_and_fit():
    generator = rng(0)
    for _ in range(500):
        sizes = generator.integers(1, 30, size=generator.integers(1, 8))
        total = int(generator.integers(1, sizes.sum() + 1))
        counts = np.array(landmarks.shares(sizes, total))
        assert counts.sum() == total and np.all(counts >= (total >= len(sizes))) and np.all(counts <= sizes)


# --- k-means ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_k_means_finds_separate_clusters(storage):
    centres = np.array([[0.0, 0.0, 1.0], [50.0, 0.0, 0.0], [0.0, 90.0, 0.0]])
    X = np.vstack([c + rng(i).random((30, 3)) for i, c in enumerate(centres)])
    found = [landmarks.kmeans(storage(X), 3, rng(seed)) for seed in range(5)]
    spreads = []
    for points in found:
        assert type(points) is type(storage(X))
        points = points.toarray() if sparse.issparse(points) else points
        spreads.append(np.square(X[:, None] - points).sum(axis=2).min(axis=1).sum())
        assert np.all(points >= X.min(axis=0)) and np.all(points <= X.max(axis=0))
    clusters = np.split(X, 3)
    assert min(spreads) < 1.01 * sum(np.square(cluster - cluster.mean(axis=0)).sum() for cluster in clusters)


def test_k_means_of_as_many_clusters_as_rows_are_the_rows():
    X = rng(0).normal(size=(20, 3))
    points = landmarks.kmeans(X, 20, rng(0))
    np.testing.assert_allclose(points[np.lexsort(points.T)], X[np.lexsort(X.T)], atol=1e-12)


def test_k_means_looks_at_some_rows_only(monkeypatch):
    shown = []

    class Watched(cluster.KMeans):
        def fit(self, X):
            shown.append(len(X))
            return super().fit(X)

    monkeypatch.setattr(cluster, "KMeans", Watched)
    landmarks.kmeans(rng(0).normal(size=(300, 2)), 5, rng(0))
    assert shown == [100]


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_k_means_rounds_no_centre_out_of_the_range_of_its_column(storage, monkeypatch):
    """There a kernel may be undefined, such as one of square roots below 0."""

    class Rounded(cluster.KMeans):
        def fit(self, X):
            super().fit(X)
            self.cluster_centers_ = np.nextafter(self.cluster_centers_, self.cluster_centers_ - self.side)
            return self

    monkeypatch.setattr(cluster, "KMeans", Rounded)
    for side in (-1.0, 1.0):
        Rounded.side = side
        points = landmarks.kmeans(storage(np.full((30, 2), 0.1)), 2, rng(0))
        assert np.all((points.toarray() if sparse.issparse(points) else points) == 0.1)


# --- leverage -----------------------------------------------------------------------------------------------


def test_scores_of_few_rows_are_exact():
    X = rng(0).normal(size=(150, 3))
    scores, ridge = ridge_leverage_scores(Gaussian(1.0), X, 40, rng(0))
    np.testing.assert_allclose(scores, exact_scores(Gaussian(1.0)(X), ridge), rtol=1e-8)
    assert scores.sum() == pytest.approx(10.0, rel=1e-9)  # a quarter of the landmarks


@pytest.mark.parametrize("seed", range(2))
def test_scores_of_many_rows_are_close(seed):
    """Twenty small clusters beside a large one: the rare rows have larger scores in the sample, too."""
    sizes = [1500] + 20 * [10]
    places = rng(0).normal(size=(21, 4)) * 8
    X = np.vstack([places[i] + rng(i).normal(size=(size, 4)) for i, size in enumerate(sizes)])
    scores, ridge = ridge_leverage_scores(Gaussian(2.0), X, 100, rng(seed))
    exact = exact_scores(Gaussian(2.0)(X), ridge)
    assert exact.sum() == pytest.approx(25, rel=0.15)  # a quarter of the landmarks
    assert scores.sum() == pytest.approx(exact.sum(), rel=0.2)
    assert np.corrcoef(np.log(scores), np.log(exact))[0, 1] > 0.95
    assert scores[1500:].mean() > 3 * scores[:1500].mean()


def test_leverage_finds_rare_clusters_that_uniform_misses():
    places = rng(0).normal(size=(11, 4)) * 20
    sizes = [2000] + 10 * [4]
    X = np.vstack([places[i] + rng(i).normal(size=(size, 4)) for i, size in enumerate(sizes)])
    cluster = np.repeat(np.arange(11), sizes)

    def n_found(choose):
        return np.mean([len(set(cluster[choose(seed)])) for seed in range(5)])

    assert n_found(lambda seed: landmarks.leverage(Gaussian(3.0), X, 60, rng(seed))) > 6
    assert n_found(lambda seed: landmarks.uniform(X, 60, rng(seed))) < 4


def test_draws_follow_the_scores(monkeypatch):
    scores = np.array([0.05, 0.1, 0.25, 0.6])
    monkeypatch.setattr(landmarks, "ridge_leverage_scores", lambda *args: (scores, 1.0))
    first = np.zeros(4)
    for seed in range(4000):
        first[landmarks.leverage(None, np.zeros((4, 1)), 1, rng(seed))] += 1
    error = np.sqrt(scores * (1 - scores) / 4000)
    assert np.all(np.abs(first / 4000 - scores) < 5 * error)


def test_ridge_gives_the_effective_dimension():
    s = 2.0 ** -np.arange(40)
    for dimension in (0.5, 3.0, 20.0):
        ridge = ridge_of_dimension(s, dimension)
        assert np.sum(s / (s + ridge)) == pytest.approx(dimension, rel=1e-10)
    assert ridge_of_dimension(np.ones(3), 5.0) == pytest.approx(1e-10)  # no ridge gives more than the rank
    assert ridge_of_dimension(np.zeros(3), 1.0) == 1.0


def test_scores_where_nothing_can_be_told_apart():
    for kernel, X in ((Gaussian(1.0), np.ones((300, 2))), (Linear(), np.zeros((300, 2)))):
        scores, _ = ridge_leverage_scores(kernel, X, 10, rng(0))
        assert np.all(np.isfinite(scores)) and np.all(scores > 0)
        assert len(set(landmarks.leverage(kernel, X, 10, rng(0)))) == 10


def test_a_python_kernel_is_never_shown_all_rows_at_once():
    largest = []

    def function(A, B):
        largest.append(len(A) * len(B))
        return A @ B.T

    X = rng(0).normal(size=(1000, 3))
    ridge_leverage_scores(Callable(function), X, 20, rng(0))
    assert max(largest) <= 1000 * 300
