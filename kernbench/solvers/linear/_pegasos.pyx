"""Pegasos on explicit features, with w_t = g_t / (lambda t): the cost of a step is that of its row.

No vector is ever scaled: the scale of g is a number, and the average of the iterates is kept as two numbers for each
example, its contributions to g and the same weighted by time.
"""

from libc.math cimport sqrt

from kernbench.losses._loss cimport KB_HINGE, loss_slope
from kernbench.solvers.design._design cimport FeatureDesign, dot
from kernbench.solvers.linear._rows cimport row_add, row_dot

import numpy as np

from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.linear.feature_bounds import certificate, squared_norms
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_state
from kernbench.solvers.base import Solution
from kernbench.problems.draws import UniformStream, cumulative_weights, indices_of, seed_of
from kernbench.validation.numbers import check_number

cdef enum:
    DRAWS = 4096           # examples drawn at a time
    RECOMPUTED = 4096      # steps between two recomputations of |g|^2
cdef double SMALLEST_SCALE = 1e-6


cdef class Pegasos:
    """Pegasos for alpha/2 ||w||^2 + (1/n) sum_i w_i l(y_i <w, x_i>), or l(<w, x_i> - y_i).

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
        Project onto a ball that contains the optimum after each step: ||w||^2 <= 1/lambda for the hinge, 2 l(0)/lambda
        for the others.
    average : bool, default=True
        `solution` is the average of the iterates, each with weight t + t0; False gives the last one.

    Attributes
    ----------
    n_inner_products : int
        One for each <w, x_i> and for each x_i added; passes for objective and gap are not counted.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro, Cotter, Math. Prog. 127 (2011).
    """

    cdef readonly long long n_iter, n_inner_products
    cdef readonly bint converged
    cdef readonly object problem
    cdef readonly Py_ssize_t first_check
    cdef FeatureDesign design
    cdef object cumulative, stream, settings
    cdef int loss
    cdef Py_ssize_t batch_size
    cdef bint project, average
    cdef double lam, delay, limit, scale, squared_norm, begun, passed, total
    cdef double parameter
    cdef const double[::1] y, targets
    cdef double[::1] norms, start, g, counts, lags, margins

    losses = EXAMPLE_LOSSES
    granularity = 1
    n_kernel_evaluations = 0

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", random_state=None, initial=None, batch_size=1,
                 project=False, average=True):
        check_number("batch_size", batch_size, at_least=1, whole=True)
        problem = LinearProblem(design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses)
        self.problem, self.design, self.y, self.loss = problem, design, problem.y, problem.loss.code
        self.targets, self.parameter = problem.targets, problem.loss.parameter
        self.batch_size, self.project, self.average = batch_size, project, average
        self.lam = problem.alpha * problem.n / problem.total_weight
        self.cumulative = cumulative_weights(problem.weights)
        self.norms = squared_norms(design)
        if self.loss == KB_HINGE:
            self.delay, self.limit = 0.0, 1.0 / self.lam
        else:
            self.delay = problem.curvature() * np.max(self.norms) / self.lam
            self.limit = 2.0 * problem.loss_at_zero() / self.lam
        self.settings = problem.settings(batch_size, project)
        self.first_check = -(-problem.n // batch_size)
        self.start, self.g = np.zeros(design.n_coef), np.zeros(design.n_coef)
        self.counts, self.lags, self.margins = np.zeros(problem.n), np.zeros(problem.n), np.empty(batch_size)
        self.scale = 1.0
        self.stream = UniformStream(seed_of(random_state, initial), 0)
        if initial is not None:
            self._start_from(initial)

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        cdef Py_ssize_t k, done = 0, steps, most = max(<Py_ssize_t> 1, DRAWS // self.batch_size)
        cdef const Py_ssize_t[::1] drawn
        while done < n_iter:
            steps = min(most, n_iter - done)
            drawn = indices_of(self.stream.ahead(steps * self.batch_size)[:steps * self.batch_size, 0], self.problem.n,
                               self.cumulative)
            self.stream.position += steps * self.batch_size
            with nogil:
                for k in range(steps):
                    self._step(&drawn[k * self.batch_size])
            done += steps
        return done

    cdef void _step(self, const Py_ssize_t *batch) noexcept nogil:
        cdef:
            Py_ssize_t i, k, size = self.batch_size
            double shrunk = self._shrunk(), step
        for k in range(size):
            i = batch[k]
            self.margins[k] = self.y[i] * shrunk * row_dot(self.design, i, &self.g[0]) - self.targets[i]
        self.n_inner_products += size
        for k in range(size):
            i = batch[k]
            step = -loss_slope(self.loss, self.parameter, self.margins[k]) / (size * self.scale)
            if step != 0.0:
                if self.project:
                    self.squared_norm += step * (2.0 * self.y[i] * row_dot(self.design, i, &self.g[0])
                                                 + step * self.norms[i])
                    self.n_inner_products += 1
                row_add(self.design, i, step * self.y[i], &self.g[0])
                self.counts[i] += step
                self.lags[i] += self.passed * step
                self.n_inner_products += 1
        self.n_iter += 1
        if self.project:
            self._project_on_ball()
        self.begun += self.scale
        self.passed += self.scale
        self.total += self.n_iter + self.delay

    cdef void _project_on_ball(self) noexcept nogil:
        cdef Py_ssize_t k, d = self.g.shape[0]
        cdef double limit = self.limit * (self.lam * (self.n_iter + self.delay)) ** 2
        if self.n_iter % RECOMPUTED == 0:
            self.squared_norm = dot(&self.g[0], &self.g[0], d)
        if self.scale * self.scale * self.squared_norm <= limit:
            return
        self.scale = sqrt(limit / self.squared_norm)
        if self.scale < SMALLEST_SCALE:
            for k in range(d):
                self.start[k] *= self.scale
                self.g[k] *= self.scale
            for k in range(self.counts.shape[0]):
                self.lags[k] -= self.passed * self.counts[k]
                self.counts[k] *= self.scale
            self.begun /= self.scale
            self.passed, self.squared_norm, self.scale = 0.0, limit, 1.0

    # --- what it found -----------------------------------------------------------------------------------------------

    def _signed(self):
        """The signed coefficients of the x_i in `solution`, beside a share of `start`."""
        counts = np.asarray(self.counts)
        if not self.average:
            return self.problem.y * counts * self._shrunk()
        return self.problem.y * (self.passed * counts - np.asarray(self.lags)) / (self.lam * max(self.total, 1.0))

    def _coef(self):
        if not self.average:
            return self._shrunk() * np.asarray(self.g)
        share = self.begun / (self.lam * max(self.total, 1.0))
        return share * np.asarray(self.start) + self.design.combine(self._signed())

    cdef double _shrunk(self) noexcept nogil:
        """w_t / g_t."""
        return self.scale / (self.lam * max(self.n_iter + self.delay, 1.0))

    def _certificate(self):
        # If w is (1/(alpha n)) sum_i w_i a_i y_i x_i, a is dual feasible once clipped to its domain.
        problem = self.problem
        known = problem.alpha * problem.n * problem.y * self._signed() / np.where(problem.weights > 0, problem.weights, 1.0)
        return certificate(problem, self._coef(), known)

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
        self.converged = gap <= tol * objective
        return self.converged

    def solution(self):
        """Return the average of the iterates, or the last one."""
        scalars = [self.stream.position, self.scale, self.squared_norm, self.begun, self.passed, self.total,
                   self.delay]
        state = {
            "seed": np.array([self.stream.seed]), "settings": self.settings.copy(), "scalars": np.array(scalars),
            "start": np.array(self.start), "sum": np.array(self.g), "counts": np.array(self.counts),
            "lags": np.array(self.lags),
        }
        return Solution(self._coef(), 0.0, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(initial, self.design.n_coef, ["settings", "scalars", "start", "sum", "counts", "lags"])
        known = state is not None and np.array_equal(state["settings"], self.settings)
        if known and len(state["counts"]) == self.problem.n:
            self.n_iter = initial.n_iter
            self.start, self.g, self.counts, self.lags = (state[k] for k in ("start", "sum", "counts", "lags"))
            position, self.scale, self.squared_norm, self.begun, self.passed, self.total, self.delay = (
                state["scalars"])
            self.stream = UniformStream(self.stream.seed, 0, position=int(position))
        else:
            self.n_iter = initial.n_iter
            self.delay = max(self.delay, self.first_check - self.n_iter)  # else the first step would discard it
            weight = self.n_iter + self.delay
            start = self.lam * weight * np.array(initial.coef, dtype=np.float64)
            self.start, self.g, self.squared_norm = start, start.copy(), start @ start
            self.begun, self.total = 1.0, weight       # the average begins here
