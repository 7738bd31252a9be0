"""Newton's method on explicit features, for any loss; explained in the reference."""

from libc.math cimport INFINITY, fabs, sqrt

from kernbench.solvers.bundle._line_search cimport SampledLine
from kernbench.solvers.bundle._preconditioner cimport Preconditioner, preconditioner_of
from kernbench.solvers.bundle._risk cimport answer_signals, refuse_nan
from kernbench.solvers.design._design cimport Design, dot
from kernbench.solvers.linear._envelope cimport EnvelopeRisk

from functools import partial

import numpy as np

from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.draws import seed_of
from kernbench.problems.linear.newton import (
    CHEAP, FIRST, LARGEST, LATE_PASSES, SAMPLE, ascends_in, ascends_late, cost_of_factor, cost_of_row, first_width,
    hessian_rows, most_passes,
)
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.solvers.base import Solution
from kernbench.solvers.linear.sdca import SDCA
from kernbench.validation.numbers import check_number

cdef enum:
    COARSE_STEPS = 30
    LARGEST_CG = 250               # Hessian products per step
    STUCK = 3                      # steps without progress and without smoothing, after which rounding rules
cdef double COARSE_TOL = 0.03
cdef double BALANCE = 0.5          # share of the gap that is left to the smoothed problem before the width shrinks
cdef double SHRINK = 0.2
cdef double NARROWEST = 1e-14      # width, relative to the first one, at which the run ends
cdef double STILL = 1e-15          # a gap, relative to the objective, within rounding error
cdef double SAME = 1e-9            # relative difference of objectives that counts as rounding
cdef double PROGRESS = 1e-14       # smallest relative decrease that counts


