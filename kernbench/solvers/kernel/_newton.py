"""A step of Newton's method with kernels, by LAPACK's Cholesky factor: the core of `solvers.kernel.newton`."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kernbench.problems.kernel.newton import NOT_DEFINITE, RIDGES
from kernbench.solvers.base import Diverged


def newton_step(problem, K, coef, f, shared):
    """Return the change of `coef` that solves the equations at the residuals f(x_i) - y_i.

    `shared` keeps the last factor, for steps with the same equations.
    """
    used = np.flatnonzero(problem.weights > 0)
    shift = problem.alpha * problem.n / problem.weights[used]  # of the diagonal
    residuals = (f - problem.targets)[used]
    slopes = problem.loss.slope(residuals)
    step = np.zeros(problem.n)
    # Where the loss is linear the coefficient follows from the slope; elsewhere from the equations
    # (K_AA + alpha n / w) coef_A = y_A - K_AB coef_B.
    bent = np.abs(residuals) < problem.loss.upper
    step[used] = -slopes / shift - coef[used]
    active = used[bent]
    step[active] = 0.0
    missing = -residuals[bent] - shift[bent] * coef[active] - K[active] @ step
    step[active] = _solve(K, active, shift[bent], missing, shared)
    return step


def _solve(K, active, shift, right, shared):
    if "factor" in shared and all(map(np.array_equal, shared["factor"][:2], (active, shift))):
        return cho_solve(shared["factor"][2], right)
    shared.pop("factor", None)  # two of them would take more memory
    K = K if len(active) == len(K) else K[np.ix_(active, active)]
    for ridge in RIDGES:  # beyond 0 where rounding made the matrix indefinite
        matrix = K.copy()
        matrix.flat[:: len(matrix) + 1] += shift + ridge * np.trace(K) / max(1, len(K))
        try:
            factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
        shared["factor"] = active, shift, factor
        return cho_solve(factor, right)
    raise Diverged(NOT_DEFINITE)
