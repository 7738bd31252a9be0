"""Exact minimisation over a range of ranks: L-BFGS on the objective, then DCA by cutting planes, which certifies.

    F(f) = alpha/2 |f|^2 + U(f) - L(f)

is a difference of convex functions. DCA (Hu et al. 2020) linearises L at the last point f_k and minimises what is
convex then, a bound of F from above. A point is critical if that does not move it. DCA alone takes many steps, each of
them the solution of such a subproblem; so F itself is minimised first:

* L-BFGS, preconditioned by the Hessian of the smoothed objective, with a line search on the scores, which are linear in
  the step. The gradient alone certifies f_k: the subproblem's minimum is at least F(f_k) - |gradient|^2 / (2 alpha).
* Where F falls no longer and this gap is not closed, because F has kinks, cutting planes take over. The subproblem is
  solved until what it gained exceeds what it may still gain; then L is linearised anew. The cuts are cuts of U, which
  are kept: each changes by the change of the linear part.

It has converged when the gap of the subproblem, and the decrease of F since L was last linearised, are at most tol
times F.
"""

import numpy as np

from kernbench.problems.draws import seed_of
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.problems.ranking.criticality import criticality
from kernbench.reference.bundle.cutting_planes import CuttingPlanes
from kernbench.reference.bundle.limited_memory import LimitedMemory, wolfe_step
from kernbench.reference.bundle.preconditioner import LARGEST, Preconditioner, preconditioner_rows
from kernbench.reference.design import ProductCounts
from kernbench.reference.ranking.ranked_risk import RankedRisk
from kernbench.solvers.base import Solution

SAMPLE = 4096  # samples of the first fit
COARSE_TOL, COARSE_STEPS = 1e-3, 60
MEMORY = 30  # pairs of L-BFGS
MAX_CUTS = 300
CLOSED = 1e-14  # gap / objective of a subproblem that is rounding
INNER = "bundle_"  # prefix, in a state, of what belongs to the cutting planes
NOWHERE = 2.0**-20  # multiple of the first direction that counts as 0


