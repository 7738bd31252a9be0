"""Estimators from their declarations."""

import inspect
import math

from kernbench._lazy import load
from kernbench.solvers.registry import SOLVERS


def takes(make, name):
    """Whether an estimator's class has a parameter of that name."""
    return name in inspect.signature(make).parameters


def rows_per_iteration(solver, options):
    """Rows that an iteration of the solver of this name visits with these options; 1 for an unknown name."""
    return max((entry.rows_per_iteration(options) for entry in SOLVERS if entry.name == solver), default=1)


def build(estimator, params, n_rows):
    """Make an estimator for `n_rows` training rows.

    A ``batch_size`` of a class without this parameter is an option of its solver, and None that of a solver without
    batches in a setting that has one. ``passes`` becomes ``max_iter``, in
    batches where an iteration of the solver is a step on one.

    Parameters
    ----------
    estimator : str
        ``"module:Class"``.
    params : dict
        See :mod:`kernbench.experiments.measure.race`.
    n_rows : int
    """
    make, params = load(estimator), dict(params)
    if "alpha" in params and not takes(make, "alpha"):
        params["C"] = 1.0 / (params.pop("alpha") * n_rows)
    elif "C" in params and takes(make, "alpha") and not takes(make, "C"):
        params["alpha"] = 1.0 / (params.pop("C") * n_rows)
    if "total_step" in params:
        options = {**(params.get("solver_options") or {}), "step_size": params.pop("total_step") / n_rows}
        params["solver_options"] = options
    if params.get("batch_size", 0) is None:
        del params["batch_size"]
    if "batch_size" in params and takes(make, "solver_options") and not takes(make, "batch_size"):
        options = {**(params.get("solver_options") or {}), "batch_size": params.pop("batch_size")}
        params["solver_options"] = options
    if "passes" in params:
        rows = rows_per_iteration(params.get("solver"), params.get("solver_options"))
        params["max_iter"] = math.ceil(params.pop("passes") * n_rows / rows)
    return make(**params)
