"""The core of `JointSMO` in NumPy: steps inside a set of coordinates, with the gradient of the others left as it is."""

import numpy as np

from kernbench.reference.kernel.smo.smo import SAME_BETA, TINY


def kernel_between(rows, members):
    """Return the kernel between the members."""
    return np.asarray(rows.block(members, members), dtype=np.float64)


def solve_members(matrix, members, state, with_bias, goal, budget, should_stop):
    """Take steps inside the set `members` until their violation is at most `goal`; see the compiled core.

    The state is one of a problem without a kink, whose coefficients keep their sum if `with_bias`.
    """
    own = state.take(members)
    for steps in range(budget):
        if own.violation(with_bias) <= goal or should_stop():
            return own.beta, steps
        moved = _pair(own, matrix) if with_bias else _single(own)
        if moved is None:
            return own.beta, steps
        for k, step in moved:
            own.e -= step * matrix[k]
            own.e[k] -= step * own.ridge[k]
            _move(own, k, step)
    return own.beta, budget


def _pair(state, matrix):
    """Return the pair that violates the conditions most, by second-order information, and its steps."""
    can_grow, can_shrink = state.beta < state.upper, state.beta > state.lower
    i = int(np.argmax(np.where(can_grow, state.e, -np.inf)))
    curvature = np.maximum(state.diagonal[i] + state.diagonal - 2.0 * matrix[i], TINY)
    gain = np.where(can_shrink, np.maximum(state.e[i] - state.e, 0.0), 0.0) ** 2 / curvature
    j = int(np.argmax(gain))
    if gain[j] <= 0.0:
        return None
    step = min((state.e[i] - state.e[j]) / curvature[j], state.upper[i] - state.beta[i], state.beta[j] - state.lower[j])
    return (i, step), (j, -step)


def _single(state):
    """Return the coordinate whose own step gains most, and the step."""
    curvature = np.maximum(state.diagonal, TINY)
    steps = np.clip(state.e / curvature, state.lower - state.beta, state.upper - state.beta)
    gain = steps * (state.e - 0.5 * steps * curvature)
    i = int(np.argmax(gain))
    return ((i, steps[i]),) if gain[i] > 0.0 else None


def _move(state, k, step):
    """Move a coefficient; one at its bound but for rounding is set to it."""
    beta = state.beta[k] + step
    reach = min(state.least_change[k], SAME_BETA * max(np.abs(state.beta).max(), abs(beta)))
    upper, lower = state.upper[k], state.lower[k]
    state.beta[k] = upper if upper - beta <= reach else lower if beta - lower <= reach else beta
