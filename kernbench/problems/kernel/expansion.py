"""The best multiple and intercept of a direction f in the objective of a margin problem, with a certified gap.

Online methods find a direction; its scale and the intercept can then be optimised exactly.
"""

import numpy as np

from kernbench.losses.regression import ResidualLoss
from kernbench.problems.multiples import best_multiple


class Expansion:
    """s f + b, where f = sum_i coef_i k(x_i, .) and s, b minimise the objective of `problem`.

    Parameters
    ----------
    problem : MarginProblem
    coef : ndarray of shape (n,)
        Signed coefficients of f.
    responses : ndarray of shape (n,)
        f(x_i).
    rescale : bool, default=True
        False keeps s = 1; only b is set.

    Attributes
    ----------
    scale : float
        s.
    coef, responses : ndarray of shape (n,)
        Coefficients and responses of s f.
    intercept : float
    """

    def __init__(self, problem, coef, responses, *, rescale=True):
        self._problem, self._direction = problem, (coef, responses)
        if rescale and np.any(coef):
            self.scale, self.intercept = best_multiple(problem, responses, coef @ responses)
        else:
            self.scale, self.intercept = 1.0, problem.best_intercept(responses)
        self.coef, self.responses = self.scale * coef, self.scale * responses

    @property
    def norm(self):
        """The norm of s f."""
        return float(np.sqrt(max(0.0, self.coef @ self.responses)))

    def objective(self):
        """Return the objective of s f + b."""
        return self._problem.objective(self.responses, self.coef @ self.responses, self.intercept)

    def gap(self, dual="scaled"):
        """Return the objective minus a lower bound on the optimum.

        Parameters
        ----------
        dual : {"scaled", "plain"}
            Whether to take the coefficients of s f or of f as dual variables. Where those of f are dual feasible,
            scaling would only move them out of the domain.
        """
        coef, responses = (self.coef, self.responses) if dual == "scaled" else self._direction
        problem = self._problem
        bound = problem.dual_bound(coef, responses)
        if isinstance(problem.loss, ResidualLoss) and np.isfinite(problem.loss.smoothness):
            # The slopes of a smooth loss at the responses have less noise than the coefficients of a stochastic method.
            a = -problem.loss.slope(self.responses - problem.targets)
            bound = max(bound, problem.dual_bound(problem.weights * a / (problem.alpha * problem.n)))
        return max(0.0, self.objective() - bound)


def largest_pull(problem):
    """Return the c of `ball_radius`."""
    if isinstance(problem.loss, ResidualLoss):
        return problem.loss_at_zero()
    return problem.loss.largest_pull


def ball_radius(problem):
    """Return the radius sqrt(c W / (alpha n)) of a ball that contains the optimum.

    At the optimum alpha ||f||^2 = (1/n) sum_i w_i (-l'(m_i)) y_i f(x_i); without an intercept y_i f(x_i) is
    the margin m_i, and -l'(m) m is at most c = 1 for the hinge, 1/2 for its square, 0.2785 for the logistic
    loss. With an intercept the bound still holds: since sum_i w_i l'(m_i) y_i = 0, b may be added to f. For a loss of
    residuals c is the mean loss at f = 0: both halves of the objective's strong convexity bound alpha ||f||^2 by it.
    """
    pull = largest_pull(problem) * problem.total_weight / problem.n
    return float(np.sqrt(pull / problem.alpha))
