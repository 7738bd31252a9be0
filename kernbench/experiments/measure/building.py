"""Estimators from their declarations."""

import inspect

from kernbench._lazy import load


def takes(make, name):
    """Whether an estimator's class has a parameter of that name."""
    return name in inspect.signature(make).parameters


def build(estimator, params, n_rows):
    """Make an estimator for `n_rows` training rows.

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
    if "passes" in params:
        params["max_iter"] = params.pop("passes") * n_rows
    return make(**params)
