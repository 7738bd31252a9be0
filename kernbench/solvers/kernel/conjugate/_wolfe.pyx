"""Wolfe's method of conjugate subgradients on all rows: reference/kernel/wolfe.py, made fast.

K(y w a), the main term of the subgradient, changes by the rows of the examples that crossed the margin, which come from
the cache of kernel rows. Everything else follows by recurrences, so an iteration in the kernel's geometry takes O(n)
work and a row for each crossing. The geometry of coefficients needs a product with the whole matrix.

The first subgradient needs all rows, which may take seconds: such sums are split into batches of rows, between which
Ctrl-C and `stop_at` may interrupt the iteration; the next call of `advance` resumes it.
"""

from libc.math cimport INFINITY, sqrt
from libc.string cimport memset

from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float
from kernbench.solvers.kernel.conjugate._hinge_line cimport HingeLine, dot, mix
from kernbench.solvers.kernel.conjugate._symmetric cimport add_symmetric_double, add_symmetric_float
from kernbench.solvers.bundle._risk cimport answer_signals
from kernbench.solvers.bundle._simplex_qp cimport SimplexQP

from time import perf_counter

import numpy as np

from kernbench.losses.margin import margin_loss
from kernbench.problems.margin_problem import MarginProblem, require_state
from kernbench.solvers.base import Solution
from kernbench.problems.kernel.conjugate import RECOMPUTED, certified_gap, check_wolfe, smallest_norm

cdef long long RECOMPUTED_EVERY = RECOMPUTED
cdef enum:
    BATCH = 256         # rows fetched together


