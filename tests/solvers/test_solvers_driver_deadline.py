"""Runs out of time: long iterations are broken off, and no certificate that takes a kernel pass is computed."""

from threading import Event
from time import perf_counter

import numpy as np
import pytest

from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.method import CostlyGap, Method


class LongIterations(Method):
    """Each iteration lasts until it is told to break off."""

    gap_is_costly = True

    def __init__(self):
        self.n_iter, self.deadlines, self.asked = 0, [], []

    def stop_at(self, time):
        self.deadlines.append(time)

    def advance(self, n_iter):
        while perf_counter() < self.deadlines[-1]:
            pass
        return 0

    def check(self, tol):
        self.asked.append("check")
        return False

    def objective(self):
        return 1.0

    def gap(self):
        self.asked.append("gap")
        return 0.5

    def known_gap(self):
        self.asked.append("known_gap")
        return 0.75

    def solution(self):
        return Solution(np.zeros(1), n_iter=self.n_iter)


def test_an_iteration_is_broken_off_at_the_deadline():
    solver, before = LongIterations(), perf_counter()
    result = driver.run(solver, tol=1e-3, max_seconds=0.05)
    assert result.status == "max_seconds"  # not "stalled", though nothing was done
    assert result.n_iter == 0
    assert before + 0.05 <= solver.deadlines[0] <= perf_counter()


def test_out_of_time_the_gap_is_the_one_that_is_known():
    solver = LongIterations()
    result = driver.run(solver, tol=1e-3, max_seconds=0.01)
    assert result.gap == 0.75
    assert solver.asked == ["known_gap"]


@pytest.mark.parametrize("callback", [None, lambda solver: True], ids=["limit", "callback"])
def test_in_time_the_gap_is_computed(callback):
    solver = LongIterations()
    solver.advance = lambda n_iter: setattr(solver, "n_iter", solver.n_iter + n_iter) or n_iter
    result = driver.run(solver, tol=1e-3, max_iter=3, callback=callback)
    assert result.status == ("max_iter" if callback is None else "callback")
    assert result.gap == 0.5 and "known_gap" not in solver.asked


def test_a_run_without_a_limit_has_no_deadline_of_an_earlier_one():
    solver = LongIterations()
    driver.run(solver, max_seconds=0.01)
    driver.run(solver, max_iter=0)
    assert solver.deadlines[-1] == np.inf


def test_after_ctrl_c_the_gap_is_the_one_that_is_known():
    solver, stop = LongIterations(), Event()
    stop.set()
    result = driver.run(solver, tol=1e-3, max_seconds=1.0, stop=stop)
    assert (result.status, result.gap) == ("interrupted", 0.75)


def test_the_known_gap_is_that_to_the_best_bound_so_far():
    """Objectives rise and fall, but a lower bound on the optimum holds for all of them."""

    class Wandering(CostlyGap):
        objectives, gaps = (10.0, 8.0, 9.0, 7.0), (3.0, 4.0, 9.5, 1.0)  # bounds 7, 4, -0.5 and 6
        n_searches = 0

        def objective(self):
            return self.objectives[self.n_iter]

        def _find_gap(self):
            self.n_searches += 1
            return self.gaps[self.n_iter]

    solver, known = Wandering(core=None), []
    assert solver.known_gap() == 10.0  # to the bound 0
    for solver.n_iter in range(4):
        assert solver.gap() == solver.gap() == solver.gaps[solver.n_iter]
        known.append(solver.known_gap())
    assert known == [3.0, 1.0, 2.0, 0.0] and solver.n_searches == 4
