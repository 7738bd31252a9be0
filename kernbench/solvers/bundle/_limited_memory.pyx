"""The two-loop recursion of limited-memory BFGS: the core of `limited_memory`."""

from kernbench.solvers.bundle._preconditioner cimport Preconditioner
from kernbench.solvers.design._design cimport Design

import numpy as np


def products(Design design, const double[::1] step, const double[::1] step_scores, const double[::1] change,
             const double[::1] change_scores):
    """Return <change, step>, |step|^2 and |change|^2; the scores are needed for a kernel only."""
    return (design.inner(&change[0], &step[0], &step_scores[0]), design.inner(&step[0], &step[0], &step_scores[0]),
            design.inner(&change[0], &change[0], &change_scores[0]))


def solve(Design design, Preconditioner preconditioner, const Py_ssize_t[::1] order, const double[:, ::1] steps,
          const double[:, ::1] step_scores, const double[:, ::1] changes, const double[:, ::1] change_scores,
          const double[::1] curvatures, double[::1] v):
    """v <- the approximate inverse Hessian times v, from the pairs of steps and changes in `order`, oldest first."""
    cdef:
        Py_ssize_t j, k, l, d = v.shape[0], n_pairs = order.shape[0]
        bint kernel = design.is_kernel
        double share, scale
        double[::1] shares = np.empty(curvatures.shape[0])
    with nogil:
        for j in range(n_pairs - 1, -1, -1):
            k = order[j]
            shares[k] = design.inner(&v[0], &steps[k, 0], &step_scores[k if kernel else 0, 0])
            shares[k] /= curvatures[k]
            for l in range(d):
                v[l] -= shares[k] * changes[k, l]
        if preconditioner is not None:
            preconditioner.solve(&v[0])
        elif n_pairs > 0:
            k = order[n_pairs - 1]
            scale = curvatures[k] / design.inner(&changes[k, 0], &changes[k, 0], &change_scores[k if kernel else 0, 0])
            for l in range(d):
                v[l] *= scale
        for j in range(n_pairs):
            k = order[j]
            share = design.inner(&v[0], &changes[k, 0], &change_scores[k if kernel else 0, 0])
            share = shares[k] - share / curvatures[k]
            for l in range(d):
                v[l] += share * steps[k, l]
