"""Random block coordinate descent for smooth losses.

    w_I -= (1/L_I) ((1/n) X_I' (w l'(m) y) + alpha w_I),        L_I = l'' lmax(X_I' diag(w) X_I) / n + alpha.

The scores X w and the slopes w l'(m) y / n are kept up to date; with sparse X, a step visits only the examples that
have a feature of the block. Columns are read from a transposed copy of X, which doubles its memory.
"""

from kernbench.losses._loss cimport KB_SQUARED_ERROR, loss_slope
from kernbench.losses._margin cimport margin_slope
from kernbench.solvers.design._design cimport FeatureDesign

import numpy as np

from kernbench.problems.linear.block_constants import block_constants
from kernbench.problems.linear.feature_bounds import certificate
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_state
from kernbench.solvers.base import Solution
from kernbench.problems.draws import UniformStream, indices_of, seed_of
from kernbench.validation.numbers import check_number

cdef enum:
    WIDTH = 8              # features of a block, by default
    RECOMPUTED = 64        # passes over the blocks between two recomputations of the scores
    DRAWS = 4096


cdef class RBCD:
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

    References
    ----------
    Nesterov, SIAM J. Optim. 22 (2012).
    """

    cdef readonly long long n_iter
    cdef readonly bint converged
    cdef readonly object problem
    cdef readonly Py_ssize_t first_check
    cdef FeatureDesign design, columns
    cdef object stream, settings
    cdef int loss
    cdef Py_ssize_t n_blocks
    cdef long long touched
    cdef double alpha, share
    cdef double parameter
    cdef const double[::1] y, targets, weights
    cdef double[::1] w, scores, slopes, constants, change

    losses = ("squared_hinge", "log_loss", "squared_error", "huber")
    granularity = 1
    n_kernel_evaluations = 0

    def __init__(self, design, y, *, alpha, weights=None, loss="squared_hinge", random_state=None, initial=None,
                 n_blocks=None):
        if loss == "hinge":
            raise ValueError("rbcd needs a smooth loss; the substitute of the hinge is loss='squared_hinge'")
        if n_blocks is not None:
            check_number("n_blocks", n_blocks, at_least=1, whole=True)
        problem = LinearProblem(design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses)
        self.problem, self.design, self.loss = problem, design, problem.loss.code
        self.targets, self.parameter = problem.targets, problem.loss.parameter
        self.y, self.weights, self.alpha, self.share = problem.y, problem.weights, problem.alpha, 1.0 / problem.n
        self.n_blocks = min(n_blocks or -(-design.n_coef // WIDTH), design.n_coef)
        self.columns = FeatureDesign(design.X.T)
        ends = design.n_coef * np.arange(self.n_blocks + 1) // self.n_blocks
        self.constants = block_constants(self.columns, ends, problem)
        self.settings = problem.settings(self.n_blocks)
        self.first_check = self.n_blocks
        self.w, self.change = np.zeros(design.n_coef), np.empty(design.n_coef)
        self.scores, self.slopes = np.zeros(problem.n), np.empty(problem.n)
        self.stream = UniformStream(seed_of(random_state, initial), 0)
        if initial is not None:
            self._start_from(initial)
        self._find_slopes()

    @property
    def n_inner_products(self):
        return self.touched * self.problem.n // self.design.n_coef

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        cdef Py_ssize_t k, done = 0, steps
        cdef const Py_ssize_t[::1] blocks
        while done < n_iter:
            steps = min(<Py_ssize_t> DRAWS, n_iter - done)
            blocks = indices_of(self.stream.ahead(steps)[:steps, 0], self.n_blocks)
            self.stream.position += steps
            with nogil:
                for k in range(steps):
                    self._step(blocks[k])
            done += steps
        return done

    cdef int _step(self, Py_ssize_t block) except -1 nogil:
        cdef:
            Py_ssize_t k, d = self.w.shape[0]
            Py_ssize_t first = d * block // self.n_blocks, last = d * (block + 1) // self.n_blocks
            double *change = &self.change[0]
        self.columns._score(first, last, &self.slopes[0], change)
        for k in range(first, last):
            change[k] = -(change[k] + self.alpha * self.w[k]) / self.constants[block]
            self.w[k] += change[k]
        self.columns._gather_up(first, last, change, &self.scores[0])
        self.touched += 2 * (last - first)
        self.n_iter += 1
        if self.n_iter % (RECOMPUTED * self.n_blocks) == 0:
            self.design.score(&self.w[0], &self.scores[0])
            self._find_slopes()
        elif self.columns.is_sparse:
            for k in range(self.columns.starts[first], self.columns.starts[last]):
                self._find_slope(self.columns.columns[k])
        else:
            self._find_slopes()
        return 0

    cdef void _find_slopes(self) noexcept nogil:
        cdef:
            Py_ssize_t i
            int loss = self.loss
            double share = self.share
        if loss >= KB_SQUARED_ERROR:
            for i in range(self.scores.shape[0]):
                self._find_slope(i)
            return
        for i in range(self.scores.shape[0]):  # of margins alone, which vectorises
            self.slopes[i] = share * self.weights[i] * self.y[i] * margin_slope(loss, self.y[i] * self.scores[i])

    cdef inline void _find_slope(self, Py_ssize_t i) noexcept nogil:
        cdef double y = self.y[i]
        self.slopes[i] = self.share * self.weights[i] * y * loss_slope(
            self.loss, self.parameter, y * self.scores[i] - self.targets[i]
        )

    # --- what it found -----------------------------------------------------------------------------------------------

    def objective(self):
        """Return the objective at w, by a pass over the data."""
        coef = np.asarray(self.w)
        return self.problem.primal(coef, self.design.scores(coef))

    def gap(self):
        """Return the objective minus a lower bound on the optimum."""
        return certificate(self.problem, np.asarray(self.w))[1]

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it."""
        objective, gap = certificate(self.problem, np.asarray(self.w))
        self.converged = gap <= tol * objective
        return self.converged

    def solution(self):
        """Return w."""
        state = {
            "seed": np.array([self.stream.seed]), "settings": self.settings.copy(), "scores": np.array(self.scores),
            "position": np.array([self.stream.position], dtype=np.float64),
        }
        return Solution(np.array(self.w), 0.0, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(initial, self.design.n_coef, ["settings", "scores", "position"])
        self.n_iter, self.w = initial.n_iter, np.array(initial.coef, dtype=np.float64)
        known = state is not None and np.array_equal(state["settings"], self.settings)
        if known and len(state["scores"]) == self.problem.n:
            self.scores = state["scores"]
            self.stream = UniformStream(self.stream.seed, 0, position=int(state["position"].item()))
        else:
            self.scores = self.design.scores(np.asarray(self.w))
