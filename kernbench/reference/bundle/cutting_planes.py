"""Cutting planes with Newton steps: alpha/2 ||f||^2 + R(f) to a certified gap, for a convex risk R of scores.

The risk R lies above each of its tangents, R(f) >= <a_k, f> + b_k (a cut). The lower bound of the optimum is

    max over u in the simplex of  b'u - |sum_k u_k a_k|^2 / (2 alpha),

a small dual programme, attained at f = -sum_k u_k a_k / alpha (Teo et al. 2010). As in OCAS (Franc and
Sonnenburg 2009) the next point lies on the line from the best point so far to a minimiser of the model, by a
line search on scores. Three things differ, and divide the number of cuts by five to ten:

* the model is minimised with a quadratic term around the best point, the Hessian of the smoothed risk: a mean
  over many samples or pairs is nearly smooth, and this is a Newton step. Where it does not halve the gap, a plain
  step follows;
* the cut is taken where the line search ends, just beyond the minimiser, so that cuts have the slopes on both
  sides of it;
* a fit on a sample of the data comes first.

With many features, or more than half as many as samples, steps are plain as long as these close the gap fast; then
they are Newton steps on a smoothed risk (see `smoothed_newton`), whose gradients are cuts, too. Few cuts of many
features are kept, and columns of sparse data that have no entries are left out.
"""

import numpy as np

from kernbench.problems.draws import seed_of
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.reference.bundle.cuts import Cuts
from kernbench.reference.bundle.line_search import line_search
from kernbench.reference.bundle.preconditioner import LARGEST, Preconditioner, preconditioner_rows
from kernbench.reference.bundle.simplex_qp import simplex_qp
from kernbench.reference.bundle.smoothed_newton import SmoothedNewton
from kernbench.reference.design import ProductCounts
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import check_number

SAMPLE = 4096  # samples of the first fit, and of the line search
PER_FEATURE = 4  # ... at least so many of each of many features, since fewer are separable
COARSE_TOL, COARSE_CUTS = 0.03, 30
STUCK = 10  # largest number of consecutive cuts without any change
MEMORY = 2**20  # numbers in the cuts of many features, or four times those of the data if that is more
FEWEST_CUTS = 10
SEPARABLE = 2  # fewer samples per feature than this are probably separable (Cover 1965)
PACE = 8  # plain steps on many features between two measurements of gap / objective
PACES = 5  # ... within which it has to reach `tol` at its present rate of decrease


