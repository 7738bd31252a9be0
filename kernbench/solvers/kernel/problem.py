"""What the kernel SVM solvers share: the problem they are given, checked once, and the certificate of a gap."""

import numpy as np


class Problem:
    """min alpha/2 ||f||^2 + (1/n) sum_i w_i max(0, 1 - y_i (f(x_i) + b)), b = 0 without intercept.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels, -1 and +1.
    alpha : float
        Weight of the norm; the box of the dual is ``C w_i`` with ``C = 1 / (alpha n)``.
    weights : array-like of shape (n,), optional
        Non-negative; ones by default.
    fit_intercept : bool
    n_rows : int
        Rows of the kernel, to compare with.
    """

    def __init__(self, y, *, alpha, weights, fit_intercept, n_rows):
        self.y = np.ascontiguousarray(y, dtype=np.float64)
        self.n = len(self.y)
        if self.y.shape != (n_rows,):
            raise ValueError(f"y has shape {self.y.shape}, the kernel has {n_rows} rows")
        if not np.all(np.abs(self.y) == 1):
            raise ValueError("y must hold -1 and +1 only")
        if alpha is not None and not (np.isscalar(alpha) and np.isfinite(alpha) and alpha > 0):
            raise ValueError(f"alpha must be a positive finite number, got {alpha!r}")
        weights = np.ones(self.n) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        if weights.shape != (self.n,):
            raise ValueError(f"weights has shape {weights.shape}, expected ({self.n},)")
        if not np.all(np.isfinite(weights)) or np.any(weights < 0):
            raise ValueError("weights must be finite and not negative")
        self.weights = weights
        for label in (-1, 1):
            if not np.any(weights[self.y == label] > 0):
                raise ValueError(f"no example of class {label:+d} has a positive weight: both classes are needed")
        self.alpha = None if alpha is None else float(alpha)
        self.fit_intercept = bool(fit_intercept)

    def box(self):
        """Bounds of the signed dual variables, arrays (lower, upper)."""
        size = self.weights / (self.alpha * self.n)
        return np.minimum(0.0, self.y * size), np.maximum(0.0, self.y * size)

    def primal(self, squared_norm, scores, intercept):
        """The objective at a function of squared norm `squared_norm` with values `scores` (without bias)."""
        hinge = np.maximum(0.0, 1.0 - self.y * (scores + intercept))
        return 0.5 * self.alpha * squared_norm + float(self.weights @ hinge) / self.n

    def best_intercept(self, scores):
        """The b that minimises the weighted hinge sum at fixed scores; 0 without intercept.

        The sum is piecewise linear in b with breakpoints y_i - s_i: a positive loses while b is below its own, a
        negative while b is above. The middle of the minimising interval is returned.
        """
        if not self.fit_intercept:
            return 0.0
        used = self.weights > 0
        breakpoints = (self.y - scores)[used]
        order = np.argsort(breakpoints, kind="stable")
        points, masses, positive = breakpoints[order], self.weights[used][order], (self.y[used] > 0)[order]
        # The slope right of each breakpoint: every breakpoint passed, of either class, adds its weight.
        start = -float(masses[positive].sum())
        slopes = start + np.cumsum(masses)
        tiny = 1e-12 * masses.sum()
        lower = points[np.searchsorted(slopes, -tiny)]
        upper = points[np.searchsorted(slopes, tiny, side="right")]
        return 0.5 * (lower + upper)

    def dual_bound(self, coef, product):
        """A lower bound of the optimum from any coefficients: the best multiple of a feasible dual point.

        Parameters
        ----------
        coef : ndarray of shape (n,)
            Signed coefficients of some f.
        product : callable
            ``product(beta)`` returns K @ beta.

        Returns
        -------
        float
            D(theta a) at the best theta, where a is coef put into the box, and balanced when there is an intercept.
        """
        lower, upper = self.box()
        beta = np.clip(coef, lower, upper)
        if self.fit_intercept:
            beta = balanced(beta)
        linear = float(np.abs(beta).sum())
        quadratic = float(beta @ product(beta))
        if linear == 0.0:
            return 0.0
        used = beta != 0
        largest = float(np.min((upper - lower)[used] / np.abs(beta[used])))
        theta = largest if quadratic <= 0 else min(linear / quadratic, largest)
        return self.alpha * (theta * linear - 0.5 * theta**2 * quadratic)


def balanced(beta):
    """Scale the larger side of `beta` down so that its sum is zero."""
    positive, negative = beta[beta > 0].sum(), -beta[beta < 0].sum()
    beta = beta.copy()
    if positive > negative:
        beta[beta > 0] *= negative / positive
    elif negative > positive:
        beta[beta < 0] *= positive / negative
    return beta
