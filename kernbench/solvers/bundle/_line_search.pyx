"""Line search by derivatives alone, on a sample of the scores.

The objective along a line is alpha/2 |f + t step|^2 + R(s + t moved), and its derivative needs scores only. That of R
is estimated on a sample; at t = 0 it is known exactly, so only its change is estimated.
"""

from libc.math cimport fabs

from kernbench.solvers.design._design cimport dot
from kernbench.solvers.bundle._risk cimport refuse_nan

import numpy as np

cdef double FLAT = 0.02            # slope, relative to the first, that is small enough
cdef double NARROW = 1e-6          # relative width of a bracket around a kink
cdef double STATIONARY = 1e-9      # slope, relative to the first, that is 0 up to rounding
cdef double FARTHEST = 2.0 ** 30
cdef enum:
    REFINEMENTS = 60


cdef class SampledLine:
    """Line search for a problem, on some of its samples.

    Parameters
    ----------
    problem : Risk
        The problem of the sample.
    sample : ndarray of int
        Indices of its samples among all.
    """

    def __init__(self, Risk problem, sample):
        self.problem = problem
        self.sample = np.ascontiguousarray(sample, dtype=np.intp)
        m = problem.n
        self.here, self.along, self.trial, self.gradient = np.empty(m), np.empty(m), np.empty(m), np.empty(m)

    cdef double derivative(self, double t) except? -1 nogil:
        cdef Py_ssize_t i, m = self.problem.n
        for i in range(m):
            self.trial[i] = self.here[i] + t * self.along[i]
        refuse_nan(self.problem.risk(&self.trial[0], &self.gradient[0]))
        self.n_evaluations += 1
        return self.offset + self.curvature * t + dot(&self.gradient[0], &self.along[0], m)

    cdef double search(self, const double *scores, const double *moved, double slope,
                       double curvature) except? -1 nogil:
        """Return a step t > 0 just beyond the minimiser; 0 if `slope` is not negative.

        The minimiser lies just before t: at t the derivative is at least 0 (up to rounding) and small, or there is a
        kink in between.
        `slope` is the derivative of the objective at 0, `curvature` that of alpha/2 |f + t step|^2.
        """
        cdef Py_ssize_t i, k
        cdef double low = 0.0, low_slope = slope, high = 1.0, high_slope, t, middle
        if slope >= 0.0:
            return 0.0
        for i in range(self.problem.n):
            self.here[i] = scores[self.sample[i]]
            self.along[i] = moved[self.sample[i]]
        self.offset = self.curvature = 0.0
        self.offset = slope - self.derivative(0.0)
        self.curvature = curvature
        high_slope = self.derivative(high)
        while high_slope < -STATIONARY * fabs(slope) and high < FARTHEST:
            low, low_slope, high = high, high_slope, 2.0 * high
            high_slope = self.derivative(high)
        for k in range(REFINEMENTS):
            if high_slope <= FLAT * fabs(slope) or high - low <= NARROW * high:
                break
            # The secant, extended slightly beyond the root so that the upper end moves; bisection every third time.
            t = low + (high - low) * -low_slope / (high_slope - low_slope)
            t = 0.5 * (low + high) if k % 3 == 2 else t + 0.05 * (high - t)
            middle = self.derivative(t)
            if middle >= 0.0:
                high, high_slope = t, middle
            else:
                low, low_slope = t, middle
        return high
