"""The parts of SMO, each against its definition: the dual state, shrinking, stagnation, the rescaled solution."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.svm import SVC

from kernbench.kernels import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.problems.margin_problem import MarginProblem
from kernbench.problems.nu_problem import NuClassification, NuMargin
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo import _smo, stagnation
from kernbench.solvers.kernel.smo.active_set import ActiveSet
from kernbench.solvers.kernel.smo.certificate import is_zero, rescaled
from kernbench.solvers.kernel.smo.dual_state import State
from kernbench.solvers.kernel.smo.smo import SMO
from kernbench.solvers.kernel.smo.stagnation import Stagnation

N = 12


def line(*, zone, with_bias, C=50.0):
    """Two states on a line along which the dual objective grows, the later one close to the earlier one."""
    rng = np.random.default_rng(3)
    K = 0.1 * Gaussian(1.0)(rng.normal(size=(N, 2)))
    linear, size = rng.normal(size=N), np.full(N, C)
    before = rng.uniform(0.5, 1.0, size=N) * np.sign(rng.normal(size=N))
    direction = linear - K @ before - zone * np.sign(before)
    if with_bias:
        direction -= direction.mean()
    after = before + 1e-3 * direction
    zeros = np.zeros(N)
    states = [
        State(beta.copy(), linear - K @ beta, linear, -size, size, K.diagonal(), zeros, zeros, zone)
        for beta in (before, after)
    ]
    return K, *states


@pytest.mark.parametrize("C", [50.0, 1.2])
@pytest.mark.parametrize("zone", [0.0, 0.3])
@pytest.mark.parametrize("with_bias", [True, False])
def test_extrapolation_ends_at_the_best_point_of_the_line_in_the_box(with_bias, zone, C):
    K, before, state = line(zone=zone, with_bias=with_bias, C=C)
    start = state.beta.copy()
    direction = start - before.beta
    bound = np.where(direction > 0, C, -C)
    if zone:  # no coefficient changes its sign
        bound = np.where(start * direction < 0, 0.0, bound)
    farthest = ((bound - start) / direction).min()

    def dual(beta):
        return beta @ state.linear - 0.5 * beta @ K @ beta - zone * np.abs(beta).sum()

    assert state.extrapolate(before.beta, before.e, with_bias)
    steps = (state.beta - start) / direction
    np.testing.assert_allclose(steps, steps[0], rtol=1e-6)
    assert 1.0 < steps[0] <= farthest * (1 + 1e-9)
    assert dual(state.beta) >= max(dual(start + t * direction) for t in np.linspace(0.0, farthest, 200)) - 1e-9
    assert np.all(np.abs(state.beta) <= C) and (not zone or np.all(state.beta * start >= 0.0))


def test_extrapolation_does_not_amplify_the_rounding_of_a_sum():
    _, before, state = line(zone=0.0, with_bias=True)
    state.beta[0] += 1e-9
    total = state.beta.sum()
    assert state.extrapolate(before.beta, before.e, True)
    assert abs(state.beta.sum() - total) <= 2e-9


@pytest.mark.parametrize("share", [0.7, 1.5])
def test_near_the_best_point_of_the_line_and_beyond_it_there_is_no_extrapolation(share):
    K, before, state = line(zone=0.0, with_bias=False)
    direction = state.beta - before.beta
    best = (direction @ before.e) / (direction @ K @ direction)
    state.lower, state.upper = np.full(N, -np.inf), np.full(N, np.inf)
    state.beta = before.beta + share * best * direction
    state.e = state.linear - K @ state.beta
    start = state.beta.copy()
    assert not state.extrapolate(before.beta, before.e, False) and np.array_equal(state.beta, start)


@pytest.mark.parametrize("classic_rows", [0, 4000])
def test_where_no_coefficient_is_free_the_intercept_is_the_middle_one(classic_rows):
    """At a small C all coefficients of balanced classes are at their bound; LIBSVM takes the middle as well."""
    X = np.array([[0.0], [0.2], [1.0], [1.5]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    C = 1e-2
    svc = SVC(C=C, gamma=0.5, tol=1e-9).fit(X, y)
    rows = KernelRows(X, Gaussian(1.0), dtype=np.float64)
    found = driver.run(SMO(rows, y, alpha=1 / (C * 4), classic_rows=classic_rows), tol=1e-3).solution
    assert np.all(np.abs(found.coef) == C)
    assert found.intercept == pytest.approx(svc.intercept_[0], abs=1e-6)


@pytest.mark.parametrize("factor", [0.5, 0.9])
def test_the_rescaled_solution_stays_in_the_box(factor):
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    rows = KernelRows(X, Gaussian(1.0), dtype=np.float64)
    problem = MarginProblem(rows, y, alpha=1 / 30)
    best = driver.run(SMO(rows, y, alpha=1 / 30, tol=1e-6), tol=1e-6).solution.coef
    state = State.of(problem, rows.diagonal())
    beta = factor * best
    state = state.at(beta, state.linear - rows.matvec(beta))
    moved, _ = rescaled(problem, state)
    assert np.any(moved.beta != beta)
    assert np.all((state.lower <= moved.beta) & (moved.beta <= state.upper))
    np.testing.assert_allclose(moved.e, moved.linear - rows.matvec(moved.beta), atol=1e-12)


@pytest.mark.parametrize("n_changes", [2, 20])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_gradient_of_rows_that_are_left_out_is_that_of_the_coefficients(loss, n_changes):
    """By the coefficients that changed since, or by all that are used where these are fewer."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    rows = KernelRows(X, Gaussian(1.0), dtype=np.float64)
    problem = MarginProblem(rows, y, alpha=1 / 30, weights=rng.uniform(0.5, 2.0, 30), loss=loss)
    whole = State.of(problem, rows.diagonal())
    whole.beta[:] = 0.1 * y
    whole.e[:] = whole.linear - rows.matvec(whole.beta) - whole.ridge * whole.beta
    active, K = ActiveSet(problem, rows, whole), Gaussian(1.0)(X)
    active._leave_out(np.arange(30) % 3 == 0, np.empty(0, dtype=np.intp))
    state = active.state
    before = state.beta.copy()
    state.beta[:n_changes] = 0.0
    change, at = state.beta - before, active.indices
    state.e -= K[np.ix_(at, at)] @ change + state.ridge * change
    beta = whole.beta.copy()
    beta[at] = state.beta
    expected = whole.linear - K @ beta - whole.ridge * beta
    np.testing.assert_allclose(active.full_gradient(count=False), expected, atol=1e-12)


