"""Kernel ridge regression without some rows, against the solution of each system of equations."""

import numpy as np
import pytest

from kernbench.problems.kernel.ridge import LeftOut, Ridge


def make(rng, n=40, n_outputs=2):
    X = rng.normal(size=(n, 3))
    K = np.exp(-0.3 * np.square(X[:, None] - X).sum(axis=2))
    return K, rng.normal(size=(n, n_outputs)), rng.uniform(0.1, 3.0, n)


def optimum(K, y, weights, part, alpha):
    """Return coefficients with zeros, and the objective at the optimum, of the normal equations."""
    kept = np.setdiff1d(np.arange(len(K)), part.rows)
    shift = alpha * weights[kept].sum()
    targets = y[kept] - part.offset
    coef = np.zeros_like(y)
    coef[kept] = np.linalg.solve(K[np.ix_(kept, kept)] + np.diag(shift / weights[kept]), targets)
    return coef, objective(K, targets, weights, part, alpha, coef)


def objective(K, targets, weights, part, alpha, coef):
    kept = np.setdiff1d(np.arange(len(K)), part.rows)
    f = K @ coef
    losses = weights[kept] @ np.square(f[kept] - targets) / weights[kept].sum()
    return 0.5 * (alpha * (coef * f).sum(axis=0) + losses)


def parts_of(weights):
    """Return sets of rows of many sizes: none, one, blocks, most."""
    n = len(weights)
    for rows in ([], [3], np.arange(10), np.arange(1, n, 2), np.arange(5, n)):
        rows = np.asarray(rows, dtype=np.intp)
        mass = np.delete(weights, rows).sum()
        yield LeftOut(rows, np.array([0.3, -1.0]), mass)


@pytest.mark.parametrize("alpha", [1.0, 1e-3, 1e-8])
@pytest.mark.parametrize("weighted", [False, True])
def test_solutions_and_certificates(alpha, weighted, global_random_seed):
    K, y, weights = make(np.random.default_rng(global_random_seed))
    weights = weights if weighted else np.ones(len(K))
    ridge, parts = Ridge(K.copy(), y, weights), list(parts_of(weights))
    u = ridge.solve(parts, alpha)
    scores, objectives, gaps = ridge.examine(parts, alpha, u, unit=1e-14, largest=1.0)
    for own, f, value, gap, part in zip(u, scores, objectives, gaps, parts, strict=True):
        coef, best = optimum(K, y, weights, part, alpha)
        np.testing.assert_allclose(f, K @ coef, atol=1e-7)
        assert not own[part.rows].any()
        np.testing.assert_allclose(ridge.roots[:, None] * own, coef, rtol=1e-5, atol=1e-6 * np.abs(coef).max())
        np.testing.assert_allclose(value, best, rtol=1e-6)
        assert np.all(gap <= 1e-6 * value)


def test_the_gap_is_that_of_any_coefficients(global_random_seed):
    """It is a bound on the distance to the optimum, and its formula the difference of the two objectives."""
    rng = np.random.default_rng(global_random_seed)
    K, y, weights = make(rng)
    ridge, alpha = Ridge(K.copy(), y, weights), 0.01
    for part in parts_of(weights):
        coef, best = optimum(K, y, weights, part, alpha)
        coef += 0.1 * rng.normal(size=coef.shape) * (np.bincount(part.rows, minlength=len(K)) == 0)[:, None]
        _, (value,), (gap,) = ridge.examine([part], alpha, [coef / ridge.roots[:, None]], unit=0.0, largest=1.0)
        np.testing.assert_allclose(
            value, objective(K, np.delete(y, part.rows, axis=0) - part.offset, weights, part, alpha, coef)
        )
        assert np.all(value - best <= gap)
        kept = np.setdiff1d(np.arange(len(K)), part.rows)
        targets, share = y[kept] - part.offset, weights[kept] / part.mass
        dual = alpha * part.mass * coef[kept] / weights[kept][:, None]
        quadratic = alpha * (coef * (K @ coef)).sum(axis=0)
        np.testing.assert_allclose(value - share @ (dual * targets - 0.5 * dual**2) + 0.5 * quadratic, gap, rtol=1e-6)


def test_rounding_of_kernel_values_is_in_the_gap():
    K, y, weights = make(np.random.default_rng(0))
    ridge, parts, alpha = Ridge(K, y, weights), list(parts_of(weights)), 1e-3
    u = ridge.solve(parts, alpha)
    gaps = [ridge.examine(parts, alpha, u, unit, largest=1.0)[2] for unit in (0.0, 1e-6, 1e-3)]
    assert np.all(gaps[0] < gaps[1]) and np.all(gaps[1] < gaps[2])
    ratios = [ridge.leave_one_out(parts[1:2], alpha, unit, largest=1.0)[1] for unit in (0.0, 1e-6, 1e-3)]
    assert np.all(ratios[0] < ratios[1]) and np.all(ratios[1] < ratios[2])


@pytest.mark.parametrize("alpha", [1.0, 1e-3, 1e-8])
@pytest.mark.parametrize("weighted", [False, True])
def test_single_rows_are_left_out_at_once(alpha, weighted, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    K, y, weights = make(rng)
    weights = weights if weighted else np.ones(len(K))
    ridge = Ridge(K.copy(), y, weights)
    parts = [LeftOut(np.array([i]), rng.normal(size=2), np.delete(weights, i).sum()) for i in range(len(K))]
    predictions, ratios = ridge.leave_one_out(parts, alpha, unit=1e-14, largest=1.0)
    u = ridge.solve(parts, alpha)
    _, objectives, gaps = ridge.examine(parts, alpha, u, unit=1e-14, largest=1.0)
    assert np.all(gaps / objectives <= ratios) and ratios.max() < 1e-6  # bounds of what is computed otherwise
    for i, part in enumerate(parts):
        coef, _ = optimum(K, y, weights, part, alpha)
        np.testing.assert_allclose(predictions[i], K[i] @ coef + part.offset, atol=1e-7)


def test_errors_of_the_decomposition_are_in_the_ratio(global_random_seed):
    """The ratio bounds that of the coefficients that follow from eigenvectors that are not quite right."""
    K, y, weights = make(np.random.default_rng(global_random_seed))
    rng, part = (
        np.random.default_rng(global_random_seed),
        LeftOut(np.array([5]), np.zeros(2), weights.sum() - weights[5]),
    )

    def wrong(M):
        values, vectors = np.linalg.eigh(M)
        return values + 1e-4 * rng.uniform(size=len(values)), vectors + 1e-5 * rng.normal(size=M.shape)

    ridge = Ridge(K.copy(), y, weights, decompose=wrong)
    _, ratios = ridge.leave_one_out([part], 0.1, unit=0.0, largest=1.0)
    _, objectives, gaps = ridge.examine([part], 0.1, ridge.solve([part], 0.1), unit=0.0, largest=1.0)
    assert np.all(gaps / objectives > 1e-12) and np.all(gaps / objectives <= ratios) and np.all(ratios < 0.01)


def test_an_indefinite_matrix_is_told_apart():
    y, weights = np.ones((2, 1)), np.ones(2)
    assert Ridge(np.array([[1.0, 2.0], [2.0, 1.0]]), y, weights).least == pytest.approx(-1 / 3)
    assert abs(Ridge(np.ones((2, 2)), y, weights).least) < 1e-15
