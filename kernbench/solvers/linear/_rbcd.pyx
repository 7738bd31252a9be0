"""Steps of random block coordinate descent. With sparse X, a step visits only the examples that have a feature of the
block."""

from kernbench.losses._loss cimport KB_SQUARED_ERROR, loss_slope
from kernbench.losses._margin cimport margin_slope
from kernbench.solvers.design._design cimport FeatureDesign

import numpy as np

cdef enum:
    RECOMPUTED = 64        # passes over the blocks between two recomputations of the scores


def find_slopes(problem, const double[::1] scores, double[::1] slopes):
    """slopes = w l'(m) y / n."""
    _Losses(problem).slopes_at(scores, slopes)


def steps(FeatureDesign design, FeatureDesign columns, problem, const Py_ssize_t[::1] blocks, const Py_ssize_t[::1] ends,
          const double[::1] constants, double[::1] w, double[::1] scores, double[::1] slopes, double[::1] numbers):
    """Do a step on each of `blocks`; `numbers` are the steps done so far and the features touched."""
    cdef:
        _Losses losses = _Losses(problem)
        double[::1] change = np.empty(w.shape[0])
        double alpha = problem.alpha
        long long t = <long long> numbers[0], touched = <long long> numbers[1]
        Py_ssize_t s, k, block, first, last, n_blocks = ends.shape[0] - 1
    with nogil:
        for s in range(blocks.shape[0]):
            block = blocks[s]
            first, last = ends[block], ends[block + 1]
            columns._score(first, last, &slopes[0], &change[0])
            for k in range(first, last):
                change[k] = -(change[k] + alpha * w[k]) / constants[block]
                w[k] += change[k]
            columns._gather_up(first, last, &change[0], &scores[0])
            touched += 2 * (last - first)
            t += 1
            if t % (RECOMPUTED * n_blocks) == 0:
                design.score(&w[0], &scores[0])
                losses.slopes_at(scores, slopes)
            elif columns.is_sparse:
                for k in range(columns.starts[first], columns.starts[last]):
                    losses.slope_at(columns.columns[k], scores, slopes)
            else:
                losses.slopes_at(scores, slopes)
    numbers[0], numbers[1] = t, touched


cdef class _Losses:
    cdef int loss
    cdef double parameter, share
    cdef const double[::1] y, targets, weights

    def __init__(self, problem):
        self.loss, self.parameter, self.share = problem.loss.code, problem.loss.parameter, 1.0 / problem.n
        self.y, self.targets, self.weights = problem.y, problem.targets, problem.weights

    cdef void slopes_at(self, const double[::1] scores, double[::1] slopes) noexcept nogil:
        cdef:
            Py_ssize_t i
            int loss = self.loss
            double share = self.share
        if loss >= KB_SQUARED_ERROR:
            for i in range(scores.shape[0]):
                self.slope_at(i, scores, slopes)
            return
        for i in range(scores.shape[0]):  # a function of the margins only, so the loop vectorises
            slopes[i] = share * self.weights[i] * self.y[i] * margin_slope(loss, self.y[i] * scores[i])

    cdef inline void slope_at(self, Py_ssize_t i, const double[::1] scores, double[::1] slopes) noexcept nogil:
        cdef double y = self.y[i]
        slopes[i] = self.share * self.weights[i] * y * loss_slope(
            self.loss, self.parameter, y * scores[i] - self.targets[i]
        )
