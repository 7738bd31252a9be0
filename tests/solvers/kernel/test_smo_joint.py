"""JointSMO: several problems on the same rows have the optima that SMO finds for each; kernel rows are shared."""

import signal
from threading import Barrier, BrokenBarrierError, Event, current_thread, main_thread
from time import perf_counter, sleep

import numpy as np
import pytest
from sklearn.datasets import make_classification

from kernbench.kernels._thread_pool import call_each
from kernbench.kernels.functions import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.kernels.threads import openmp_threads
from kernbench.problems.margin_problem import MarginProblem
from kernbench.reference.kernel.smo import joint as reference
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo import _joint, joint
from kernbench.solvers.kernel.smo.dual_state import State
from kernbench.solvers.kernel.smo.joint import JointSMO
from kernbench.solvers.kernel.smo.smo import SMO

N = 300


def folds(n_folds, seed=0, n=N):
    """Rows, labels and the weights of each fold: 0 where it holds rows out."""
    X, codes = make_classification(n, 6, n_informative=4, flip_y=0.1, random_state=seed)
    fold = np.arange(n) % n_folds
    return X, 2.0 * codes - 1.0, [np.where(fold == k, 0.0, 1.0) for k in range(n_folds)]


def problems_of(rows, y, weights, C=10.0, **settings):
    return [MarginProblem(rows, y, alpha=1.0 / (C * len(y)), weights=own, **settings) for own in weights]


def zeros(n, count):
    return [Solution(np.zeros(n), state={"products": np.zeros(n)}) for _ in range(count)]


@pytest.fixture
def small_sets(monkeypatch):
    for name, value in (("LEAST_MEMBERS", 40), ("SHARED_MEMBERS", 90)):
        monkeypatch.setattr(joint, name, value)


@pytest.mark.usefixtures("small_sets")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(
    "core, dtype",
    [
        ("compiled", np.float32),
        ("compiled", np.float64),
        pytest.param("reference", np.float32, marks=pytest.mark.slow),
        ("reference", np.float64),
    ],
)
def test_each_problem_has_the_optimum_that_it_has_alone(core, loss, fit_intercept, dtype):
    X, y, weights = folds(4)
    rows = (KernelRows if core == "compiled" else ReferenceRows)(X, Gaussian(1.5), dtype=dtype)
    problems = problems_of(rows, y, weights, loss=loss, fit_intercept=fit_intercept)
    solver = JointSMO(rows, problems, zeros(N, 4), tol=1e-4, core=core)
    assert driver.run(solver, tol=1e-4).converged
    alone = KernelRows(X, Gaussian(1.5), dtype=np.float64)
    for problem, own, solution, violation in zip(problems, weights, solver.solutions(), solver.violations, strict=True):
        assert violation <= 1e-4 and not np.any(solution.coef[own == 0.0])
        products = alone.matvec(solution.coef)
        np.testing.assert_allclose(solution.state["products"], products, atol=1e-4)
        smo = SMO(alone, y, alpha=problem.alpha, weights=own, loss=loss, fit_intercept=fit_intercept, tol=1e-6)
        best = driver.run(smo, tol=1e-6).objective
        mine = problem.objective(products, float(solution.coef @ products), solution.intercept)
        assert best * (1 - 1e-6) <= mine <= best * (1 + 1e-3)


@pytest.mark.parametrize("size", [80, 250])
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_cores_take_the_same_steps(loss, with_bias, size):
    X, y, weights = folds(3, seed=1)
    members = np.random.default_rng(0).permutation(N)[:size]
    ends = []
    for core, kind in ((_joint, KernelRows), (reference, ReferenceRows)):
        rows = kind(X, Gaussian(1.5), dtype=np.float64)
        problem = problems_of(rows, y, weights[:1], loss=loss, fit_intercept=with_bias)[0]
        matrix = core.kernel_between(rows, members)
        state = State.of(problem, rows.diagonal())
        ends += [core.solve_members(matrix, members, state, with_bias, 1e-3, 150, lambda: False)]
        assert not state.beta.any()
    assert ends[0][1] == ends[1][1] > 20
    np.testing.assert_allclose(ends[0][0], ends[1][0], atol=1e-9 * np.abs(ends[1][0]).max())


@pytest.mark.usefixtures("small_sets")
def test_threads_do_not_change_the_solutions():
    X, y, weights = folds(5)
    found = []
    for n_threads in (1, 2, 3):
        rows = KernelRows(X, Gaussian(1.5))
        solver = JointSMO(rows, problems_of(rows, y, weights), zeros(N, 5), n_threads=n_threads)
        driver.run(solver, tol=1e-3)
        found.append([solution.coef for solution in solver.solutions()])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_do_not_change_the_kernel_between_members(dtype):
    X = np.random.default_rng(0).normal(size=(600, 6))
    members, found = np.arange(600)[::-1][:500].copy(), []
    for n_threads in (1, 2):
        rows = KernelRows(X, Gaussian(1.5), dtype=dtype)
        rows.batch(members[::2])  # these are in the cache
        with openmp_threads(n_threads):
            found.append(_joint.kernel_between(rows, members))
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0][:, :500], rows.block(members, members), rtol=1e-5)
    assert not found[0][:, 500:].any()


