from functools import partial

import numpy as np
import pytest

from kernbench.problems.slack_budget import best_scale, next_retune, tuned_volume
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.sbp import sbp

SBP = partial(sbp.SBP, core="reference")


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_tuned_budget_converges_to_the_regularised_optimum(random_problem, optimum, fit_intercept):
    for seed, alpha, last in ((0, 0.1, 600), (1, 0.02, 1600), (2, 0.005, 2400)):
        p = random_problem(seed, n=60)
        best = optimum(p.K, p.y, alpha, p.weights, fit_intercept)
        options = dict(alpha=alpha, weights=p.weights, fit_intercept=fit_intercept, average_power=2)
        solver = SBP(p.rows, p.y, random_state=seed, **options)
        excess = []
        for n_iter in (60, 340, last):
            solver.advance(n_iter)
            excess.append(solver.objective() / best.objective - 1)
            assert excess[-1] > -1e-7
            assert solver.gap() >= solver.objective() - best.objective - 1e-7
        assert excess[2] < 0.02 and excess[2] < 0.5 * excess[0]


def test_tuned_budget_of_the_worked_problems(six_points, seven_points):
    """With nu = L/s alone the seven points come to rest 1.5 % above their optimum."""
    for p, fit_intercept in ((six_points, False), (seven_points, True)):
        solver = SBP(p.rows, p.y, alpha=p.alpha, fit_intercept=fit_intercept, average_power=2, random_state=0)
        solver.advance(4_000)
        assert p.optimum - 1e-9 < solver.objective() < p.optimum * 1.003
        assert solver.gap() < 0.02 * p.optimum and solver.check(0.02) and solver.converged


@pytest.mark.parametrize("factor", [0.8, 0.95, 1.0, 1.05, 1.25])
def test_tuned_volume_rests_at_the_right_budget_only(random_problem, optimum, factor):
    """At the exact solution of (S) for another alpha the primal estimate may not change, but the dual one does."""
    p = random_problem(6)
    alpha = 0.02
    other = optimum(p.K, p.y, factor * alpha)
    dual, heights = np.abs(other.coef), p.y * (p.K @ other.coef)
    norm = np.sqrt(dual @ heights)
    dual, heights = dual / norm, heights / norm
    s, b = best_scale(heights, 1.0, p.y, np.ones(p.n), alpha=alpha, fit_intercept=True)

    def volume_at(s, b):
        return np.maximum(0, 1 - s * heights - p.y * b).sum() / s

    tuned = tuned_volume(s * volume_at(s, b), s, dual.sum(), 1.0, alpha * p.n)
    there = volume_at(norm, other.intercept)
    if factor == 1.0:
        assert tuned == pytest.approx(there, rel=1e-4)
    else:
        assert (tuned < there * 0.999) if factor > 1 else (tuned > there * 1.001)


def test_tuned_volume_can_leave_zero():
    assert tuned_volume(0.0, 2.0, 5.0, 0.25, 0.1) == pytest.approx(0.1 * (5 - 0.5) / 0.5)
    assert tuned_volume(0.0, 2.0, 0.1, 0.25, 0.1) == 0


def test_retunes_come_a_quarter_further_each_time(random_problem, monkeypatch):
    times, t = [], 0
    while t < 100:
        t = next_retune(t)
        times.append(t)
    assert times == [32, 40, 50, 62, 77, 96, 120]

    p, seen = random_problem(0), []
    monkeypatch.setattr(sbp.SBP, "_retune", lambda self: seen.append(self.n_iter))
    SBP(p.rows, p.y, alpha=0.1, random_state=0).advance(100)
    assert seen == times[:-1]
    SBP(p.rows, p.y, nu=0.1, random_state=0).advance(100)
    assert seen == times[:-1]


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_start_determines_the_first_budget(random_problem, optimum, fit_intercept):
    """At the optimum u that is V = sum_i w_i hinge_i / ||u|| (Lemma 2.1), whatever the scale of the start."""
    p = random_problem(3, n=60)
    best = optimum(p.K, p.y, 0.02, p.weights, fit_intercept)
    f = p.K @ best.coef
    slack = p.weights @ np.maximum(0.0, 1.0 - p.y * (f + best.intercept))
    for scale in (1.0, 7.0):
        start = Solution(scale * best.coef)
        solver = SBP(p.rows, p.y, alpha=0.02, weights=p.weights, fit_intercept=fit_intercept, initial=start)
        assert solver.volume == pytest.approx(slack / np.sqrt(best.coef @ f), rel=1e-2)
