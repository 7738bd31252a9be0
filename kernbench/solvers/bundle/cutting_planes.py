"""Cutting planes with Newton steps: alpha/2 ||f||^2 + R(f) to a certified gap, for any convex risk R of scores.

The risk R lies above each of its tangents, R(f) >= <a_k, f> + b_k (a cut). The lower bound of the optimum is

    max over u in the simplex of  b'u - |sum_k u_k a_k|^2 / (2 alpha),

a small dual programme, attained at f = -sum_k u_k a_k / alpha (Teo et al. 2010). As in OCAS (Franc and Sonnenburg 2009)
the next point lies on the line from the best point so far to a minimiser of the model, by a line search on scores.
Three things differ, and divide the number of cuts by five to ten:

* the model is minimised with a quadratic term around the best point, the Hessian of the smoothed risk: a mean over
  many samples or pairs is nearly smooth, and this is a Newton step. Where it does not halve the gap, a plain step
  follows;
* the cut is taken where the line search ends, just beyond the minimiser, so that cuts have the slopes on both sides;
* a fit on a sample of the data comes first, and where alpha is below the rounding of kernel values one with a larger
  alpha.

An iteration costs two products with the data, one evaluation of the risk, and the solution of the small problems.

With many features, or more than half as many as samples, steps are plain as long as these close the gap fast; then they
are Newton steps on a smoothed risk (see `smoothed_newton`), whose gradients are cuts, too. Few cuts of many features
are kept, so that they need about the memory of the data, and columns of sparse data without entries are left out.
"""

import numpy as np

from kernbench.problems.linear.empty_columns import widen
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.problems.risk import same_data, same_risk, signature
from kernbench.solvers.base import Solution
from kernbench.solvers.bundle._preconditioner import LARGEST
from kernbench.solvers.bundle.smoothed_newton import SmoothedNewton
from kernbench.solvers.design.method import DesignMethod
from kernbench.validation.numbers import check_number

SAMPLE = 4096  # samples of the first fit, and of the line search
# ... at least as many for each of many features: fewer are separable, the first fit leaves them without losses, and the
# line search would see none of those of the other samples
PER_FEATURE = 4
COARSE_TOL, COARSE_CUTS = 0.03, 30
# The squared norm of the gradient over 2 alpha, as a multiple of the risk, at f = 0. From STEEP on, cuts far from f = 0
# are dominated by rounding errors; the problem is then first solved with the larger alpha for which it is FLATTER.
STEEP, FLATTER = 2.0**50, 2.0**40
FLATTER_CUTS = 300  # largest number of cuts of that first fit
STUCK = 10  # largest number of consecutive cuts without any change
MEMORY = 1 << 20  # numbers in the cuts of many features, or four times those of the data if that is more
FEWEST_CUTS = 10
SEPARABLE = 2  # fewer samples per feature than this are probably separable (Cover 1965): there are then as few pairs at
#                the kink as features, and their density is no estimate of the Hessian
PACE = 8  # plain steps on many features between two measurements of gap / objective
PACES = 5  # ... within which it has to reach `tol` at its present rate of decrease
# Rounding of a cut of the smoothed risk that is not counted: shares of the objective, and of what `tol` allows
NEGLIGIBLE, SHARE = 1e-9, 0.1
REFITS = (0, 1, 4, 16, 64, 256)  # Newton steps before which the Hessian is computed


