"""SIMBA: the slack-constrained linear SVM as a game, in O(n + d) per step.

The step sizes sqrt(log n / T) and 1/sqrt(2 T) depend on the number T of steps: a game is played for T steps, the next
for 2 T. Columns are read from a transposed copy of X, which doubles its memory. The slack goes to the examples with the
largest q, which are found by selection, not by sorting.
"""

from libc.math cimport log, sqrt

from kernbench.solvers.design._design cimport FeatureDesign
from kernbench.solvers.linear._rows cimport row_add

import numpy as np

from kernbench.problems.linear.feature_bounds import certificate, squared_norms
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.problems.slack_budget import best_scale, next_retune
from kernbench.problems.water_level import water_level
from kernbench.solvers.base import Solution
from kernbench.problems.draws import UniformStream, seed_of
from kernbench.validation.numbers import check_number

cdef enum:
    FIRST_GAME = 4096
    DRAWS = 4096
cdef double MOST_SLACK = 2.0   # enough, as heights lie in [-1, 1]
cdef double SMALLEST = 1e-150  # relative to the largest q_i: entries that underflow could never recover
FIRST_HORIZON = FIRST_GAME


cdef class SIMBA:
    """SIMBA with a given slack budget `nu`, or one tuned to `alpha`; hinge loss.

    With `nu` it solves the slack-constrained problem: ||w|| <= 1, slack nu per unit of weight, the smallest margin as
    large as possible. With `alpha` it solves alpha/2 ||w||^2 + (1/n) sum_i w_i hinge(y_i <w, x_i>): its minimiser u
    solves the other problem at nu = L(u)/||u||, L its mean loss. So from time to time the best multiple of the average
    is computed exactly, and the budget is set to its slack.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n,)
        Labels, -1 or +1.
    alpha : float, optional
        Regularisation, > 0. Exactly one of `alpha` and `nu` must be given.
    nu : float, optional
        Slack per unit of weight, at least 0 (0 is the hard margin), of w with ||w|| <= 1.
    weights : array-like of shape (n,), optional
        Ones by default.
    loss : {"hinge"}, default="hinge"
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, which draws two uniform numbers per step.
    initial : Solution, optional
        Where to start. A run of this class with the same settings is continued exactly. Other coefficients give the
        first budget, and are the solution until the first game is over: a game itself begins at w = 0.
    horizon : int, default=4096
        Steps of the first game.

    Attributes
    ----------
    n_inner_products : int
        (n + 3 d) / d for a step, n for each budget that is set.

    References
    ----------
    Hazan, Koren, Srebro, NIPS 2011.
    """

    cdef readonly long long n_iter
    cdef readonly bint converged
    cdef readonly object problem
    cdef readonly Py_ssize_t first_check
    cdef FeatureDesign design, columns
    cdef object stream, settings
    cdef bint tuned
    cdef long long touched, horizon, step_in_game, last_length, next_budget
    cdef double radius, volume, squared_norm, passed
    cdef double edge, reach   # the q at the edge of the slack; the share of it within which the next is sought
    cdef const double[::1] y, weights
    cdef double[::1] u, q, counts, lags, last, last_dual
    cdef double[::1] v, column, values, masses   # working memory

    losses = ("hinge",)
    granularity = 1
    n_kernel_evaluations = 0

    def __init__(self, design, y, *, alpha=None, nu=None, weights=None, loss="hinge", random_state=None, initial=None,
                 horizon=FIRST_HORIZON):
        if (alpha is None) == (nu is None):
            raise ValueError("SIMBA needs exactly one of alpha (regularisation) and nu (slack budget)")
        check_number("horizon", horizon, at_least=1, whole=True)
        self.tuned = alpha is not None
        problem = LinearProblem(design, y, alpha=alpha if self.tuned else 1.0, weights=weights, loss=loss,
                                offered=self.losses)
        self.problem, self.design, self.y, self.weights = problem, design, problem.y, problem.weights
        largest = squared_norms(design)[problem.weights > 0].max()
        self.radius = np.sqrt(largest) if largest > 0 else 1.0
        self.columns = FeatureDesign(design.X.T)
        self.volume = problem.total_weight * (1.0 if self.tuned else require_number("nu", nu))
        self.settings = np.array([alpha if self.tuned else -1.0, -1.0 if self.tuned else nu, horizon], dtype=np.float64)
        self.first_check = self.horizon = horizon
        n, d = problem.n, design.n_coef
        self.u, self.last = np.zeros(d), np.zeros(d)
        self.q, self.counts, self.lags, self.last_dual = (np.zeros(n) for _ in range(4))
        self.v, self.column, self.values, self.masses = np.empty(n), np.zeros(max(n, d)), np.empty(n), np.empty(n)
        self._even_out()
        self.edge, self.reach = 1.0, 0.1
        self.stream = UniformStream(seed_of(random_state, initial), 0, width=2)
        if initial is not None:
            self._start_from(initial)
        self.next_budget = next_retune(self.n_iter)

    @property
    def n_inner_products(self):
        return self.touched // self.design.n_coef

    # --- the game ----------------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        cdef Py_ssize_t k, done = 0, steps
        cdef const double[:, ::1] drawn
        while done < n_iter:
            if self.step_in_game == self.horizon:
                self._begin_game()
            steps = min(<Py_ssize_t> DRAWS, n_iter - done, self.horizon - self.step_in_game)
            if self.tuned:
                steps = min(steps, self.next_budget - self.n_iter)
            drawn = self.stream.ahead(steps)[:steps]
            self.stream.position += steps
            with nogil:
                for k in range(steps):
                    self._step(drawn[k, 0], drawn[k, 1])
            done += steps
            if self.tuned and self.n_iter == self.next_budget:
                self._retune()
                self.next_budget = next_retune(self.n_iter)
        return done

    def _begin_game(self):
        self.last, self.last_dual = self._average()
        self.last_length, self.horizon, self.step_in_game = self.horizon, 2 * self.horizon, 0
        self.u[:], self.counts[:], self.lags[:] = 0.0, 0.0, 0.0
        self.squared_norm = self.passed = 0.0
        self._even_out()

    cdef void _even_out(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.q.shape[0]):
            self.q[i] = 1.0 if self.weights[i] > 0.0 else 0.0

    cdef void _step(self, double for_example, double for_feature) noexcept nogil:
        cdef:
            Py_ssize_t i, j, n = self.q.shape[0], d = self.u.shape[0]
            double size = 1.0 / sqrt(2.0 * self.horizon), norm, see
        # w steps along z_i, i drawn from p
        for i in range(n):
            self.column[i] = self.weights[i] * self.q[i]
        i = _draw(&self.column[0], n, for_example)
        row_add(self.design, i, size * self.y[i] / self.radius, &self.u[0])
        self.squared_norm = 0.0
        for j in range(d):
            self.column[j] = self.u[j] * self.u[j]
            self.squared_norm += self.column[j]
        norm = max(1.0, sqrt(self.squared_norm))
        self.counts[i] += 1.0
        self.lags[i] += self.passed
        self.passed += size / norm
        # update p by the heights along one feature
        j = _draw(&self.column[0], d, for_feature) if self.squared_norm > 0.0 else -1
        self._give_slack(self.volume / self.radius)
        for i in range(n):
            self.column[i] = 0.0
        if j >= 0:
            see = self.squared_norm / (self.u[j] * norm * self.radius)
            row_add(self.columns, j, see, &self.column[0])
        self._answer()
        self.touched += n + 3 * d
        self.step_in_game += 1
        self.n_iter += 1

    cdef void _answer(self) noexcept nogil:
        """The multiplicative update of q, by the heights in `column` and the slack in `v`."""
        cdef:
            Py_ssize_t i, n = self.q.shape[0]
            double rate = sqrt(max(log(n), 1e-12) / self.horizon), most = 1.0 / rate, seen, largest = 0.0
            double *q = &self.q[0]
            double *v = &self.v[0]
            const double *y = &self.y[0]
            const double *column = &self.column[0]
            const double *weights = &self.weights[0]
        for i in range(n):
            seen = v[i] + y[i] * column[i]
            seen = -most if seen < -most else seen
            seen = rate * (most if seen > most else seen)
            q[i] *= 1.0 - seen + seen * seen
            largest = q[i] if q[i] > largest else largest
        for i in range(n):
            seen = q[i] / largest
            q[i] = SMALLEST if seen < SMALLEST and weights[i] > 0.0 else seen

    cdef void _give_slack(self, double budget) noexcept nogil:
        """v = the slack in [0, 2]^n within the budget that is best for p: to the largest q_i first, ties by index."""
        cdef:
            Py_ssize_t i, n = self.q.shape[0]
            double above = 0.0, edge, room
        edge = self._edge(budget / MOST_SLACK)
        for i in range(n):
            self.v[i] = MOST_SLACK if self.q[i] > edge and self.weights[i] > 0.0 else 0.0
            above += self.weights[i] if self.q[i] > edge else 0.0
        room = budget - MOST_SLACK * above
        for i in range(n):
            if room <= 0.0:
                return
            if self.q[i] == edge and self.weights[i] > 0.0:
                self.v[i] = min(MOST_SLACK, room / self.weights[i])
                room -= MOST_SLACK * self.weights[i]

    cdef double _edge(self, double mass) noexcept nogil:
        """The q_i at which the examples with the largest q_i together reach the weight `mass`; -1 if they do not.

        It changes little in a step: only values within `reach` of the last one are searched, or all if it is not there.
        """
        cdef:
            Py_ssize_t i, count = 0, n = self.q.shape[0]
            const double *q = &self.q[0]
            const double *weights = &self.weights[0]
            double *values = &self.values[0]
            double *masses = &self.masses[0]
            double low = self.edge * (1.0 - self.reach), high = self.edge * (1.0 + self.reach)
            double above = 0.0, inside = 0.0
            bint near
        if mass <= 0.0:
            return 2.0             # q_i <= 1: no example
        # Without branches, which could not be predicted.
        for i in range(n):
            near = (q[i] >= low) & (q[i] <= high)
            above += weights[i] * (q[i] > high)
            inside += weights[i] * near
            values[count], masses[count] = q[i], weights[i]
            count += near
        if above < mass <= above + inside:
            self.reach *= 0.8 if count > n // 16 else 1.0
            self.edge = _select(values, masses, count, mass - above)
        else:
            self.reach = min(2.0 * self.reach, 0.5)
            for i in range(n):
                values[i], masses[i] = q[i], weights[i]
            self.edge = _select(values, masses, n, mass)
        return self.edge

    # --- what it found -----------------------------------------------------------------------------------------------

    def _average(self):
        """The average of this game so far, and the multiples of the y_i x_i in it."""
        dual = (self.passed * np.asarray(self.counts) - np.asarray(self.lags)) / (max(self.step_in_game, 1) * self.radius)
        return self.design.combine(self.problem.y * dual), dual

    def _direction(self):
        """The average of the longer of the last two games."""
        return self._average() if self.step_in_game >= self.last_length else (np.asarray(self.last), np.asarray(self.last_dual))

    def _judged(self):
        """The direction f, its coefficients of the y_i x_i, its heights y_i f(x_i), and the multiple of f to report."""
        problem, (direction, dual) = self.problem, self._direction()
        heights = problem.y * self.design.scores(direction)
        if self.tuned:
            scale, _ = best_scale(
                heights, direction @ direction, problem.y, problem.weights, alpha=problem.alpha, fit_intercept=False
            )
        else:
            level = water_level(heights, problem.weights, self.volume).gamma
            scale = 1.0 / level if level > 0 else 1.0
        return direction, dual, heights, scale

    def _retune(self):
        """Set the budget to what the best multiple u of the direction would need: V = sum_i w_i hinge_i / ||u||."""
        problem, (direction, _, heights, scale) = self.problem, self._judged()
        self.touched += problem.n * len(direction)
        if scale > 0:
            loss = problem.loss_sum(scale * problem.y * heights, 0.0)
            self.volume = loss / (scale * np.linalg.norm(direction))

    def objective(self):
        """Return the objective of `solution`; with `nu`, minus the water level of the averaged direction."""
        direction, _, heights, scale = self._judged()
        if not self.tuned:
            return -water_level(heights, self.problem.weights, self.volume).gamma
        return self.problem.primal(scale * direction, scale * self.problem.y * heights)

    def _certificate(self):
        problem, (direction, dual, _, scale) = self.problem, self._judged()
        # w = scale f = (1/(alpha n)) sum_i w_i a_i y_i x_i
        known = problem.alpha * problem.n * scale * dual / np.where(problem.weights > 0, problem.weights, 1.0)
        return certificate(problem, scale * direction, known)

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum; None with `nu`."""
        return self._certificate()[1] if self.tuned else None

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective; never with `nu`, which has no gap."""
        if self.tuned:
            objective, gap = self._certificate()
            self.converged = gap <= tol * objective
        return self.converged

    def solution(self):
        """Return the averaged direction, divided by its level (`nu`) or at its best scale (`alpha`)."""
        direction, _, _, scale = self._judged()
        scalars = [self.stream.position, self.horizon, self.step_in_game, self.squared_norm, self.passed,
                   self.last_length, self.volume]
        state = {
            "seed": np.array([self.stream.seed]), "settings": np.array(self.settings),
            "scalars": np.array(scalars, dtype=np.float64), "u": np.array(self.u), "q": np.array(self.q),
            "counts": np.array(self.counts), "lags": np.array(self.lags), "last": np.array(self.last),
            "last_dual": np.array(self.last_dual),
        }
        return Solution(scale * direction, 0.0, self.n_iter, state)

    def _start_from(self, initial):
        keys = ["settings", "scalars", "u", "q", "counts", "lags", "last", "last_dual"]
        state = require_state(initial, self.design.n_coef, keys)
        self.n_iter = initial.n_iter
        if state is not None and np.array_equal(state["settings"], self.settings) and len(state["q"]) == self.problem.n:
            _, scalars, self.u, self.q, self.counts, self.lags, self.last, self.last_dual = state.values()
            position, horizon, step, self.squared_norm, self.passed, length, self.volume = scalars
            self.horizon, self.step_in_game, self.last_length = int(horizon), int(step), int(length)
            self.stream = UniformStream(self.stream.seed, 0, width=2, position=int(position))
            return
        coef = np.array(initial.coef, dtype=np.float64)
        norm = np.linalg.norm(coef)
        if norm > 0:
            self.last, self.last_length = coef / norm, self.horizon
            if self.tuned:
                self._retune()


