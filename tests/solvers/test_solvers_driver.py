"""The loop around a solver, on a simulated clock: limits, stopping rules, counts, callbacks."""

import numpy as np
import pytest
from countdown import Clock, Countdown
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.solvers import driver, tracing
from kernbench.solvers.driver import run
from kernbench.solvers.method import Method


@pytest.mark.parametrize("max_iter", [0, 1, 7, 100, 12345])
@pytest.mark.parametrize("granularity", [1, 4, 256])
def test_max_iter_is_met_exactly(clock, max_iter, granularity):
    solver = Countdown(clock, granularity=granularity, n_iter=1024)
    result = run(solver, max_iter=max_iter)
    assert result.n_iter == max_iter and solver.n_iter == 1024 + max_iter
    assert result.status == "max_iter" and not result.converged


def test_the_solver_is_told_the_limit_of_the_run(clock):
    class Told(Countdown):
        def stop_after(self, n_iter):
            limits.append(n_iter)

    limits, solver = [], Told(clock, n_iter=5)
    run(solver, max_iter=7)
    assert limits == [12, np.inf]  # none that is left for later calls of `advance`


def test_result_is_the_state_at_the_end(clock):
    result = run(Countdown(clock), max_iter=99)
    assert result.objective == 0.01 and result.gap == 0.005
    assert result.n_kernel_evaluations == 990
    assert result.seconds == pytest.approx(0.099)
    assert result.solution.coef.tolist() == [99.0] * 3 and result.solution.n_iter == 99


@pytest.mark.parametrize("cost", [1e-5, 1e-3, 0.04, 3.0])
def test_time_budget_is_overdrawn_by_one_chunk_at_most(clock, cost):
    result = run(Countdown(clock, cost=cost), max_seconds=10.0)
    assert result.status == "max_seconds"
    assert 10.0 <= result.seconds + 1e-9 < 10.0 + max(2 * driver.CHUNK_SECONDS, cost)


def test_no_time_means_no_iteration(clock):
    solver = Countdown(clock)
    assert run(solver, max_seconds=0).status == "max_seconds"
    assert solver.steps == []


@pytest.mark.parametrize("cost", [1e-6, 1e-3, 0.03])
def test_chunks_settle_at_the_time_between_two_looks(clock, cost):
    """Ctrl-C is answered soon, and the overhead of the loop is small."""
    solver = Countdown(clock, cost=cost)
    run(solver, max_seconds=5.0)
    settled = np.array(solver.steps[12:-1]) * cost
    assert settled.max() <= 2 * driver.CHUNK_SECONDS and settled.min() >= driver.CHUNK_SECONDS / 2


@pytest.mark.parametrize("check_cost", [0.0, 2.0])
def test_the_cost_of_a_check_does_not_change_the_chunks(clock, check_cost):
    """The length of a chunk depends on the time of `advance` only, not on that of `check`."""
    solver = Countdown(clock, cost=1e-3, check_cost=check_cost, first_check=200)
    run(solver, tol=0.1, max_iter=3000)
    checked = {n_iter for n_iter, _ in solver.checks}
    ends = np.cumsum(solver.steps)
    after = [step for step, end in zip(solver.steps[1:], ends[:-1], strict=True) if end in checked and end < 2500]
    assert len(after) >= 4
    # A chunk that a check cuts short does not change the length of the next ones.
    assert max(solver.steps) * 1e-3 <= 2 * driver.CHUNK_SECONDS
    assert min(after) * 1e-3 >= driver.CHUNK_SECONDS / 4


def test_chunks_that_checks_cut_short_do_not_measure_the_speed(clock):
    solver = Countdown(clock, cost=1e-3, first_check=10)
    run(solver, tol=0.1, max_iter=3000)
    assert max(solver.steps) * 1e-3 <= 2 * driver.CHUNK_SECONDS


def test_a_slow_grain_is_not_split(clock):
    solver = Countdown(clock, cost=1.0, granularity=8)
    run(solver, max_iter=80)
    assert solver.steps == [8] * 10


