"""The best intercept of slowly changing responses, searched for near the previous one.

`problems.intercept.best_intercept` sorts all breakpoints y_i - f(x_i); a solver that calls it repeatedly knows that
the answer lies near the previous one. So one pass adds up the weights below a bracket around it and collects the
breakpoints inside, and only these are sorted. If the answer is not in the bracket, all breakpoints are sorted.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport qsort

import numpy as np

from kernbench.losses.margin import Hinge
from kernbench.problems.intercept import rounding_of

cdef enum:
    FEW = 64            # a bracket of fewer breakpoints is widened
    LARGE_SHARE = 16    # one with more than n / LARGE_SHARE is narrowed


cdef struct Breakpoint:
    double place
    double mass


cdef class InterceptFinder:
    """Minimises sum_i w_i hinge(y_i (f(x_i) + b)) over b in successive calls.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels, -1.0 or +1.0; each class needs a positive weight.
    weights : ndarray of shape (n,)
    """

    def __init__(self, y, weights):
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        self.y, self.weights = y, weights
        self.positive = weights[np.asarray(y) > 0].sum()
        self.rounding = rounding_of(weights, self.positive)
        self.bracket = np.empty((len(weights), 2))
        self.centre, self.radius = 0.0, INFINITY

    cpdef double find(self, const double[::1] responses):
        """Return the best b for the responses f(x_i); the midpoint if an interval is optimal."""
        cdef double answer = self._find_within(responses, self.centre - self.radius, self.centre + self.radius)
        if answer != answer:
            self.radius = INFINITY
            answer = self._find_within(responses, -INFINITY, INFINITY)
        self.centre = answer
        return answer

    cdef double _find_within(self, const double[::1] responses, double low, double high) except? -1.0:
        """Return the best b if it lies within the bracket, else NaN; set the radius of the next bracket."""
        cdef:
            Py_ssize_t i, n = self.y.shape[0], n_inside = 0
            Breakpoint *inside = <Breakpoint *> &self.bracket[0, 0]
            double below = 0.0, place, lower = 0.0, slope, last
            bint has_lower = False
        for i in range(n):
            place = self.y[i] - responses[i]
            below += self.weights[i] if place < low else 0.0
            # Always written, and kept by advancing the index: a branch here would be mispredicted.
            inside[n_inside].place = place
            inside[n_inside].mass = self.weights[i]
            n_inside += (place >= low) & (place <= high) & (self.weights[i] > 0.0)
        qsort(inside, n_inside, sizeof(Breakpoint), _by_place)

        slope = below - self.positive
        if slope >= -self.rounding:  # the answer, or the lower end of an interval of them, is below the bracket
            return np.nan
        for i in range(n_inside):
            slope += inside[i].mass
            if not has_lower and slope >= -self.rounding:
                lower, has_lower = inside[i].place, True
            if slope > self.rounding:
                last = max(inside[n_inside - 1].place - lower, lower - inside[0].place)
                if self.radius == INFINITY:
                    self.radius = last / LARGE_SHARE
                elif n_inside < FEW:
                    self.radius *= 2.0
                elif n_inside > FEW and n_inside * LARGE_SHARE > n:
                    self.radius /= 2.0
                return 0.5 * (lower + inside[i].place)
        if has_lower and high == INFINITY:  # all negatives together weigh no more than the rounding
            return 0.5 * (lower + inside[n_inside - 1].place)
        return np.nan


def intercept_search(problem):
    """Return the function that finds the best intercept of a problem for responses f(x_i)."""
    if problem.fit_intercept and problem.loss is Hinge:
        return InterceptFinder(problem.y, problem.weights).find
    return problem.best_intercept


cdef int _by_place(const void *a, const void *b) noexcept nogil:
    cdef double x = (<const Breakpoint *> a).place, z = (<const Breakpoint *> b).place
    return (x > z) - (x < z)
