"""NORMA, exact kernel stochastic gradient descent, several draws at a time (see `_online`).

A run that keeps all terms works with responses, like Pegasos. One that drops old terms needs few kernel values: those
of the next draws with the present terms, and with each other, are computed as one block.
"""

from libc.math cimport fmin, sqrt

from kernbench.losses._loss cimport loss_room, loss_slope
from kernbench.solvers.kernel.online._online cimport BATCH, OnlineSolver

import numpy as np

from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.margin_problem import require_state
from kernbench.solvers.base import Solution
from kernbench.problems.draws import draw_indices
from kernbench.problems.kernel.online import SCHEDULES, StepRule, require_count

BLOCK_VALUES = 2**22  # largest number of kernel values of a block of draws and terms (32 MB)

cdef enum Schedule:
    INVERSE_SQRT
    INVERSE
    CONSTANT


cdef class NORMA(OnlineSolver):
    """Kernel SGD: f <- (1 - gamma_t lambda) f - gamma_t l' y_i k(x_i, .), b <- b - gamma_t l' y_i.

    lambda = alpha n / W with W the sum of the weights; example i is drawn with probability w_i / W.

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
        -1 and +1; targets for a loss of residuals.
    alpha : float
    weights : array-like of shape (n,), optional
    fit_intercept : bool, default=True
        Move b by its gradient; the reported b is the best for the reported f.
    loss : str or ResidualLoss, default="hinge"
        One of `losses`.
    schedule : {"inverse_sqrt", "inverse", "constant"}, default="inverse_sqrt"
        gamma_t = step B / (r sqrt(t)), step / (lambda (t + 1)) or step B / (r sqrt(n)); B is the radius of a ball that
        holds the optimum, r^2 = max k(x_i, x_i). At most 1 / (2 lambda), and at most one over the curvature of the loss
        times r^2.
    step : float, default=0.25
    truncation : int, optional
        Keep the newest `truncation` terms; all by default.
    window : int, optional
        Keep the terms of the last `window` steps; all by default.
    rescale : bool, default=True
        `solution` is the multiple of the last iterate with the least objective; False gives the last iterate, as in the
        paper.
    random_state : None, int, RandomState or Generator
        One uniform number per step.
    initial : Solution, optional
        Continue a solution of this solver exactly, or use other coefficients as a warm start.

    References
    ----------
    Kivinen, Smola, Williamson, IEEE Transactions on Signal Processing 52 (2004).
    """

    losses = EXAMPLE_LOSSES

    cdef double reach, longest, intercept
    cdef int schedule
    cdef bint drops, rescale, has_intercept
    cdef object newest
    cdef long long window                   # 0: all
    cdef long long n_looked                 # kernel values that steps used
    cdef double[::1] coef, responses        # a run that keeps all terms
    cdef Py_ssize_t[::1] examples           # a run that drops terms: oldest first
    cdef double[::1] terms
    cdef long long[::1] born

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", schedule="inverse_sqrt",
                 step=0.25, truncation=None, window=None, rescale=True, random_state=None, initial=None):
        OnlineSolver.__init__(
            self, rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss,
            random_state=random_state,
        )
        rule = StepRule.of(self.problem, np.asarray(self.diagonal), schedule, step)
        self.schedule, self.reach, self.longest = SCHEDULES.index(rule.schedule), rule.reach, rule.longest
        self.newest, self.window = require_count("truncation", truncation), require_count("window", window) or 0
        self.drops = truncation is not None or window is not None
        self.rescale, self.has_intercept = rescale, self.problem.fit_intercept
        self.coef, self.responses = np.zeros(self.problem.n), np.zeros(self.problem.n)
        self._set_terms(np.empty((0, 3)))
        if initial is not None:
            self._start_from(initial)

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        done = 0
        while done < n_iter:
            length = min(n_iter - done, BATCH - self.n_iter % BATCH)
            drawn = draw_indices(self.rng, length, self.problem.n, self.cumulative)
            if self.drops:
                self._follow_terms(drawn)
            else:
                self._follow(drawn)
            done += length
        return done

    @property
    def n_logical_evaluations(self):
        """Evaluations of the method as published: n for each step that adds a term, or one for each kept term and
        step."""
        return self.n_looked if self.drops else self.walk.n_steps * self.walk.n

    cdef inline double _gamma(self, long long t) noexcept nogil:
        if self.schedule == INVERSE_SQRT:
            return fmin(self.reach / sqrt(<double> t), self.longest)
        if self.schedule == INVERSE:
            return fmin(self.reach / <double> (t + 1), self.longest)
        return fmin(self.reach, self.longest)

    cdef inline double _push(self, Py_ssize_t i, double response) noexcept nogil:
        return -loss_slope(self.loss, self.parameter, self._margin(i, response))

    cdef inline double _margin(self, Py_ssize_t i, double response) noexcept nogil:
        """The margin at y_i (f(x_i) + b), or the residual."""
        return self.y[i] * (response + self.intercept) - self.targets[i]

    # --- all terms ---------------------------------------------------------------------------------------------------

    cdef Py_ssize_t _steps_on(self, const Py_ssize_t *drawn, Py_ssize_t length) except -1:
        cdef:
            Py_ssize_t k, i, n_done
            double gamma, term, scale = 1.0
        walk = self.walk
        with nogil:
            n_done = walk.open(drawn, length, &self.responses[0])
            for k in range(n_done):
                walk.want(k, loss_room(self.loss, self.parameter, self._margin(drawn[k], walk.local[k])))
            walk.fetch()
            for k in range(n_done):
                i = drawn[k]
                term = self._push(i, scale * walk.local[k])
                if term != 0.0 and not walk.has(k):
                    n_done = k
                    break
                self.n_iter += 1
                gamma = self._gamma(self.n_iter)
                scale *= 1.0 - gamma * self.lam  # factor of earlier terms; sums of the walk are not scaled
                if term != 0.0:
                    term *= gamma
                    self.coef[i] += term / scale
                    walk.add(k, self.y[i] * term / scale, 0.0)
                    if self.has_intercept:
                        self.intercept += self.y[i] * term
            walk.close(n_done, &self.responses[0])
            for i in range(walk.n):
                self.coef[i] *= scale
                self.responses[i] *= scale
        return n_done

    # --- the newest terms --------------------------------------------------------------------------------------------

    def _follow_terms(self, const Py_ssize_t[::1] drawn):
        first = 0
        while first < len(drawn):
            length = max(1, min(len(drawn) - first, BLOCK_VALUES // (len(self.terms) + BATCH)))
            self._steps_with_terms(drawn[first : first + length])
            first += length

    def _steps_with_terms(self, const Py_ssize_t[::1] drawn):
        """Do the steps on `drawn`. Columns of the block: the present terms, then those that the draws may add."""
        cdef:
            Py_ssize_t length = drawn.shape[0], n_old = self.terms.shape[0], head = 0, tail = n_old, k, l, q, i
            Py_ssize_t limit = self.newest or n_old + length
            double gamma, term, scale = 1.0
        columns = np.concatenate([self.examples, drawn])
        block = np.ascontiguousarray(self.rows.block(drawn, columns), dtype=np.float64)
        signs = self.problem.y[columns]
        cdef:
            const double[:, ::1] values = block
            const double[::1] sign = signs
            double[::1] local = block[:, :n_old] @ (signs[:n_old] * np.asarray(self.terms))
            double[::1] terms = np.concatenate([self.terms, np.zeros(length)])        # in the order they were made
            Py_ssize_t[::1] place = np.arange(n_old + length)                         # column of a term
            long long[::1] born = np.concatenate([self.born, np.zeros(length, dtype=np.int64)])
        with nogil:
            for k in range(length):
                i = drawn[k]
                self.n_looked += tail - head
                term = self._push(i, scale * local[k])
                self.n_iter += 1
                gamma = self._gamma(self.n_iter)
                scale *= 1.0 - gamma * self.lam
                if term != 0.0:
                    term *= gamma
                    place[tail], terms[tail], born[tail] = n_old + k, term / scale, self.n_iter
                    for l in range(k + 1, length):
                        local[l] += self.y[i] * terms[tail] * values[l, n_old + k]
                    tail += 1
                    if self.has_intercept:
                        self.intercept += self.y[i] * term
                while tail - head > limit or (
                    self.window > 0 and head < tail and born[head] <= self.n_iter - self.window
                ):
                    q = place[head]
                    for l in range(k + 1, length):
                        local[l] -= sign[q] * terms[head] * values[l, q]
                    head += 1
        kept = np.asarray(place)[head:tail]
        self.examples = columns[kept]
        self.terms = scale * np.asarray(terms)[head:tail]
        self.born = np.array(born[head:tail])

    def _set_terms(self, table):
        self.examples = table[:, 0].astype(np.intp)
        self.terms = np.array(table[:, 1])
        self.born = table[:, 2].astype(np.int64)

    # --- what it found -----------------------------------------------------------------------------------------------

    def _expansion(self):
        y = self.problem.y
        if not self.drops:
            return self._expanded(y * np.asarray(self.coef), np.asarray(self.responses), self.rescale)
        coef = y * np.bincount(self.examples, self.terms, minlength=self.problem.n)
        return self._expanded(coef, self.rows.matvec(coef), self.rescale)

    def solution(self):
        """The last iterate, with the best scale (if `rescale`) and intercept for it."""
        found = self._found()
        state = {"intercept": np.array([self.intercept])}
        if self.drops:
            state["terms"] = np.stack([self.examples, self.terms, self.born], axis=1).astype(np.float64)
        else:
            state |= {"coefficients": np.array(self.coef), "responses": np.array(self.responses)}
        return Solution(found.coef.copy(), found.intercept, self.n_iter, state)

    def _start_from(self, initial):
        keys = ["terms"] if self.drops else ["coefficients", "responses"]
        state = require_state(initial, self.problem.n, ["intercept", *keys])
        self.n_iter = initial.n_iter
        if state is not None:
            self.intercept = state["intercept"].item()
            if self.drops:
                self._set_terms(state["terms"])
            else:
                self.coef, self.responses = state["coefficients"], state["responses"]
            return
        coef = np.clip(initial.coef, *self.problem.cone())
        self.intercept = float(initial.intercept) if self.problem.fit_intercept else 0.0
        if self.drops:
            used = np.flatnonzero(coef)
            self._set_terms(np.stack([used, (self.problem.y * coef)[used], np.full(len(used), self.n_iter)], axis=1))
        else:
            self.coef, self.responses = self.problem.y * coef, self.rows.matvec(coef)
