"""What happens in a cell: load, fit on the clock, predict on the clock, judge off the clock.

That is the race, :func:`measure`. An experiment with a measurement of its own names another function of a
cell; what it returns is made by :func:`result` too.
"""

import math
from contextlib import suppress
from dataclasses import replace
from time import perf_counter

import numpy as np
from scipy import sparse

from kernbench.experiments.declare.addresses import resolve
from kernbench.experiments.measure.evaluation import error_rate
from kernbench.experiments.run.memory import peak_memory

TRACE = ("seconds", "n_iter", "n_kernel_evaluations", "objective", "test_error")


def plain(value):
    """Turn NumPy numbers and arrays into what JSON knows; infinities and NaN become None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def describe(data):
    """The ``data`` of a record."""
    return plain(
        {
            "name": data.name,
            "kind": data.kind,
            "n_train": data.X_train.shape[0],
            "n_test": data.X_test.shape[0],
            "n_features": data.X_train.shape[1],
            "checksum": data.checksum,
            "description": data.description,
        }
    )


def result(data, metrics, *, seconds=None, trace=None, n_kernel_evaluations=None, memory=None):
    """What a measurement returns: the parts of a record that only the cell's process knows.

    Parameters
    ----------
    data : Dataset
        As the cell's loader gave it.
    metrics : dict
        Numbers by name; None, infinity and NaN are all "no number". May be nested.
    seconds : dict, optional
        Seconds by phase.
    trace : dict, optional
        A table: lists by the name of their column, of numbers or text, of one length (or several tables, each
        of one length).
    n_kernel_evaluations : int, optional
    memory : int, optional
        Peak memory in bytes; that of the process so far by default.

    Returns
    -------
    dict
        The record's ``metrics``, ``seconds``, ``peak_memory_bytes``, ``n_kernel_evaluations``, ``trace``,
        ``data``.
    """
    return plain(
        {
            "metrics": metrics,
            "seconds": seconds or {},
            "peak_memory_bytes": peak_memory() if memory is None else memory,
            "n_kernel_evaluations": n_kernel_evaluations,
            "trace": trace or {},
            "data": describe(data),
        }
    )


class ErrorTracer:
    """A callback that follows the test error, and knows when it was first and last called."""

    def __init__(self, data):
        self.data = data
        self.first = self.last = None

    def __call__(self, model):
        if self.first is None:
            self.first = perf_counter()
        error = error_rate(self.data.y_test, model.predict(self.data.X_test))
        self.last = perf_counter()
        return {"test_error": error}


def fit_seconds(start, end, tracer, own_clock):
    """Seconds a fit took without being traced.

    Until the tracer is first called and after it was last called, everything counts (validation, set-up, the
    final certificate); in between, the solver's own clock does, which stands still while a point is traced.

    Parameters
    ----------
    start, end : float
        Around ``fit``.
    tracer : ErrorTracer
    own_clock : float or None
        What the solver's clock showed at the end; None where it has none.
    """
    if tracer.first is None or own_clock is None:
        return end - start
    return (tracer.first - start) + own_clock + (end - tracer.last)


def _trace(model, metrics, seconds):
    """The solver's trace, or the end point of one that kept none."""
    kept = getattr(model, "trace_", None)
    if kept:
        return {column: list(kept[column]) for column in TRACE if column in kept}
    return {
        "seconds": [seconds],
        "n_iter": [metrics.get("n_iter")],
        "n_kernel_evaluations": [getattr(model, "n_kernel_evaluations_", None)],
        "objective": [metrics.get("objective")],
        "test_error": [metrics.get("test_error")],
    }


def laid_out(cell, data):
    """The data as the cell's method wants them: sparse ones dense, if it asks for that."""
    if not cell.dense_input or not sparse.issparse(data.X_train):
        return data
    return replace(data, X_train=data.X_train.toarray(), X_test=data.X_test.toarray())


def in_precision(cell, data):
    """The data in the precision that the cell's method asks for, if it does."""
    if cell.input_dtype is None:
        return data
    X_train, X_test = (X.astype(cell.input_dtype) for X in (data.X_train, data.X_test))
    return replace(data, X_train=X_train, X_test=X_test)


def warm_up(cell, data):
    """Fit a few rows of each class off the clock: a process's first fit also loads libraries."""
    if cell.warm_up_rows == 0:
        return
    labels = np.unique(data.y_train)
    each = -(-cell.warm_up_rows // len(labels))
    rows = np.concatenate([np.flatnonzero(data.y_train == label)[:each] for label in labels])
    with suppress(Exception):  # if something is wrong, the fit on the clock will say it
        resolve(cell.estimator)(**cell.params).fit(data.X_train[rows], data.y_train[rows])


def measure(cell):
    """Run one cell of a race here and now.

    Parameters
    ----------
    cell : Cell
        With its budget, if any, already among its params.

    Returns
    -------
    dict
        As :func:`result` makes it. ``seconds["fit"]`` is wall time without the tracing, see `fit_seconds`;
        ``seconds["solver"]`` is where the solver's own clock ends, and with it the trace (None without one).
    """
    data = in_precision(cell, laid_out(cell, resolve(cell.loader)(**cell.arguments)))
    warm_up(cell, data)
    tracer = ErrorTracer(data)
    model = resolve(cell.estimator)(**cell.params, **({"callback": tracer} if cell.traced else {}))
    start = perf_counter()
    model.fit(data.X_train, data.y_train)
    end = perf_counter()
    own_clock = model.trace_["seconds"][-1] if getattr(model, "trace_", None) else None
    seconds = {"fit": fit_seconds(start, end, tracer, own_clock)}
    start = perf_counter()
    predictions = model.predict(data.X_test)
    seconds["predict"] = perf_counter() - start
    seconds["solver"] = own_clock
    memory = peak_memory()

    metrics = resolve(cell.evaluate)(model, data, predictions)
    return result(
        data,
        metrics,
        seconds=seconds,
        trace=_trace(model, metrics, seconds["fit"]),
        n_kernel_evaluations=getattr(model, "n_kernel_evaluations_", None),
        memory=memory,
    )
