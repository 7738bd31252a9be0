"""Stochastic block coordinate descent on g^l(v, lambda), Algorithm 1 of Yao, Lin and Yang in its scale-free form.

The step in v is v <- (v + eta (anchor - G)) / (1 + eta (pull + ridge)): rows are added to the shrunken v, and G is
never formed. The sum of the thresholds is brought up to date where one is touched.
"""

from libc.math cimport fabs

import numpy as np

cdef double ROUNDING = 1e-12   # thresholds of this size are 0


cdef class SBCD:
    """One run in v and lambda.

    Each step minimises G'v - anchor'v + pull/2 |v|^2 + ridge/2 |v|^2 + |v - v_t|^2 / (2 eta). With ``pull`` = 1/mu
    and ``anchor`` = w/mu this is the step of Algorithm 1, which keeps v near w.

    Parameters
    ----------
    batches : Batches
    share : float
        l/N, above 0.
    pull, ridge : float
    """

    def __init__(self, Batches batches, share, pull, ridge):
        self.batches, self.share, self.pull, self.ridge = batches, share, pull, ridge
        d, k = batches.design.n_coef, batches.n_thresholds
        self.v, self.v_sum, self.anchor = np.zeros(d), np.zeros(d), np.zeros(d)
        # Every threshold is -inf where all losses count. `lam_sum` holds its sum over steps before `last`.
        self.lam, self.lam_sum = np.full(k, -np.inf if share >= 1.0 else 0.0), np.zeros(k)
        self.last, self.slopes = np.zeros(k), np.empty(batches.n_touched)

    def arrays(self, prefix):
        """Return what the run must keep to go on, by name; read and written in place."""
        kept = {"v": self.v, "v_sum": self.v_sum, "anchor": self.anchor, "lam": self.lam, "lam_sum": self.lam_sum,
                "last": self.last}
        return {prefix + name: np.asarray(values) for name, values in kept.items()}

    cdef void begin(self, const double *w, const double *linear) noexcept nogil:
        cdef Py_ssize_t k
        self.v_sum[:] = 0.0
        self.lam_sum[:] = 0.0
        self.last[:] = 0.0
        for k in range(self.v.shape[0]):
            self.v[k] = w[k]
            self.anchor[k] = self.pull * w[k] + (0.0 if linear == NULL else linear[k])

    cdef bint step(self, Py_ssize_t t, double eta, double theta) noexcept nogil:
        cdef:
            Py_ssize_t k, i, d = self.v.shape[0]
            double shrunk = 1.0 / (1.0 + eta * (self.pull + self.ridge))
            double *v = &self.v[0]
            double *v_sum = &self.v_sum[0]
            const double *anchor = &self.anchor[0]
        if not self.batches.score(v):
            return False
        self.batches.subgradients(&self.lam[0], self.share, &self.slopes[0])
        if self.share < 1.0:
            for k in range(self.batches.n_touched):
                i = self.batches.touched(k)
                self.lam_sum[i] += self.lam[i] * (t + 1 - self.last[i])
                self.last[i] = t + 1
                self.lam[i] -= theta * self.slopes[k]
                if fabs(self.lam[i]) < ROUNDING:     # many losses of a hinge are exactly 0
                    self.lam[i] = 0.0
        for k in range(d):
            v_sum[k] += v[k]
            v[k] = shrunk * (v[k] + eta * anchor[k])
        self.batches.add_rows(-eta * shrunk, v)
        return True

    cdef void end(self, Py_ssize_t T, double *mean) noexcept nogil:
        cdef Py_ssize_t k
        if self.share < 1.0:
            for k in range(self.lam.shape[0]):
                self.lam[k] = (self.lam_sum[k] + self.lam[k] * (T - self.last[k])) / T
        for k in range(self.v.shape[0]):
            mean[k] = self.v_sum[k] / T
