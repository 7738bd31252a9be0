"""Walks along drawn examples, for the cores of the online methods of the kernel SVM.

These methods keep the responses f(x_i) of all examples, draw an example, and may add a multiple of its kernel row to
the responses (a step). A single kernel row costs five to ten times its share of a batch. So a `Walk` processes the next
draws together:

    open      copy the responses of the next draws
    want      for each draw, the solver states how far it is from making a step at the present f
    fetch     fetch, in one batch, the rows of the draws that would make a step, and of those most likely to
    add       draw by draw, update the responses of the remaining draws by each step
    close     add the rows of all steps to all responses

A draw that makes a step but has no row ends the walk; the next walk begins with it. The distance from a step up to
which rows are fetched ahead is adapted: unused rows decrease it, walks that ended early increase it.
"""

from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float

import numpy as np

# Factors by which this distance is adapted. A further fetch costs as much as four (sparse) to eight more rows in the
# present one, so a walk that ends early balances four unused rows: 1.5 * 0.9^4 = 1.
cdef double WIDER = 1.5, NARROWER = 0.90, NARROWEST = 1e-3
cdef double AT_RISK = -1.0     # mark of a row fetched for a step that may not be made

cdef enum:
    MOST = 32       # rows computed together: with fewer, they are chosen by a more recent f, and fewer stay unused
    FIRST = 32      # draws of the first walk, doubled for each later one, since the first steps change f most