@settings(max_examples=80, deadline=None)
@given(
    granularity=st.sampled_from([1, 3, 10, 256]),
    first_check=st.integers(1, 12),
    started=st.integers(0, 40),
    cost=st.sampled_from([1e-6, 1e-4, 0.01, 0.2]),
    max_iter=st.integers(1, 20000),
)
def test_steps_are_whole_grains_and_checks_thin_out(granularity, first_check, started, cost, max_iter):
    """Checks must not disturb the iterates nor cost more than a share of the run, warm or cold."""
    clock = Clock()
    solver = Countdown(
        clock, cost=cost, granularity=granularity, first_check=first_check * granularity, n_iter=started * granularity
    )
    with pytest.MonkeyPatch.context() as patch:
        for module in (driver, tracing):
            patch.setattr(module, "perf_counter", clock)
        run(solver, max_iter=max_iter, tol=0.1)
    assert all(step % granularity == 0 for step in solver.steps[:-1])
    assert sum(solver.steps) == max_iter
    asked = [n_iter for n_iter, _ in solver.checks[:-1]]  # the last one is at the end of the run
    assert all(later >= earlier + granularity for earlier, later in zip(asked, asked[1:], strict=False))
    assert len(asked) <= 3 + np.log(1 + max_iter / granularity) / np.log(1.25)


@settings(max_examples=40, deadline=None)
@given(block=st.integers(1, 40), granularity=st.sampled_from([1, 4]), first_check=st.integers(1, 30))
def test_a_solver_may_finish_its_block_beyond_a_check(block, granularity, first_check):
    """It is asked for at least one iteration each time, and checks thin out as for others."""

    class Blocks(Countdown):
        def advance(self, n_iter):
            asked.append(n_iter)
            done = 0
            while done < n_iter:
                done += super().advance(block)
            return done

    clock, asked = Clock(), []
    solver = Blocks(clock, granularity=granularity, first_check=first_check, ends_at=400)
    with pytest.MonkeyPatch.context() as patch:
        for module in (driver, tracing):
            patch.setattr(module, "perf_counter", clock)
        result = run(solver, tol=0.1, max_iter=10**4)
    assert result.status == "converged" and min(asked) >= 1
    assert 400 <= result.n_iter <= 400 * driver.CHECK_GROWTH + block + granularity
    assert len(solver.checks) <= 3 + np.log(1 + result.n_iter) / np.log(1.25)


def test_the_rule_is_tested_with_the_users_tol_and_only_then(clock):
    solver = Countdown(clock, first_check=10)
    run(solver, max_iter=100, tol=0.25)
    assert solver.checks[0][0] == 10 and {tol for _, tol in solver.checks} == {0.25}
    solver = Countdown(clock, first_check=10)
    run(solver, max_iter=100)
    assert solver.checks == []


def test_run_ends_when_the_rule_holds(clock):
    solver = Countdown(clock, first_check=8, ends_at=1000)
    result = run(solver, tol=0.1, max_iter=10**6)
    assert result.status == "converged" and result.converged
    assert 1000 <= result.n_iter <= 1000 * driver.CHECK_GROWTH
    assert result.n_iter == solver.checks[-1][0]


