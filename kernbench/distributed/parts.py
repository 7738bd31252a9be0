"""The parts of a cascade: which rows they are, and the solution of the problem of one of them."""

import numpy as np

from kernbench.distributed.blocks.random_rows import origin_of
from kernbench.distributed.cluster.workers import gathered_parts
from kernbench.kernels._rows import KernelRows
from kernbench.losses.regression import ResidualLoss
from kernbench.problems.novelty_problem import OneClass
from kernbench.solvers.kernel.smo.smo import SMO

PART_ROWS = 16_384  # of a part, at most, if there are not fewer than FEWEST_PARTS
FEWEST_PARTS = 4
FEW = 256  # rows that stand for a part without support vectors
PART_TOL = 1e-2  # largest violation of a part's solution, in units of a violation; for one class, of the first one


def parts_of(n_rows):
    """Return the bounds of the parts of the rows, which depend only on the number of rows."""
    n_parts = min(max(FEWEST_PARTS, -(-n_rows // PART_ROWS)), n_rows)
    return n_rows * np.arange(n_parts + 1) // n_parts


def solve_part(X, maps, y, weights, settings):
    """Solve the problem of some rows.

    Parameters
    ----------
    X : ndarray or CSR matrix
    maps : list of callable
        Applied to X one after the other.
    y, weights : ndarray of shape (n,)
    settings : dict
        ``kernel``, ``dtype``, ``loss``, ``C``, ``fit_intercept``, ``cache_bytes``.

    Returns
    -------
    support : ndarray of intp
        Indices of the support vectors.
    coef : ndarray
        Coefficients of the support vectors; None if there are none, or the labels are of one class.
    """
    used = np.flatnonzero(weights > 0)
    y, is_label = y[used], not isinstance(settings["loss"], OneClass | ResidualLoss)
    if len(used) == 0 or (is_label and len(np.unique(y)) < 2):
        return _some(used)
    X = X[used]
    for function in maps:
        X = function(X)
    solver = make_smo(X, y, weights[used], settings)
    set_tolerance(solver, rough_tolerance(solver, settings["loss"]))
    solver.rough = True
    while not solver.converged and solver.advance(10_000):
        pass
    beta = solver.solution().coef
    support = np.flatnonzero(beta)
    return (used[support], beta[support]) if len(support) else _some(used)


def _some(rows):
    return rows[:: max(1, len(rows) // FEW)][:FEW], None


def make_smo(X, y, weights, settings, *, mass=None, initial=None):
    """Return an SMO solver for some rows, with the C and, of one class, the `mass` of the whole problem."""
    rows = KernelRows(X, settings["kernel"], cache_bytes=settings["cache_bytes"], dtype=np.dtype(settings["dtype"]))
    loss = settings["loss"] if mass is None else OneClass(min(1.0, mass / weights.sum()))
    return SMO(
        rows, y, alpha=1.0 / (settings["C"] * len(y)), weights=weights, fit_intercept=settings["fit_intercept"],
        loss=loss, initial=initial,
    )  # fmt: skip


def set_tolerance(solver, violation):
    """Set the violation at which a solver stops, in the unit of the whole problem."""
    solver.tol = violation / (solver.problem.unit() or 1.0)


def rough_tolerance(solver, loss):
    """Return the violation at which a first solution is good enough.

    The scale of the values of a one-class machine is not known beforehand: one step is taken to measure it.
    """
    if not isinstance(loss, OneClass):
        return PART_TOL * solver.problem.unit()
    solver.tol = np.finfo(float).tiny
    solver.advance(1)
    return PART_TOL * solver.violation if np.isfinite(solver.violation) else 0.0


def support_of_parts(blocks, y, weights, settings):
    """Return row indices and coefficients of the support vectors of each part, solved by the worker that holds it."""
    edges, (origin, maps) = parts_of(blocks.n_rows), origin_of(blocks)
    spans = list(zip(edges[:-1], edges[1:]))
    if blocks.is_remote:
        client = blocks.client
        tasks = [
            client.submit(solve_part, part, maps, y[a:b], weights[a:b], settings, pure=False)
            for part, (a, b) in zip(origin.parts_at(edges), spans)
        ]
        try:
            found = gathered_parts(client, tasks)
        except BaseException:
            client.cancel(tasks)
            raise
    else:
        found = [solve_part(origin.rows(np.arange(a, b)), maps, y[a:b], weights[a:b], settings) for a, b in spans]
    return [(begin + rows, coef) for (begin, _), (rows, coef) in zip(spans, found)]
