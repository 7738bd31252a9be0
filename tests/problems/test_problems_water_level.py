import numpy as np
import pytest
from scipy.optimize import linprog

from kernbench.problems.water_level import water_level
from kernbench.reference.kernel.sbp import water
from kernbench.reference.kernel.sbp.water import gamma_bias_select, gamma_select

ONE_BASIN = np.array([0.3, -0.2, 0.5, 0.1])
TWO_BASINS = np.array([0.2, -0.4, 0.9, 0.1, -0.3])
CLASSES = np.array([1, 1, 1, -1, -1])


def random_basins(rng, largest=11):
    """Heights with many ties or none, of any sizes from 1 up, and volumes from nothing to huge."""
    heights = [rng.normal(size=rng.integers(1, largest + 1)) for _ in range(2)]
    if rng.random() < 0.5:
        heights = [np.round(h) for h in heights]
    if rng.random() < 0.1:
        heights = [np.zeros(len(h)) for h in heights]
    volume = rng.choice([0.0, 0.01, 0.5, 2.0, 100.0]) * rng.choice([1.0, rng.random()])
    return *heights, volume


def by_linear_programming(c, weights, volume, y=None):
    """max gamma such that c_i + y_i b + xi_i >= gamma, xi >= 0, sum w xi <= V."""
    n = len(c)
    slope = np.zeros(n) if y is None else y
    A = np.block([[np.ones((n, 1)), -slope[:, None], -np.eye(n)], [np.zeros((1, 2)), weights[None]]])
    bounds = [(None, None)] * 2 + [(0, None)] * n
    result = linprog(np.r_[-1.0, np.zeros(n + 1)], A_ub=A, b_ub=np.r_[c, volume], bounds=bounds)
    assert result.status == 0
    return result.x[0]


@pytest.mark.parametrize(
    "volume, gamma, k", [(0, -0.2, 1), (0.1, -0.1, 1), (0.5, 0.2, 2), (1.0, 0.4, 3), (3.0, 0.925, 4)]
)
def test_one_basin_worked_example(volume, gamma, k):
    level = water_level(ONE_BASIN, np.ones(4), volume)
    assert level.gamma == pytest.approx(gamma, abs=1e-15)
    assert level.mass == k
    assert level.positive == level.negative == np.sort(ONE_BASIN)[k - 1]
    assert level.b == 0
    assert gamma_select(ONE_BASIN, volume) == (pytest.approx(gamma, abs=1e-15), k)


@pytest.mark.parametrize(
    "volume, gamma, b, k, level_p, level_n",
    [
        (0, -0.35, 0.05, 1, -0.4, -0.3),
        (0.2, -0.25, 0.05, 1, -0.3, -0.2),
        (0.6, -0.05, -0.05, 1, 0, -0.1),
        (2, 0.4, -0.05, 2, 0.45, 0.35),
    ],
)
def test_two_basins_worked_example(volume, gamma, b, k, level_p, level_n):
    level = water_level(TWO_BASINS, np.ones(5), volume, CLASSES)
    assert (level.gamma, level.b) == (pytest.approx(gamma, abs=1e-15), pytest.approx(b, abs=1e-15))
    assert level.gamma - level.b == pytest.approx(level_p, abs=1e-15)
    assert level.gamma + level.b == pytest.approx(level_n, abs=1e-15)
    assert level.mass == k
    assert level.positive == np.sort(TWO_BASINS[:3])[k - 1]
    assert level.negative == np.sort(TWO_BASINS[3:])[k - 1]


def test_level_may_coincide_with_dry_ground():
    """The case where {c < gamma} is empty for one class, though both must be drawn from."""
    level = water_level(np.zeros(5), np.ones(5), 1.0, CLASSES)
    assert (level.gamma, level.b, level.mass, level.positive) == (0.25, 0.25, 2, 0)


def test_printed_algorithm_2_forgets_the_largest_height():
    assert gamma_select([0, 1], 10) == (5.5, 2)
    assert gamma_select(np.zeros(4), 1) == (0.25, 4)


def compare_with_selection(rng):
    p, n, volume = random_basins(rng, largest=rng.choice([3, 11, 200]))
    gamma, k = gamma_select(p, volume)
    level = water_level(p, np.ones(len(p)), volume)
    assert gamma == pytest.approx(level.gamma, abs=1e-13)
    assert 1 <= k <= len(p)
    # The level equation; with V = 0 the water only touches the lowest ground.
    assert np.maximum(0, gamma - p).sum() == pytest.approx(volume, abs=1e-12)

    gamma, b, _ = gamma_bias_select(p, n, volume)
    y = np.repeat([1, -1], [len(p), len(n)])
    level = water_level(np.r_[p, n], np.ones(len(y)), volume, y)
    assert gamma == pytest.approx(level.gamma, abs=1e-13)
    for intercept in (b, level.b):  # either attains the level
        shifted = np.r_[p + intercept, n - intercept]
        assert water_level(shifted, np.ones(len(y)), volume).gamma == pytest.approx(gamma, abs=1e-13)


