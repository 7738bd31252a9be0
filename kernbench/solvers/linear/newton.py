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
pass over the data, it is tried first, and given up as soon as its gap shrinks too slowly. With a
smooth loss it is tried once, where columns are too many for a factor and conjugate gradients have taken a thousand
passes, as they do on nearly separable rows.

With `free_last` the last column holds ones and its coefficient has no penalty: an intercept. It is kept at the minimum
for the other coefficients, at which the dual variables are feasible: sum_i w_i y_i a_i = 0.
"""

from functools import partial
from time import perf_counter

import numpy as np

from kernbench.losses.regression import EXAMPLE_LOSSES, ResidualLoss
from kernbench.problems.draws import seed_of
from kernbench.problems.linear.newton import LATE_PASSES, SAMPLE, ascends_in, ascends_late, first_width, most_passes
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.solvers.base import Solution
from kernbench.solvers.linear.sdca import SDCA
from kernbench.solvers.method import Method
from kernbench.validation.numbers import check_number

COARSE_STEPS, COARSE_TOL = 30, 0.03  # of the first fit
STILL = 1e-15  # a gap, relative to the objective, within rounding error
SAME = 1e-9  # relative difference of objectives that counts as rounding
LARGE = 1e4  # a given intercept, in units of the targets, whose rounding is not to be left in scores
NARROW = 1e-3  # least width of smoothing, relative to the first one, at a warm start for another objective


class Newton(Method):
    """Newton's method for alpha/2 ||w||^2 + (1/n) sum_i w_i l(z_i), z_i = y_i <w, x_i> or <w, x_i> - y_i.

    Parameters
    ----------
    design, y, alpha, weights, loss, core : see `PrimalSolver`; the squared hinge by default
    free_last : bool, default=False
        Leave the coefficient of the last column, one of ones, without a penalty.
    tol : float, default=1e-3
        Converged when the duality gap is at most `tol` times the objective.
    min_iter : int, default=0
        Steps before a gap of `tol` ends the run; until then only convergence up to rounding does.
    random_state : None, int, RandomState or Generator
        Draws the rows of the Hessian and of the first fit, where all rows would be too many.
    initial : Solution, optional
        Coefficients to start from.

    References
    ----------
    Keerthi and DeCoste, JMLR 6 (2005); Chapelle, Neural Computation 19 (2007); Nesterov, Math. Prog. 103 (2005).
    """

    losses = EXAMPLE_LOSSES
    first_check = None
    is_interruptible = True

    def __init__(self, design, y, *, alpha, weights=None, loss="squared_hinge", free_last=False, tol=1e-3,
                 min_iter=0, random_state=None, initial=None, core="compiled"):  # fmt: skip
        super().__init__(core)
        self.tol = require_number("tol", tol, positive=True)
        self.min_iter = check_number("min_iter", min_iter, at_least=0, whole=True)
        self.seed = seed_of(random_state, initial)
        self.problem = problem = LinearProblem(
            design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses, free_last=free_last
        )
        self.design, self.free_last = design, bool(free_last)
        self.has_labels = not isinstance(problem.loss, ResidualLoss)
        widest, rng = first_width(problem), np.random.default_rng(self.seed)
        self.sample = None
        used = np.flatnonzero(problem.weights > 0)
        if len(used) > 4 * SAMPLE:
            self.sample = np.sort(rng.choice(used, SAMPLE, replace=False))
        self.point = self.core.point_of(problem, self.free_last, widest, rng)
        # Coordinate ascent is tried before the first step, or between two.
        self.most_passes = 0 if free_last or widest == 0.0 else most_passes(design)
        self.is_late = not free_last and widest == 0.0
        self.coordinate_ascent = partial(
            SDCA, design, y, alpha=alpha, weights=weights, loss=loss, random_state=self.seed, core=core
        )
        self.n_products_of_ascent = 0
        self.deadline, self.is_over = np.inf, False  # is_over: coordinate ascent was interrupted by the deadline
        self.is_warm = self.is_begun = False
        if initial is not None:
            self._start_from(initial)

    @property
    def n_inner_products(self):
        return self.design.n_passes * self.problem.n + self.n_products_of_ascent

    # --- the iteration -----------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take up to `n_iter` steps; return how many, fewer once the gap is closed or the point no longer moves."""
        done, point, self.is_over = 0, self.point, False
        while done < n_iter and not self.converged and not point.is_stuck():
            if not self.is_begun:
                self._begin()
                if self.converged or self.is_over:
                    break
            if self.is_late and ascends_late(point.work, self.design):
                self._ascend_late()
                if self.converged or self.is_over:
                    break
            self.core.step(point)
            self._judge()
            self.n_iter += 1
            done += 1
        if point.is_stuck():  # what is left is rounding
            self.check(self.tol)
        return done

    def stop_at(self, time):
        """Interrupt coordinate ascent from this value of `time.perf_counter` on; `advance` continues from its point."""
        self.deadline = time

    def _tol(self):
        return self.tol if self.n_iter >= self.min_iter else min(self.tol, STILL)

    def _judge(self):
        point = self.point
        self.converged = bool(point.best_value - point.bound <= self._tol() * point.best_value)
        # The first steps for a loss with a kink may only narrow the smoothing, and leave a classifier at w = 0.
        if self.converged and self.has_labels and point.best_value > point.bound:
            self.converged = bool(np.any(np.asarray(point.best)[: self.design.n_coef - self.free_last]))

    def _begin(self):
        """Start from what was given, else from coordinate ascent, from the solution for a sample, or from 0."""
        point, is_given = self.point, self.is_warm
        if not self.is_warm and self.most_passes and self._ascend(self.most_passes):
            self.is_warm = True
        if not self.is_warm and self.sample is not None and not self.is_over:
            point.coef, point.mu = self._solution_of_sample()
        self.is_warm = True
        point.evaluate_at(point.coef)
        if is_given and self.problem.is_far(point.best_value):  # its bound is rounding, too: start from 0
            point.best_value, point.bound = np.inf, 0.0
            point.evaluate_at(np.zeros(self.design.n_coef))
        self._judge()
        # w = 0 separates nothing, even if its objective is within `tol`, as for a large alpha: take a step from it.
        self.converged = self.converged and bool(np.any(point.coef) or point.best_value <= point.bound)
        self.is_begun = True

    def _solution_of_sample(self):
        """Return coefficients and the width of smoothing of a coarse solution for a sample of the rows."""
        part = self.core.part_of(self.point, self.sample, np.random.default_rng(self.seed))
        part.evaluate_at(part.coef)
        is_done = part.best_value <= part.bound
        for _ in range(COARSE_STEPS):
            if is_done or part.is_stuck():
                break
            self.core.step(part)
            is_done = part.best_value - part.bound <= COARSE_TOL * part.best_value
        return part.coef, part.mu

    def _ascend_late(self):
        """Try coordinate ascent once, where conjugate gradients take too long, and continue from its optimum."""
        self.point.work = -np.inf
        if self._ascend(LATE_PASSES):
            self.point.evaluate_at(self.point.coef)
            self._judge()

    def _ascend(self, most_passes):
        """Try to reach the optimum by coordinate ascent; return whether to continue from its point.

        That is the optimum, or, once the time is up, a point better than the present one.
        """
        ascent = self.coordinate_ascent(tol=self._tol())
        is_done = ascends_in(ascent, self.problem.n, most_passes, self.deadline)
        self.is_over = not is_done and perf_counter() >= self.deadline
        is_better = is_done or (self.is_over and ascent.objective() < self.objective())
        self.n_products_of_ascent = ascent.n_inner_products
        if not is_better:
            return False
        self.point.coef = ascent.solution().coef
        self.point.bound = max(self.point.bound, ascent.objective() - ascent.gap())
        self.n_iter += 1
        if is_done:
            self.min_iter = min(self.min_iter, self.n_iter)  # it is as close as any number of steps could make it
        return True

    # --- what it found -----------------------------------------------------------------------------------------------

    def objective(self):
        """Return the objective of the best point."""
        point = self.point
        if point.best_value < np.inf:
            return float(point.best_value)
        coef = np.asarray(point.coef)
        return self.problem.primal(coef, self.design.scores(coef))

    def gap(self):
        """Return the objective minus the best lower bound."""
        return max(0.0, self.objective() - self.point.bound)

    def solution(self):
        """Return the best point; the state holds the last one and the width of the smoothing."""
        point = self.point
        state = {
            "iterate": np.array(point.coef),
            "settings": self.problem.settings(self.free_last),
            "hessian": point.hessian(),
            "seed": np.array([self.seed]),
            "progress": np.array([point.mu, point.best_value, point.bound, point.stuck, point.work]),
        }
        coef = np.array(point.best if point.best_value < np.inf else point.coef)
        return Solution(coef, 0.0, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(initial, self.design.n_coef, ["iterate", "settings", "hessian", "progress"])
        point = self.point
        point.coef = np.array(initial.coef, dtype=np.float64)
        self.is_warm, self.n_iter = True, initial.n_iter
        if state is None or not np.array_equal(state["settings"][1:], self.problem.settings(self.free_last)[1:]):
            if self.free_last and abs(point.coef[-1]) > LARGE * self.problem.unit():
                point.coef[-1] = 0.0  # each point is moved to the best intercept anyway
            return
        point.mu, value, bound, stuck, work = state["progress"]
        point.load_hessian(state["hessian"])
        # The same objective: the same data, for which the bound holds, too. At w = 0 it does not depend on the rows.
        is_same = state["settings"][0] == self.problem.alpha and abs(self.objective() - value) <= SAME * value
        if is_same and point.coef[: self.design.n_coef - self.free_last].any():
            point.best, point.coef = point.coef, state["iterate"]
            point.best_value, point.bound, point.stuck, point.work = value, bound, int(stuck), work
        else:  # a run to the last digits ends almost without smoothing, where Newton steps fail far from the minimum
            point.mu = max(point.mu, NARROW * first_width(self.problem))
