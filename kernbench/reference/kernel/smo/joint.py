"""The core of `solvers.kernel.smo.joint`: the inner problem of one of several duals, on a shared kernel block."""

import numpy as np

from kernbench.reference.kernel.smo.working_set import WorkingSet


def kernel_between(rows, members):
    """Return the kernel between the members."""
    return np.asarray(rows.block(members, members), dtype=np.float64)


def solve_members(matrix, members, state, with_bias, goal, budget, should_stop):
    """Take steps inside the set `members` of a `State` until their violation is at most `goal`.

    Return the coefficients afterwards and the number of steps; `should_stop` is not asked.
    """
    inner = WorkingSet(len(members), False, with_bias, True, True, state.zone, state.constraint)
    inner.kernel = matrix
    inner.load(None, members, state)
    steps = inner.solve(goal, budget)
    return inner.beta, steps
