"""The two twins of a solver in lockstep: advanced by the same amounts, their states must agree up to rounding.

If choices are tied, rounding may legitimately make the twins diverge: a test reports this to `follow`, which leaves out
the following rounds. The compared rounds are counted, and `Tally.require` fails if they are too few for a meaningful
test.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest

from kernbench.solvers.registry import SOLVERS


@dataclass(frozen=True)
class Tolerance:
    """Permitted differences of the twins.

    Attributes
    ----------
    coef : float
        As a share of the largest coefficient of the reference.
    smallest : float
        Coefficients of less than this are compared with it instead.
    objective, gap : float
        Relative; `gap_floor` is an absolute error that a gap may always have.
    counters : tuple of str
        Attributes that must grow by the same number.
    state : tuple of str
        Arrays of the solution's state that must be equal.
    keys : bool
        Whether the states must hold arrays of the same names.
    """

    coef: float
    objective: float
    gap: float
    gap_floor: float
    smallest: float = 1e-12
    counters: tuple = ("n_iter",)
    state: tuple = ()
    keys: bool = True


@dataclass
class Tally:
    """Numbers of compared rounds and problems.

    Attributes
    ----------
    problems, whole : int
        Problems that were begun, and those of which no round was left out.
    compared, left_out : int
        Rounds.
    reasons : Counter
        Reasons, with the number of problems.
    """

    problems: int = 0
    whole: int = 0
    compared: int = 0
    left_out: int = 0
    reasons: Counter = field(default_factory=Counter)

    @property
    def share(self):
        """Rounds that were compared, among all."""
        return self.compared / max(self.compared + self.left_out, 1)

    def __str__(self):
        reasons = ", ".join(f"{reason}: {count}" for reason, count in self.reasons.items()) or "none"
        return (
            f"compared {self.compared} of {self.compared + self.left_out} rounds ({self.share:.0%}) on "
            f"{self.problems} problems, {self.problems - self.whole} of them left out from some round on ({reasons})"
        )

    def require(self, share):
        """Fail unless at least this share of the rounds was compared."""
        assert self.compared > 0 and self.share >= share, f"{self}; {share:.0%} are asked for"


def cases(problem, variants):
    """Return (entry, options) for all solvers of a kind: with their defaults, and each of the `variants`."""
    return [
        (entry, options)
        for entry in SOLVERS
        if entry.problem == problem
        for options in ({}, *variants.get(entry.name, ()))
    ]


def case_name(case):
    """The name of a case for pytest."""
    return "-".join([case[0].name, *(f"{name}={value}" for name, value in case[1].items())])


def follow(compiled, reference, tally, tolerance, *, rounds, length, rounding=None, label=""):
    """Advance both by `length` iterations, `rounds` times, and compare their states after each.

    Parameters
    ----------
    compiled, reference : Solver
    tally : Tally
        Counts what was compared.
    tolerance : Tolerance
    rounds, length : int
    rounding : callable, optional
        ``rounding(compiled, reference)`` returns, after a round, a reason why rounding may make the twins diverge from
        now on, or None; it may assert what must hold nevertheless.
    label : str
        Names the problem where a comparison fails.
    """
    tally.problems += 1
    for number in range(rounds):
        counts = count(compiled, reference, tolerance.counters)
        try:
            done = compiled.advance(length), reference.advance(length)
            grown = (
                count(compiled, reference, tolerance.counters) - counts
            )  # asking for a solution may count, too
            reason = rounding(compiled, reference) if rounding is not None else None
            if reason is None:
                assert done[0] == done[1], f"{done[0]} iterations, in the reference {done[1]}"
                for name, (ours, theirs) in zip(tolerance.counters, grown):
                    assert ours == theirs, f"{name} grew by {ours}, in the reference by {theirs}"
                assert_alike(compiled, reference, tolerance)
        except AssertionError as error:
            raise AssertionError(f"{label}, round {number + 1} of {rounds}: {error}") from error
        if reason is not None:
            tally.left_out += rounds - number
            tally.reasons[reason] += 1
            return
        tally.compared += 1
        if done == (0, 0):
            break  # both are at the end: more rounds would compare the same again
    tally.whole += 1


def count(compiled, reference, names):
    """Return the counters of both, shape (len(names), 2)."""
    return np.array([(getattr(compiled, name), getattr(reference, name)) for name in names])


def assert_alike(compiled, reference, tolerance):
    """Compare solution, objective, gap, and whether the stopping rule holds."""
    found, expected = compiled.solution(), reference.solution()
    scale = max(np.abs(expected.coef).max(), tolerance.smallest)
    np.testing.assert_allclose(found.coef, expected.coef, rtol=0, atol=tolerance.coef * scale)
    assert found.intercept == pytest.approx(expected.intercept, abs=1e-8)
    if tolerance.keys:
        assert found.state.keys() == expected.state.keys()
    for name in tolerance.state:
        np.testing.assert_array_equal(found.state[name], expected.state[name], err_msg=name)
    assert compiled.objective() == pytest.approx(reference.objective(), rel=tolerance.objective, abs=1e-12)
    gaps = compiled.gap(), reference.gap()
    assert gaps == (None, None) or gaps[0] == pytest.approx(
        gaps[1], rel=tolerance.gap, abs=tolerance.gap_floor
    )
    assert compiled.converged == reference.converged
