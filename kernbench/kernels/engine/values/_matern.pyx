"""Matérn kernels as functions of the squared distance: closed forms, or a table of the logarithm."""

from functools import lru_cache

import numpy as np

from kernbench.kernels.engine.values._maps cimport (
    KB_MATERN_BITS, KB_MATERN_LARGEST, KB_MATERN_TERMS_double, KB_MATERN_TERMS_float, matern_row_double,
    matern_row_float, matern_table_row_double, matern_table_row_float,
)
from kernbench.kernels.engine.values.matern_table import matern_table

CLOSED_FORMS = (0.5, 1.5, 2.5)


cdef class MaternProfile:
    """2^(1 - nu) / Gamma(nu) r^nu K_nu(r) from r^2.

    Parameters
    ----------
    nu : float
    dtype : {float32, float64}
    """

    def __init__(self, nu, dtype):
        dtype = np.dtype(dtype)
        self.nu, self.single = nu, dtype == np.float32
        self.twice_nu = int(2 * nu) if nu in CLOSED_FORMS else 0
        if self.twice_nu == 0:
            terms = KB_MATERN_TERMS_float if self.single else KB_MATERN_TERMS_double
            self.table, self.first = matern_table(float(nu), dtype, KB_MATERN_BITS, terms, KB_MATERN_LARGEST)
            self.n_pieces = len(self.table)
            self.pieces = <const void *> <size_t> self.table.ctypes.data

    def __call__(self, squared_distances):
        """Return the kernel values at squared distances, an array of the precision."""
        out = np.array(squared_distances, dtype=np.float32 if self.single else np.float64, order="C")
        self.map(out.size, <void *> <size_t> out.ctypes.data)
        return out

    cdef void map(self, Py_ssize_t n, void *out) noexcept nogil:
        if self.single:
            if self.twice_nu:
                matern_row_float(self.twice_nu, n, <float *> out)
            else:
                matern_table_row_float(<const float *> self.pieces, self.first, self.n_pieces, n, <float *> out)
        elif self.twice_nu:
            matern_row_double(self.twice_nu, n, <double *> out)
        else:
            matern_table_row_double(<const double *> self.pieces, self.first, self.n_pieces, n, <double *> out)


@lru_cache(maxsize=32)
def matern_profile(nu, single):
    """Return the profile of an order, made once."""
    return MaternProfile(nu, np.float32 if single else np.float64)
