"""Ctrl-C and stop events leave a usable state."""

import signal
from threading import Event

import pytest
from countdown import Countdown

from kernbench.solvers.driver import run


def press_ctrl_c():
    signal.raise_signal(signal.SIGINT)


class Interrupted(Countdown):
    """Ctrl-C comes once, in the method named, when `at` iterations are done."""

    def __init__(self, clock, where, at=200, **settings):
        super().__init__(clock, **settings)
        self.where, self.at = where, at

    def _once(self, where):
        if self.where == where and self.n_iter >= self.at:
            self.where = None
            press_ctrl_c()

    def advance(self, n_iter):
        done = super().advance(n_iter)
        self._once("advance")
        return done

    def check(self, tol):
        self._once("check")
        return super().check(tol)

    def objective(self):
        self._once("objective")
        return super().objective()


@pytest.mark.parametrize("where", ["advance", "check", "objective"])
def test_ctrl_c_leaves_a_usable_state(clock, where):
    solver = Interrupted(clock, where, first_check=10)
    result = run(solver, max_iter=10**6, tol=0.1)
    assert result.status == "interrupted" and not result.converged
    assert 200 <= result.n_iter == solver.n_iter < 2000
    assert result.solution.n_iter == result.trace["n_iter"][-1] == result.n_iter
    assert result.objective == 1 / (1 + result.n_iter)
    assert len({len(column) for column in result.trace.values()}) == 1
    assert run(solver, max_iter=100).status == "max_iter"  # it continues from there


def test_time_spent_before_ctrl_c_counts(clock):
    result = run(Interrupted(clock, "advance", cost=2.0, at=3), max_iter=100)
    assert result.n_iter == 3 and result.seconds == pytest.approx(6.0) == result.trace["seconds"][-1]


def test_ctrl_c_in_a_callback_is_ctrl_c(clock):
    calls = []

    def callback(solver):
        calls.append(solver.n_iter)
        if len(calls) == 3:
            press_ctrl_c()
        return {"call": len(calls)}

    result = run(Countdown(clock), max_iter=10**6, callback=callback)
    assert result.status == "interrupted" and len(calls) == 3
    assert result.trace["n_iter"][-1] == result.n_iter == calls[-1]
    assert result.trace["call"] == [1, 2, None]


@pytest.mark.parametrize("n_calls", [0, 2])
def test_a_stop_event_ends_the_run_between_two_chunks(clock, n_calls):
    """For threads, which Ctrl-C does not reach."""
    stop, calls = Event(), []

    def callback(solver):
        calls.append(solver.n_iter)
        if len(calls) > n_calls:
            stop.set()

    solver = Countdown(clock, cost=1.0)
    result = run(solver, max_iter=10**6, callback=callback, stop=stop)
    assert result.status == "interrupted" and result.n_iter == solver.n_iter == len(solver.steps) == n_calls
    assert result.objective == 1 / (1 + n_calls)


def test_ctrl_c_at_the_last_look_keeps_what_was_reached(clock):
    result = run(Interrupted(clock, "check", at=1000, first_check=10**6), max_iter=1000, tol=0.1)
    assert result.status == "interrupted" and result.n_iter == 1000
    assert result.solution.n_iter == 1000


def test_ctrl_c_is_not_the_end_by_a_callback_that_is_asked_last(clock):
    solver = Interrupted(clock, "advance")
    result = run(solver, max_iter=10**6, callback=lambda now: now.where is None)
    assert result.status == "interrupted"
