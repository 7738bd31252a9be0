"""The small quadratic programme of a bundle of cuts, by an active set."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

RIDGE = 1e-13  # of the squared lengths of a cut and the first; for linearly dependent cuts


def simplex_qp(Q, b, u):
    """Maximise b'u - u'Qu/2 over the simplex u >= 0, sum u = 1.

    Wolfe's algorithm for the nearest point of a polytope: the maximiser over the affine hull of the active vertices
    solves a linear system; where it leaves the simplex a vertex is dropped, otherwise the vertex of steepest ascent is
    added.

    Parameters
    ----------
    Q : ndarray of shape (k, k)
        Positive semi-definite.
    b : ndarray of shape (k,)
    u : ndarray of shape (k,)
        The starting point: a point of the simplex, or zeros for the best vertex.

    Returns
    -------
    ndarray of shape (k,)
    """
    u = u.copy()
    if not u.any():
        u[np.argmax(b - np.diag(Q) / 2)] = 1.0
    active = list(np.flatnonzero(u))
    for _ in range(20 * len(b) + 100):
        newest = active[-1]
        while True:
            target = _affine_maximiser(Q, b, active)
            if target is None:
                return u / u.sum()
            here = u[active]
            below = np.flatnonzero(target <= 0)
            if len(below) == 0:
                u[active] = target
                break
            steps = here[below] / (here[below] - target[below])
            leaving = below[np.argmin(steps)]
            u[active] = np.maximum(here + steps.min() * (target - here), 0.0)
            u[active[leaving]] = 0.0
            left = active.pop(leaving)
            if left == newest and steps.min() == 0:
                return u / u.sum()  # it cannot enter: the remaining ascent is rounding
        ascent = b - Q @ u
        best = int(np.argmax(ascent))
        level = ascent @ u
        if best in active or ascent[best] - level <= 1e-14 * (abs(ascent[best]) + np.abs(b).max()):
            break
        active.append(best)
    return u / u.sum()


def _affine_maximiser(Q, b, active):
    """Maximise over the affine hull of some vertices: eliminate the shortest one, u_0 = 1 - the others, and make it the
    first. The differences from a long one, such as the cut at f = 0, would cancel."""
    shortest = int(np.argmin(Q[active, active]))
    active[0], active[shortest] = active[shortest], active[0]
    first, others = active[0], active[1:]
    if not others:
        return np.ones(1)
    H = Q[np.ix_(others, others)] - Q[others, first][:, None] - Q[first, others][None, :] + Q[first, first]
    slope = (b[others] - b[first]) - (Q[others, first] - Q[first, first])
    lengths = Q[others, others] + Q[first, first]
    ridge = RIDGE * np.diag(np.where(lengths > 0, lengths, 1.0))
    for _ in range(6):
        try:
            v = cho_solve(cho_factor(H + ridge), slope)
            return np.concatenate([[1 - v.sum()], v])
        except np.linalg.LinAlgError:
            ridge *= 100  # rounding made it indefinite
    return None
