"""A cell: kernel evaluations needed against accuracy, beside the bounds of the paper's Table 1.

The bounds are for an expected 0/1 loss of at most L(u) + eps, L being the hinge loss and u any competitor, and let the
number of training rows grow with the accuracy. The hinge loss, which is never smaller, is measured here: each solver is
run on several numbers of rows, and the cost of an eps is the least number of evaluations, over all numbers of rows,
after which the hinge loss of the test rows is at most L(u) + eps. u is SMO's solution on more rows than any run has;
all runs have the same weight of the norm.
"""

import numpy as np

from kernbench._lazy import load
from kernbench.experiments.measure.objectives import gaussian, mean_hinge
from kernbench.experiments.measure.rates import rate
from kernbench.experiments.measure.record import columns, exponent, result
from kernbench.experiments.papers.sbp import runs
from kernbench.experiments.papers.sbp.parts import LABELS
from kernbench.kernels.blocks import matmul

N_EPS = 8
LEAST = 1 / 30  # of the largest eps; below, the sampling error of the test rows dominates
# Kernel evaluations up to constants and logarithms, for L = L(u), e = eps and s = |u|^2 (Table 1, r = 1).
BOUNDS = {
    "sbp": lambda L, e, s: ((L + e) / e) ** 3 * s**2 / e,
    "sdca": lambda L, e, s: ((L + e) / e) ** 2 * s**2 / e**2,
    "pegasos": lambda L, e, s: ((L + e) / e) ** 2 * s**2 / e**3,
    "norm-ball-sgd": lambda L, e, s: ((L + e) / e) * s**2 / e**3,
    "perceptron": lambda L, e, s: ((L + e) / e) ** 3 * s**2 / e,
}
OPTIONS = {"perceptron": {"output": "average"}}  # its bound is for the average, not for the last iterate
MEASURED, BOUND = "measured", "bound"


def measure(cell):
    """Find the evaluations each solver needs for smaller and smaller eps.

    The cell's `params` are ``solvers``, ``gamma``, ``C`` (for the rows of the reference), ``sizes`` (numbers
    of training rows) and ``epochs``.

    Returns
    -------
    dict
        ``metrics``: ``slope`` and ``bound``, by solver: the power of 1/eps with which evaluations grow, measured, with
        the ends ``low`` and ``high`` of its interval, and of the bound at the same eps; ``beyond``, measured less
        bound; ``reference_loss``,
        ``reference_norm``. ``trace``: ``solver``, ``kind``, ``accuracy`` (1/eps) and ``evaluations``.
    """
    data = load(cell.loader)(**cell.arguments)
    params, n = cell.params, len(data.y_train)
    problem = {"gamma": params["gamma"], "alpha": 1.0 / (params["C"] * n)}
    loss, squared_norm = _reference(data, problem, cell.seed)
    found = {name: _frontier(name, data, params, problem, cell.seed) for name in params["solvers"]}
    ladder = _ladder(loss, found)
    trace = []
    slopes, bounds, lows, highs = {}, {}, {}, {}
    for name, frontier in found.items():
        needed = [least_cost(frontier, loss + eps) for eps in ladder]
        rows = [(eps, cost) for eps, cost in zip(ladder, needed) if cost is not None]
        if len(rows) < 3:
            continue
        bound = [BOUNDS[name](loss, eps, squared_norm) for eps, _ in rows]
        scaled = [value * rows[0][1] / bound[0] for value in bound]
        for kind, values in ((MEASURED, [cost for _, cost in rows]), (BOUND, scaled)):
            trace += [(LABELS[name], kind, 1.0 / eps, value) for (eps, _), value in zip(rows, values)]
        inverse = [1.0 / eps for eps, _ in rows]
        measured = rate(inverse, [cost for _, cost in rows])
        slopes[name], lows[name], highs[name] = measured.slope, measured.low, measured.high
        bounds[name] = exponent(inverse, bound)
    metrics = {
        "slope": slopes,
        "low": lows,
        "high": highs,
        "bound": bounds,
        "beyond": {name: slopes[name] - bounds[name] for name in slopes},
        "reference_loss": loss,
        "reference_norm": squared_norm**0.5,
    }
    return result(data, metrics, trace=columns(("solver", "kind", "accuracy", "evaluations"), trace))


def least_cost(frontier, level):
    """The least cost of a model whose loss is at most `level`; None without one.

    Parameters
    ----------
    frontier : list of (float, float)
        Cost and loss of models.
    level : float
    """
    return min((cost for cost, loss in frontier if loss <= level), default=None)


def _reference(data, problem, seed):
    """The test hinge loss and the squared norm of SMO's solution on all rows."""
    solver = runs.start("smo", data.X_train, data.y_train, seed=seed, **problem)
    *_, last = runs.walk("smo", solver, data.X_train, data.X_test, gamma=problem["gamma"], epochs=1000)
    solution = solver.solution()
    train = matmul(gaussian(problem["gamma"]), data.X_train, data.X_train, solution.coef)
    return mean_hinge(data.y_test, last.scores), float(solution.coef @ train)


def _frontier(name, data, params, problem, seed):
    """Cost and test loss of all models of a solver, on all numbers of rows."""
    epochs = 1 if name == "perceptron" else params["epochs"]
    models = []
    for size in params["sizes"]:
        X, y = data.X_train[:size], data.y_train[:size]
        solver = runs.start(name, X, y, seed=seed, options=OPTIONS.get(name), **problem)
        for point in runs.walk(name, solver, X, data.X_test, gamma=problem["gamma"], epochs=epochs):
            models.append((point.cost, mean_hinge(data.y_test, point.scores)))
    return models


def _ladder(loss, found):
    """Values of eps, from half the excess loss of f = 0 down to the smallest reached by the best solver."""
    top = (1.0 - loss) / 2
    reached = sorted(min(value for _, value in frontier) - loss for frontier in found.values())
    bottom = max(reached[0] * 1.05, LEAST * top)
    return np.geomspace(top, bottom, N_EPS) if bottom < top else np.array([])
