"""Stochastic block mirror descent: steps of a random block of weights along the gradient at a random example.

    w_I -= g_t (l'(m_i) y_i x_iI + lambda w_I),        g_t = min(g_0, 2 b / (lambda (t + 1))),

with b blocks. The average of the iterates is updated block by block, when a block changes.
"""

from libc.stdint cimport int32_t

from kernbench.losses._loss cimport loss_slope
from kernbench.solvers.design._design cimport FeatureDesign
from kernbench.solvers.linear._rows cimport row_dot

import numpy as np

from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.linear.feature_bounds import certificate, squared_norms
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.solvers.base import Solution
from kernbench.solvers.linear._sdca import SDCA
from kernbench.problems.draws import UniformStream, cumulative_weights, indices_of, seed_of
from kernbench.validation.numbers import check_number

cdef enum:
    DRAWS = 4096           # steps drawn at a time


cdef class SBMD:
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

    References
    ----------
    Dang and Lan, SIAM J. Optim. 25 (2015).
    """

    cdef readonly long long n_iter
    cdef readonly bint converged
    cdef readonly object problem
    cdef readonly Py_ssize_t first_check
    cdef FeatureDesign design
    cdef object cumulative, stream, settings
    cdef int loss
    cdef Py_ssize_t n_blocks
    cdef bint average
    cdef long long touched
    cdef double lam, largest_step, begun
    cdef double parameter
    cdef const double[::1] y, targets
    cdef double[::1] w, sum, counted

    losses = EXAMPLE_LOSSES
    granularity = 1
    n_kernel_evaluations = 0

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", random_state=None, initial=None, n_blocks=8,
                 largest_step=None, average=True):
        check_number("n_blocks", n_blocks, at_least=1, whole=True)
        problem = LinearProblem(design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses)
        self.problem, self.design, self.y, self.loss = problem, design, problem.y, problem.loss.code
        self.targets, self.parameter = problem.targets, problem.loss.parameter
        self.average, self.n_blocks = average, min(n_blocks, design.n_coef)
        self.lam = problem.alpha * problem.n / problem.total_weight
        if largest_step is None:
            largest_step = 1.0 / (problem.curvature() * squared_norms(design).max() + self.lam)
        self.largest_step = require_number("largest_step", largest_step, positive=True)
        self.cumulative = cumulative_weights(problem.weights)
        self.settings = problem.settings(n_blocks, self.largest_step)
        self.first_check = problem.n
        self.w, self.sum, self.counted = np.zeros(design.n_coef), np.zeros(design.n_coef), np.zeros(self.n_blocks)
        self.stream = UniformStream(seed_of(random_state, initial), 0, width=2)
        if initial is not None:
            self._start_from(initial)

    @property
    def n_inner_products(self):
        return self.touched // self.design.n_coef

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        cdef Py_ssize_t k, done = 0, steps
        cdef const Py_ssize_t[::1] examples, blocks
        while done < n_iter:
            steps = min(<Py_ssize_t> DRAWS, n_iter - done)
            u = self.stream.ahead(steps)[:steps]
            examples, blocks = indices_of(u[:, 0], self.problem.n, self.cumulative), indices_of(u[:, 1], self.n_blocks)
            self.stream.position += steps
            with nogil:
                for k in range(steps):
                    self._step(examples[k], blocks[k])
            done += steps
        return done

    cdef void _step(self, Py_ssize_t i, Py_ssize_t block) noexcept nogil:
        cdef:
            Py_ssize_t k, d = self.w.shape[0]
            Py_ssize_t first = d * block // self.n_blocks, last = d * (block + 1) // self.n_blocks
            double z = self.y[i] * row_dot(self.design, i, &self.w[0]) - self.targets[i]
            double slope = loss_slope(self.loss, self.parameter, z)
            double passed = self._weight(), since = passed - self.counted[block], step, kept
            double *w = &self.w[0]
            double *sums = &self.sum[0]
        self.n_iter += 1
        step = min(self.largest_step, 2.0 * self.n_blocks / (self.lam * (self.n_iter + 1)))
        kept = 1.0 - step * self.lam
        for k in range(first, last):
            sums[k] += since * w[k]
            w[k] *= kept
        self.counted[block] = passed
        if slope != 0.0:
            if self.design.single:
                _add_part(self.design, <const float *> self.design.values, i, first, last, -step * slope * self.y[i], w)
            else:
                _add_part(self.design, <const double *> self.design.values, i, first, last, -step * slope * self.y[i], w)
        self.touched += d + last - first

    cdef double _weight(self) noexcept nogil:
        """The sum of the weights of the iterates so far: 1 + ... + t, without those before a warm start."""
        return 0.5 * self.n_iter * (self.n_iter + 1.0) - self.begun

    # --- what it found -----------------------------------------------------------------------------------------------

    def _coef(self):
        passed = self._weight()
        if not self.average or passed == 0:
            return np.array(self.w)
        ends = len(self.w) * np.arange(self.n_blocks + 1) // self.n_blocks
        left = np.repeat(passed - np.asarray(self.counted), np.diff(ends))
        return (np.asarray(self.sum) + left * np.asarray(self.w)) / passed

    def objective(self):
        """Return the objective of `solution`, by a pass over the data."""
        coef = self._coef()
        return self.problem.primal(coef, self.design.scores(coef))

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum."""
        return certificate(self.problem, self._coef(), ascent=SDCA)[1]

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it."""
        objective, gap = certificate(self.problem, self._coef(), ascent=SDCA)
        self.converged = gap <= tol * objective
        return self.converged

    def solution(self):
        """Return the average of the iterates, or the last one."""
        state = {
            "seed": np.array([self.stream.seed]), "settings": self.settings.copy(),
            "scalars": np.array([self.stream.position, self.begun], dtype=np.float64), "last": np.array(self.w),
            "sum": np.array(self.sum), "counted": np.array(self.counted),
        }
        return Solution(self._coef(), 0.0, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(initial, self.design.n_coef, ["settings", "scalars", "last", "sum", "counted"])
        self.n_iter = initial.n_iter
        if state is not None and np.array_equal(state["settings"], self.settings):
            self.w, self.sum, self.counted = state["last"], state["sum"], state["counted"]
            position, self.begun = state["scalars"]
            self.stream = UniformStream(self.stream.seed, 0, width=2, position=int(position))
        else:
            self.w = np.array(initial.coef, dtype=np.float64)
            self.begun = self._weight()


ctypedef fused real:
    float
    double


cdef void _add_part(FeatureDesign design, const real *values, Py_ssize_t i, Py_ssize_t first, Py_ssize_t last, double size,
                    double *w) noexcept nogil:
    """w_k += size x_ik for first <= k < last."""
    cdef Py_ssize_t k, low, high, middle, d = design.n_coef
    cdef const int32_t *columns = design.columns
    if not design.is_sparse:
        for k in range(first, last):
            w[k] += size * values[i * d + k]
        return
    low, high = design.starts[i], design.starts[i + 1]
    while low < high:      # the first stored entry at or beyond `first`; they ascend
        middle = (low + high) // 2
        if columns[middle] < first:
            low = middle + 1
        else:
            high = middle
    while low < design.starts[i + 1] and columns[low] < last:
        w[columns[low]] += size * values[low]
        low += 1
