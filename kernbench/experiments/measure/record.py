"""The result of a measurement: the parts of a record that only the cell's process knows."""

import math

import numpy as np

from kernbench.experiments.measure.memory import peak_memory


def plain(value):
    """Convert NumPy numbers and arrays to JSON types; infinities and NaN become None."""
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


def columns(names, rows):
    """Rows as the columns of a trace: ``{name: list of its values}``."""
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def result(data, metrics, *, seconds=None, trace=None, n_kernel_evaluations=None, memory=None):
    """Return the outcome of a measurement.

    Parameters
    ----------
    data : Dataset
        Data as the cell's loader returned it.
    metrics : dict
        Numbers by name; None, infinity and NaN all mean "no number". May be nested.
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


def exponent(x, y):
    """The power of x with which y grows, by least squares on the logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
