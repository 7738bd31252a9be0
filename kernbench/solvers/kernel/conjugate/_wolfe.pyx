"""Iterations of Wolfe's method: the core of `wolfe`.

K(y w a), the main term of the subgradient, changes by the rows of the examples that crossed the margin, which come from
the cache of kernel rows. Everything else follows by recurrences, so an iteration with lengths in the norm of the
kernel's space takes O(n) work and a kernel row for each crossing. Euclidean lengths of coefficients need a product with
the whole matrix.

The first subgradient needs all kernel rows, which may take seconds: such sums are split into batches of rows, between
which Ctrl-C or a deadline may interrupt the iteration; the next call resumes it. Ctrl-C interrupts the products with
the whole matrix, too.
"""

from libc.math cimport sqrt
from libc.string cimport memset

from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float
from kernbench.solvers.kernel.conjugate._hinge_line cimport HingeLine, dot, mix
from kernbench.solvers.kernel.conjugate._symmetric cimport add_symmetric_double, add_symmetric_float
from kernbench.solvers.bundle._risk cimport answer_signals
from kernbench.solvers.bundle._simplex_qp cimport SimplexQP

from time import perf_counter

import numpy as np

from kernbench.problems.kernel.conjugate import smallest_norm

cdef enum:
    BATCH = 256         # rows fetched together


cdef class Work:
    """Responses, and the bundle of subgradients; parameters are those of the reference."""

    cdef KernelRows rows
    cdef HingeLine line
    cdef SimplexQP programme
    cdef Py_ssize_t n, capacity, n_held, oldest     # subgradients: capacity, number kept, place of the next one
    cdef bint rkhs
    cdef double alpha
    cdef double[::1] y, weights, coef, direction, part, u, v, z, active, applied, norms, shares
    cdef double[::1] steps
    cdef Py_ssize_t[::1] wanted
    cdef double[:, ::1] g, h, parts, gram       # of the bundle: subgradients, their products with K, active parts

    def __init__(self, KernelRows rows, problem, rkhs, bundle_size, coef, direction, part):
        cdef Py_ssize_t n = problem.n, room = bundle_size - 1
        self.rows, self.n, self.capacity, self.rkhs = rows, n, room, rkhs
        self.alpha, self.y, self.weights = problem.alpha, problem.y, problem.weights
        self.line = HingeLine(problem.y, problem.weights, problem.alpha, 1.0, problem.fit_intercept)
        self.programme = SimplexQP(bundle_size)
        self.coef, self.direction, self.part = coef, direction, part
        self.u, self.v, self.z = np.zeros(n), np.zeros(n), np.zeros(n)
        self.active, self.applied = np.zeros(n), np.zeros(n)
        self.norms, self.shares = np.zeros(room + 1), np.zeros(room + 1)
        self.g, self.h, self.parts = np.zeros((room, n)), np.zeros((room, n)), np.zeros((room, n))
        self.gram = np.zeros((room + 1, room + 1))
        self.steps, self.wanted = np.empty(BATCH), np.empty(BATCH, dtype=np.intp)

    def matvec(self, a):
        """Return K @ a."""
        return self.rows.matvec(a)

    cdef void _aim(self) noexcept:
        cdef const double *d = &self.direction[0]
        self.line.set_line(&self.u[0], &self.v[0], dot(&self.coef[0], &self.u[0], self.n), dot(d, &self.u[0], self.n),
                      dot(d, &self.v[0], self.n))

    cdef double _inner(self, const double *a, const double *b, const double *Kb) noexcept:
        return dot(a, Kb if self.rkhs else b, self.n)

    cdef bint _apply_active(self, double deadline) except -1:
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
                if i < self.n - 1 and perf_counter() > deadline:
                    return False
        return True

    cdef int _append_subgradient(self, bint reset) except -1:
        """Add the current subgradient to the bundle, in place of the oldest one if it is full."""
        cdef:
            Py_ssize_t i, slot
            double alpha = self.alpha, scale = 1.0 / self.n
            double *g
            double *h
        if reset:
            self.n_held, self.oldest = 0, 0
        slot = self.oldest
        # Without the subgradient that is replaced, until the new one is complete: the products may raise.
        self.n_held = min(self.n_held, self.capacity - 1)
        g, h = &self.g[slot, 0], &self.h[slot, 0]
        self.parts[slot, :] = self.active
        for i in range(self.n):
            g[i] = alpha * self.coef[i] - scale * self.y[i] * self.weights[i] * self.active[i]
            h[i] = alpha * self.u[i] - scale * self.z[i]
        if not self.rkhs:
            self.g[slot, :] = self.h[slot, :]
            memset(h, 0, self.n * sizeof(double))
            self._combine_all(g, h)
        self.oldest = (slot + 1) % self.capacity
        self.n_held += 1
        if reset:
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
        with nogil:
            self.rows.fetch(&self.wanted[0], count, pointers)
            if self.rows.single:
                add_rows_float(<float **> pointers, &self.steps[0], count, 0, self.n, out)
            else:
                add_rows_double(<double **> pointers, &self.steps[0], count, 0, self.n, out)
        return 0

    cdef _combined(self, const double[::1] coef, double deadline):
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
                if i < self.n - 1 and perf_counter() > deadline:
                    return None
        return out

    cdef int _combine_all(self, const double *coef, double *out) except -1:
        """The same for few or no zeros, from the part of each row beyond the diagonal."""
        cdef:
            Py_ssize_t first = 0, count, q, room = min(<Py_ssize_t> BATCH, self.rows.capacity)
            void *pointers[BATCH]
        with nogil:
            while first < self.n:
                count = min(room, self.n - first)
                for q in range(count):
                    self.wanted[q] = first + q
                self.rows.fetch(&self.wanted[0], count, pointers)
                if self.rows.single:
                    add_symmetric_float(<float **> pointers, first, count, self.n, coef, out)
                else:
                    add_symmetric_double(<double **> pointers, first, count, self.n, coef, out)
                first += count
                answer_signals()
        return 0


