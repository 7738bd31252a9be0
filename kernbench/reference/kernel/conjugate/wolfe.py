"""Iterations of Wolfe's method with the whole kernel matrix: the core of `solvers.kernel.conjugate.wolfe`."""

import numpy as np

from kernbench.problems.kernel.conjugate import smallest_norm
from kernbench.reference.bundle.simplex_qp import simplex_qp
from kernbench.reference.kernel.conjugate.hinge_line import Line, active_part, exact_search, wolfe_search


class Work:
    """The kernel matrix, and the bundle of subgradients.

    Parameters
    ----------
    rows : KernelRows
    problem : MarginProblem
    rkhs : bool
        Whether inner products are those of the kernel's space, not of coefficients.
    bundle_size : int
        Vectors whose hull is searched.
    coef, direction, part : ndarray of shape (n,)
        Coefficients of f and of the direction, and the active part averaged as the direction is; changed in place.
    """

    def __init__(self, rows, problem, rkhs, bundle_size, coef, direction, part):
        self.problem, self.rkhs, self.size = problem, rkhs, bundle_size
        self.coef, self.direction, self.part = coef, direction, part
        self.K = rows.batch(np.arange(problem.n)).astype(np.float64)
        self.bundle = []  # newest last: (subgradient, its active part)

    def matvec(self, a):
        """Return K @ a."""
        return self.K @ a

    def inner(self, a, b):
        """Return the inner product of the geometry."""
        return float(a @ (self.K @ b) if self.rkhs else a @ b)


def recompute(work, deadline):
    """Return True: nothing is updated by recurrences."""
    return True


def add_subgradient(work, reset, deadline):
    """Add the subgradient ahead of the current point, which after a null step adds new information; return True.

    With `reset` the bundle holds nothing else, and the direction is minus this subgradient.
    """
    problem, u = work.problem, work.K @ work.coef
    active = active_part(
        problem.y, problem.weights, u, problem.best_intercept(u), problem.fit_intercept, work.K @ work.direction
    )
    c = problem.alpha * work.coef - problem.y * problem.weights * active / problem.n
    g = c if work.rkhs else work.K @ c
    if reset:
        work.direction[:], work.part[:], work.bundle = -g, active, []
    work.bundle = [*work.bundle, (g, active)][-(work.size - 1) :]
    return True


def shorten(work):
    """Set the direction to minus the shortest vector in the convex hull of the bundle; return its length."""
    vectors = [-work.direction] + [g for g, _ in work.bundle]
    gram = np.array([[work.inner(a, b) for b in vectors] for a in vectors])
    if len(vectors) == 2:
        share = smallest_norm(gram[0, 0], gram[1, 1], gram[0, 1])
        shares = np.array([share, 1.0 - share])
    else:
        shares = simplex_qp(gram, np.zeros(len(vectors)), np.zeros(len(vectors)))
    work.direction[:] = -sum(share * vector for share, vector in zip(shares, vectors))
    work.part[:] = shares[0] * work.part + sum(s * active for s, (_, active) in zip(shares[1:], work.bundle))
    return np.sqrt(max(work.inner(work.direction, work.direction), 0.0))


def newest_length(work):
    """Return the length of the newest subgradient."""
    g, _ = work.bundle[-1]
    return np.sqrt(max(work.inner(g, g), 0.0))


def search(work, exact, length, c1, c2):
    """Return the step along the direction: the minimiser, or a point with enough decrease and a flat slope."""
    problem, d = work.problem, work.direction
    u, v = work.K @ work.coef, work.K @ d
    q = work.coef @ u, d @ u, d @ v
    line = Line(problem.y, problem.weights, problem.alpha, 1.0, problem.fit_intercept, u, v, q)
    return exact_search(line) if exact else wolfe_search(line, length, c1, c2) or 0.0


def move(work, t):
    """Add t times the direction to f."""
    work.coef += t * work.direction


def value(work):
    """Return the objective and the best intercept."""
    responses = work.K @ work.coef
    intercept = work.problem.best_intercept(responses)
    return work.problem.objective(responses, work.coef @ responses, intercept), intercept
