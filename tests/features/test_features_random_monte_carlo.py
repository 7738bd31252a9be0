"""Random features are unbiased, E<phi(x), phi(z)> = k(x, z), and as accurate as theory says."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernbench.features import RandomFeatures, feature_block
from kernbench.kernels.functions import Gaussian, Hellinger, Linear

BATCH = 64  # columns of a block; blocks are independent (with draws="qmc" better than that)


def batch_means(case, X, Z, n_features, seed):
    """Estimates of k(x_i, z_i) from each block by itself, shape (n_pairs, n_blocks)."""
    terms = case.kernel.kernels if hasattr(case.kernel, "weights") else ()
    n_features *= max(1, len(terms))
    features = RandomFeatures(
        case.kernel, n_features, form=case.form, draws=case.draws, block_size=BATCH, random_state=seed
    ).fit(X)
    products = features.transform(X) * features.transform(Z)
    if not terms:
        return products.reshape(len(X), -1, BATCH).sum(axis=2) * (n_features / BATCH)
    # The terms of a sum lie side by side: block b of each makes estimate b.
    n_blocks = n_features // len(terms) // BATCH
    return products.reshape(len(X), len(terms), n_blocks, BATCH).sum(axis=(1, 3)) * n_blocks


def pairs(case, n=20):
    """Random pairs, one of a row with itself."""
    X, Z = case.rows(n, seed=1), case.rows(n, seed=2)
    Z[0] = X[0]
    return X, Z


def assert_unbiased(means, exact):
    error = means.std(axis=1, ddof=1) / np.sqrt(means.shape[1])
    # A pair of a row with itself is exact, up to rounding.
    assert np.all(np.abs(means.mean(axis=1) - exact) <= 4 * error + 1e-10)


def test_ten_thousand_features_are_unbiased(case, kernel_values):
    X, Z = pairs(case)
    means = batch_means(case, X, Z, 160 * BATCH, seed=2)
    assert_unbiased(means, kernel_values(case.kernel, X, Z).diagonal())


@pytest.mark.slow
def test_a_million_features_are_unbiased(case, kernel_values):
    X, Z = pairs(case)
    means = np.hstack([batch_means(case, X, Z, 1024 * BATCH, seed) for seed in range(16)])
    assert_unbiased(means, kernel_values(case.kernel, X, Z).diagonal())


def test_a_wrong_kernel_is_found_out(kernel_values):
    """The test can fail: five percent in the bandwidth are seen with ten thousand features."""
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(2, 20, 4)) / 2
    case = SimpleNamespace(kernel=Gaussian(1.0), form="pair", draws="iid")
    means = batch_means(case, X, Z, 160 * BATCH, seed=0)
    with pytest.raises(AssertionError):
        assert_unbiased(means, kernel_values(Gaussian(1.05), X, Z).diagonal())


@pytest.mark.parametrize("kernel", [Linear(), Hellinger()])
def test_exact_features_are_exact(kernel, kernel_values):
    X = np.random.default_rng(0).random((20, 4))
    features = RandomFeatures(kernel, 10).fit(X)
    assert features.forms_ == ["exact"]
    Z = features.transform(X)
    assert Z.shape == (20, 4)
    np.testing.assert_allclose(Z @ Z.T, kernel_values(kernel, X, X), rtol=1e-12)


def test_an_exact_term_takes_what_it_needs(kernel_values):
    X = np.random.default_rng(0).random((20, 4))
    features = RandomFeatures(2.0 * Linear() + Gaussian(), 100).fit(X)
    assert features.forms_ == ["exact", "pair"]
    linear, gaussian = np.split(features.transform(X), [4], axis=1)
    assert gaussian.shape[1] == 96
    np.testing.assert_allclose(linear @ linear.T, 2 * X @ X.T, rtol=1e-12)
    np.testing.assert_allclose((gaussian**2).sum(axis=1), 1.0)


@pytest.mark.parametrize("kernel", [Gaussian(1.5)])
def test_the_error_falls_with_the_root_of_the_number(kernel, kernel_values):
    """max |Z Z^T - K| over 50 rows: sixteen times the features, a quarter of the error."""
    X = np.random.default_rng(0).normal(size=(50, 5))
    K = kernel_values(kernel, X, X)

    def error(m):
        blocks = (feature_block(seed, 0, m, X, kernel) for seed in range(12))
        return np.mean([np.abs(Z @ Z.T - K).max() for Z in blocks])

    assert 3.2 < error(128) / error(2048) < 4.9


def estimates(case_draws, form, n=400, m=64):
    """n estimates of one kernel value, and that value, in eight dimensions."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=8)
    step = rng.normal(size=8)
    X = np.array([x, x + step * np.sqrt(-2 * np.log(0.473)) / np.linalg.norm(step)])
    blocks = (feature_block(seed, 0, m, X, Gaussian(), form=form, draws=case_draws) for seed in range(n))
    return np.array([Z[0] @ Z[1] for Z in blocks]), 0.473


@pytest.mark.parametrize("form", ["pair", "phase"])
def test_variance_of_a_draw(form):
    """PAIR (1 + k(2 delta) - 2 k^2)/2, PHASE 1 + k(2 delta)/2 - k^2."""
    values, k = estimates("iid", form)
    doubled = k**4  # of a Gaussian
    expected = (1 + doubled - 2 * k**2) / 2 / 32 if form == "pair" else (1 + doubled / 2 - k**2) / 64
    assert 0.75 < np.mean((values - k) ** 2) / expected < 1.33


def test_orthogonal_and_quasi_random_draws_are_more_accurate():
    error = {
        draws: np.mean((estimates(draws, "pair")[0] - 0.473) ** 2) for draws in ("iid", "orthogonal", "qmc", "fastfood")
    }
    assert error["orthogonal"] < error["iid"] / 2
    assert error["qmc"] < error["iid"] / 2
    assert error["fastfood"] < 3 * error["iid"]
