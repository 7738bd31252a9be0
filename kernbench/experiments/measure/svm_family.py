"""Objectives of support vector regression and of the one-class SVM, and lower bounds from dual variables.

In the convention of all solvers here, ``alpha/2 ‖f‖² + mean loss``: scikit-learn's objective of ``SVR`` times
alpha = 1 / (C n), and that of ``OneClassSVM``, ½‖f‖² + sum of losses / (nu n) - tau, times nu.
"""

import numpy as np

from kernbench.experiments.measure.objectives import CHUNK_ROWS, dual_coefficients, gaussian
from kernbench.kernels.blocks import matmul


def outputs(function, X):
    """A function of rows, computed in chunks to avoid an n × n_support matrix, in float64."""
    chunks = [function(X[i : i + CHUNK_ROWS]) for i in range(0, X.shape[0], CHUNK_ROWS)]
    return np.concatenate(chunks).astype(np.float64).ravel()


def regression_objective(model, X, y, *, C, epsilon):
    """alpha/2 ‖f‖² + mean epsilon-insensitive loss of f + b, for an expansion over training rows.

    Parameters
    ----------
    model : fitted regressor
        A model with ``support_``, ``dual_coef_``, ``intercept_`` and ``predict``.
    X, y
        The training data.
    C, epsilon : float
    """
    values = outputs(model.predict, X)
    squared_norm = float(dual_coefficients(model) @ (values[model.support_] - float(np.ravel(model.intercept_)[0])))
    return squared_norm / (2.0 * C * len(y)) + float(np.mean(np.maximum(0.0, np.abs(values - y) - epsilon)))


def regression_bound(X, y, *, gamma, C, epsilon, rows, coef):
    """A lower bound on the objective of Gaussian support vector regression with an intercept.

    For coefficients |beta_i| ≤ C of sum 0 it is the dual objective alpha (y'beta - epsilon ‖beta‖₁ - ½ beta' K beta).
    Coefficients that violate this by rounding are clipped, and shrunk on the larger side.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, d)
    y : ndarray of shape (n,)
    gamma, C, epsilon : float
    rows : ndarray of shape (n_support,)
        Indices into X.
    coef : ndarray of shape (n_support,)
    """
    coef = np.clip(coef, -C, C)
    up, down = coef[coef > 0].sum(), -coef[coef < 0].sum()
    least = min(up, down)
    coef = np.where(coef > 0, coef * (least / up if up > 0 else 0.0), coef * (least / down if down > 0 else 0.0))
    f = matmul(gaussian(gamma), X[rows], X[rows], coef, dtype="float64") if len(rows) else np.zeros(0)
    dual = float(y[rows] @ coef) - epsilon * float(np.abs(coef).sum()) - 0.5 * float(coef @ f)
    return max(0.0, dual / (C * len(y)))


def one_class_objective(model, X, *, nu):
    """nu/2 ‖f‖² + mean max(0, tau - f) - nu tau, for an expansion over training rows; that of f = 0 is 0.

    Coefficients of any scale are taken: they are divided by their sum, which is 1 in this convention.

    Parameters
    ----------
    model : fitted outlier detector
        A model with ``support_``, ``dual_coef_``, ``offset_`` and ``score_samples``.
    X
        The training rows.
    nu : float
    """
    coef = dual_coefficients(model)
    total = float(coef.sum()) or 1.0
    f, level = outputs(model.score_samples, X) / total, float(np.ravel(model.offset_)[0]) / total
    squared_norm = float(coef @ f[model.support_]) / total
    return 0.5 * nu * squared_norm + float(np.mean(np.maximum(0.0, level - f))) - nu * level


def one_class_bound(X, *, gamma, nu, rows, coef):
    """A lower bound on the objective of the Gaussian one-class SVM.

    For coefficients of sum 1, each in [0, 1 / (nu n)], it is the dual objective -nu/2 ‖f‖². Coefficients of another
    sum are divided by it; what exceeds a bound is spread over those below it.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, d)
    gamma, nu : float
    rows : ndarray of shape (n_support,)
        Indices into X.
    coef : ndarray of shape (n_support,)
        At least 0.
    """
    largest = 1.0 / (nu * X.shape[0])
    coef = np.clip(coef / coef.sum(), 0.0, largest)
    room = largest - coef
    coef += (1.0 - coef.sum()) * room / room.sum() if room.sum() > 0 else 0.0
    f = matmul(gaussian(gamma), X[rows], X[rows], coef, dtype="float64")
    return -0.5 * nu * float(coef @ f)