cdef class Newton:
    """Newton's method for alpha/2 ||w||^2 + (1/n) sum_i w_i l(z_i), z_i = y_i <w, x_i> or <w, x_i> - y_i.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n,)
        -1 and +1; targets for a loss of residuals.
    alpha : float
    weights : array-like of shape (n,), optional
    loss : str or ResidualLoss, default="squared_hinge"
        One of `losses`.
    free_last : bool, default=False
        Leave the coefficient of the last column, one of ones, without a penalty.
    tol : float, default=1e-3
        Converged when the duality gap is at most `tol` times the objective.
    min_iter : int, default=0
        Steps before a gap of `tol` ends the run; until then only convergence up to rounding does.
    random_state : None, int, RandomState or Generator
        For the rows of the Hessian and of the first fit, where there are too many for all.
    initial : Solution, optional
        Coefficients to start from.

    References
    ----------
    Keerthi and DeCoste, JMLR 6 (2005); Chapelle, Neural Computation 19 (2007); Nesterov, Math. Prog. 103 (2005).
    """

    cdef readonly long long n_iter
    cdef public long long min_iter
    cdef readonly bint converged
    cdef public double tol
    cdef readonly object problem
    cdef Design design
    cdef EnvelopeRisk risk
    cdef SampledLine line
    cdef Preconditioner factor
    cdef object sample
    cdef bint free_last, warm, begun, exact
    cdef bint late                    # whether coordinate ascent may be tried between two steps
    cdef double alpha, widest, value, smooth_value, square, excess, bound, best_value
    cdef double row_cost, factor_cost # of a row of the Hessian, and of its factorisation, in multiplications
    cdef double cheap, first          # costs up to which it is factorised in each step, and for the first time
    cdef double work                  # of conjugate gradients since the Hessian was factorised, in multiplications
    cdef double affordable            # work after which the Hessian is factorised
    cdef int stuck
    cdef Py_ssize_t n_penalised
    cdef long long seed
    cdef long long of_ascent          # inner products of coordinate ascent
    cdef Py_ssize_t most_passes       # of coordinate ascent, where it is tried before the first step; 0: nowhere
    cdef object coordinate_ascent     # that solver, but for `tol`
    cdef double[::1] coef, scores, g, h, gradient, best, step, moved, residual, z, p, p_scores, product, curved
    cdef double[::1] diagonal         # of the Hessian, the preconditioner before the first factorisation

    losses = EXAMPLE_LOSSES
    granularity = 1
    first_check = None
    n_kernel_evaluations = 0

    def __init__(self, design, y, *, alpha, weights=None, loss="squared_hinge", free_last=False, tol=1e-3,
                 min_iter=0, random_state=None, initial=None):
        self.tol = require_number("tol", tol, positive=True)
        self.min_iter = check_number("min_iter", min_iter, at_least=0, whole=True)
        self.seed = seed_of(random_state, initial)
        self.problem = LinearProblem(design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses,
                                     free_last=free_last)
        self.widest = first_width(self.problem)
        self._set_up(EnvelopeRisk(self.problem), free_last, np.random.default_rng(self.seed))
        self.most_passes = 0 if free_last or self.widest == 0.0 else most_passes(design)
        self.late = not free_last and self.widest == 0.0
        self.coordinate_ascent = partial(SDCA, design, y, alpha=alpha, weights=weights, loss=loss,
                                         random_state=self.seed)
        if initial is not None:
            self._start_from(initial)

    def _set_up(self, EnvelopeRisk risk, bint free_last, rng):
        n, d = risk.n, risk.design.n_coef
        self.risk, self.design, self.alpha, self.free_last = risk, risk.design, risk.alpha, free_last
        self.n_penalised = d - free_last
        self.risk.mu = self.widest
        self.sample = np.arange(n) if n <= 4 * SAMPLE else np.sort(rng.choice(n, SAMPLE, replace=False))
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
    def n_passes(self):
        return self.design.n_passes

    @property
    def n_inner_products(self):
        return self.design.n_passes * self.risk.n + self.of_ascent

    # --- the iteration -----------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take up to `n_iter` steps; return how many, fewer once the gap is closed or nothing moves any more."""
        done = 0
        while done < n_iter and not self.converged and not self._is_stuck():
            if not self.begun:
                self._begin()
                if self.converged:
                    break
            if self.late and ascends_late(self.work, self.design.n_coef, self.design):
                self._ascend_late()
                if self.converged:
                    break
            with nogil:
                self._iterate()
            self.n_iter += 1
            done += 1
        if self._is_stuck():       # what is left is rounding
            self.check(self.tol)
        return done

    cdef bint _is_stuck(self) noexcept nogil:
        if self.risk.mu > 0.0:
            return self.risk.mu <= NARROWEST * self.widest
        return self.stuck >= STUCK

    def _begin(self):
        """Start from what was given, else from coordinate ascent, from the solution for a sample, or from 0."""
        cdef Newton coarse
        if not self.warm and self.most_passes and self._ascend(self.most_passes):
            self.warm = True
        if not self.warm and len(self.sample) < self.risk.n:
            coarse = Newton.__new__(Newton)
            coarse.tol, coarse.widest, coarse.seed = COARSE_TOL, self.widest, self.seed
            part = self.risk.take(self.sample, self.design.take(self.sample))
            coarse._set_up(part, self.free_last, np.random.default_rng(self.seed))
            coarse.advance(COARSE_STEPS)
            self.coef, self.risk.mu = coarse.coef, coarse.risk.mu
        self.warm = True
        if np.any(self.coef):
            self.design.score(&self.coef[0], &self.scores[0])
        with nogil:
            self._evaluate()
        # w = 0 separates nothing, even if its objective is within `tol`, as for a large alpha: take a step from it.
        self.converged = self.converged and (np.any(self.coef) or self.best_value <= self.bound)
        self.begun = True

    def _ascend_late(self):
        """Try coordinate ascent once, where conjugate gradients take too long, and continue from its optimum."""
        self.work = -INFINITY
        if self._ascend(LATE_PASSES):
            self.design.score(&self.coef[0], &self.scores[0])
            with nogil:
                self._evaluate()

    def _ascend(self, most_passes):
        """Try to reach the optimum by coordinate ascent; return whether it did."""
        ascent = self.coordinate_ascent(tol=self.tol if self.n_iter >= self.min_iter else min(self.tol, STILL))
        is_done = ascends_in(ascent, self.risk.n, most_passes)
        self.of_ascent = ascent.n_inner_products
        if not is_done:
            return False
        self.coef, self.bound = ascent.solution().coef, max(self.bound, ascent.objective() - ascent.gap())
        self.n_iter += 1
        self.min_iter = min(self.min_iter, self.n_iter)    # it is as close as any number of steps could make it
        return True

    cdef int _evaluate(self) except -1 nogil:
        """Value, gradient and certificate at the point; keep it if it is the best so far."""
        cdef Py_ssize_t i, k, d = self.coef.shape[0]
        cdef double penalty, tol
        if self.free_last:
            self._shift_by(self.risk.best_shift(&self.scores[0]))
        penalty = self._penalty(self.coef)
        self.value = self.smooth_value = self.risk.risk(&self.scores[0], &self.g[0]) + penalty
        if self.risk.mu > 0.0:
            self.value = self.risk.exact(&self.scores[0], &self.excess) + penalty
        refuse_nan(self.value)
        self.design.gather_up(&self.g[0], &self.gradient[0])
        for k in range(self.n_penalised):
            self.gradient[k] += self.alpha * self.coef[k]
        # With an unpenalised constant the slopes add up to 0: what is left of them is rounding.
        for k in range(self.n_penalised, d):
            self.gradient[k] = 0.0
        self.square = dot(&self.gradient[0], &self.gradient[0], d)
        if self.value < self.best_value:
            self.best_value = self.value
            self.best[:] = self.coef
        self.bound = max(self.bound, self.value - self.excess - self.square / (2.0 * self.alpha))
        tol = self.tol if self.n_iter >= self.min_iter else min(self.tol, STILL)
        self.converged = self.best_value - self.bound <= tol * self.best_value
        return 0

    cdef void _shift_by(self, double shift) noexcept nogil:
        """Add a constant to all scores by way of the last coefficient, that of a column of ones."""
        cdef Py_ssize_t i
        for i in range(self.risk.n):
            self.scores[i] += shift
        self.coef[self.n_penalised] += shift

    cdef double _penalty(self, const double[::1] coef) noexcept nogil:
        return 0.5 * self.alpha * dot(&coef[0], &coef[0], self.n_penalised)

    cdef int _iterate(self) except -1 nogil:
        cdef:
            Py_ssize_t i, k
            double slope, curvature, t, last = self.smooth_value
        answer_signals()
        if self.risk.mu > 0.0 and (self.square <= 2.0 * self.alpha * BALANCE * self.excess or self.stuck > 0):
            # This problem is solved as closely as it resembles the one without smoothing.
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
        for k in range(self.coef.shape[0]):
            self.coef[k] += t * self.step[k]
        for i in range(self.risk.n):
            self.scores[i] += t * self.moved[i]
        self._evaluate()
        self.stuck = 0 if self.smooth_value < last - PROGRESS * fabs(last) else self.stuck + 1
        return 0

    cdef bint _fits(self) except -1 nogil:
        """Factorise the Hessian if that pays off, and return whether it was done.

        It does where it is as cheap as a few products with the data, and once the conjugate gradients since the last
        time have cost as much.
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
        for k in range(self.coef.shape[0]):
            self.step[k] = -self.gradient[k]
        self.factor.solve(&self.step[0])
        self.work += 2.0 * self.design.n_values
        return self.design.score(&self.step[0], &self.moved[0])

    cdef int _iterative_step(self) except -1 nogil:
        """Solve the Newton equation by preconditioned conjugate gradients."""
        cdef:
            Py_ssize_t i, k, turn, d = self.coef.shape[0], n = self.risk.n
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
        for turn in range(LARGEST_CG):
            answer_signals()
            self.design.score(&self.p[0], &self.p_scores[0])
            for i in range(n):
                self.curved[i] = self.h[i] * self.p_scores[i]
            self.design.gather_up(&self.curved[0], &self.product[0])
            for k in range(self.n_penalised):
                self.product[k] += self.alpha * self.p[k]
            length = dot(&self.product[0], &self.p[0], d)
            if length <= 0.0:
                break              # nothing is left but rounding
            length = rz / length
            for k in range(d):
                self.step[k] += length * self.p[k]
                self.residual[k] -= length * self.product[k]
            for i in range(n):
                self.moved[i] += length * self.p_scores[i]
            self.work += 4.0 * self.design.n_values
            self._precondition()
            last, rz = rz, dot(&self.residual[0], &self.z[0], d)
            # Without a factor the equation may take forever, and with one no time.
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
        cdef Py_ssize_t k, d = self.coef.shape[0]
        self.design.square_sums(&self.h[0], &self.diagonal[0])
        for k in range(d):
            if k < self.n_penalised:
                self.diagonal[k] += self.alpha
            elif self.diagonal[k] == 0.0:
                self.diagonal[k] = 1.0     # no sample has a curvature
        return 0

    # --- what it found -----------------------------------------------------------------------------------------------

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it."""
        self.converged = self.gap() <= tol * self.objective()
        return self.converged

    def objective(self):
        """Return the objective of the best point."""
        if self.best_value < INFINITY:
            return self.best_value
        return self.problem.primal(np.asarray(self.coef), self.design.scores(self.coef))

    def gap(self):
        """Return the objective minus the best lower bound."""
        return max(0.0, self.objective() - self.bound)

    def solution(self):
        """Return the best point; the state holds the last one and the width of the smoothing."""
        coef = np.array(self.best if self.best_value < INFINITY else self.coef)
        state = {"iterate": np.array(self.coef), "settings": self.problem.settings(self.free_last),
                 "hessian": np.empty((0, 0)) if self.factor is None else self.factor.state(),
                 "seed": np.array([self.seed]),
                 "progress": np.array([self.risk.mu, self.best_value, self.bound, self.stuck, self.work])}
        return Solution(coef, 0.0, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(initial, self.design.n_coef, ["iterate", "settings", "hessian", "progress"])
        self.coef = np.array(initial.coef, dtype=np.float64)
        self.warm, self.n_iter = True, initial.n_iter
        if state is None or not np.array_equal(state["settings"][1:], self.problem.settings(self.free_last)[1:]):
            return
        self.risk.mu, value, bound, stuck, work = state["progress"]
        if self.factor is not None:
            self.factor.load(state["hessian"])
        # The same objective: the same data, for which the bound holds, too.
        if state["settings"][0] == self.alpha and abs(self.objective() - value) <= SAME * value:
            self.best, self.coef = self.coef, state["iterate"]
            self.best_value, self.bound, self.stuck, self.work = value, bound, int(stuck), work
