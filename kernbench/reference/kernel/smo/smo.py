"""Steps of SMO inside a working set, and the update of the gradient: the core of `solvers.kernel.smo.smo`."""

import numpy as np

from kernbench.reference.kernel.smo.working_set import WorkingSet

__all__ = ["WorkingSet", "load", "solve", "subtract_rows"]


def load(inner, rows, members, state):
    """Take the coordinates `members` of a :class:`~kernbench.solvers.kernel.smo.dual_state.State`."""
    inner.load(rows, members, state)


def solve(inner, goal, budget, most_gain):
    """Step until the violation inside the set is at most `goal`; return the number of steps, at most `budget`.

    -1 if the dual objective grows by more than `most_gain`.
    """
    inner.most_gain = inner.dual_gain + most_gain
    steps = inner.solve(goal, budget)
    return steps if inner.dual_gain <= inner.most_gain else -1


def subtract_rows(rows, moved, changes, e):
    """e -= K[:, moved] changes."""
    e -= np.asarray(rows.batch(moved), dtype=np.float64).T @ changes
