"""Steps of Newton's method on explicit features, for any loss."""

from libc.math cimport INFINITY, fabs, sqrt

from kernbench.solvers.bundle._line_search cimport SampledLine
from kernbench.solvers.bundle._preconditioner cimport Preconditioner, preconditioner_of
from kernbench.solvers.bundle._risk cimport answer_signals, refuse_nan
from kernbench.solvers.design._design cimport Design, dot
from kernbench.solvers.linear._envelope cimport EnvelopeRisk

import numpy as np

from kernbench.problems.linear.newton import CHEAP, FIRST, LARGEST, cost_of_factor, cost_of_row, hessian_rows

cdef enum:
    LARGEST_CG = 250               # Hessian products per step
    STUCK = 3                      # after this many steps without progress and smoothing, the rest is rounding error
cdef double BALANCE = 0.5          # share of the gap that is left to the smoothed problem before the width shrinks
cdef double SHRINK = 0.2
cdef double NARROWEST = 1e-14      # width, relative to the first one, at which the run ends
cdef double PROGRESS = 1e-14       # smallest relative decrease that counts


def point_of(problem, bint free_last, double widest, rng):
    """Return the point w = 0 of a `LinearProblem`."""
    return Point(EnvelopeRisk(problem), free_last, widest, rng)


def part_of(Point point, sample, rng):
    """Return the point w = 0 of the problem of some rows."""
    part = point.risk.take(sample, point.design.take(sample))
    return Point(part, point.free_last, point.widest, rng)


def step(Point point):
    """Take a step, or smooth less if the smoothed problem is solved."""
    with nogil:
        point._iterate()


