"""The race: load, choose alpha, fit and predict on the clock, judge off the clock.

Two functions measure a cell this way, `classify` and `rank`; they differ in the method of the fitted model that is
called. The experiment's ``evaluate`` turns the :class:`Fit` into metrics. The steps are functions of their own, for
measurements that need some of them only.

A cell's `params` are those of the estimator, and perhaps

* ``alpha`` for an estimator with ``C`` instead, or the reverse: C = 1 / (alpha n);
* ``passes``: ``max_iter`` divided by the number of training rows;
* ``total_step``: the solver's ``step_size`` times the number of training rows, for steps in one coefficient a row;
* ``search``: keywords of :func:`~kernbench.experiments.measure.search.best_alpha`, which chooses ``alpha``;
* ``options_grid``: before that, keywords of :func:`~kernbench.experiments.measure.search.best_options` beside those of
  the search, which chooses ``solver_options``.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy import sparse

from kernbench._lazy import load
from kernbench.experiments.measure.building import build
from kernbench.experiments.measure.clock import Tracer, fit_seconds, own_clock, shortest, timed
from kernbench.experiments.measure.judging import error_rate
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.record import result
from kernbench.experiments.measure.search import best_alpha, best_options

TRACE = ("seconds", "n_iter", "n_kernel_evaluations", "objective", "test_error")


@dataclass(frozen=True)
class Fit:
    """A fitted model, for ``evaluate``.

    Attributes
    ----------
    model : fitted estimator
    data : Dataset
        Data as given to the model.
    predictions : ndarray of shape (n_test,)
        Labels or scores of the test rows.
    params : dict
        Parameters of the cell, with the chosen alpha.
    """

    model: Any
    data: Any
    predictions: np.ndarray
    params: dict


def classify(cell):
    """Measure a method that predicts; see :func:`measure`."""
    return measure(cell, "predict")


def rank(cell):
    """Measure a method by its scores of the test rows; see :func:`measure`."""
    return measure(cell, "decision_function")


def measure(cell, output):
    """Measure one cell of a race, here and now.

    Parameters
    ----------
    cell : Cell
        Its budget, if any, is already among its params.
    output : {"predict", "decision_function"}
        The method of the fitted model that is called. Alpha is chosen by the accuracy of the former, by the AUC of the
        latter.

    Returns
    -------
    dict
        As :func:`~kernbench.experiments.measure.record.result` makes it. ``seconds``: ``fit``, wall time
        without the tracing (see `fit_seconds`); ``fit_cpu``, its processor time over all threads, of fits that are not
        traced; ``predict``; with a search, ``search``, all its fits; ``solver``, the solver's own time at the end of
        its trace (None without one). Short fits and predictions are repeated, and the shortest counts
        (`~kernbench.experiments.measure.clock.shortest`); not fits that are traced or have a time budget.
    """
    data = in_precision(cell, laid_out(cell, load(cell.loader)(**cell.arguments)))
    params, seconds = dict(cell.params), {}
    search, options = params.pop("search", None), params.pop("options_grid", None)
    if search is not None:
        start = perf_counter()
        search = dict(search)
        n_points = search.pop("n_points", None)
        if options is not None:
            given = {**options, **search, "n_points": n_points, "seed": cell.seed}
            params["solver_options"] = best_options(cell.estimator, params, data, output, **given)
            search["warm"] = False
        params["alpha"] = best_alpha(cell.estimator, params, data, output, **search, seed=cell.seed)
        seconds["search"] = perf_counter() - start
    warm_up(cell, params, data)
    tracer = Tracer(lambda model: {"test_error": error_rate(data.y_test, model.predict(data.X_test))})
    start = process_time()
    model, seconds["fit"] = timed_fit(cell, params, data, tracer if cell.traced else None)
    if not cell.traced:
        seconds["fit_cpu"] = process_time() - start
    predictions, seconds["predict"] = timed(lambda: getattr(model, output)(data.X_test))
    seconds["solver"] = own_clock(model)
    memory = peak_memory()
    seconds |= _repeated(cell, params, data, model, output, seconds)

    metrics = load(cell.evaluate)(Fit(model, data, predictions, params))
    return result(
        data,
        metrics,
        seconds=seconds,
        trace=_trace(model, metrics, seconds["fit"]),
        n_kernel_evaluations=getattr(model, "n_kernel_evaluations_", None),
        memory=memory,
    )


# --- the data -----------------------------------------------------------------------------------------------


def laid_out(cell, data):
    """The data in the layout of the cell's method: sparse rows are made dense if it declares that."""
    if not cell.dense_input or not sparse.issparse(data.X_train):
        return data
    return replace(data, X_train=data.X_train.toarray(), X_test=data.X_test.toarray())


def in_precision(cell, data):
    """The data in the precision that the cell's method declares, if any."""
    if cell.input_dtype is None:
        return data
    X_train, X_test = (X.astype(cell.input_dtype) for X in (data.X_train, data.X_test))
    return replace(data, X_train=X_train, X_test=X_test)


# --- the fit ------------------------------------------------------------------------------------------------


def warm_up(cell, params, data):
    """Fit a few rows off the clock, of each class if there are few, since the first fit of a process also loads
    libraries."""
    if cell.warm_up_rows == 0:
        return
    labels = np.unique(data.y_train)
    each = -(-cell.warm_up_rows // len(labels))
    rows = np.arange(min(cell.warm_up_rows, len(data.y_train)))  # of a regression
    if len(labels) <= cell.warm_up_rows:
        rows = np.concatenate([np.flatnonzero(data.y_train == label)[:each] for label in labels])
    with suppress(Exception):  # the timed fit will raise it again
        build(cell.estimator, params, len(data.y_train)).fit(data.X_train[rows], data.y_train[rows])


def timed_fit(cell, params, data, tracer=None):
    """Build the cell's estimator and fit it; return the model and the seconds without the tracing."""
    options = {} if tracer is None else {"callback": tracer}
    model = build(cell.estimator, {**params, **options}, len(data.y_train))
    start = perf_counter()
    model.fit(data.X_train, data.y_train)
    return model, fit_seconds(start, perf_counter(), tracer, own_clock(model))


def _repeated(cell, params, data, model, output, seconds):
    """Seconds of fit and prediction, each the least of several calls where one is short."""

    def fit():
        start = process_time()
        again, wall = timed_fit(cell, params, data)
        return {"fit": wall, "fit_cpu": process_time() - start, "solver": own_clock(again)}

    found = shortest(
        {"predict": seconds["predict"]}, lambda: {"predict": timed(lambda: getattr(model, output)(data.X_test))[1]}
    )
    if cell.traced or cell.budget is not None:
        return found
    clocks = [name for name in ("fit", "fit_cpu", "solver") if seconds[name] is not None]
    return found | shortest({name: seconds[name] for name in clocks}, fit)


def _trace(model, metrics, seconds):
    """The solver's trace, or the final point of a solver without one."""
    kept = getattr(model, "trace_", None)
    if isinstance(kept, dict) and kept:
        return {column: list(kept[column]) for column in TRACE if column in kept}
    return {
        "seconds": [seconds],
        "n_iter": [metrics.get("n_iter")],
        "n_kernel_evaluations": [getattr(model, "n_kernel_evaluations_", None)],
        "objective": [metrics.get("objective")],
        "test_error": [metrics.get("test_error")],
    }
