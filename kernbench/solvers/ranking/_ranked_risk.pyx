"""Risks of a range of ranks, as cutting planes need them; derived in the reference."""

from libc.math cimport fabs, sqrt
from libc.stdlib cimport free

from kernbench.kernels.engine._engine cimport allocate
from kernbench.solvers.bundle._risk cimport refuse_nan
from kernbench.solvers.design._design cimport Design, dot

import numpy as np

from kernbench import pairs

cdef double WIDTH = 0.2    # of the band that counts as the margin, in standard deviations of the scores


cdef class RankedRisk(Risk):
    """R of the reference, where the lower part is linearised; U before that. Parameters are those of the reference."""

    def __init__(self, Design design, ranked, double alpha, origin=None):
        if design is not None:
            ranked.check_samples(design)
        self.design, self.ranked, self.alpha, self.n = design, ranked, alpha, ranked.n
        self.positive, self.weights, self.origin = ranked.positive, ranked.weights, origin
        self.centred_by = ranked.centred_by
        self.sides = ranked.sides
        self.losses = ranked.make(pairs)
        self.slopes, self.shifted = np.zeros(self.n), np.empty(self.n)
        self.origin_is_zero = origin is None
        self.start = np.empty(0) if origin is None else origin
        nowhere = np.zeros(self.n)
        self.at_zero = self.losses.value_and_subgradient(nowhere)[0]

    cdef double window(self, const double *scores, double *gradient) noexcept nogil:
        return self.losses.difference(scores, gradient)

    cdef double linearise(self, const double *scores) noexcept nogil:
        """Return U - L."""
        cdef double lower
        cdef double value = self.losses.window(scores, NULL, &lower, &self.shifted[0], &self.slopes[0])
        self.constant = dot(&self.slopes[0], scores, self.n) - lower
        return value

    def lower_slopes(self, scores):
        """Return a subgradient of L."""
        return self.losses.lower_and_subgradient(scores)[1]

    cdef double risk(self, const double *scores, double *gradient) noexcept nogil:
        cdef Py_ssize_t i
        cdef double value
        scores = self._moved(scores)
        value = self.losses.upper(scores, gradient) - dot(&self.slopes[0], scores, self.n) + self.constant
        if gradient != NULL:
            for i in range(self.n):
                gradient[i] -= self.slopes[i]
        return value

    cdef const double *_moved(self, const double *scores) noexcept nogil:
        """The scores of f_0 + f."""
        cdef Py_ssize_t i
        if self.origin_is_zero:
            return scores
        for i in range(self.n):
            self.shifted[i] = self.start[i] + scores[i]
        return &self.shifted[0]

    cdef int density(self, const double *scores, double *h) except -1 nogil:
        """The change of the slopes of U - L if all arguments of losses move by a fifth of the spread of the scores."""
        cdef:
            Py_ssize_t i, n = self.n
            double spread, width, value
            double *moved = <double *> allocate(n * sizeof(double))
            double *before = NULL
        scores = self._moved(scores)
        spread = self._spread(scores)
        width = WIDTH * spread if spread > 0.0 else 1.0
        try:
            before = <double *> allocate(n * sizeof(double))
            for i in range(n):
                moved[i] = scores[i] - width * self.sides[i]
            value = self.window(moved, before)
            for i in range(n):
                moved[i] = scores[i] + width * self.sides[i]
            value += self.window(moved, h)
            for i in range(n):
                h[i] = fabs(before[i] - h[i]) / (2.0 * width)
        finally:
            free(moved)
            free(before)
        return refuse_nan(value)

    cdef double _spread(self, const double *scores) noexcept nogil:
        """The standard deviation of the scores; with classes, the root of the sum of both variances."""
        cdef:
            Py_ssize_t i, label
            double total = 0.0, mass, mean, w = 1.0
            bint paired = self.centred_by is not None, weighted
            const double[::1] weights
        with gil:
            weighted = self.weights is not None
            if weighted:
                weights = np.ascontiguousarray(self.weights, dtype=np.float64)
        for label in range(2 if paired else 1):
            mass, mean = 0.0, 0.0
            for i in range(self.n):
                if not paired or self.centred_by[i] == label:
                    if weighted:
                        w = weights[i]
                    mean += w * scores[i]
                    mass += w
            mean /= mass
            for i in range(self.n):
                if not paired or self.centred_by[i] == label:
                    if weighted:
                        w = weights[i]
                    total += w * ((scores[i] - mean) * (scores[i] - mean)) / mass
        return sqrt(total)

    def settings(self):
        """Return alpha, and what the risk depends on besides the data."""
        return np.append(self.alpha, self.ranked.settings())

    def sample(self, rng, size):
        """Return the indices of a subset of the samples, about `size` of them, that the problem may be tried on."""
        return self.ranked.sample(rng, size)

    def take(self, indices, Design design=None):
        """Return the problem of a subset of the samples, before the lower part is linearised."""
        origin = None if self.origin is None else self.origin[indices]
        return RankedRisk(design, self.ranked.take(indices), self.alpha, origin)
