"""The problem of the kernel SVM solvers: alpha/2 ||f||^2 + (1/n) sum_i w_i l(y_i (f(x_i) + b))."""

import numpy as np

from kernbench.losses.duality import dual_bound
from kernbench.losses.margin import margin_loss
from kernbench.problems.intercept import best_intercept
from kernbench.validation.numbers import check_number


class MarginProblem:
    """A checked weighted problem over the rows of a kernel matrix.

    Parameters
    ----------
    rows : KernelRows
        Rows of the kernel matrix, n of them.
    y : array-like of shape (n,)
        Labels, -1 or +1; both must occur with a positive weight.
    alpha : float or None
        Regularisation, > 0; ``C = 1 / (alpha n)``. None for a method that is given a slack budget instead.
    weights : array-like of shape (n,), optional
        Non-negative weights w_i; ones by default.
    fit_intercept : bool
        Whether the unregularised bias b is free or 0.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"

    Raises
    ------
    ValueError
        With a sentence that says what to change.
    """

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge"):
        self.loss = margin_loss(loss)
        self.rows, self.n, self.fit_intercept = rows, rows.n_rows, bool(fit_intercept)
        self.y = self._checked_labels(y)
        self.weights = self._checked_weights(weights)
        self.total_weight = self.weights.sum()
        for label in (-1, 1):
            if not ((self.y == label) & (self.weights > 0)).any():
                raise ValueError(f"the class {label:+d} needs at least one example with a positive weight")
        self.alpha = None if alpha is None else require_number("alpha", alpha, positive=True)

    def objective(self, responses, squared_norm, intercept):
        """Return the objective of an f with values f(x_i) = `responses` and ||f||^2 = `squared_norm`."""
        return float(0.5 * self.alpha * squared_norm + self.loss_sum(responses, intercept) / self.n)

    def loss_sum(self, responses, intercept):
        """Return sum_i w_i l(y_i (f(x_i) + b))."""
        return self.weights @ self.loss.value(self.y * (responses + intercept))

    def best_intercept(self, responses):
        """Return the b that minimises the sum of the losses at these responses; 0.0 without intercept."""
        if not self.fit_intercept:
            return 0.0
        return best_intercept(responses, self.y, self.weights, self.loss)

    def box(self):
        """Return the bounds of the coefficients y_i w_i a_i / (alpha n), arrays (lower, upper) of shape (n,)."""
        used = self.weights > 0
        size = self.y * np.where(used, self.loss.upper, 0.0) * np.where(used, self.weights, 1.0)
        size = size / (self.alpha * self.n)
        return np.minimum(0.0, size), np.maximum(0.0, size)

    def gap(self, coef, responses, intercept):
        """Return the objective at f = sum_i coef_i k(x_i, .) minus a lower bound on the optimum."""
        bound = dual_bound(
            self.rows,
            self.y,
            coef,
            alpha=self.alpha,
            weights=self.weights,
            fit_intercept=self.fit_intercept,
            responses=responses,
            loss=self.loss,
        )
        return max(0.0, self.objective(responses, coef @ responses, intercept) - bound)

    def _checked_labels(self, y):
        y = np.asarray(y, dtype=np.float64)
        if y.shape != (self.n,):
            raise ValueError(f"y must hold one label per row: expected shape ({self.n},), got {y.shape}")
        if not (np.abs(y) == 1).all():
            raise ValueError("y must hold -1 and +1 only")
        return y

    def _checked_weights(self, weights):
        if weights is None:
            return np.ones(self.n)
        weights = np.array(weights, dtype=np.float64)
        if weights.shape != (self.n,):
            raise ValueError(f"weights must hold one number per row, {self.n}, got shape {weights.shape}")
        if not np.all(np.isfinite(weights) & (weights >= 0)):
            raise ValueError("weights must be finite and at least 0")
        return weights


def require_number(name, value, *, positive=False):
    """Return `value` as a float; raise ValueError unless it is a finite number of at least 0 (or `positive`)."""
    return float(check_number(name, value, above=0) if positive else check_number(name, value, at_least=0))


def require_state(initial, n, keys):
    """Return copies of the arrays `keys` of ``initial.state``, or None if any is missing.

    Raises
    ------
    ValueError
        If `initial` belongs to a problem of another size.
    """
    if np.shape(initial.coef) != (n,):
        raise ValueError(f"initial has {np.size(initial.coef)} coefficients, but there are {n} rows")
    if not all(key in initial.state for key in keys):
        return None
    return {key: np.array(initial.state[key], dtype=np.float64) for key in keys}
