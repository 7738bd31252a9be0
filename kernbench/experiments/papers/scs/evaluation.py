"""Metrics of the classifiers of Table 1: accuracy, and the distance to the certified optimum without intercept."""

import numpy as np

from kernbench.experiments.measure.judging import iterations
from kernbench.experiments.measure.objectives import expansion_objective
from kernbench.experiments.measure.optimum import certified_optimum

LARGEST = 20_000  # training rows up to which the objective and its optimum are computed


# Multiplications of a kernel matrix above which its values have single precision: a minute and a half of one core in
# double precision for 20,000 rows of 2,400 columns, half a minute in single; the bound differs by 1e-9.
MOST_IN_DOUBLE = 10**11


def optimum(data, gamma, alpha):
    """A certified lower bound on the smallest objective."""
    n, n_columns = data.X_train.shape
    C = 1.0 / (alpha * n)
    dtype = "float64" if n**2 * n_columns <= MOST_IN_DOUBLE else "float32"
    tight = {"tol": 1e-5, "dtype": dtype, "cache_size": 2000}
    return certified_optimum(data, gamma=gamma, C=C, fit_intercept=False, **tight).lower


def evaluate(fit):
    """Metrics of a classifier without intercept.

    Returns
    -------
    dict
        ``accuracy`` on the test rows, ``lam``, ``n_support``, ``n_iter``; for at most 20,000 rows
        ``objective`` over all training rows and ``excess``, its distance to a certified lower bound.
    """
    model, data, alpha = fit.model, fit.data, fit.params.get("alpha")
    metrics = {
        "accuracy": float(np.mean(fit.predictions == data.y_test)),
        "lam": alpha,
        "n_support": len(model.support_) if hasattr(model, "support_") else None,
        "n_iter": iterations(model),
    }
    if alpha is not None and hasattr(model, "dual_coef_") and len(data.y_train) <= LARGEST:
        X, y, gamma = data.X_train, data.y_train, 1.0 / data.X_train.shape[1]
        metrics["objective"] = expansion_objective(
            X, y, gamma, alpha, model.support_, model.dual_coef_[0], model.intercept_[0]
        )
        metrics["excess"] = max(0.0, metrics["objective"] - optimum(data, gamma, alpha))
    return metrics
