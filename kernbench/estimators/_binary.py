"""One two-class problem: kernel rows or a design, a solver on them, and what its run calls."""

from collections.abc import Mapping

import numpy as np

from kernbench._lazy import load

# By module path, not imported: the references are for tests and speed-up tables, and no estimator depends on
# them.
ROWS = {
    "compiled": "kernbench.kernels.rows:KernelRows",
    "refined": "kernbench.kernels.two_precisions:TwoPrecisionRows",
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
    """Return the design of features or kernel rows, for the solvers of ranking problems."""
    return load(DESIGNS[twin])(data)


def make_solver(entry, data, y, settings, *, tol, options, twin):
    """Return the solver of `entry` on kernel rows or a design.

    Parameters
    ----------
    entry : SolverEntry
    data : KernelRows or Design
    y : ndarray of shape (n_rows,)
    settings : dict
        The keywords that the estimator sets.
    tol : float
    options : dict or None
        Those that the user adds.
    twin : {"compiled", "reference"}

    Raises
    ------
    ValueError
        If the solver has no such option.
    """
    options = dict(options or {})
    taken = sorted(settings.keys() & options.keys())
    if taken:
        raise ValueError(f"solver_options must not hold {', '.join(taken)}: the estimator sets it")
    try:
        solver = entry.load(twin)(data, y, **settings, **options)
    except TypeError as error:
        if not options:
            raise
        raise ValueError(
            f"solver {entry.name!r} does not take solver_options {options!r}: {error}"
        ) from error
    if solver.first_check is None:
        solver.tol = tol  # it watches the rule itself while it advances
    return solver


class Callbacks:
    """The one function the driver calls: it hands a fitted model to each callback and merges what they say.

    Ctrl-C in a callback ends the run as a callback that returns True does, and is told by `interrupted`: the
    run's result is kept wherever the driver was.

    Parameters
    ----------
    callbacks : list of callable
        Each is called with a fitted model; it returns None, a dict of trace columns, or True to stop.
    snapshot : callable
        Makes the fitted model from a solver.
    """

    def __init__(self, callbacks, snapshot):
        self._callbacks, self._snapshot = callbacks, snapshot
        self.interrupted = False

    def __call__(self, solver):
        model, columns, stop = self._snapshot(solver), {}, False
        for callback in self._callbacks:
            try:
                answer = callback(model)
            except KeyboardInterrupt:
                self.interrupted = True
                return True
            if isinstance(answer, Mapping):
                columns.update(answer)
            elif isinstance(answer, bool | np.bool_):
                stop = stop or bool(answer)
            elif answer is not None:
                raise ValueError(
                    f"a callback returns None, a dict of trace columns, or True to stop; got {answer!r}"
                )
        return True if stop else columns
