"""How classifiers are judged: by their errors alone, since methods on features of their own share no objective."""

from copy import copy

import numpy as np

from kernbench.estimators.doubly_stochastic.parameters import batch_size_of
from kernbench.experiments.measure.building import rows_per_iteration
from kernbench.experiments.measure.judging import error_rate, iterations


def classifier(fit):
    """Metrics of a classifier.

    Returns
    -------
    dict
        ``test_error``; ``one_pass_error``, that after one pass over the rows, None where it is not known;
        ``balanced_error``, the mean of the classes' errors; ``n_iter``; ``passes``, rows seen over rows;
        ``n_feature_values``, those computed by a doubly stochastic fit.
    """
    y, predictions = fit.data.y_test, fit.predictions
    errors = [error_rate(y[y == label], predictions[y == label]) for label in np.unique(y)]
    n_iter, n = iterations(fit.model), len(fit.data.y_train)
    rows = None if n_iter is None else _rows_of_a_step(fit.model, n)
    after_one_pass = None if rows is None else _predictions_after(-(-n // rows), n_iter, fit)
    return {
        "test_error": error_rate(y, predictions),
        "one_pass_error": None if after_one_pass is None else error_rate(y, after_one_pass),
        "balanced_error": float(np.mean(errors)),
        "n_iter": n_iter,
        "passes": None if rows is None else n_iter * rows / n,
        "n_feature_values": getattr(fit.model, "n_feature_values_", None),
    }


def _predictions_after(steps, n_iter, fit):
    """Return the predictions after so many steps; None where they are not known.

    The first blocks of a doubly stochastic model are those that it had then, but for a common factor of the steps that
    shrink them, which leaves labels as they are.
    """
    model = fit.model
    if n_iter == steps:
        return fit.predictions
    if n_iter < steps or getattr(model, "average", None) != "last" or model.max_blocks is not None:
        return None
    then = copy(model)
    then.block_coef_ = model.block_coef_[:steps]
    return then.predict(fit.data.X_test)


def _rows_of_a_step(model, n_rows):
    if hasattr(model, "batch_size"):
        return min(batch_size_of(model, n_rows), n_rows)
    return rows_per_iteration(getattr(model, "solver", None), getattr(model, "solver_options", None))
