"""Stochastic block mirror descent, Euclidean prox: steps of a random block along the gradient at a random example.

Dang and Lan, SIAM J. Optim. 25 (2015). A step draws an example and a block I of coordinates and does

    w_I -= g_t (l'(m_i) y_i x_iI + lambda w_I),        g_t = min(g_0, 2 b / (lambda (t + 1))),

b the number of blocks: each is updated b times less often, which steps b times longer compensate.
"""

import numpy as np

from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.draws import UniformStream, cumulative_weights, indices_of, seed_of
from kernbench.problems.linear.feature_bounds import certificate, squared_norms
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.reference.linear.sdca import SDCA
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import check_number


class SBMD:
    """Stochastic block mirror descent for alpha/2 ||w||^2 + (1/n) sum_i w_i l(y_i <w, x_i>), or l(<w, x_i> - y_i).

    lambda = alpha n / W with W the sum of the weights; example i is drawn with probability w_i / W.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n,)
        Labels, -1 or +1; targets for a loss of residuals.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n,), optional
        Ones by default.
    loss : str or ResidualLoss, default="hinge"
        One of `losses`.
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, which draws two uniform numbers per step.
    initial : Solution, optional
        Where to start. A run of this class with the same `alpha`, `loss` and `n_blocks` is continued exactly; any other
        ``coef`` is a warm start, as if reached by ``n_iter`` steps.
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

    Raises
    ------
    ValueError
        With a sentence that says what to change.
    """

    losses = EXAMPLE_LOSSES
    granularity = 1
    n_kernel_evaluations = 0

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", random_state=None, initial=None, n_blocks=8,
                 largest_step=None, average=True):  # fmt: skip
        check_number("n_blocks", n_blocks, at_least=1, whole=True)
        problem = LinearProblem(design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses)
        self.problem, self._average = problem, average
        self._n_blocks = min(n_blocks, design.n_coef)
        self._lambda = problem.alpha * problem.n / problem.total_weight
        if largest_step is None:
            largest_step = 1.0 / (problem.curvature() * squared_norms(design).max() + self._lambda)
        self._largest_step = require_number("largest_step", largest_step, positive=True)
        self._cumulative = cumulative_weights(problem.weights)
        self._settings = problem.settings(n_blocks, self._largest_step)

        self.n_iter = self._touched = 0
        self.converged, self.first_check = False, problem.n
        self._w = np.zeros(design.n_coef)
        # sum_t t w_t of each block up to its last change, and the sum of the t until then
        self._sum, self._counted = np.zeros(design.n_coef), np.zeros(self._n_blocks)
        self._begun = 0.0  # the same for the steps before a warm start
        self._stream = UniformStream(seed_of(random_state, initial), 0, width=2)
        if initial is not None:
            self._start_from(initial)

    @property
    def n_inner_products(self):
        """d-dimensional inner products so far."""
        return self._touched // self.problem.design.n_coef

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        for _ in range(n_iter):
            for_example, for_block = self._stream.next()
            i = int(indices_of(np.array([for_example]), self.problem.n, self._cumulative)[0])
            self._step(i, int(indices_of(np.array([for_block]), self._n_blocks)[0]))
        return n_iter

    def _ends(self, block):
        d = self.problem.design.n_coef
        return d * block // self._n_blocks, d * (block + 1) // self._n_blocks

    def _step(self, i, block):
        y, x = self.problem.y[i], self.problem.design.rows([i])[0]
        slope = float(self.problem.loss.slope(y * (x @ self._w) - self.problem.targets[i]))
        first, last = self._ends(block)
        passed = self._weight()
        self._sum[first:last] += (passed - self._counted[block]) * self._w[first:last]
        self._counted[block] = passed
        self.n_iter += 1
        step = min(self._largest_step, 2.0 * self._n_blocks / (self._lambda * (self.n_iter + 1)))
        self._w[first:last] *= 1.0 - step * self._lambda
        self._w[first:last] -= step * slope * y * x[first:last]
        self._touched += len(x) + last - first

    def _weight(self):
        """The sum of the weights of the iterates so far: 1 + ... + t, without those before a warm start."""
        return 0.5 * self.n_iter * (self.n_iter + 1.0) - self._begun

    # --- what it found
    # --------------------------------------------------------------------------------------------

    def _coef(self):
        passed = self._weight()
        if not self._average or passed == 0:
            return self._w.copy()
        left = np.concatenate(
            [np.full(b - a, passed - c) for (a, b), c in zip(map(self._ends, range(self._n_blocks)), self._counted)]
        )
        return (self._sum + left * self._w) / passed

    def objective(self):
        """Return the objective of `solution`, by a pass over the data."""
        coef = self._coef()
        return self.problem.primal(coef, self.problem.design.scores(coef))

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum."""
        return certificate(self.problem, self._coef(), ascent=SDCA)[1]

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it."""
        objective, gap = certificate(self.problem, self._coef(), ascent=SDCA)
        self.converged = bool(gap <= tol * objective)
        return self.converged

    def solution(self):
        """Return the average of the iterates, or the last one."""
        state = {
            "seed": np.array([self._stream.seed]), "settings": self._settings.copy(),
            "scalars": np.array([self._stream.position, self._begun], dtype=np.float64), "last": self._w.copy(),
            "sum": self._sum.copy(), "counted": self._counted.copy(),
        }  # fmt: skip
        return Solution(self._coef(), 0.0, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(initial, self.problem.design.n_coef, ["settings", "scalars", "last", "sum", "counted"])
        self.n_iter = initial.n_iter
        if state is not None and np.array_equal(state["settings"], self._settings):
            self._w, self._sum, self._counted = state["last"], state["sum"], state["counted"]
            position, self._begun = state["scalars"]
            self._stream = UniformStream(self._stream.seed, 0, width=2, position=int(position))
        else:
            self._w = np.array(initial.coef, dtype=np.float64)
            self._begun = self._weight()
