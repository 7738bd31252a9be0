"""The stochastic batch perceptron, with kernel rows fetched in advance.

The example of a step is chosen by proposals from a stream of uniform numbers: the first proposed example that is below
the water level is taken, which is exactly a draw from p*. Since the water level moves slowly, the stream predicts the
examples of the coming steps with few errors; so a missing row is fetched together with the missing rows of these steps,
and a batch of rows costs a tenth of single rows. Fetching in advance changes no iterate.

The dual variables are s * beta with one scale s (Cotter et al. 2012, section 3.3), their average is kept in two sums;
responses and their average are updated in one pass over memory.
"""

from libc.math cimport sqrt

from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels.engine._tiles cimport step_responses_double, step_responses_float
from kernbench.solvers.kernel.sbp._water cimport Basin, Water

import numpy as np

from kernbench.losses.margin import margin_loss
from kernbench.problems.margin_problem import MarginProblem, require_number, require_state
from kernbench.problems.slack_budget import best_scale, next_retune, tuned_volume
from kernbench.problems.water_level import NO_LEVEL, water_level
from kernbench.solvers.base import Diverged, Solution
from kernbench.validation.numbers import check_number
from kernbench.problems.draws import as_generator, open_streams

cdef enum:
    DRIFT_STEPS = 1000     # steps between two recomputations of ||f||^2
    LOOK_AHEAD = 512       # steps the prefetch looks ahead
    FETCH = 64             # largest number of rows fetched together: one panel of the engine
    RESERVE = 8192         # proposals buffered before a series of steps without the interpreter
    STRETCH = 256          # steps of such a series
    TRIES = 256            # rejected proposals after which an exact walk decides

cdef double FOLD_BELOW = 1e-2   # fold the scale back into beta before the average cancels


