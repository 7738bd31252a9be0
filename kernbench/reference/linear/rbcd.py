"""Random block coordinate descent for smooth losses.

Nesterov, SIAM J. Optim. 22 (2012). A step draws a block I of coordinates and takes a step along the exact gradient in
it,

    w_I -= (1/L_I) ((1/n) X_I' (w l'(m) y) + alpha w_I),        L_I = l'' lmax(X_I' diag(w) X_I) / n + alpha.

The scores X w are kept up to date, so a step costs two products with the columns of the block. The objective decreases
at every step, and its expected distance to the optimum at least like (1 - alpha / sum_I L_I)^t.
"""

import numpy as np

from kernbench.problems.draws import UniformStream, indices_of, seed_of
from kernbench.problems.linear.block_constants import block_constants
from kernbench.problems.linear.feature_bounds import certificate
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_state
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import check_number

WIDTH = 8  # features of a block, by default
RECOMPUTED = 64  # passes over the blocks between two recomputations of the scores


class RBCD:
    """Random block coordinate descent for alpha/2 ||w||^2 + (1/n) sum_i w_i l(z_i), z = y_i <w, x_i> or <w, x_i> - y_i.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n,)
        Labels, -1 or +1; targets for a loss of residuals.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n,), optional
        Ones by default.
    loss : str or ResidualLoss, default="squared_hinge"
        One of `losses`. The hinge is not differentiable: the squared hinge is its smooth substitute.
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, which draws one uniform number per step.
    initial : Solution, optional
        Where to start. A run of this class with the same settings is continued exactly; any other ``coef`` is a warm
        start.
    n_blocks : int, optional
        Number of blocks of neighbouring features, of nearly equal size; at most the number of features. By default
        blocks of eight features.

    Attributes
    ----------
    n_inner_products : int
        A step counts as 2 n times the share of its block in the features.

    Raises
    ------
    ValueError
        With a sentence that says what to change.
    """

    losses = ("squared_hinge", "log_loss", "squared_error", "huber")
    granularity = 1
    n_kernel_evaluations = 0

    def __init__(self, design, y, *, alpha, weights=None, loss="squared_hinge", random_state=None, initial=None,
                 n_blocks=None):  # fmt: skip
        if loss == "hinge":
            raise ValueError("rbcd needs a smooth loss; the substitute of the hinge is loss='squared_hinge'")
        if n_blocks is not None:
            check_number("n_blocks", n_blocks, at_least=1, whole=True)
        problem = LinearProblem(design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses)
        self.problem = problem
        self._n_blocks = min(n_blocks or -(-design.n_coef // WIDTH), design.n_coef)
        self._columns = type(design)(design.X.T)
        self._ends = design.n_coef * np.arange(self._n_blocks + 1) // self._n_blocks
        self._constants = block_constants(self._columns, self._ends, problem)
        self._settings = problem.settings(self._n_blocks)

        self.n_iter = self._touched = 0
        self.converged, self.first_check = False, self._n_blocks
        self._w, self._scores = np.zeros(design.n_coef), np.zeros(problem.n)
        self._stream = UniformStream(seed_of(random_state, initial), 0)
        if initial is not None:
            self._start_from(initial)

    @property
    def n_inner_products(self):
        """d-dimensional inner products so far."""
        return self._touched * self.problem.n // self.problem.design.n_coef

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        for _ in range(n_iter):
            self._step(int(indices_of(self._stream.next(), self._n_blocks)[0]))
        return n_iter

    def _step(self, block):
        problem, part = self.problem, slice(*self._ends[block : block + 2])
        columns = self._columns.rows(np.arange(part.start, part.stop))
        slopes = problem.loss.slope(problem.y * self._scores - problem.targets)
        slopes = problem.weights * problem.y * slopes / problem.n
        step = -(columns @ slopes + problem.alpha * self._w[part]) / self._constants[block]
        self._w[part] += step
        self._scores += step @ columns
        self._touched += 2 * len(step)
        self.n_iter += 1
        if self.n_iter % (RECOMPUTED * self._n_blocks) == 0:
            self._scores = problem.design.scores(self._w)

    # --- what it found
    # --------------------------------------------------------------------------------------------

    def objective(self):
        """Return the objective at w, by a pass over the data."""
        return self.problem.primal(self._w, self.problem.design.scores(self._w))

    def gap(self):
        """Return the objective minus a lower bound on the optimum."""
        return certificate(self.problem, self._w)[1]

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it."""
        objective, gap = certificate(self.problem, self._w)
        self.converged = bool(gap <= tol * objective)
        return self.converged

    def solution(self):
        """Return w."""
        state = {
            "seed": np.array([self._stream.seed]), "settings": self._settings.copy(), "scores": self._scores.copy(),
            "position": np.array([self._stream.position], dtype=np.float64),
        }  # fmt: skip
        return Solution(self._w.copy(), 0.0, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(initial, self.problem.design.n_coef, ["settings", "scores", "position"])
        self.n_iter, self._w = initial.n_iter, np.array(initial.coef, dtype=np.float64)
        known = state is not None and np.array_equal(state["settings"], self._settings)
        if known and len(state["scores"]) == self.problem.n:
            self._scores = state["scores"]
            self._stream = UniformStream(self._stream.seed, 0, position=int(state["position"].item()))
        else:
            self._scores = self.problem.design.scores(self._w)
