"""How often a run is looked at: seldom where looks are expensive, as often as a curve needs where that is asked for."""

import time
from unittest.mock import Mock

import numpy as np

from kernbench.solvers import driver, tracing
from kernbench.solvers.method import Method


class Walk(Method):
    """A solver whose iterations take half a millisecond each."""

    first_check = None

    def __init__(self):
        self.n_iter = 0

    def advance(self, steps):
        time.sleep(0.0005 * steps)
        self.n_iter += steps
        return steps

    def objective(self):
        return 1.0 / (1 + self.n_iter)

    def solution(self):
        return np.array([self.n_iter])

    def gap(self):
        return None


class Look:
    """A callback that takes five milliseconds."""

    def __call__(self, solver):
        time.sleep(0.005)


def n_points(look):
    found = driver.run(Walk(), max_iter=400, callback=look)
    assert found.n_iter == 400 and found.trace["n_iter"][-1] == 400
    return len(found.trace["n_iter"])


def test_pace_zero_gives_a_short_run_a_curve_and_looks_are_seldom_otherwise():
    curious = Look()
    curious.pace = 0
    assert n_points(Look()) <= 5
    assert n_points(curious) >= 8
    assert n_points([Look(), curious]) >= 8


def test_an_attribute_of_another_meaning_is_ignored():
    assert tracing.Callbacks(Mock(), None).pace == tracing.LEAST_PACE == tracing.Callbacks([], None).pace