cdef class SBP:
    """Kernel SVM by the stochastic batch perceptron; the parameters are those of the reference twin.

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
        -1 and +1.
    alpha : float, optional
        Weight of the norm; the slack budget is then tuned to it. Exactly one of `alpha` and `nu`.
    nu : float, optional
        Slack budget per example of the paper's problem (2.3).
    weights : array-like of shape (n,), optional
    fit_intercept : bool, default=True
    loss : {"hinge"}
        The slack of a margin is its hinge loss; no other loss is offered.
    burn_in : int, default=0
        Steps left out of the average (the paper's T0).
    average_power : float, optional
        Step t enters the average with weight (t/1000)^average_power; by default 0 with `nu` and 2 with `alpha`.
    fetch_rows : int, default=16
        Largest number of kernel rows fetched together, up to 64; a row costs little more in a batch of 16, of which a
        quarter fewer remain unused than of 64. With 1 only rows that steps need are fetched, so `n_kernel_evaluations`
        is the paper's count without the rows found in the cache. The iterates are the same.
    random_state : None, int, RandomState or Generator
    initial : Solution, optional

    References
    ----------
    Cotter, Shalev-Shwartz, Srebro: The Kernelized Stochastic Batch Perceptron, ICML 2012.
    """

    cdef readonly long long n_iter
    cdef readonly bint converged
    cdef readonly object problem
    cdef readonly Py_ssize_t first_check
    cdef KernelRows rows
    cdef readonly Water water
    cdef object streams, basins
    cdef bint tuned
    cdef long long burn_in
    cdef double power, first_rate, squared_norm
    cdef readonly double volume
    cdef double[::1] y, c, average_c, diagonal
    # dual = scale * beta; sum of weighted duals = base + beta * paid - early
    cdef double[::1] beta, base, early
    cdef double scale, paid, average_weight
    # the draws of the current series
    cdef double[:, ::1] coins, proposals_first, proposals_second
    cdef Py_ssize_t coin, used_first, used_second
    cdef Py_ssize_t[::1] wish
    cdef double last_objective, last_gap, bound     # at `objective_at`, `gap_at`; the best lower bound so far
    cdef long long objective_at, gap_at

    losses = ("hinge",)
    granularity = 1

    def __init__(self, rows, y, *, alpha=None, nu=None, weights=None, fit_intercept=True, loss="hinge", burn_in=0,
                 average_power=None, fetch_rows=16, random_state=None, initial=None):
        if (alpha is None) == (nu is None):
            raise ValueError("SBP needs exactly one of alpha (regularisation) and nu (slack budget)")
        margin_loss(loss, offered=self.losses)
        problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept)
        n = problem.n
        self.problem, self.rows, self.tuned = problem, rows, alpha is not None
        self.burn_in = check_number("burn_in", burn_in, at_least=0, whole=True)
        if average_power is None:
            average_power = 2.0 if self.tuned else 0.0
        self.power = require_number("average_power", average_power)
        self.y, self.diagonal = problem.y, rows.diagonal()
        largest = np.asarray(self.diagonal)[problem.weights > 0].max()
        self.first_rate = 1.0 / sqrt(largest) if largest > 0 else 1.0
        self.first_check = n
        self.water = Water(problem.y, problem.weights, problem.fit_intercept)
        self.volume = problem.total_weight * (1.0 if self.tuned else require_number("nu", nu))
        self.c, self.average_c = np.zeros(n), np.zeros(n)
        self.beta, self.base, self.early = np.zeros(n), np.zeros(n), np.zeros(n)
        self.scale, self.objective_at, self.gap_at = 1.0, -1, -1
        check_number("fetch_rows", fetch_rows, at_least=1, whole=True)
        self.wish = np.empty(max(1, min(fetch_rows, FETCH, rows.capacity)), dtype=np.intp)
        self.basins = problem.y if problem.fit_intercept else None
        seed = int(as_generator(random_state).integers(2**53))
        self.streams = open_streams(seed)
        if initial is not None:
            self._start_from(initial)

    @property
    def n_kernel_evaluations(self):
        return self.rows.n_evaluations

    # --- the iteration -----------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        cdef Py_ssize_t done = 0, stop
        while done < n_iter:
            mark = next_retune(self.n_iter) if self.tuned else self.n_iter + STRETCH
            stop = min(n_iter - done, mark - self.n_iter, STRETCH)
            done += self._stretch(stop)
            if self.tuned and self.n_iter == mark:
                self._retune()
        return done

    cdef Py_ssize_t _stretch(self, Py_ssize_t n_iter) except -1:
        """Up to `n_iter` steps without the interpreter; return how many were done (draws may run out)."""
        cdef Py_ssize_t done = 0
        coins, first, second = self.streams
        self.coins, self.coin = coins.ahead(STRETCH + LOOK_AHEAD), 0
        self.proposals_first, self.used_first = first.ahead(RESERVE), 0
        self.proposals_second, self.used_second = second.ahead(RESERVE), 0
        with nogil:
            while done < n_iter and self._draws_left():
                self._step()
                done += 1
        coins.position += self.coin
        first.position += self.used_first
        second.position += self.used_second
        return done

    cdef bint _draws_left(self) noexcept nogil:
        return (self.used_first + TRIES + 1 < self.proposals_first.shape[0]
                and self.used_second + TRIES + 1 < self.proposals_second.shape[0])

    cdef int _step(self) except -1 nogil:
        cdef:
            Py_ssize_t i, j, n = self.c.shape[0]
            double rate, step, shrink = 1.0, share
            void *row = NULL
        if not self.water.level(&self.c[0], self.volume):
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
        """The first accepted proposal from `used` on; after TRIES rejections that of an exact walk (or -1 without
        `walk`)."""
        cdef Py_ssize_t attempt, k
        cdef double height
        for attempt in range(TRIES):
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
            Py_ssize_t count = 1, step, coin = self.coin, first = self.used_first, second = self.used_second, i, k
            Py_ssize_t room = self.wish.shape[0]
            bint heads = True, known
            void *pointers[FETCH]
        self.wish[0] = needed
        for step in range(LOOK_AHEAD):
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

    # --- the budget ----------------------------------------------------------------------------------------------------

    def _retune(self):
        """Set the budget from the best multiple of the averaged direction, if that multiple is positive."""
        direction, heights = self._direction()
        scale, intercept = self._scale_and_intercept()
        if scale > 0:
            loss = self.problem.loss_sum(scale * self.problem.y * heights, intercept)
            self.volume = tuned_volume(loss, scale, direction.sum(), direction @ heights,
                                       self.problem.alpha * self.problem.n)

    def _dual(self):
        return self.scale * np.asarray(self.beta)

    def _average(self):
        """The sum of the weighted duals, base + beta * paid - early."""
        return np.asarray(self.base) + np.asarray(self.beta) * self.paid - np.asarray(self.early)

    def _direction(self):
        """The averaged dual variables and heights; the current ones before there is an average."""
        if self.average_weight == 0:
            return self._dual(), np.asarray(self.c)
        return self._average() / self.average_weight, np.asarray(self.average_c) / self.average_weight

    def _level_of_average(self):
        return water_level(self._direction()[1], self.problem.weights, self.volume, self.basins)

    def _scale_and_intercept(self):
        if self.tuned:
            direction, heights = self._direction()
            return best_scale(heights, direction @ heights, self.problem.y, self.problem.weights,
                              alpha=self.problem.alpha, fit_intercept=self.problem.fit_intercept)
        level = self._level_of_average()
        return (1.0, level.b) if level.gamma <= 0 else (1.0 / level.gamma, level.b / level.gamma)

    # --- what it found -------------------------------------------------------------------------------------------------

    @property
    def separable(self):
        """False as long as the level of the average is not positive at this `nu`; then `solution` is not scaled."""
        return self.tuned or self._level_of_average().gamma > 0

    def check(self, tol):
        """Set `converged` to whether the duality gap is at most `tol` times the objective; never with `nu`."""
        if self.tuned:
            self.converged = self.gap() <= tol * max(self.objective(), np.finfo(float).tiny)
        return self.converged

    def solution(self):
        """The averaged direction, scaled: to margins of 1 (`nu`), or to the least objective (`alpha`)."""
        direction, _ = self._direction()
        scale, intercept = self._scale_and_intercept()
        state = {"dual": self._dual(), "responses": np.array(self.c), "average": self._average(),
                 "average_responses": np.array(self.average_c),
                 "scalars": np.array([self.squared_norm, self.average_weight, self.volume]),
                 "streams": np.array([self.streams[0].seed, *(s.position for s in self.streams)], dtype=np.float64)}
        return Solution(scale * self.problem.y * direction, intercept, self.n_iter, state)

    def _scaled(self):
        direction, heights = self._direction()
        scale, intercept = self._scale_and_intercept()
        signed = scale * self.problem.y
        return signed * direction, signed * heights, intercept

    def objective(self):
        """The objective of `solution`; with `nu`, minus the water level of the averaged direction."""
        if self.objective_at != self.n_iter:
            if self.tuned:
                coef, responses, intercept = self._scaled()
                self.last_objective = self.problem.objective(responses, coef @ responses, intercept)
            else:
                self.last_objective = -self._level_of_average().gamma
            self.objective_at = self.n_iter
        return self.last_objective

    def gap(self):
        """The objective of `solution` minus a lower bound on the optimum; None with `nu`.

        This may cost a product with the kernel matrix.
        """
        if self.tuned and self.gap_at != self.n_iter:
            self.last_gap, self.gap_at = self.problem.gap(*self._scaled()), self.n_iter
            self.bound = max(self.bound, self.objective() - self.last_gap)
        return self.last_gap if self.tuned else None

    def known_gap(self):
        """The objective minus the best lower bound found by `gap` so far (0 before the first); needs no kernel
        values."""
        return max(0.0, self.objective() - self.bound) if self.tuned else None

    def _start_from(self, initial):
        keys = ("dual", "responses", "average", "average_responses", "scalars", "streams")
        state = require_state(initial, self.problem.n, keys)
        self.n_iter = initial.n_iter
        if state is not None:
            self.beta, self.c = state["dual"], state["responses"]
            self.base, self.average_c = state["average"], state["average_responses"]
            self.squared_norm, self.average_weight, volume = state["scalars"].tolist()
            if self.tuned:
                self.volume = volume
            seed, *positions = (int(x) for x in state["streams"])
            self.streams = open_streams(seed, positions)
            return
        dual = np.maximum(0.0, self.problem.y * initial.coef)
        heights = self.problem.y * self.rows.matvec(self.problem.y * dual)
        norm = np.sqrt(max(0.0, dual @ heights))
        if norm > 0:
            self.beta, self.c, self.squared_norm = dual / norm, heights / norm, 1.0
            if self.tuned:
                self._retune()
