"""The cases of the lockstep tests, and the helpers they share, for the tests of each kind of problem."""

import numpy as np

from kernbench.reference.kernel.smo.smo import SMO
from kernbench.solvers.checks.lockstep import Tally, Tolerance, follow
from kernbench.solvers.registry import SOLVERS

__all__ = ["Tally", "TieWatchingSMO", "Tolerance", "case_name", "cases", "follow"]


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


class TieWatchingSMO(SMO):
    """Records the smallest difference between the best two pairs in all its choices.

    After a step on (i, j) the two slopes are equal, up to rounding; if both are then the best, rounding decides which
    is chosen, and the twins diverge. Up to that moment they must agree.
    """

    closest_call = np.inf

    def _choose(self):
        members = super()._choose()
        grow, shrink = self._slopes(self.beta, self.e)
        newcomers, left = members[self.n_kept :], np.setdiff1d(np.arange(len(grow)), members)
        for slopes in (grow, shrink):
            differences = np.abs(slopes[newcomers][:, None] - slopes[left])
            if np.any(self.beta):
                self.closest_call = min(self.closest_call, differences.min(initial=np.inf))
        return members

    def _pair_step(self, block, beta, e, diagonal, lower, upper, grain, goal):
        violation, move = super()._pair_step(block, beta, e, diagonal, lower, upper, grain, goal)
        if move is not None:
            grow, shrink = self._slopes(beta, e)
            ups = np.sort(grow[beta < upper])[::-1]
            if len(ups) > 1 and ups[0] != 1.0 and np.any(beta):  # at the start e is y: those ties are exact, in both
                self.closest_call = min(self.closest_call, ups[0] - ups[1])
            i = int(np.argmax(np.where(beta < upper, grow, -np.inf)))
            curvature = np.maximum(diagonal[i] + diagonal - 2 * block[i], 1e-12)
            gains = np.sort((np.maximum(ups[0] - shrink, 0) ** 2 / curvature)[beta > lower])[::-1]
            if len(gains) > 1:
                self.closest_call = min(self.closest_call, (gains[0] - gains[1]) / gains[0])
        return violation, move