def recompute(Work work, double deadline):
    """Recompute the responses, since recurrences accumulate rounding errors; return False if time ran out."""
    found = []
    for coef in (work.coef, work.direction, np.asarray(work.y) * np.asarray(work.weights) * np.asarray(work.applied)):
        responses = work._combined(coef, deadline)
        if responses is None:
            return False
        found.append(responses)
    work.u, work.v, work.z = found
    return True


def add_subgradient(Work work, bint reset, double deadline):
    """Add the subgradient ahead of the current point to the bundle, or with `reset` restart the bundle with it.

    Return False if time ran out.
    """
    if not work._apply_active(deadline):
        return False
    work._append_subgradient(reset)
    return True


def shorten(Work work):
    """Set the direction to minus the shortest vector in the convex hull of the bundle; return its length."""
    work._shorten()
    return sqrt(max(work._inner(&work.direction[0], &work.direction[0], &work.v[0]), 0.0))


def newest_length(Work work):
    """Return the length of the newest subgradient."""
    cdef Py_ssize_t newest = (work.oldest + work.capacity - 1) % work.capacity
    return sqrt(max(work._inner(&work.g[newest, 0], &work.g[newest, 0], &work.h[newest, 0]), 0.0))


def search(Work work, bint exact, double length, double c1, double c2):
    """Return the step along the direction: the minimiser, or a point with enough decrease and a flat slope."""
    work._aim()
    return work.line.exact(-1.0) if exact else work.line.wolfe(length, c1, c2)


def move(Work work, double t):
    """Add t times the direction to f."""
    mix(1.0, &work.coef[0], t, &work.direction[0], work.n)
    mix(1.0, &work.u[0], t, &work.v[0], work.n)


def value(Work work):
    """Return the objective and the best intercept."""
    work._aim()
    work.line.evaluate(0.0)
    return work.line.value, work.line.intercept
