"""Block b of features is a function of (seed, b), in any order, on any number of threads."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import kernbench
from kernbench.features import RandomFeatures, feature_block, random_features
from kernbench.features.maps.forms import terms_of
from kernbench.kernels.functions import (
    ArcCosine,
    ChiSquared,
    DotProduct,
    ExponentialSemigroup,
    Gaussian,
    Hellinger,
    Intersection,
    JensenShannon,
    Laplacian,
    Matern,
    Polynomial,
    SkewedIntersection,
)
from kernbench.reference.features import random_features as reference


@pytest.fixture
def make(kind):
    """A function that makes a transformer of eight blocks a term, not fitted."""

    def make(**options):
        settings = {"form": kind.form, "draws": kind.draws, "block_size": 16, "random_state": 7, **options}
        return RandomFeatures(kind.kernel, 128 * len(terms_of(kind.kernel)), **settings)

    return make


def test_columns_of_the_transformer_are_blocks(kind, make):
    X = kind.rows(5)
    if len(terms_of(kind.kernel)) > 1:
        # A sum's columns go to its terms one after the other, in a block as in the whole. Pairs are exact at x = z.
        assert kind.form == "pair"
        block = feature_block(7, 3, 16, X, kind.kernel, form=kind.form, draws=kind.draws)
        np.testing.assert_allclose(np.einsum("ij,ij->i", block, block), kind.kernel.diag(X), rtol=1e-12)
        return
    Z = make().fit(X).transform(X)
    for b in range(8):
        block = feature_block(7, b, 16, X, kind.kernel, form=kind.form, draws=kind.draws)
        np.testing.assert_allclose(Z[:, 16 * b : 16 * b + 16], block / np.sqrt(8), rtol=0, atol=1e-12 * np.abs(Z).max())


def test_order_of_blocks_does_not_matter(kind):
    """Nor do the features depend on the calling thread."""
    X = kind.rows(5)
    m = 16 * len(terms_of(kind.kernel))

    def block(b):
        return feature_block(3, b, m, X, kind.kernel, form=kind.form, draws=kind.draws)

    forwards = [block(b) for b in range(5)]
    with ThreadPoolExecutor(3) as pool:
        backwards = list(pool.map(block, reversed(range(5))))
    np.testing.assert_array_equal(forwards, backwards[::-1])
    assert not np.array_equal(forwards[0], forwards[1])


def test_threads_agnosticism(kind, make):
    X = kind.rows(4000, d=24 if kind.form == "tensor-sketch" else 4)  # fewer values are not worth threads
    results = []
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads):
            results.append(make().fit(X).transform(X))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_features_of_a_row_do_not_depend_on_the_others(kind, make):
    X = kind.rows(300)
    features = make().fit(X)
    Z = features.transform(X)
    for rows in (slice(0, 1), slice(17, 150), slice(299, 300)):
        np.testing.assert_allclose(features.transform(X[rows]), Z[rows], rtol=0, atol=1e-12 * np.abs(Z).max())


def test_dropped_frequencies_come_back(kind, make, monkeypatch):
    X = kind.rows(40)
    features = make().fit(X)
    Z = features.transform(X)
    assert features._drawn and not features.drop_frequencies()._drawn
    np.testing.assert_array_equal(features.transform(X), Z)
    frugal = make(keep_frequencies=False).fit(X)
    np.testing.assert_array_equal(frugal.transform(X), Z)
    monkeypatch.setattr(random_features, "CHUNK_BYTES", 1)  # a block at a time
    np.testing.assert_array_equal(frugal.transform(X), Z)
    assert not frugal._drawn


def test_chunk_size_agnosticism(kind, make, monkeypatch):
    X = kind.rows(700)
    features = make().fit(X)
    Z = features.transform(X)
    monkeypatch.setattr("kernbench.features._transformer.CHUNK_BYTES", 1)  # 256 rows at a time
    np.testing.assert_allclose(features.transform(X), Z, rtol=0, atol=1e-12 * np.abs(Z).max())


def test_pickle_copy_and_file_hold_the_seed(kind, make, tmp_path):
    X = kind.rows(30)
    features = make().fit(X)
    Z = features.transform(X)
    assert features._drawn  # but not what was drawn
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(features)).transform(X), Z)
    features.save(tmp_path / "features.npz")
    loaded = kernbench.load(tmp_path / "features.npz")
    np.testing.assert_array_equal(loaded.transform(X), Z)
    assert loaded.get_params() == features.get_params()
    np.testing.assert_array_equal(clone(features).fit(X).transform(X), Z)


def test_files_and_pickles_are_small(tmp_path):
    X = np.random.default_rng(0).normal(size=(10, 300))
    features = RandomFeatures(Gaussian(3.0), 4096, random_state=0).fit(X)
    features.transform(X)
    features.save(tmp_path / "features.npz")
    assert (tmp_path / "features.npz").stat().st_size < 10_000
    assert len(pickle.dumps(features)) < 10_000


@pytest.mark.parametrize("kernel", [Gaussian(), Matern(), DotProduct(), Polynomial()])
def test_more_features_begin_with_the_fewer(kernel):
    X = np.random.default_rng(0).normal(size=(6, 3)) / 2
    few, many = (RandomFeatures(kernel, m, block_size=32, random_state=1).fit_transform(X) for m in (64, 256))
    np.testing.assert_allclose(many[:, :64] * 2, few, rtol=1e-12)


def test_seeds():
    X = np.random.default_rng(0).normal(size=(6, 3))

    def features(random_state):
        fitted = RandomFeatures(Gaussian(), 64, random_state=random_state).fit(X)
        return fitted.seed_, fitted.transform(X)

    assert features(5)[0] == 5
    assert features(np.int64(5))[0] == 5
    assert features(2**64 - 1)[0] == 2**64 - 1
    np.testing.assert_array_equal(features(5)[1], features(5)[1])
    for kind in (np.random.RandomState, np.random.default_rng):
        assert features(kind(3))[0] == features(kind(3))[0] != features(kind(4))[0]
    assert features(None)[0] != features(None)[0]


def test_parts_of_a_product_are_independent():
    """The same kernel twice is its square: with common frequencies it would be another kernel."""
    X = np.array([[0.0, 0.0], [1.0, 0.5]])
    Z = RandomFeatures(Laplacian() * Laplacian(), 2**16, random_state=0).fit(X).transform(X)
    assert abs(Z[0] @ Z[1] - np.exp(-3.0)) < 0.02


def test_terms_of_a_sum_have_their_own_draws():
    X = np.random.default_rng(0).normal(size=(5, 3))
    Z = RandomFeatures(Gaussian() + Gaussian(), 64, random_state=0).fit(X).transform(X)
    assert np.abs(Z[:, :32] - Z[:, 32:]).max() > 0.1


def test_zero_entries_of_histograms_make_zero_features():
    X = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.5]])
    Z = RandomFeatures(ChiSquared(), 12, random_state=0).fit(X).transform(X)
    assert not Z[0].any()
    assert not Z[1].reshape(4, 3)[:, 1].any()
    stored = sparse.csr_matrix((np.array([0.0, 0.5, 0.0, 0.5]), [0, 0, 1, 2], [0, 1, 4]), shape=(2, 40))
    features = RandomFeatures(ChiSquared(), 80, random_state=0).fit(stored)
    np.testing.assert_allclose(features.transform(stored), features.transform(stored.toarray()), atol=1e-12)
    assert stored.nnz == 4


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_step_features_of_a_row_of_zeros_have_the_products_of_the_kernel(storage, dtype):
    """1/2 with itself, and with another row half of the positive features."""
    X = np.array([[0.0, 0.0, 0.0], [0.5, -1.0, 2.0]], dtype=dtype)
    Z = feature_block(0, 0, 64, storage(X), ArcCosine(0), form="random")
    np.testing.assert_allclose(Z[0], 0.5 * np.sqrt(2 / 64), rtol=1e-6)
    np.testing.assert_allclose(Z[0] @ Z[0], ArcCosine(0)(X[:1])[0, 0], rtol=1e-6)
    np.testing.assert_allclose(Z[0] @ Z[1], np.count_nonzero(Z[1]) / 64, rtol=1e-6)
    np.testing.assert_allclose(Z, reference.feature_block(0, 0, 64, X, ArcCosine(0), form="random"), rtol=1e-6)


# The layout of counters is part of the file format: a saved seed must always give the same features.
KNOWN = [
    (Gaussian(0.7), "pair", "iid", [0.6447763, 0.69964762, -0.2902818, 0.10243635]),
    (Gaussian(0.7), "phase", "orthogonal", [-0.69985272, 0.62453604, -0.53364518, -0.68149427]),
    (Gaussian(0.7), "phase", "fastfood", [-0.70593886, 0.63144411, 0.14409843, -0.44470987]),
    (Matern(1.5, 0.9), "pair", "iid", [0.60988239, 0.70264252, -0.35783162, 0.07933149]),
    (Laplacian(0.7), "phase", "iid", [-0.03653531, -0.69890852, 0.1928804, 0.6177951]),
    (SkewedIntersection(0.3), "phase", "iid", [0.6973185, 0.3100595, -0.19562289, 0.05124657]),
    (JensenShannon(), "scalar", "iid", [0.58315749, 0.33940931, 0.12996681, -0.11241156]),
    (*(Intersection(), "vector", "iid"), [0.44689808, -0.64582616, -0.43958352, 0.0167959, 0.28793848, -0.42043588]),
    (ExponentialSemigroup(0.4), "random", "iid", [0.44042606, 0.0, 0.00576213, 0.4243806]),
    (ArcCosine(2), "random", "iid", [0.0, 0.00732286, 0.0, 0.15865863]),
    (Polynomial(3, 0.5, 1.0), "tensor-sketch", "iid", [-1.31690447, -1.08044834, -0.62856125, -0.34423227]),
    (Polynomial(3, 0.5, 1.0), "random-degree", "iid", [0.01421653, -0.06880004, 0.06880004, 0.91855865]),
    (Hellinger(), "random", "iid", [0.27302206, -0.17419153, -0.17419153, 0.88129831]),
    (Gaussian(0.7) * Polynomial(2), "pair", "iid", [0.14043228, 0.10480721, -0.06322338, 0.01534497]),
]


@pytest.mark.parametrize("kernel, form, draws, expected", KNOWN)
def test_features_of_a_seed_never_change(kernel, form, draws, expected):
    X = np.array([[0.2, 0.5, 0.37]])
    Z = feature_block(42, 3, len(expected), X, kernel, form=form, draws=draws)
    np.testing.assert_allclose(Z[0], expected, rtol=0, atol=1e-7)
