"""Newton's method on explicit features, for any loss: alpha/2 ||w||^2 + (1/n) sum_i w_i l(z_i) to a certified gap.

A loss with a kink is replaced by its Moreau envelope (Nesterov 2005; for regressions Madsen and Nielsen 1993),

    l_mu(z) = min_u l(u) + (z - u)^2 / (2 mu) = max_a psi(a) - a z - mu/2 a^2,

with psi(a) = -l*(-a). It is smooth, and its slope -a at the margins or residuals z_i of any w gives dual variables of
the problem itself. Their certificate is a sum of numbers that are not negative, so it does not cancel:

    gap = |alpha w + r|^2 / (2 alpha) + (1/n) sum_i w_i (l(z_i) - psi(a_i) + a_i z_i),

where r is the gradient of the mean of the l_mu, and alpha w + r that of the smoothed objective. The first term is what
is left of the smoothed problem, the second one what the smoothing costs, 0 for a smooth loss (mu = 0). As soon as the
first is at most `BALANCE` times the second, mu shrinks.

The smoothed objective is minimised by Newton steps with an exact line search on scores. The Hessian

    alpha I + (1/n) sum_i w_i l_mu''(z_i) x_i x_i'

takes the rows with l'' > 0 only, which for piecewise quadratic losses are few in the end. Its Cholesky factor solves
the equation (scaling the columns changes nothing), or is the preconditioner of conjugate gradients: where it is summed
over a sample of the rows, where it stems from an earlier step because a new one does not pay off, and where a step by
the factor alone made no progress. Where a factor costs far more than products with the data (sparse rows, many
columns), the preconditioner is the diagonal of the Hessian until the gradients have cost as much as a factor. For the
squared error the first step is the solution of the normal equations; for squared hinge and Huber losses the last one is
exact, too (Keerthi and DeCoste 2005).

A loss with a kink takes dozens of widths, each with its Hessians. In that time coordinate ascent reaches the optimum of
many problems whose rows are nearly orthogonal or whose columns have like scales: where a Hessian costs far more than a
pass over the data, it is tried first, and given up as soon as its gap shrinks too slowly. With
a smooth loss it is tried once, where columns are too many for a factor and conjugate gradients have taken a thousand
passes, as they do on nearly separable rows.

With `free_last` the last column holds ones and its coefficient has no penalty: an intercept. It is kept at the minimum
for the other coefficients, at which the dual variables are feasible: sum_i w_i y_i a_i = 0.
"""

from functools import partial

import numpy as np

from kernbench.losses.margin import Hinge, LogLoss, SquaredHinge
from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.draws import seed_of
from kernbench.problems.linear.newton import (
    CHEAP,
    FIRST,
    LARGEST,
    LATE_PASSES,
    SAMPLE,
    ascends_in,
    ascends_late,
    cost_of_factor,
    cost_of_row,
    first_width,
    hessian_rows,
    most_passes,
)
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.reference.bundle.line_search import line_search
from kernbench.reference.bundle.preconditioner import Preconditioner
from kernbench.solvers.base import Solution
from kernbench.solvers.linear.sdca import SDCA
from kernbench.validation.numbers import check_number

COARSE_STEPS, COARSE_TOL = 30, 0.03  # of the first fit
LARGEST_CG = 250  # Hessian products per step
STUCK = 3  # steps without progress and without smoothing, after which rounding rules
BALANCE = 0.5  # share of the gap that is left to the smoothed problem before the width shrinks
SHRINK = 0.2
NARROWEST = 1e-14  # width, relative to the first one, at which the run ends
STILL = 1e-15  # a gap, relative to the objective, within rounding error
SAME = 1e-9  # relative difference of objectives that counts as rounding
PROGRESS = 1e-14  # smallest relative decrease that counts
SHIFTS, ROUNDING = (200, 1e-15)  # trial shifts; the sum of slopes that is rounding, relative to that of their sizes


