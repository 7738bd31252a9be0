"""Routines are timed in turn, and robustly."""

from itertools import groupby

from kernbench.experiments.measure.alternation import LEAST_ROUNDS, Timings, alternate


def test_a_time_is_robust_against_other_work_on_the_machine():
    found = Timings(["a", "b"])
    found.seconds = {"a": [2.0, 2.0, 9.0, 2.0], "b": [1.0, 8.0, 1.0, 1.0]}
    assert found.of("a") == 2.0 and found.ratio("a", "b") == 2.0


def test_routines_are_called_in_turn():
    calls = []
    found = alternate({name: lambda name=name: calls.append(name) for name in "ab"}, 0.0)
    assert [name for name, _ in groupby(calls)] == ["a", "b"] * (1 + LEAST_ROUNDS)
    assert sum(map(len, found.seconds.values())) == len(calls) - 2  # the first calls are not counted
