"""Steps of stochastic dual coordinate ascent with kernel rows, a batch of visits at a time: the core of `sdca`.

The examples of a batch are drawn in advance. The kernel rows of those whose dual variable would move are fetched
together; their values within the batch are copied into a small matrix, on which the batch is processed:

* without an intercept one coordinate after the other moves to its best value. A move updates the responses of the rest
  of the batch at once; an example that has to move although its row was not fetched ends the batch early. So the
  iterates are those of one visit at a time. (Rows fetched but not needed are counted: they were computed.)
* with an intercept, the coordinates of a pair move together, so that the constraint stays satisfied;
* with `batch_size` the coordinates of the batch move together, each as if its curvature were a row sum of the matrix.

Then the rows of the variables that moved are added to all responses, in double precision, four rows to a pass, in
segments that fit into the first-level cache and do not depend on the number of threads.
"""

from cython.parallel cimport prange
from libc.math cimport fabs, INFINITY
from libc.stdlib cimport free
from libc.string cimport memcpy

from kernbench.kernels.engine._engine cimport allocate
from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float
from kernbench.losses._loss cimport loss_dual_coordinate
from kernbench.losses._margin cimport DualEnd, dual_curvature, dual_pair, dual_slope, pair_room

import numpy as np

cdef extern from "_pair_gains.h" nogil:
    void pair_gains "kb_pair_gains"(ptrdiff_t i, const double *row, double scale, const double *diagonal,
                                    const double *slopes, const double *f, const double *own, const double *grow,
                                    const double *shrink, ptrdiff_t n, double *gains)
    void move_pair "kb_move_pair"(const double *row_i, const double *row_j, double step, ptrdiff_t n, double *f)

cdef enum:
    STRETCH = 2048      # responses that a thread updates at a time

cdef double NO_CHANGE = 1e-13       # dual variables (or a variable and a bound) that differ by less count as equal
cdef double NO_VIOLATION = 1e-12    # batches that violate the optimality conditions by less are skipped
cdef double INSIDE = 1e-3           # partners are chosen by the curvature of psi this far inside its domain


def single_steps(Work work, const Py_ssize_t[::1] visits, Py_ssize_t offset, double[::1] dual, double[::1] responses,
                 long long[::1] visited):
    """Set the dual variable of each visited example to its best value; count them in `visited` as they are done."""
    cdef Py_ssize_t length
    work.dual, work.responses = dual, responses
    while visited[0] < visits.shape[0]:
        length = work.length(visits.shape[0], offset, visited[0])
        visited[0] += work._single_steps(visits[visited[0]:visited[0] + length])


def pair_steps(Work work, const Py_ssize_t[::1] visits, Py_ssize_t offset, double[::1] dual, double[::1] responses,
               long long[::1] visited):
    """Exchange mass between each visited example and its best partner in the batch; else as `single_steps`."""
    cdef Py_ssize_t length
    work.dual, work.responses = dual, responses
    while visited[0] < visits.shape[0]:
        length = work.length(visits.shape[0], offset, visited[0])
        work._pair_steps(visits[visited[0]:visited[0] + length])
        visited[0] += length


def batch_step(Work work, const Py_ssize_t[::1] batch, double[::1] dual, double[::1] responses):
    """Move the dual variables of a batch of different examples, all from the same responses."""
    work.dual, work.responses = dual, responses
    work._batch_step(batch)


