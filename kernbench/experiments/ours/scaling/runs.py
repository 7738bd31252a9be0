"""A cell of ``scaling``: fits of growing size."""

import os
import warnings
from functools import partial
from time import perf_counter, process_time

import numpy as np
from threadpoolctl import threadpool_limits

from kernbench._lazy import load
from kernbench.experiments.measure.building import takes
from kernbench.experiments.measure.rates import rate
from kernbench.experiments.measure.record import result
from kernbench.experiments.ours.scaling.data import draw


def measure(cell):
    """Fit a model to more and more rows, to more and more columns, and with more and more threads.

    The cell's `params` are ``task`` and ``model``, its address; ``params``, ``passes`` and ``batch_size`` as in its
    :class:`~kernbench.experiments.ours.scaling.orders.Order`; ``order``, the stated exponents of rows and columns;
    ``sizes`` and ``widths``, the numbers of rows and columns; ``rounds``. Growth with rows and columns is that of the
    processor time of one thread, to which other work on the machine adds little.

    Returns
    -------
    dict
        ``metrics``: for rows ``n`` and columns ``d``, the fitted exponent ``slope_n`` of the time of a fit, the ends
        ``slope_n_low`` and ``slope_n_high`` of its interval, and ``beyond_n``, the lower end less the stated order;
        ``thread_speed_up``. ``trace``: ``n_rows``, ``by_rows``, ``n_columns``, ``by_columns``, ``threads``,
        ``speed_up``.
    """
    data, params = load(cell.loader)(**cell.arguments), cell.params
    sizes, widths = params["sizes"], params["widths"]
    most, middle, width = sizes[-1], sizes[-2], widths[0]
    new_fit = partial(_new_fit, cell, seed=cell.seed)
    threads = range(1, int(os.environ.get("OMP_NUM_THREADS") or 1) + 1)
    with threadpool_limits(1):
        by_rows = _timed({n: new_fit(n, width) for n in sizes}, params["rounds"], process_time)
        by_columns = _timed({d: new_fit(middle, d) for d in widths}, params["rounds"], process_time)
    largest = new_fit(most, width)
    by_threads = _timed({k: partial(_with_threads, k, largest) for k in threads}, params["rounds"], perf_counter)
    metrics, found = {}, {"n": by_rows, "d": by_columns}
    for (name, seconds), order in zip(found.items(), params["order"], strict=True):
        slope, low, high = fitted_slope(seconds)
        metrics |= {f"slope_{name}": slope, f"slope_{name}_low": low, f"slope_{name}_high": high}
        metrics[f"beyond_{name}"] = low - order
    best = {name: {size: min(times) for size, times in seconds.items()} for name, seconds in found.items()}
    speed_up = [min(by_threads[1]) / min(by_threads[k]) for k in threads]
    trace = {
        "n_rows": sizes,
        "by_rows": list(best["n"].values()),
        "n_columns": widths,
        "by_columns": list(best["d"].values()),
        "threads": list(threads),
        "speed_up": speed_up,
    }
    metrics["thread_speed_up"] = speed_up[-1] if len(threads) > 1 else None
    return result(data, metrics, seconds={"fit": best["n"][most]}, trace=trace)


def fitted_slope(seconds):
    """The power with which time grows, by least squares on the logarithms, and the ends of its interval.

    Parameters
    ----------
    seconds : dict of number to list of float
        Times of several fits by size.

    Returns
    -------
    slope, low, high : float
    """
    points = [(size, value) for size, times in seconds.items() for value in times]
    found = rate(*zip(*points))
    return found.slope, found.low, found.high


def _new_fit(cell, n, d, seed):
    """A function that fits a new model to `n` rows of `d` columns."""
    task, make = cell.params["task"], load(cell.params["model"])
    X, scores = draw(n, d, seed)
    params = {
        # Distances grow like the root of d: with this, typical values of the kernel do not depend on it.
        "gamma": 0.5 / d,
        "random_state": 0,
        **cell.params["params"],
    }
    passes, batch_size = cell.params["passes"], cell.params["batch_size"]
    if passes is not None:
        params |= {"batch_size": batch_size, "max_iter": round(passes * n / (batch_size or 1))}
    params = {name: value for name, value in params.items() if takes(make, name)}
    labels = np.where(scores > 0, 1, -1)
    arguments = {
        "classify": (X, labels),
        "rank": (X, labels),
        "regress": (X, scores),
        "novelty": (X,),
        "ratio": (X[scores > 0], X[scores <= 0]),
        "transform": (X,),
    }[task]

    def fit():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the iterations of one pass are not enough
            model = make(**params)
            model.fit_transform(*arguments) if task == "transform" else model.fit(*arguments)

    return fit


def _timed(routines, rounds, clock):
    """Seconds by `clock` of some routines, called in turn after one untimed call of the first."""
    next(iter(routines.values()))()
    seconds = {name: [] for name in routines}
    for _ in range(rounds):
        for name, routine in routines.items():
            start = clock()
            routine()
            seconds[name].append(clock() - start)
    return seconds


def _with_threads(n_threads, routine):
    with threadpool_limits(n_threads):
        routine()