def test_selection_is_the_sort():
    for seed in range(300):
        compare_with_selection(np.random.default_rng(seed))


@pytest.mark.slow
def test_selection_is_the_sort_on_many_instances():
    rng = np.random.default_rng(0)
    for _ in range(20_000):
        compare_with_selection(rng)


def test_selection_visits_less_than_two_n_elements(monkeypatch):
    visited, select = [], water._select

    def counting(a, lo, hi, t):
        visited.append(hi - lo)
        select(a, lo, hi, t)

    monkeypatch.setattr(water, "_select", counting)
    for volume in (0, 1, 1e3, 1e9):
        visited.clear()
        gamma_select(np.random.default_rng(0).normal(size=1000), volume)
        assert 1000 <= sum(visited) < 2000


@pytest.mark.parametrize("weighted", [False, True])
def test_level_solves_the_linear_programme(weighted):
    for seed in range(24):
        rng = np.random.default_rng(seed)
        p, n, volume = random_basins(rng)
        c, y = np.r_[p, n], np.repeat([1.0, -1.0], [len(p), len(n)])
        weights = rng.random(len(c)) + 0.01 if weighted else np.ones(len(c))
        for basins in (None, y):
            found = water_level(c, weights, volume, basins).gamma
            assert found == pytest.approx(by_linear_programming(c, weights, volume, basins), abs=1e-9)


def test_level_equation_with_weights():
    rng = np.random.default_rng(0)
    c, y, weights = rng.normal(size=40), np.where(rng.random(40) < 0.3, 1, -1), rng.random(40)
    for volume in (1e-6, 0.1, 3.0, 1e4):
        one = water_level(c, weights, volume)
        assert weights @ np.maximum(0, one.gamma - c) == pytest.approx(volume, rel=1e-12, abs=1e-14)
        two = water_level(c, weights, volume, y)
        water = weights @ np.maximum(0, two.gamma - c - y * two.b)
        assert water == pytest.approx(volume, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("volume", [0.0, 0.3, 4.0, 100.0])
def test_weight_k_equals_repeat_k(volume):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        c, y = rng.normal(size=15), np.where(rng.random(15) < 0.4, 1, -1)
        y[:2] = 1, -1
        weights = rng.integers(0, 4, size=15)
        weights[:2] = 1, 3
        c_k, y_k = np.repeat(c, weights), np.repeat(y, weights)
        for basins, basins_k in ((None, None), (y, y_k)):
            a = water_level(c, weights.astype(float), volume, basins)
            b = water_level(c_k, np.ones(len(c_k)), volume, basins_k)
            assert (a.gamma, a.b) == (pytest.approx(b.gamma, abs=1e-14), pytest.approx(b.b, abs=1e-14))
            assert (a.positive, a.negative) == (b.positive, b.negative)
            assert a.mass == b.mass or volume == 0  # all of a tie or one of it: the same ground


def test_balanced_weights_of_both_classes_end_together():
    """n / (2 n+) times n+ and n / (2 n-) times n- are one mass, but not one float."""
    for positives, negatives in ((3, 7), (11, 19), (49, 6)):
        n = positives + negatives
        y = np.repeat([1, -1], [positives, negatives])
        weights = np.where(y > 0, n / (2 * positives), n / (2 * negatives))
        level = water_level(np.zeros(n), weights, 1e3, y)
        assert level.mass == pytest.approx(n / 2)
        assert level.gamma == pytest.approx(1e3 / n)
        # Both basins are full, so the water is free to move between them: take the middle.
        shifted = water_level(np.where(y > 0, 0.5, -0.25), weights, 1e3, y)
        total = 2 * shifted.gamma
        low, high = 0.5, total + 0.25
        assert shifted.gamma - shifted.b == pytest.approx((low + high) / 2)


def test_permutation_invariance():
    rng = np.random.default_rng(5)
    c, y, weights = np.round(rng.normal(size=30), 1), np.where(rng.random(30) < 0.3, 1, -1), rng.random(30)
    order = rng.permutation(30)
    for basins in (None, y):
        a = water_level(c, weights, 2.0, basins)
        b = water_level(c[order], weights[order], 2.0, None if basins is None else y[order])
        np.testing.assert_allclose(list(vars(a).values()), list(vars(b).values()), rtol=1e-12)


def test_points_without_company():
    assert water_level(np.array([0.7]), np.array([2.0]), 1.0).gamma == pytest.approx(1.2)
    level = water_level(np.array([0.7, -0.1]), np.ones(2), 1.0, np.array([1, -1]))
    assert (level.gamma, level.mass) == (pytest.approx(0.8), 1)