cdef class Wolfe:
    """Conjugate subgradients for alpha/2 ||f||^2 + (1/n) sum_i w_i hinge(y_i (f(x_i) + b)).

    The direction is minus the shortest vector in the convex hull of the last direction (with its sign changed) and the
    newest subgradients; when it is short, the method restarts from the subgradient, and ends if that is short too.

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
        -1 and +1.
    alpha : float
    weights : array-like of shape (n,), optional
    fit_intercept : bool, default=True
        b is the exact minimiser at every point of a search.
    loss : {"hinge"}, default="hinge"
    random_state : None, int, RandomState or Generator
        Not used: the method has no randomness.
    initial : Solution, optional
        Continue from a solution of this method, or from other coefficients. Only the direction of a bundle is kept.
    geometry : {"rkhs", "euclidean"}, default="rkhs"
        Inner product of directions: that of the kernel's space, or that of coefficients, which needs a product with the
        whole kernel matrix in each iteration.
    line_search : {"exact", "bracket"}, default="exact"
        The minimiser along the direction, or a point with enough decrease and a flat slope.
    bundle_size : int, default=2
        Vectors whose hull is searched: minus the last direction, and ``bundle_size - 1`` subgradients.
    eps : float, default=1e-6
        Length of the direction that ends the run.
    c1, c2 : float, default=0.25, 0.4
        Decrease and flatness that the bracket search requires.

    References
    ----------
    P. Wolfe, "A method of conjugate subgradients for minimizing nondifferentiable functions", Math. Prog. Study 3
    (1975) 145-173.
    """

    cdef readonly long long n_iter, n_null
    cdef readonly bint converged
    cdef readonly object problem
    cdef KernelRows rows
    cdef HingeLine line
    cdef SimplexQP programme
    cdef Py_ssize_t n, capacity, n_held, oldest     # subgradients: capacity, number kept, place of the next one
    cdef bint rkhs, exact, reset
    cdef double eps, c1, c2
    cdef double[::1] y, weights, coef, direction, part, u, v, z, active, applied, norms, shares
    cdef double[::1] steps
    cdef Py_ssize_t[::1] wanted
    cdef double deadline, last_gap, bound       # the gap at iteration `gap_at`; the best lower bound so far
    cdef long long gap_at
    cdef bint stale                             # responses are due to be recomputed
    cdef double[:, ::1] g, h, parts, gram       # of the bundle: subgradients, their products with K, active parts

    losses = ("hinge",)
    granularity = 1
    first_check = 20

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", random_state=None,
                 initial=None, geometry="rkhs", line_search="exact", bundle_size=2, eps=1e-6, c1=0.25, c2=0.4):
        margin_loss(loss, offered=self.losses)
        check_wolfe(alpha=alpha, geometry=geometry, line_search=line_search, bundle_size=bundle_size, eps=eps, c1=c1,
                    c2=c2)
        problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept)
        cdef Py_ssize_t n = problem.n, room = bundle_size - 1
        self.problem, self.rows, self.n, self.capacity = problem, rows, n, room
        self.rkhs, self.exact, self.reset = geometry == "rkhs", line_search == "exact", True
        self.eps, self.c1, self.c2 = eps, c1, c2
        self.deadline, self.gap_at = INFINITY, -1
        self.y, self.weights = problem.y, problem.weights
        self.line = HingeLine(problem.y, problem.weights, problem.alpha, 1.0, problem.fit_intercept)
        self.programme = SimplexQP(bundle_size)
        self.coef, self.direction, self.part = np.zeros(n), np.zeros(n), np.zeros(n)
        self.u, self.v, self.z = np.zeros(n), np.zeros(n), np.zeros(n)
        self.active, self.applied = np.zeros(n), np.zeros(n)
        self.norms, self.shares = np.zeros(room + 1), np.zeros(room + 1)
        self.g, self.h, self.parts = np.zeros((room, n)), np.zeros((room, n)), np.zeros((room, n))
        self.gram = np.zeros((room + 1, room + 1))
        self.steps, self.wanted = np.empty(BATCH), np.empty(BATCH, dtype=np.intp)
        if initial is not None:
            self._start_from(initial)

    @property
    def n_kernel_evaluations(self):
        return self.rows.n_evaluations

    @property
    def n_inner_products(self):
        return self.rows.n_evaluations

    def advance(self, n_iter):
        """Do `n_iter` iterations, or fewer if the stopping rule holds or time is up; return how many were done."""
        for done in range(n_iter):
            if self.converged or not self._iterate():
                return done
        return n_iter

    def stop_at(self, time):
        """Interrupt the current iteration from this value of `time.perf_counter` on; `advance` resumes it."""
        self.deadline = time

    cdef bint _iterate(self) except -1:
        """Do one iteration; return False if it was interrupted."""
        cdef:
            double length, t, square
            Py_ssize_t newest
        if self.stale and not self._recompute() or not self._apply_active():
            return False
        self._add_subgradient()
        self._shorten()
        length = sqrt(max(self._inner(&self.direction[0], &self.direction[0], &self.v[0]), 0.0))
        self.n_iter += 1
        if length <= self.eps:
            newest = (self.oldest + self.capacity - 1) % self.capacity
            square = self._inner(&self.g[newest, 0], &self.g[newest, 0], &self.h[newest, 0])
            self.converged = self.reset or sqrt(max(square, 0.0)) <= self.eps
            self.reset = True
            return True
        self.reset = False
        self._aim()
        t = self.line.exact(-1.0) if self.exact else self.line.wolfe(length, self.c1, self.c2)
        mix(1.0, &self.coef[0], t, &self.direction[0], self.n)
        mix(1.0, &self.u[0], t, &self.v[0], self.n)
        self.n_null += t == 0.0
        if self.n_iter % RECOMPUTED_EVERY == 0:
            self._recompute()
        return True

    cdef void _aim(self) noexcept:
        cdef const double *d = &self.direction[0]
        self.line.aim(&self.u[0], &self.v[0], dot(&self.coef[0], &self.u[0], self.n), dot(d, &self.u[0], self.n),
                      dot(d, &self.v[0], self.n))

    cdef double _inner(self, const double *a, const double *b, const double *Kb) noexcept:
        return dot(a, Kb if self.rkhs else b, self.n)

    cdef bint _apply_active(self) except -1:
        """Update z = K(y w a) to the active part of the current point; return False if time ran out.

        z and `applied` are consistent after every batch of rows.
        """
        cdef:
            Py_ssize_t i, q, count = 0, room = min(<Py_ssize_t> BATCH, self.rows.capacity)
            double change
        self._aim()
        self.line.active_part(&self.active[0])
        for i in range(self.n):
            change = self.y[i] * self.weights[i] * (self.active[i] - self.applied[i])
            if change != 0.0:
                self.wanted[count], self.steps[count] = i, change
                count += 1
            else:
                self.applied[i] = self.active[i]
            if count == room or (i == self.n - 1 and count):
                self._add_batch(count, &self.z[0])
                for q in range(count):
                    self.applied[self.wanted[q]] = self.active[self.wanted[q]]
                count = 0
                answer_signals()
                if i < self.n - 1 and perf_counter() > self.deadline:
                    return False
        return True

    cdef int _add_subgradient(self) except -1:
        """Add the current subgradient to the bundle, in place of the oldest one if it is full."""
        cdef:
            Py_ssize_t i, slot
            double alpha = self.problem.alpha, scale = 1.0 / self.n
            double *g
            double *h
        if self.reset:
            self.n_held, self.oldest = 0, 0
        slot = self.oldest
        self.oldest = (slot + 1) % self.capacity
        self.n_held = min(self.n_held + 1, self.capacity)
        g, h = &self.g[slot, 0], &self.h[slot, 0]
        self.parts[slot, :] = self.active
        for i in range(self.n):
            g[i] = alpha * self.coef[i] - scale * self.y[i] * self.weights[i] * self.active[i]
            h[i] = alpha * self.u[i] - scale * self.z[i]
        if not self.rkhs:
            self.g[slot, :] = self.h[slot, :]
            memset(h, 0, self.n * sizeof(double))
            self._combine_all(g, h)
        if self.reset:
            for i in range(self.n):
                self.direction[i], self.v[i], self.part[i] = -g[i], -h[i], self.active[i]
        return 0

    cdef int _shorten(self) except -1:
        """Set the direction to minus the shortest vector in the convex hull of the bundle."""
        cdef:
            Py_ssize_t k = self.n_held, i, j, slot
            double *d = &self.direction[0]
            double *v = &self.v[0]
            double *shares = &self.shares[0]
            double mu
        # The bundle is listed from the oldest to the newest, as in the reference.
        self.gram[0, 0] = self._inner(d, d, v)
        for i in range(k):
            slot = self._slot(i)
            self.gram[0, i + 1] = self.gram[i + 1, 0] = -self._inner(d, &self.g[slot, 0], &self.h[slot, 0])
            for j in range(i + 1):
                self.gram[i + 1, j + 1] = self._inner(&self.g[self._slot(j), 0], &self.g[slot, 0], &self.h[slot, 0])
                self.gram[j + 1, i + 1] = self.gram[i + 1, j + 1]
        if k == 1:
            mu = smallest_norm(self.gram[0, 0], self.gram[1, 1], self.gram[0, 1])
            shares[0], shares[1] = mu, 1.0 - mu
        else:
            memset(shares, 0, (k + 1) * sizeof(double))
            self.norms[:] = 0.0
            self.programme.solve(&self.gram[0, 0], self.gram.shape[1], &self.norms[0], k + 1, shares)
        for i in range(k):
            slot = self._slot(i)
            mix(shares[0] if i == 0 else 1.0, d, -shares[i + 1], &self.g[slot, 0], self.n)
            mix(shares[0] if i == 0 else 1.0, v, -shares[i + 1], &self.h[slot, 0], self.n)
            mix(shares[0] if i == 0 else 1.0, &self.part[0], shares[i + 1], &self.parts[slot, 0], self.n)
        return 0

    cdef Py_ssize_t _slot(self, Py_ssize_t age) noexcept:
        """The index of the subgradient of this age among those kept."""
        return (self.oldest + self.capacity - self.n_held + age) % self.capacity

    cdef int _add_batch(self, Py_ssize_t count, double *out) except -1:
        """out += the sum of the first `count` wanted rows, each times its step."""
        cdef void *pointers[BATCH]
        self.rows.fetch(&self.wanted[0], count, pointers)
        if self.rows.single:
            add_rows_float(<float **> pointers, &self.steps[0], count, 0, self.n, out)
        else:
            add_rows_double(<double **> pointers, &self.steps[0], count, 0, self.n, out)
        return 0

    def _combined(self, const double[::1] coef):
        """Return K coef from cached rows, skipping zeros; None if time ran out."""
        cdef Py_ssize_t i, count = 0, room = min(<Py_ssize_t> BATCH, self.rows.capacity)
        cdef double[::1] out = np.zeros(self.n)
        for i in range(self.n):
            if coef[i] != 0.0:
                self.wanted[count], self.steps[count] = i, coef[i]
                count += 1
            if count == room or (i == self.n - 1 and count):
                self._add_batch(count, &out[0])
                count = 0
                answer_signals()
                if i < self.n - 1 and perf_counter() > self.deadline:
                    return None
        return out

    cdef int _combine_all(self, const double *coef, double *out) except -1:
        """The same for few or no zeros, from the part of each row beyond the diagonal."""
        cdef:
            Py_ssize_t first, count, q, room = min(<Py_ssize_t> BATCH, self.rows.capacity)
            void *pointers[BATCH]
        for first in range(0, self.n, room):
            count = min(room, self.n - first)
            for q in range(count):
                self.wanted[q] = first + q
            self.rows.fetch(&self.wanted[0], count, pointers)
            if self.rows.single:
                add_symmetric_float(<float **> pointers, first, count, self.n, coef, out)
            else:
                add_symmetric_double(<double **> pointers, first, count, self.n, coef, out)
        return 0

    def _recompute(self):
        """Recompute the responses, since recurrences accumulate rounding errors. False if time ran out; then it is
        still due."""
        self.stale = True
        found = []
        for coef in (self.coef, self.direction, self.problem.y * self.problem.weights * np.asarray(self.applied)):
            responses = self._combined(coef)
            if responses is None:
                return False
            found.append(responses)
        self.u, self.v, self.z = found
        self.stale = False
        return True

    # --- what it found -----------------------------------------------------------------------------------------------

    def check(self, tol):
        """Set `converged` to whether the certified gap is at most `tol` times the objective, and return it."""
        self.converged = self.gap() <= tol * max(self.objective(), np.finfo(float).tiny)
        return self.converged

    def objective(self):
        """The current objective."""
        self._aim()
        self.line.look(0.0)
        return self.line.value

    def gap(self):
        """`objective` minus a lower bound on the optimum; this may cost two products with the kernel matrix."""
        problem = self.problem
        if self.gap_at != self.n_iter:
            averaged = problem.y * problem.weights * np.asarray(self.part) / (problem.alpha * problem.n)
            self.last_gap = certified_gap(self.rows.matvec, problem.y, problem.weights, problem.alpha,
                                          problem.fit_intercept, self.objective(), [np.array(self.coef), averaged])
            self.gap_at = self.n_iter
            self.bound = max(self.bound, self.objective() - self.last_gap)
        return self.last_gap

    def known_gap(self):
        """`objective` minus the best lower bound found by `gap` so far (0 before the first); needs no kernel values."""
        return max(0.0, self.objective() - self.bound)

    def solution(self):
        """Coefficients and their best intercept."""
        self.objective()  # sets the intercept
        state = {"direction": np.array(self.direction), "part": np.array(self.part),
                 "reset": np.array([float(self.reset)])}
        return Solution(np.array(self.coef), self.line.intercept, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(initial, self.problem.n, ["direction", "part", "reset"])
        self.n_iter, self.coef = initial.n_iter, np.array(initial.coef, dtype=np.float64)
        if state is not None:
            self.direction, self.part, self.reset = state["direction"], state["part"], bool(state["reset"].item())
        self._recompute()