class ExactDCA(ProductCounts):
    """The algorithm; a solver is this, and a constructor that says what is ranked."""

    granularity = 1
    first_check = None

    def _set_up(self, design, ranked, *, alpha, tol, proximal, random_state, initial):
        self.tol = require_number("tol", tol, positive=True)
        self.alpha = require_number("alpha", alpha)
        self.proximal = require_number("proximal", proximal, positive=True)
        self._seed = seed_of(random_state, initial)
        self._n_features, self._columns = design.n_coef, None
        if not design.is_kernel and design.n_coef > LARGEST:
            design, self._columns = design.without_empty_columns()
        self.design = design
        self.problem = RankedRisk(design, ranked, self.alpha)
        rng = np.random.default_rng(self._seed)
        self._sample = ranked.sample(rng, SAMPLE)
        self._preconditioner = None
        if not design.is_kernel and design.n_coef <= LARGEST:
            rows = preconditioner_rows(ranked.n, design.n_coef, rng)
            self._preconditioner = Preconditioner(design, self.problem.centred_by, self._strength, rows)
        self._memory = LimitedMemory(design, MEMORY)
        self.n_iter, self.converged, self._stuck, self._warm = 0, False, False, False
        self._coef, self._scores = np.zeros(design.n_coef), np.zeros(ranked.n)
        self._objective, self._bundle = None, None
        self.subproblem_gap = np.inf
        if initial is not None:
            self._start_from(initial)

    @property
    def _strength(self):
        """Of the quadratic term of a subproblem: alpha or, without it, the weight of the proximal term."""
        return self.alpha if self.alpha > 0 else self.proximal

    @property
    def n_inner_products(self):
        """d-dimensional inner products so far."""
        return self.design.n_passes * self.problem.n

    @property
    def n_cuts(self):
        """Cuts held now."""
        return 0 if self._bundle is None else self._bundle.n_cuts

    @property
    def vanishes(self):
        """Whether no f that was found has a smaller objective than f = 0, up to `tol`."""
        return bool(self.objective() >= (1 - self.tol) * self.problem.at_zero)

    # --- the iteration
    # --------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take up to `n_iter` steps of L-BFGS, or cuts; return how many, fewer once it has converged or is stuck."""
        done = 0
        while done < n_iter and not self.converged and not self._stuck:
            if self._objective is None:
                self._begin()
            elif self._bundle is None:
                self._descend()
            else:
                self._cut()
            self.n_iter += 1
            done += 1
        return done

    def _begin(self):
        """Evaluate the first point: what was given, else the solution for a sample, else a Newton step from 0."""
        if not self._warm:
            self._coef, self._scores = self._first_point()
        elif self._coef.any():
            self._scores = self.design.scores(self._coef)
        self._fit_preconditioner()
        self._objective, g = self._value_at(self._coef, self._scores)
        self._differentiate(g)

    def _first_point(self):
        """The solution for a sample; or the Newton step from f = 0 for the mean of all losses, which is convex, scaled.

        f = 0 itself is critical: there all scores are tied.
        """
        if self.problem.n > 4 * len(self._sample):
            coarse = object.__new__(type(self))
            part = self.problem.ranked.take(self._sample)
            settings = {"alpha": self.alpha, "tol": COARSE_TOL, "proximal": self.proximal}
            coarse._set_up(self.design.take(self._sample), part, **settings, random_state=self._seed, initial=None)
            coarse.advance(COARSE_STEPS)
            coef = self.design.embed(coarse._coef, self._sample)
            return coef, self.design.scores(coef)
        convex = RankedRisk(self.design, self.problem.ranked.whole(), self.alpha)
        nowhere = np.zeros(self.problem.n)
        direction = -self.design.combine(convex.risk(nowhere)[1])
        if self._preconditioner is not None:
            self._preconditioner.fit(convex.density(nowhere))
            direction = self._preconditioner.solve(direction)
        moved = self.design.scores(direction)
        t = self._best_multiple(lambda t: self._value_at(t * direction, t * moved)[0])
        return t * direction, t * moved

    @staticmethod
    def _best_multiple(value):
        """Double or halve 1 as long as that lowers the value."""
        t, here = 1.0, value(1.0)
        for factor in (2.0, 0.5):
            while NOWHERE < t < 1 / NOWHERE and (there := value(factor * t)) < here:
                t, here = factor * t, there
        return t

    def _fit_preconditioner(self):
        if self._preconditioner is not None:
            self._preconditioner.fit(self.problem.density(self._scores))

    def _value_at(self, coef, scores):
        value, g = self.problem.window(scores)
        return 0.5 * self.alpha * self.design.inner(coef, coef, scores) + value, g

    def _differentiate(self, g):
        """The gradient, its scores where there is a kernel, and the gap that follows."""
        self._gradient = self.design.combine(g) + self.alpha * self._coef
        self._gradient_scores = self.design.scores(self._gradient) if self.design.is_kernel else None
        square = self.design.inner(self._gradient, self._gradient, self._gradient_scores)
        self.subproblem_gap = float(square / (2 * self._strength))

    def _descend(self):
        """A step of L-BFGS; cutting planes take over where it brings nothing and the gap is not closed."""
        design, before = self.design, self._objective
        step = -self._memory.solve(self._gradient, self._preconditioner)
        moved = design.scores(step)
        slope = design.inner(self._gradient, step, moved)
        shrink = self.alpha * design.inner(self._coef, step, moved)
        curvature = self.alpha * design.inner(step, step, moved)

        def evaluate(t):
            value, g = self._value_at(self._coef + t * step, self._scores + t * moved)
            return value, shrink + t * curvature + g @ moved

        t = wolfe_step(evaluate, before, slope) if slope < 0 else 0.0
        if t > 0:
            last, last_scores = self._gradient, self._gradient_scores
            self._coef, self._scores = self._coef + t * step, self._scores + t * moved
            self._objective, g = self._value_at(self._coef, self._scores)
            self._differentiate(g)
            change = self._gradient - last
            change_scores = self._gradient_scores - last_scores if design.is_kernel else None
            self._memory.append(t * step, t * moved, change, change_scores)
        elif self._memory.pairs:
            self._memory.forget()
            return
        if before - self._objective <= self.tol * self._objective:
            self.converged = self.subproblem_gap <= self.tol * self._objective
            if not self.converged:
                self._open_bundle(None)

    def _open_bundle(self, state):
        """Linearise the lower part at the point; set up the cutting planes of the subproblem, from a state or afresh.

        Without alpha the subproblem has a proximal term: its variable is the step from the point.
        """
        self._risk = self.problem
        if self.alpha == 0:
            self._risk = RankedRisk(self.design, self.problem.ranked, self.proximal, self._scores)
        self._risk.linearise(self._scores)
        self._bundle = bundle = object.__new__(CuttingPlanes)
        rng = bundle._settle(CLOSED, MAX_CUTS, self._seed, None)
        coef = self._coef if self.alpha > 0 else np.zeros(self.design.n_coef)
        start = Solution(coef) if state is None else Solution(state.pop("coef"), state=state)
        bundle._set_up(self._risk, rng, start)

    def _cut(self):
        """One more cut; linearise anew where the subproblem is solved, or has gained more than it may still gain."""
        bundle = self._bundle
        if bundle.advance(1) == 0 and not bundle.converged:
            self._stuck = True
            return
        self.subproblem_gap = float(bundle.gap())
        gained, closed = (self._objective - bundle.objective(), self.subproblem_gap <= self.tol * self._objective)
        if not closed and gained < self.subproblem_gap:
            return
        coef, scores = bundle._coef, bundle._scores
        if self.alpha == 0:
            coef, scores = self._coef + coef, self._scores + scores
        value = self._value_at(coef, scores)[0]
        decrease = self._objective - value
        self._coef, self._scores, self._objective = coef, scores, value
        self.converged = bool(closed and decrease <= self.tol * value)
        if not self.converged:
            self._linearise_anew()

    def _linearise_anew(self):
        """Move the linear part of the subproblem to the point; the cuts change by the change of the linear part."""
        risk, slopes, constant = self._risk, self._risk.slopes, self._risk.constant
        if self.alpha == 0:
            self._open_bundle(None)
            return
        value = risk.linearise(self._scores)[0]
        self._bundle.add_linear(slopes - risk.slopes, risk.constant - constant, value)

    # --- what it found
    # --------------------------------------------------------------------------------------------

    def check(self, tol):
        """Set `converged` to whether the gap of the last subproblem is at most `tol` times F, and return it."""
        self.converged = bool(self.subproblem_gap <= tol * self.objective())
        return self.converged

    def objective(self):
        """Return the objective of the point."""
        if self._objective is not None:
            return float(self._objective)
        scores = self.design.scores(self._coef) if self._coef.any() else self._scores
        return float(self._value_at(self._coef, scores)[0])

    def gap(self):
        """None: the problem is not convex. `subproblem_gap` says how far the point is from being critical."""
        return None

    def criticality(self, mu=1.0, tol=1e-2):
        """Return how far the point is from being critical, certified (see `kernbench.problems.ranking.criticality`)."""
        twin = CuttingPlanes, RankedRisk
        return criticality(self.design, self.problem.ranked, self._coef, twin=twin, alpha=self.alpha, mu=mu, tol=tol)[0]

    def solution(self):
        """Return the point, and what it takes to go on."""
        state = {"seed": np.array([self._seed])}
        if self._objective is not None:
            state |= self._memory.state() | {
                "settings": np.append(self.problem.settings(), self.proximal),
                "signature": self.problem.signature(self._scores),
                "hessian": np.empty((0, 0)) if self._preconditioner is None else self._preconditioner.hessian.copy(),
                "progress": np.array([self.subproblem_gap, self.converged, self._stuck], dtype=np.float64),
            }
        if self._bundle is not None:
            inner = self._bundle.solution()
            state |= {f"{INNER}{name}": value for name, value in ({"coef": inner.coef} | inner.state).items()}
        return Solution(self._found(), 0.0, self.n_iter, state)

    def _found(self):
        """The coefficients, one for each column of the data."""
        if self._columns is None:
            return self._coef.copy()
        coef = np.zeros(self._n_features)
        coef[self._columns] = self._coef
        return coef

    def _start_from(self, initial):
        keys = ["settings", "signature", "hessian", "progress", "steps", "changes"]
        keys += ["step_scores", "change_scores"] * self.design.is_kernel
        state = require_state(initial, self._n_features, keys)
        coef = np.array(initial.coef, dtype=np.float64)
        self._coef = coef if self._columns is None else coef[self._columns]
        self._warm, self.n_iter = self._coef.any(), initial.n_iter
        if state is None or not np.array_equal(state["settings"], np.append(self.problem.settings(), self.proximal)):
            return
        scores = self.design.scores(self._coef)
        if not self.problem.same_data(state["signature"], scores):
            return
        self._scores = scores
        if self._preconditioner is not None:
            self._preconditioner.load(state["hessian"])
        self._memory.load(state)
        self._objective, g = self._value_at(self._coef, scores)
        inner = {name.removeprefix(INNER): value for name, value in initial.state.items() if name.startswith(INNER)}
        if inner:
            self._open_bundle(inner)
        else:
            self._differentiate(g)
        gap, converged, stuck = state["progress"]
        self.subproblem_gap, self.converged, self._stuck = float(gap), bool(converged), bool(stuck)
