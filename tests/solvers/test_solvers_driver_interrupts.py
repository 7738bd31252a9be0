"""Ctrl-C and stop events leave a usable state."""

import signal
from threading import Event

import pytest
from countdown import Countdown

from kernbench._interrupts import ended_as_by_ctrl_c
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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_what_ends_a_process_waits_for_the_step_as_ctrl_c_does(clock, monkeypatch, number):
    monkeypatch.setitem(globals(), "press_ctrl_c", lambda: signal.raise_signal(number))
    before = signal.signal(number, signal.SIG_DFL)  # which nohup changes
    try:
        with ended_as_by_ctrl_c():
            solver = Interrupted(clock, "advance", first_check=10)
            result = run(solver, max_iter=10**6)
        assert signal.getsignal(number) == signal.SIG_DFL
    finally:
        signal.signal(number, before)
    assert result.status == "interrupted" and 200 <= result.n_iter == solver.n_iter < 2000


def test_signals_that_are_ignored_stay_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ended_as_by_ctrl_c():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


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


class Torn(Countdown):
    """Ctrl-C comes when half of an iteration is done."""

    half = 0

    def advance(self, n_iter):
        self.half += n_iter
        if self.n_iter >= 200 and self.half > self.n_iter:
            press_ctrl_c()
        return super().advance(n_iter)


@pytest.mark.parametrize("is_interruptible", [False, True])
def test_ctrl_c_waits_for_the_end_of_a_chunk_unless_a_method_can_be_interrupted_anywhere(clock, is_interruptible):
    solver = Torn(clock)
    solver.is_interruptible = is_interruptible
    before = signal.getsignal(signal.SIGINT)
    result = run(solver, max_iter=10**6)
    assert result.status == "interrupted" and 200 <= result.n_iter == solver.n_iter
    assert (solver.half == solver.n_iter) == (not is_interruptible)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_twice_does_not_wait(clock):
    class Impatient(Countdown):
        def advance(self, n_iter):
            press_ctrl_c()
            press_ctrl_c()
            raise AssertionError("not reached")

    result = run(Impatient(clock), max_iter=10**6)
    assert result.status == "interrupted" and result.n_iter == 0


@pytest.mark.parametrize("where", ["objective", "gap", "whole_objective", "solution"])
def test_ctrl_c_after_the_last_iteration_keeps_the_solution(clock, where):
    class Late(Countdown):
        is_over, is_sampled = False, where == "whole_objective"

        def _press(self, here):
            if self.is_over and here == where:
                press_ctrl_c()

        def objective(self):
            self._press("objective")
            return super().objective()

        def gap(self):
            self._press("gap")
            return super().gap()

        def known_gap(self):
            return 0.5

        def whole_objective(self):
            self._press("whole_objective")
            return super().whole_objective()

        def solution(self):
            self._press("solution")
            return super().solution()

    solver = Late(clock)

    def callback(now):
        if now.n_iter >= 100:
            solver.is_over = True
            return True

    result = run(solver, max_iter=10**6, callback=callback)
    assert result.status == "interrupted" and result.solution.n_iter == result.n_iter >= 100
