"""One fit, of one model or of several along a path: from a task to fitted attributes."""

from copy import deepcopy

import numpy as np

from kernbench._interrupts import deferred_interrupt
from kernbench.estimators.arguments.parameters import check_grid
from kernbench.estimators.fit.folding import assembled
from kernbench.estimators.fit.outcome import (
    set_outcome,
    warn_if_indefinite,
    warn_if_sample_misleads,
    warn_of_rounding,
    warn_unless_converged,
)
from kernbench.estimators.fit.runs import Runs


def fit_task(task, models):
    """Solve the problems of `task` and set the attributes of the models.

    Parameters
    ----------
    task : Task
        Made for the first model.
    models : list of estimator
        They differ in the parameter `task.strength` only; each run starts from the solution for the model before.

    Returns
    -------
    list of FitResult
        Of the last model.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; the models are fitted as far as the runs got.
    """
    runs = Runs(task, [getattr(model, task.strength) for model in models])
    results = runs.run()
    with deferred_interrupt() as interrupt:  # Ctrl-C does not lose the solutions here
        for k, model in enumerate(models):
            task.share(model)
            results[k] = own = assembled(task, model, results[k])
            set_outcome(model, own)
            model._continuation = task.continuation(own) if model.warm_start else None
    if runs.interrupted or interrupt.asked:
        raise KeyboardInterrupt
    for model, own in zip(models, results, strict=True):
        warn_unless_converged(model, own, task.plural, task.advice)
        warn_of_rounding(model, own)
        warn_if_indefinite(model, own)
        warn_if_sample_misleads(model, own)
        task.warn(model, own)
    return results[-1]


def copy_with(model, **params):
    """Return an estimator that is not fitted, with some parameters changed, and with its metadata requests."""
    copy = type(model)(**{**model.get_params(deep=False), **params})
    if hasattr(model, "_metadata_request"):  # which `clone` copies, too
        copy._metadata_request = deepcopy(model._metadata_request)
    return copy


def models_along(model, name, values, *, ascending):
    """Return copies of an estimator along a path.

    Parameters
    ----------
    model : estimator
    name : {"C", "alpha"}
    values : array-like of shape (n_values,)
        Each > 0.
    ascending : bool
        Whether to fit them from small to large; False means from large to small.

    Returns
    -------
    models : list of estimator
        Copies of `model` with each of the values, in their order.
    in_turn : list of estimator
        The same models in the order of fitting.
    """
    values = check_grid(f"{name}s", values)
    models = [copy_with(model, **{name: float(value)}) for value in values]
    order = np.argsort(values if ascending else -values, kind="stable")
    return models, [models[k] for k in order]
