"""Iterations of stochastic conjugate subgradients: the core of `scs`.

Products that are already known are not computed again:

* responses u of f and v of the direction follow f and the direction by recurrences;
* Q(y w a) for the subgradient changes by the rows of the examples that crossed the margin since the last iteration;
* new examples have coefficient 0, so only their own responses are computed;
* with few rows the responses of all are kept, so that those of a validation sample are only looked up;
* with many rows, validation examples in the sample have known responses, and the kernel values of the others are used
  tile by tile and never stored.

With lengths in the norm of the kernel's space, an iteration on a sample of size s takes O(s) work, a kernel row for
each example that crossed the margin, and the responses of validation examples that are not known yet. With Euclidean
lengths of coefficients it also needs one product with the kernel matrix of the sample.
"""

from libc.math cimport sqrt
from libc.string cimport memset

from kernbench.solvers.kernel.conjugate._hinge_line cimport HingeLine, dot, mix
from kernbench.solvers.kernel.conjugate._sample_matrix cimport SampleMatrix
from kernbench.solvers.kernel.conjugate._validation cimport ValidationLoss

import numpy as np

from kernbench.problems.kernel.conjugate import smallest_norm
from kernbench.solvers.kernel.conjugate._sample_matrix import products


cdef class Work:
    """The sample, its kernel matrix and responses; parameters are those of the reference."""

    cdef readonly object sample
    cdef readonly Py_ssize_t size
    cdef object source, watched
    cdef SampleMatrix matrix
    cdef HingeLine line
    cdef ValidationLoss validation
    cdef Py_ssize_t held
    cdef bint fit_intercept, rkhs, watches_all
    cdef double alpha, share, at_zero, at_t     # intercepts before and after the step that `predict` looked at
    cdef double[::1] y, weights                                  # of the sample
    cdef double[::1] coef, direction, part, active, applied, g   # one entry per example of the sample
    cdef double[::1] u, v, z, h, hh                              # responses at [watched | sample]

    def __init__(self, source, alpha, fit_intercept, rkhs, coef, direction, part, watched, watches_all):
        cdef Py_ssize_t cap = len(coef)
        self.source, self.alpha, self.fit_intercept, self.rkhs = source, alpha, fit_intercept, rkhs
        self.share, self.watched, self.held, self.watches_all = source.share, watched, len(watched), watches_all
        self.matrix = SampleMatrix(cap, self.held, source.dtype)
        self.sample = np.empty(0, dtype=np.intp)
        self.validation = ValidationLoss(source)
        self.validation.place(watched, 0)
        self.coef, self.direction, self.part = coef, direction, part
        self.active, self.applied, self.g = np.zeros((3, cap))
        self.u, self.v, self.z, self.h, self.hh = np.zeros((5, self.held + cap))

    def matvec(self, a):
        """Return the kernel matrix of the sample times a."""
        return self.matrix.matvec(a)

    def responses(self):
        """Return f at the sample, kept by recurrences."""
        return np.array(self.u)[self.held : self.held + self.size]

    cdef void _aim(self) noexcept:
        cdef:
            const double *u = &self.u[self.held]
            const double *v = &self.v[self.held]
            const double *d = &self.direction[0]
        self.line.set_line(u, v, dot(&self.coef[0], u, self.size), dot(d, u, self.size), dot(d, v, self.size))

    def _signed(self):
        return np.asarray(self.y) * np.asarray(self.weights) * np.asarray(self.applied)[: self.size]

    def _responses_of(self, ids):
        """Return f and the direction at ids, shape (n, 2), by their kernel values."""
        pair = np.column_stack([np.asarray(self.coef)[: self.size], np.asarray(self.direction)[: self.size]])
        used = pair.any(axis=1)
        if used.all():
            return products(self.source, ids, self.sample, pair)
        return products(self.source, ids, self.sample[used], pair[used])

    def _drop_watched(self):
        """Stop watching rows once all are in the sample: their responses need not be kept twice."""
        self.matrix.drop_held()
        self.u, self.v, self.z = self.u[self.held :], self.v[self.held :], self.z[self.held :]
        self.held, self.watched, self.watches_all = 0, self.watched[:0], False
        self.validation.place(self.sample, 0)


