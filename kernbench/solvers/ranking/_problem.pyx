"""The problem of the ROC-SVM: alpha/2 ||f||^2 + the mean over pairs of loss(f(x_i) - f(x_j)), checked."""

from libc.math cimport fabs, log, sqrt
from libc.stdlib cimport free

from kernbench.losses._margin cimport KB_HINGE, KB_LOG_LOSS, KB_SQUARED_HINGE
from kernbench.kernels.engine._engine cimport allocate
from kernbench.solvers.design._design cimport Design, dot
from kernbench.solvers.bundle._risk cimport SmoothedRisk, refuse_nan

import numpy as np

from kernbench.problems.margin_problem import require_number
from kernbench.losses.pairwise import PAIRWISE_LOSSES, require_loss
from kernbench.pairs import AllPairs, DrawnPairs, draw_pairs
from kernbench.pairs.checks import binary_problem
from kernbench.problems.draws import stratified_sample


cdef class PairwiseProblem(Risk):
    """A problem over the pairs of a positive sample i and a negative one j.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n_samples,), optional
        The pair (i, j) weighs w_i w_j.
    loss : {"hinge", "squared_hinge", "log_loss"}
    n_pairs : int, optional
        Draw so many pairs and look at these only; all pairs by default.
    balanced : bool
        See `kernbench.pairs.draw_pairs`.
    rng : Generator, optional
        For the pairs.
    offered : tuple of str, optional
        The losses that the solver knows.
    """

    def __init__(self, Design design, y, *, alpha, weights=None, loss="hinge", n_pairs=None, balanced=False, rng=None,
                 offered=PAIRWISE_LOSSES):
        self.design, self.n = design, design.n_samples
        self.alpha = require_number("alpha", alpha, positive=True)
        self.loss, self.code = require_loss(loss, offered), PAIRWISE_LOSSES.index(loss)
        if np.shape(y) != (self.n,):
            raise ValueError(f"y must hold one label per sample, shape ({self.n},), got {np.shape(y)}")
        self.positive, self.weights = binary_problem(y, weights)
        self.drawn, self.balanced = None, balanced
        if n_pairs is not None:
            self.drawn = draw_pairs(rng, self.positive, n_pairs, sample_weight=self.weights, balanced=balanced)
        self._pair_up()

    def _pair_up(self):
        self.mask = self.positive.view(np.uint8)
        self.centred_by = self.mask
        self.at_zero = log(2.0) if self.code == KB_LOG_LOSS else 1.0    # every pair is one margin short
        self.pairs = self._new_pairs()

    def _new_pairs(self):
        if self.drawn is None:
            return AllPairs(self.positive, self.weights)
        return DrawnPairs(*self.drawn, self.n)

    cdef double risk(self, const double *scores, double *gradient) noexcept nogil:
        return self.pairs.value(self.code, scores, gradient)

    cdef int density(self, const double *scores, double *h) except -1 nogil:
        """How many pairs each sample has at the margin: the weights h of the Hessian, at least 0.

        The change of the gradient when all positive scores move, by a fifth of the spread of the scores; this finite
        difference approximates the Hessian of a smoothed loss. Where scores have no spread, at f = 0, that of a loss
        with a second derivative there is taken (of the squared loss for hinges), which weights all samples of a class
        equally.
        """
        cdef:
            Py_ssize_t i, n = self.n
            double slope_to_curvature = 2.0 if self.code == KB_HINGE else 1.0 if self.code == KB_SQUARED_HINGE else 0.5
            double width = 0.2 * sqrt(self._variance(scores, 0) + self._variance(scores, 1)), shift, value
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
        cdef Py_ssize_t i, count = 0
        cdef double total = 0.0, mean
        for i in range(self.n):
            if self.mask[i] == members:
                total += scores[i]
                count += 1
        mean, total = total / count, 0.0
        for i in range(self.n):
            if self.mask[i] == members:
                total += (scores[i] - mean) ** 2
        return total / count

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
        n_pairs = 0 if self.drawn is None else len(self.drawn[0])
        return np.array([self.alpha, self.code, n_pairs, self.balanced])

    def sample(self, rng, size):
        """Return the indices of a subset of the samples, about `size` of them, that the problem may be tried on."""
        if size >= self.n:
            return np.arange(self.n)
        if self.drawn is not None:
            return np.unique(np.concatenate([members[: size // 2] for members in self.drawn])).astype(np.intp)
        return stratified_sample(rng, self.positive, self.weights, size)

    def take(self, indices, Design design=None):
        """Return the problem of a subset of the samples; of drawn pairs, those that lie in it."""
        cdef PairwiseProblem part = PairwiseProblem.__new__(PairwiseProblem)
        part.design, part.n, part.alpha = design, len(indices), self.alpha
        part.loss, part.code, part.balanced = self.loss, self.code, self.balanced
        part.positive = self.positive[indices]
        part.weights = None if self.weights is None else self.weights[indices]
        if self.drawn is not None:
            place = np.full(self.n, -1, dtype=np.int32)
            place[indices] = np.arange(len(indices))
            first, second = place[self.drawn[0]], place[self.drawn[1]]
            inside = (first >= 0) & (second >= 0)
            part.drawn = first[inside], second[inside]
        part._pair_up()
        return part


cdef class SmoothedPairs(SmoothedRisk):
    """The mean over pairs of the hinge with its kink rounded, or of a smooth loss. With the margin m = s_i - s_j

        max over 0 <= p <= 1 of  p (1 - m) - mu p^2 / 2  =  ((1 - m)_+^2 - (1 - mu - m)_+^2) / (2 mu),

    and a margin of 1 - mu is one of 1 where mu is added to the positive scores.
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
