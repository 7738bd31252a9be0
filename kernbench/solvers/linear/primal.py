"""Base of the linear solvers that keep weights: their problem, draws and certificate."""

import numpy as np

from kernbench.problems.draws import UniformStream, seed_of
from kernbench.problems.linear.feature_bounds import certificate
from kernbench.problems.linear_problem import LinearProblem
from kernbench.solvers.method import Method


class PrimalSolver(Method):
    """Weights of explicit features, judged by a certificate that is computed from them.

    A method defines `advance`, `solution` and ``_coef()``. Its core counts the steps, in ``self.numbers[0]``.

    Parameters
    ----------
    core : {"compiled", "reference"} or module
        "compiled" is the default of all methods.
    design : FeatureDesign
        Made by `as_design`.
    y : array-like of shape (n,)
        Labels, -1 or +1; targets for a loss of residuals.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n,), optional
        Ones by default.
    loss : str or ResidualLoss, default="hinge"
        One of `losses`.
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, unless `initial` has one.
    initial : Solution or None
    width : int, default=1
        Uniform numbers for each draw of ``self.stream``.
    """

    numbers: np.ndarray

    def __init__(self, core, design, y, *, alpha, weights, loss, random_state, initial, width=1):
        super().__init__(core)
        self.problem = LinearProblem(design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses)
        self.design = design
        self.lam = self.problem.alpha * self.problem.n / self.problem.total_weight
        self.width = width
        self.stream = UniformStream(seed_of(random_state, initial), 0, width=width)

    @property
    def n_iter(self):
        return int(self.numbers[0])

    def _resume_stream(self, position):
        self.stream = UniformStream(self.stream.seed, 0, width=self.width, position=int(position))

    def _certificate(self):
        """Return objective and gap of `solution`, by a few passes over the data."""
        return certificate(self.problem, self._coef())

    def objective(self):
        """Return the objective of `solution`, by a pass over the data."""
        coef = self._coef()
        return self.problem.primal(coef, self.design.scores(coef))

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum."""
        return self._certificate()[1]

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it."""
        objective, gap = self._certificate()
        self.converged = bool(gap <= tol * objective)
        return self.converged
