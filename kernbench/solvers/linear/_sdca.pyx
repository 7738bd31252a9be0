"""Walks of dual coordinate ascent over the rows of explicit features; the loop is in _dual_steps.h."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from kernbench.losses._loss cimport KB_SQUARED_ERROR
from kernbench.solvers.design._design cimport FeatureDesign
from kernbench.solvers.linear._rows cimport row_add, row_dot

import numpy as np

cdef extern from "_dual_steps.h" nogil:
    ctypedef struct Sample "kb_sample":
        double a, curvature, push
        int64_t start

    ctypedef struct Epoch "kb_epoch":
        Py_ssize_t active, position
        double upper, lower, largest, smallest, residual
        long long n_updates
        double parameter
        const double *targets

    void squared_norms_float(const float *values, const int64_t *starts, Py_ssize_t n, double *out)
    void squared_norms_double(const double *values, const int64_t *starts, Py_ssize_t n, double *out)
    Py_ssize_t sparse_walk_float(const float *values, const int32_t *columns, Sample *samples, int64_t *order, double *w,
                                 Epoch *epoch, Py_ssize_t count, int loss, int shrinking)
    Py_ssize_t sparse_walk_double(const double *values, const int32_t *columns, Sample *samples, int64_t *order,
                                  double *w, Epoch *epoch, Py_ssize_t count, int loss, int shrinking)
    Py_ssize_t dense_walk_float(const float *values, Py_ssize_t d, Sample *samples, int64_t *order, double *w,
                                Epoch *epoch, Py_ssize_t count, int loss, int shrinking)
    Py_ssize_t dense_walk_double(const double *values, Py_ssize_t d, Sample *samples, int64_t *order, double *w,
                                 Epoch *epoch, Py_ssize_t count, int loss, int shrinking)
    double dual_step "kb_dual_step"(Sample *s, double margin, int loss, int shrinking, Epoch *e, int *shrunk)
    double residual_step "kb_residual_step"(Sample *s, double r, int loss, int shrinking, Epoch *e, int *shrunk)
    const double KB_STILL
    double dual_sum "kb_dual_sum"(const Sample *samples, const double *targets, Py_ssize_t n, int loss, double p)

STILL = KB_STILL


def walk(Work work, Py_ssize_t count):
    """Visit up to `count` rows of this epoch; return how many."""
    cdef Py_ssize_t walked
    with nogil:
        walked = work._walk(count)
    work.n_visits += walked
    return walked


def batch_step(Work work, const int64_t[::1] rows, const double[::1] curvatures):
    """Visit the next rows of this epoch together, from the same weights; `curvatures` are those of their steps."""
    cdef double[::1] margins = np.empty(rows.shape[0])
    with nogil:
        work._batch_step(rows, curvatures, margins)
    work.n_visits += rows.shape[0]


cdef class Work:
    """Dual variables, weights, and what a walk over rows needs and finds; parameters and attributes are those of the reference."""

    cdef readonly object coef
    cdef object problem, store, order_array
    cdef FeatureDesign design
    cdef bint shrinking
    cdef int loss
    cdef long long n_visits
    cdef double alpha
    cdef Epoch epoch
    cdef Sample *samples
    cdef int64_t[::1] indices
    cdef double[::1] w, targets

    def __init__(self, problem, bint shrinking):
        self.problem, self.design, self.loss, self.shrinking = problem, problem.design, problem.loss.code, shrinking
        self.alpha = problem.alpha
        self._lay_out()
        self.coef = self.w = np.zeros(self.design.n_coef)
        self.targets = problem.targets
        self.epoch.targets, self.epoch.parameter = &self.targets[0], problem.loss.parameter
        self.begin()
        self.epoch.position = -1

    def _lay_out(self):
        """Set the data of each row; the norms are the first n inner products."""
        cdef Py_ssize_t n = self.problem.n
        cdef double[::1] norms = np.empty(n)
        cdef int64_t[::1] starts
        store = np.zeros((n + 1, 4))
        if self.design.is_sparse:
            starts = np.array(<const int64_t[:n + 1]> self.design.starts)
        else:
            starts = np.arange(n + 1, dtype=np.int64) * self.design.n_coef
        if self.design.single:
            squared_norms_float(<const float *> self.design.values, &starts[0], n, &norms[0])
        else:
            squared_norms_double(<const double *> self.design.values, &starts[0], n, &norms[0])
        store[:n, 2] = self.problem.weights * self.problem.y / (self.problem.alpha * n)
        store[:n, 1] = np.abs(store[:n, 2]) * norms
        store.view(np.int64)[:, 3] = starts
        self.store = store
        self.samples = <Sample *> <size_t> store.ctypes.data

    def begin(self):
        """Begin an epoch."""
        self.epoch.position = 0
        self.epoch.largest, self.epoch.smallest, self.epoch.residual = -INFINITY, INFINITY, 0.0

    def end(self):
        """End an epoch: return what the gap would be if no variable had moved in it, and whether none did."""
        self.epoch.position = -1
        return self.alpha * self.epoch.residual, self.epoch.largest <= KB_STILL and self.epoch.smallest >= -KB_STILL

    def narrow(self):
        """Set the thresholds of shrinking for the next epoch."""
        self.epoch.upper = self.epoch.largest if self.epoch.largest > KB_STILL else INFINITY
        self.epoch.lower = self.epoch.smallest if self.epoch.smallest < -KB_STILL else -INFINITY

    def is_over(self):
        """Return whether no epoch has begun, or the present one has ended."""
        return self.epoch.position < 0 or self.epoch.position == self.epoch.active

    def active_rows(self):
        """Return those of `order` that are visited."""
        return self.order_array[:self.epoch.active]

    def start_from(self, dual):
        """Set the dual variables, and the weights they stand for."""
        self.store[:-1, 0] = dual
        self.coef = self.w = self.design.combine(self.store[:-1, 2] * self.store[:-1, 0])

    cdef Py_ssize_t _walk(self, Py_ssize_t count) noexcept nogil:
        if self.design.is_sparse:
            if self.design.single:
                return sparse_walk_float(<const float *> self.design.values, self.design.columns, self.samples,
                                         &self.indices[0], &self.w[0], &self.epoch, count, self.loss, self.shrinking)
            return sparse_walk_double(<const double *> self.design.values, self.design.columns, self.samples,
                                      &self.indices[0], &self.w[0], &self.epoch, count, self.loss, self.shrinking)
        if self.design.single:
            return dense_walk_float(<const float *> self.design.values, self.design.n_coef, self.samples,
                                    &self.indices[0], &self.w[0], &self.epoch, count, self.loss, self.shrinking)
        return dense_walk_double(<const double *> self.design.values, self.design.n_coef, self.samples,
                                 &self.indices[0], &self.w[0], &self.epoch, count, self.loss, self.shrinking)

    cdef void _batch_step(self, const int64_t[::1] rows, const double[::1] curvatures, double[::1] margins) noexcept nogil:
        cdef:
            Py_ssize_t k, i
            Sample *s
            double own, step
            int shrunk = 0
        for k in range(rows.shape[0]):
            i = rows[k]
            margins[k] = row_dot(self.design, i, &self.w[0])
            margins[k] = (-margins[k] if self.samples[i].push < 0.0 else margins[k]) - self.targets[i]
        for k in range(rows.shape[0]):
            i, s = rows[k], self.samples + rows[k]
            own, s.curvature = s.curvature, curvatures[k]
            if self.loss < KB_SQUARED_ERROR:
                step = dual_step(s, margins[k], self.loss, False, &self.epoch, &shrunk)
            else:
                step = residual_step(s, margins[k], self.loss, False, &self.epoch, &shrunk)
            s.curvature = own
            if step != 0.0:
                row_add(self.design, i, step * s.push, &self.w[0])
                self.epoch.n_updates += 1
        self.epoch.position += rows.shape[0]

    def dual_objective(self):
        """Return the dual objective."""
        cdef Py_ssize_t n = self.design.n_samples
        cdef double total
        with nogil:
            total = dual_sum(self.samples, self.epoch.targets, n, self.loss, self.epoch.parameter)
        return self.alpha * (total - 0.5 * float(self.coef @ self.coef))

    @property
    def dual(self):
        return self.store[:-1, 0]

    @property
    def order(self):
        return self.order_array

    @order.setter
    def order(self, order):
        self.order_array = self.indices = order

    @property
    def n_products(self):
        return self.n_visits + self.epoch.n_updates

    @property
    def residual(self):
        return self.alpha * self.problem.n * self.epoch.residual

    @residual.setter
    def residual(self, double residual):
        self.epoch.residual = residual / (self.alpha * self.problem.n)

    @property
    def active(self):
        return self.epoch.active

    @active.setter
    def active(self, Py_ssize_t value):
        self.epoch.active = value

    @property
    def position(self):
        return self.epoch.position

    @position.setter
    def position(self, Py_ssize_t value):
        self.epoch.position = value

    @property
    def upper(self):
        return self.epoch.upper

    @upper.setter
    def upper(self, double value):
        self.epoch.upper = value

    @property
    def lower(self):
        return self.epoch.lower

    @lower.setter
    def lower(self, double value):
        self.epoch.lower = value

    @property
    def largest(self):
        return self.epoch.largest

    @largest.setter
    def largest(self, double value):
        self.epoch.largest = value

    @property
    def smallest(self):
        return self.epoch.smallest

    @smallest.setter
    def smallest(self, double value):
        self.epoch.smallest = value
