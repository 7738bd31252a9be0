"""Naive mini-batches for the partial AUC: the window of each batch instead of that of all negatives.

Kar, Narasimhan, Jain, "Online and Stochastic Gradient Methods for Non-decomposable Loss Functions", NeurIPS 2014. The
expected loss of a batch's window is not that of the window of all negatives, so the method is biased, the less the
larger the batch.
"""

from libc.math cimport INFINITY, sqrt

from kernbench.ranking._order cimport INDEX_BITS, ScoreOrder
from kernbench.solvers.design._design cimport dot
from kernbench.solvers.ranking.stochastic._base cimport Stochastic
from kernbench.solvers.ranking.stochastic._batches cimport PairBatches

import numpy as np

from kernbench import ranking
from kernbench.problems.margin_problem import require_number
from kernbench.problems.ranking.pools import OF_LAST, OF_MEANS, PAIR_LOSSES, step_of
from kernbench.problems.ranking.ranked_problem import WindowProblem, check_loss
from kernbench.validation.numbers import check_flag


cdef class MiniBatch(Stochastic):
    """Mini-batch descent for alpha/2 |w|^2 + the mean pair loss over a window of false positive rates.

    Step t = 1, 2, ... draws positives and negatives without replacement and descends by step / sqrt(t) on the mean
    loss over the window of the batch. A window covers mass, so that its ends may cut a negative in two; the published
    method rounds them to ranks. The regulariser is handled in closed form. Weights multiply the terms of the sums.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, at least 0.
    weights : array-like of shape (n_samples,), optional
    loss : {"log_loss", "hinge", "squared_hinge"}, default="log_loss"
    fpr_range : (float, float), default=(0.0, 1.0)
        The window; it covers the negatives from the mass of the first to that of the second, in shares of theirs.
    ranks : (int, int), optional
        The window in ranks of negatives, the paper's (m, n), instead of `fpr_range`.
    tol : float, default=1e-3
        Not used by the solver itself: `check` is given its tolerance. The stages that the rule compares end after
        100, 200, 400, ... steps.
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, and the run one uniform number per sample of a batch.
    initial : Solution, optional
        A run of this class with the same parameters goes on exactly; any other ``coef`` is a starting point. By
        default normal numbers of standard deviation 0.01: zero would be a critical point.
    step : float, optional
        The paper's c; by default 50 over the mean |x|^2, or 5 without `average`, or 1 for the squared hinge.
    n_positive, n_negative : int, default=100
        Samples in a batch.
    radius : float, optional
        Project on the ball of this radius after each step. By default there is no projection.
    average : bool, default=True
        `solution` is the mean of the iterates; False gives the last one.
    """

    cdef PairBatches batches
    cdef ScoreOrder order                # of the negatives of a batch
    cdef bint average
    cdef double step_size, radius, low, high
    cdef double[::1] sum, steps, descending

    losses = PAIR_LOSSES

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", fpr_range=(0.0, 1.0), ranks=None, tol=1e-3,
                 random_state=None, initial=None, step=None, n_positive=100, n_negative=100, radius=None, average=True):
        check_flag("average", average)
        self.radius = INFINITY if radius is None else require_number("radius", radius, positive=True)
        self.average = average
        check_loss(loss, self.losses)
        ranked = WindowProblem(y, weights, loss, fpr_range, ranks)
        self.batches = PairBatches(design, ranked, n_positive, n_negative)
        self.step_size = step_of(step, design, OF_MEANS if average else OF_LAST, self.batches.pools.steep)
        self.window = ranked.make(ranking)
        pools = self.batches.pools
        self.low, self.high = pools.low, pools.high
        self.order = ScoreOrder(np.zeros(pools.negatives.batch, dtype=bool))
        self.descending = np.empty(pools.negatives.batch)
        settings = (self.step_size, self.radius, average, self.batches.loss, pools.batch, pools.low, pools.high)
        self.steps, self.sum = np.zeros(1), np.zeros(design.n_coef)    # the sum of the iterates after each step
        self._set_up(design, alpha, pools.batch, settings, 100, random_state, initial)

    cdef int _step(self, const double *u) except -1 nogil:
        cdef Py_ssize_t k, d = self.w.shape[0]
        cdef double eta, shrunk, norm
        self.batches.draw(u)
        if not self.batches.score(&self.w[0]):
            self._refuse_overflow()
        self._slopes()
        self.steps[0] += 1.0
        eta = self.step_size / sqrt(self.steps[0])
        shrunk = 1.0 / (1.0 + eta * self.alpha)
        for k in range(d):
            self.w[k] *= shrunk
        self.batches.add_rows(-eta * shrunk, &self.w[0])
        if self.radius < INFINITY:
            norm = sqrt(dot(&self.w[0], &self.w[0], d))
            if norm > self.radius:
                for k in range(d):
                    self.w[k] *= self.radius / norm
        for k in range(d):
            self.sum[k] += self.w[k]
        self.n_inner_products += 2 * self.batches.size
        if self.steps[0] == 100.0 * (<long long> 1 << self.stage):
            with gil:
                self._end_at_current()
        return 0

    def _end_at_current(self):
        cdef double[::1] coef = np.array(self._current())
        self._end_stage(&coef[0])

    cdef void _slopes(self) noexcept nogil:
        """The subgradient of the mean loss over the window of the batch."""
        cdef:
            Py_ssize_t i, j, k, n_i = self.batches.positives.batch, n_j = self.batches.negatives.batch, n_chosen = 0
            double total = 0.0, of_positives = 0.0, after = 0.0, before, share, low, high
        for i in range(n_i):
            self.batches.tau[i] = -INFINITY
            of_positives += self.batches.u[i]
        for j in range(n_j):
            self.descending[j] = -self.batches.scores[n_i + j]
            total += self.batches.u[n_i + j]
        self.order.sort(&self.descending[0], 0.0)
        low, high = self.low * total, self.high * total
        for k in range(n_j):
            j = self.order.records[k].tag & INDEX_BITS
            before, after = after, after + self.batches.u[n_i + j]
            share = min(after, high) - max(before, low)
            if share > 0.0:
                self.batches.chosen[n_chosen] = j
                self.batches.b[n_chosen], self.batches.u_j[n_chosen] = self.batches.scores[n_i + j], share
                n_chosen += 1
        self.batches.pair_sums(n_chosen, 1.0 / (of_positives * (high - low)))

    def _current(self):
        return np.asarray(self.sum) / self.steps[0] if self.average and self.steps[0] else self.w

    def _own_arrays(self):
        return {"w": np.asarray(self.w), "sum": np.asarray(self.sum), "steps": np.asarray(self.steps)}
