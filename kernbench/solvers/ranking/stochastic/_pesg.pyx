"""Proximal steps on the min-max margin loss of the AUC: the core of PESG."""

from kernbench.solvers.ranking.stochastic._batches cimport PairBatches as Batches

import numpy as np

from kernbench.solvers.ranking.stochastic._batches import PairBatches

__all__ = ["PairBatches", "steps"]  # what the method takes from its core


def steps(Batches batches, const double[:, ::1] u, double eta, double alpha, double margin, double decay, double clip,
          double[::1] v, const double[::1] reference, double[::1] total, double[::1] theta):
    """Do one step of v = (w, a, b) and theta for each row of random numbers, and add the iterates to `total`."""
    cdef:
        Py_ssize_t done = 0, t, k, d = v.shape[0] - 2, n_i = batches.positives.batch, n = batches.size
        double[::1] G = np.empty(d + 2)
        double slope
    with nogil:
        for t in range(u.shape[0]):
            batches.draw(&u[t, 0])
            if not batches.score(&v[0]):
                break
            for k in range(d + 2):
                G[k] = 0.0
            for k in range(n_i):
                slope = 2.0 * batches.u[k] / n_i
                batches.coef[k] = slope * (batches.scores[k] - v[d] - theta[0])
                G[d] -= slope * (batches.scores[k] - v[d])
            for k in range(n_i, n):
                slope = 2.0 * batches.u[k] / (n - n_i)
                batches.coef[k] = slope * (batches.scores[k] - v[d + 1] + theta[0])
                G[d + 1] -= slope * (batches.scores[k] - v[d + 1])
            batches.add_rows(1.0, &G[0])
            for k in range(d + 2):
                slope = min(max(G[k], -clip), clip) - decay * reference[k]
                v[k] = (v[k] - eta * slope) / (1.0 + eta * (decay + (alpha if k < d else 0.0)))
                total[k] += v[k]
            theta[0] = max(0.0, theta[0] + eta * (2.0 * (margin + v[d + 1] - v[d]) - 2.0 * theta[0]))
            done += 1
    return done
