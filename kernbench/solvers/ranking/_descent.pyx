"""Subgradient descent for the ROC-SVM, with a fixed step and with Adamax (Bae and Shin; Kingma and Ba 2015, section 7).

An iteration costs two products with the data and one evaluation of the risk: a sort for all pairs, indexing for drawn
ones.
"""

from kernbench.solvers.design._design cimport Design
from kernbench.solvers.bundle._risk cimport answer_signals, refuse_nan
from kernbench.solvers.ranking._problem cimport PairwiseProblem

from libc.math cimport INFINITY, fabs, isfinite

import numpy as np

from kernbench.problems.margin_problem import require_number, require_state
from kernbench.solvers.base import Solution
from kernbench.problems.draws import seed_of

cdef enum:
    PATIENCE = 20      # iterations over which the best objective has to improve

cdef double ROUNDING = 2.0 ** -52      # relative error of each term of a sum


cdef class Descent:
    """What both methods share: subgradients of the whole objective, the best iterate, the stopping rule."""

    cdef readonly long long n_iter
    cdef readonly bint converged, stagnated, average
    cdef readonly double learning_rate
    cdef readonly PairwiseProblem problem
    cdef Design design
    cdef long long seed
    cdef double alpha, best, bound, latest
    cdef long long latest_at    # n_iter of the iterate whose objective is `latest`
    cdef bint moving       # a step was interrupted: the scores are not yet those of the iterate
    # the iterate and its scores; the subgradient: in the scores, as an element of H, in the coefficients
    cdef double[::1] x, scores, g, element, slopes
    cdef double[::1] mean, best_coef, history

    losses = ("hinge", "squared_hinge", "log_loss")
    granularity = 1
    first_check = PATIENCE

    def _set_up(self, design, y, learning_rate, average, random_state, initial, **problem):
        self.learning_rate = require_number("learning_rate", learning_rate, positive=True)
        self.average = bool(average)
        self.seed = seed_of(random_state, initial)
        self.problem = PairwiseProblem(design, y, rng=np.random.default_rng(self.seed), offered=self.losses, **problem)
        self.design, self.alpha = self.problem.design, self.problem.alpha
        d, n = self.design.n_coef, self.problem.n
        self.x, self.mean, self.best_coef, self.element = np.zeros(d), np.zeros(d), np.zeros(d), np.empty(d)
        self.scores, self.g = np.zeros(n), np.empty(n)
        # Where there are features, an element of H is the derivatives with respect to its coefficients.
        self.slopes = np.empty(d) if self.design.is_kernel else self.element
        self.best, self.bound, self.latest_at = INFINITY, 0.0, -1
        self.history = np.full(PATIENCE + 1, np.inf)    # the best objective after the last iterations, a ring
        self._prepare()
        if initial is not None:
            self._start_from(initial)

    def _prepare(self):
        """Get ready what the method itself needs."""

    def _own_state(self):
        """The arrays that a method needs to go on, by name: they are read and written in place."""
        return {}

    @property
    def iterate(self):
        return np.array(self.x)

    @property
    def n_kernel_evaluations(self):
        return self.design.n_kernel_evaluations

    @property
    def n_passes(self):
        return self.design.n_passes

    # --- the iteration -----------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take `n_iter` steps; return `n_iter`."""
        for _ in range(n_iter):
            with nogil:
                self._iterate()
        return n_iter

    cdef int _iterate(self) except -1 nogil:
        cdef Py_ssize_t k, d = self.design.n_coef
        cdef double risk, value, share, drop
        answer_signals()
        if self.moving:
            self.design.score(&self.x[0], &self.scores[0])
        risk = self.problem.risk(&self.scores[0], &self.g[0])
        if not isfinite(risk):
            with gil:
                raise ValueError("the iterates leave all bounds: lower learning_rate, or scale the features")
        value = 0.5 * self.alpha * self.design.inner(&self.x[0], &self.x[0], &self.scores[0]) + risk
        if value < self.best:
            self.best = value
            self.best_coef[:] = self.x
        self.design.gather_up(&self.g[0], &self.element[0])
        for k in range(d):
            self.element[k] += self.alpha * self.x[k]
        if self.design.is_kernel:
            self.design.score(&self.element[0], &self.slopes[0])
        # The objective is alpha-strongly convex, so no point is better than this, less what rounding may add. Where the
        # iterates leave for a while, it is the difference of two large numbers and useless.
        drop = self.design.inner(&self.element[0], &self.element[0], &self.slopes[0]) / (2.0 * self.alpha)
        if value <= 2.0 * self.problem.at_zero:
            self.bound = max(self.bound, value - drop - ROUNDING * (self.problem.n + d) * (value + drop))
        self.n_iter += 1
        self.history[self.n_iter % (PATIENCE + 1)] = self.best
        self.moving = True
        self._move()
        self.moving = False
        # The mean of the iterates since the last power of two: the tail, however long the run will be.
        share = 1.0 / (self.n_iter - _power_of_two_below(self.n_iter) + 1)
        for k in range(d):
            self.mean[k] += share * (self.x[k] - self.mean[k])
        return 0

    cdef int _move(self) except -1 nogil:
        """Take the step from `x`, and let `scores` follow."""
        return 0

    # --- what it found -----------------------------------------------------------------------------------------------

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it; set `stagnated` to
        whether the best objective fell by less than tol * max(1, objective) over the last 20 iterations."""
        cdef double before = INFINITY
        if self.n_iter > PATIENCE:
            before = self.history[(self.n_iter + 1) % (PATIENCE + 1)]
        self.stagnated = before - self.best < tol * max(1.0, self.best)
        self.converged = self.gap() <= tol * self.objective()
        return self.converged

    def objective(self):
        """Return the objective of `solution`."""
        if self.n_iter and not self.average:
            return min(self.best, self._latest_objective())
        return self._objective_at(self._reported())

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum."""
        return max(0.0, self.objective() - self.bound)

    def solution(self):
        """Return the best iterate, or the mean of the last ones (`average`)."""
        state = {
            "seed": np.array([self.seed]), "settings": self.problem.settings(), "iterate": np.array(self.x),
            "mean": np.array(self.mean), "best": np.array(self.best_coef), "history": np.array(self.history),
            "progress": np.array([self.best, self.bound]),
        }
        state |= {name: np.array(values) for name, values in self._own_state().items()}
        return Solution(np.array(self._reported()), 0.0, self.n_iter, state)

    def _reported(self):
        if self.n_iter and self.average:
            return self.mean
        return self.x if self.n_iter == 0 or self._latest_objective() < self.best else self.best_coef

    cdef double _latest_objective(self) except? -1.0:
        """The objective of the iterate as of now. A step computes that of the iterate it starts from, so the last one is
        not among the candidates for `best` yet. It costs a sort, but no product with the data."""
        cdef double risk
        if self.latest_at != self.n_iter:
            if self.moving:
                self.design.score(&self.x[0], &self.scores[0])
                self.moving = False
            risk = self.problem.risk(&self.scores[0], NULL)
            self.latest = 0.5 * self.alpha * self.design.inner(&self.x[0], &self.x[0], &self.scores[0]) + risk
            self.latest_at = self.n_iter
        return self.latest

    def _objective_at(self, double[::1] coef):
        cdef double[::1] scores
        cdef double risk
        if not np.any(coef):
            return self.problem.at_zero
        scores = self.design.scores(coef)
        risk = self.problem.risk(&scores[0], NULL)
        refuse_nan(risk)
        return 0.5 * self.alpha * self.design.inner(&coef[0], &coef[0], &scores[0]) + risk

    def _start_from(self, initial):
        own = self._own_state()
        keys = ["settings", "iterate", "mean", "best", "history", "progress", *own]
        state = require_state(initial, self.design.n_coef, keys)
        if state is not None and np.array_equal(state["settings"], self.problem.settings()):
            self.n_iter = initial.n_iter
            self.x, self.mean, self.best_coef = state["iterate"], state["mean"], state["best"]
            self.history, (self.best, self.bound) = state["history"], state["progress"]
            for name, values in own.items():
                values[:] = state[name]
        else:
            self.x = np.array(initial.coef, dtype=np.float64)
        self.design.score(&self.x[0], &self.scores[0])


