"""The mean of smoothed losses: the risk that Newton's method minimises; explained in the reference."""

from libc.math cimport INFINITY, fabs, isfinite

from kernbench.losses._loss cimport (
    envelope_curvature, envelope_slope, loss_dual_value, loss_slope, loss_value,
)

import numpy as np

cdef enum:
    # Largest number of trial shifts; bisection alone needs fewer, between any two numbers: from 1 to 1e-140 some 500.
    SHIFTS = 10_000
cdef double ROUNDING = 1e-15         # of a sum of slopes, relative to that of their sizes


cdef class EnvelopeRisk(Risk):
    """(1/n) sum_i w_i l_mu(y_i s_i - t_i) of scores s, with the Moreau envelope l_mu of the loss."""

    def __init__(self, problem):
        self._hold(problem.design, problem.alpha, problem.loss, problem.y, problem.targets,
                   problem.weights / problem.n)

    def _hold(self, design, alpha, loss, y, targets, shares):
        self.design, self.n, self.alpha = design, len(y), alpha
        self.loss, self.parameter = loss.code, loss.parameter
        self.y, self.targets, self.shares, self.mu = y, targets, shares, 0.0

    cdef double risk(self, const double *scores, double *gradient) noexcept nogil:
        cdef Py_ssize_t i
        cdef double total = 0.0, z, slope
        if self.mu == 0.0:
            for i in range(self.n):
                z = self.y[i] * scores[i] - self.targets[i]
                total += self.shares[i] * loss_value(self.loss, self.parameter, z)
                if gradient != NULL:
                    gradient[i] = self.shares[i] * self.y[i] * loss_slope(self.loss, self.parameter, z)
            return total
        for i in range(self.n):
            z = self.y[i] * scores[i] - self.targets[i]
            slope = envelope_slope(self.loss, self.parameter, z, self.mu)
            total += self.shares[i] * (loss_dual_value(self.loss, self.parameter, -slope) + slope * z
                                       - 0.5 * self.mu * slope * slope)
            if gradient != NULL:
                gradient[i] = self.shares[i] * self.y[i] * slope
        return total

    cdef int density(self, const double *scores, double *h) except -1 nogil:
        cdef Py_ssize_t i
        cdef double z, slope
        for i in range(self.n):
            z = self.y[i] * scores[i] - self.targets[i]
            slope = (loss_slope(self.loss, self.parameter, z) if self.mu == 0.0
                     else envelope_slope(self.loss, self.parameter, z, self.mu))
            h[i] = self.shares[i] * envelope_curvature(self.loss, self.parameter, -slope, self.mu)
        return 0

    cdef double exact(self, const double *scores, double *excess) noexcept nogil:
        cdef Py_ssize_t i
        cdef double total = 0.0, z, value, a
        excess[0] = 0.0
        for i in range(self.n):
            z = self.y[i] * scores[i] - self.targets[i]
            value = loss_value(self.loss, self.parameter, z)
            total += self.shares[i] * value
            a = -envelope_slope(self.loss, self.parameter, z, self.mu)
            excess[0] += self.shares[i] * max(0.0, value - loss_dual_value(self.loss, self.parameter, a) + a * z)
        return total

    cdef double best_shift(self, const double *scores) noexcept nogil:
        cdef Py_ssize_t i, k
        cdef double low = -INFINITY, high = INFINITY, shift = 0.0, width = 0.0, total, size, curvature, z, slope, trial
        for k in range(SHIFTS):
            total = size = curvature = 0.0
            for i in range(self.n):
                z = self.y[i] * (scores[i] + shift) - self.targets[i]
                slope = envelope_slope(self.loss, self.parameter, z, self.mu)
                total += self.shares[i] * self.y[i] * slope
                size += self.shares[i] * fabs(slope)
                curvature += self.shares[i] * envelope_curvature(self.loss, self.parameter, -slope, self.mu)
            if fabs(total) <= ROUNDING * size:
                break
            if total > 0.0:
                high = shift
            else:
                low = shift
            # A Newton step within the bracket; bisection every third time; ever farther while one end is unknown.
            trial = shift - total / curvature if curvature > 0.0 else INFINITY
            if not (low < trial < high and isfinite(trial)) or k % 3 == 2:
                if isfinite(low) and isfinite(high):
                    trial = 0.5 * (low + high)
                else:
                    width = max(2.0 * width, 1.0 + fabs(shift))
                    trial = shift - width if total > 0.0 else shift + width
            if trial == shift or trial == low or trial == high:
                break
            shift = trial
        return shift

    def take(self, indices, design):
        """Return the risk of a subset of the samples."""
        cdef EnvelopeRisk part = EnvelopeRisk.__new__(EnvelopeRisk)
        part.design, part.n, part.alpha = design, len(indices), self.alpha
        part.loss, part.parameter, part.mu = self.loss, self.parameter, self.mu
        part.y, part.targets = np.asarray(self.y)[indices], np.asarray(self.targets)[indices]
        shares = np.asarray(self.shares)[indices]
        part.shares = shares * (np.sum(self.shares) / np.sum(shares))
        return part
