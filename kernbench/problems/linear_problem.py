"""The problem of the solvers on explicit features: alpha/2 ||w||^2 + (1/n) sum_i w_i l(z_i).

z_i is the margin y_i <w, x_i>, or in a regression the residual <w, x_i> - t_i.
"""

from types import SimpleNamespace

import numpy as np

from kernbench.losses.regression import example_loss
from kernbench.problems.margin_problem import MarginProblem, require_number, require_state

FAR = 10.0  # objective, in units of that of w = 0, from which a warm start is dropped


class LinearProblem(MarginProblem):
    """A checked weighted problem on the rows of a design; there is no intercept: append a constant column for one.

    The coefficient of that column is regularised like all others, unless `free_last` is set.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n,)
        Labels, -1 or +1, both of which must occur with a positive weight; targets for a loss of residuals.
    alpha : float
        Regularisation, > 0; ``C = 1 / (alpha n)``.
    weights : array-like of shape (n,), optional
        Non-negative weights w_i; ones by default.
    loss : str or ResidualLoss, default="hinge"
    offered : tuple of str, optional
        The losses that the solver minimises; all by default.
    free_last : bool, default=False
        Leave the coefficient of the last column out of ||w||^2; not for the dual.

    Raises
    ------
    ValueError
        If a parameter or the data are invalid; the message says what to change.
    """

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", offered=None, free_last=False):
        if design.is_kernel:
            raise ValueError("this solver works on explicit features: give it a design of features, not of a kernel")
        example_loss(loss, offered)
        alpha = require_number("alpha", alpha, positive=True)
        rows = SimpleNamespace(n_rows=design.n_samples)
        super().__init__(rows, y, alpha=alpha, weights=weights, fit_intercept=False, loss=loss)
        self.design, self.free_last = design, bool(free_last)

    def primal(self, coef, scores):
        """Return the objective at w = `coef`, with <w, x_i> = `scores`."""
        penalised = coef[:-1] if self.free_last else coef
        return self.objective(scores, penalised @ penalised, 0.0)

    def dual(self, a, coef):
        """Return D(a), where `coef` = (1/(alpha n)) sum_i w_i a_i y_i x_i: a lower bound on the optimum."""
        values = self.loss.dual_value(a) + a * self.targets
        return float(self.weights @ values / self.n - 0.5 * self.alpha * (coef @ coef))

    def is_far(self, objective):
        """Return whether an objective is so large that w = 0 is a better start.

        Weights for targets a million times as large, say, would leave their rounding errors in scores and in bounds,
        which are then of no use at the optimum.
        """
        return objective > FAR * self.loss_at_zero() * self.total_weight / self.n

    def dual_start(self, initial, settings):
        """Return the start of a dual method: its variables, and its state if it can be continued exactly.

        Parameters
        ----------
        initial : Solution
            Its ``state["a"]`` holds dual variables; without, they are computed from the scores of ``coef``, a_i =
            -l'(z_i), or zeros, of which D is 0, if D(a) is less.
        settings : ndarray
            The value of ``state["settings"]`` for which the rest of the state is valid.

        Returns
        -------
        a : ndarray of shape (n,)
            Dual variables in their domain.
        state : dict of str to ndarray, or None

        Raises
        ------
        ValueError
            If `initial` has a different number of features.
        """
        state = require_state(initial, self.design.n_coef, ("a", "settings"))
        if state is None or state["a"].shape != (self.n,):
            a = -self.loss.slope(self.y * self.design.scores(initial.coef) - self.targets)
            coef = self.design.combine(self.weights * a * self.y / (self.alpha * self.n))
            return (a if self.dual(a, coef) >= 0.0 else np.zeros(self.n)), None
        a = np.clip(state["a"], self.loss.lower, self.loss.upper)
        same = np.array_equal(state["settings"], settings)
        return a, {key: np.array(value) for key, value in initial.state.items()} if same else None
