"""Cells of regression and of one class: fit on the clock, judge against a lower bound from dual variables."""

import warnings
from dataclasses import replace

import numpy as np

from kernbench._lazy import load
from kernbench.datasets import load as load_data
from kernbench.experiments.measure.building import build
from kernbench.experiments.measure.clock import shortest, timed
from kernbench.experiments.measure.judging import iterations
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.objectives import dual_coefficients
from kernbench.experiments.measure.race import in_precision, warm_up
from kernbench.experiments.measure.record import result
from kernbench.experiments.measure.svm_family import (
    one_class_bound,
    one_class_objective,
    outputs,
    regression_bound,
    regression_objective,
)
from kernbench.metrics import roc_auc

ACCURACY = 1e-3  # relative gap to the lower bound that counts as solved
BOUND_TOL = 1e-5  # of LIBSVM, from whose dual variables the bound is computed


def inliers(name, **arguments):
    """A data set of two classes whose training part has only rows of the class -1; the test part has both."""
    data = load_data(name, **arguments)
    usual = data.y_train == -1
    description = f"{data.description}; trained on the rows of the class -1 alone"
    return replace(data, X_train=data.X_train[usual], y_train=data.y_train[usual], description=description)


def regression(cell):
    """Fit and judge one method of Gaussian support vector regression.

    The cell's `params` are those of the estimator, ``gamma``, ``C`` and ``epsilon`` among them.

    Returns
    -------
    dict
        ``metrics``: ``rmse``, over the test rows; ``objective``, ``relative_gap``, to the lower bound, ``n_support``,
        ``n_iter``; ``seconds_to_gap``, the time of the fit if the gap is at most 10⁻³. ``seconds``: ``fit``,
        ``predict``, the least of several short ones.
    """
    original = load(cell.loader)(**cell.arguments)
    data, problem = in_precision(cell, original), {name: cell.params[name] for name in ("C", "epsilon")}
    warm_up(cell, cell.params, data)
    model, predictions, seconds, memory = timed_outputs(cell, data, (data.X_train, data.y_train), "predict")
    metrics = {"rmse": float(np.sqrt(np.mean((np.ravel(predictions) - data.y_test) ** 2)))}
    if hasattr(model, "dual_coef_"):
        from sklearn.svm import SVR

        X, y, gamma = original.X_train, original.y_train, cell.params["gamma"]
        exact = SVR(gamma=gamma, tol=BOUND_TOL, cache_size=1000, **problem).fit(X, y)
        bound = regression_bound(X, y, gamma=gamma, rows=exact.support_, coef=dual_coefficients(exact), **problem)
        metrics |= judged(model, regression_objective(model, X, y, **problem), bound, seconds["fit"])
    return recorded(model, data, metrics, seconds, memory)


def novelty(cell):
    """Fit and judge one method of the Gaussian one-class SVM.

    The cell's `params` are those of the estimator, ``gamma`` and ``nu`` among them.

    Returns
    -------
    dict
        The metrics of `regression`, with ``auc`` in place of ``rmse``: how well low scores tell the class +1, which was
        not trained on; ``share_novel``, the share of training rows below the level, which should be nu.
    """
    original = load(cell.loader)(**cell.arguments)
    data, nu, gamma = in_precision(cell, original), cell.params["nu"], cell.params["gamma"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        build(cell.estimator, cell.params, 0).fit(data.X_train[: cell.warm_up_rows])
    model, scores, seconds, memory = timed_outputs(cell, data, (data.X_train,), "decision_function")
    metrics = {
        "auc": roc_auc(data.y_test, -np.ravel(scores).astype(np.float64)),
        "share_novel": float(np.mean(outputs(model.decision_function, data.X_train) < 0)),
    }
    if hasattr(model, "dual_coef_"):
        from sklearn.svm import OneClassSVM

        X = original.X_train
        exact = OneClassSVM(gamma=gamma, nu=nu, tol=BOUND_TOL, cache_size=1000).fit(X)
        bound = one_class_bound(X, gamma=gamma, nu=nu, rows=exact.support_, coef=dual_coefficients(exact))
        metrics |= judged(model, one_class_objective(model, X, nu=nu), bound, seconds["fit"])
    return recorded(model, data, metrics, seconds, memory)


def timed_outputs(cell, data, examples, output):
    """Return the fitted model, its outputs for the test rows, the seconds of both, and the peak memory."""

    def fit():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the gap says what was reached
            return build(cell.estimator, cell.params, data.X_train.shape[0]).fit(*examples)

    model, first = timed(fit)
    found, predicting = timed(lambda: getattr(model, output)(data.X_test))
    memory = peak_memory()
    seconds = shortest({"fit": first}, lambda: {"fit": timed(fit)[1]})
    seconds |= shortest(
        {"predict": predicting}, lambda: {"predict": timed(lambda: getattr(model, output)(data.X_test))[1]}
    )
    return model, found, seconds, memory


def judged(model, objective, bound, fit_seconds):
    gap = (objective - bound) / abs(bound)
    return {
        "objective": objective,
        "relative_gap": gap,
        "seconds_to_gap": fit_seconds if gap <= ACCURACY else None,
        "n_support": len(model.support_) or None,
    }


def recorded(model, data, metrics, seconds, memory):
    metrics["n_iter"] = iterations(model)
    evaluations = getattr(model, "n_kernel_evaluations_", None)
    return result(data, metrics, seconds=seconds, n_kernel_evaluations=evaluations, memory=memory)
