"""The mean over pairs of loss(f(x_i) - f(x_j)), the risk of the ROC-SVM, and its derivatives."""

from libc.math cimport fabs, log, sqrt
from libc.stdlib cimport free

from kernbench.losses._margin cimport KB_HINGE, KB_LOG_LOSS, KB_SQUARED_HINGE
from kernbench.kernels.engine._engine cimport allocate
from kernbench.solvers.design._design cimport Design, dot
from kernbench.solvers.bundle._risk cimport SmoothedRisk, refuse_nan

import numpy as np

from kernbench.pairs import AllPairs, DrawnPairs


cdef class PairwiseRisk(Risk):
    """The risk of a `PairwiseProblem`; parameters are those of the reference."""

    def __init__(self, pairwise, Design design):
        self.pairwise, self.design, self.n, self.alpha = pairwise, design, pairwise.n, pairwise.alpha
        self.code, self.positive, self.weights = pairwise.code, pairwise.positive, pairwise.weights
        self.mask = self.positive.view(np.uint8)
        self.centred_by = self.mask
        self.at_zero = log(2.0) if self.code == KB_LOG_LOSS else 1.0    # the loss of the margin 0
        self.pairs = self._new_pairs()

    def _new_pairs(self):
        if self.pairwise.drawn is None:
            return AllPairs(self.positive, self.weights)
        return DrawnPairs(*self.pairwise.drawn, self.n)

    cdef double risk(self, const double *scores, double *gradient) noexcept nogil:
        return self.pairs.value(self.code, scores, gradient)

    cdef int density(self, const double *scores, double *h) except -1 nogil:
        """The number of pairs that each sample has at the margin: the weights h of the Hessian, at least 0.

        They are the change of the gradient if all positive scores are shifted by a fifth of the spread of the scores, a
        finite difference that approximates the Hessian of a smoothed loss. If scores have no spread, at f = 0, the
        second derivative of the loss there is used (for hinges that of the squared loss), which weights all samples of
        a class equally.
        """
        cdef:
            Py_ssize_t i, n = self.n
            double slope_to_curvature = 2.0 if self.code == KB_HINGE else 1.0 if self.code == KB_SQUARED_HINGE else 0.5
            double width = 0.2 * sqrt(self._variance(scores, 0) + self._variance(scores, 1)), value
            double *moved = <double *> allocate(n * sizeof(double))
            double *below = NULL
        try:
            if width > 0.0:
                below = <double *> allocate(n * sizeof(double))
                for i in range(n):
                    moved[i] = scores[i] - width * self.mask[i]
                value = self.risk(moved, below)
                for i in range(n):
                    moved[i] = scores[i] + width * self.mask[i]
                value += self.risk(moved, h)
                for i in range(n):
                    h[i] = fabs(below[i] - h[i]) / (2.0 * width)
            else:
                for i in range(n):
                    moved[i] = 0.0
                value = self.risk(moved, h)
                for i in range(n):
                    h[i] = fabs(h[i]) * slope_to_curvature
        finally:
            free(moved)
            free(below)
        return refuse_nan(value)

    cdef double _variance(self, const double *scores, unsigned char members) noexcept nogil:
        """The variance of the scores of one class."""
        cdef:
            Py_ssize_t i
            double total = 0.0, mass = 0.0, mean, w = 1.0
            bint weighted
            const double[::1] weights
        with gil:
            weighted = self.weights is not None
            if weighted:
                weights = np.ascontiguousarray(self.weights, dtype=np.float64)
        for i in range(self.n):
            if self.mask[i] == members:
                if weighted:
                    w = weights[i]
                total += w * scores[i]
                mass += w
        mean, total = total / mass, 0.0
        for i in range(self.n):
            if self.mask[i] == members:
                if weighted:
                    w = weights[i]
                total += w * (scores[i] - mean) ** 2
        return total / mass

    def smoothed(self):
        """Return the risk with the hinge's kink rounded; the other losses have none."""
        cdef SmoothedPairs smooth = SmoothedPairs.__new__(SmoothedPairs)
        smooth.n, smooth.code, smooth.mask = self.n, self.code, self.mask
        smooth.pairs = self._new_pairs()
        if self.code == KB_HINGE:
            smooth.narrower = self._new_pairs()
            smooth.shifted, smooth.slopes = np.empty(self.n), np.empty(self.n)
        return smooth

    def settings(self):
        """Return alpha, and what the risk depends on besides the data: loss and pairs."""
        return np.array([self.alpha, *self.pairwise.settings()])

    def sample(self, rng, size):
        """Return the indices of a subset of the samples, about `size` of them, that the problem may be tried on."""
        return self.pairwise.sample(rng, size)

    def take(self, indices, Design design=None):
        """Return the risk on a subset of the samples."""
        return PairwiseRisk(self.pairwise.take(indices), design)


cdef class SmoothedPairs(SmoothedRisk):
    """The mean over pairs of the hinge with its kink rounded, or of a smooth loss. With the margin m = s_i - s_j

        max over 0 <= p <= 1 of  p (1 - m) - mu p^2 / 2  =  ((1 - m)_+^2 - (1 - mu - m)_+^2) / (2 mu),

    and the term with 1 - mu is the same function after adding mu to the positive scores.
    """

    cdef double risk(self, const double *scores, double *gradient) noexcept nogil:
        cdef Py_ssize_t i
        cdef double value = self.pairs.value(KB_SQUARED_HINGE if self.code == KB_HINGE else self.code, scores, gradient)
        if self.code != KB_HINGE:
            self.offset = value - dot(gradient, scores, self.n)
            return value
        for i in range(self.n):
            self.shifted[i] = scores[i] + self.mu * self.mask[i]
        value -= self.narrower.value(KB_SQUARED_HINGE, &self.shifted[0], &self.slopes[0])
        self.offset = 0.0     # the mean of p
        for i in range(self.n):
            gradient[i] = (gradient[i] - self.slopes[i]) / (2.0 * self.mu)
            if self.mask[i]:
                self.offset -= gradient[i]
        return value / (2.0 * self.mu)

    cdef void hessian_product(self, const double *v, double *product) noexcept nogil:
        cdef Py_ssize_t i
        self.pairs.product(v, product)
        if self.code != KB_HINGE:
            return
        self.narrower.product(v, &self.slopes[0])
        for i in range(self.n):
            product[i] = (product[i] - self.slopes[i]) / (2.0 * self.mu)