cdef class Gradient(Descent):
    """Subgradient descent with a fixed step: f <- f - learning_rate * subgradient.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
        Made by `as_design`. The subgradient is an element of its Hilbert space.
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n_samples,), optional
        The pair (i, j) weighs w_i w_j. All equal by default.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
    n_pairs : int, optional
        Draw so many pairs once and minimise over these (the paper's incomplete risk; it takes n_samples of them); by
        default over all pairs.
    balanced : bool, default=False
        Draw the pairs so that each sample of a class comes up equally often.
    learning_rate : float, default=0.01
    average : bool, default=False
        `solution` is the mean of the iterates since the last power of two instead of the best iterate.
    random_state : None, int, RandomState or Generator
        For the pairs.
    initial : Solution, optional
        Go on from a solution of this method exactly, or start from other coefficients.

    Attributes
    ----------
    iterate : ndarray of shape (n_coef,)
        The coefficients as of now; `solution` gives the best so far.
    n_passes : int
        Products with the data, or with the kernel matrix, so far.

    References
    ----------
    Bae and Shin, "Scaling Up ROC-Optimizing Support Vector Machines".
    """

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", n_pairs=None, balanced=False,
                 learning_rate=0.01, average=False, random_state=None, initial=None):
        self._set_up(design, y, learning_rate, average, random_state, initial, alpha=alpha, weights=weights, loss=loss,
                     n_pairs=n_pairs, balanced=balanced)

    cdef int _move(self) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(self.x.shape[0]):
            self.x[k] -= self.learning_rate * self.element[k]
        if not self.design.is_kernel:
            return self.design.score(&self.x[0], &self.scores[0])
        for k in range(self.x.shape[0]):        # the slopes are the scores of the step
            self.scores[k] -= self.learning_rate * self.slopes[k]
        return 0


