"""The helper of the lockstep tests: it sees a difference wherever there is one, and counts what it left out."""

import numpy as np
import pytest
from lockstep import Tally, Tolerance, follow

from kernbench.solvers.base import Solution

TIGHT = Tolerance(coef=1e-9, objective=1e-9, gap=1e-6, gap_floor=1e-9, state=("shares",))


class Halving:
    """A solver of one coefficient, which it halves; it ends after 5 iterations. One attribute may be another."""

    def __init__(self, part=None, value=None, start=2):
        self.part, self.value, self.start = part, value, start  # differs from iteration `start` on
        self.n_iter = 0

    def _of(self, part, usual):
        return self.value if part == self.part and self.n_iter >= self.start else usual

    def advance(self, n_iter):
        done = self._of("done", min(n_iter, 5 - self.n_iter))
        self.n_iter += done
        return done

    @property
    def converged(self):
        return self._of("converged", self.n_iter == 5)

    def solution(self):
        coef = self._of("coef", 0.5**self.n_iter)
        state = {"shares": np.array([self._of("shares", 0.0)])}
        if self._of("keys", False):
            state["more"] = np.zeros(1)
        return Solution(np.array([coef, 1.0]), self._of("intercept", 0.0), self.n_iter, state)

    def objective(self):
        return self._of("objective", 2.0)

    def gap(self):
        return self._of("gap", 0.5)


def run(part=None, value=None, **options):
    tally = Tally()
    settings = {"rounds": 4, "length": 1, **options}
    follow(Halving(part, value), Halving(), tally, TIGHT, label="x=1", **settings)
    return tally


def test_twins_that_agree_are_compared_in_every_round():
    tally = run()
    assert (tally.problems, tally.whole, tally.compared, tally.left_out) == (1, 1, 4, 0)
    tally.require(1.0)


def test_rounds_after_the_end_of_both_are_not_counted():
    tally = run(rounds=50)
    assert (tally.compared, tally.left_out, tally.whole) == (6, 0, 1)  # the sixth finds that nothing is done


@pytest.mark.parametrize(
    "part, value",
    [
        ("coef", 0.25 + 1e-8),
        ("coef", np.nan),
        ("intercept", 1e-7),
        ("objective", 2.0 + 1e-8),
        ("gap", 0.5001),
        ("gap", None),
        ("converged", True),
        ("shares", 1e-12),
        ("keys", True),
        ("done", 0),
    ],
)
def test_a_difference_is_seen_and_the_problem_named(part, value):
    with pytest.raises(AssertionError, match=r"x=1, round [23] of 4"):
        run(part, value)


@pytest.mark.parametrize("part, value", [("coef", 0.25 + 1e-10), ("objective", 2 + 1e-10), ("gap", 0.5 + 1e-8)])
def test_rounding_is_forgiven(part, value):
    assert run(part, value, rounds=2).compared == 2


def test_a_counter_must_grow_by_as_much():
    """Whatever it was at the start."""
    one, other, settings = Halving(), Halving(), {"rounds": 2, "length": 1}
    one.n_seen, other.n_seen = 7, 0
    counting = Tolerance(coef=1e-9, objective=1, gap=1, gap_floor=1, counters=("n_iter", "n_seen"))
    follow(one, other, Tally(), counting, **settings)
    type(one).n_seen = property(lambda self: self.n_iter * (1 + (self is one)), lambda self, value: None)
    try:
        with pytest.raises(AssertionError, match="n_seen grew by 2, in the reference by 1"):
            follow(one, other, Tally(), counting, **settings)
    finally:
        del type(one).n_seen


def test_what_rounding_decides_is_left_out_and_counted():
    def rounding(compiled, reference):
        return "a tie" if compiled.n_iter == 2 else None

    tally = run("coef", 7.0, rounding=rounding)
    assert (tally.compared, tally.left_out, tally.problems, tally.whole) == (1, 3, 1, 0)
    tally.require(0.25)
    with pytest.raises(
        AssertionError,
        match=r"compared 1 of 4 rounds \(25%\) on 1 problems, 1 of them left out .* \(a tie: 1\); 30% are asked",
    ):
        tally.require(0.3)


def test_nothing_compared_is_never_enough():
    with pytest.raises(AssertionError, match="compared 0 of 0 rounds"):
        Tally().require(0.0)
