import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from kernbench.problems.intercept import best_intercept
from kernbench.problems.slack_budget import best_scale, next_retune
from kernbench.problems.water_level import water_level


def loss_sum(f, y, weights, b):
    return weights @ np.maximum(0, 1 - y * (f + b))


def instance(seed, n=25):
    """A direction of random heights, mostly right, and its squared norm; some ties, some weights of 0."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    y[:2] = 1, -1
    c = rng.normal(0.4, 1.0, size=n)
    if seed % 3 == 0:
        c = np.round(c, 1)
    weights = rng.random(n) * (rng.random(n) < 0.8)
    weights[:2] = 0.5, 0.7
    return c, rng.random() + 0.1, y, weights, 10.0 ** rng.uniform(-3, 0)


@pytest.mark.parametrize("seed", range(30))
def test_intercept_beats_every_breakpoint_and_is_their_middle(seed):
    c, _, y, weights, _ = instance(seed)
    f = 3 * y * c
    b = best_intercept(f, y, weights)
    candidates = (y - f)[weights > 0]
    losses = np.array([loss_sum(f, y, weights, t) for t in candidates])
    best = candidates[losses <= losses.min() + 1e-12]
    assert b == pytest.approx((best.min() + best.max()) / 2, abs=1e-12)
    assert loss_sum(f, y, weights, b) <= losses.min() + 1e-12


def test_intercept_of_separated_classes_is_the_middle_of_the_gap():
    """A whole interval of intercepts has zero loss; rounded sums of weights must not hide its ends."""
    y = np.repeat([1.0, -1.0], [300, 600])
    f = np.where(y > 0, 5.0, -3.0)
    for weights in (np.ones(900), np.full(900, 0.1), np.full(900, 0.7), np.where(y > 0, 1 / 3, 1 / 6)):
        assert best_intercept(f, y, weights) == pytest.approx((-4 + 2) / 2)


def test_intercept_of_nothing_is_the_majority():
    y = np.array([1.0, 1, -1])
    assert best_intercept(np.zeros(3), y, np.ones(3)) == 1
    assert best_intercept(np.zeros(3), y, np.array([1.0, 1, 5])) == -1
    assert best_intercept(np.zeros(3), y, np.array([1.0, 1, 2])) == 0


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_scale_is_the_minimiser(seed, fit_intercept):
    c, r2, y, weights, alpha = instance(seed)

    def objective(s, b=None):
        f = s * y * c
        if b is None:
            b = min((y - f)[weights > 0], key=lambda t: loss_sum(f, y, weights, t)) if fit_intercept else 0.0
        return 0.5 * alpha * s**2 * r2 + loss_sum(f, y, weights, b) / len(y)

    s, b = best_scale(c, r2, y, weights, alpha=alpha, fit_intercept=fit_intercept)
    ceiling = np.sqrt(2 * objective(0.0) / (alpha * r2))  # beyond it the norm alone costs more than s = 0
    brute = minimize_scalar(objective, bounds=(0, ceiling), method="bounded", options={"xatol": 1e-11})
    assert 0 <= s <= ceiling
    assert fit_intercept or b == 0
    assert objective(s, b) <= min(brute.fun, objective(0.0)) + 1e-12
    # Strong convexity turns the agreement of values into one of scales.
    assert 0.5 * alpha * r2 * (s - brute.x) ** 2 <= max(0.0, brute.fun - objective(s, b)) + 1e-12


def test_useless_direction_gets_scale_zero():
    y = np.array([1.0, 1, -1])
    for c, r2 in ((-np.ones(3), 1.0), (np.zeros(3), 0.0)):
        for fit_intercept in (False, True):
            s, b = best_scale(c, r2, y, np.ones(3), alpha=0.1, fit_intercept=fit_intercept)
            assert (s, b) == (0, 1 if fit_intercept else 0)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_weight_k_equals_repeat_k(fit_intercept):
    for seed in range(10):
        c, r2, y, _, alpha = instance(seed)
        k = np.random.default_rng(seed).integers(0, 4, size=len(y))
        k[:2] = 2, 1
        one = best_scale(c, r2, y, k.astype(float), alpha=alpha, fit_intercept=fit_intercept)
        many = best_scale(
            np.repeat(c, k),
            r2,
            np.repeat(y, k),
            np.ones(k.sum()),
            alpha=alpha * len(y) / k.sum(),
            fit_intercept=fit_intercept,
        )
        np.testing.assert_allclose(one, many, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_budget_of_the_best_scale_has_its_level(fit_intercept):
    """The slack of s f, in units of the direction, lifts the water to 1/s; and the intercepts agree."""
    checked = 0
    for seed in range(30):
        c, r2, y, weights, alpha = instance(seed)
        s, b = best_scale(c, r2, y, weights, alpha=alpha, fit_intercept=fit_intercept)
        volume = loss_sum(s * y * c, y, weights, b) / s if s > 0 else 0.0
        if volume > 0:
            level = water_level(c, weights, volume, y if fit_intercept else None)
            assert level.gamma == pytest.approx(1 / s, rel=1e-11)
            assert level.b * s == pytest.approx(b, abs=1e-9)
            checked += 1
    assert checked > 10


def test_the_budget_is_recomputed_after_a_quarter_more_each():
    steps = [0]
    while len(steps) < 6:
        steps.append(next_retune(steps[-1]))
    assert steps == [0, 32, 40, 50, 62, 77]