cdef class Adamax(Descent):
    """Subgradient descent with Adamax, the method of the paper's experiments.

    With g the derivatives with respect to the coefficients: m <- beta_1 m + (1 - beta_1) g, u <- max(beta_2 u, |g|),
    and the coefficients move by -learning_rate / (1 - beta_1^t) m/u. Where u is 0 they stay.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
        Made by `as_design`.
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n_samples,), optional
        The pair (i, j) weighs w_i w_j. All equal by default.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
    n_pairs : int, optional
        Draw so many pairs once and minimise over these (the paper's incomplete risk; it takes n_samples of them); by
        default over all pairs.
    balanced : bool, default=False
        Draw the pairs so that each sample of a class comes up equally often.
    learning_rate : float, default=0.002
        No coefficient moves by much more in one iteration.
    beta_1, beta_2 : float, default=0.9, 0.999
    average : bool, default=False
        `solution` is the mean of the iterates since the last power of two instead of the best iterate.
    random_state : None, int, RandomState or Generator
        For the pairs.
    initial : Solution, optional
        Go on from a solution of this method exactly, or start from other coefficients.

    Attributes
    ----------
    iterate : ndarray of shape (n_coef,)
        The coefficients as of now; `solution` gives the best so far.
    n_passes : int
        Products with the data, or with the kernel matrix, so far.

    References
    ----------
    Bae and Shin, "Scaling Up ROC-Optimizing Support Vector Machines"; Kingma and Ba, ICLR 2015, section 7.1.
    """

    cdef readonly double beta_1, beta_2
    cdef double[::1] momentum, largest

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", n_pairs=None, balanced=False,
                 learning_rate=0.002, beta_1=0.9, beta_2=0.999, average=False, random_state=None, initial=None):
        for name, value in (("beta_1", beta_1), ("beta_2", beta_2)):
            if not require_number(name, value) < 1:
                raise ValueError(f"{name} must be below 1, got {value!r}")
        self.beta_1, self.beta_2 = beta_1, beta_2
        self._set_up(design, y, learning_rate, average, random_state, initial, alpha=alpha, weights=weights, loss=loss,
                     n_pairs=n_pairs, balanced=balanced)

    def _prepare(self):
        self.momentum, self.largest = np.zeros(self.design.n_coef), np.zeros(self.design.n_coef)

    def _own_state(self):
        return {"momentum": np.asarray(self.momentum), "largest": np.asarray(self.largest)}

    cdef int _move(self) except -1 nogil:
        cdef Py_ssize_t k
        cdef double step = self.learning_rate / (1.0 - self.beta_1 ** <double> self.n_iter)
        for k in range(self.x.shape[0]):
            self.momentum[k] = self.beta_1 * self.momentum[k] + (1.0 - self.beta_1) * self.slopes[k]
            self.largest[k] = max(self.beta_2 * self.largest[k], fabs(self.slopes[k]))
            if self.largest[k] > 0.0:
                self.x[k] -= step * (self.momentum[k] / self.largest[k])
        return self.design.score(&self.x[0], &self.scores[0])


cdef long long _power_of_two_below(long long n) noexcept nogil:
    """The largest power of two that is at most n."""
    cdef long long power = 1
    while 2 * power <= n:
        power *= 2
    return power