def test_a_falling_violation_is_progress_even_at_the_same_dual_objective():
    falls, stays = Stagnation(1.0, False), Stagnation(1.0, False)
    violation, ends = 1.0, []
    for _ in range(3 * stagnation.PATIENCE):
        violation *= 0.8
        assert not falls.update(1.0, violation, stagnation.PATIENT_STEPS)
        ends.append(stays.update(1.0, 1.0, stagnation.PATIENT_STEPS))
    assert ends.index(True) == stagnation.PATIENCE  # the first violation is progress


def test_a_larger_dual_objective_is_progress_unless_it_is_rounding():
    for single, growth, progresses in ((False, 1e-12, True), (False, 1e-14, False), (True, 1e-12, False)):
        progress, dual, ends = Stagnation(1.0, single), 1.0, []
        for _ in range(2 * stagnation.PATIENCE):
            dual += growth
            ends.append(progress.update(dual, 1.0, 100))
        assert any(ends) != progresses


def test_a_gradient_is_recomputed_twice_and_after_progress_only():
    progress = Stagnation(1.0, False)
    assert progress.may_renew()
    progress.exact = True
    assert not progress.may_renew() and progress.stuck
    progress = Stagnation(1.0, False)
    assert [progress.may_renew() for _ in range(3)] == [True, True, False] and progress.stuck


@pytest.mark.parametrize("growth, is_steady", [(lambda t: t, True), (lambda t: t**2, True), (np.sqrt, False)])
def test_steady_growth_is_extrapolated_and_growth_that_slows_down_is_not(growth, is_steady):
    n, steps = 10_000, stagnation.STEADY_STEPS * 10_000
    progress, found = Stagnation(0.0, False), []
    for k in range(1, 9):
        progress.update(growth(k), 1.0, steps)
        found.append(progress.forecast(growth(k), n))
    measured = [2, 4, 8] if is_steady else []  # each time the number of steps has doubled
    for k, forecast in enumerate(found, start=1):
        expected = growth(k) + stagnation.AHEAD * growth(k) / (k * steps)
        assert forecast == (pytest.approx(expected) if k in measured else None)


