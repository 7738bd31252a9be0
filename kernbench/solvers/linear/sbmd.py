"""Stochastic block mirror descent, Euclidean prox: steps of a random block along the gradient at a random example.

Dang and Lan, SIAM J. Optim. 25 (2015). A step draws an example and a block I of coordinates and does

    w_I -= g_t (l'(m_i) y_i x_iI + lambda w_I),        g_t = min(g_0, 2 b / (lambda (t + 1))),

b the number of blocks: each is updated b times less often, which steps b times longer compensate. The average of the
iterates is updated block by block, when a block changes.
"""

from functools import partial

import numpy as np

from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.draws import cumulative_weights, indices_of
from kernbench.problems.linear.feature_bounds import certificate, squared_norms
from kernbench.problems.margin_problem import require_number
from kernbench.solvers.linear.primal import PrimalSolver
from kernbench.solvers.linear.sdca import SDCA
from kernbench.validation.numbers import check_flag, check_number

STEPS, TOUCHED = range(2)  # places in `numbers`


class SBMD(PrimalSolver):
    """Stochastic block mirror descent for alpha/2 ||w||^2 + (1/n) sum_i w_i l(y_i <w, x_i>), or l(<w, x_i> - y_i).

    lambda = alpha n / W with W the sum of the weights; example i is drawn with probability w_i / W.

    Parameters
    ----------
    design, y, alpha, weights, loss, core : see `PrimalSolver`
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, which draws two uniform numbers per step.
    initial : Solution, optional
        The starting point. A run of this class with the same `alpha`, `loss` and `n_blocks` is continued exactly; any
        other ``coef`` is a warm start, as if reached by ``n_iter`` steps; its best multiple, if w = 0 has a lower
        objective.
    n_blocks : int, default=8
        Number of blocks of neighbouring features, of nearly equal size; at most the number of features.
    largest_step : float, optional
        g_0. By default 1/(l'' max |x|^2 + lambda), with 1 in place of the hinge's l'', and one over the mean size of
        the targets in place of that of residuals with kinks.
    average : bool, default=True
        `solution` is the average of the iterates, that after step t with weight t; False gives the last one.

    Attributes
    ----------
    n_inner_products : int
        A step counts as one, plus the share of its block in another.
    """

    losses = EXAMPLE_LOSSES

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", random_state=None, initial=None, n_blocks=8,
                 largest_step=None, average=True, core="compiled"):  # fmt: skip
        check_number("n_blocks", n_blocks, at_least=1, whole=True)
        check_flag("average", average)
        super().__init__(core, design, y, alpha=alpha, weights=weights, loss=loss, random_state=random_state,
                         initial=initial, width=2)  # fmt: skip
        problem, d = self.problem, design.n_coef
        if largest_step is None:
            largest = squared_norms(design)[problem.weights > 0].max()
            largest_step = 1.0 / (problem.curvature() * largest + self.lam)
        self.largest_step = require_number("largest_step", largest_step, positive=True)
        self.ascent = partial(SDCA, core=core)  # for a bound on the optimum
        self.average, self.n_blocks = average, min(n_blocks, d)
        self.ends = d * np.arange(self.n_blocks + 1) // self.n_blocks
        self.cumulative = cumulative_weights(problem.weights)
        self.settings = problem.settings(self.n_blocks, self.largest_step)
        self.first_check = problem.n
        self.w = np.zeros(d)
        # sum_t t w_t of each block up to its last change, and the sum of the t until then
        self.sums, self.counted = np.zeros(d), np.zeros(self.n_blocks)
        self.begun = 0.0  # the same for the steps before a warm start
        self.numbers = np.zeros(2)
        if initial is not None:
            self._start_from(initial)

    @property
    def n_inner_products(self):
        return int(self.numbers[TOUCHED]) // self.design.n_coef

    def _steps(self, drawn):
        examples = indices_of(drawn[:, 0], self.problem.n, self.cumulative)
        blocks = indices_of(drawn[:, 1], self.n_blocks)
        self.core.steps(
            self.design, self.problem, examples, blocks, self.ends, self.lam, self.largest_step, self.begun, self.w,
            self.sums, self.counted, self.numbers,
        )  # fmt: skip

    # --- what it found -----------------------------------------------------------------------------------------------

    def _weight(self):
        """The sum of the weights of the iterates so far: 1 + ... + t, without those before a warm start."""
        t = self.numbers[STEPS]
        return 0.5 * t * (t + 1.0) - self.begun

    def _coef(self):
        passed = self._weight()
        if not self.average or passed == 0:
            return self.w.copy()
        left = np.repeat(passed - self.counted, np.diff(self.ends))
        return (self.sums + left * self.w) / passed

    def _certificate(self):
        return certificate(self.problem, self._coef(), ascent=self.ascent)

    def _arrays(self):
        return {"last": self.w, "sum": self.sums, "counted": self.counted}

    def _scalars(self):
        return (self.begun,)

    def _resume(self, coef, begun):
        self.begun = begun

    def _warm_start(self, coef):
        self.w = self._useful(coef)
        self.begun = self._weight()
