"""A step of Newton's method with kernels: the core of `solvers.kernel.newton`."""

import numpy as np

from kernbench.problems.kernel.newton import NOT_DEFINITE, RIDGES
from kernbench.solvers.base import Diverged


def newton_step(problem, K, coef, f, shared):
    """Return the change of `coef` that solves the equations at the residuals f(x_i) - y_i.

    `shared` is for the compiled core, which keeps its factor there.
    """
    used = problem.weights > 0
    shift = np.zeros(problem.n)
    shift[used] = problem.alpha * problem.n / problem.weights[used]
    residuals = f - problem.targets
    A = used & (np.abs(residuals) < problem.loss.upper)
    B = used & ~A
    step = np.zeros(problem.n)
    step[B] = -problem.loss.slope(residuals[B]) / shift[B] - coef[B]
    right = -residuals[A] - shift[A] * coef[A] - K[np.ix_(A, B)] @ step[B]
    step[A] = _solve_definite(K[np.ix_(A, A)], shift[A], right)
    return step


def _solve_definite(K, shift, right):
    """Solve (K + diag(shift)) x = right by a Cholesky factor."""
    for ridge in RIDGES:
        try:
            factor = np.linalg.cholesky(K + np.diag(shift + ridge * np.trace(K) / max(1, len(K))))
        except np.linalg.LinAlgError:
            continue
        return np.linalg.solve(factor.T, np.linalg.solve(factor, right))
    raise Diverged(NOT_DEFINITE)
