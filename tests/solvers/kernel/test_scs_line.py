"""Searches along a line for stochastic conjugate subgradients: twins, and what each search promises."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from kernbench.kernels import Gaussian
from kernbench.reference.kernel.conjugate.hinge_line import Line, bracket_search, exact_search, wolfe_search
from kernbench.solvers.kernel.conjugate._hinge_line import HingeLine


@pytest.fixture(params=[False, True], ids=["no-bias", "bias"])
def lines(request):
    """A line through 60 examples, compiled and reference, and the length of a direction with its slope."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    weights, coef, d = rng.uniform(0.2, 2, 60), 0.1 * rng.normal(size=60), 0.2 * y
    Q = Gaussian(1.0)(X, X)
    u, v = Q @ coef, Q @ d
    q = (coef @ u, d @ u, d @ v)
    reference = Line(y, weights, 0.05, 0.9, request.param, u, v, q)
    compiled = HingeLine(y, weights, 0.05, 0.9, request.param).along(u, v, q)
    return compiled, reference, np.sqrt(-reference.slope(0.0))  # as of minus a shortest subgradient


def test_line_twins_agree_and_the_slope_is_a_slope(lines):
    compiled, reference, _ = lines
    for t in (0.0, 0.013, 0.7, 3.1):
        compiled.evaluate(t)
        assert compiled.value == pytest.approx(reference.value(t), rel=1e-12)
        assert compiled.slope == pytest.approx(reference.slope(t), rel=1e-10)
        h = 1e-7
        difference = (reference.value(t + h) - reference.value(t - h)) / (2 * h)
        assert compiled.slope == pytest.approx(difference, abs=1e-5)


def test_exact_search_finds_the_minimiser(lines):
    compiled, reference, length = lines
    t = compiled.exact(-1.0)
    assert t == pytest.approx(exact_search(reference), rel=1e-12)
    best = minimize_scalar(reference.value, bounds=(0, 4 * t), method="bounded", options={"xatol": 1e-12})
    assert reference.value(t) <= best.fun + 1e-12
    assert compiled.exact(0.25 * t) == exact_search(reference, 0.25 * t) == 0.25 * t
    # Oracle for b = 0: the minimiser of a piecewise parabola, by its breakpoints.
    if not reference.fit_intercept:
        y, w, u, v = reference.y, reference.weights, reference.u, reference.v
        breaks = np.sort((1 - y * u) / (y * v))
        breaks = np.concatenate([[0.0], breaks[breaks > 0], [breaks.max() + 100]])
        for low, high in zip(breaks, breaks[1:]):
            active = y * (u + 0.5 * (low + high) * v) < 1
            linear = 0.05 * reference.q[1] - reference.share * (w * y * v)[active].sum()
            vertex = -linear / (0.05 * reference.q[2])
            if vertex <= high:
                assert t == pytest.approx(max(vertex, low), rel=1e-9)
                break


@pytest.mark.parametrize("radius", [0.05, 0.5, 2.0])
def test_bracket_search_ends_where_it_promises(lines, radius):
    compiled, reference, length = lines
    t = compiled.bracket(length, radius, 8, 0.25, 0.4)
    assert t == pytest.approx(bracket_search(reference, length, radius, 8, 0.25, 0.4), rel=1e-12)
    assert 0 < t * length <= radius * (1 + 1e-6)
    assert reference.value(t) - reference.value(0.0) <= -0.25 * length**2 * t
    assert reference.slope(t) >= -0.4 * length**2 or 2 * t * length > radius


def test_wolfe_search_ends_in_both_sets(lines):
    compiled, reference, length = lines
    t = compiled.wolfe(length, 0.25, 0.4)
    assert t == pytest.approx(wolfe_search(reference, length, 0.25, 0.4), rel=1e-12)
    assert reference.value(t) - reference.value(0.0) <= -0.25 * length**2 * t
    assert reference.slope(t) >= -0.4 * length**2


def in_unit(line, unit):
    """The line with the kernel times `unit`, and alpha, too, compiled and reference: the functions are the same, and
    steps are shorter by `unit`."""
    q = (line.q[0] / unit, line.q[1], line.q[2] * unit)
    settings = (line.y, line.weights, line.alpha * unit, 0.9, line.fit_intercept)
    return HingeLine(*settings).along(line.u, line.v * unit, q), Line(*settings, line.u, line.v * unit, q)


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**60])
def test_wolfe_search_ends_in_both_sets_in_any_unit_of_the_kernel(lines, unit):
    _, line, length = lines
    compiled, scaled = in_unit(line, unit)
    length *= np.sqrt(unit)
    for t in (compiled.wolfe(length, 0.25, 0.4), wolfe_search(scaled, length, 0.25, 0.4)):
        assert t > 0 and scaled.value(t) - scaled.value(0.0) <= -0.25 * length**2 * t
        assert scaled.slope(t) >= -0.4 * length**2


@pytest.mark.parametrize("unit", [2.0**60, 2.0**100, 2.0**500])
def test_exact_search_finds_the_minimiser_in_any_unit_of_the_kernel(lines, unit):
    _, line, _ = lines
    t = exact_search(line)
    compiled, scaled = in_unit(line, unit)
    for limit in (None, 1.0, 4.0 * t / unit):
        assert compiled.exact(-1.0 if limit is None else limit) * unit == pytest.approx(t, rel=1e-9)
        assert exact_search(scaled, limit) * unit == pytest.approx(t, rel=1e-9)
    assert compiled.exact(0.25 * t / unit) == exact_search(scaled, 0.25 * t / unit) == 0.25 * t / unit


def test_wolfe_search_finds_a_step_where_the_kernel_is_large_and_alpha_is_not(lines):
    _, line, _ = lines
    settings, q = (line.y, line.weights, 1e-30, 0.9, line.fit_intercept), (0.0, 0.0, line.q[2] * 1e20)
    v = line.v * 1e20
    scaled = Line(*settings, line.u, v, q)
    length = np.sqrt(-scaled.slope(0.0))
    for t in (HingeLine(*settings).along(line.u, v, q).wolfe(length, 0.25, 0.4),
              wolfe_search(scaled, length, 0.25, 0.4)):  # fmt: skip
        assert t is not None and t > 0 and scaled.value(t) < scaled.value(0.0)


def test_wolfe_search_ends_where_no_float_is_in_both_sets():
    """At a kink near 1e6, beyond which the loss of an enormous weight rises."""
    y, weights, u, v = np.array([1.0, -1.0]), np.array([1.0, 1e30]), np.array([0.0, -2.0]), np.array([1e-7, 1e-6])
    length, q = np.sqrt(5e-8), (0.0, 0.0, 1e-20)
    assert HingeLine(y, weights, 1e-3, 1.0, False).along(u, v, q).wolfe(length, 0.25, 0.4) == 0.0
    assert wolfe_search(Line(y, weights, 1e-3, 1.0, False, u, v, q), length, 0.25, 0.4) is None
