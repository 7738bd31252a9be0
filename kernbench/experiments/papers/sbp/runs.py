"""A solver advanced in small steps: its models, and the kernel evaluations they would cost without a cache.

The paper counts every value k(x, z) that an iteration needs, as if none were cached: a row of n for a step of the batch
perceptron or of SMO, which without an intercept changes one coefficient, and one value for each support vector if a step
needs f of one example, as those of Pegasos, SDCA, SGD and the Perceptron do. Our solvers compute fewer values, since
rows are cached and computed in batches; both are counted.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from kernbench.experiments.measure.objectives import gaussian
from kernbench.kernels.blocks import matmul
from kernbench.kernels.rows import KernelRows
from kernbench.kernels.threads import single_threaded_blas
from kernbench.solvers import registry

CACHE_BYTES = 2_000_000_000
OF_WHOLE_ROWS = ("sbp", "smo")  # a step costs n values, one of the others those at the support vectors
FIRST_STEPS = 8
STEP_GROWTH = 0.1  # steps advanced at a time, as a share of those done so far …
SHARE_OF_PASS = 1 / 16  # … and of n, at most
GROWTH = 1.2  # from one model to the next, in evaluations


@dataclass(frozen=True)
class Point:
    """A model of a run.

    Attributes
    ----------
    n_iter : int
    cost : float
        Kernel evaluations so far, without a cache.
    computed : int
        Kernel values that were computed.
    n_support : int
    scores : ndarray of shape (n_test,)
        f(x) + b of the test rows.
    """

    n_iter: int
    cost: float
    computed: int
    n_support: int
    scores: np.ndarray


def start(name, X, y, *, gamma, alpha, seed, options=None):
    """A registered solver without an intercept, before its first step.

    Parameters
    ----------
    name : str
    X, y
        The training rows and their signs.
    gamma : float
        Parameter of the Gaussian kernel, in units of 1 / x^2.
    alpha : float
        Weight of the norm.
    seed : int
    options : dict, optional
        The solver's own.
    """
    rows = KernelRows(X, gaussian(gamma), cache_bytes=CACHE_BYTES, dtype=np.float32)
    options = options or {}
    if "nu" in options:
        alpha = None  # a slack budget takes its place
    solver = registry.get(name, "kernel-svm").load()
    return solver(rows, y, alpha=alpha, fit_intercept=False, random_state=seed, **options)


def walk(name, solver, X, X_test, *, gamma, epochs):
    """Yield models of a run, each with a fifth more evaluations than the one before.

    Parameters
    ----------
    name : str
        Name of the solver, which determines the cost of a step.
    solver : Solver
        Before its first step.
    X, X_test
    gamma : float
    epochs : float
        Passes of n iterations; fewer where the solver converges.

    Yields
    ------
    Point
        The last one is the final model.
    """
    n, unit = X.shape[0], max(1, solver.granularity)
    limit = -(-ceil(epochs * n) // unit) * unit
    kernel, cost, due, before = gaussian(gamma), 0.0, 0.0, 0
    while True:
        step = min(max(FIRST_STEPS, STEP_GROWTH * solver.n_iter), SHARE_OF_PASS * n)
        step = max(1, int(step) // unit) * unit
        with single_threaded_blas():
            advanced = solver.advance(min(step, limit - solver.n_iter))
            solution = solver.solution()
        support = np.flatnonzero(solution.coef)
        if name in OF_WHOLE_ROWS:
            cost += advanced * n
        else:
            cost += advanced * (before + len(support)) / 2
        before = len(support)
        ended = advanced == 0 or solver.converged or solver.n_iter >= limit
        if ended or cost >= due:
            due = GROWTH * cost
            scores = np.full(X_test.shape[0], float(solution.intercept))
            if len(support):
                scores += matmul(kernel, X_test, X[support], np.ascontiguousarray(solution.coef[support]))
            yield Point(solver.n_iter, cost, solver.n_kernel_evaluations, len(support), scores)
        if ended:
            return


def carried(points, values, grid):
    """Values on a grid of costs: at each, that of the last model of at most this cost, None before the first.

    Returns
    -------
    list of float or None
    """
    spent = [point.cost for point in points]
    places = np.searchsorted(spent, np.asarray(grid) * (1 + 1e-9), side="right") - 1
    return [None if place < 0 else float(values[place]) for place in places]
