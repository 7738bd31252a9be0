"""Batches without replacement, and the stochastic subgradients of Algorithm 1 at their rows.

Scale-free form: subgradients are means over the batch, not sums over all pairs. With l the number of the largest
losses that count and N the length of the list, `share` is l/N; u are weights divided by their mean. A pair counts where
its loss exceeds lambda_i, that is where b_j exceeds a score (`kb_score_threshold`): no loss need be evaluated.
"""

from libc.math cimport INFINITY, fabs, isfinite

from kernbench.losses._margin cimport margin_slope, margin_value
from kernbench.pairs._order cimport INDEX_BITS
from kernbench.solvers.linear._rows cimport row_add, row_dot

import numpy as np

from kernbench.problems.ranking.sampling import THRESHOLDS
from kernbench.pairs._order import ScoreOrder
from kernbench.validation.numbers import check_name

cdef extern from "_pair_slopes.h" nogil:
    enum:
        LANES "KB_LANES"
    void sum_pairs "kb_pair_sums"(int loss, Py_ssize_t n_i, Py_ssize_t n_j, const double *a, const double *b, double *p,
                                  double *q, const double *tau, const double *u_i, const double *u_j, double *row,
                                  double *count, double *col)
    double score_threshold "kb_score_threshold"(int loss, double a, double lam)

cdef extern from "_regression.h" nogil:
    double regression_value "kb_regression_value"(int loss, double p, double r)
    double regression_slope "kb_regression_slope"(int loss, double p, double r)
    double regression_default "kb_regression_default"(int loss)

cdef double CLEARANCE = 1e-9   # smallest relative difference of values that differ by more than rounding


cdef class PopulationDraws:
    """Draws from a `kernbench.problems.ranking.sampling.Population` by the first steps of the Fisher-Yates shuffle.

    The steps are undone afterwards, so that a batch depends on its random numbers only.
    """

    def __init__(self, population):
        self.size, self.batch = population.size, population.batch
        self.rows = population.rows.astype(np.int32)
        self.weights = None if np.all(population.weights == 1.0) else population.weights
        self.order = np.arange(population.size, dtype=np.int32)
        self.swapped = np.empty(population.batch, dtype=np.int32)

    cdef void draw(self, const double *u, Py_ssize_t *places, Py_ssize_t *rows, double *weights) noexcept nogil:
        cdef Py_ssize_t k, r, n = self.size
        cdef int32_t place
        for k in range(self.batch):
            r = min(k + <Py_ssize_t> (u[k] * (n - k)), n - 1)
            place = self.order[r]
            self.order[r] = self.order[k]
            self.order[k] = place
            self.swapped[k] = <int32_t> r
            places[k] = place
            rows[k] = self.rows[place]
            weights[k] = 1.0 if self.weights is None else self.weights[place]
        for k in range(self.batch - 1, -1, -1):
            r = self.swapped[k]
            place = self.order[k]
            self.order[k] = self.order[r]
            self.order[r] = place


cdef class Batches:
    """Base of the batches of pairs and of one list."""

    def _set_up(self, sampling, mask):
        self.sampling, self.design, self.size, self.loss = sampling, sampling.design, sampling.batch, sampling.loss.code
        self.rows, self.places = np.empty(self.size, dtype=np.intp), np.empty(self.size, dtype=np.intp)
        self.scores, self.u, self.coef = np.empty(self.size), np.empty(self.size), np.empty(self.size)
        self.all_weights, self.order = np.zeros(self.design.n_samples), ScoreOrder(mask)

    def _rank_among(self, population):
        """Let exact thresholds be those of this population."""
        np.asarray(self.all_weights)[population.rows] = population.weights
        self.n_ranked = population.size

    cdef void draw(self, const double *u) noexcept nogil:
        pass

    cdef bint score(self, const double *v) noexcept nogil:
        cdef Py_ssize_t k
        cdef double total = 0.0
        for k in range(self.size):
            self.scores[k] = row_dot(self.design, self.rows[k], v)
            total += self.scores[k]
        return isfinite(total)

    cdef void add_rows(self, double size, double *v) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.size):
            if self.coef[k] != 0.0:
                row_add(self.design, self.rows[k], size * self.coef[k], v)

    cdef void subgradients(self, const double *lam, double share, double *slopes) noexcept nogil:
        pass

    cdef Py_ssize_t touched(self, Py_ssize_t k) noexcept nogil:
        return self.places[k] if self.n_thresholds > 1 else 0

    cdef bint rank(self, const double *scores) noexcept nogil:
        return self.order.sort(scores, 0.0)

    cdef double exact_threshold(self, double share) noexcept nogil:
        """A value above which a `share` of the total weight lies, rounded down to whole samples.

        It is halfway between the first sample that does not fit and the next larger value, so that rounding does not
        decide.
        """
        cdef Py_ssize_t k = self.design.n_samples
        cdef double total = 0.0, limit = share * self.n_ranked * (1.0 + 1e-12), value, clear
        while share < 1.0 and k > 0 and total <= limit:
            k -= 1
            total += self.all_weights[self.order.records[k].tag & INDEX_BITS]
        if total <= limit:
            return -INFINITY
        value = self.order.records[k].z
        clear = value + CLEARANCE * max(1.0, fabs(value))
        for k in range(k, self.design.n_samples):
            if self.order.records[k].z > clear and self.all_weights[self.order.records[k].tag & INDEX_BITS] > 0.0:
                return 0.5 * (value + self.order.records[k].z)
        return clear


