"""How often a run is looked at: seldom where looks are expensive, as often as a curve needs where that is asked for, or
at iterations that do not depend on the time."""

from unittest.mock import Mock

import pytest
from countdown import Countdown

from kernbench.solvers import driver, tracing


class Look:
    """A callback that takes five milliseconds."""

    def __init__(self, clock):
        self.clock = clock

    def __call__(self, solver):
        self.clock.now += 0.005


def n_points(clock, look):
    """The points of a run of 0.2 seconds."""
    found = driver.run(Countdown(clock, cost=0.0005), max_iter=400, callback=look)
    assert found.n_iter == 400 and found.trace["n_iter"][-1] == 400
    return len(found.trace["n_iter"])


def test_pace_zero_gives_a_short_run_a_curve_and_looks_are_seldom_otherwise(clock):
    curious = Look(clock)
    curious.pace = 0
    assert n_points(clock, Look(clock)) <= 5
    assert n_points(clock, curious) >= 8
    assert n_points(clock, [Look(clock), curious]) >= 8


def test_an_attribute_of_another_meaning_is_ignored():
    assert tracing.Callbacks(Mock(), None).pace == tracing.LEAST_PACE == tracing.Callbacks([], None).pace
    assert not tracing.Callbacks(Mock(), None).by_iteration


@pytest.mark.parametrize("granularity", [1, 8])
def test_points_by_iteration_do_not_depend_on_the_time(clock, granularity):
    look, points = Look(clock), []
    look.by_iteration = True
    for cost in (1e-6, 1e-2, 3.0):
        solver = Countdown(clock, cost=cost, granularity=granularity)
        points.append(driver.run(solver, max_iter=4000, callback=[Mock(return_value=None), look]).trace["n_iter"])
    assert points[0] == points[1] == points[2]
    assert points[0][:4] == [0, granularity, 2 * granularity, 3 * granularity] and points[0][-1] == 4000
    assert all(point % granularity == 0 for point in points[0]) and len(points[0]) <= 70