cdef class Walk:
    """Steps on drawn examples, with their kernel rows fetched together."""

    def __init__(self, KernelRows rows):
        self.rows, self.n, self.slack, self.ahead = rows, rows.n_rows, 0.25, FIRST
        self.wanted, self.place, self.slots = (np.empty(BATCH, dtype=np.intp) for _ in range(3))
        self.local, self.room, self.steps, self.later = (np.empty(BATCH) for _ in range(4))

    @property
    def n_kernel_evaluations(self):
        """Kernel values computed so far."""
        return self.rows.n_evaluations

    @property
    def n_inner_products(self):
        """The same, 0 where the matrix is given."""
        return 0 if self.rows.in_place else self.rows.n_evaluations

    cdef Py_ssize_t open(self, const Py_ssize_t *drawn, Py_ssize_t length, const double *responses) noexcept nogil:
        """Begin with the first of the `length` draws; return how many of them belong to this walk."""
        cdef Py_ssize_t k
        self.length = min(length, self.ahead)
        self.drawn, self.n_wanted, self.n_missing, self.refused = drawn, 0, 0, self.length
        for k in range(self.length):
            self.local[k] = responses[drawn[k]]
            self.place[k] = -1
        return self.length

    cdef void want(self, Py_ssize_t k, double room) noexcept nogil:
        """Register draw k, which would make a step now (`room` <= 0) or after a change of its response by `room`."""
        self.room[k] = room
        if room <= 0.0 and k < self.refused and not self._take(k):
            self.refused = k

    cdef bint _take(self, Py_ssize_t k) noexcept nogil:
        """Whether another row, that of draw k, can be fetched."""
        cdef bint missing = not self.rows.holds(self.drawn[k])
        if self.n_wanted == self.rows.capacity or self.n_missing + missing > MOST:
            return False
        self.n_missing += missing
        self.place[k] = self.n_wanted
        self.wanted[self.n_wanted] = self.drawn[k]
        self.steps[self.n_wanted] = self.later[self.n_wanted] = 0.0
        self.n_wanted += 1
        return True

    cdef int fetch(self) except -1 nogil:
        """Fetch the rows of all draws that would make a step.

        If any of them has to be computed, the rows of draws that are close to a step are fetched as well.
        """
        cdef Py_ssize_t k
        cdef bint computes = self.n_missing > 0, missing
        for k in range(self.length):
            missing = not self.rows.holds(self.drawn[k])
            if self.place[k] >= 0 or missing and not (computes and k < self.refused and self.room[k] <= self.slack):
                continue
            if self._take(k) and missing:
                self.later[self.place[k]] = AT_RISK
        if self.n_wanted:
            self.rows.fetch(&self.wanted[0], self.n_wanted, <void **> &self.slots[0])
        return 0

    cdef bint has(self, Py_ssize_t k) noexcept nogil:
        """Whether the row of draw k has been fetched."""
        return self.place[k] >= 0

    cdef void add(self, Py_ssize_t k, double step, double passed) noexcept nogil:
        """Add `step` times the row of draw k; `passed` is the sum of the weights of the previous iterates."""
        cdef Py_ssize_t q = self.place[k], l
        cdef const float *single
        cdef const double *double_
        self.steps[q] = step
        self.later[q] = -step * passed
        if self.rows.single:
            single = <const float *> self.slots[q]
            for l in range(k + 1, self.length):
                self.local[l] += step * single[self.drawn[l]]
        else:
            double_ = <const double *> self.slots[q]
            for l in range(k + 1, self.length):
                self.local[l] += step * double_[self.drawn[l]]

    cdef void close(self, Py_ssize_t n_done, double *responses) noexcept nogil:
        """Add the steps of the first `n_done` draws to all responses."""
        cdef Py_ssize_t k, q, n_used = 0
        for k in range(n_done):
            q = self.place[k]
            if q >= 0 and self.steps[q] == 0.0 and self.later[q] == AT_RISK:
                self.slack *= NARROWER
        for q in range(self.n_wanted):
            if self.steps[q] == 0.0:  # each row is a pass over memory: skip rows without a step
                continue
            self.steps[n_used], self.later[n_used] = self.steps[q], self.later[q]
            self.wanted[n_used], self.slots[n_used] = self.wanted[q], self.slots[q]
            n_used += 1
        if n_done < self.length and self.room[n_done] > 0.0:  # a step that was not expected
            self.slack *= WIDER
        self.slack = max(self.slack, NARROWEST)
        self.ahead = min(BATCH, 2 * self.ahead)
        self.n_wanted = n_used
        self.n_steps += n_used
        self._add_rows(&self.steps[0], responses)
        self.n_walks += 1

    def add_rows(self, const Py_ssize_t[::1] members, const double[::1] steps, double[::1] responses):
        """Add steps[k] times the row of members[k] to all responses; rows whose step is 0 are not fetched."""
        cdef Py_ssize_t k = 0, most = min(<Py_ssize_t> BATCH, self.rows.capacity)
        with nogil:
            while k < members.shape[0]:
                self.n_wanted = 0
                while k < members.shape[0] and self.n_wanted < most:
                    if steps[k] != 0.0:
                        self.wanted[self.n_wanted], self.steps[self.n_wanted] = members[k], steps[k]
                        self.n_wanted += 1
                    k += 1
                if self.n_wanted:
                    self.rows.fetch(&self.wanted[0], self.n_wanted, <void **> &self.slots[0])
                    self._add_rows(&self.steps[0], &responses[0])
                    self.n_steps += self.n_wanted

    cdef void add_sums(self, double share, const double *y, const double *coef, double *coef_sums,
                       const double *responses, double *response_sums) noexcept nogil:
        """After `close`: sums += the weighted iterates of this walk; `share` is the sum of their weights.

        An iterate is the last one minus the steps after it. So the sum is share times the last iterate, minus s p for
        each step of size s made when the weights had the sum p. Weights include the scale of the iterates; `coef` is
        without labels.
        """
        cdef Py_ssize_t i, q
        for i in range(self.n):
            coef_sums[i] += share * coef[i]
            response_sums[i] += share * responses[i]
        for q in range(self.n_wanted):
            coef_sums[self.wanted[q]] += y[self.wanted[q]] * self.later[q]
        self._add_rows(&self.later[0], response_sums)

    cdef void _add_rows(self, const double *steps, double *target) noexcept nogil:
        if self.n_wanted == 0:
            return
        if self.rows.single:
            add_rows_float(<float **> &self.slots[0], steps, self.n_wanted, 0, self.n, target)
        else:
            add_rows_double(<double **> &self.slots[0], steps, self.n_wanted, 0, self.n, target)