class CuttingPlanes(ProductCounts):
    """The bundle method for a risk. Solvers derive from it, with a constructor that makes the risk and calls `_set_up`.

    Attributes
    ----------
    n_cuts : int
        Cuts held now.
    n_passes : int
        Products with the data, or with the kernel matrix, so far.
    n_inner_products : int
        n_samples for each of them.
    """

    granularity = 1
    first_check = None

    def _settle(self, tol, max_cuts, random_state, initial):
        """Set the parameters that do not depend on the risk; return the generator of the run."""
        self.tol = require_number("tol", tol, positive=True)
        check_number("max_cuts", max_cuts, at_least=3, whole=True)
        self.max_cuts = max_cuts
        self._seed = seed_of(random_state, initial)
        return np.random.default_rng(self._seed)

    def _set_up(self, problem, rng, initial=None):
        design, self._columns = problem.design, None
        self._n_features = design.n_coef
        if design.n_coef > LARGEST and not design.is_kernel:
            design, self._columns = design.without_empty_columns()
        self.problem, self.design, self.alpha = problem, design, problem.alpha
        many = design.n_coef > LARGEST and not design.is_kernel
        self._sample = problem.sample(rng, max(SAMPLE, PER_FEATURE * design.n_coef) if many else SAMPLE)
        # A kernel separates any sample; a product with its matrix takes longer than the line search over all samples.
        self._searched = np.arange(problem.n) if design.is_kernel else self._sample
        self._small = problem if len(self._searched) == problem.n else problem.take(self._searched)
        self._smoothed, self._smoothing, self._last_share = None, False, np.inf
        many = design.n_coef > LARGEST or problem.n < SEPARABLE * design.n_coef
        if many and not design.is_kernel and problem.smoothed() is not None:
            self._smoothed = SmoothedNewton(problem, self._small, self._searched, design)
            size = max(MEMORY, 4 * design.n_values)
            self.max_cuts = min(self.max_cuts, max(FEWEST_CUTS, size // design.n_coef))
        self._preconditioner = None
        if self._smoothed is None and not design.is_kernel and design.n_coef <= LARGEST:
            rows = preconditioner_rows(problem.n, design.n_coef, rng)
            self._preconditioner = Preconditioner(design, problem.centred_by, self.alpha, rows)
        self.n_iter, self.converged = 0, False
        self._cuts = Cuts(design, self.max_cuts)
        self._coef, self._scores = np.zeros(design.n_coef), np.zeros(problem.n)
        self._objective, self._risk, self._bound, self._dual = None, 0.0, 0.0, -np.inf
        self._warm = False  # whether a start other than f = 0 is known
        self._last_gap, self._n_steps, self._was_newton, self._stuck = np.inf, 0, False, 0
        if initial is not None:
            self._start_from(initial)

    @property
    def n_inner_products(self):
        """d-dimensional inner products so far."""
        return self.design.n_passes * self.problem.n

    @property
    def n_cuts(self):
        """Cuts held now."""
        return self._cuts.n_cuts

    # --- the iteration
    # --------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take up to `n_iter` more cuts; return how many were taken: fewer once the gap is closed or progress has
        ended."""
        done = 0
        while done < n_iter and not self.converged and self._stuck < STUCK:
            if self.n_cuts == 0:
                self._evaluate(*self._first_point())
            else:
                self._evaluate(*self._next_point())
            self._raise_bound()
            self.n_iter += 1
            done += 1
        return done

    def _first_point(self):
        if not self._warm and self.problem.n > 4 * len(self._sample):
            coarse = object.__new__(CuttingPlanes)
            coarse.tol, coarse.max_cuts, coarse._seed = COARSE_TOL, self.max_cuts, self._seed
            coarse._set_up(self._small_problem(), np.random.default_rng(self._seed))
            coarse.advance(COARSE_CUTS)
            self._coef = self.design.embed(coarse._found(), self._sample)
            self._warm = True
        self._n_steps = int(self._warm)
        if self._coef.any():
            self._scores = self.design.scores(self._coef)
        return self._coef, self._scores

    def _small_problem(self):
        return self.problem.take(self._sample, self.design.take(self._sample))

    def _evaluate(self, coef, scores):
        """Add the cut at a point; keep the point if it is the best so far."""
        risk, g = self.problem.risk(scores)
        objective = 0.5 * self.alpha * self.design.inner(coef, coef, scores) + risk
        offset = risk - g @ scores
        if self._smoothing:
            g, offset = self._smoothed.take(coef, scores, risk)
        self._cuts.append(g, offset)
        self._stuck += 1
        if self._objective is None or objective <= self._objective:
            if self._objective is None or objective < self._objective * (1 - 1e-14):
                self._stuck = 0
            self._coef, self._scores, self._risk, self._objective = coef, scores, risk, objective
            self._cuts.kept = self.n_cuts - 1
        if self._smoothing:
            # The next step starts from the last point, best or not; steps end once mu is too small.
            self._cuts.kept, self._stuck = self.n_cuts - 1, 0

    def _raise_bound(self):
        """Solve the dual programme of the cuts."""
        dual = self._cuts.maximise(self.alpha)
        if dual > self._dual + 1e-14 * max(abs(dual), self._objective):
            self._stuck = 0
        self._dual, self._bound = dual, max(self._bound, dual)
        self._cuts.drop_idle()
        self.converged = self._is_within(self.tol)

    def add_linear(self, g, offset, risk):
        """Go on after <g, s> + offset has been added to the risk, for scores s; it is `risk` now at the best point."""
        self._cuts.add_linear(g, offset)
        norm = self.design.inner(self._coef, self._coef, self._scores)
        self._risk, self._objective = risk, 0.5 * self.alpha * norm + risk
        self._bound, self._dual, self._last_gap, self._stuck = 0.0, -np.inf, np.inf, 0
        self._raise_bound()

    def _is_within(self, tol):
        # f = 0 ranks nothing: even if its objective is within `tol` (as for large alpha), take one step from it.
        gap = self.gap()
        return bool(gap == 0 or (gap <= tol * self.objective() and (self.n_cuts > 1 or self._coef.any())))

    def _next_point(self):
        """Return the end of the line search towards the minimiser of the model, or of a step on the smoothed risk."""
        gap = self.gap()
        # The rate is meaningless while the bound is still 0.
        looks = self._smoothed is not None and not self._smoothing and self.n_iter % PACE == 0
        if looks and self._bound > 0:
            share = gap / self.objective()
            self._smoothing = bool(share * (share / self._last_share) ** PACES > self.tol)
            self._last_share = share
        if self._smoothing:
            if self._smoothed.may_go_on(self._cuts.elements[self._cuts.kept]):
                return self._smoothed.next_point()
            # Plain steps from the best point, with exact cuts: the last smoothed ones are rounded differences.
            self._smoothing, self._smoothed = False, None
            self._cuts, self._dual = Cuts(self.design, self.max_cuts), -np.inf
            return self._coef, self._scores
        plain = self._preconditioner is None or (self._was_newton and gap > 0.5 * self._last_gap)
        self._last_gap, self._was_newton = gap, not plain
        if plain:
            step = -self._cuts.sum / self.alpha - self._coef
        else:
            step = self._newton_step()
        if self.design.is_kernel:
            moved = -self._cuts.sum_scores / self.alpha - self._scores
        else:
            moved = self.design.scores(step)
        # The derivative along the line, on the sample; at 0 it is known exactly, so that only its change is
        # estimated. The cut of the best point is the risk's slope there.
        downhill = self._cuts.elements[self._cuts.kept]
        slope = self.design.inner(self.alpha * self._coef + downhill, step, moved)
        curvature = self.alpha * self.design.inner(step, step, moved)
        here, along = self._scores[self._searched], moved[self._searched]
        offset = slope - self._small.risk(here)[1] @ along
        t = 0.0
        if slope < 0:
            t = line_search(lambda t: offset + curvature * t + self._small.risk(here + t * along)[1] @ along, slope)
        return self._coef + t * step, self._scores + t * moved

    def _newton_step(self):
        """Return f - g for the f that minimises max_k (<a_k, f> + b_k) + alpha/2 |f|^2 + 1/2 (f - g)' H (f - g).

        g is the best point, and H the Hessian M - alpha I of the risk.
        """
        if self._n_steps in (0, 1, 4, 16, 64, 256):
            self._preconditioner.fit(self.problem.density(self._scores))
        self._n_steps += 1
        A, shrink = self._cuts.elements, self.alpha * self._coef
        Z = self._preconditioner.half_solve(np.vstack([A, shrink]))
        Q = Z @ Z.T
        u = simplex_qp(Q[:-1, :-1], A @ self._coef + self._cuts.offsets - Q[:-1, -1], np.zeros(self.n_cuts))
        return -self._preconditioner.solve(u @ A + shrink)

    # --- what it found
    # --------------------------------------------------------------------------------------------

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it."""
        self.converged = bool(self.gap() <= tol * self.objective())
        return self.converged

    def objective(self):
        """Return the objective of the best point."""
        if self._objective is not None:
            return float(self._objective)
        if not self._coef.any():
            return float(self.problem.at_zero)
        scores = self.design.scores(self._coef)
        norm = self.design.inner(self._coef, self._coef, scores)
        return float(0.5 * self.alpha * norm + self.problem.risk(scores)[0])

    def gap(self):
        """Return the objective minus the best lower bound."""
        return max(0.0, self.objective() - self._bound)

    def solution(self):
        """Return the best point with the state needed to continue: the cuts, and the position of the iteration."""
        kept = -1 if self._cuts.kept is None else self._cuts.kept
        state = self._cuts.state() | {
            "seed": np.array([self._seed]), "settings": self.problem.settings(),
            "signature": self.problem.signature(self._identifying_scores()),
            "hessian": np.empty((0, 0)) if self._preconditioner is None else self._preconditioner.hessian.copy(),
            "progress": np.array([kept, self._risk, self._dual, self._bound, self._last_gap, self._n_steps,
                                  self._was_newton, self._stuck], dtype=np.float64),
        }  # fmt: skip
        if self._smoothed is not None:
            state |= self._smoothed.state() | {"pace": np.array([self._smoothing, self._last_share])}
        return Solution(self._found(), 0.0, self.n_iter, state)

    def _found(self):
        """The coefficients of the best point, one for each column of the data."""
        if self._columns is None:
            return self._coef.copy()
        coef = np.zeros(self._n_features)
        coef[self._columns] = self._coef
        return coef

    def _identifying_scores(self):
        """Return scores that identify the data: those of the best point or, where it is 0, of the first cut."""
        if self._coef.any() or self.n_cuts == 0:
            return self._scores
        return self.design.scores(self._cuts.elements[0])

    def _start_from(self, initial):
        keys = ["settings", "cuts", "offsets", "multipliers", "idle", "signature", "hessian", "progress"]
        state = require_state(initial, self._n_features, keys + ["cut_scores"] * self.design.is_kernel)
        coef = np.array(initial.coef, dtype=np.float64)
        self._coef = coef if self._columns is None else coef[self._columns]
        self._warm, self.n_iter = True, initial.n_iter
        if state is None or not self.problem.same_risk(state["settings"]):
            return
        self._scores = self.design.scores(self._coef)
        if not self._cuts.load(state):
            return
        if not self.problem.same_data(state["signature"], self._identifying_scores()):
            self._cuts = Cuts(self.design, self.max_cuts)
            return
        kept, self._risk, dual, bound, last_gap, n_steps, was_newton, stuck = state["progress"]
        self._cuts.kept = int(kept)
        norm = self.design.inner(self._coef, self._coef, self._scores)
        self._objective = 0.5 * self.alpha * norm + self._risk
        if self._preconditioner is not None:
            self._preconditioner.load(state["hessian"])
        if state["settings"][0] == self.alpha:
            self._dual, self._bound, self._last_gap = dual, bound, last_gap
            self._n_steps, self._was_newton, self._stuck = int(n_steps), bool(was_newton), int(stuck)
            if self._smoothed is not None and "pace" in initial.state:
                smoothing, self._last_share = initial.state["pace"]
                self._smoothing = bool(smoothing)
                if self._smoothing:
                    self._smoothed.load(initial.state)
            else:
                self._smoothed = None  # it was at its end
            self.converged = self._is_within(self.tol)
        else:
            # The Hessian does not depend on alpha: it also serves for two steps at the next alpha.
            self._n_steps = 2 if self._preconditioner is not None and len(self._preconditioner.hessian) else 0
            self._raise_bound()
