"""What is returned where a run ends far from the optimum: the solution for a smaller C, if its objective is smaller.

Coordinate steps need as many iterations as kernel values times C are large: hopeless for a polynomial of columns far
from the origin, whose values are 1e12 and differ by 1e8. The primal function then fluctuates from step to step, while
the solutions for smaller C, each the start of the next, have smaller and smaller objectives at the C that was asked
for.
"""

from dataclasses import replace

import numpy as np

from kernbench.estimators.fit.outcome import INTERRUPTED, STAGNATED
from kernbench.kernels import blocks
from kernbench.solvers import driver
from kernbench.solvers.base import Solution

FACTORS = 10.0 ** np.arange(-12.0, 0.0)
HOPELESS = 0.5  # share of the objective that the gap is
SHARE = 0.1  # of the iterations of the run that each of these runs may take
LEAST = 200_000  # iterations that each may take anyway
BETTER = 0.99  # of the objective is an improvement


def may_be_far(model, result):
    """Return whether the run ended by itself, without a limit of the user, far from the optimum."""
    ended = result.status in ("max_iter", "stalled", STAGNATED) and not result.is_indefinite
    unlimited = model.max_iter == -1 and model.max_seconds is None
    return ended and unlimited and result.gap is not None and result.gap > HOPELESS * abs(result.objective)


def better_of_smaller(problem, data, strength, examined, result, tol, stop=None):
    """Return the FitResult with the best model found for smaller strengths, if it is better than the run's.

    Its counters of iterations and the trace stay those of the run; kernel evaluations include these runs.

    Parameters
    ----------
    problem : Problem
    data : KernelRows
    strength : float
        C.
    examined : Examined
        At `strength`.
    result : FitResult
    tol : float
    stop : threading.Event, optional
        Ends these runs as Ctrl-C does once it is set.
    """
    margins, lower = examined.risk.problem, max(examined.risk.lowest, result.objective - result.gap)
    limit, evaluations = max(LEAST, int(SHARE * result.n_iter)), data.n_evaluations
    initial = last = None
    try:
        for smaller in strength * FACTORS:
            if last is not None:
                initial = problem.next_start(initial, last, smaller)
            run = driver.run(problem.make_solver(data, smaller, initial), max_iter=limit, tol=tol, stop=stop)
            initial, last = run.solution, smaller
            coef = initial.coef
            products = blocks.matmul(examined.kernel, examined.X, examined.X, coef, dtype="float64")
            model = Solution(coef, margins.best_intercept(products), result.n_iter)
            objective = margins.objective(products, float(coef @ products), model.intercept)
            rounding = replace(examined, rows=None, dtype="float64").known(model, objective, 0.0, 0).objective
            if objective + rounding < BETTER * result.objective:
                gap = objective + rounding - lower
                result = replace(result, returned=model, objective=objective, gap=gap, rounding=rounding, folding=0.0)
            if run.status == INTERRUPTED:
                result = replace(result, status=INTERRUPTED)
            if not run.converged:
                break
    except KeyboardInterrupt:  # between two runs; within one it is its status
        result = replace(result, status=INTERRUPTED)
    data.release()
    return replace(result, n_kernel_evaluations=result.n_kernel_evaluations + data.n_evaluations - evaluations)
