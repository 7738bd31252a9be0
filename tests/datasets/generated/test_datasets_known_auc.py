"""Sets of known population AUC: the constants agree with the formulas, and the draws with the constants."""

import tracemalloc

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from sklearn.metrics import roc_auc_score

from kernbench.datasets import describe, load
from kernbench.datasets.generated import known_auc as roc

BEST_SCORES = {
    "roc-linear": lambda X: X[:, 0] + X[:, 1],
    "roc-radial": lambda X: X[:, 0] ** 2 + X[:, 1] ** 2,
    "roc-large": lambda X: X @ roc.large_weights(X.shape[1]),
}


def _normal_2(s):
    return np.exp(-(s**2) / 4) / np.sqrt(4 * np.pi)


def _chi_squared_2(s):
    return np.exp(-s / 2) / 2


POPULATIONS = [
    (roc.LINEAR_INTERCEPT, roc.LINEAR_AUC, _normal_2, -15, 15),
    (roc.RADIAL_INTERCEPT, roc.RADIAL_AUC, _chi_squared_2, 0, 80),
]


@pytest.mark.parametrize(("intercept", "auc", "density", "low", "high"), POPULATIONS, ids=["linear", "radial"])
def test_constants_are_those_of_the_quadrature(intercept, auc, density, low, high):
    def negatives_below(s):
        return quad(lambda t: density(t) * ndtr(-intercept - t), low, s, epsabs=1e-10)[0]

    positive = quad(lambda s: density(s) * ndtr(intercept + s), low, high, epsabs=1e-10, points=[2])[0]
    assert positive == pytest.approx(0.2, abs=1e-6)
    pairs = quad(lambda s: density(s) * ndtr(intercept + s) * negatives_below(s), low, high, epsabs=1e-9, points=[2])[0]
    assert pairs / (positive * (1 - positive)) == pytest.approx(auc, abs=1e-6)


@pytest.mark.parametrize("name", BEST_SCORES)
def test_the_best_score_has_the_population_auc(name):
    dataset = load(name, n_train=200_000, n_test=10)
    assert dataset.population_auc == describe(name).population_auc
    # The standard error of an AUC over 200,000 examples is about 0.0008, of the share 0.0009.
    auc = roc_auc_score(dataset.y_train, BEST_SCORES[name](dataset.X_train))
    assert auc == pytest.approx(dataset.population_auc, abs=0.003)
    assert np.mean(dataset.y_train == 1) == pytest.approx(0.2, abs=0.003)


@pytest.mark.parametrize("name", BEST_SCORES)
def test_all_seeds_share_one_test_set(name):
    first, other = (load(name, n_train=50 + seed, seed=seed) for seed in (0, 7))
    np.testing.assert_array_equal(first.X_test, other.X_test)
    np.testing.assert_array_equal(first.y_test, other.y_test)
    assert not np.array_equal(first.X_train[:50], other.X_train[:50])
    assert "the test part with seed 0 always" in other.description


@pytest.mark.parametrize("name", ["roc-linear", "roc-radial"])
def test_noise_features_leave_the_others_and_the_labels_alone(name):
    plain, noisy = load(name, n_test=100), load(name, n_test=100, n_features=5)
    assert noisy.X_train.shape == (5000, 5)
    np.testing.assert_array_equal(noisy.X_train[:, :2], plain.X_train)
    np.testing.assert_array_equal(noisy.y_train, plain.y_train)
    np.testing.assert_array_equal(noisy.y_test, plain.y_test)
    noise = noisy.X_train[:, 2:]
    np.testing.assert_allclose(noise.mean(axis=0), 0, atol=0.06)
    np.testing.assert_allclose(np.corrcoef(noisy.X_train.T), np.eye(5), atol=0.06)


@pytest.mark.parametrize("n_features", [1, 2, 20])
def test_weights_of_the_large_set_keep_the_variance_of_the_score(n_features):
    weights = roc.large_weights(n_features)
    assert weights @ weights == pytest.approx(2)
    assert np.all(weights[:-1] * weights[1:] < 0)


def test_a_large_set_is_drawn_without_temporaries_of_its_size():
    n, n_features = 6 * roc.CHUNK_ROWS, 10
    tracemalloc.start()
    try:
        X, y = roc.roc_large(n, np.random.default_rng(0), n_features=n_features)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert X.dtype == np.float32 and X.shape == (n, n_features)
    assert peak < X.nbytes + y.nbytes + roc.CHUNK_ROWS * n_features * 4


@pytest.mark.parametrize("n", [1, roc.CHUNK_ROWS - 1, roc.CHUNK_ROWS + 1])
def test_chunks_fill_every_row(n):
    X, y = roc.roc_large(n, np.random.default_rng(0), n_features=3)
    assert np.all(np.any(X != 0, axis=1)) and np.abs(X).max() < 7
    assert set(np.unique(y)) <= {-1, 1}


@pytest.mark.parametrize(
    ("name", "n_features", "wanted"),
    [
        ("roc-linear", 1, "an integer of at least 2"),
        ("roc-radial", 2.5, "an integer of at least 2"),
        ("roc-large", 0, "a positive integer"),
    ],
)
def test_too_few_features_are_refused(name, n_features, wanted):
    with pytest.raises(ValueError, match=f"n_features must be {wanted}"):
        load(name, n_features=n_features)
