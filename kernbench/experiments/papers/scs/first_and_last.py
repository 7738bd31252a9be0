"""A cell: the objective of the first fifty and of the last fifty iterations, as in the paper's Figures 1 and 2.

Beside them it is followed over the whole run, at numbers of iterations that grow by a factor, for the rate.
"""

from collections import deque

import numpy as np

from kernbench._lazy import load
from kernbench.experiments.measure.clock import timed
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.objectives import expansion_objective, gaussian
from kernbench.experiments.measure.record import columns, result
from kernbench.experiments.papers.scs.evaluation import optimum
from kernbench.kernels.rows import KernelRows
from kernbench.kernels.threads import single_threaded_blas
from kernbench.solvers import registry

WINDOW = 50
COLUMNS = ("window", "iteration", "objective", "excess")
CACHE_BYTES = 2**30
# Runs of at most this many steps keep every iterate, since they may end before the last window begins.
KEPT_WHOLE = 2000
FACTOR = 1.5


def measure(cell):
    """Run a solver step by step and follow the objective over all training rows.

    The cell's `params`: ``solver``, a name of the registry; ``alpha``; ``n_iter``, the largest number of steps, or
    ``n_epochs``, passes of n steps; and options of the solver.

    Returns
    -------
    dict
        ``metrics``: ``objective`` and ``excess`` (above a certified lower bound) at the end, ``n_iter``, ``best``, the
        optimum itself. ``trace``: ``window`` (``"first"``, ``"last"`` or ``"whole"``), ``iteration`` (1 to 50, -49 to
        0, all numbers of `growing`), ``objective``, ``excess``. ``seconds``: ``fit``, the steps alone.
    """
    data = load(cell.loader)(**cell.arguments)
    X, y, params = data.X_train, data.y_train, dict(cell.params)
    name, alpha = params.pop("solver"), params["alpha"]
    n_epochs, n_iter = params.pop("n_epochs", 0), params.pop("n_iter", 0)
    limit = max(n_iter, int(np.ceil(n_epochs * len(y))))
    gamma = 1.0 / X.shape[1]
    rows = KernelRows(X, gaussian(gamma), dtype=np.float64, cache_bytes=CACHE_BYTES)
    solver = registry.get(name, "kernel-svm").load()(rows, y, fit_intercept=False, **params)
    best = optimum(data, gamma, alpha)

    first, last, seconds = [], deque(maxlen=WINDOW), 0.0
    whole, followed = [], growing(limit)
    with single_threaded_blas():
        for step in range(1, limit + 1):
            advanced, taken = timed(lambda: solver.advance(1))
            seconds += taken
            if advanced == 0:
                break
            if step <= WINDOW or step > limit - WINDOW or limit <= KEPT_WHOLE:
                last.append(solver.solution().coef)
                if step <= WINDOW:
                    first.append(last[-1])
            if step in followed:
                whole.append((step, solver.solution().coef))
            if solver.converged:
                break
    memory = peak_memory()
    numbered = [("whole", step, coef) for step, coef in whole]
    numbered += [("first", k + 1, coef) for k, coef in enumerate(first)]
    numbered += [("last", k + 1 - len(last), coef) for k, coef in enumerate(last)]
    trace = []
    for window, iteration, coef in numbered:
        used = np.flatnonzero(coef)
        value = expansion_objective(X, y, gamma, alpha, used, coef[used])
        trace.append((window, iteration, value, max(0.0, value - best)))
    metrics = {"objective": trace[-1][2], "excess": trace[-1][3], "best": best, "n_iter": solver.n_iter}
    return result(
        data,
        metrics,
        seconds={"fit": seconds},
        trace=columns(COLUMNS, trace),
        n_kernel_evaluations=solver.n_kernel_evaluations,
        memory=memory,
    )


def growing(limit):
    """Whole numbers up to `limit` that grow by a factor of 1.5, as a set."""
    found, k = set(), 1.0
    while k <= limit:
        found.add(round(k))
        k *= FACTOR
    return found
