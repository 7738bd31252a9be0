"""A cell: the objective of the first fifty and of the last fifty iterations, as in the paper's Figures 1 and 2."""

from collections import deque
from time import perf_counter

import numpy as np

from kernbench.experiments.declare import resolve
from kernbench.experiments.measure.clock import peak_memory, result
from kernbench.experiments.papers.scs.optimum import certified_optimum, objective
from kernbench.kernels.names import resolve_kernel
from kernbench.kernels.rows import KernelRows
from kernbench.kernels.threads import single_threaded_blas
from kernbench.solvers import registry

WINDOW = 50
COLUMNS = ("window", "iteration", "objective", "excess")
CACHE_BYTES = 2**30
# A run that may end early is remembered throughout, one of many thousand steps at its ends only.
LOOKED_AT = 2000


def measure(cell):
    """Run a solver step by step and follow the objective over all training rows.

    The cell's `params`: ``solver``, a name of the registry; ``lam``; ``n_iter``, steps at the most, or
    ``n_epochs``, passes of n steps; and options of the solver.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict
        ``metrics``: ``objective`` and ``excess`` (above a certified bound from below) at the end, ``n_iter``,
        ``best``, the optimum itself. ``trace``: ``window`` (``"first"`` or ``"last"``), ``iteration`` (1 to
        50, or -49 to 0), ``objective``, ``excess``. ``seconds``: ``fit``, the steps alone.
    """
    data = resolve(cell.loader)(**cell.arguments)
    X, y = data.X_train, data.y_train
    params = dict(cell.params)
    name, lam = params.pop("solver"), params.pop("lam")
    n_epochs, n_iter = params.pop("n_epochs", 0), params.pop("n_iter", 0)
    limit = max(n_iter, int(np.ceil(n_epochs * len(y))))
    gamma = 1.0 / X.shape[1]
    rows = KernelRows(X, resolve_kernel("rbf", X, gamma=gamma), dtype=np.float64, cache_bytes=CACHE_BYTES)
    solver = registry.get(name, "kernel-svm").load()(rows, y, alpha=lam, fit_intercept=False, **params)
    optimum = certified_optimum(X, y, gamma, lam)

    first, last, seconds = [], deque(maxlen=WINDOW), 0.0
    with single_threaded_blas():
        for step in range(1, limit + 1):
            start = perf_counter()
            advanced = solver.advance(1)
            seconds += perf_counter() - start
            if advanced == 0:
                break
            if step <= WINDOW or step > limit - WINDOW or limit <= LOOKED_AT:
                last.append(solver.solution().coef)
                if step <= WINDOW:
                    first.append(last[-1])
            if solver.converged:
                break
    memory = peak_memory()
    numbered = [("first", k + 1, coef) for k, coef in enumerate(first)]
    numbered += [("last", k + 1 - len(last), coef) for k, coef in enumerate(last)]
    trace = []
    for window, iteration, coef in numbered:
        used = np.flatnonzero(coef)
        value = objective(X, y, gamma, lam, used, coef[used])
        trace.append((window, iteration, value, max(0.0, value - optimum)))
    metrics = {"objective": trace[-1][2], "excess": trace[-1][3], "best": optimum, "n_iter": solver.n_iter}
    return result(
        data,
        metrics,
        seconds={"fit": seconds},
        trace=dict(zip(COLUMNS, zip(*trace))),
        n_kernel_evaluations=solver.n_kernel_evaluations,
        memory=memory,
    )
