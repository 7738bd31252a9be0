"""The problem of the kernel solvers: alpha/2 ||f||^2 + (1/n) sum_i w_i l(z_i).

z_i is the margin y_i (f(x_i) + b), or in a regression the residual f(x_i) + b - t_i. One form covers both: z_i = s_i
(f(x_i) + b) - t_i with signs s_i = y_i and t_i = 0 for labels, s_i = 1 for targets t_i. Without intercept b is 0.
"""

import math
from functools import cached_property

import numpy as np

from kernbench.losses.duality import balanced, dual_bound
from kernbench.losses.margin import Hinge
from kernbench.losses.regression import ResidualLoss, example_loss
from kernbench.problems.intercept import best_constant, best_intercept
from kernbench.problems.water_level import SAME_MASS
from kernbench.validation.numbers import check_number


class MarginProblem:
    """A checked weighted problem over the rows of a kernel matrix.

    Parameters
    ----------
    rows : KernelRows
        Rows of the kernel matrix, n of them.
    y : array-like of shape (n,)
        Labels, -1 or +1, both of which must occur with a positive weight; targets for a loss of residuals.
    alpha : float or None
        Regularisation, > 0; ``C = 1 / (alpha n)``. None for a method that is given a slack budget instead.
    weights : array-like of shape (n,), optional
        Non-negative weights w_i; ones by default.
    fit_intercept : bool
        Whether the unregularised bias b is free or 0.
    loss : str or ResidualLoss, default="hinge"
    free_constant : bool, default=False
        Whether the solver finds the b of a loss of residuals; if not, `fit_intercept` is refused for them.

    Attributes
    ----------
    y, targets : ndarray of shape (n,)
        s and t above.
    linear : ndarray of shape (n,)
        Factors of the coefficients in the dual objective: the labels, or the targets.
    constraint : {"sum", "signs", "size"}
        The constraint that an intercept brings: it keeps the sum of the coefficients, those of the positive and of the
        negative ones, or their sum and a bound on the sum of their magnitudes.
    has_multiples : bool
        Whether multiples of a solution are feasible, within the box.
    lowest : float
        A bound below all objectives: 0, or minus infinity where that of f = 0 is 0.

    Raises
    ------
    ValueError
        If a parameter or the data are invalid; the message says what to change.
    """

    constraint, has_multiples, lowest = "sum", True, 0.0

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", free_constant=False):
        self.loss = example_loss(loss)
        self.rows, self.n, self.fit_intercept = rows, rows.n_rows, bool(fit_intercept)
        is_regression = isinstance(self.loss, ResidualLoss)
        self.y = np.ones(self.n) if is_regression else self._checked_labels(y)
        self.targets = self._checked_targets(y) if is_regression else np.zeros(self.n)
        self.linear = self.targets if is_regression else self.y
        self.weights = self._checked_weights(weights)
        self.total_weight = self.weights.sum()
        if is_regression and self.fit_intercept and not free_constant:
            raise ValueError(f"loss={self.loss.name!r} is minimised without an intercept: pass fit_intercept=False")
        if is_regression and not self.total_weight > 0:
            raise ValueError("at least one example needs a positive weight")
        for label in () if is_regression else (-1, 1):
            if not ((self.y == label) & (self.weights > 0)).any():
                raise ValueError(f"the class {label:+d} needs at least one example with a positive weight")
        self.alpha = None if alpha is None else require_number("alpha", alpha, positive=True)

    def objective(self, responses, squared_norm, intercept):
        """Return the objective of an f with values f(x_i) = `responses` and ||f||^2 = `squared_norm`."""
        return float(0.5 * self.alpha * squared_norm + self.loss_sum(responses, intercept) / self.n)

    def loss_sum(self, responses, intercept):
        """Return sum_i w_i l(z_i)."""
        return self.weights @ self.loss.value(self.y * (responses + intercept) - self.targets)

    def loss_at_zero(self):
        """Return the weighted mean of the losses at f = 0."""
        if isinstance(self.loss, ResidualLoss):
            return float(self.weights @ self.loss.value(-self.targets) / self.total_weight)
        return float(self.loss.value(np.zeros(())))

    def curvature(self):
        """Return the largest second derivative of the loss, or one for step lengths if it has a kink.

        That is 1 for the hinge, and one over the mean distance of the targets from 0 for a loss of residuals: steps
        then have the unit of the targets.
        """
        if np.isfinite(self.loss.smoothness):
            return self.loss.smoothness
        size = float(self.weights @ np.abs(self.targets) / self.total_weight)
        return 1.0 / size if size > 0.0 else 1.0

    def best_intercept(self, responses):
        """Return the b that minimises the sum of the losses at these responses; 0.0 without intercept."""
        if not self.fit_intercept:
            return 0.0
        if isinstance(self.loss, ResidualLoss):
            return best_constant(self.targets - responses, self.weights, self.loss)
        return best_intercept(responses, self.y, self.weights, self.loss)

    @cached_property
    def at_zero(self):
        """The risk of f = 0 with the best intercept, and that intercept."""
        if self.loss is Hinge and self.fit_intercept:
            # The intercept is the label of the heavier class, whose losses are 0, and those of the other one are 2.
            negative, positive = (float(self.weights[side].sum()) for side in (self.y < 0.0, self.y > 0.0))
            b = (
                0.0
                if abs(positive - negative) <= 2.0 * SAME_MASS * positive
                else math.copysign(1.0, positive - negative)
            )
            return (positive + negative if b == 0.0 else 2.0 * min(positive, negative)) / self.n, b
        zeros = np.zeros(self.n)
        b = self.best_intercept(zeros)
        return float(self.loss_sum(zeros, b) / self.n), b

    def unit(self):
        """Return the size of a margin, 1, or that of targets: their mean distance from the best constant."""
        if not isinstance(self.loss, ResidualLoss):
            return 1.0
        _, constant = self.at_zero
        return float(self.weights @ np.abs(self.targets - constant) / self.total_weight)

    def start(self):
        """Return the coefficients of a cold start; None for zeros."""
        return None

    def feasible(self, coef):
        """Return coefficients near `coef` inside the box and, with an intercept, of sum zero."""
        beta = np.clip(np.asarray(coef, dtype=np.float64), *self.box())
        return balanced(beta) if self.fit_intercept else beta

    def box(self):
        """Return the bounds of the coefficients y_i w_i a_i / (alpha n), arrays (lower, upper) of shape (n,)."""
        used = self.weights > 0
        factor = self.y * np.where(used, self.weights, 1.0) / (self.alpha * self.n)
        ends = [factor * np.where(used, end, 0.0) for end in (self.loss.lower, self.loss.upper)]
        return np.minimum(*ends), np.maximum(*ends)

    def cone(self):
        """Return bounds of the signs of coefficients: those of the labels; none in a regression."""
        infinite = self.y * np.inf
        other = np.zeros(self.n) if self.loss.lower == 0.0 else -infinite
        return np.minimum(infinite, other), np.maximum(infinite, other)

    def gap(self, coef, responses, intercept, matrix=None):
        """Return the objective at f = sum_i coef_i k(x_i, .) minus a lower bound on the optimum: see `dual_bound`."""
        bound = self.dual_bound(coef, responses, matrix)
        return max(0.0, self.objective(responses, coef @ responses, intercept) - bound)

    def dual_bound(self, coef, responses=None, matrix=None):
        """Return a lower bound on the optimum from coefficients, and their responses if known.

        Products with the kernel matrix are those of `matrix`, by default of the rows.
        """
        return dual_bound(
            self.rows if matrix is None else matrix, self.y, coef, alpha=self.alpha, weights=self.weights,
            fit_intercept=self.fit_intercept, responses=responses, loss=self.loss, targets=self.targets,
        )  # fmt: skip

    def settings(self, *others):
        """Return what the state of a solver depends on, besides the data, for comparison with that of another run."""
        return np.array([self.alpha, self.loss.code, self.loss.parameter, *others], dtype=np.float64)

    def _checked_labels(self, y):
        y = np.array(y, dtype=np.float64)  # contiguous, and to be written to: compiled cores take no other
        if y.shape != (self.n,):
            raise ValueError(f"y must hold one label per row: expected shape ({self.n},), got {y.shape}")
        if not (np.abs(y) == 1).all():
            raise ValueError("y must hold -1 and +1 only")
        return y

    def _checked_targets(self, y):
        y = np.array(y, dtype=np.float64)
        if y.shape != (self.n,):
            raise ValueError(f"y must hold one target per row: expected shape ({self.n},), got {y.shape}")
        if not np.isfinite(y).all():
            raise ValueError("y must hold finite numbers, the targets of a regression")
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
        If `initial` belongs to a problem of a different size.
    """
    if np.shape(initial.coef) != (n,):
        raise ValueError(f"initial has {np.size(initial.coef)} coefficients, but there are {n} rows")
    if not all(key in initial.state for key in keys):
        return None
    return {key: np.array(initial.state[key], dtype=np.float64) for key in keys}
