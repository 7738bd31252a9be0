"""A preconditioner: the Hessian of the objective, with the two members of a pair taken as independent.

The Hessian of a mean over pairs is alpha I + sum_ij h_ij (x_i - x_j)(x_i - x_j)'. With h_ij = h_i h_j / W, W the sum
of the h_i of one class, it becomes

    M = alpha I + sum_i h_i (x_i - mu)(x_i - mu)' + W (mu_+ - mu_-)(mu_+ - mu_-)',   mu the h-weighted mean of i's
    class,

a matrix of moments, which the design sums up. The Hessian of a mean over samples is that without the
means: M = alpha I + sum_i h_i x_i x_i'.
"""

from libc.math cimport NAN
from libc.stdlib cimport free
from libc.string cimport memset
from scipy.linalg.cython_blas cimport dtrsm
from scipy.linalg.cython_lapack cimport dpotrf, dpotrs

from kernbench.kernels.engine._engine cimport allocate
from kernbench.solvers.bundle._risk cimport refuse_nan

import numpy as np

LARGEST = 1500           # features up to which the d x d matrix is formed

cdef enum:
    ROWS = 4096          # sum over at least this many samples
    WORTH = 64           # ... or over 64 n / d of n, so that the sum costs no more than a few passes over X
cdef double RIDGE = 1e-12    # of each diagonal entry: columns of any scale are treated alike
cdef enum:
    ATTEMPTS = 5         # to factorise, each with a hundred times the ridge of the previous one


cpdef Preconditioner preconditioner_for(Design design, const unsigned char[::1] mask, double alpha, object rng):
    """Return the preconditioner; None for kernels and for many features.

    It is that of a mean over pairs if `mask` holds the classes of the samples, of a mean over samples if it is None.

    Draws from `rng` if it sums over some rows only.
    """
    cdef Py_ssize_t n = design.n_samples, size
    if design.is_kernel or design.n_coef > LARGEST:
        return None
    size = max(<Py_ssize_t> ROWS, WORTH * n // design.n_coef)
    rows = np.arange(n) if size >= n else np.sort(rng.choice(n, size, replace=False))
    return preconditioner_of(design, mask, alpha, rows)


cdef Preconditioner preconditioner_of(Design design, const unsigned char[::1] mask, double alpha, rows):
    """Return the preconditioner that sums over these rows."""
    cdef Preconditioner made = Preconditioner.__new__(Preconditioner)
    made.design, made.mask, made.alpha, made.n_coef = design, mask, alpha, design.n_coef
    made.hessian, made.factor = (np.empty((design.n_coef, design.n_coef)) for _ in range(2))
    made.rows, made.paired = rows, mask is not None
    return made


def solve_pairwise_hessian(Design design, positive, double alpha, h, v):
    """Return M^-1 v for weights h of the samples, with the sums taken over all of them."""
    cdef const double[::1] weights = np.ascontiguousarray(h, dtype=np.float64)
    cdef double[::1] solved = np.array(v, dtype=np.float64)
    cdef Preconditioner hessian = preconditioner_of(design, positive.view(np.uint8), alpha, np.arange(design.n_samples))
    hessian.fit(&weights[0])
    hessian.solve(&solved[0])
    return np.asarray(solved)


cdef class Preconditioner:
    """The matrix M above, factorised."""

    def state(self):
        """Return the fitted Hessian, which does not depend on alpha; an empty matrix before the first fit."""
        return np.array(self.hessian) if self.fitted else np.empty((0, 0))

    def load(self, hessian):
        """Restore a fitted Hessian, if there is one."""
        if hessian.shape == (self.n_coef, self.n_coef):
            self.hessian = hessian
            self._factorise()

    cdef int fit(self, const double *h) except -1 nogil:
        """Fit M to the weights h of the samples."""
        cdef:
            Py_ssize_t d = self.n_coef, n = self.design.n_samples, i, k, l
            double weight, share = <double> n / self.rows.shape[0], difference
            double[2] total
            const unsigned char *mask = &self.mask[0] if self.paired else NULL
            double *masked = NULL
            double *means = NULL
            double *sums = NULL
            Py_ssize_t *used = NULL
            Py_ssize_t n_used = 0
        try:
            masked = <double *> allocate(n * sizeof(double))
            means = <double *> allocate(2 * d * sizeof(double))
            sums = <double *> allocate(d * d * sizeof(double))
            used = <Py_ssize_t *> allocate(self.rows.shape[0] * sizeof(Py_ssize_t))
            for l in range(2):
                total[l] = 0.0
                for i in range(n):
                    weight = h[i] if self.paired and self.mask[i] == l else 0.0
                    masked[i] = weight
                    total[l] += weight
                if total[l] > 0.0:
                    self.design.gather_up(masked, means + l * d)
                for k in range(d):
                    means[l * d + k] = means[l * d + k] / total[l] if total[l] > 0.0 else 0.0
            for i in range(self.rows.shape[0]):
                if h[self.rows[i]] > 0.0:
                    used[n_used] = self.rows[i]
                    n_used += 1
            if n_used > 0:
                self.design.moments(used, n_used, h, mask, means, sums)
            else:
                memset(sums, 0, d * d * sizeof(double))
            for k in range(d):
                difference = means[d + k] - means[k]
                for l in range(k, d):
                    weight = share * sums[k * d + l] + total[1] * difference * (means[d + l] - means[l])
                    self.hessian[k, l] = self.hessian[l, k] = weight
        finally:
            free(masked)
            free(means)
            free(sums)
            free(used)
        return self._factorise()

    cdef int _factorise(self) except -1 nogil:
        cdef Py_ssize_t k, d = self.n_coef
        cdef int order = <int> d, info = 1, _attempt
        cdef double trace = 0.0, ridge = RIDGE
        for k in range(d):
            trace += self.hessian[k, k]
        refuse_nan(trace)
        for _attempt in range(ATTEMPTS):
            self.factor[:, :] = self.hessian
            for k in range(d):
                self.factor[k, k] += ridge * self.hessian[k, k]
                if k < d - self.n_free:
                    self.factor[k, k] += self.alpha
                elif self.factor[k, k] == 0.0:
                    self.factor[k, k] = 1.0        # no sample has a curvature
            dpotrf("L", &order, &self.factor[0, 0], &order, &info)
            if info == 0:
                self.fitted = True
                return 0
            ridge *= 100.0     # rounding made it indefinite
        return refuse_nan(NAN)

    cdef void solve(self, double *v) noexcept nogil:
        cdef int order = <int> self.n_coef, one = 1, info
        dpotrs("L", &order, &one, &self.factor[0, 0], &order, v, &order, &info)

    cdef void half_solve(self, double *V, Py_ssize_t count) noexcept nogil:
        cdef int order = <int> self.n_coef, columns = <int> count
        cdef double one = 1.0
        dtrsm("L", "L", "N", "N", &order, &columns, &one, &self.factor[0, 0], &order, V, &order)
