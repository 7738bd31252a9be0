"""NORMA is the published recursion, and the error of its truncation is bounded as proved."""

from types import SimpleNamespace

import numpy as np
import pytest
from online_solvers import either_twin, solver_of

from kernbench import KernelSVC
from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.problems.draws import as_generator, draw_indices
from kernbench.problems.kernel.online import StepRule
from kernbench.problems.margin_problem import MarginProblem
from kernbench.solvers.base import Solution


def norma_recursion(K, y, lam, rule, loss, draws, *, bias, newest=np.inf, window=np.inf):
    """The published update, term by term."""
    terms, b = [], 0.0  # [example, coefficient, step]
    for t, i in enumerate(draws, start=1):
        f = sum(c * y[j] * K[i, j] for j, c, _ in terms) + b
        gamma = rule(t)
        push = -float(MARGIN_LOSSES[loss].slope(y[i] * f))
        for term in terms:
            term[1] *= 1 - gamma * lam
        if push:
            terms.append([i, gamma * push, t])
            b += bias * gamma * push * y[i]
        terms = [term for term in terms if term[2] > t - window]
        terms = terms[-int(newest) :] if np.isfinite(newest) else terms
    coef = np.zeros(len(y))
    for i, c, _ in terms:
        coef[i] += c * y[i]
    return coef


@either_twin
@pytest.mark.parametrize("dropped", [{}, {"truncation": 6}, {"window": 15}])
@pytest.mark.parametrize("schedule", ["inverse_sqrt", "inverse", "constant"])
def test_norma_is_the_published_recursion(twin, schedule, dropped, random_problem):
    p = random_problem(0)
    for loss in MARGIN_LOSSES:
        problem = MarginProblem(p.rows, p.y, alpha=0.05, loss=loss)
        rule = StepRule.of(problem, np.ones(p.n), schedule, 0.5)
        solver = solver_of("norma", twin, p, alpha=0.05, loss=loss, schedule=schedule, step_size=0.5, rescale=False,
                           random_state=3, **dropped)  # fmt: skip
        solver.advance(300)
        draws = draw_indices(as_generator(3), 300, p.n)
        expected = norma_recursion(p.K, p.y, 0.05, rule, loss, draws, bias=True,
                                   newest=dropped.get("truncation", np.inf), window=dropped.get("window",
                                   np.inf))  # fmt: skip
        np.testing.assert_allclose(solver.solution().coef, expected, rtol=1e-8, atol=1e-10)
        if "truncation" in dropped:
            assert np.count_nonzero(solver.solution().coef) <= 6
            assert solver.n_logical_evaluations <= 6 * 300


@either_twin
def test_the_terms_of_a_start_date_from_its_last_step(twin, random_problem):
    p = random_problem(0)
    start = Solution(0.1 * p.y, n_iter=1000)
    solver = solver_of("norma", twin, p, alpha=0.05, window=50, rescale=False, random_state=3, initial=start)
    solver.advance(49)
    assert solver.solution().coef.all()
    solver.advance(51)
    assert solver.terms[:, 2].min() > 1050


@either_twin
def test_truncation_error_of_norma_is_bounded(twin, random_problem):
    """Proposition 1 of the paper: with steps gamma the terms older than tau steps weigh at most (1 - gamma
    lambda)^tau r / lambda.

    At lambda = 1 every margin is violated, so that dropping terms changes no step and leaves exactly these
    out.
    """
    p = random_problem(1)
    for tau in (5, 20, 60):
        options = dict(
            alpha=1.0, fit_intercept=False, schedule="constant", step_size=0.3, rescale=False, random_state=0
        )
        gamma = StepRule.of(MarginProblem(p.rows, p.y, alpha=1.0), np.ones(p.n), "constant", 0.3)(1)
        whole, part = (solver_of("norma", twin, p, **options), solver_of("norma", twin, p, window=tau, **options))
        whole.advance(200 - tau)
        old = whole.solution().coef
        whole.advance(tau)
        part.advance(200)
        left_out = whole.solution().coef - part.solution().coef
        np.testing.assert_allclose(left_out, (1 - gamma) ** tau * old, atol=1e-12)
        assert 0 < np.sqrt(left_out @ p.K @ left_out) <= (1 - gamma) ** tau


def test_steps_are_bounded_by_the_penalty_whatever_rows_without_weight_are():
    y, weights = np.array([1.0, -1.0, 1.0]), np.array([1.0, 1.0, 0.0])
    problem = MarginProblem(SimpleNamespace(n_rows=3), y, alpha=2.0, weights=weights)
    rules = [StepRule.of(problem, np.array([1.0, 1.0, far]), "inverse_sqrt", 10.0) for far in (1.0, 1e6)]
    assert rules[0] == rules[1] and rules[0](1) == pytest.approx(0.5 / 3.0)


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_intercept_of_small_rows_does_not_diverge(loss):
    rng = np.random.default_rng(0)
    X = 0.1 * rng.normal(size=(200, 2))
    y = np.sign(X[:, 0] + 0.02 * rng.normal(size=200))
    model = KernelSVC("linear", solver="norma", C=500.0, loss=loss, random_state=0).fit(X, y)
    assert np.abs(model.intercept_) < 10 and model.score(X, y) > 0.8


def test_rows_of_length_one_have_the_steps_of_the_kernel_alone():
    problems = [
        MarginProblem(
            SimpleNamespace(n_rows=2), np.array([1.0, -1.0]), alpha=1e-9, loss="squared_hinge", fit_intercept=free
        )
        for free in (True, False)
    ]
    rules = [StepRule.of(problem, np.ones(2), "constant", 1e9) for problem in problems]
    assert rules[0].longest == rules[1].longest == 1 / problems[0].loss.smoothness
    short = [StepRule.of(problem, np.full(2, 0.01), "constant", 1e9).longest for problem in problems]
    assert short[1] / short[0] == pytest.approx(1.01 / 0.01)
