"""How a fitted model is judged: by the same yardstick whoever fitted it, and never on the clock."""

import numpy as np
from scipy import sparse

CHUNK_ROWS = 2048


def error_rate(y, predictions):
    """Share of rows whose predicted label is wrong, in [0, 1]."""
    return float(np.mean(np.asarray(predictions) != y))


def _decision_values(model, X):
    """f(x) + b of every row, asked for in chunks so that no n × n_support matrix arises."""
    chunks = [model.decision_function(X[i : i + CHUNK_ROWS]) for i in range(0, X.shape[0], CHUNK_ROWS)]
    return np.concatenate(chunks).astype(np.float64)


def svm_objective(model, X, y):
    """Primal objective of a binary kernel SVM, and its distance to the model's own dual where that is one.

    With ``alpha = 1/(C n)`` the primal is ``P = alpha/2 ‖f‖² + mean hinge`` and the dual, for dual variables
    ``0 ≤ a_i ≤ C`` with ``Σ y_i a_i = 0`` (no such condition without intercept), is
    ``D = alpha (Σ a_i − ½ ‖f‖²)``; ``‖f‖² = Σ dual_coef_i (f(x_i) − b)`` over the support vectors costs no
    further kernel evaluations.

    Parameters
    ----------
    model : fitted classifier
        With ``C``, ``classes_``, ``support_``, ``dual_coef_``, ``intercept_``, ``decision_function``:
        scikit-learn's ``SVC``, ``KernelSVC``, or a relative.
    X, y
        The training data.

    Returns
    -------
    objective : float
    gap : float or None
        P − D when the coefficients are dual feasible (SMO's are, a rescaled perceptron's are not), at least 0
        up to rounding.
    """
    if len(model.classes_) != 2:
        raise ValueError(
            f"the objective of a binary SVM is asked for, but the model has {len(model.classes_)} classes"
        )
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    values = _decision_values(model, X)
    coef = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    coef = np.ravel(coef).astype(np.float64)
    intercept = float(np.ravel(model.intercept_)[0])
    squared_norm = float(coef @ (values[model.support_] - intercept))
    alpha = 1.0 / (model.C * X.shape[0])
    objective = 0.5 * alpha * squared_norm + float(np.mean(np.maximum(0.0, 1.0 - signs * values)))

    dual_variables = coef * signs[model.support_]
    slack = 1e-6 * model.C
    balanced = not getattr(model, "fit_intercept", True) or abs(coef.sum()) <= slack * max(1, coef.size)
    feasible = coef.size == 0 or (dual_variables.min() >= -slack and dual_variables.max() <= model.C + slack)
    gap = objective - alpha * (dual_variables.sum() - 0.5 * squared_norm) if feasible and balanced else None
    return objective, gap


def kernel_svm(model, data, predictions):
    """Metrics of a binary kernel SVM fitted to `data`, with its `predictions` on the test rows.

    The objective is computed here from the decision values for every method, so that nobody is believed on
    their word and nobody wins by stopping early. The gap is the solver's own certificate where it has one
    (``duality_gap_``), else the one that follows from its dual variables.

    Returns
    -------
    dict
        ``test_error``, ``objective``, ``gap``, ``n_support``, ``n_iter``, ``converged``.
    """
    objective, gap = svm_objective(model, data.X_train, data.y_train)
    certified = getattr(model, "duality_gap_", None)
    converged = getattr(model, "converged_", None)
    if converged is None and hasattr(model, "fit_status_"):
        converged = model.fit_status_ == 0  # scikit-learn's way of saying it
    return {
        "test_error": error_rate(data.y_test, predictions),
        "objective": objective,
        "gap": gap if certified is None else certified,
        "n_support": len(model.support_),
        "n_iter": int(np.max(getattr(model, "n_iter_", 0))),
        "converged": None if converged is None else bool(converged),
    }
