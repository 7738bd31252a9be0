"""The cuts of a bundle, and the lower bound that follows from them; the reference derives it."""

from kernbench.solvers.design._design cimport dot
from kernbench.solvers.bundle._risk cimport refuse_nan

import numpy as np

cdef enum:
    IDLE = 20              # bounds after which a cut of multiplier zero is dropped


cdef class Cuts:
    """A bounded set of cuts.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
    capacity : int
        Largest number of cuts kept.

    Attributes
    ----------
    n_cuts : int
    kept : int
        The cut of the best point, never dropped; -1 if there is none.
    """

    def __init__(self, Design design, capacity):
        self.design, self.capacity, self.kept = design, capacity, -1
        self.qp = SimplexQP(capacity)
        # Memory that is reserved for cuts that are never added is not touched, so it costs nothing.
        self.elements = np.empty((capacity, design.n_coef))
        self.scores = np.empty((capacity if design.is_kernel else 1, design.n_samples))
        self.products, self.Q = np.empty((capacity, capacity)), np.empty((capacity, capacity))
        self.offsets, self.multipliers, self.shares = np.empty(capacity), np.zeros(capacity), np.empty(capacity)
        self.sum, self.sum_scores = np.zeros(design.n_coef), np.zeros(design.n_samples if design.is_kernel else 1)
        self.idle = np.zeros(capacity, dtype=np.intp)

    def element(self, Py_ssize_t k):
        """Return a_k, not a copy."""
        return np.asarray(self.elements[k])

    def append(self, const double[::1] g, double offset):
        """Add the cut sum_i g_i f(x_i) + offset, with slopes g at the samples."""
        with nogil:
            self._append(&g[0], offset)

    def add_linear(self, const double[::1] g, double offset):
        """Take into account that <g, s> + offset has been added to the risk, for scores s."""
        with nogil:
            self._add_linear(&g[0], offset)

    def maximise(self, double alpha):
        """Find the multipliers of the cuts and their combination; return the lower bound on the objective."""
        cdef double bound
        with nogil:
            bound = self._maximise(alpha)
        return bound

    def forget(self):
        """Drop all cuts."""
        self.n_cuts, self.kept = 0, -1

    cdef int _append(self, const double *g, double offset) except -1 nogil:
        cdef Py_ssize_t k, last
        cdef double *element
        cdef double *scores
        self._make_room()
        last = self.n_cuts
        element, scores = &self.elements[last, 0], &self.scores[last if self.design.is_kernel else 0, 0]
        self.design.gather_up(g, element)
        if self.design.is_kernel:
            self.design.score(element, scores)
        for k in range(last + 1):
            self.products[k, last] = self.design.inner(&self.elements[k, 0], element, scores)
            self.products[last, k] = self.products[k, last]
        self.offsets[last], self.multipliers[last], self.idle[last] = offset, 0.0, 0
        self.n_cuts += 1
        return refuse_nan(self.products[last, last])

    cdef int _add_linear(self, const double *g, double offset) except -1 nogil:
        cdef:
            Py_ssize_t k, l, m = self.n_cuts
            double *element = &self.sum[0]
            double *scores = &self.sum_scores[0]
        self.design.gather_up(g, element)
        if self.design.is_kernel:
            self.design.score(element, scores)
        for k in range(m):
            self.offsets[k] += offset
            for l in range(self.elements.shape[1]):
                self.elements[k, l] += element[l]
            if self.design.is_kernel:
                for l in range(self.scores.shape[1]):
                    self.scores[k, l] += scores[l]
        for k in range(m):
            for l in range(k + 1):
                self.products[k, l] = self.design.inner(&self.elements[l, 0], &self.elements[k, 0],
                                                        &self.scores[k if self.design.is_kernel else 0, 0])
                self.products[l, k] = self.products[k, l]
        self._sum_up()
        return 0

    cdef double _maximise(self, double alpha) noexcept nogil:
        cdef Py_ssize_t k, l, m = self.n_cuts
        cdef double square
        for k in range(m):
            for l in range(m):
                self.Q[k, l] = self.products[k, l] / alpha
        self.qp.solve(&self.Q[0, 0], self.capacity, &self.offsets[0], m, &self.multipliers[0])
        self._sum_up()
        square = self.design.inner(&self.sum[0], &self.sum[0], &self.sum_scores[0])
        return dot(&self.multipliers[0], &self.offsets[0], m) - square / (2.0 * alpha)

    cdef void _sum_up(self) noexcept nogil:
        weighted_sum(self.elements, self.multipliers, self.n_cuts, 1.0, &self.sum[0])
        if self.design.is_kernel:
            weighted_sum(self.scores, self.multipliers, self.n_cuts, 1.0, &self.sum_scores[0])

    def drop_idle(self):
        """Count the bounds in which each cut had multiplier zero; drop cuts that have been idle for too long."""
        cdef Py_ssize_t k
        for k in range(self.n_cuts):
            self.idle[k] = 0 if self.multipliers[k] > 0.0 else self.idle[k] + 1
        for k in range(self.n_cuts - 1, -1, -1):
            if self.idle[k] > IDLE and k != self.kept:
                self._drop(k)

    cdef void _make_room(self) noexcept nogil:
        cdef Py_ssize_t k, m = self.n_cuts, longest = -1, least = -1, second = -1
        cdef double square = 0.0
        cdef double[::1] u = self.multipliers
        if m < self.capacity:
            return
        for k in range(m):
            if k == self.kept:
                continue
            if longest < 0 or self.idle[k] > self.idle[longest]:
                longest = k
            if least < 0 or u[k] < u[least]:
                least, second = k, least
            elif second < 0 or u[k] < u[second]:
                second = k
        if self.idle[longest] > 0:
            self._drop(longest)
            return
        # The combination of all cuts replaces the cut with the smallest multiplier; the one with the second smallest
        # multiplier is dropped.
        for k in range(m):
            self.shares[k] = dot(&self.products[k, 0], &u[0], m)
            square += u[k] * self.shares[k]
        self.offsets[least] = dot(&u[0], &self.offsets[0], m)
        _sum_into(self.elements, u, m, least)
        if self.design.is_kernel:
            _sum_into(self.scores, u, m, least)
        for k in range(m):
            self.products[k, least] = self.products[least, k] = self.shares[k]
            u[k] = 0.0
        self.products[least, least] = square
        u[least] = 1.0
        self._drop(second)

    cdef void _drop(self, Py_ssize_t k) noexcept nogil:
        """Drop cut k; the last one takes its place."""
        cdef Py_ssize_t l, last = self.n_cuts - 1
        self.n_cuts = last
        if k == last:
            return
        self.elements[k, :] = self.elements[last, :]
        if self.design.is_kernel:
            self.scores[k, :] = self.scores[last, :]
        self.offsets[k], self.multipliers[k], self.idle[k] = self.offsets[last], self.multipliers[last], self.idle[last]
        for l in range(last):
            self.products[k, l] = self.products[l, k] = self.products[last, l]
        self.products[k, k] = self.products[last, last]
        if self.kept == last:
            self.kept = k

    def state(self):
        """Return the cuts as arrays, for a solution."""
        m = self.n_cuts
        state = {"cuts": np.array(self.elements[:m]), "offsets": np.array(self.offsets[:m]),
                 "multipliers": np.array(self.multipliers[:m]), "idle": np.array(self.idle[:m])}
        return state | ({"cut_scores": np.array(self.scores[:m])} if self.design.is_kernel else {})

    def load(self, state):
        """Take cuts from the state of a solution; return whether there were any and they all fit."""
        m = len(state["cuts"])
        if not 0 < m <= self.capacity or state["cuts"].shape[1] != self.design.n_coef:
            return False
        scores = state["cut_scores" if self.design.is_kernel else "cuts"]
        for kept, values in (
            (self.elements, state["cuts"]), (self.offsets, state["offsets"]), (self.multipliers, state["multipliers"]),
            (self.idle, state["idle"]), (self.products[:, :m], state["cuts"] @ scores.T),
        ):
            np.asarray(kept)[:m] = values
        if self.design.is_kernel:
            np.asarray(self.scores)[:m] = scores
        self.n_cuts = m
        self._sum_up()
        return True


cdef void weighted_sum(const double[:, ::1] rows, const double[::1] u, Py_ssize_t m, double scale,
                       double *out) noexcept nogil:
    cdef Py_ssize_t k, l, d = rows.shape[1]
    cdef double share
    for l in range(d):
        out[l] = 0.0
    for k in range(m):
        share = scale * u[k]
        if share != 0.0:
            for l in range(d):
                out[l] += share * rows[k, l]


cdef void _sum_into(double[:, ::1] rows, const double[::1] u, Py_ssize_t m, Py_ssize_t where) noexcept nogil:
    """rows_where = sum_k u_k rows_k."""
    cdef Py_ssize_t k, l
    for l in range(rows.shape[1]):
        rows[where, l] *= u[where]
    for k in range(m):
        if k != where and u[k] != 0.0:
            for l in range(rows.shape[1]):
                rows[where, l] += u[k] * rows[k, l]
