"""Steps on the window of a batch: the core of the naive mini-batches."""

from libc.math cimport INFINITY, sqrt

from kernbench.pairs._order cimport INDEX_BITS, ScoreOrder
from kernbench.solvers.design._design cimport dot
from kernbench.solvers.ranking.stochastic._batches cimport PairBatches as Batches

import numpy as np

from kernbench.pairs import WindowPairs
from kernbench.solvers.ranking.stochastic._batches import PairBatches

__all__ = ["PairBatches", "WindowPairs", "steps"]  # what the method takes from its core


def steps(Batches batches, const double[:, ::1] u, double first, double step, double alpha, double low, double high,
          double radius, double[::1] w, double[::1] total):
    """Do the steps `first`, `first` + 1, …, one for each row of random numbers, and add the iterates to `total`."""
    cdef:
        Py_ssize_t done = 0, t, k, d = w.shape[0]
        double eta, shrunk, norm
        ScoreOrder order = ScoreOrder(np.zeros(batches.negatives.batch, dtype=bool))
        double[::1] descending = np.empty(batches.negatives.batch)
    with nogil:
        for t in range(u.shape[0]):
            batches.draw(&u[t, 0])
            if not batches.score(&w[0]):
                break
            _slopes(batches, low, high, order, descending)
            eta = step / sqrt(first + t)
            shrunk = 1.0 / (1.0 + eta * alpha)
            for k in range(d):
                w[k] *= shrunk
            batches.add_rows(-eta * shrunk, &w[0])
            if radius < INFINITY:
                norm = sqrt(dot(&w[0], &w[0], d))
                if norm > radius:
                    for k in range(d):
                        w[k] *= radius / norm
            for k in range(d):
                total[k] += w[k]
            done += 1
    return done


cdef void _slopes(Batches batches, double low, double high, ScoreOrder order, double[::1] descending) noexcept nogil:
    """The subgradient of the mean loss over the window of the batch."""
    cdef:
        Py_ssize_t i, j, k, n_i = batches.positives.batch, n_j = batches.negatives.batch, n_chosen = 0
        double total = 0.0, of_positives = 0.0, after = 0.0, before, share
    for i in range(n_i):
        batches.tau[i] = -INFINITY
        of_positives += batches.u[i]
    for j in range(n_j):
        descending[j] = -batches.scores[n_i + j]
        total += batches.u[n_i + j]
    order.sort(&descending[0], 0.0)
    low, high = low * total, high * total
    for k in range(n_j):
        j = order.records[k].tag & INDEX_BITS
        before, after = after, after + batches.u[n_i + j]
        share = min(after, high) - max(before, low)
        if share > 0.0:
            batches.chosen[n_chosen] = j
            batches.b[n_chosen], batches.u_j[n_chosen] = batches.scores[n_i + j], share
            n_chosen += 1
    batches.pair_sums(n_chosen, 1.0 / (of_positives * (high - low)))
