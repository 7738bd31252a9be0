"""Runs of stochastic block coordinate descent on the same batches: the core of AGD-SBCD and of DCA.

Rows are added to v directly after it is scaled, so that the subgradient G is never formed. The running sum of a
threshold's values is updated only when the threshold changes.
"""

from libc.math cimport fabs

from kernbench.solvers.ranking.stochastic._batches cimport Batches

import numpy as np

from kernbench.pairs import RankedRange, WindowPairs
from kernbench.solvers.ranking.stochastic._batches import ListBatches, PairBatches

__all__ = ["ListBatches", "PairBatches", "RankedRange", "WindowPairs", "find_thresholds", "steps"]  # what the method takes from its core

cdef double ROUNDING = 1e-12   # thresholds of this size are 0


def steps(Batches batches, const double[:, ::1] u, Py_ssize_t t, double eta, double theta, const double[::1] share,
          const double[::1] damping, double[:, ::1] v, double[:, ::1] v_sum, const double[:, ::1] anchor,
          double[:, ::1] lam, double[:, ::1] lam_sum, double[:, ::1] last):
    """Do the steps t, t + 1, … of some runs, one for each row of random numbers."""
    cdef Py_ssize_t done = 0, k, r, n = v.shape[0]
    cdef bint shared = u.shape[1] == batches.size
    cdef double[::1] slopes = np.empty(batches.n_touched)
    with nogil:
        for k in range(u.shape[0] * n):
            r = k % n
            if r == 0 or not shared:
                batches.draw(&u[done, r * batches.size])
            if not batches.score(&v[r, 0]):
                break
            batches.subgradients(&lam[r, 0], share[r], &slopes[0])
            if share[r] < 1.0:
                _move_thresholds(batches, t + done, theta, &slopes[0], &lam[r, 0], &lam_sum[r, 0], &last[r, 0])
            _move(batches, eta, 1.0 / (1.0 + eta * damping[r]), v.shape[1], &v[r, 0], &v_sum[r, 0], &anchor[r, 0])
            done += r == n - 1
    return done


cdef void _move_thresholds(Batches batches, Py_ssize_t t, double theta, const double *slopes, double *lam,
                           double *lam_sum, double *last) noexcept nogil:
    cdef Py_ssize_t k, i
    for k in range(batches.n_touched):
        i = batches.touched(k)
        lam_sum[i] += lam[i] * (t + 1 - last[i])
        last[i] = t + 1
        lam[i] -= theta * slopes[k]
        if fabs(lam[i]) < ROUNDING:     # many losses of a hinge are exactly 0
            lam[i] = 0.0


cdef void _move(Batches batches, double eta, double shrunk, Py_ssize_t d, double *v, double *v_sum,
                const double *anchor) noexcept nogil:
    """v <- (v + eta (anchor - G)) / (1 + eta (pull + ridge))."""
    cdef Py_ssize_t k
    for k in range(d):
        v_sum[k] += v[k]
        v[k] = shrunk * (v[k] + eta * anchor[k])
    batches.add_rows(-eta * shrunk, v)


def find_thresholds(Batches batches, const double[::1] scores, const double[::1] share, double[:, ::1] lam):
    """Let the thresholds be exact at the scores of all samples; return False if a value to be sorted is not finite."""
    cdef Py_ssize_t r
    cdef bint finite
    with nogil:
        finite = batches.rank(&scores[0])
        for r in range(share.shape[0] if finite else 0):
            lam[r, 0] = batches.exact_threshold(share[r])
    return finite