cdef class Point:
    """A point with its scores, gradient and certificate, the best one so far, and the factor of a Hessian.

    The parameters `free_last`, `widest` and `rng` and the attributes are those of the reference.
    """

    cdef EnvelopeRisk risk
    cdef Design design
    cdef SampledLine line
    cdef Preconditioner factor
    cdef bint free_last, exact
    cdef public double best_value, bound, work
    cdef public int stuck
    cdef double alpha, widest, value, smooth_value, square, excess
    cdef double row_cost, factor_cost  # of a row of the Hessian, and of its factorisation, in multiplications
    cdef double cheap, first          # costs up to which it is factorised in each step, and for the first time
    cdef double affordable            # work after which the Hessian is factorised
    cdef Py_ssize_t n_penalised
    cdef object coef_array, best_array
    cdef double[::1] w, best_w, scores, g, h, gradient, step, moved, residual, z, p, p_scores, product, curved
    cdef double[::1] diagonal         # of the Hessian, the preconditioner before the first factorisation

    def __init__(self, EnvelopeRisk risk, bint free_last, double widest, rng):
        n, d = risk.n, risk.design.n_coef
        self.risk, self.design, self.alpha, self.free_last = risk, risk.design, risk.alpha, free_last
        self.n_penalised = d - free_last
        self.widest = self.risk.mu = widest
        self.line = SampledLine(risk, np.arange(n))
        if d <= LARGEST:
            self.row_cost, self.factor_cost = cost_of_row(risk.design), cost_of_factor(d)
            self.cheap, self.first = CHEAP * risk.design.n_values, FIRST * risk.design.n_values
            rows = hessian_rows(n, d, self.row_cost, rng)
            self.exact = len(rows) == n
            self.factor = preconditioner_of(self.design, None, self.alpha, rows)
            self.factor.n_free = free_last
        self.coef, self.best, self.gradient, self.step = np.zeros(d), np.zeros(d), np.empty(d), np.empty(d)
        self.residual, self.z, self.p, self.product = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
        self.diagonal = np.empty(d)
        self.scores, self.g, self.h, self.moved = np.zeros(n), np.empty(n), np.empty(n), np.empty(n)
        self.p_scores, self.curved = np.empty(n), np.empty(n)
        self.best_value, self.bound = INFINITY, 0.0

    @property
    def coef(self):
        return self.coef_array

    @coef.setter
    def coef(self, coef):
        self.coef_array = self.w = coef

    @property
    def best(self):
        return self.best_array

    @best.setter
    def best(self, best):
        self.best_array = self.best_w = best

    @property
    def mu(self):
        return self.risk.mu

    @mu.setter
    def mu(self, double mu):
        self.risk.mu = mu

    def hessian(self):
        """Return the Hessian of the factor, as a matrix without rows if there is none."""
        return np.empty((0, 0)) if self.factor is None else self.factor.state()

    def load_hessian(self, hessian):
        """Factorise what `hessian` returned."""
        if self.factor is not None:
            self.factor.load(hessian)

    def is_stuck(self):
        """Return whether only rounding errors are left to improve."""
        if self.risk.mu > 0.0:
            return self.risk.mu <= NARROWEST * self.widest
        return self.stuck >= STUCK

    def evaluate_at(self, coef):
        """Go to these coefficients."""
        self.coef = coef
        if np.any(coef):
            self.design.score(&self.w[0], &self.scores[0])
        else:
            self.scores[:] = 0.0
        with nogil:
            self._evaluate()

    cdef int _evaluate(self) except -1 nogil:
        """Value, gradient and certificate at the point; keep it if it is the best so far."""
        cdef Py_ssize_t k, d = self.w.shape[0]
        cdef double penalty
        if self.free_last:
            self._shift_by(self.risk.best_shift(&self.scores[0]))
        penalty = self._penalty(self.w)
        self.value = self.smooth_value = self.risk.risk(&self.scores[0], &self.g[0]) + penalty
        if self.risk.mu > 0.0:
            self.value = self.risk.exact(&self.scores[0], &self.excess) + penalty
        refuse_nan(self.value)
        self.design.gather_up(&self.g[0], &self.gradient[0])
        for k in range(self.n_penalised):
            self.gradient[k] += self.alpha * self.w[k]
        # With an unpenalised constant the slopes sum to 0: what remains of the sum is a rounding error.
        for k in range(self.n_penalised, d):
            self.gradient[k] = 0.0
        self.square = dot(&self.gradient[0], &self.gradient[0], d)
        if self.value < self.best_value:
            self.best_value = self.value
            self.best_w[:] = self.w
        self.bound = max(self.bound, self.value - self.excess - self.square / (2.0 * self.alpha))
        return 0

    cdef void _shift_by(self, double shift) noexcept nogil:
        """Add a constant to all scores through the last coefficient, that of a column of ones."""
        cdef Py_ssize_t i
        for i in range(self.risk.n):
            self.scores[i] += shift
        self.w[self.n_penalised] += shift

    cdef double _penalty(self, const double[::1] coef) noexcept nogil:
        return 0.5 * self.alpha * dot(&coef[0], &coef[0], self.n_penalised)

    cdef int _iterate(self) except -1 nogil:
        cdef:
            Py_ssize_t i, k
            double slope, curvature, t, last = self.smooth_value
        answer_signals()
        if self.risk.mu > 0.0 and (self.square <= 2.0 * self.alpha * BALANCE * self.excess or self.stuck > 0):
            # The smoothed problem is solved as accurately as it approximates the one without smoothing.
            self.risk.mu *= SHRINK
            self.stuck = 0
            self._evaluate()
            return 0
        self.risk.density(&self.scores[0], &self.h[0])
        if self._fits() and self.exact and self.stuck == 0:
            self._direct_step()
        else:
            self._iterative_step()
        slope = dot(&self.gradient[0], &self.step[0], self.step.shape[0])
        curvature = 2.0 * self._penalty(self.step)
        t = self.line.search(&self.scores[0], &self.moved[0], slope, curvature)
        for k in range(self.w.shape[0]):
            self.w[k] += t * self.step[k]
        for i in range(self.risk.n):
            self.scores[i] += t * self.moved[i]
        self._evaluate()
        self.stuck = 0 if self.smooth_value < last - PROGRESS * fabs(last) else self.stuck + 1
        return 0

    cdef bint _fits(self) except -1 nogil:
        """Factorise the Hessian if that pays off; return whether it was done.

        It pays off if it costs no more than a few products with the data, or as much as the conjugate gradient
        iterations since the last factorisation.
        """
        cdef Py_ssize_t i, count = 0
        self.affordable = INFINITY
        if self.factor is None:
            return False
        for i in range(self.factor.rows.shape[0]):
            count += self.h[self.factor.rows[i]] > 0.0
        self.affordable = self.row_cost * count + self.factor_cost
        if self.factor.fitted:
            self.affordable -= self.cheap
        elif self.affordable <= self.first:
            self.affordable = 0.0
        if self.work < self.affordable:
            return False
        self.factor.fit(&self.h[0])
        self.work = 0.0
        return True

    cdef int _direct_step(self) except -1 nogil:
        """Solve the Newton equation by the factor; `moved` becomes the scores of the step."""
        cdef Py_ssize_t k
        for k in range(self.w.shape[0]):
            self.step[k] = -self.gradient[k]
        self.factor.solve(&self.step[0])
        self.work += 2.0 * self.design.n_values
        return self.design.score(&self.step[0], &self.moved[0])

    cdef int _iterative_step(self) except -1 nogil:
        """Solve the Newton equation by preconditioned conjugate gradients."""
        cdef:
            Py_ssize_t i, k, _turn, d = self.w.shape[0], n = self.risk.n
            double rz, last, goal, length, share
            bint is_factorised = self.factor is not None and self.factor.fitted
        if not is_factorised:
            self._fit_diagonal()
        self.step[:], self.moved[:] = 0.0, 0.0
        for k in range(d):
            self.residual[k] = -self.gradient[k]
        self._precondition()
        self.p[:] = self.z
        rz = dot(&self.residual[0], &self.z[0], d)
        # Loose far from the optimum, tighter towards it: the convergence of the steps is faster than linear.
        goal = rz * min(0.1, sqrt(max(0.0, self.best_value - self.bound) / self.best_value)) ** 2
        for _turn in range(LARGEST_CG):
            answer_signals()
            self.design.score(&self.p[0], &self.p_scores[0])
            for i in range(n):
                self.curved[i] = self.h[i] * self.p_scores[i]
            self.design.gather_up(&self.curved[0], &self.product[0])
            for k in range(self.n_penalised):
                self.product[k] += self.alpha * self.p[k]
            length = dot(&self.product[0], &self.p[0], d)
            if length <= 0.0:
                break              # only rounding errors are left
            length = rz / length
            for k in range(d):
                self.step[k] += length * self.p[k]
                self.residual[k] -= length * self.product[k]
            for i in range(n):
                self.moved[i] += length * self.p_scores[i]
            self.work += 4.0 * self.design.n_values
            self._precondition()
            last, rz = rz, dot(&self.residual[0], &self.z[0], d)
            # Without a factor as preconditioner this may take very long; with one, it takes few iterations.
            if rz <= goal or (not is_factorised and self.work >= self.affordable):
                break
            share = rz / last
            for k in range(d):
                self.p[k] = self.z[k] + share * self.p[k]
        return 0

    cdef void _precondition(self) noexcept nogil:
        """z: the residual, preconditioned by the Cholesky factor, or by the diagonal."""
        cdef Py_ssize_t k
        self.z[:] = self.residual
        if self.factor is not None and self.factor.fitted:
            self.factor.solve(&self.z[0])
            return
        for k in range(self.z.shape[0]):
            self.z[k] /= self.diagonal[k]

    cdef int _fit_diagonal(self) except -1 nogil:
        cdef Py_ssize_t k, d = self.w.shape[0]
        self.design.square_sums(&self.h[0], &self.diagonal[0])
        for k in range(d):
            if k < self.n_penalised:
                self.diagonal[k] += self.alpha
            elif self.diagonal[k] == 0.0:
                self.diagonal[k] = 1.0     # no sample contributes curvature
        return 0
