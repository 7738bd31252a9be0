"""Steps of the stochastic batch perceptron, with kernel rows fetched in advance.

The example of a step is chosen by proposals from a stream of uniform numbers: the first proposed example that is below
the water level is taken, which is exactly a draw from p* (the uniform distribution on the examples below it). Since the
water level moves slowly, the stream predicts the examples of the coming steps with few errors; so a missing kernel row
is fetched together with the missing rows of these steps, at a tenth of the cost of single rows. Fetching in advance
changes no iterate.

The dual variables are s * beta with one scale s (Cotter et al. 2012, section 3.3); their average is kept in two sums.
Responses and their average are updated in one pass over memory.
"""

from libc.math cimport sqrt

from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels.engine._tiles cimport step_responses_double, step_responses_float
from kernbench.solvers.kernel.sbp._water cimport Basin, Water

import numpy as np

from kernbench.problems.water_level import NO_LEVEL
from kernbench.solvers.base import Diverged

cdef enum:
    DRIFT_STEPS = 1000     # steps between two recomputations of ||f||^2
    LOOK_AHEAD = 512       # steps the prefetch looks ahead
    FETCH = 64             # largest number of rows fetched together: one panel of the engine
    RESERVE = 8192         # proposals buffered before a series of steps without the interpreter
    STRETCH = 256          # steps of such a series
    TRIES = 256            # rejected proposals after which an exact walk decides

cdef double FOLD_BELOW = 1e-2   # fold the scale back into beta before the average cancels


def steps(Work work, Py_ssize_t n_iter, streams, double volume):
    """Do `n_iter` steps at this slack budget; return how many were done."""
    cdef Py_ssize_t done = 0
    while done < n_iter:
        done += work._stretch(min(n_iter - done, STRETCH), streams, volume)
    return done


