"""Count sketches of rows, and products of random signed sums: the loops of polynomial features."""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t

import numpy as np

ctypedef fused real:
    float
    double

cdef enum:
    SERIAL_WORK = 200000        # additions below which threads cost more than they save


def count_sketch_dense(const real[:, ::1] X, const int32_t[:, ::1] buckets, const real[:, ::1] signs, Py_ssize_t width):
    """Return C[r, j, h] = sum over the columns i with buckets[j, i] = h of signs[j, i] X[r, i].

    Parameters
    ----------
    X : ndarray of shape (n, d)
    buckets : ndarray of shape (n_sketches, d), int32
        Below `width`.
    signs : ndarray of shape (n_sketches, d)
    width : int

    Returns
    -------
    ndarray of shape (n, n_sketches, width)
        Sketches in X's precision.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], n_sketches = buckets.shape[0], r, j, i
        real[:, :, ::1] C = np.zeros((n, n_sketches, width), dtype=np.float32 if real is float else np.float64)
    for r in prange(n, nogil=True, schedule="static", use_threads_if=n * n_sketches * d > SERIAL_WORK):
        for j in range(n_sketches):
            for i in range(d):
                C[r, j, buckets[j, i]] += signs[j, i] * X[r, i]
    return np.asarray(C)


def count_sketch_sparse(const real[::1] values, const int32_t[::1] columns, const int64_t[::1] starts,
                        const int32_t[:, ::1] buckets, const real[:, ::1] signs, Py_ssize_t width):
    """Return the count sketches of rows in CSR form."""
    cdef:
        Py_ssize_t n = starts.shape[0] - 1, n_sketches = buckets.shape[0], r, j, i
        int64_t e
        real[:, :, ::1] C = np.zeros((n, n_sketches, width), dtype=np.float32 if real is float else np.float64)
    for r in prange(n, nogil=True, schedule="static", use_threads_if=values.shape[0] * n_sketches > SERIAL_WORK):
        for j in range(n_sketches):
            for e in range(starts[r], starts[r + 1]):
                i = columns[e]
                C[r, j, buckets[j, i]] += signs[j, i] * values[e]
    return np.asarray(C)


def multiply_runs(const real[:, ::1] T, const int64_t[::1] starts, double scale, real[:, :] out):
    """out[r, k] = scale * product of T[r, starts[k] : starts[k + 1]]; the empty product is 1."""
    cdef:
        Py_ssize_t n = T.shape[0], n_runs = starts.shape[0] - 1, r, k
        int64_t e
        real product
    for r in prange(n, nogil=True, schedule="static", use_threads_if=n * (n_runs + T.shape[1]) > SERIAL_WORK):
        for k in range(n_runs):
            product = <real> scale
            for e in range(starts[k], starts[k + 1]):
                product = product * T[r, e]
            out[r, k] = product
