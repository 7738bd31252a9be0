"""What a solver is made from: kernel rows or a design, and its keywords."""

import numpy as np

from kernbench._lazy import load

# By module path, not imported: the reference twins are for tests and tables of speed-ups.
ROWS = {
    "compiled": "kernbench.kernels.rows:KernelRows",
    "reference": "kernbench.reference.kernels.rows:ReferenceRows",
}
DESIGNS = {
    "compiled": "kernbench.solvers.design:as_design",
    "reference": "kernbench.reference.design:as_design",
}
MEGABYTE = 2**20


def make_rows(X, kernel, *, cache_size, dtype, twin):
    """Return the rows of the kernel matrix of X, with a cache of `cache_size` megabytes."""
    return load(ROWS[twin])(X, kernel, cache_bytes=int(cache_size * MEGABYTE), dtype=np.dtype(dtype))


def make_design(data, twin):
    """Return the design of features or kernel rows."""
    return load(DESIGNS[twin])(data)


def make_solver(model, entry, data, y, settings):
    """Return the solver of `entry`.

    Parameters
    ----------
    model : estimator
        Gives ``tol``, ``solver_options`` and the twin.
    entry : SolverEntry
    data : KernelRows, Design or StreamWindow
    y : ndarray of shape (n_rows,)
        -1 and +1.
    settings : dict
        The keywords that the estimator sets.

    Raises
    ------
    ValueError
        If ``solver_options`` holds one of these, or one that the solver does not have.
    """
    solver_class, options = entry.load(model._twin), model.solver_options
    if not options:
        solver = solver_class(data, y, **settings)
    else:
        taken = sorted(settings.keys() & options.keys())
        if taken:
            raise ValueError(f"solver_options must not hold {', '.join(taken)}: the estimator sets it")
        try:
            solver = solver_class(data, y, **settings, **options)
        except TypeError as error:
            raise ValueError(
                f"solver {entry.name!r} does not take solver_options {options!r}: {error}"
            ) from error
    if solver.first_check is None:
        solver.tol = model.tol  # `advance` tests the rule itself
    return solver
