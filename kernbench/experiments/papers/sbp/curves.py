"""A cell: the test error of one solver along its kernel evaluations."""

import numpy as np

from kernbench._lazy import load
from kernbench.experiments.measure.clock import timed
from kernbench.experiments.measure.judging import error_rate
from kernbench.experiments.measure.record import result
from kernbench.experiments.papers.sbp import runs

PASSES = [10 * 2.0 ** (-k / 2) for k in range(20, -1, -1)]  # in n² evaluations: the points at which curves are compared


def measure(cell):
    """Follow a solver's test error.

    The cell's `params` are ``solver``, ``gamma`` (of the Gaussian), ``C``, ``epochs``, ``options`` of
    the solver, perhaps ``nu``, the slack budget of the batch perceptron, and perhaps ``pairs``, the most
    Fourier features it is compared with. There is no intercept.

    Returns
    -------
    dict
        ``metrics``, most of test errors at so many kernel evaluations, nothing being kept: ``test_error`` of
        the final model; ``curve_error``, the mean over `PASSES`, equally spaced in the logarithm;
        ``early_error``, ``epoch_error``, after n²/8 and n²; ``rise``, of the final model above the least on
        the way; ``computed``, of all its evaluations the share that was computed; with ``pairs``
        ``shared_error``, the mean over those of `PASSES` that the features reach, and ``matched_error``,
        after as many evaluations as the most features cost. ``trace``:
        ``passes``, ``evaluations`` (n² times those) and ``test_error``; of the models on the way
        ``model_evaluations``, ``model_computed``, ``model_error``.
    """
    data = load(cell.loader)(**cell.arguments)
    params, n = cell.params, len(data.y_train)
    problem = {"gamma": params["gamma"], "alpha": 1.0 / (params["C"] * n)}
    name = params["solver"]
    options = dict(params.get("options", {}))
    if name == "sbp" and "nu" in params:
        options["nu"] = params["nu"]
    solver = runs.start(name, data.X_train, data.y_train, seed=cell.seed, options=options, **problem)
    way = runs.walk(name, solver, data.X_train, data.X_test, gamma=params["gamma"], epochs=params["epochs"])
    points, seconds = timed(lambda: list(way))
    errors = [error_rate(data.y_test, np.where(point.scores > 0, 1, -1)) for point in points]
    grid = [passes * n * n for passes in PASSES]
    on_grid = runs.carried(points, errors, grid)
    metrics = summary(points, errors, on_grid, n)
    if "pairs" in params:
        most = most_pairs(params["pairs"])
        metrics["shared_error"] = mean_error(on_grid, most / n)
        (metrics["matched_error"],) = runs.carried(points, errors, [most * n])
    trace = {
        "passes": PASSES,
        "evaluations": grid,
        "test_error": on_grid,
        "model_evaluations": [point.cost for point in points],
        "model_computed": [point.computed for point in points],
        "model_error": errors,
    }
    return result(data, metrics, seconds={"run": seconds}, trace=trace, n_kernel_evaluations=points[-1].computed)


def mean_error(on_grid, end=PASSES[-1]):
    """The mean over those of `PASSES` that are at most `end`; None where there are none."""
    # Before the first model the error is that of guessing.
    reached = [0.5 if error is None else error for passes, error in zip(PASSES, on_grid) if passes <= end]
    return sum(reached) / len(reached) if reached else None


def most_pairs(limit):
    """The largest number of pairs of Fourier features up to `limit`: they are doubled, beginning with one."""
    return 1 << (int(limit).bit_length() - 1)


def summary(points, errors, on_grid, n):
    """The metrics of :func:`measure` from the models' errors."""
    early, epoch = runs.carried(points, errors, [n * n / 8, n * n])
    spent = points[-1].cost
    return {
        "test_error": errors[-1],
        "curve_error": mean_error(on_grid),
        "early_error": early,
        "epoch_error": epoch,
        "rise": errors[-1] - min(errors),
        "computed": points[-1].computed / spent,
        "evaluations": spent,
        "n_iter": points[-1].n_iter,
        "n_support": points[-1].n_support,
    }