cdef class PairBatches(Batches):
    """Batches of positives and negatives, for sums over pairs of l(a_i - b_j) with the l largest b_j.

    Parameters
    ----------
    sampling : PairSampling
    thresholds : {"exact", "stochastic"}
        "exact": all positives share one threshold of the scores b_j, instead of one of the losses each.
    """

    def __init__(self, sampling, thresholds="exact"):
        self.one_threshold = check_name("thresholds", thresholds, THRESHOLDS) == "exact"
        self._set_up(sampling, sampling.positive)
        self.positives, self.negatives = PopulationDraws(sampling.positives), PopulationDraws(sampling.negatives)
        self._rank_among(sampling.negatives)
        self.n_thresholds = 1 if self.one_threshold else self.positives.size
        n_i, n_j = self.positives.batch, self.negatives.batch
        self.n_touched = 1 if self.one_threshold else n_i
        self.p, self.tau, self.row, self.count = (np.empty(n_i) for _ in range(4))
        self.b, self.u_j, self.q, self.col = (np.empty(n_j + LANES) for _ in range(4))
        self.chosen = np.empty(n_j, dtype=np.intp)

    cdef void draw(self, const double *u) noexcept nogil:
        cdef Py_ssize_t n_i = self.positives.batch
        self.positives.draw(u, &self.places[0], &self.rows[0], &self.u[0])
        self.negatives.draw(u + n_i, &self.places[n_i], &self.rows[n_i], &self.u[n_i])

    cdef void subgradients(self, const double *lam, double share, double *slopes) noexcept nogil:
        cdef Py_ssize_t i, j, n_i = self.positives.batch, n_j = self.negatives.batch, n_chosen = 0
        cdef double above = 0.0
        for j in range(n_j):
            if not self.one_threshold or self.scores[n_i + j] > lam[0]:
                self.chosen[n_chosen] = j
                self.b[n_chosen], self.u_j[n_chosen] = self.scores[n_i + j], self.u[n_i + j]
                n_chosen += 1
                above += self.u[n_i + j]
        for i in range(n_i):
            self.tau[i] = (-INFINITY if self.one_threshold
                           else score_threshold(self.loss, self.scores[i], lam[self.places[i]]))
        self.pair_sums(n_chosen, 1.0 / (n_i * n_j))
        if self.one_threshold:
            slopes[0] = share - above / n_j
        else:
            for i in range(n_i):
                slopes[i] = share - self.count[i] / n_j

    cdef void pair_sums(self, Py_ssize_t n_chosen, double scale) noexcept nogil:
        """`coef` = scale * the sums over the pairs with the chosen negatives, above the thresholds `tau`."""
        cdef Py_ssize_t i, j, n_i = self.positives.batch, n_j = self.negatives.batch
        cdef Py_ssize_t padded = (n_chosen + LANES - 1) // LANES * LANES
        for j in range(n_chosen, padded):
            self.b[j], self.u_j[j] = -INFINITY, 0.0
        sum_pairs(self.loss, n_i, padded, &self.scores[0], &self.b[0], &self.p[0], &self.q[0], &self.tau[0], &self.u[0],
                  &self.u_j[0], &self.row[0], &self.count[0], &self.col[0])
        for i in range(n_i):
            self.coef[i] = -scale * self.u[i] * self.row[i]
        for j in range(n_j):
            self.coef[n_i + j] = 0.0
        for j in range(n_chosen):
            self.coef[n_i + self.chosen[j]] = scale * self.u_j[j] * self.col[j]


cdef class ListBatches(Batches):
    """Batches of samples, for the sum of the l largest of one list of losses."""

    def __init__(self, sampling):
        self.of_margin, self.y = sampling.of_margin, sampling.y
        self._set_up(sampling, np.zeros(sampling.design.n_samples, dtype=bool))
        self.population = PopulationDraws(sampling.population)
        self._rank_among(sampling.population)
        self.n_thresholds = self.n_touched = 1
        self.losses = np.empty(sampling.design.n_samples)

    cdef void draw(self, const double *u) noexcept nogil:
        self.population.draw(u, &self.places[0], &self.rows[0], &self.u[0])

    cdef void subgradients(self, const double *lam, double share, double *slopes) noexcept nogil:
        cdef Py_ssize_t k, n = self.size
        cdef double above = 0.0, y, s
        for k in range(n):
            y, s, self.coef[k] = self.y[self.rows[k]], self.scores[k], 0.0
            if self._value(y, s) > lam[0]:
                above += self.u[k]
                self.coef[k] = self.u[k] / n * (y * margin_slope(self.loss, y * s) if self.of_margin
                                                else regression_slope(self.loss, regression_default(self.loss), s - y))
        slopes[0] = share - above / n

    cdef double _value(self, double y, double s) noexcept nogil:
        if self.of_margin:
            return margin_value(self.loss, y * s)
        return regression_value(self.loss, regression_default(self.loss), s - y)

    cdef bint rank(self, const double *scores) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.design.n_samples):
            self.losses[i] = self._value(self.y[i], scores[i])
        return self.order.sort(&self.losses[0], 0.0)
