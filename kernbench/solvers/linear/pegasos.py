"""Pegasos on explicit features: stochastic subgradient descent with steps 1/(lambda t).

Shalev-Shwartz, Singer, Srebro, Cotter, Math. Prog. 127 (2011). A step on example i shrinks w by 1 - 1/t and
adds -l'(m_i) y_i x_i / (lambda t). Both together have a closed form: w_t = g_t / (lambda t), where g_t is the
plain sum of the -l' y x so far. So the cost of a step is that of its row, and no vector is ever scaled: the scale of g
is a number, and the average of the iterates is kept as two numbers for each example, its contributions to g and the
same weighted by time.
"""

import numpy as np

from kernbench.losses.margin import Hinge
from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.draws import cumulative_weights, indices_of
from kernbench.problems.linear.feature_bounds import certificate, squared_norms
from kernbench.solvers.linear.primal import PrimalSolver
from kernbench.validation.numbers import check_flag, check_number

STEPS, SCALE, SQUARED_NORM, BEGUN, PASSED, TOTAL, PRODUCTS, KEPT = range(8)  # places in `numbers`


class Pegasos(PrimalSolver):
    """Pegasos for alpha/2 ||w||^2 + (1/n) sum_i w_i l(y_i <w, x_i>), or l(<w, x_i> - y_i).

    With W = sum_i w_i and lambda = alpha n / W the objective is W/n times lambda/2 ||w||^2 + sum_i (w_i/W)
    l_i; so example i is drawn with probability w_i/W.

    Parameters
    ----------
    design, y, alpha, weights, core : see `PrimalSolver`
    loss : str or ResidualLoss, default="hinge"
        The steps of all but the hinge are 1/(lambda (t + t0)), t0 = l'' max |x|^2 / lambda: a longer first step would
        move w away from the optimum. For kinks of residuals l'' is one over the mean size of the targets.
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, which draws one uniform number per example.
    initial : Solution, optional
        The starting point. A run of this class with the same `alpha`, lambda, `loss`, `batch_size` and `project` is
        continued exactly; any other ``coef`` is a warm start, as if reached by ``n_iter`` steps or a pass over the
        data, whichever is more; its best multiple, if w = 0 has a lower objective.
    batch_size : int, default=1
        Examples per step.
    project : bool, default=False
        Project onto a ball that contains the optimum after each step: ||w||^2 <= 1/lambda for the hinge, 2
        l(0)/lambda for the others.
    average : bool, default=True
        `solution` is the average of the iterates, each with weight t + t0; False gives the last one.

    Attributes
    ----------
    n_inner_products : int
        One for each <w, x_i> and for each x_i added; passes for objective and gap are not counted.
    """

    losses = EXAMPLE_LOSSES

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", random_state=None, initial=None, batch_size=1,
                 project=False, average=True, core="compiled"):  # fmt: skip
        check_number("batch_size", batch_size, at_least=1, whole=True)
        check_flag("project", project)
        check_flag("average", average)
        super().__init__(core, design, y, alpha=alpha, weights=weights, loss=loss, random_state=random_state,
                         initial=initial)  # fmt: skip
        problem = self.problem
        self.per_step, self.average = batch_size, average  # a step draws a batch
        self.cumulative = cumulative_weights(problem.weights)
        self.norms = squared_norms(design)
        is_hinge = problem.loss is Hinge
        largest = self.norms[problem.weights > 0].max()
        self.delay = 0.0 if is_hinge else problem.curvature() * largest / self.lam
        limit = (1.0 if is_hinge else 2.0 * problem.loss_at_zero()) / self.lam
        self.limit = limit if project else np.inf  # of |w|^2
        self.settings = problem.settings(self.lam, batch_size, project)  # w = g / (lambda t)
        self.first_check = -(-problem.n // batch_size)
        # w_t = scale g / (lambda (t + t0)), g = kept start + sum_i counts_i y_i x_i; scale and kept are 1 without
        # projections.
        # sum_t (t + t0) w_t = (begun start + sum_i (passed counts_i - lags_i) y_i x_i) / lambda
        self.start, self.g = np.zeros(design.n_coef), np.zeros(design.n_coef)
        self.counts, self.lags = np.zeros(problem.n), np.zeros(problem.n)
        self.numbers = np.zeros(8)
        self.numbers[SCALE] = self.numbers[KEPT] = 1.0
        if initial is not None:
            self._start_from(initial)

    @property
    def n_inner_products(self):
        return int(self.numbers[PRODUCTS])

    def _steps(self, drawn):
        examples = indices_of(drawn[:, 0], self.problem.n, self.cumulative).reshape(-1, self.per_step)
        self.core.steps(
            self.design, self.problem, self.norms, examples, self.lam, self.delay, self.limit, self.g, self.counts,
            self.lags, self.numbers,
        )  # fmt: skip

    # --- what it found -----------------------------------------------------------------------------------------------

    def _shrunk(self):
        """w_t / g_t."""
        return self.numbers[SCALE] / (self.lam * max(self.numbers[STEPS] + self.delay, 1.0))

    def _signed(self):
        """The signed coefficients of the x_i in `solution`, beside a share of `start`."""
        if not self.average:
            return self.problem.y * self.counts * self._shrunk()
        sums = self.numbers[PASSED] * self.counts - self.lags
        return self.problem.y * sums / (self.lam * max(self.numbers[TOTAL], 1.0))

    def _coef(self):
        if not self.average:
            return self._shrunk() * self.g
        share = self.numbers[BEGUN] / (self.lam * max(self.numbers[TOTAL], 1.0))
        return share * self.start + self.design.combine(self._signed())

    def _certificate(self):
        # If w is (1/(alpha n)) sum_i w_i a_i y_i x_i, a is dual feasible once clipped to its domain.
        problem = self.problem
        weights = np.where(problem.weights > 0, problem.weights, 1.0)
        known = problem.alpha * problem.n * problem.y * self._signed() / weights
        return certificate(problem, self._coef(), known)

    def _arrays(self):
        arrays = {"start": self.start, "sum": self.g, "counts": self.counts, "lags": self.lags}
        return arrays if self.limit == np.inf else arrays | {"kept": self.numbers[KEPT:]}

    def _scalars(self):
        return *self.numbers[SCALE:PRODUCTS], self.delay

    def _resume(self, coef, *scalars):
        *self.numbers[SCALE:PRODUCTS], self.delay = scalars

    def _warm_start(self, coef):
        self.delay = max(self.delay, self.first_check - self.n_iter)  # else the first step would discard it
        weight = self.n_iter + self.delay
        self.start = self.lam * weight * self._useful(coef)
        self.g = self.start.copy()
        self.numbers[SQUARED_NORM] = self.start @ self.start
        self.numbers[BEGUN], self.numbers[TOTAL] = 1.0, weight  # the average begins here
