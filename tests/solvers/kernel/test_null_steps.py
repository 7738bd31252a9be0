"""Conjugate subgradients with an intercept at kinks: slopes to one side, and null steps that end."""

import numpy as np
import pytest

from kernbench.reference.kernel.conjugate.hinge_line import Line, active_part
from kernbench.solvers.kernel.conjugate._hinge_line import HingeLine
from kernbench.solvers.registry import get

by_twin = pytest.mark.parametrize("twin", ["compiled", "reference"])


def at_kinks(seed, n_ties, equal=False):
    """Labels, weights and responses of 60 examples of which some have margin 1 at the best intercept, 0.3."""
    rng = np.random.default_rng(seed)
    y, weights = rng.permutation(np.repeat([1.0, -1.0], 30)), rng.uniform(0.2, 2.0, 60)
    margins = rng.uniform(-1.0, 3.0, 60)
    ties = np.concatenate([np.flatnonzero(y == sign)[: n_ties // 2] for sign in (1.0, -1.0)])
    margins[ties] = 1.0
    # The ties of each class weigh more than the two classes differ below the margin.
    below = (weights * y)[margins < 1.0].sum()
    weights[ties[y[ties] == -np.sign(below)][0]] += abs(below)
    heading = rng.normal(size=60)
    if equal:
        heading[ties] = heading[ties[:2]].repeat(n_ties // 2)
    return y, weights, margins * y - 0.3, heading


@by_twin
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("n_ties", [2, 6, 20])
@pytest.mark.parametrize("seed", range(3))
def test_the_slope_at_a_kink_is_that_ahead(twin, seed, n_ties, equal):
    y, weights, u, v = at_kinks(seed, n_ties, equal)
    q, settings = (0.4, -0.1, 0.7), (y, weights, 0.05, 0.9, True)
    reference = Line(*settings, u, v, q)
    assert reference.intercept(0.0) == pytest.approx(0.3, abs=1e-12)
    h = 1e-7
    ahead = (reference.value(h) - reference.value(0.0)) / h
    if twin == "reference":
        assert reference.slope(0.0) == pytest.approx(ahead, abs=1e-6)
    else:
        compiled = HingeLine(*settings).along(u, v, q)
        compiled.evaluate(0.0)
        assert compiled.slope == pytest.approx(ahead, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_subgradient_at_a_kink_is_one_and_has_the_slope_ahead(seed):
    y, weights, u, v = at_kinks(seed, 6)
    active = active_part(y, weights, u, 0.3, True, v)
    assert active.min() >= 0.0 and active.max() <= 1.0
    assert (weights * y) @ active == pytest.approx(0.0, abs=1e-12)
    slope = Line(y, weights, 0.0, 1.0, True, u, v, (0.0, 0.0, 0.0)).slope(0.0)
    assert -(weights * y * active) @ v / len(y) == pytest.approx(slope, rel=1e-12)


def test_without_a_direction_ties_share_alike():
    y, weights = np.array([1.0, 1.0, 1.0, -1.0]), np.array([1.0, 2.0, 0.5, 0.7])
    active = active_part(y, weights, np.zeros(4), 1.0, True)
    np.testing.assert_allclose(active, [0.2, 0.2, 0.2, 1.0])


@pytest.mark.parametrize(
    "twin, weighted",
    [
        ("compiled", False),
        ("compiled", True),
        pytest.param("reference", False, marks=pytest.mark.slow),
        ("reference", True),
    ],
)
@pytest.mark.parametrize("name, options", [("wolfe", {}), ("wolfe", {"bundle_size": 10}), ("scs", {})])
def test_null_steps_end(name, options, twin, weighted, classification, build):
    """A subgradient that does not look ahead is that of the last null step, and f stays where it is.

    The reference, whose f then comes to rest before iteration 80, takes fewer steps; equal weights are the same code.
    """
    first, later, share = (200, 400, 0.8) if twin == "compiled" else (80, 80, 0.9)
    problem = classification(60, seed=5, weighted=weighted)
    best = build(get("smo"), "compiled", problem, tol=1e-9)
    best.advance(10**6)
    solver = build(get(name), twin, problem, **options)
    solver.advance(first)
    excess = solver.objective() - best.objective()
    solver.advance(later)
    assert solver.objective() - best.objective() <= share * excess


def test_a_row_at_the_end_of_a_kink_is_at_it_or_below_it():
    """1 - 1e-13 is rounded, so that two conditions on it may both fail."""
    kink = 1e-13
    responses = np.array([np.nextafter(1.0 - kink, 1.0 - step) for step in (-1.0, 0.0, 1.0)] + [1.0 - kink, 1.0, 0.5])
    room = 1.0 - responses
    y, weights, heading = np.ones(6), np.ones(6), -np.ones(6)
    np.testing.assert_array_equal(active_part(y, weights, responses, 0.0, False, heading, kink), 1.0)
    without = active_part(y, weights, responses, 0.0, False, -heading, kink)
    np.testing.assert_array_equal(without, room > kink)
