"""The cases of the lockstep tests, and the helpers they share, for the tests of each kind of problem."""

import numpy as np

from kernbench.reference.kernel.smo import kinks
from kernbench.reference.kernel.smo.working_set import WorkingSet
from kernbench.solvers.checks.lockstep import Tally, Tolerance, follow
from kernbench.solvers.kernel.smo.rounds import Rounds
from kernbench.solvers.registry import SOLVERS

__all__ = ["Tally", "TieWatchingSet", "Tolerance", "case_name", "cases", "follow", "see",
           "watch_ties"]  # fmt: skip


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


def watch_ties(smo, watching_set=None):
    """Make an `SMO` on the reference core record the smallest difference between the best two of its choices.

    After a step on (i, j) the two slopes are equal, up to rounding; if both are then the best, rounding decides which
    is chosen, and the twins diverge. Up to that moment they must agree.
    """
    smo.closest_call = np.inf
    smo.rounds.__class__, smo.rounds.inner.__class__ = TieWatchingRounds, watching_set or TieWatchingSet
    smo.rounds.smo = smo.rounds.inner.smo = smo


def see(smo, differences):
    smo.closest_call = min(smo.closest_call, np.abs(differences).min(initial=np.inf))


class TieWatchingRounds(Rounds):
    """Watches the choice of working sets."""

    def _choose(self, tol):
        super()._choose(tol)
        newcomers = self.members[self.n_kept :]
        left = np.setdiff1d(np.arange(len(self.active.state.beta)), self.members)
        for slopes in self.active.state.slopes():
            if np.any(self.active.state.beta):
                see(self.smo, slopes[newcomers][:, None] - slopes[left])


class TieWatchingSet(WorkingSet):
    """Watches the choice of pairs."""

    def _enter(self):
        super()._enter()
        if self.core is not None:
            self.core.__class__, self.core.smo = type(self), self.smo

    def _pair(self):
        violation, best = super()._pair()
        if best is not None:
            grow, shrink = kinks.slopes(self)
            ups = np.sort(grow[self.beta < self.upper])[::-1]
            if ups[0] != 1.0 and np.any(self.beta):  # at the start e is y: those ties are exact, in both
                see(self.smo, ups[0] - ups[1:2])
            curvature = np.maximum(self.diagonal[best[0]] + self.diagonal - 2 * self.kernel[best[0]], 1e-12)
            gains = np.sort((np.maximum(ups[0] - shrink, 0) ** 2 / curvature)[self.beta > self.lower])[::-1]
            see(self.smo, (gains[0] - gains[1:2]) / gains[0])
        return violation, best
