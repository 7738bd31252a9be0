"""The one-pass water level of the compiled perceptron against the closed form by sorting."""

import numpy as np
import pytest

from kernbench.problems.water_level import water_level
from kernbench.solvers.kernel.sbp._water import water_level as one_pass


def instances(count, seed):
    rng = np.random.default_rng(seed)
    for k in range(count):
        n = int(rng.integers(2, 60))
        y = np.where(rng.random(n) < rng.random(), 1.0, -1.0)
        y[:2] = 1.0, -1.0
        ties = k % 3 == 0
        c = rng.integers(0, 4, size=n).astype(float) if ties else rng.normal(size=n)
        weights = np.ones(n)
        if k % 2:
            weights = rng.integers(0, 3, size=n) + (rng.random(n) if k % 4 == 1 else 0.0)
            weights[:2] = 1.0
        yield c, weights, float(rng.choice([0.0, 0.1, 1.0, 10.0, 1000.0])), y, ties


@pytest.mark.parametrize("two_basins", [False, True])
def test_level_is_the_closed_form(two_basins):
    for c, weights, volume, y, ties in instances(1500, seed=int(two_basins)):
        labels = y if two_basins else None
        expected = water_level(c, weights, volume, labels)
        gamma, mass, first, second = one_pass(c, weights, volume, labels)
        assert gamma == pytest.approx(expected.gamma, rel=1e-11, abs=1e-11)
        if not ties:  # under ties several masses give the same level
            assert (first, second) == (expected.positive, expected.negative)
            assert mass == pytest.approx(expected.mass)


def test_two_basins_of_the_worked_example():
    c, y = np.array([0.2, -0.4, 0.9, 0.1, -0.3]), np.array([1.0, 1, 1, -1, -1])
    for volume, gamma, k in ((0, -0.35, 1), (0.2, -0.25, 1), (0.6, -0.05, 1), (2, 0.4, 2)):
        level, mass, _, _ = one_pass(c, np.ones(5), volume, y)
        assert (level, mass) == (pytest.approx(gamma), k)


@pytest.mark.parametrize("two_basins", [False, True])
@pytest.mark.parametrize("ties", [False, True])
def test_level_follows_heights_that_overtake_one_another(two_basins, ties):
    """Thousands of examples move past the edge between two levels, as in the first steps of the perceptron."""
    rng = np.random.default_rng(0)
    n = 4000
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    weights = rng.integers(1, 3, size=n).astype(float)
    labels = y if two_basins else None
    for volume in (0.0, 5.0, 2000.0):
        c, history = rng.normal(size=n), []
        for move in (0.0, 0.01, 1.0, 3.0, 0.3, 0.0, 100.0):
            c = c + move * rng.normal(size=n) * rng.choice([0.1, 1.0], size=n) + 0.3 * move
            history.append(np.round(c, 1) if ties else c)
            expected = water_level(history[-1], weights, volume, labels)
            gamma, mass, first, second = one_pass(np.array(history), weights, volume, labels)
            assert gamma == pytest.approx(expected.gamma, rel=1e-10, abs=1e-10)
            if not ties and len(history) > 1:
                assert (first, second) == (expected.positive, expected.negative)
                assert mass == pytest.approx(expected.mass)


@pytest.mark.parametrize("seed", [437, 473, 633, 1322, 1353])
def test_a_covered_mass_far_below_the_total_counts(seed):
    """Weights from 1e-6 to 1e6, and the lowest heights are of light examples."""
    rng = np.random.default_rng(seed)
    y, weights = np.where(np.arange(300) % 2, 1.0, -1.0), 10.0 ** rng.uniform(-6, 6, size=300)
    c = rng.normal(size=300) + np.array([[0.0], [0.01], [0.02]]) * rng.normal(size=300)
    expected = water_level(c[-1], weights, 0.0, y)
    gamma, mass, first, second = one_pass(c, weights, 0.0, y)
    assert (gamma, mass) == (pytest.approx(expected.gamma), pytest.approx(expected.mass))
    assert (first, second) == (expected.positive, expected.negative)


@pytest.mark.parametrize("two", [False, True])
def test_heights_that_are_not_numbers_have_no_level_and_the_search_for_it_ends(two):
    heights, y = np.full(20, np.nan), np.repeat([1.0, -1.0], 10)
    with pytest.raises(ValueError, match="leave the range of floats"):
        one_pass(heights, np.ones(20), 1.0, y if two else None)