def test_growth_is_hopeless_only_where_the_primal_objective_stays_far_away():
    """At a hard margin both objectives are far below that of f = 0."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    solver = SMO(KernelRows(X, Gaussian(0.5), dtype=np.float64), y, alpha=1e-9)
    driver.run(solver, tol=1e-3)
    rounds = solver.rounds
    for share, hopeless in ((1.0, False), (1e-3, True)):
        rounds.stagnation.forecast = lambda dual, n, share=share: share * dual
        assert rounds._is_hopeless() == hopeless


@pytest.mark.parametrize("apart, is_optimum", [(0.0, True), (1e-6, False), (1.0, False)])
def test_f_0_is_the_optimum_of_a_share_nu_only_if_no_function_is_better(apart, is_optimum):
    X, y = np.array([[0.0], [0.0], [apart], [apart]]), np.array([-1.0, -1.0, 1.0, 1.0])
    rows = KernelRows(X, Gaussian(1.0), dtype=np.float64)
    problem = NuClassification(rows, y, alpha=0.25, loss=NuMargin(0.5))
    state, beta = State.of(problem, rows.diagonal()), problem.start()
    state = state.at(beta, state.linear - rows.matvec(beta))
    level = problem.best_intercept(state.scores())
    assert is_zero(problem, state, level, 0.0, 1e-3) == is_optimum
    assert not is_zero(problem, state, level, 1e-5, 1e-3)


def test_products_are_those_of_the_coefficients_while_rows_are_left_out(overlapping):
    """A run that continues takes them for those of all rows, of which some are not updated at that time."""
    X, y = overlapping
    rows, K, options = KernelRows(X, Gaussian(3.0), dtype=np.float64), Gaussian(3.0)(X), {"alpha": 1 / len(y)}
    solver = SMO(rows, y, tol=1e-5, classic_rows=0, working_set_size=16, **options)
    while solver.rounds.active.indices is None:
        solver.advance(1)
    solver.advance(200)
    assert solver.rounds.active.indices is not None
    start = solver.solution()
    np.testing.assert_allclose(start.state.get("products", K @ start.coef), K @ start.coef, atol=1e-9)
    rows.release()
    found = SMO(rows, y, initial=start, **options)
    scores = K @ found.solution().coef
    assert found.objective() == pytest.approx(
        found.problem.objective(scores, found.solution().coef @ scores, found.solution().intercept), rel=1e-9
    )


def test_a_run_ends_where_no_set_allows_a_step():
    """After sets of violating rows only, and a gradient computed afresh."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    core, answers = SimpleNamespace(**vars(_smo)), iter([0] * 10)
    core.solve = lambda inner, goal, budget, most_gain: next(answers)
    rows = KernelRows(X, Gaussian(1.0), dtype=np.float64)
    solver = SMO(rows, np.sign(X[:, 0]), alpha=1 / 60, classic_rows=0, working_set_size=16, core=core)
    assert driver.run(solver, tol=1e-3, max_iter=1000).status == "stalled"


def test_a_violation_that_is_above_tol_when_the_steps_for_more_digits_run_out_is_lowered_again():
    tol, steps = 1e-2, []

    def load(inner, rows, members, state):
        inner.beta, inner.e = state.beta, state.e

    def solve(inner, goal, budget, most_gain):
        is_below = sum(steps) in (0, 1005)  # after the first steps, and after 1,000 for more digits
        steps.append(5 if is_below else budget)
        inner.violation = 0.5 * tol if is_below else 2.0 * tol
        return steps[-1]

    X = np.random.default_rng(0).normal(size=(20, 2))
    rows, y = KernelRows(X, Gaussian(1.0), dtype=np.float64), np.sign(X[:, 0])
    best = driver.run(SMO(rows, y, alpha=0.05, tol=1e-9)).solution.coef
    core = SimpleNamespace(WorkingSet=lambda *settings: SimpleNamespace(), load=load, solve=solve)
    solver = SMO(rows, y, alpha=0.05, tol=tol, initial=Solution(best), core=core)
    assert driver.run(solver, tol=tol).converged
    assert solver.violation <= tol and sum(steps) == 1010


def test_working_sets_get_smaller_down_to_the_least():
    progress, sizes = Stagnation(1.0, False), [1024]
    while not progress.stuck and len(sizes) < 10:
        sizes.append(progress.smaller_set(sizes[-1], 2))
    assert sizes == [1024, 256, 64, 16, 4, 2, 2]