class EnvelopeRisk:
    """(1/n) sum_i w_i l_mu(y_i s_i - t_i) of scores s."""

    def __init__(self, loss, y, targets, shares, mu):
        self.loss, self.y, self.targets, self.shares, self.mu = loss, y, targets, shares, mu

    def evaluate(self, scores):
        """Return the risk and its gradient with respect to the scores."""
        z = self.y * scores - self.targets
        slopes = self._slopes(z)
        values = self.loss.dual_value(-slopes) + slopes * z - 0.5 * self.mu * slopes**2
        if self.mu == 0.0:
            values = self.loss.value(z)
        return self.shares @ values, self.shares * self.y * slopes

    def density(self, scores):
        """Return w_i l_mu''(z_i) / n; on a kink that of the side where it is 0."""
        a = -self._slopes(self.y * scores - self.targets)
        return self.shares * self._curvatures(a)

    def exact(self, scores):
        """Return the risk without smoothing, and what smoothing adds to the gap."""
        z = self.y * scores - self.targets
        values, a = self.loss.value(z), -self._slopes(z)
        if self.mu == 0.0:
            return self.shares @ values, 0.0
        return self.shares @ values, self.shares @ np.maximum(0.0, values - self.loss.dual_value(a) + a * z)

    def best_shift(self, scores):
        """Return the constant that, added to all scores, minimises the risk: Newton's method within a bracket."""
        low, high, shift, width = -np.inf, np.inf, 0.0, 0.0
        for k in range(SHIFTS):
            slopes = self._slopes(self.y * (scores + shift) - self.targets)
            total, size = self.shares @ (self.y * slopes), self.shares @ np.abs(slopes)
            curvature = self.shares @ self._curvatures(-slopes)
            if abs(total) <= ROUNDING * size:
                break
            low, high = (low, shift) if total > 0.0 else (shift, high)
            trial = shift - total / curvature if curvature > 0.0 else np.inf
            if not (low < trial < high and np.isfinite(trial)) or k % 3 == 2:
                if np.isfinite(low) and np.isfinite(high):
                    trial = 0.5 * (low + high)
                else:
                    width = max(2.0 * width, 1.0 + abs(shift))
                    trial = shift - width if total > 0.0 else shift + width
            if trial in (shift, low, high):
                break
            shift = trial
        return shift

    def take(self, indices):
        """Return the risk of a subset of the samples."""
        shares = self.shares[indices]
        shares = shares * (self.shares.sum() / shares.sum())
        return EnvelopeRisk(self.loss, self.y[indices], self.targets[indices], shares, self.mu)

    def _slopes(self, z):
        if self.loss is LogLoss:
            return self.loss.slope(z)
        return np.array([-self.loss.dual_coordinate(0.0, one, self.mu) for one in z])

    def _curvatures(self, a):
        loss = self.loss
        if loss is LogLoss:
            return a * (1.0 - a)
        if loss in (Hinge, SquaredHinge):
            bend, smooth = 0.5 if loss is SquaredHinge else 0.0, (a > 0.0) & (a < loss.upper)
        else:
            bend, smooth = loss.bend, (a > loss.lower) & (a < loss.upper) & ((a != 0.0) | (loss.zone == 0.0))
        curvatures = np.zeros(len(a))
        curvatures[smooth] = 1.0 / (bend + self.mu)
        return curvatures


