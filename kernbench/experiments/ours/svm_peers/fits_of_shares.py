"""Cells of problems with a share nu: fit on the clock, judge against a lower bound from dual variables."""

from functools import partial

import numpy as np

from kernbench._lazy import load
from kernbench.experiments.measure.judging import error_rate
from kernbench.experiments.measure.objectives import dual_coefficients
from kernbench.experiments.measure.race import in_precision, warm_up
from kernbench.experiments.measure.svm_family import margin_bound, margin_objective, residual_bound, residual_objective
from kernbench.experiments.ours.svm_peers.fits_of_family import BOUND_TOL, judged, recorded, timed_outputs


def _measure(cell, error, reference, objective, bound, names):
    """Fit and judge one method; the cell's `params` are those of the estimator, ``gamma`` and `names` among them.

    Returns
    -------
    dict
        ``metrics``: that of `error`; ``objective``, ``relative_gap``, to the lower bound, ``n_support``, ``n_iter``;
        ``seconds_to_gap``, the time of the fit if the gap is at most 10⁻³. ``seconds``: ``fit``, ``predict``.
    """
    original = load(cell.loader)(**cell.arguments)
    data, problem = in_precision(cell, original), {name: cell.params[name] for name in names}
    warm_up(cell, cell.params, data)
    model, predictions, seconds, memory = timed_outputs(cell, data, (data.X_train, data.y_train), "predict")
    X, y, gamma = original.X_train, original.y_train, cell.params["gamma"]
    exact = load(reference)(gamma=gamma, tol=BOUND_TOL, cache_size=1000, **problem).fit(X, y)
    lower = bound(X, y, gamma=gamma, rows=exact.support_, coef=dual_coefficients(exact), **problem)
    metrics = error(data.y_test, predictions) | judged(model, objective(model, X, y, **problem), lower, seconds["fit"])
    return recorded(model, data, metrics, seconds, memory)


def _rmse(y, predictions):
    return {"rmse": float(np.sqrt(np.mean((np.ravel(predictions) - y) ** 2)))}


def _test_error(y, predictions):
    return {"test_error": error_rate(y, predictions)}


classification = partial(
    _measure,
    error=_test_error,
    reference="sklearn.svm:NuSVC",
    objective=margin_objective,
    bound=margin_bound,
    names=("nu",),
)
regression = partial(
    _measure,
    error=_rmse,
    reference="sklearn.svm:NuSVR",
    objective=residual_objective,
    bound=residual_bound,
    names=("nu", "C"),
)