def append(Work work, ids):
    """Add examples of coefficient 0 to the sample."""
    cdef Py_ssize_t old = work.size, k = len(ids), j, column
    cdef double[::1] signed
    joined = np.concatenate([work.sample, ids])
    if work.watches_all:
        block = work.source.block(ids, work.watched)
        work.matrix.append(np.hstack([block, block[:, work.validation.columns_of(joined)]]))
    else:
        work.matrix.append(work.source.block(ids, np.concatenate([work.watched, joined])))
        work.validation.place(ids, work.held + old)
    work.sample, work.size = joined, old + k
    work.y, work.weights = work.source.y[joined], work.source.weights[joined]
    work.line = HingeLine(work.y, work.weights, work.alpha, work.share, work.fit_intercept)
    signed = work._signed()
    for j in range(old, work.size):
        column = work.held + j
        work.u[column] = work.matrix.dot_row(j, work.held, &work.coef[0], old)
        work.v[column] = work.matrix.dot_row(j, work.held, &work.direction[0], old)
        work.z[column] = work.matrix.dot_row(j, work.held, &signed[0], old)
    if work.watches_all and work.source.complete(joined):
        work._drop_watched()


def turn(Work work, bint started):
    """Combine the direction, if there is one, with minus the subgradient; return the lengths of both."""
    cdef:
        Py_ssize_t i, s = work.size, columns = work.held + s
        double scale = work.share / s, mu = 0.0, gg, dd, gd, length
        double *h = &work.h[0]
        double *hs = h + work.held
        double *vs = &work.v[work.held]
        double *g = &work.g[0]
        double *d = &work.direction[0]
    work._aim()
    work.line.active_part(&work.active[0])
    for i in range(s):  # the change of y w a, and its rows, for z = Q(y w a)
        g[i] = work.y[i] * work.weights[i] * (work.active[i] - work.applied[i])
        work.applied[i] = work.active[i]
    work.matrix.combine(g, s, &work.z[0])
    for i in range(columns):
        h[i] = work.alpha * work.u[i] - scale * work.z[i]
    if work.rkhs:
        for i in range(s):
            g[i] = work.alpha * work.coef[i] - scale * work.y[i] * work.weights[i] * work.active[i]
        gg, gd, dd = dot(g, hs, s), dot(g, vs, s), dot(d, vs, s)
    else:
        for i in range(s):
            g[i] = hs[i]
        h = &work.hh[0]
        memset(h, 0, columns * sizeof(double))
        work.matrix.combine_all(g, h)
        gg, gd, dd = dot(g, g, s), dot(g, d, s), dot(d, d, s)
    if started:
        mu = smallest_norm(dd, gg, -gd)
    mix(mu, d, mu - 1.0, g, s)
    mix(mu, &work.v[0], mu - 1.0, h, columns)
    mix(mu, &work.part[0], 1.0 - mu, &work.active[0], s)
    length = sqrt(max(dot(d, vs, s) if work.rkhs else dot(d, d, s), 0.0))
    return length, sqrt(max(gg, 0.0))


def search(Work work, bint exact, double length, double radius, double n, double c1, double c2):
    """Return the step along the direction: the minimiser within the radius, or a point with enough decrease and a flat
    slope."""
    if not length > 0.0:
        return 0.0
    work._aim()
    return work.line.exact(radius / length) if exact else work.line.bracket(length, radius, n, c1, c2)


def predict(Work work, double t):
    """Return the change of the objective on the sample by a step."""
    cdef double change
    work._aim()
    work.line.evaluate(0.0)
    change, work.at_zero = -work.line.value, work.line.intercept
    work.line.evaluate(t)
    work.at_t = work.line.intercept
    return change + work.line.value


def judge(Work work, const Py_ssize_t[::1] ids, double t):
    """Return the change of the objective on validation examples, with the intercepts of `predict`."""
    cdef Py_ssize_t n_columns = work.held + work.size
    unknown = work.validation.list_unknown(ids, n_columns)
    try:
        found = work._responses_of(unknown) if len(unknown) else None
        loss = work.validation.change(ids, work.u, work.v, n_columns, found, t, work.at_zero, work.at_t)
    finally:
        work.validation.forget(unknown)
    return work.alpha * t * (work.line.q1 + 0.5 * t * work.line.q2) + work.share * loss


def move(Work work, double t):
    """Add t times the direction to f."""
    mix(1.0, &work.coef[0], t, &work.direction[0], work.size)
    mix(1.0, &work.u[0], t, &work.v[0], work.held + work.size)


def recompute(Work work):
    """Recompute the responses, since recurrences accumulate rounding errors."""
    cdef double[::1] signed = work._signed()
    work.u[:], work.v[:], work.z[:] = 0.0, 0.0, 0.0
    work.matrix.combine(&work.coef[0], work.size, &work.u[0])
    work.matrix.combine(&work.direction[0], work.size, &work.v[0])
    work.matrix.combine(&signed[0], work.size, &work.z[0])


def value(Work work):
    """Return the objective on the sample and the best intercept for it."""
    work._aim()
    work.line.evaluate(0.0)
    return work.line.value, work.line.intercept


def responses_of(Work work, ids):
    """Return f at some ids."""
    columns = work.validation.columns_of(ids)
    if (columns < 0).any():
        return work._responses_of(ids)[:, 0]
    return np.asarray(work.u)[columns]
