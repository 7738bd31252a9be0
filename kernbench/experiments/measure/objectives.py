"""Norms and objectives of kernel SVMs: ``alpha/2 ‖f‖² + mean loss``, alpha = 1 / (C n)."""

import numpy as np
from scipy import sparse

from kernbench.kernels import Gaussian
from kernbench.kernels.blocks import matmul

CHUNK_ROWS = 2048


def gaussian(gamma):
    """The kernel exp(-gamma ‖x - z‖²)."""
    return Gaussian(sigma=(0.5 / gamma) ** 0.5)


def mean_hinge(signs, scores):
    """The mean hinge loss of scores, against labels of -1 and +1."""
    return float(np.mean(np.maximum(0.0, 1.0 - signs * scores)))


def training_scores(model, X):
    """f(x) + b of every row, computed in chunks to avoid an n × n_support matrix."""
    chunks = [model.decision_function(X[i : i + CHUNK_ROWS]) for i in range(0, X.shape[0], CHUNK_ROWS)]
    return np.concatenate(chunks).astype(np.float64)


def dual_coefficients(model):
    """The signed coefficients of a binary model's expansion over its support vectors."""
    coef = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    return np.ravel(coef).astype(np.float64)


def squared_norm(model, scores):
    """‖f‖² of a binary model, from its scores of all training rows.

    For an expansion over support vectors it is ``Σ dual_coef_i (f(x_i) - b)``, which costs no further kernel
    evaluations; for a linear model, and for one on explicit features, ``‖coef_‖²``.
    """
    if not hasattr(model, "support_") or getattr(model, "features_", "exact") != "exact":
        coef = np.ravel(model.feature_coef_ if hasattr(model, "feature_coef_") else model.coef_)
        return float(coef @ coef)
    intercept = float(np.ravel(model.intercept_)[0])
    return float(dual_coefficients(model) @ (scores[model.support_] - intercept))


def svm_objective(model, X, y):
    """Primal objective of a binary kernel SVM, and its distance to the dual objective of the model's coefficients.

    With the hinge loss the dual, for dual variables ``0 ≤ a_i ≤ C`` with ``Σ y_i a_i = 0`` (no such condition
    without intercept), is ``D = alpha (Σ a_i − ½ ‖f‖²)``.

    Parameters
    ----------
    model : fitted classifier
        A model with ``C``, ``classes_``, ``support_``, ``dual_coef_``, ``intercept_``, ``decision_function``:
        scikit-learn's ``SVC``, ``KernelSVC``, or a similar class.
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
        raise ValueError(f"the objective of a binary SVM is asked for, but the model has {len(model.classes_)} classes")
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    scores, coef = training_scores(model, X), dual_coefficients(model)
    norm, alpha = squared_norm(model, scores), 1.0 / (model.C * X.shape[0])
    objective = 0.5 * alpha * norm + mean_hinge(signs, scores)

    dual_variables = coef * signs[model.support_]
    slack = 1e-6 * model.C
    balanced = not getattr(model, "fit_intercept", True) or abs(coef.sum()) <= slack * max(1, coef.size)
    feasible = coef.size == 0 or (dual_variables.min() >= -slack and dual_variables.max() <= model.C + slack)
    gap = objective - alpha * (dual_variables.sum() - 0.5 * norm) if feasible and balanced else None
    return objective, gap


def expansion_objective(X, y, gamma, alpha, rows, coef, intercept=0.0):
    """The objective of f = Σ coef_j k(x_j, ·), a Gaussian expansion over some training rows, in float64.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        -1 and +1.
    gamma, alpha : float
    rows : ndarray of shape (n_support,)
        Indices into X.
    coef : ndarray of shape (n_support,)
        Signed.
    intercept : float, default=0.0
    """
    f = matmul(gaussian(gamma), X, X[rows], coef, dtype="float64") if len(rows) else np.zeros(len(y))
    return float(0.5 * alpha * (coef @ f[rows]) + mean_hinge(y, f + intercept))
