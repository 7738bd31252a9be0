"""The cases of the lockstep tests, and the helpers they share, for the tests of each kind of problem."""

import numpy as np

from kernbench.reference.kernel.smo import kinks
from kernbench.reference.kernel.smo.working_set import WorkingSet
from kernbench.solvers.checks.lockstep import Tally, Tolerance, follow
from kernbench.solvers.kernel.smo.several_sets import SeveralSets
from kernbench.solvers.registry import SOLVERS

__all__ = ["Tally", "TieWatchingSet", "Tolerance", "case_name", "cases", "follow", "parted_by_a_tie",
           "see",
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
    if isinstance(smo.rounds, SeveralSets):
        smo.rounds.__class__ = TieWatchingRounds
    smo.rounds.inner.__class__ = watching_set or TieWatchingSet
    smo.rounds.smo = smo.rounds.inner.smo = smo


def parted_by_a_tie(compiled, reference, *, least=1e-9):
    """Return "a tie of pairs" if choices of a watched `SMO` tied and the twins have parted since, else None.

    A tie allows the twins to part, but often both choose alike: then they are still compared.
    """
    if reference.closest_call >= least:
        return None
    found, expected = (solver.solution().coef for solver in (compiled, reference))
    together = np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()
    same_state = compiled.n_iter == reference.n_iter and compiled.converged == reference.converged
    return None if together and same_state else "a tie of pairs"


def see(smo, differences):
    smo.closest_call = min(smo.closest_call, np.abs(differences).min(initial=np.inf))


class TieWatchingRounds(SeveralSets):
    """Watches the choice of working sets."""

    def _choose(self, tol):
        super()._choose(tol)
        state = self.active.state
        if not np.any(state.beta):
            return
        is_left = np.ones(len(state.beta), dtype=bool)
        is_left[self.members] = False
        is_new = np.zeros_like(is_left)
        is_new[self.members[self.n_kept :]] = True
        # A coordinate that cannot move in this direction is no alternative to one that can.
        for slopes, can_move in zip(state.slopes(), (state.beta < state.upper, state.beta > state.lower)):
            see(self.smo, slopes[is_new & can_move][:, None] - slopes[is_left & can_move])


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
