"""The two twins of a solver in lockstep: advanced by the same amounts, their states must agree up to rounding.

If two choices tie, rounding may make the twins differ, which is not an error: a test reports this to `follow`, and the
rest of the run is not compared. The comparisons are counted, and `Tally.require` fails if there were too few for the
test to be meaningful.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Tolerance:
    """How far twins may be apart.

    Attributes
    ----------
    coef : float
        Largest difference of coefficients, as a share of the largest one of the reference.
    smallest : float
        Coefficients of less than this are compared with it instead.
    objective, gap : float
        Relative; `gap_floor` is the absolute error that a gap may have anyway.
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
    """How many rounds of how many problems were compared.

    Attributes
    ----------
    problems, whole : int
        Problems that were begun, and those of which no round was left out.
    compared, left_out : int
        Rounds.
    reasons : Counter
        Why, with the number of problems.
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
        require(self.compared > 0 and self.share >= share, f"{self}; {share:.0%} are asked for")


def follow(compiled, reference, tally, tolerance, *, rounds, length, rounding=None, label=""):
    """Advance both by `length` iterations, `rounds` times, and compare all that they know after each.

    Parameters
    ----------
    compiled, reference : Solver
    tally : Tally
        Counts what was compared.
    tolerance : Tolerance
    rounds, length : int
    rounding : callable, optional
        ``rounding(compiled, reference)`` says, after a round, why rounding may part the twins from now on, or None; it
        may assert what must hold all the same.
    label : str
        Names the problem where a comparison fails.
    """
    tally.problems += 1
    for number in range(rounds):
        counts = count(compiled, reference, tolerance.counters)
        try:
            done = compiled.advance(length), reference.advance(length)
            grown = count(compiled, reference, tolerance.counters) - counts  # asking for a solution may count, too
            reason = rounding(compiled, reference) if rounding is not None else None
            if reason is None:
                require(done[0] == done[1], f"{done[0]} iterations, in the reference {done[1]}")
                for name, (ours, theirs) in zip(tolerance.counters, grown):
                    require(ours == theirs, f"{name} grew by {ours}, in the reference by {theirs}")
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
    require_close("intercept", found.intercept, expected.intercept, absolute=1e-8)
    if tolerance.keys:
        require(
            found.state.keys() == expected.state.keys(),
            f"the state holds {sorted(found.state)}, in the reference {sorted(expected.state)}",
        )
    for name in tolerance.state:
        np.testing.assert_array_equal(found.state[name], expected.state[name], err_msg=name)
    require_close("objective", compiled.objective(), reference.objective(), tolerance.objective, 1e-12)
    gaps = compiled.gap(), reference.gap()
    if gaps != (None, None):
        require_close("gap", *gaps, tolerance.gap, tolerance.gap_floor)
    require(
        bool(compiled.converged) == bool(reference.converged),
        f"converged is {compiled.converged}, in the reference {reference.converged}",
    )


def require(condition, sentence):
    """Raise AssertionError with the sentence unless the condition holds, with ``python -O`` too."""
    if not condition:
        raise AssertionError(sentence)


def require_close(name, ours, theirs, relative=0.0, absolute=0.0, *, other="in the reference"):
    """Raise AssertionError unless two numbers are equal up to the larger tolerance; `other` introduces the second."""
    both = ours is not None and theirs is not None
    close = both and abs(ours - theirs) <= max(relative * abs(theirs), absolute)  # False for NaN
    require(close, f"{name} is {ours!r}, {other} {theirs!r}")
