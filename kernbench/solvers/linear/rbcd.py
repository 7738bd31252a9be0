"""Random block coordinate descent for smooth losses.

Nesterov, SIAM J. Optim. 22 (2012). A step draws a block I of coordinates and takes a step along the exact gradient in
it,

    w_I -= (1/L_I) ((1/n) X_I' (w l'(m) y) + alpha w_I),        L_I = l'' lmax(X_I' diag(w) X_I) / n + alpha.

The scores X w are kept up to date, so a step costs two products with the columns of the block; these are read from a
transposed copy of X, which doubles its memory. The objective decreases at every step. Blocks are drawn uniformly, so
that its expected distance to the optimum decreases at least like (1 - alpha / (b max_I L_I))^t, b the number of blocks.
"""

import numpy as np

from kernbench.losses.table import losses_of
from kernbench.problems.draws import indices_of
from kernbench.problems.linear.block_constants import block_constants
from kernbench.solvers.linear.primal import PrimalSolver
from kernbench.validation.numbers import check_number

WIDTH = 8  # features of a block, by default
STEPS, TOUCHED = range(2)  # places in `numbers`


class RBCD(PrimalSolver):
    """Random block coordinate descent for alpha/2 ||w||^2 + (1/n) sum_i w_i l(z_i), z = y_i <w, x_i> or <w, x_i> - y_i.

    Parameters
    ----------
    design, y, alpha, weights, core : see `PrimalSolver`
    loss : str or ResidualLoss, default="squared_hinge"
        The hinge is not differentiable: the squared hinge is its smooth substitute.
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, which draws one uniform number per step.
    initial : Solution, optional
        The starting point. A run of this class with the same settings is continued exactly; any other ``coef`` is a
        warm start.
    n_blocks : int, optional
        Number of blocks of neighbouring features, of nearly equal size; at most the number of features. By default
        blocks of eight features.

    Attributes
    ----------
    n_inner_products : int
        A step counts as 2 n times the share of its block in the features.
    """

    losses = losses_of("margin", "residual", smooth=True)

    def __init__(self, design, y, *, alpha, weights=None, loss="squared_hinge", random_state=None, initial=None,
                 n_blocks=None, core="compiled"):  # fmt: skip
        if loss == "hinge":
            raise ValueError("rbcd needs a smooth loss; the substitute of the hinge is loss='squared_hinge'")
        if n_blocks is not None:
            check_number("n_blocks", n_blocks, at_least=1, whole=True)
        super().__init__(core, design, y, alpha=alpha, weights=weights, loss=loss, random_state=random_state,
                         initial=initial)  # fmt: skip
        problem, d = self.problem, design.n_coef
        self.n_blocks = min(n_blocks or -(-d // WIDTH), d)
        self.columns = type(design)(design.X.T)
        self.ends = d * np.arange(self.n_blocks + 1) // self.n_blocks
        self.constants = block_constants(self.columns, self.ends, problem)
        self.settings = problem.settings(self.n_blocks)
        self.first_check = self.n_blocks
        self.w, self.scores = np.zeros(d), np.zeros(problem.n)
        self.numbers = np.zeros(2)
        if initial is not None:
            self._start_from(initial)
        self.slopes = np.empty(problem.n)  # w l'(m) y / n
        self.core.find_slopes(problem, self.scores, self.slopes)

    @property
    def n_inner_products(self):
        return int(self.numbers[TOUCHED]) * self.problem.n // self.design.n_coef

    def _steps(self, drawn):
        self.core.steps(
            self.design, self.columns, self.problem, indices_of(drawn[:, 0], self.n_blocks), self.ends, self.constants,
            self.w, self.scores, self.slopes, self.numbers,
        )  # fmt: skip

    # --- what it found -----------------------------------------------------------------------------------------------

    def _coef(self):
        return self.w

    def _arrays(self):
        return {"scores": self.scores}

    def _scalars(self):
        return ()

    def _resume(self, coef):
        self.w = coef

    def _warm_start(self, coef):
        self.w, self.scores = coef, self.design.scores(coef)
