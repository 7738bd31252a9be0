"""Objectives of fitted models in exact or extended arithmetic, by code that shares nothing with the solvers'.

Scores of linear functions are computed in rational numbers, kernel values in `numpy.longdouble`, from the public
attributes of the model and its training rows. Where longdouble is float64, `noise` grows accordingly.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import sparse
from scipy.special import gamma, kv

LONG = np.longdouble
EPS = float(np.finfo(LONG).eps)
DOUBLE = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Exact:
    """An objective, a bound on the rounding of its own computation, and one on that of weights that are stored."""

    value: float
    noise: float
    stored: float = 0.0


def exact_objective(model, X, y, weights, alpha, targets=None):
    """Return the `Exact` objective of a fitted model of two classes, or of a regressor with centred `targets`."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    weights = (np.ones(len(y)) if weights is None else weights).astype(LONG)
    square, scores, noise, stored = _function(model, X, 0.0 if targets is None else y[0] - targets[0])
    name = type(model).__name__
    if name == "ROCSVC":
        positive = y == model.classes_[1]
        margins = scores[positive][:, None] - scores[~positive]
        pairs = np.outer(weights[positive], weights[~positive])
        risk, mass = (pairs * margin_loss(model.loss_, margins)).sum() / pairs.sum(), 2.0
    elif targets is None:
        margins = np.where(y == model.classes_[1], 1, -1) * scores
        loss = getattr(model, "loss_", model.loss)
        risk, mass = (weights * margin_loss(loss, margins)).sum() / len(y), float(weights.mean())
    else:
        risk = (weights * residual_loss(model, scores - targets)).sum() / len(y)
        mass = float(weights.mean())

    def changes(error):
        """Bound the change of the objective where scores have this error."""
        size = 1.0 if error == 0 else float(np.abs(np.ravel(model.dual_coef_)).sum())
        of_loss = 2 * error * mass * max(1.0, float(np.sqrt(max(risk, 0)))) + mass * error**2
        return float(of_loss + alpha / 2 * error * size)

    return Exact(LONG(alpha) / 2 * square + risk, changes(noise), changes(stored))


def objective_of_zero(model_name, loss, y, weights, fit_intercept):
    """Return the objective of f = 0 with the best intercept, for labels -1 and +1."""
    if model_name == "ROCSVC":
        return float(np.log(2)) if loss == "log_loss" else 1.0
    weights = np.ones(len(y)) if weights is None else weights
    p, mass = weights[y > 0].sum() / weights.sum(), weights.mean()
    if not fit_intercept or model_name == "LinearSVC":  # whose intercept is a weight like others
        return mass * float(np.log(2) if loss == "log_loss" else 1.0)
    least = {
        "hinge": 2 * min(p, 1 - p),
        "squared_hinge": 4 * p * (1 - p),
        "log_loss": -p * np.log(p) - (1 - p) * np.log(1 - p),
    }
    return mass * float(least[loss])


def margin_loss(name, margins):
    if name == "log_loss":
        return np.logaddexp(LONG(0), -margins)
    missing = np.maximum(0, 1 - margins)
    if name == "hinge":
        return missing
    if name == "squared_hinge":
        return missing**2
    raise NotImplementedError(f"add the formula of loss={name!r} to margin_loss in exact_objectives.py")


def residual_loss(model, r):
    size, name = np.abs(r), model.loss
    if name == "squared_error":
        return r * r / 2
    if name == "huber":
        return np.where(size <= model.delta, r * r / 2, model.delta * (size - LONG(model.delta) / 2))
    if name == "epsilon_insensitive":
        return np.maximum(0, size - LONG(model.epsilon))
    if name == "squared_epsilon_insensitive":
        return np.maximum(0, size - LONG(model.epsilon)) ** 2
    if name == "absolute_error":
        return size
    if name == "quantile":
        return np.maximum(-LONG(model.quantile) * r, (1 - LONG(model.quantile)) * r)
    raise NotImplementedError(f"add the formula of loss={name!r} to residual_loss in exact_objectives.py")


def _function(model, X, offset):
    """Return |f|^2, the scores f(x_i) + b, a bound on their error here, and one on that of the stored model."""
    intercept = float(np.ravel(model.intercept_)[0]) - offset
    if type(model).__name__ == "ROCSVC":
        intercept = 0.0  # it ranks: the threshold is no part of the objective
    if not hasattr(model, "dual_coef_"):
        coef = np.ravel(model.coef_)
        square, scores = _linear(X, coef, intercept)
        with_penalty = getattr(model, "fit_intercept", False) and hasattr(model, "intercept_scaling")
        return square + (LONG(intercept / model.intercept_scaling) ** 2 if with_penalty else 0), scores, 0.0, 0.0
    coef = np.zeros(len(X))
    coef[model.support_] = np.ravel(model.dual_coef_)
    kernel = model.kernel_
    if type(kernel).__name__ == "Linear":
        # Predictions are made from the weights and an intercept that holds <w, centre>, all of them in float64.
        weights, centre = np.ravel(model.coef_), np.zeros(X.shape[1]) if model.centre_ is None else model.centre_
        combined = float(np.abs(coef).sum()) * float(np.square(X - centre).sum(axis=1).max())
        folded = abs(intercept) + float(np.abs(weights) @ np.abs(centre)) if centre.any() else 0.0
        return *_linear(X, weights, intercept), 0.0, 4 * DOUBLE * (combined + folded)
    K = kernel_values(kernel, X)
    products = K @ coef.astype(LONG)
    noise = EPS * 4 * (len(X) + X.shape[1] + 8) * float(np.abs(coef).sum()) * float(K.max())
    return coef @ products, products + LONG(intercept), noise, 0.0


def kernel_values(kernel, X):
    """Return the kernel matrix in longdouble."""
    X, name = X.astype(LONG), type(kernel).__name__
    if name == "Polynomial":
        return (LONG(kernel.scale) * (X @ X.T) + LONG(kernel.c)) ** int(kernel.degree)
    differences = X[:, None] - X
    if name == "Cauchy":
        return 1 / np.prod(1 + np.square(differences / LONG(kernel.sigma)), axis=2)
    if name == "Laplacian":
        return np.exp(-np.abs(differences).sum(axis=2) / LONG(kernel.sigma))
    squares = np.square(differences).sum(axis=2)
    if name == "Matern":
        t = np.sqrt(2 * LONG(kernel.nu) * squares) / LONG(kernel.length_scale)
        if kernel.nu in (0.5, 1.5, 2.5):
            return np.exp(-t) * {0.5: 1, 1.5: 1 + t, 2.5: 1 + t + t**2 / 3}[kernel.nu]
        values = np.ones_like(t)  # of exact distances; the Bessel function is one of float64
        near = t[t > 0].astype(np.float64)
        values[t > 0] = 2 ** (1 - kernel.nu) / gamma(kernel.nu) * near**kernel.nu * kv(kernel.nu, near)
        return values
    if name == "Gaussian":
        return np.exp(-squares / (2 * LONG(kernel.sigma) ** 2))
    raise NotImplementedError(f"add the formula of {name} to kernel_values in exact_objectives.py")


def _linear(X, weights, intercept):
    weights = [Fraction(w) for w in weights]
    scores = [sum(w * x for w, x in zip(weights, _rational(row))) + Fraction(intercept) for row in X]
    return _long(sum(w * w for w in weights)), np.array([_long(score) for score in scores], dtype=LONG)


def _rational(values):
    return [Fraction(float(value)) for value in values]


def _long(value):
    high = float(value)
    return LONG(high) + LONG(float(value - Fraction(high)))