cdef double _select(double *values, double *masses, Py_ssize_t n, double mass) noexcept nogil:
    """The value at which the largest values together reach the weight `mass`; -1 if they do not."""
    cdef:
        Py_ssize_t low, equal, high
        double pivot, of_larger, of_equal, a, b, c
    while n > 0:
        a, b, c = values[0], values[n // 2], values[n - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        low, equal, high, of_larger, of_equal = 0, 0, n, 0.0, 0.0
        while equal < high:    # larger ones to the front, smaller ones to the back
            a, b = values[equal], masses[equal]
            if a > pivot:
                of_larger += b
                values[equal], masses[equal] = values[low], masses[low]
                values[low], masses[low] = a, b
                low += 1
                equal += 1
            elif a < pivot:
                high -= 1
                values[equal], masses[equal] = values[high], masses[high]
                values[high], masses[high] = a, b
            else:
                of_equal += b
                equal += 1
        if of_larger >= mass:
            n = low
        elif of_larger + of_equal >= mass:
            return pivot
        else:
            mass -= of_larger + of_equal
            values, masses, n = values + high, masses + high, n - high
    return -1.0


cdef Py_ssize_t _draw(const double *masses, Py_ssize_t n, double u) noexcept nogil:
    """The entry selected by a uniform number, in proportion to `masses`."""
    cdef double total = 0.0, passed = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        total += masses[i]
    total *= u
    for i in range(n):
        passed += masses[i]
        if passed > total:
            return i
    return n - 1