class Newton:
    """Newton's method for alpha/2 ||w||^2 + (1/n) sum_i w_i l(z_i), z_i = y_i <w, x_i> or <w, x_i> - y_i.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n,)
        Labels, -1 or +1; targets for a loss of residuals.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n,), optional
        Ones by default.
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
    """

    losses = EXAMPLE_LOSSES
    granularity = 1
    first_check = None
    n_kernel_evaluations = 0

    def __init__(self, design, y, *, alpha, weights=None, loss="squared_hinge", free_last=False, tol=1e-3,
                 min_iter=0, random_state=None, initial=None):  # fmt: skip
        self.tol = require_number("tol", tol, positive=True)
        self.min_iter = check_number("min_iter", min_iter, at_least=0, whole=True)
        self._seed = seed_of(random_state, initial)
        self.problem = problem = LinearProblem(
            design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses, free_last=free_last
        )
        self._widest = first_width(problem)
        shares = problem.weights / problem.n
        risk = EnvelopeRisk(problem.loss, problem.y, problem.targets, shares, self._widest)
        self._set_up(risk, design, problem.alpha, free_last, np.random.default_rng(self._seed))
        self._most_passes = 0 if free_last or self._widest == 0.0 else most_passes(design)
        self._late = not free_last and self._widest == 0.0
        self._coordinate_ascent = partial(
            SDCA, design, y, alpha=alpha, weights=weights, loss=loss, random_state=self._seed, core="reference"
        )
        if initial is not None:
            self._start_from(initial)

    def _set_up(self, risk, design, alpha, free_last, rng):
        self._risk, self._design, self._alpha, self._free_last = risk, design, alpha, bool(free_last)
        n, d = design.n_samples, design.n_coef
        self._penalised = slice(0, d - self._free_last)
        self._sample = np.arange(n) if n <= 4 * SAMPLE else np.sort(rng.choice(n, SAMPLE, replace=False))
        self._factor, self._exact = None, False
        if d <= LARGEST:
            self._row_cost = cost_of_row(design)
            rows = hessian_rows(n, d, self._row_cost, rng)
            self._factor = Preconditioner(design, None, alpha, rows, n_free=int(self._free_last))
            self._exact = len(rows) == n
        self._coef, self._scores = np.zeros(d), np.zeros(n)
        self._best, self._best_value, self._bound = np.zeros(d), np.inf, 0.0
        self._stuck, self._work, self._begun, self._warm, self._late = 0, 0.0, False, False, False
        self.n_iter, self._of_ascent, self.converged = 0, 0, False

    @property
    def n_inner_products(self):
        """Inner products with rows so far."""
        return self._design.n_passes * self._design.n_samples + self._of_ascent

    # --- the iteration
    # --------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take up to `n_iter` steps; return how many, fewer once the gap is closed or nothing moves any more."""
        done = 0
        while done < n_iter and not self.converged and not self._is_stuck():
            if not self._begun:
                self._begin()
                if self.converged:
                    break
            if self._late and ascends_late(self._work, len(self._coef), self._design):
                self._ascend_late()
                if self.converged:
                    break
            self._iterate()
            self.n_iter += 1
            done += 1
        if self._is_stuck():  # what is left is rounding
            self.check(self.tol)
        return done

    def _is_stuck(self):
        if self._risk.mu > 0.0:
            return self._risk.mu <= NARROWEST * self._widest
        return self._stuck >= STUCK

    def _begin(self):
        """Start from what was given, else from coordinate ascent, from the solution for a sample, or from 0."""
        if not self._warm and self._most_passes and self._ascend(self._most_passes):
            self._warm = True
        if not self._warm and len(self._sample) < self._design.n_samples:
            coarse = object.__new__(Newton)
            coarse.tol, coarse.min_iter, coarse._widest, coarse._seed = (COARSE_TOL, 0, self._widest, self._seed)
            part, rng = self._risk.take(self._sample), np.random.default_rng(self._seed)
            coarse._set_up(part, self._design.take(self._sample), self._alpha, self._free_last, rng)
            coarse.advance(COARSE_STEPS)
            self._coef, self._risk.mu = coarse._coef, part.mu
        self._warm = True
        if self._coef.any():
            self._scores = self._design.scores(self._coef)
        self._evaluate()
        # w = 0 separates nothing, even if its objective is within `tol`, as for a large alpha: take a step from it.
        self.converged = self.converged and bool(self._coef.any() or self._best_value <= self._bound)
        self._begun = True

    def _ascend_late(self):
        """Try coordinate ascent once, where conjugate gradients take too long, and continue from its optimum."""
        self._work = -np.inf
        if self._ascend(LATE_PASSES):
            self._scores = self._design.scores(self._coef)
            self._evaluate()

    def _ascend(self, most_passes):
        """Try to reach the optimum by coordinate ascent; return whether it did."""
        ascent = self._coordinate_ascent(tol=self.tol if self.n_iter >= self.min_iter else min(self.tol, STILL))
        is_done = ascends_in(ascent, self.problem.n, most_passes)
        self._of_ascent = ascent.n_inner_products
        if not is_done:
            return False
        self._coef, self._bound = ascent.solution().coef, max(self._bound, ascent.objective() - ascent.gap())
        self.n_iter += 1
        self.min_iter = min(self.min_iter, self.n_iter)  # it is as close as any number of steps could make it
        return True

    def _evaluate(self):
        """Value, gradient and certificate at the point; keep it if it is the best so far."""
        if self._free_last:
            shift = self._risk.best_shift(self._scores)
            self._scores, self._coef = self._scores + shift, self._coef.copy()
            self._coef[-1] += shift
        penalised = self._coef[self._penalised]
        penalty = 0.5 * self._alpha * penalised @ penalised
        loss, self._excess = self._risk.exact(self._scores)
        smooth, g = self._risk.evaluate(self._scores)
        value, self._smooth_value = loss + penalty, smooth + penalty
        # With an unpenalised constant the slopes add up to 0: what is left of them is rounding.
        self._gradient = np.zeros(len(self._coef))
        self._gradient[self._penalised] = self._design.combine(g)[self._penalised] + self._alpha * penalised
        self._square = self._gradient @ self._gradient
        if value < self._best_value:
            self._best, self._best_value = self._coef.copy(), value
        self._bound = max(self._bound, value - self._excess - self._square / (2.0 * self._alpha))
        tol = self.tol if self.n_iter >= self.min_iter else min(self.tol, STILL)
        self.converged = bool(self._best_value - self._bound <= tol * self._best_value)

    def _iterate(self):
        last, risk = self._smooth_value, self._risk
        is_solved = self._square <= 2.0 * self._alpha * BALANCE * self._excess
        if risk.mu > 0.0 and (is_solved or self._stuck > 0):
            # This problem is solved as closely as it resembles the one without smoothing.
            risk.mu *= SHRINK
            self._stuck = 0
            self._evaluate()
            return
        h = risk.density(self._scores)
        if self._fits(h) and self._exact and self._stuck == 0:
            step = self._factor.solve(-self._gradient)
            self._work += 2.0 * self._design.n_values
            moved = self._design.scores(step)
        else:
            step, moved = self._iterative_step(h)
        slope, curvature = self._gradient @ step, self._alpha * step[self._penalised] @ step[self._penalised]
        t = 0.0
        if slope < 0.0:
            offset = slope - risk.evaluate(self._scores)[1] @ moved
            t = line_search(
                lambda t: offset + curvature * t + risk.evaluate(self._scores + t * moved)[1] @ moved, slope
            )
        self._coef, self._scores = self._coef + t * step, self._scores + t * moved
        self._evaluate()
        self._stuck = 0 if self._smooth_value < last - PROGRESS * abs(last) else self._stuck + 1

    def _fits(self, h):
        """Factorise the Hessian if that pays off, and return whether it was done.

        It does where it is as cheap as a few products with the data, and once the conjugate gradients since the last
        time have cost as much.
        """
        factor, d = self._factor, self._design.n_coef
        self._affordable = np.inf  # work after which it is done
        if factor is None:
            return False
        self._affordable = self._row_cost * np.count_nonzero(h[factor.rows] > 0) + cost_of_factor(d)
        if factor.hessian.size:
            self._affordable -= CHEAP * self._design.n_values
        elif self._affordable <= FIRST * self._design.n_values:
            self._affordable = 0.0
        if self._work < self._affordable:
            return False
        factor.fit(h)
        self._work = 0.0
        return True

    def _iterative_step(self, h):
        """Solve the Newton equation by preconditioned conjugate gradients; return the step and its scores."""
        design = self._design
        step, moved, residual = np.zeros(design.n_coef), np.zeros(design.n_samples), -self._gradient
        if not self._is_factorised:
            self._diagonal = self._diagonal_of_hessian(h)
        p = z = self._preconditioned(residual)
        rz = residual @ z
        # Loose far from the optimum, tighter towards it: the convergence of the steps is faster than linear.
        goal = rz * min(0.1, np.sqrt(max(0.0, self._best_value - self._bound) / self._best_value)) ** 2
        for _ in range(LARGEST_CG):
            p_scores = design.scores(p)
            product = design.combine(h * p_scores)
            product[self._penalised] += self._alpha * p[self._penalised]
            curvature = product @ p
            if curvature <= 0.0:
                break  # nothing is left but rounding
            length = rz / curvature
            step, moved, residual = step + length * p, moved + length * p_scores, residual - length * product
            self._work += 4.0 * design.n_values
            z = self._preconditioned(residual)
            last, rz = rz, residual @ z
            # Without a factor the equation may take forever, and with one no time.
            if rz <= goal or (not self._is_factorised and self._work >= self._affordable):
                break
            p = z + rz / last * p
        return step, moved

    def _preconditioned(self, residual):
        return self._factor.solve(residual) if self._is_factorised else residual / self._diagonal

    @property
    def _is_factorised(self):
        return self._factor is not None and self._factor.hessian.size > 0

    def _diagonal_of_hessian(self, h):
        diagonal = self._design.square_sums(h)
        diagonal[self._penalised] += self._alpha
        return np.where(diagonal == 0.0, 1.0, diagonal)  # 0: no sample has a curvature

    # --- what it found
    # --------------------------------------------------------------------------------------------

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it."""
        self.converged = bool(self.gap() <= tol * self.objective())
        return self.converged

    def objective(self):
        """Return the objective of the best point."""
        if self._best_value < np.inf:
            return float(self._best_value)
        return self.problem.primal(self._coef, self._design.scores(self._coef))

    def gap(self):
        """Return the objective minus the best lower bound."""
        return max(0.0, self.objective() - self._bound)

    def solution(self):
        """Return the best point; the state holds the last one and the width of the smoothing."""
        coef = self._best if self._best_value < np.inf else self._coef
        state = {"iterate": self._coef.copy(), "settings": self.problem.settings(self._free_last),
                 "hessian": np.empty((0, 0)) if self._factor is None else self._factor.hessian.copy(),
                 "seed": np.array([self._seed]),
                 "progress": np.array([self._risk.mu, self._best_value, self._bound, self._stuck,
                                       self._work])}  # fmt: skip
        return Solution(coef.copy(), 0.0, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(initial, self._design.n_coef, ["iterate", "settings", "hessian", "progress"])
        self._coef = np.array(initial.coef, dtype=np.float64)
        self._warm, self.n_iter = True, initial.n_iter
        if state is None or not np.array_equal(state["settings"][1:], self.problem.settings(self._free_last)[1:]):
            return
        self._risk.mu, value, bound, stuck, work = state["progress"]
        if self._factor is not None:
            self._factor.load(state["hessian"])
        # The same objective: the same data, for which the bound holds, too.
        if state["settings"][0] == self._alpha and abs(self.objective() - value) <= SAME * value:
            self._best, self._coef = self._coef, state["iterate"]
            self._best_value, self._bound, self._stuck, self._work = value, bound, int(stuck), work
