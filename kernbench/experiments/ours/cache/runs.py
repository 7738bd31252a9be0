"""A cell of ``cache``: fits with more and more memory."""

import warnings
from time import process_time

import numpy as np

from kernbench._lazy import load
from kernbench.experiments.measure.building import build
from kernbench.experiments.measure.record import result


def measure(cell):
    """Fit one solver with each size of the cache, in turn.

    The cell's `params` are those of the estimator, ``gamma`` and ``C`` among them, and ``sizes``, in megabytes and
    ascending, ``rounds``.

    Returns
    -------
    dict
        ``metrics``: ``worst_over_best``, the longest time over the shortest; ``slower_with_more``, the largest time
        over that with any smaller cache; ``evaluations_ratio``, the largest number of kernel values over the smallest
        (None for a library that does not count). ``trace``: ``cache_size`` in megabytes, ``fit_seconds``, processor
        time, the least of the rounds, ``n_kernel_evaluations``. ``seconds``: ``fit``, with the largest cache.
    """
    data, params = load(cell.loader)(**cell.arguments), dict(cell.params)
    sizes, rounds = params.pop("sizes"), params.pop("rounds")
    seconds, evaluations = np.full((rounds, len(sizes)), np.inf), [None] * len(sizes)
    for times in seconds:
        for k, size in enumerate(sizes):
            model = build(cell.estimator, {**params, "cache_size": size}, len(data.y_train))
            start = process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(data.X_train, data.y_train)
            times[k] = process_time() - start
            evaluations[k] = getattr(model, "n_kernel_evaluations_", None)
    best = seconds.min(axis=0)
    counted = None not in evaluations
    metrics = {
        "worst_over_best": float(best.max() / best.min()),
        "slower_with_more": slower_with_more(best),
        "evaluations_ratio": max(evaluations) / min(evaluations) if counted else None,
    }
    trace = {"cache_size": sizes, "fit_seconds": best.tolist(), "n_kernel_evaluations": evaluations}
    return result(data, metrics, seconds={"fit": float(best[-1])}, trace=trace)


def slower_with_more(seconds):
    """The largest ratio of a time to that of any smaller cache; at most 1 if the times never grow."""
    return float(np.max(seconds[1:] / np.minimum.accumulate(seconds)[:-1]))
