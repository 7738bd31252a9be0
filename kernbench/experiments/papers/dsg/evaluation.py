"""How classifiers are judged: by their errors alone, since methods on features of their own share no objective."""

import numpy as np

from kernbench.estimators.doubly_stochastic.parameters import batch_size_of
from kernbench.experiments.measure.building import rows_per_iteration
from kernbench.experiments.measure.judging import error_rate, iterations


def classifier(fit):
    """Metrics of a classifier.

    Returns
    -------
    dict
        ``test_error``; ``balanced_error``, the mean of the classes' errors; ``n_iter``; ``passes``, rows seen over
        rows; ``n_feature_values``, those computed by a doubly stochastic fit.
    """
    y, predictions = fit.data.y_test, fit.predictions
    errors = [error_rate(y[y == label], predictions[y == label]) for label in np.unique(y)]
    n_iter, n = iterations(fit.model), len(fit.data.y_train)
    return {
        "test_error": error_rate(y, predictions),
        "balanced_error": float(np.mean(errors)),
        "n_iter": n_iter,
        "passes": None if n_iter is None else n_iter * _rows_of_a_step(fit.model, n) / n,
        "n_feature_values": getattr(fit.model, "n_feature_values_", None),
    }


def _rows_of_a_step(model, n_rows):
    if hasattr(model, "batch_size"):
        return min(batch_size_of(model, n_rows), n_rows)
    return rows_per_iteration(getattr(model, "solver", None), getattr(model, "solver_options", None))
