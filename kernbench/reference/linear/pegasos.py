"""Pegasos on explicit features: stochastic subgradient descent with steps 1/(lambda t).

Shalev-Shwartz, Singer, Srebro, Cotter, Math. Prog. 127 (2011). A step on example i shrinks w by 1 - 1/t and
adds -l'(m_i) y_i x_i / (lambda t). Both together have a closed form: w_t = g_t / (lambda t), where g_t is the
plain sum of the -l' y x so far. So the cost of a step is that of its row, and no vector is ever scaled.
"""

import numpy as np

from kernbench.losses.margin import Hinge
from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.draws import UniformStream, cumulative_weights, indices_of, seed_of
from kernbench.problems.linear.feature_bounds import certificate, squared_norms
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_state
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import check_number

RECOMPUTED = 4096  # steps between two recomputations of |g|^2
SMALLEST_SCALE = 1e-6


class Pegasos:
    """Pegasos for alpha/2 ||w||^2 + (1/n) sum_i w_i l(y_i <w, x_i>), or l(<w, x_i> - y_i).

    With W = sum_i w_i and lambda = alpha n / W the objective is W/n times lambda/2 ||w||^2 + sum_i (w_i/W)
    l_i; so example i is drawn with probability w_i/W.

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
        The steps of all but the hinge are 1/(lambda (t + t0)), t0 = l'' max |x|^2 / lambda: a longer first step would
        move w away from the optimum. For kinks of residuals l'' is one over the mean size of the targets.
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, which draws one uniform number per example.
    initial : Solution, optional
        Where to start. A run of this class with the same `alpha`, `loss`, `batch_size` and `project` is continued
        exactly; any other ``coef`` is a warm start, as if reached by ``n_iter`` steps or a pass over the data,
        whichever is more.
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

    Raises
    ------
    ValueError
        With a sentence that says what to change.
    """

    losses = EXAMPLE_LOSSES
    granularity = 1
    n_kernel_evaluations = 0

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", random_state=None, initial=None, batch_size=1,
                 project=False, average=True):  # fmt: skip
        check_number("batch_size", batch_size, at_least=1, whole=True)
        problem = LinearProblem(design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses)
        self.problem, self._batch_size, self._project, self._average = problem, batch_size, project, average
        self._lambda = problem.alpha * problem.n / problem.total_weight
        self._cumulative = cumulative_weights(problem.weights)
        self._norms = squared_norms(design)
        is_hinge = problem.loss is Hinge
        self._delay = 0.0 if is_hinge else problem.curvature() * self._norms.max() / self._lambda
        self._limit = (1.0 if is_hinge else 2.0 * problem.loss_at_zero()) / self._lambda
        self._settings = problem.settings(batch_size, project)

        self.n_iter = self.n_inner_products = 0
        self.converged, self.first_check = False, -(-problem.n // batch_size)
        # w_t = scale g / (lambda (t + t0)), g = start + sum_i counts_i y_i x_i; scale is 1 without projections.
        self._start, self._g = np.zeros(design.n_coef), np.zeros(design.n_coef)
        self._counts = np.zeros(problem.n)
        self._scale, self._squared_norm = 1.0, 0.0  # the latter of g
        # sum_t (t + t0) w_t = (begun start + sum_i (passed counts_i - lags_i) y_i x_i) / lambda
        self._lags, self._begun, self._passed, self._total = np.zeros(problem.n), 0.0, 0.0, 0.0
        self._stream = UniformStream(seed_of(random_state, initial), 0)
        if initial is not None:
            self._start_from(initial)

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        for _ in range(n_iter):
            u = self._stream.ahead(self._batch_size)[: self._batch_size, 0]
            self._stream.position += self._batch_size
            self._step(indices_of(u, self.problem.n, self._cumulative))
        return n_iter

    def _step(self, batch):
        y, loss, X = self.problem.y, self.problem.loss, self.problem.design.rows(batch)
        shrunk = self._shrunk()
        margins = [y[i] * shrunk * (x @ self._g) - self.problem.targets[i] for i, x in zip(batch, X)]
        self.n_inner_products += len(batch)
        for i, x, margin in zip(batch, X, margins):
            size = -float(loss.slope(margin)) / (self._batch_size * self._scale)
            if size != 0.0:
                if self._project:
                    self._squared_norm += size * (2.0 * y[i] * (x @ self._g) + size * self._norms[i])
                    self.n_inner_products += 1
                self._g += size * y[i] * x
                self._counts[i] += size
                self._lags[i] += self._passed * size
                self.n_inner_products += 1
        self.n_iter += 1
        if self._project:
            self._project_on_ball()
        self._begun += self._scale
        self._passed += self._scale
        self._total += self.n_iter + self._delay

    def _project_on_ball(self):
        if self.n_iter % RECOMPUTED == 0:
            self._squared_norm = self._g @ self._g
        limit = self._limit * (self._lambda * (self.n_iter + self._delay)) ** 2
        if self._scale**2 * self._squared_norm > limit:
            self._scale = np.sqrt(limit / self._squared_norm)
            if self._scale < SMALLEST_SCALE:
                self._lags -= self._passed * self._counts
                for part in (self._start, self._g, self._counts):
                    part *= self._scale
                self._begun /= self._scale
                self._passed, self._squared_norm, self._scale = 0.0, limit, 1.0

    # --- what it found
    # --------------------------------------------------------------------------------------------

    def _signed(self):
        """The signed coefficients of the x_i in `solution`, beside a share of `start`."""
        if not self._average:
            return self.problem.y * self._counts * self._shrunk()
        return self.problem.y * (self._passed * self._counts - self._lags) / (self._lambda * max(self._total, 1.0))

    def _coef(self):
        if not self._average:
            return self._shrunk() * self._g
        share = self._begun / (self._lambda * max(self._total, 1.0))
        return share * self._start + self.problem.design.combine(self._signed())

    def _shrunk(self):
        """w_t / g_t."""
        return self._scale / (self._lambda * max(self.n_iter + self._delay, 1.0))

    def _certificate(self):
        # If w is (1/(alpha n)) sum_i w_i a_i y_i x_i, a is dual feasible once clipped to its domain.
        problem = self.problem
        known = (
            problem.alpha * problem.n * problem.y * self._signed() / np.where(problem.weights > 0, problem.weights, 1.0)
        )
        return certificate(problem, self._coef(), known)

    def objective(self):
        """Return the objective of `solution`, by a pass over the data."""
        coef = self._coef()
        return self.problem.primal(coef, self.problem.design.scores(coef))

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum."""
        return self._certificate()[1]

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it."""
        objective, gap = self._certificate()
        self.converged = bool(gap <= tol * objective)
        return self.converged

    def solution(self):
        """Return the average of the iterates, or the last one."""
        scalars = [self._stream.position, self._scale, self._squared_norm, self._begun, self._passed, self._total,
                   self._delay]  # fmt: skip
        state = {
            "seed": np.array([self._stream.seed]),
            "settings": self._settings.copy(),
            "scalars": np.array(scalars),
            "start": self._start.copy(),
            "sum": self._g.copy(),
            "counts": self._counts.copy(),
            "lags": self._lags.copy(),
        }
        return Solution(self._coef(), 0.0, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(
            initial, self.problem.design.n_coef, ["settings", "scalars", "start", "sum", "counts", "lags"]
        )
        known = state is not None and np.array_equal(state["settings"], self._settings)
        if known and len(state["counts"]) == self.problem.n:
            self.n_iter = initial.n_iter
            self._start, self._g, self._counts, self._lags = (state[k] for k in ("start", "sum", "counts", "lags"))
            position, self._scale, self._squared_norm, self._begun, self._passed, self._total, self._delay = state[
                "scalars"
            ]
            self._stream = UniformStream(self._stream.seed, 0, position=int(position))
        else:
            self.n_iter = initial.n_iter
            self._delay = max(self._delay, self.first_check - self.n_iter)  # else the first step would discard it
            weight = self.n_iter + self._delay
            self._start = self._lambda * weight * np.array(initial.coef, dtype=np.float64)
            self._g, self._squared_norm = self._start.copy(), self._start @ self._start
            self._begun, self._total = 1.0, weight  # the average begins here
