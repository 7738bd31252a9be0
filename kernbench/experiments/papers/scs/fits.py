"""A cell: choose λ, fit on the clock, predict on the clock, judge off the clock."""

from dataclasses import replace
from time import perf_counter

import numpy as np

from kernbench.datasets.splits import split_indices
from kernbench.experiments.declare import resolve
from kernbench.experiments.measure.clock import peak_memory, result, warm_up
from kernbench.experiments.papers.scs.optimum import LARGEST, certified_optimum, objective


def measure(cell):
    """Fit and judge a classifier without intercept whose λ is given or chosen.

    The cell's `params` are those of the estimator and one of: ``lam``, the λ of the paper, C = 1/(λ n) here;
    ``search``, keywords of `chosen_lambda`; neither, for an estimator without. ``passes`` stands for a
    ``max_iter`` of so many times the number of rows.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict
        ``metrics``: ``accuracy`` on the test rows, ``lam``, ``objective`` over all training rows and
        ``excess``, its distance to a certified bound from below (both for at most 20,000 rows),
        ``n_support``, ``n_iter``. ``seconds``: ``fit``, ``predict`` and, with a search, ``search``.
    """
    data = resolve(cell.loader)(**cell.arguments)
    params, seconds = dict(cell.params), {}
    lam, search = params.pop("lam", None), params.pop("search", None)
    if search is not None:
        start = perf_counter()
        lam = chosen_lambda(cell.estimator, params, data.X_train, data.y_train, **search, seed=cell.seed)
        seconds["search"] = perf_counter() - start
    if lam is not None:
        params["C"] = 1.0 / (lam * len(data.y_train))
    params = _counted(params, len(data.y_train))
    warm_up(replace(cell, params=params), data)
    model = resolve(cell.estimator)(**params)
    start = perf_counter()
    model.fit(data.X_train, data.y_train)
    seconds["fit"] = perf_counter() - start
    start = perf_counter()
    predictions = model.predict(data.X_test)
    seconds["predict"] = perf_counter() - start
    memory = peak_memory()
    metrics = {
        "accuracy": float(np.mean(predictions == data.y_test)),
        "lam": lam,
        "n_support": len(model.support_) if hasattr(model, "support_") else None,
        "n_iter": int(np.max(model.n_iter_)) if hasattr(model, "n_iter_") else None,
    }
    if lam is not None and len(data.y_train) <= LARGEST:
        gamma = 1.0 / data.X_train.shape[1]
        metrics["objective"] = objective(
            data.X_train, data.y_train, gamma, lam, model.support_, model.dual_coef_[0], model.intercept_[0]
        )
        optimum = certified_optimum(data.X_train, data.y_train, gamma, lam)
        metrics["excess"] = max(0.0, metrics["objective"] - optimum)
    evaluations = getattr(model, "n_kernel_evaluations_", None)
    return result(data, metrics, seconds=seconds, n_kernel_evaluations=evaluations, memory=memory)


def chosen_lambda(estimator, params, X, y, *, lams, max_rows, seed):
    """The λ of the best accuracy on a quarter of the rows that is held out; of equal ones the largest.

    A λ does not depend on the number of rows, the loss being a mean, so it may be looked for on some of them.

    Parameters
    ----------
    estimator : str
        ``"module:Class"`` with a parameter ``C``.
    params : dict
        Its other parameters.
    X, y
        Training rows.
    lams : list of float
    max_rows : int
        Rows that are used at the most, a stratified draw; three quarters of them train.
    seed : int

    Returns
    -------
    float
    """
    if len(y) > max_rows:
        kept, _ = split_indices(y, max_rows, seed)
        X, y = X[kept], y[kept]
    train, test = split_indices(y, round(0.75 * len(y)), seed + 1)
    best, accuracy = None, -1.0
    for lam in sorted(lams, reverse=True):
        model = resolve(estimator)(**_counted(params, len(train)), C=1.0 / (lam * len(train)))
        model.fit(X[train], y[train])
        reached = float(np.mean(model.predict(X[test]) == y[test]))
        if reached > accuracy:
            best, accuracy = lam, reached
    return best


def _counted(params, n_rows):
    """`params` with passes turned into iterations."""
    params = dict(params)
    passes = params.pop("passes", None)
    return params if passes is None else {**params, "max_iter": passes * n_rows}