cdef class Work:
    """Dual variables and heights, their weighted sums over the steps, and what a step needs.

    Parameters and attributes are those of the reference; `fetch_rows` is the largest number of kernel rows fetched
    together.
    """

    cdef readonly long long n_iter
    cdef readonly double squared_norm, average_weight
    cdef readonly object heights, height_sums
    cdef readonly Water water
    cdef KernelRows rows
    cdef long long burn_in
    cdef double power, first_rate
    cdef double[::1] y, c, average_c, diagonal
    # dual = scale * beta; sum of weighted duals = base + beta * paid - early
    cdef double[::1] beta, base, early
    cdef double scale, paid
    # the draws of the current series
    cdef double[:, ::1] coins, proposals_first, proposals_second
    cdef Py_ssize_t coin, used_first, used_second
    cdef Py_ssize_t[::1] wish

    def __init__(self, rows, problem, burn_in, power, fetch_rows):
        n = problem.n
        self.rows, self.burn_in, self.power = rows, burn_in, power
        self.y, self.diagonal = problem.y, rows.diagonal()
        largest = np.asarray(self.diagonal)[problem.weights > 0].max()
        self.first_rate = 1.0 / sqrt(largest) if largest > 0 else 1.0
        self.water = Water(problem.y, problem.weights, problem.fit_intercept)
        self.wish = np.empty(max(1, min(fetch_rows, FETCH, rows.capacity)), dtype=np.intp)
        self.resume(0, np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), 0.0, 0.0)

    def resume(self, n_iter, dual, heights, sums, height_sums, squared_norm, average_weight):
        """Continue from here."""
        self.n_iter, self.squared_norm, self.average_weight = n_iter, squared_norm, average_weight
        self.heights, self.height_sums = heights, height_sums
        self.c, self.average_c = heights, height_sums
        self.beta, self.base, self.early = dual, sums, np.zeros(len(dual))
        self.scale, self.paid = 1.0, 0.0

    @property
    def n_kernel_evaluations(self):
        return self.rows.n_evaluations

    def dual(self):
        """Return the dual variables: f = sum_i dual_i y_i k(x_i, .)."""
        return self.scale * np.asarray(self.beta)

    def sums(self):
        """Return the weighted sums of the dual variables over the steps."""
        return np.asarray(self.base) + np.asarray(self.beta) * self.paid - np.asarray(self.early)

    cdef Py_ssize_t _stretch(self, Py_ssize_t n_iter, streams, double volume) except -1:
        """Up to `n_iter` steps without the interpreter; return how many were done (draws may run out)."""
        cdef Py_ssize_t done = 0, coin = 0, used_first = 0, used_second = 0     # the draws of whole steps
        coins, first, second = streams
        self.coins, self.coin = coins.ahead(STRETCH + LOOK_AHEAD), 0
        self.proposals_first, self.used_first = first.ahead(RESERVE), 0
        self.proposals_second, self.used_second = second.ahead(RESERVE), 0
        try:
            with nogil:
                while done < n_iter and self._draws_left():
                    self._step(volume)
                    done += 1
                    coin, used_first, used_second = self.coin, self.used_first, self.used_second
        finally:    # Ctrl-C may interrupt a kernel that is a Python function
            coins.position += coin
            first.position += used_first
            second.position += used_second
        return done

    cdef bint _draws_left(self) noexcept nogil:
        return (self.used_first + TRIES + 1 < self.proposals_first.shape[0]
                and self.used_second + TRIES + 1 < self.proposals_second.shape[0])

    cdef int _step(self, double volume) except -1 nogil:
        cdef:
            Py_ssize_t i, j, n = self.c.shape[0]
            double rate, step, shrink = 1.0, share
            void *row = NULL
        if not self.water.level(&self.c[0], volume):
            with gil:
                raise Diverged(NO_LEVEL)
        i = self._choose()
        if not self.rows.holds(i):
            self._fetch_ahead(i)
        self.rows.fetch(&i, 1, &row)

        self.n_iter += 1
        rate = self.first_rate / sqrt(<double> self.n_iter)
        self.squared_norm += 2.0 * rate * self.c[i] + rate * rate * self.diagonal[i]   # with c before the step
        if self.squared_norm > 1.0:
            shrink = 1.0 / sqrt(self.squared_norm)
            self.squared_norm = 1.0
        share = (<double> self.n_iter / 1000.0) ** self.power if self.n_iter > self.burn_in else 0.0
        if self.rows.single:
            step_responses_float(<float *> row, &self.y[0], rate * self.y[i], shrink, share, n, &self.c[0],
                                 &self.average_c[0])
        else:
            step_responses_double(<double *> row, &self.y[0], rate * self.y[i], shrink, share, n, &self.c[0],
                                  &self.average_c[0])
        step = rate / self.scale
        self.beta[i] += step
        self.early[i] += step * self.paid
        self.scale *= shrink
        self.paid += share * self.scale
        self.average_weight += share
        if self.scale < FOLD_BELOW:
            self._fold()
        if self.n_iter % DRIFT_STEPS == 0:
            self.squared_norm = 0.0
            for j in range(n):
                self.squared_norm += self.scale * self.beta[j] * self.c[j]
        return 0

    cdef void _fold(self) noexcept nogil:
        """Fold the scale into beta and the average into its base."""
        cdef Py_ssize_t j
        for j in range(self.beta.shape[0]):
            self.base[j] += self.beta[j] * self.paid - self.early[j]
            self.beta[j] *= self.scale
            self.early[j] = 0.0
        self.scale, self.paid = 1.0, 0.0

    # --- which example -----------------------------------------------------------------------------------------------

    cdef Py_ssize_t _choose(self) noexcept nogil:
        """A draw from p*: the class by a fair coin (two basins), then the first proposal below the water level."""
        cdef bint heads = True
        if self.water.two:
            heads = self.coins[self.coin, 0] < 0.5
            self.coin += 1
        if heads:
            return self._accept(self.water.first, self.proposals_first, &self.used_first, True)
        return self._accept(self.water.second, self.proposals_second, &self.used_second, True)

    cdef Py_ssize_t _accept(self, Basin basin, const double[:, ::1] proposals, Py_ssize_t *used,
                            bint walk) noexcept nogil:
        """The first accepted proposal from `used` on.

        After TRIES rejections it is the result of an exact walk over all examples, or -1 without `walk`.
        """
        cdef Py_ssize_t _attempt, k
        cdef double height
        for _attempt in range(TRIES):
            if used[0] >= proposals.shape[0]:
                return -1
            k = basin.propose(proposals[used[0], 0])
            height = self.c[basin.members[k]]
            used[0] += 1
            if height < basin.edge or (height == basin.edge and proposals[used[0] - 1, 1] < basin.share):
                return basin.members[k]
        if not walk or used[0] >= proposals.shape[0]:
            return -1
        used[0] += 1
        return basin.walk(&self.c[0], self.water.mass, proposals[used[0] - 1, 0], proposals[used[0] - 1, 1])

    cdef int _fetch_ahead(self, Py_ssize_t needed) except -1 nogil:
        """Fetch the row of `needed` and the missing rows of the coming steps, predicted at the present water level."""
        cdef:
            Py_ssize_t count = 1, _step, coin = self.coin, first = self.used_first, second = self.used_second, i, k
            Py_ssize_t room = self.wish.shape[0]
            bint heads = True, known
            void *pointers[FETCH]
        self.wish[0] = needed
        for _step in range(LOOK_AHEAD):
            if count == room or (self.water.two and coin >= self.coins.shape[0]):
                break
            if self.water.two:
                heads = self.coins[coin, 0] < 0.5
                coin += 1
            if heads:
                i = self._accept(self.water.first, self.proposals_first, &first, False)
            else:
                i = self._accept(self.water.second, self.proposals_second, &second, False)
            if i < 0:
                break
            known = self.rows.holds(i)
            for k in range(count):
                known = known or self.wish[k] == i
            if not known:
                self.wish[count] = i
                count += 1
        self.rows.fetch(&self.wish[0], count, pointers)
        return 0