# A base class, unlike the other parts of methods: a bundle solver is this method on a risk of its own, and adds nothing
# but that risk. If it held one instead, it would forward all that `Method` promises. The steps that a variant replaces
# are `_next_point`, `_evaluate` and `_is_within` (see `ranking.svmpauc_tight`).
class CuttingPlanes(DesignMethod):
    """The bundle method for alpha/2 |f|^2 + a risk. Its solvers add a constructor that makes the risk.

    Parameters
    ----------
    problem : Risk
    tol : float
        Converged when the gap is at most `tol` times the objective.
    max_cuts : int
        Largest number of cuts kept.
    seed : int
    rng : Generator, optional
        The generator of the run; by default a new one of the seed.
    initial : Solution, optional
    core : {"compiled", "reference"} or module

    Attributes
    ----------
    n_cuts : int
        Cuts held now.
    """

    compiled_core = "kernbench.solvers.bundle._cutting_planes"
    first_check = None

    def __init__(self, problem, *, tol, max_cuts, seed, rng=None, initial=None, core="compiled"):
        super().__init__(core)
        self.tol = require_number("tol", tol, positive=True)
        check_number("max_cuts", max_cuts, at_least=3, whole=True)
        self.max_cuts, self.seed = max_cuts, seed
        rng = np.random.default_rng(seed) if rng is None else rng
        self.problem, self.design, self.alpha, self.columns = problem, problem.design, problem.alpha, None
        self.n_features = self.design.n_coef
        if self.n_features > LARGEST and not self.design.is_kernel:
            self.design, self.columns = self.design.without_empty_columns()
        d, n = self.design.n_coef, problem.n
        many = d > LARGEST and not self.design.is_kernel
        self.sample = problem.sample(rng, max(SAMPLE, PER_FEATURE * d) if many else SAMPLE)
        # A kernel separates any sample; a product with its matrix takes longer than the line search over all samples.
        searched = np.arange(n) if self.design.is_kernel else self.sample
        small = problem if len(searched) == n else problem.take(searched)
        self.line = self.core.SampledLine(small, searched)
        self.preconditioner = None  # a Hessian matrix, of few features
        self.smoothed = None  # steps on the smoothed risk: None with a preconditioner, with a kernel, and once they end
        self.smoothing, self.last_share = False, np.inf  # whether they are taken now; gap / objective, PACE cuts ago
        if not self.design.is_kernel and (d > LARGEST or n < SEPARABLE * d):
            self._smooth(small, searched)
        if self.smoothed is None:
            self.preconditioner = self.core.preconditioner_for(self.design, problem.centred_by, self.alpha, rng)
        self.cuts = self.core.Cuts(self.design, self.max_cuts)
        # The best point and its scores; the next one with the slopes there, and the way to it.
        self.coef, self.next_coef, self.step = np.zeros(d), np.empty(d), np.empty(d)
        self.scores, self.next_scores, self.moved = np.zeros(n), np.empty(n), np.empty(n)
        self.g = np.empty(n)
        self.value, self.best_risk, self.bound, self.dual = np.inf, 0.0, 0.0, -np.inf
        self.last_gap, self.was_newton, self.n_steps, self.stuck = np.inf, False, 0, 0
        self.warm = False  # whether a start other than f = 0 is known
        if initial is not None:
            self._start_from(initial)

    def _smooth(self, small, searched):
        """Prepare steps on the smoothed risk, if there is one, and bound the memory of the cuts."""
        if self.problem.smoothed() is None:
            return
        self.smoothed = SmoothedNewton(self.core.smoothed_newton, self.problem, small, searched, self.design)
        size = max(MEMORY, 4 * self.design.n_values)
        self.max_cuts = min(self.max_cuts, max(FEWEST_CUTS, size // self.design.n_coef))

    @property
    def n_cuts(self):
        return self.cuts.n_cuts

    # --- the iteration -----------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take up to `n_iter` more cuts; return how many were taken: fewer once the gap is closed or progress has
        ended."""
        done = 0
        while done < n_iter and not self.converged and self.stuck < STUCK:
            if self.cuts.kept < 0:  # or where Ctrl-C came before the first cut was whole
                self._first_point()
            else:
                self._next_point()
            self._evaluate()
            self._raise_bound()
            self.n_iter += 1
            done += 1
        return done

    def _first_point(self):
        """Start from the given coefficients, else from the solution for a sample, else from 0."""
        if not self.warm and self.problem.n > 4 * len(self.sample):
            part = self.problem.take(self.sample, self.design.take(self.sample))
            coarse = CuttingPlanes(part, tol=COARSE_TOL, max_cuts=self.max_cuts, seed=self.seed, core=self.core)
            coarse.advance(COARSE_CUTS)
            self.coef = self.design.embed(coarse.found(), self.sample)
            self.warm = True
        self.n_steps = int(self.warm)
        if self.coef.any():
            self.scores = self.design.scores(self.coef)
        self.next_coef[:], self.next_scores[:] = self.coef, self.scores

    def _evaluate(self):
        """Add the cut at the next point; keep the point if it is the best so far."""
        point = self.next_coef, self.next_scores
        risk, value, offset = self.core.evaluate(self.problem, self.design, *point, self.g)
        if self.smoothing:
            offset = self.smoothed.take(*point, risk, self.g)
            if self.smoothed.rounding > min(NEGLIGIBLE, SHARE * self.tol) * value:
                offset -= self.smoothed.rounding
        self.cuts.append(self.g, offset)
        self.stuck += 1
        if value <= self.value:
            if value < self.value * (1 - 1e-14):
                self.stuck = 0
            self._move_to_next(value, risk)
        if self.smoothing:
            # The next step starts from the last point, best or not; steps end once mu is too small.
            self.cuts.kept, self.stuck = self.cuts.n_cuts - 1, 0

    def _move_to_next(self, value, risk):
        self.value, self.best_risk, self.cuts.kept = value, risk, self.cuts.n_cuts - 1
        self.coef, self.next_coef = self.next_coef, self.coef
        self.scores, self.next_scores = self.next_scores, self.scores

    def _raise_bound(self):
        """Solve the dual programme of the cuts."""
        dual = self.cuts.maximise(self.alpha)
        if dual > self.dual + 1e-14 * max(abs(dual), self.value):
            self.stuck = 0
        self.dual, self.bound = dual, max(self.bound, dual)
        self.cuts.drop_idle()
        self.converged = self._is_within(self.tol)

    def add_linear(self, g, offset, risk):
        """Add <g, s> + offset, for scores s, to the risk of all cuts; it is `risk` now at the best point."""
        self.cuts.add_linear(g, offset)
        self._set_value(risk)
        self.bound, self.dual, self.last_gap, self.stuck = 0.0, -np.inf, np.inf, 0
        self._raise_bound()

    def _set_value(self, risk):
        """Set the objective of the best point, where its risk is known."""
        norm = self.core.inner(self.design, self.coef, self.coef, self.scores)
        self.best_risk, self.value = risk, risk + 0.5 * self.alpha * norm

    def _is_within(self, tol):
        # f = 0 ranks nothing: even if its objective is within `tol` (as for large alpha), take one step from it.
        gap = self.value - self.bound
        return gap <= 0 or (gap <= tol * self.value and (self.cuts.n_cuts > 1 or bool(self.coef.any())))

    def hold_to(self, tol):
        """Set `tol`, and judge by it whether a start has converged: it was judged by the default."""
        super().hold_to(tol)
        self.converged = self.converged and self._is_within(tol)

    def _next_point(self):
        """Go to the end of the line search towards the minimiser of the model, or of a step on the smoothed risk."""
        if self.design.is_kernel and self.cuts.n_cuts == 1 and not self.coef.any():
            steepness = (self.value - self.dual) / self.value
            if STEEP < steepness < np.inf:
                self._start_from_flatter(steepness / FLATTER * self.alpha)
                return
        gap = self.value - self.bound
        # The rate is meaningless while the bound is still 0.
        if self.smoothed is not None and not self.smoothing and self.n_iter % PACE == 0 and self.bound > 0.0:
            share = gap / self.value
            self.smoothing = share * (share / self.last_share) ** PACES > self.tol
            self.last_share = share
        if self.smoothing:
            if self.smoothed.may_go_on(self.cuts.element(self.cuts.kept)):
                self.smoothed.next_point(self.step, self.moved, self.next_coef, self.next_scores)
            else:
                self._end_smoothing()
            return
        plain = self.preconditioner is None or (self.was_newton and gap > 0.5 * self.last_gap)
        self.last_gap, self.was_newton = gap, not plain
        if plain:
            self.core.plain_step(self.cuts, self.alpha, self.coef, self.scores, self.step, self.moved)
        else:
            self._newton_step()
        way = self.step, self.moved
        self.core.search(
            self.line, self.cuts, self.alpha, self.coef, self.scores, *way, self.next_coef, self.next_scores
        )

    def _start_from_flatter(self, alpha):
        """Go to the solution for a larger alpha, whose cuts float64 can tell apart."""
        flatter = CuttingPlanes(
            self.problem.with_alpha(alpha), tol=self.tol, max_cuts=self.max_cuts, seed=self.seed, core=self.core
        )
        flatter.advance(FLATTER_CUTS)
        self.next_coef[:], self.next_scores[:] = flatter.coef, flatter.scores

    def _newton_step(self):
        """Minimise the model with the Hessian of the risk around the best point."""
        if self.n_steps in REFITS:
            self.core.fit_preconditioner(self.preconditioner, self.problem, self.scores, self.moved)
        self.n_steps += 1
        self.core.newton_step(self.cuts, self.alpha, self.preconditioner, self.coef, self.step, self.moved)

    def _end_smoothing(self):
        """Drop the cuts, since the last are rounded differences; continue with plain steps from the best point."""
        self.smoothed, self.smoothing, self.warm, self.dual = None, False, True, -np.inf
        self.cuts.forget()
        self.next_coef[:], self.next_scores[:] = self.coef, self.scores

    # --- what it found -----------------------------------------------------------------------------------------------

    def objective(self):
        """Return the objective of the best point."""
        if self.value < np.inf:
            return self.value
        if not self.coef.any():
            return float(self.problem.at_zero)
        return self.core.evaluate(self.problem, self.design, self.coef, self.design.scores(self.coef), None)[1]

    def gap(self):
        """Return the objective minus the best lower bound."""
        return max(0.0, self.objective() - self.bound)

    def found(self):
        """Return the coefficients of the best point, one for each column of the data."""
        return widen(self.coef, self.columns, self.n_features)

    def solution(self):
        """Return the best point with the state needed to continue: the cuts, and the position of the iteration."""
        progress = [self.cuts.kept, self.best_risk, self.dual, self.bound, self.last_gap, self.n_steps, self.was_newton,
                    self.stuck]  # fmt: skip
        state = self.cuts.state() | {
            "seed": np.array([self.seed]),
            "settings": self.problem.settings(),
            "signature": signature(self.problem, self._identifying_scores()),
            "hessian": np.empty((0, 0)) if self.preconditioner is None else self.preconditioner.state(),
            "progress": np.array(progress, dtype=np.float64),
        }
        if self.smoothed is not None:
            state |= self.smoothed.state() | {"pace": np.array([self.smoothing, self.last_share])}
        return Solution(self.found(), 0.0, self.n_iter, state)

    def _identifying_scores(self):
        """Return scores that identify the data: those of the best point or, where it is 0, of the first cut."""
        if self.coef.any() or self.cuts.n_cuts == 0:
            return self.scores
        return self.design.scores(self.cuts.element(0))

    def _start_from(self, initial):
        keys = ["settings", "cuts", "offsets", "multipliers", "idle", "signature", "hessian", "progress"]
        state = require_state(initial, self.n_features, keys + ["cut_scores"] * self.design.is_kernel)
        coef = np.array(initial.coef, dtype=np.float64)
        self.coef = coef if self.columns is None else coef[self.columns]
        self.warm, self.n_iter = True, initial.n_iter
        if state is None or not same_risk(self.problem, state["settings"]):
            return
        self.scores = self.design.scores(self.coef)
        if not self.cuts.load(state):
            return
        kept, risk, dual, bound, last_gap, n_steps, was_newton, stuck = state["progress"].tolist()
        if kept < 0 or not same_data(self.problem, state["signature"], self._identifying_scores()):
            self.cuts.forget()
            return
        self.cuts.kept = int(kept)
        self._set_value(risk)
        if self.preconditioner is not None:
            self.preconditioner.load(state["hessian"])
        if state["settings"][0] == self.alpha:
            self.dual, self.bound, self.last_gap = dual, bound, last_gap
            self.n_steps, self.was_newton, self.stuck = int(n_steps), bool(was_newton), int(stuck)
            if self.smoothed is not None and "pace" in initial.state:
                smoothing, self.last_share = initial.state["pace"].tolist()
                self.smoothing = bool(smoothing)
                if self.smoothing:
                    self.smoothed.load(initial.state, self._risk_at)
            else:
                self.smoothed = None  # its steps had ended
            self.converged = self._is_within(self.tol)
        else:
            # The Hessian does not depend on alpha: it also serves for two steps at the next alpha.
            self.n_steps = 2 if self.preconditioner is not None and self.preconditioner.fitted else 0
            self._raise_bound()

    def _risk_at(self, coef, scores):
        return self.core.evaluate(self.problem, self.design, coef, scores, None)[0]
