"""Cells of ``dsg-ridge``: the distance to the function without noise over time, and the rate of convergence."""

import numpy as np

from kernbench._lazy import load
from kernbench.datasets.generated.ridge_2d import HALF_WIDTH, ripple
from kernbench.experiments.measure.building import takes
from kernbench.experiments.measure.clock import Tracer, own_clock, timed
from kernbench.experiments.measure.judging import iterations
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.objectives import gaussian
from kernbench.experiments.measure.race import timed_fit
from kernbench.experiments.measure.record import exponent, result
from kernbench.kernels.blocks import block

FIRST_OF_SLOPE = 4  # steps; before, f is close to 0
LINE_POINTS = 161


def measure(cell):
    """Fit a regression and follow its mean squared distance to the function that is to be found.

    The cell's `params` are those of the estimator, and perhaps ``steps``: ``max_iter`` of those with batches.

    Returns
    -------
    dict
        ``metrics``: ``mse`` on the test rows, without noise; ``slope`` of its decrease with the number of steps;
        ``n_iter``; ``n_feature_values``. ``trace``: ``seconds``, ``n_iter``, ``mse``; and ``place``, ``value``,
        ``curve``: the fit and the truth along a line through the middle.
    """
    data = load(cell.loader)(**cell.arguments)
    params = dict(cell.params)
    steps = params.pop("steps", None)
    if steps is not None and takes(load(cell.estimator), "batch_size"):
        params["max_iter"] = steps
    truth = ripple(data.X_test)

    def distance(model):
        return {"mse": float(np.mean((model.predict(data.X_test) - truth) ** 2))}

    model, seconds = timed_fit(cell, params, data, Tracer(distance) if cell.traced else None)
    memory = peak_memory()
    final, predict_seconds = timed(lambda: distance(model))
    trace = {"seconds": [seconds], "n_iter": [None], "mse": [final["mse"]]}
    if cell.traced:
        trace = {name: list(model.trace_[name]) for name in trace}
    metrics = {
        **final,
        "slope": _slope(trace) if cell.traced else None,
        "n_iter": iterations(model),
        "n_feature_values": getattr(model, "n_feature_values_", None),
    }
    seconds = {"fit": seconds, "predict": predict_seconds, "solver": own_clock(model)}
    return result(data, metrics, seconds=seconds, trace=trace | _line(model), memory=memory)


def _slope(trace):
    points = [(t, mse) for t, mse in zip(trace["n_iter"], trace["mse"]) if t >= FIRST_OF_SLOPE]
    if len({t for t, _ in points}) < 3:
        return None
    return exponent(*zip(*points))


def _line(model):
    place = np.linspace(-HALF_WIDTH, HALF_WIDTH, LINE_POINTS)
    points = np.column_stack([place, np.zeros(LINE_POINTS)])
    return {
        "place": [*place, *place],
        "value": [*model.predict(points), *ripple(points)],
        "curve": ["fit"] * LINE_POINTS + ["truth"] * LINE_POINTS,
    }


def measure_rate(cell):
    """The mean squared distance of iterates to the closed-form solution, over some seeds.

    The cell's `params` are those of the estimator, and ``steps``, a list of numbers of steps, ``n_seeds``.

    Returns
    -------
    dict
        ``metrics``: ``distance`` at the end, ``slope``. ``trace``: ``n_iter``, ``distance``.
    """
    data = load(cell.loader)(**cell.arguments)
    params = dict(cell.params)
    steps, n_seeds = params.pop("steps"), params.pop("n_seeds")
    K = block(gaussian(params["gamma"]), data.X_train, data.X_train, dtype=np.float64)
    n = len(K)
    exact = K @ np.linalg.solve(K + n * params["alpha"] * np.eye(n), data.y_train)
    make = load(cell.estimator)

    def distance(t, seed):
        model = make(**params | {"random_state": seed, "max_iter": t}).fit(data.X_train, data.y_train)
        return np.mean((model.predict(data.X_train) - exact) ** 2)

    seeds = range(n_seeds * cell.seed, n_seeds * (cell.seed + 1))
    found, seconds = timed(lambda: [float(np.mean([distance(t, seed) for seed in seeds])) for t in steps])
    metrics = {"distance": found[-1], "slope": exponent(steps, found)}
    return result(data, metrics, seconds={"run": seconds}, trace={"n_iter": steps, "distance": found})
