"""Doubly stochastic gradients against worked numbers and closed forms."""

import numpy as np
import pytest
from streaming_problems import rows_and_labels, solver_of

from kernbench.kernels import Gaussian

TABLE = np.array([[1, 0.5, -0.5], [0.2, -1, 1.2], [0.3, 0.8, 0.6]])  # phi of draw i at example k
Y = np.array([1.0, -1.0, 0.5])


class TableOfFeatures:
    """What FeatureBlocks is to the method: one feature a block, the rows being columns of the table."""

    def features(self, X, seed, block):
        return TABLE[block, X[:, 0].astype(int)][:, None]

    def transposed(self, X, seed, block, G):
        return self.features(X, seed, block).T @ G

    def multiply(self, X, seed, blocks, A, out=None):
        out = np.zeros((len(X), A.shape[2])) if out is None else out
        for block, A_b in zip(blocks, A):
            out += self.features(X, seed, block) @ A_b
        return out


def of_the_table(twin, alpha, theta, **options):
    X = np.arange(3.0)[:, None]
    solver = solver_of(
        X, Y, twin, alpha=alpha, schedule="inverse", step_size=theta, loss="squared_error", batch_size=1,
        block_size=1, form="phase", shuffle=False, **options,
    )  # fmt: skip
    solver.features = TableOfFeatures()
    return solver


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize(
    "alpha, theta, steps",
    [
        (0.5, 2.0, [[2], [1, 2], [0.66666667, 1.33333333, -0.56]]),
        (0.1, 1.0, [[1], [0.95, 0.75], [0.91833333, 0.725, 0.015]]),
    ],
)
def test_three_steps_by_hand(twin, alpha, theta, steps):
    solver = of_the_table(twin, alpha, theta)
    for expected in steps:
        solver.advance(1)
        np.testing.assert_allclose(solver.solution().coef.ravel(), expected, atol=1e-8)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize("multiple", [1, 2, 3])
def test_weights_of_the_terms_have_closed_forms(twin, multiple):
    """With gamma_t = theta / t: a_t^i = -theta/t, -theta (i - 1) / (t (t - 1)), ... for theta alpha = 1, 2, 3."""
    alpha = 0.4
    theta, t = multiple / alpha, 6
    X, y = rows_and_labels(n=t)
    solver = solver_of(
        X, y, twin, alpha=alpha, schedule="inverse", step_size=theta, loss="absolute_error", batch_size=1, block_size=2
    )
    born = []  # each block before the step size and the shrinking
    for step in range(1, t + 1):
        solver.advance(1)
        born.append(solver.A[-1] / -(theta / step))
    i = np.arange(1, t + 1)
    weights = {1: np.full(t, 1 / t), 2: (i - 1) / (t * (t - 1)), 3: (i - 1) * (i - 2) / (t * (t - 1) * (t - 2))}[
        multiple
    ]
    expected = -theta * weights[:, None, None] * np.array(born)
    np.testing.assert_allclose(solver.solution().coef, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_the_average_of_the_iterates_has_closed_coefficients(twin):
    """For theta alpha = 1: -(theta / T) (sum_{t = i}^{T - 1} 1/t) l'_i phi_i(x_i), with f_1 = 0 the first iterate."""
    alpha, T = 0.5, 7
    X, y = rows_and_labels(n=T)
    options = {"alpha": alpha, "schedule": "inverse", "step_size": 1 / alpha, "loss": "absolute_error",
               "batch_size": 1, "block_size": 2}  # fmt: skip
    last, average = (solver_of(X, y, twin, average=average, **options) for average in ("last", "all"))
    last.advance(T), average.advance(T)
    gradients = last.solution().coef * -T * alpha  # the weights of the last iterate are -theta / T, for every i
    sums = np.array([sum(1 / t for t in range(i, T)) for i in range(1, T + 1)])
    expected = -(1 / (alpha * T)) * sums[:, None, None] * gradients
    np.testing.assert_allclose(average.solution().coef, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "average, options, weights",
    [
        ("all", {}, np.ones(11)),
        ("weighted", {}, np.arange(1.0, 12)),
        ("tail", {"average_from": 6}, np.r_[np.zeros(5), np.ones(6)]),
        ("tail", {}, np.r_[np.zeros(3), np.ones(8)]),  # 11 steps: from step 4 on
    ],
)
def test_averages_are_those_of_the_iterates_before_each_step(average, options, weights):
    X, y = rows_and_labels(n=80)
    plain, averaged = (solver_of(X, y, average=kind, batch_size=7, **rest)
                       for kind, rest in (("last", {}), (average, options)))  # fmt: skip
    iterates = np.zeros((11, 11, 8, 1))
    for t in range(11):
        iterates[t, :t] = plain.A
        plain.advance(1)
    averaged.advance(11)
    expected = np.tensordot(weights / weights.sum(), iterates, axes=1)
    np.testing.assert_allclose(averaged.solution().coef, expected, atol=1e-13)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_the_first_step_is_unbiased(twin):
    """E f_2(x) = -gamma_1 l'(0, y) k(x_1, x)."""
    X, kernel, z = np.array([[0.4, -0.2]]), Gaussian(0.9), np.array([[0.1, 0.5]])
    n_seeds, found = (400 if twin == "reference" else 1500), []
    for seed in range(n_seeds):
        solver = solver_of(
            X, np.array([2.0]), twin, kernel=kernel, random_state=seed, batch_size=1, block_size=8,
            loss="squared_error", alpha=0.1, step_size=1.0, schedule="published", average="last",
        )  # fmt: skip
        solver.advance(1)
        Z = solver.features.features(z, seed, 0)
        found.append((Z @ solver.A[0]).item())
    expected = 2.0 * kernel(X, z).item() / (1 + 1e-4)
    assert abs(np.mean(found) - expected) < 5 * np.std(found) / np.sqrt(n_seeds)


def test_the_counter_counts_feature_values():
    """B m T (T - 1) / 2 of old blocks and B m T of new ones, in the first pass."""
    X, y = rows_and_labels(n=96)
    for twin in ("compiled", "reference"):
        solver = solver_of(X, y, twin, batch_size=16)
        solver.advance(6)
        assert solver.n_feature_values == 16 * 8 * (6 * 5 // 2 + 6)


def test_the_counter_counts_the_features_of_a_window():
    """In each step those of the new block at the rows of the window, for the gradient and for their outputs."""
    X, y = rows_and_labels(n=96)
    solver = solver_of(X, y, batch_size=16, window=32)
    solver.advance(3)
    assert solver.n_feature_values == 8 * (16 * (1 + 2) + 2 * (16 + 32 + 32))
