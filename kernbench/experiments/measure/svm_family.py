"""Objectives of support vector regression, of the one-class SVM and of shares nu, and lower bounds from dual variables.

In the convention of all solvers here, ``alpha/2 ‖f‖² + mean loss``: scikit-learn's objective of ``SVR`` times
alpha = 1 / (C n), and that of ``OneClassSVM``, ½‖f‖² + sum of losses / (nu n) - tau, times nu. The
problems of two classes and of regression with a share nu are those of :mod:`kernbench.problems.nu_problem`, with alpha
= 1 / n and 1 / (C n).
"""

import numpy as np

from kernbench.experiments.measure.objectives import CHUNK_ROWS, dual_coefficients, gaussian
from kernbench.kernels.blocks import matmul
from kernbench.losses.duality import balanced


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


def margin_objective(model, X, y, *, nu):
    """The least of alpha/2 ‖c f‖² - (sum of the share nu of smallest margins of c (f + b)) / n over multiples c >= 0.

    LIBSVM divides the solution by the level rho, so that only the direction of a decision function is compared. With
    the sum T of these margins, the least value is -T² / (2 n² alpha ‖f‖²), or 0 where T is not positive.

    Parameters
    ----------
    model : fitted classifier
        A model with ``support_``, ``dual_coef_``, ``intercept_`` and ``decision_function``.
    X, y
        The training data, y of -1 and +1.
    nu : float
    """
    values = outputs(model.decision_function, X)
    squared_norm = float(dual_coefficients(model) @ (values[model.support_] - float(np.ravel(model.intercept_)[0])))
    level = share_sum(y * values, nu) / len(y)
    return -0.5 * len(y) * level**2 / squared_norm if level > 0.0 and squared_norm > 0.0 else 0.0


def margin_bound(X, y, *, gamma, nu, rows, coef):
    """A lower bound on the least `margin_objective` of Gaussian kernels: -‖f‖² / (2 n) for dual coefficients of f.

    They have the signs of the labels, magnitudes up to 1, and the sum nu n / 2 over each class; coefficients of another
    sum are divided by it, and what exceeds a bound is spread over the others.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, d)
    y : ndarray of shape (n,)
    gamma, nu : float
    rows : ndarray of shape (n_support,)
        Indices into X.
    coef : ndarray of shape (n_support,)
    """
    n, coef, labels = len(y), np.array(coef, dtype=np.float64), y[rows]
    total = 0.5 * nu * n
    for label in (-1, 1):
        own = labels == label
        size = np.clip(label * coef[own], 0.0, None)
        size = np.clip(size * (total / size.sum()), 0.0, 1.0)
        room = 1.0 - size
        if room.sum() > 0.0:
            size += (total - size.sum()) * room / room.sum()
        coef[own] = label * size
    f = matmul(gaussian(gamma), X[rows], X[rows], coef, dtype="float64")
    return -0.5 * float(coef @ f) / n


def residual_objective(model, X, y, *, nu, C):
    """alpha/2 ‖f‖² + (sum of the share nu of largest magnitudes of residuals) / n.

    Parameters
    ----------
    model : fitted regressor
        A model with ``support_``, ``dual_coef_``, ``intercept_`` and ``predict``.
    X, y
        The training data.
    nu, C : float
    """
    values = outputs(model.predict, X)
    squared_norm = float(dual_coefficients(model) @ (values[model.support_] - float(np.ravel(model.intercept_)[0])))
    return squared_norm / (2.0 * C * len(y)) - share_sum(-np.abs(values - y), nu) / len(y)


def residual_bound(X, y, *, gamma, nu, C, rows, coef):
    """A lower bound on the least `residual_objective` of Gaussian kernels: alpha (y'beta - ½ beta' K beta).

    Coefficients are made feasible: in [-C, C], of sum 0, of magnitudes that add up to nu C n at most.

    Parameters
    ----------
    X, y, gamma, nu, rows, coef
        As for `margin_bound`, with targets y.
    C : float
    """
    coef = balanced(np.clip(coef, -C, C))
    coef *= min(1.0, nu * C * len(y) / max(float(np.abs(coef).sum()), 1e-300))
    f = matmul(gaussian(gamma), X[rows], X[rows], coef, dtype="float64")
    return max(0.0, float(y[rows] @ coef - 0.5 * (coef @ f)) / (C * len(y)))


def share_sum(values, nu):
    """The sum of the share nu of smallest values; the last one counts in part."""
    mass = nu * len(values)
    whole = min(int(mass), len(values) - 1)
    ordered = np.partition(values, whole)
    return float(ordered[:whole].sum() + (mass - whole) * ordered[whole])
