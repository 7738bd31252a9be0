"""How classifiers are judged: all by the same code, and off the clock."""

import numpy as np

from kernbench.experiments.measure.objectives import svm_objective


def error_rate(y, predictions):
    """Share of rows whose predicted label is wrong, in [0, 1]."""
    return float(np.mean(np.asarray(predictions) != y))


def iterations(model):
    """Iterations of a fitted model, the largest number if there are several; None if it has none."""
    n_iter = getattr(model, "n_iter_", None)
    return None if n_iter is None else int(np.max(n_iter))


def kernel_svm(fit):
    """Metrics of a binary kernel SVM.

    The objective is computed from the decision values in the same way for every method, so that no method
    wins by stopping early. The gap is the solver's own certificate (``duality_gap_``) if it has one, else it is
    computed from its dual variables.

    Returns
    -------
    dict
        ``test_error``, ``objective``, ``gap``, ``n_support``, ``n_iter``, ``converged``; the objective is None
        for a model on features, whose problem is another.
    """
    model = fit.model
    objective, gap = None, None  # features of its own are another problem
    if hasattr(model, "dual_coef_"):
        objective, gap = svm_objective(model, fit.data.X_train, fit.data.y_train)
    certified = getattr(model, "duality_gap_", None)
    converged = getattr(model, "converged_", None)
    if converged is None and hasattr(model, "fit_status_"):  # scikit-learn's SVC
        converged = model.fit_status_ == 0
    return {
        "test_error": error_rate(fit.data.y_test, fit.predictions),
        "objective": objective,
        "gap": gap if certified is None else certified,
        "n_support": len(model.support_) if hasattr(model, "support_") else None,
        "n_iter": iterations(model) or 0,
        "converged": None if converged is None else bool(converged),
    }
