"""The vectorised pass over the heights: any length, any weights, and rarely more than one pass per level."""

import numpy as np
import pytest

from kernbench.kernels.rows import KernelRows
from kernbench.problems.water_level import water_level
from kernbench.solvers.kernel.sbp._water import water_level as one_pass
from kernbench.solvers.registry import get


@pytest.mark.parametrize("n", [2, 7, 8, 9, 15, 16, 17, 64, 1003, 2085])
@pytest.mark.parametrize("two_basins", [False, True])
@pytest.mark.parametrize("weighting", ["ones", "equal", "integers", "reals", "zeros"])
def test_levels_of_any_length_and_weights(n, two_basins, weighting):
    """One level after the other, each from the windows of the previous one."""
    rng = np.random.default_rng(n)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    weights = {
        "ones": np.ones(n),
        "equal": np.full(n, 0.3),
        "integers": rng.integers(1, 4, n).astype(float),
        "reals": rng.uniform(0.1, 2.0, n),
        "zeros": rng.integers(0, 2, n).astype(float),
    }[weighting]
    weights[:2] = np.maximum(weights[:2], 0.3)
    labels = y if two_basins else None
    c, history = rng.normal(size=n), []
    for _ in range(12):
        c = 0.99 * c + 0.02 * rng.normal(size=n)
        history.append(c)
        expected = water_level(c, weights, 0.05 * n, labels)
        gamma, mass, first, second = one_pass(np.array(history), weights, 0.05 * n, labels)
        assert gamma == pytest.approx(expected.gamma, rel=1e-11, abs=1e-12)
        assert mass == pytest.approx(expected.mass, rel=1e-11)
        assert (first, second) == (expected.positive, expected.negative)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_most_levels_take_one_pass(fit_intercept, classification):
    problem = classification(700, seed=0)
    rows = KernelRows(problem.X, problem.kernel, dtype=np.float64)
    solver = get("sbp").load()(rows, problem.y, alpha=1 / 700, fit_intercept=fit_intercept, random_state=0)
    solver.advance(1000)
    before = solver.work.water.first.scans
    solver.advance(2000)
    assert 2000 <= solver.work.water.first.scans - before <= 1.25 * 2000


@pytest.mark.parametrize("two_basins", [False, True])
def test_heights_near_the_smallest_floats(two_basins):
    """The inverse of the width of a bucket of the histogram is infinite; a sanitizer sees the products with it."""
    heights, labels = np.linspace(0.0, 1e-310, 200), np.where(np.arange(200) % 2, 1.0, -1.0)
    labels = labels if two_basins else None
    expected = water_level(heights, np.ones(200), 1e-309, labels)
    gamma, mass, first, second = one_pass(heights, np.ones(200), 1e-309, labels)
    assert gamma == pytest.approx(expected.gamma, rel=1e-9) and mass == expected.mass
    assert (first, second) == (expected.positive, expected.negative)
