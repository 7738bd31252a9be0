"""Steps of SIMBA: O(n + d) each. The slack goes to the examples with the largest q, which are found by selection, not by
sorting."""

from libc.math cimport log, sqrt

from kernbench.solvers.design._design cimport FeatureDesign
from kernbench.solvers.linear._rows cimport row_add

import numpy as np

cdef double MOST_SLACK = 2.0   # enough, since heights lie in [-1, 1]
cdef double SMALLEST = 1e-150  # lower limit of q_i relative to the largest: entries that underflow could never recover


def steps(FeatureDesign design, FeatureDesign columns, problem, const double[:, ::1] drawn, double horizon, double radius,
          double budget, double[::1] u, double[::1] q, double[::1] counts, double[::1] lags, double[::1] numbers):
    """Do a step for each pair of uniform numbers; `numbers` are the steps done so far, the entries touched, the steps of
    this game, |u|^2, the sum of the step lengths, and where the edge of the slack was."""
    cdef Game game = Game(design, columns, problem, horizon, radius, budget, u, q, counts, lags)
    cdef Py_ssize_t k
    game.squared_norm, game.passed, game.edge, game.reach = numbers[3], numbers[4], numbers[5], numbers[6]
    with nogil:
        for k in range(drawn.shape[0]):
            game.step(drawn[k, 0], drawn[k, 1])
    numbers[0] += drawn.shape[0]
    numbers[1] += drawn.shape[0] * (q.shape[0] + 3 * u.shape[0])
    numbers[2] += drawn.shape[0]
    numbers[3], numbers[4], numbers[5], numbers[6] = game.squared_norm, game.passed, game.edge, game.reach


cdef class Game:
    cdef FeatureDesign design, columns
    cdef double horizon, radius, budget, squared_norm, passed
    cdef double rate          # of the updates of q: sqrt(log n / T), n the number of rows with a weight
    cdef double edge, reach   # the q at the edge of the slack; the share of it within which the next is sought
    cdef const double[::1] y, weights
    cdef double[::1] u, q, counts, lags
    cdef double[::1] v, column, values, masses   # working memory

    def __init__(self, design, columns, problem, horizon, radius, budget, u, q, counts, lags):
        n, d = len(q), len(u)
        self.design, self.columns, self.y, self.weights = design, columns, problem.y, problem.weights
        self.horizon, self.radius, self.budget = horizon, radius, budget
        self.rate = sqrt(max(log(np.count_nonzero(problem.weights > 0)), 1e-12) / horizon)
        self.u, self.q, self.counts, self.lags = u, q, counts, lags
        self.v, self.column, self.values, self.masses = np.empty(n), np.zeros(max(n, d)), np.empty(n), np.empty(n)

    cdef void step(self, double for_example, double for_feature) noexcept nogil:
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
        self._give_slack()
        for i in range(n):
            self.column[i] = 0.0
        if j >= 0:
            see = self.squared_norm / (self.u[j] * norm * self.radius)
            row_add(self.columns, j, see, &self.column[0])
        self._answer()

    cdef void _answer(self) noexcept nogil:
        """The multiplicative update of q, by the heights in `column` and the slack in `v`."""
        cdef:
            Py_ssize_t i, n = self.q.shape[0]
            double rate = self.rate, most = 1.0 / rate, seen, largest = 0.0
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

    cdef void _give_slack(self) noexcept nogil:
        """v = the slack in [0, 2]^n within the budget that is best for p: to the largest q_i first, ties by index."""
        cdef:
            Py_ssize_t i, n = self.q.shape[0]
            double above = 0.0, edge, room
        edge = self._edge(self.budget / MOST_SLACK)
        for i in range(n):
            self.v[i] = MOST_SLACK if self.q[i] > edge and self.weights[i] > 0.0 else 0.0
            above += self.weights[i] if self.q[i] > edge else 0.0
        room = self.budget - MOST_SLACK * above
        for i in range(n):
            if room <= 0.0:
                return
            if self.q[i] == edge and self.weights[i] > 0.0:
                self.v[i] = min(MOST_SLACK, room / self.weights[i])
                room -= MOST_SLACK * self.weights[i]

    cdef double _edge(self, double mass) noexcept nogil:
        """The q_i at which the examples with the largest q_i together reach the weight `mass`; -1 if they do not.

        It changes little in a step: only values within `reach` of the last one are searched, or all if that fails.
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


cdef double _select(double *values, double *masses, Py_ssize_t n, double mass) noexcept nogil:
    """The value at which the weights of the largest values sum to `mass`; -1 if all of them do not."""
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