@pytest.mark.usefixtures("small_sets")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_in_one_problem_leaves_coefficients_and_gradients_that_agree(n_threads):
    class Core:
        kernel_between, n_calls = staticmethod(_joint.kernel_between), 0

        def solve_members(self, *arguments):
            self.n_calls += 1
            if self.n_calls == 7:
                raise KeyboardInterrupt
            return _joint.solve_members(*arguments)

    X, y, weights = folds(5)
    rows = KernelRows(X, Gaussian(1.5), dtype=np.float64)
    solver = JointSMO(rows, problems_of(rows, y, weights), zeros(N, 5), n_threads=n_threads)
    solver.core = Core()
    assert driver.run(solver, tol=1e-3).status == "interrupted"
    for state in solver.states:
        np.testing.assert_allclose(state.e, y - rows.matvec(state.beta), atol=1e-9)
    solver.core = _joint
    assert driver.run(solver, tol=1e-3).converged


def pool_has_two_threads():
    both = Barrier(2)
    try:
        call_each(lambda _: both.wait(10.0), [0, 1], 2)
    except BrokenBarrierError:
        return False
    return True


@pytest.mark.usefixtures("small_sets")
def test_ctrl_c_ends_the_longest_problem_while_the_main_thread_has_none():
    if not pool_has_two_threads():
        pytest.skip("built without OpenMP")
    both, main_is_done, told = Barrier(2), Event(), []

    class Core:
        kernel_between = staticmethod(_joint.kernel_between)

        def solve_members(self, *arguments):
            both.wait(10.0)  # each thread has one of the two problems
            if current_thread() is main_thread():
                found = _joint.solve_members(*arguments)
                main_is_done.set()
                return found
            *_, should_stop = arguments
            main_is_done.wait(10.0)
            sleep(0.05)  # until it waits for this thread
            signal.raise_signal(signal.SIGINT)
            end = perf_counter() + 10.0
            while not should_stop() and perf_counter() < end:
                sleep(0.001)
            told.append(should_stop())
            return _joint.solve_members(*arguments)

    X, y, weights = folds(2)
    rows = KernelRows(X, Gaussian(1.5), dtype=np.float64)
    solver = JointSMO(rows, problems_of(rows, y, weights), zeros(N, 2), n_threads=2)
    solver.core = Core()
    assert driver.run(solver, tol=1e-3).status == "interrupted"
    assert told == [True]


def test_rows_are_shared_by_all_problems():
    """Ten folds take the kernel values of a few more rows than one, not ten times as many."""
    X, y, weights = folds(10, n=2000)
    values = []
    for own in (weights[:1], weights):
        rows = KernelRows(X, Gaussian(1.5), keep=True)
        driver.run(JointSMO(rows, problems_of(rows, y, own, C=1.0), zeros(len(y), len(own))), tol=1e-3)
        values.append(rows.n_evaluations)
    assert values[1] < 2 * values[0]


def test_a_solution_needs_no_step_and_no_kernel_value():
    X, y, weights = folds(2)
    rows = KernelRows(X, Gaussian(1.5), dtype=np.float64)
    first = JointSMO(rows, problems_of(rows, y, weights), zeros(N, 2))
    driver.run(first, tol=1e-3)
    before = rows.n_evaluations
    again = JointSMO(rows, problems_of(rows, y, weights), first.solutions())
    result = driver.run(again, tol=1e-3)
    assert result.converged and result.n_iter == 0 and rows.n_evaluations == before
    assert result.trace["objective"][-1] <= result.objective


def test_starts_stay_as_they_were():
    X, y, weights = folds(2)
    rows, starts = KernelRows(X, Gaussian(1.5), dtype=np.float64), zeros(N, 2)
    solver = JointSMO(rows, problems_of(rows, y, weights), starts)
    driver.run(solver, tol=1e-3)
    assert all(solution.coef.any() for solution in solver.solutions())
    assert not any(start.coef.any() or start.state["products"].any() for start in starts)


def test_a_deadline_ends_a_round():
    X, y, weights = folds(2)
    rows = KernelRows(X, Gaussian(1.5))
    solver = JointSMO(rows, problems_of(rows, y, weights), zeros(N, 2))
    solver.stop_at(0.0)
    assert solver.advance(10**6) == 0 and not solver.converged


@pytest.mark.usefixtures("small_sets")
def test_more_free_coefficients_than_a_set_holds(monkeypatch):
    """The rounds go on, or end with `finished`; the coefficients stay feasible and the dual objective grows."""
    monkeypatch.setattr(joint, "MOST_MEMBERS", 40)
    X, y, weights = folds(2)
    rows = KernelRows(X, Gaussian(0.5))
    problems = problems_of(rows, y, weights, C=1e4)
    solver = JointSMO(rows, problems, zeros(N, 2), tol=1e-6)
    bounds = []
    while not (solver.converged or solver.finished):
        solver.advance(1)
        bounds.append(solver.dual_objective())
    assert np.all(np.diff(bounds) >= -1e-9 * bounds[-1]) and bounds[-1] > 0.0
    for problem, solution in zip(problems, solver.solutions(), strict=True):
        lower, upper = problem.box()
        assert np.all((lower <= solution.coef) & (solution.coef <= upper))
        assert abs(solution.coef.sum()) <= 1e-9 * np.abs(solution.coef).sum()
