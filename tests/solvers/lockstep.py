"""The cases of the lockstep tests, and the helpers they share, for the tests of each kind of problem."""

from kernbench.solvers.checks.lockstep import Tally, Tolerance, follow
from kernbench.solvers.registry import SOLVERS

__all__ = ["Tally", "Tolerance", "case_name", "cases", "follow"]


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