@pytest.mark.parametrize("objective", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("gap, holds", [(0.99e-2, True), (1.01e-2, False), (None, False)])
def test_the_usual_rule_compares_the_gap_with_tol_times_the_objective(objective, gap, holds):
    class Certified(Method):
        def objective(self):
            return objective

        def gap(self):
            return None if gap is None else gap * objective

    solver = Certified(core=None)
    assert solver.check(1e-2) is holds and solver.converged is holds


def test_the_rule_is_tested_at_the_limit_too(clock):
    """A run that converges in its last iteration has converged."""
    for limit in ({"max_iter": 1000}, {"max_seconds": 1.0}):
        assert run(Countdown(clock, first_check=900, ends_at=901), tol=0.1, **limit).status == "converged"


def test_testing_is_on_the_clock(clock):
    solver = Countdown(clock, cost=1e-3, first_check=10, check_cost=0.5)
    result = run(solver, tol=0.1, max_seconds=2.2)
    in_the_loop = [n_iter for n_iter, _ in solver.checks if n_iter < result.n_iter]
    assert result.seconds >= 0.5 * len(in_the_loop) and len(in_the_loop) >= 3


def test_a_solver_that_watches_itself_ends_the_run(clock):
    class Watchful(Countdown):
        def advance(self, n_iter):
            n_iter = min(n_iter, 500 - self.n_iter)
            self.converged = self.n_iter + n_iter == 500
            return super().advance(n_iter)

    result = run(Watchful(clock), tol=0.1, max_iter=10**6)
    assert result.status == "converged" and result.n_iter == 500


def test_a_solver_with_nothing_left_to_do_ends_the_run(clock):
    class Stuck(Countdown):
        def advance(self, n_iter):
            return super().advance(max(0, min(n_iter, 300 - self.n_iter)))

    result = run(Stuck(clock), tol=0.1)
    assert result.status == "stalled" and not result.converged and result.n_iter == 300


@pytest.mark.parametrize("returned, counted, words", [(None, True, "None"), (1, False, "1, and n_iter is 0")])
def test_a_solver_that_does_not_count_its_iterations_is_refused(clock, returned, counted, words):
    """It would run for ever, since no limit of iterations would be reached."""

    class Forgetful(Countdown):
        def advance(self, n_iter):
            super().advance(n_iter)
            if not counted:
                self.n_iter = 0
            return returned

    with pytest.raises(ValueError, match=rf"Forgetful.advance\(1\) returned {words}"):
        run(Forgetful(clock), max_iter=10, max_seconds=10.0)


def test_a_solver_already_converged_does_nothing(clock):
    solver = Countdown(clock)
    solver.converged = True
    assert run(solver, max_iter=10).status == "converged" and solver.steps == []


def test_a_run_to_a_smaller_tol_continues_where_one_to_a_larger_tol_converged(clock):
    class Judged(Countdown):
        check = Method.check

        def objective(self):
            return 1.0

    solver = Judged(clock, first_check=1)
    rough, fine, again = (run(solver, tol=tol, max_iter=10**6) for tol in (0.1, 1e-3, 0.1))
    assert rough.converged and rough.gap > 1e-3
    assert fine.converged and fine.gap <= 1e-3 and fine.n_iter > 0
    assert again.converged and again.n_iter == 0


def test_two_runs_are_one_long_run(clock):
    solver = Countdown(clock, granularity=4, first_check=8)
    first, second = run(solver, max_iter=400, tol=0.1), run(solver, max_iter=800, tol=0.1)
    assert (first.n_iter, second.n_iter, solver.n_iter) == (400, 800, 1200)
    assert second.trace["n_iter"][0] == 400 and second.trace["seconds"][0] == 0
    assert all(step % 4 == 0 for step in solver.steps)


# --- the trace ------------------------------------------------------------------------------------


def test_trace_tells_the_run_from_first_to_last(clock):
    result = run(Countdown(clock), max_iter=5000)
    trace = {name: np.array(column) for name, column in result.trace.items()}
    assert set(trace) == {"n_iter", "seconds", "n_kernel_evaluations", "objective"}
    assert len({len(column) for column in trace.values()}) == 1
    assert trace["n_iter"][0] == 0 and trace["seconds"][0] == 0
    assert trace["n_iter"][-1] == 5000 and trace["seconds"][-1] == pytest.approx(result.seconds)
    assert np.all(np.diff(trace["n_iter"]) > 0) and np.all(np.diff(trace["seconds"]) > 0)
    np.testing.assert_array_equal(trace["n_kernel_evaluations"], 10 * trace["n_iter"])
    np.testing.assert_array_equal(trace["objective"], 1 / (1 + trace["n_iter"]))


@pytest.mark.parametrize("seconds, points", [(1.0, 30), (100.0, 70), (1000.0, 85)])
def test_trace_of_a_long_run_stays_short(clock, seconds, points):
    trace = run(Countdown(clock), max_seconds=seconds).trace
    assert points / 4 <= len(trace["seconds"]) <= points


def test_trace_of_a_dual_method_follows_its_own_objective(clock):
    class Dual(Countdown):
        def dual_objective(self):
            return -1 / (1 + self.n_iter)

    solver = Dual(clock)
    result = run(solver, max_iter=2000)
    assert result.trace["objective"] == [-1 / (1 + n_iter) for n_iter in result.trace["n_iter"]]
    assert result.objective == 1 / 2001
    assert solver.n_objectives == 1  # it may cost a pass over the kernel


# --- callbacks ------------------------------------------------------------------------------------


def test_callback_sees_every_point_of_the_trace_and_adds_to_it(clock):
    seen = []

    def callback(solver):
        seen.append(solver.n_iter)
        return {"error": 2.0 * solver.n_iter} | ({"late": 1} if solver.n_iter >= 1000 else {})

    result = run(Countdown(clock), max_iter=3000, callback=callback)
    assert result.trace["n_iter"] == seen
    assert result.trace["error"] == [2.0 * n_iter for n_iter in seen]
    assert result.trace["late"] == [1 if n_iter >= 1000 else None for n_iter in seen]


def test_callbacks_of_a_list_share_a_snapshot_and_the_trace_gets_all_their_columns(clock):
    snapshots, seen = [], ([], [])

    def snapshot(solver):
        snapshots.append(object())
        return snapshots[-1]

    def first(state):
        seen[0].append(state)
        return {"first": len(seen[0])}

    def second(state):
        seen[1].append(state)
        return {"second": -len(seen[1])}

    trace = run(Countdown(clock), max_iter=3000, callback=[first, second], snapshot=snapshot).trace
    assert seen[0] == seen[1] == snapshots
    assert trace["first"] == [-n for n in trace["second"]] == list(range(1, len(trace["n_iter"]) + 1))


@pytest.mark.parametrize("answer", [True, np.True_], ids=["True", "NumPy's True"])
def test_callback_that_returns_true_stops_the_run(clock, answer):
    result = run(Countdown(clock), max_iter=10**6, callback=lambda solver: answer if solver.n_iter >= 500 else None)
    assert result.status == "callback" and not result.converged
    assert 500 <= result.n_iter < 1000
    assert result.trace["n_iter"][-1] == result.n_iter


@pytest.mark.parametrize("limit", [{"max_iter": 300}, {"max_iter": 300, "tol": 0.1}, {"max_seconds": 0.01}])
@pytest.mark.parametrize("first_check", [None, 1])
def test_callback_that_returns_true_at_the_end_of_a_run_wins(clock, limit, first_check):
    """However fast the machine: over a limit, and over convergence at the same point."""
    solver = Countdown(clock, first_check=first_check, ends_at=1)
    result = run(solver, callback=lambda solver: solver.n_iter > 0, **limit)
    assert result.status == "callback" and not result.converged and result.n_iter > 0


def test_callback_that_returns_true_wins_over_a_solver_that_has_converged(clock):
    solver = Countdown(clock)
    solver.converged = True
    assert run(solver, callback=lambda solver: True).status == "callback"


def test_one_true_of_several_callbacks_stops_and_columns_are_kept(clock):
    answers = [lambda solver: {"error": 1.0}, lambda solver: True, lambda solver: False]
    result = run(Countdown(clock), max_iter=1000, callback=answers)
    assert result.status == "callback" and result.trace["error"] == [1.0]


@pytest.mark.parametrize("answer", [False, np.False_, None, {}], ids=repr)
def test_callback_that_returns_nothing_lets_the_run_go_on(clock, answer):
    result = run(Countdown(clock), max_iter=1000, callback=lambda solver: answer)
    assert result.status == "max_iter"
    assert set(result.trace) == {"n_iter", "seconds", "n_kernel_evaluations", "objective"}


@pytest.mark.parametrize("answer", [1.5, 0, "stop", [1]], ids=repr)
def test_callback_that_returns_anything_else_is_refused(clock, answer):
    with pytest.raises(ValueError, match="None, a dict of trace columns, or True"):
        run(Countdown(clock), max_iter=1000, callback=lambda solver: answer)


def test_callbacks_and_objectives_are_off_the_clock(clock):
    class Dear(Countdown):
        def objective(self):
            self.clock.now += 100.0
            return 1.0

    def callback(solver):
        clock.now += 1000.0

    result = run(Dear(clock), max_iter=400, max_seconds=1.0, callback=callback)
    assert result.status == "max_iter"
    assert result.seconds == pytest.approx(0.4) == result.trace["seconds"][-1]
    assert clock.now > 2000


def test_errors_of_a_callback_come_through(clock):
    with pytest.raises(ZeroDivisionError):
        run(Countdown(clock), max_iter=10, callback=lambda solver: 1 / 0)


def test_evaluations_of_others_on_shared_rows_are_not_counted(clock):
    solver = Countdown(clock)
    first = run(solver, max_iter=100)
    second = run(solver, max_iter=50, counted_from=solver.n_kernel_evaluations)
    assert (first.n_kernel_evaluations, second.n_kernel_evaluations) == (1000, 500)
    assert second.trace["n_kernel_evaluations"][0] == 0 and second.trace["n_kernel_evaluations"][-1] == 500
    assert len(second.trace["n_iter"]) == len(set(second.trace["n_iter"]))


@pytest.mark.parametrize("step_name, status", [(None, "max_iter"), ("eta0", "diverged")])
def test_an_objective_that_is_not_finite_names_the_step_if_there_is_one(clock, step_name, status):
    class Huge(Countdown):
        def objective(self):
            return np.inf

    solver = Huge(clock)
    solver.step_name = step_name
    result = run(solver, max_iter=5)
    assert result.status == status and ("lower eta0" in result.message) == (step_name is not None)