cdef class Work:
    """Steps on batches, and memory for them; parameters are those of the reference."""

    cdef KernelRows rows
    cdef int code
    cdef double scale, upper, parameter
    cdef Py_ssize_t batch
    cdef const double[::1] y, weights, diagonal
    cdef double[::1] dual
    cdef double[::1] responses              # f(x_i), minus the targets of a regression
    cdef Py_ssize_t[::1] positions, members     # of a batch: candidates by visit (or by example), and back
    cdef double[:, ::1] block               # kernel values of candidates (rows) and visits or candidates (columns)
    cdef double[:, ::1] room                # work space for the arrays of a batch
    cdef double[::1] spare                  # copy of the responses while rows are added that do not all fit the cache

    def __init__(self, KernelRows rows, problem, scale, batch, largest):
        self.rows, self.scale, self.batch = rows, scale, batch
        self.code, self.parameter, self.upper = problem.loss.code, problem.loss.parameter, problem.loss.upper
        self.y, self.weights, self.diagonal = problem.y, problem.weights, rows.diagonal()
        self.positions, self.members = np.full(max(problem.n, batch), -1, dtype=np.intp), np.empty(batch, dtype=np.intp)
        self.block, self.room = np.empty((largest, largest)), np.empty((9, batch))
        self.spare = np.empty(problem.n if rows.capacity < batch else 0)

    @property
    def n_kernel_evaluations(self):
        return self.rows.n_evaluations

    cdef Py_ssize_t length(self, Py_ssize_t n_visits, Py_ssize_t offset, Py_ssize_t visited) noexcept nogil:
        """How many visits there are until the batch ends."""
        return min(n_visits - visited, self.batch - (offset + visited) % self.batch)

    # --- single coordinates --------------------------------------------------------------------------------------------

    cdef Py_ssize_t _single_steps(self, const Py_ssize_t[::1] batch) except -1:
        """Move the coordinates of `batch` up to the first that needs a row that was not fetched; return how many were
        visited."""
        cdef:
            Py_ssize_t length = batch.shape[0], k, l, i, position, m = 0
            double *f = &self.room[0, 0]
            double *steps = &self.room[1, 0]
            double *before = &self.room[2, 0]
            double best, step
        with nogil:
            for k in range(length):
                f[k] = self.responses[batch[k]]
                self.positions[k] = -1
                if self._wants_to_move(batch[k], f[k], &best):
                    self.positions[k] = m
                    self.members[m] = batch[k]
                    steps[m] = 0.0
                    m += 1
            if m:
                self._load(m, &batch[0], length)
            for k in range(length):
                i, position = batch[k], self.positions[k]
                if not self._wants_to_move(i, f[k], &best):
                    continue
                if position < 0:
                    length = k
                    break
                step = self.y[i] * self.weights[i] * (best - self.dual[i]) * self.scale
                before[position], self.dual[i] = self.dual[i], best
                steps[position] = step
                for l in range(k + 1, length):
                    f[l] += step * self.block[position, l]
            self._spread(m, steps, before)
        return length

    cdef int _batch_step(self, const Py_ssize_t[::1] batch) except -1:
        cdef:
            Py_ssize_t i, k, l, m = 0
            double *steps = &self.room[1, 0]
            double *before = &self.room[2, 0]
            double best, curvature
        with nogil:
            for k in range(batch.shape[0]):
                if self._wants_to_move(batch[k], self.responses[batch[k]], &best):
                    self.members[m] = batch[k]
                    m += 1
            self._load(m, &self.members[0], m)
            for k in range(m):
                i, curvature = self.members[k], 0.0
                for l in range(m):
                    curvature += self.weights[self.members[l]] * fabs(self.block[k, l])
                best = loss_dual_coordinate(self.code, self.parameter, self.dual[i], self.y[i] * self.responses[i],
                                            curvature * self.scale)
                steps[k] = self.y[i] * self.weights[i] * (best - self.dual[i]) * self.scale
                before[k], self.dual[i] = self.dual[i], best
            self._spread(m, steps, before)
        return 0

    cdef inline bint _wants_to_move(self, Py_ssize_t i, double response, double *best) noexcept nogil:
        cdef double a = self.dual[i]
        best[0] = loss_dual_coordinate(self.code, self.parameter, a, self.y[i] * response,
                                       self.weights[i] * self.diagonal[i] * self.scale)
        return fabs(best[0] - a) > NO_CHANGE * max(1.0, fabs(a))

    # --- pairs ---------------------------------------------------------------------------------------------------------

    cdef int _pair_steps(self, const Py_ssize_t[::1] batch) except -1:
        """Exchange mass between each example of the batch, in turn, and its best partner."""
        cdef:
            Py_ssize_t m, i, j, k
            double *f = &self.room[0, 0]
            double *steps = &self.room[1, 0]
            double *slopes = &self.room[2, 0]
            double *own = &self.room[3, 0]
            double *grow = &self.room[4, 0]
            double *shrink = &self.room[5, 0]
            double *diagonal = &self.room[6, 0]
            double *gains = &self.room[7, 0]
            double *a = &self.room[8, 0]
            double s, best
            DualEnd p, q
        with nogil:
            m = self._choose_candidates(batch, f)
            if m < 2:
                return 0
            self._load(m, &self.members[0], m)
            for k in range(m):
                f[k] = self.responses[self.members[k]]
                diagonal[k] = self.diagonal[self.members[k]]
                a[k] = self.dual[self.members[k]]
                self._describe(k, a[k], slopes, own, grow, shrink)
            for i in range(m):
                pair_gains(i, &self.block[i, 0], self.scale, diagonal, slopes, f, own, grow, shrink, m, gains)
                j, best = -1, 0.0
                for k in range(m):
                    if gains[k] > best:
                        j, best = k, gains[k]
                if j < 0:
                    continue
                p, q = self._end(i, a[i]), self._end(j, a[j])
                s = dual_pair(self.code, p, q, f[i] - f[j],
                              (diagonal[i] + diagonal[j] - 2.0 * self.block[i, j]) * self.scale)
                a[i] = self._in_domain(p.a + p.y * s / p.w)
                a[j] = self._in_domain(q.a - q.y * s / q.w)
                self._describe(i, a[i], slopes, own, grow, shrink)
                self._describe(j, a[j], slopes, own, grow, shrink)
                move_pair(&self.block[i, 0], &self.block[j, 0], s * self.scale, m, f)
            for k in range(m):
                i = self.members[k]
                steps[k] = self.y[i] * self.weights[i] * (a[k] - self.dual[i]) * self.scale
                gains[k], self.dual[i] = self.dual[i], a[k]
            self._spread(m, steps, gains)
        return 0

    cdef Py_ssize_t _choose_candidates(self, const Py_ssize_t[::1] batch, double *pull) noexcept nogil:
        """Put those of `batch` that can move into `members`, once each; return how many."""
        cdef:
            Py_ssize_t k, i, m = 0
            double top = -INFINITY, bottom = INFINITY
        for k in range(batch.shape[0]):
            i = batch[k]
            pull[k] = self.y[i] * dual_slope(self.code, self.dual[i]) - self.responses[i]
            self.positions[i] = -1
            if self._can_grow(i):
                top = max(top, pull[k])
            if self._can_shrink(i):
                bottom = min(bottom, pull[k])
        if not top - bottom > NO_VIOLATION:
            return 0
        for k in range(batch.shape[0]):
            i = batch[k]
            if self.positions[i] >= 0:
                continue  # uniform draws may repeat an example
            if (self._can_grow(i) or pull[k] <= top) and (self._can_shrink(i) or pull[k] >= bottom):
                self.positions[i] = m
                self.members[m] = i
                m += 1
        return m

    cdef inline bint _can_grow(self, Py_ssize_t i) noexcept nogil:
        return self.dual[i] < self.upper if self.y[i] > 0.0 else self.dual[i] > 0.0

    cdef inline bint _can_shrink(self, Py_ssize_t i) noexcept nogil:
        return self.dual[i] > 0.0 if self.y[i] > 0.0 else self.dual[i] < self.upper

    cdef inline DualEnd _end(self, Py_ssize_t k, double a) noexcept nogil:
        cdef DualEnd end
        end.a, end.y, end.w = a, self.y[self.members[k]], self.weights[self.members[k]]
        return end

    cdef inline void _describe(self, Py_ssize_t k, double a, double *slopes, double *own, double *grow,
                               double *shrink) noexcept nogil:
        """Update the data of candidate k that the search for partners uses, for the dual variable `a`."""
        cdef DualEnd end = self._end(k, a)
        slopes[k] = end.y * dual_slope(self.code, a)
        own[k] = dual_curvature(self.code, min(max(a, INSIDE), 1.0 - INSIDE)) / end.w
        grow[k], shrink[k] = pair_room(end, self.upper, True), pair_room(end, self.upper, False)

    cdef inline double _in_domain(self, double a) noexcept nogil:
        if a <= NO_CHANGE:
            return 0.0
        return a if self.upper - a > NO_CHANGE else self.upper

    # --- kernel rows ---------------------------------------------------------------------------------------------------

    cdef int _load(self, Py_ssize_t m, const Py_ssize_t *columns, Py_ssize_t n_columns) except -1 nogil:
        """Copy k(members[q], columns[l]) to block[q, l], as many rows at a time as the cache holds."""
        cdef:
            Py_ssize_t first = 0, count, q, l
            void **pointers = <void **> allocate(m * sizeof(void *))
        try:
            while first < m:
                count = min(m - first, self.rows.capacity)
                self.rows.fetch(&self.members[first], count, pointers)
                for q in range(count):
                    if self.rows.single:
                        for l in range(n_columns):
                            self.block[first + q, l] = (<float *> pointers[q])[columns[l]]
                    else:
                        for l in range(n_columns):
                            self.block[first + q, l] = (<double *> pointers[q])[columns[l]]
                first += count
        finally:
            free(pointers)
        return 0

    cdef int _spread(self, Py_ssize_t m, double *steps, double *before) except -1 nogil:
        """responses += sum_q steps[q] K[members[q]]; the lists are packed on the way.

        If rows cannot be fetched, for instance because Ctrl-C interrupts a kernel that is a Python function, the dual
        variables get the values from `before`, and the responses stay unchanged.
        """
        cdef:
            Py_ssize_t first = 0, count, q, t, n_moved = 0, n = self.y.shape[0]
            Py_ssize_t n_tasks = (n + STRETCH - 1) // STRETCH
            bint single = self.rows.single
            double *f = &self.responses[0]
            void **pointers = NULL
            bint at_once
        for q in range(m):  # each row is a pass over memory: skip those that did not move
            if steps[q] != 0.0:
                self.members[n_moved], steps[n_moved], before[n_moved] = self.members[q], steps[q], before[q]
                n_moved += 1
        at_once = n_moved <= self.rows.capacity
        if not at_once:
            f = &self.spare[0]
            memcpy(f, &self.responses[0], n * sizeof(double))
        try:
            pointers = <void **> allocate(n_moved * sizeof(void *))
            while first < n_moved:
                count = min(n_moved - first, self.rows.capacity)
                self.rows.fetch(&self.members[first], count, pointers)
                for t in prange(n_tasks, schedule="static", use_threads_if=n * count > 200000):
                    if single:
                        add_rows_float(<float **> pointers, steps + first, count, t * STRETCH,
                                       min(n, (t + 1) * STRETCH), f)
                    else:
                        add_rows_double(<double **> pointers, steps + first, count, t * STRETCH,
                                        min(n, (t + 1) * STRETCH), f)
                first += count
            if not at_once:
                memcpy(&self.responses[0], f, n * sizeof(double))
        finally:
            free(pointers)
            if first < n_moved:
                for q in range(n_moved - 1, -1, -1):  # uniform draws may repeat an example
                    self.dual[self.members[q]] = before[q]
        return 0
