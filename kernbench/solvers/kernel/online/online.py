"""Base of the online methods of the kernel SVM: a checked problem, batches of draws, how a direction is reported.

Each of them keeps the responses f(x_i) of all examples and needs one kernel row when a step changes f. Their cores do
the steps on a batch of draws by a ``Walk``, which fetches the rows (``_walk``).
"""

import numpy as np

from kernbench.losses.regression import example_loss
from kernbench.losses.table import losses_of
from kernbench.problems.draws import as_generator, cumulative_weights, draw_indices
from kernbench.problems.kernel.expansion import Expansion
from kernbench.problems.margin_problem import MarginProblem
from kernbench.problems.multiples import useful_multiple
from kernbench.solvers.method import CostlyGap
from kernbench.validation.numbers import check_number

BATCH = 256  # largest number of draws processed together, and draws between two exact intercepts


class OnlineSolver(CostlyGap):
    """State and results common to Pegasos, norm-ball SGD, the Perceptron and NORMA.

    A method defines `advance`, `solution` and ``_expansion()``, its result with the best multiple and intercept. Its
    core counts the steps, in ``self.numbers[0]``, as they are done, so that Ctrl-C leaves a usable state.

    Parameters
    ----------
    rows : KernelRows
        Rows of the n by n kernel matrix.
    y : array-like of shape (n,)
        -1 and +1; targets for a loss of residuals.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n,), optional
        Example i is drawn with probability w_i / sum w. All equal by default.
    fit_intercept : bool, default=True
        Set b to its exact minimiser after every 256 draws; it is frozen in between.
    random_state : None, int, RandomState or Generator
        One uniform number per draw.
    initial : Solution, optional
        Continue a solution of this method exactly, or use other coefficients as a warm start, as if reached by
        ``n_iter`` steps. Pegasos and NORMA continue one for the same objective only, and take the best multiple of
        coefficients of which f = 0 has a lower objective.
    batch_size : int, default=1
        Draws of a step, for a method that takes the mean subgradient of several examples.
    core : {"compiled", "reference"}, default="compiled"

    Attributes
    ----------
    largest : float
        The largest k(x_i, x_i) of rows with a positive weight.
    n_logical_evaluations : int
        Evaluations of the method as published; `n_kernel_evaluations` counts what was computed.
    """

    losses = losses_of("margin")
    granularity = BATCH
    dual_point = "plain"  # see `Expansion.gap`

    def __init__(self, core, rows, y, *, alpha, weights, fit_intercept, loss, random_state=None, batch_size=1):
        super().__init__(core)
        self.batch_size = int(check_number("batch_size", batch_size, at_least=1, whole=True))
        self.granularity = max(1, BATCH // self.batch_size)
        example_loss(loss, offered=self.losses)
        problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        if problem.alpha is None:
            raise ValueError(f"{type(self).__name__} needs alpha, a positive number")
        self.problem, self.rows, self.walk = problem, rows, self.core.Walk(rows)
        self.y, self.loss = problem.y, problem.loss
        self.lam = problem.alpha * problem.n / problem.total_weight
        self.diagonal = rows.diagonal()
        self.largest = float(np.max(self.diagonal[problem.weights > 0]))  # k(x, x) of rows that may be drawn
        self.rng = as_generator(random_state)
        self.cumulative = cumulative_weights(problem.weights)
        self.first_check = -(-problem.n // (self.batch_size * self.granularity)) * self.granularity
        self.intercept = 0.0
        self.expansion, self.expansion_at = None, -1

    @property
    def n_iter(self):
        return int(self.numbers[0])

    @property
    def n_kernel_evaluations(self):
        return self.walk.n_kernel_evaluations

    @property
    def n_logical_evaluations(self):
        return self.walk.n_steps * self.problem.n

    @property
    def n_inner_products(self):
        return self.walk.n_inner_products

    def _draw(self, length):
        return draw_indices(self.rng, length, self.problem.n, self.cumulative)

    def _mean_pushes(self, drawn, f):
        """Return -l'(m_i) / B for each of a batch of B draws, at outputs `f` of them."""
        return -self.loss.slope(self.y[drawn] * f - self.problem.targets[drawn]) / len(drawn)

    def objective(self):
        """The regularised objective of `solution`."""
        return self._found().objective()

    def _find_gap(self):
        return self._found().gap(self.dual_point)

    def _useful(self, responses, squared_norm, intercept):
        """Return the `useful_multiple` of the f of a warm start, and its intercept, the best one if f is scaled."""
        problem = self.problem
        factor = useful_multiple(problem, responses, squared_norm)
        if factor != 1.0:
            return factor, problem.best_intercept(factor * responses)
        return factor, float(intercept) if problem.fit_intercept else 0.0

    def _found(self):
        """The current result, computed once for each iterate."""
        if self.expansion is None or self.expansion_at != self.n_iter:
            self.expansion, self.expansion_at = self._expansion(), self.n_iter
        return self.expansion

    def _expanded(self, coef, responses, rescale=True):
        return Expansion(self.problem, coef, responses, rescale=rescale)
