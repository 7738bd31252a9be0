"""A cell: the distance to the optimum of the slack-constrained problem over the steps, beside Lemma 3.2.

The problem is max over ‖w‖ ≤ 1 of the water level f(w) with slack ν. Lemma 2.1 gives its optimum from that of the
regularised one: for its minimiser w*, ν = L(w*)/‖w*‖ and the best level is 1/‖w*‖, known as exactly as w* is.
"""

import numpy as np

from kernbench._lazy import load
from kernbench.experiments.measure.building import build
from kernbench.experiments.measure.objectives import gaussian, mean_hinge, squared_norm, training_scores
from kernbench.experiments.measure.rates import rate
from kernbench.experiments.measure.record import columns, result
from kernbench.kernels import Linear
from kernbench.kernels.rows import KernelRows
from kernbench.solvers import registry
from kernbench.solvers.design import as_design

LABELS = {"sbp": "SBP", "simba": "SIMBA"}
COLUMNS = ("line", "n_iter", "distance", "inner_products")


def measure(cell):
    """Follow the average iterate of the batch perceptron, and that of SIMBA on a linear problem.

    The cell's `params`: ``kernel`` (``"rbf"`` or ``"linear"``), ``gamma`` of the former, ``alpha``, which gives ν;
    ``steps``, numbers of steps, and ``n_seeds``. A game of SIMBA is played for each number of steps, which its step
    sizes depend on.

    Returns
    -------
    dict
        ``metrics``, for ``sbp`` and ``simba``: ``distance`` to the best level after the most steps, relative to it,
        mean over seeds; ``slope``, its power of the steps, with the ends ``low`` and ``high`` of its interval.
        ``sbp_less_simba``, of the distances; ``nu``, ``level``. ``trace``: ``line``, ``n_iter``, ``distance`` (means
        over seeds) and ``inner_products``.
    """
    data, params = load(cell.loader)(**cell.arguments), cell.params
    X, y, n = data.X_train, data.y_train, len(data.y_train)
    nu, level = _budget(cell, X, y)
    kernel = Linear() if params["kernel"] == "linear" else gaussian(params["gamma"])
    seeds = [cell.seed + k for k in range(params["n_seeds"])]
    runs = {"sbp": lambda seed: _sbp(KernelRows(X, kernel, dtype=np.float64), y, nu, params["steps"], seed)}
    costs = {"sbp": float(n), "simba": (n + 3.0 * X.shape[1]) / X.shape[1]}
    if params["kernel"] == "linear":
        runs["simba"] = lambda seed: _simba(as_design(X), y, nu, params["steps"], seed)
    metrics, rows = {"nu": nu, "level": level}, []
    for name, run in runs.items():
        means = 1.0 - np.mean([run(seed) for seed in seeds], axis=0) / level
        found = rate(params["steps"], means)
        own = {"distance": means[-1], "slope": found.slope, "low": found.low, "high": found.high}
        metrics |= {f"{name}_{what}": value for what, value in own.items()}
        rows += [(LABELS[name], t, value, t * costs[name]) for t, value in zip(params["steps"], means, strict=True)]
    if "simba" in runs:
        metrics["sbp_less_simba"] = metrics["sbp_distance"] - metrics["simba_distance"]
    return result(data, metrics, trace=columns(COLUMNS, rows))


def _budget(cell, X, y):
    """The slack ν at which the minimiser of the regularised problem solves the other, and the best level."""
    names = ("kernel", "gamma", "alpha")
    params = {name: cell.params[name] for name in names if name in cell.params}
    exact = {"fit_intercept": False, "tol": 1e-7, "dtype": "float64", "max_iter": -1}
    model = build("kernbench.estimators:KernelSVC", {**params, **exact}, len(y)).fit(X, y)
    scores = training_scores(model, X)
    norm = squared_norm(model, scores) ** 0.5
    return mean_hinge(y, scores) / norm, 1.0 / norm


def _sbp(rows, y, nu, steps, seed):
    """The levels of the average after so many steps."""
    solver = registry.get("sbp", "kernel-svm").load()(rows, y, nu=nu, fit_intercept=False, random_state=seed)
    found = []
    for t in steps:
        solver.advance(t - solver.n_iter)
        found.append(-solver.objective())
    return found


def _simba(design, y, nu, steps, seed):
    make, found = registry.get("simba", "linear-svm").load(), []
    for t in steps:
        solver = make(design, y, nu=nu, horizon=t, random_state=seed)
        solver.advance(t)
        found.append(-solver.objective())
    return found
