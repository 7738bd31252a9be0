"""A convex risk of scores: what cutting planes need of a problem, alpha/2 ||f||^2 + R(f(x_1), …, f(x_n)).

R is a mean over pairs (`ranking/_problem`) or over samples (`linear/_bundle`). Besides its value and a subgradient,
cutting planes need its approximate second derivatives, and a smaller problem on some of the samples.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport isfinite

import numpy as np


cdef class Risk:
    """Base of the risks. They define `settings`, `sample` and `take` as well.

    Attributes
    ----------
    design : FeatureDesign or KernelDesign
    n : int
        Samples.
    alpha : float
    at_zero : float
        The risk where all scores are 0.
    positive : ndarray of shape (n,), bool
    weights : ndarray of shape (n,), or None
    """

    cdef double risk(self, const double *scores, double *gradient) noexcept nogil:
        return 0.0

    cdef int density(self, const double *scores, double *h) except -1 nogil:
        return 0

    def with_alpha(self, alpha):
        """Return the same problem with another alpha."""
        cdef Risk other = self.take(np.arange(self.n), self.design)
        other.alpha = alpha
        return other

    def smoothed(self):
        """Return the `SmoothedRisk` of this risk, or None."""
        return None


cdef class SmoothedRisk(Risk):
    """Base of the smoothed risks: R_mu(s) = max_p <slopes(p), s> + offset(p) - mu/2 mean p^2, where R is the maximum at
    mu = 0, so that its gradient is the slope of a cut of R."""

    cdef void hessian_product(self, const double *v, double *product) noexcept nogil:
        pass


cdef int refuse_nan(double value) except -1 nogil:
    if not isfinite(value):
        with gil:
            raise ValueError("scores are not finite, or too large to compute with: scale the features, or raise alpha")
    return 0


cdef int answer_signals() except -1 nogil:
    """Check for Ctrl-C between two long computations."""
    with gil:
        PyErr_CheckSignals()
    return 0
