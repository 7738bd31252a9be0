"""Exact minimisation over a range of ranks: L-BFGS on the objective, then DCA by cutting planes, which certifies.

    F(f) = alpha/2 |f|^2 + U(f) - L(f)

is a difference of convex functions. DCA (Hu et al. 2020) linearises L at the last point f_k and minimises what is
convex then, a bound of F from above. A point is critical if that does not move it. DCA alone takes many steps, each of
them the solution of such a subproblem; so F itself is minimised first:

* L-BFGS, preconditioned by the Hessian of the smoothed objective, with a line search on the scores, which are linear in
  the step. The gradient alone certifies f_k: the subproblem's minimum is at least F(f_k) - |gradient|^2 / (2 alpha).
* Where F falls no longer and this gap is not closed, because F has kinks, cutting planes take over. The subproblem is
  solved until what it gained exceeds what it may still gain; then L is linearised again. The cuts are cuts of U, which
  are kept: each changes by the change of the linear part.

It has converged when the gap of the subproblem, and the decrease of F since L was last linearised, are at most tol
times F.
"""

import numpy as np

from kernbench.problems.draws import seed_of
from kernbench.problems.linear.empty_columns import widen
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.problems.risk import same_data, signature
from kernbench.solvers.base import Solution
from kernbench.solvers.bundle._preconditioner import LARGEST
from kernbench.solvers.bundle.cutting_planes import CuttingPlanes
from kernbench.solvers.bundle.limited_memory import LimitedMemory
from kernbench.solvers.design.method import DesignMethod
from kernbench.solvers.ranking.criticality import criticality

SAMPLE = 4096  # samples of the first fit
COARSE_TOL, COARSE_STEPS = 1e-3, 60
MEMORY = 30  # pairs of L-BFGS
MAX_CUTS = 300
CLOSED = 1e-14  # gap / objective of a subproblem that is rounding
INNER = "bundle_"  # prefix, in a state, of what belongs to the cutting planes
NOWHERE = 2.0**-20  # multiple of the first direction that counts as 0


class ExactDCA(DesignMethod):
    """Exact DCA for a `RankedProblem`. Its solvers add a constructor that says what is ranked.

    Attributes
    ----------
    subproblem_gap : float
        Certified gap of the point in the last convex subproblem: by how much a step of DCA can lower that bound of the
        objective.
    n_cuts : int
        Cuts held now.
    """

    compiled_core = "kernbench.solvers.ranking._lbfgs_dca"
    first_check = None

    def __init__(self, design, ranked, *, alpha, tol, proximal, random_state, initial=None, core="compiled"):
        super().__init__(core)
        self.tol = require_number("tol", tol, positive=True)
        self.alpha = require_number("alpha", alpha)
        self.proximal = require_number("proximal", proximal, positive=True)
        self.seed = seed_of(random_state, initial)
        self.n_features, self.columns = design.n_coef, None
        if not design.is_kernel and design.n_coef > LARGEST:
            design, self.columns = design.without_empty_columns()
        self.design = design
        self.problem = self.core.RankedRisk(design, ranked, self.alpha)
        # Of the quadratic term of a subproblem: alpha or, without it, the weight of the proximal term.
        self.strength = self.alpha if self.alpha > 0 else self.proximal
        rng = np.random.default_rng(self.seed)
        self.sample = ranked.sample(rng, SAMPLE)
        planes = self.core.cutting_planes
        self.preconditioner = planes.preconditioner_for(design, self.problem.centred_by, self.strength, rng)
        self.memory = LimitedMemory(self.core.limited_memory, design, MEMORY)
        self.bundle = None  # the cutting planes, once they have taken over
        d, n = design.n_coef, ranked.n
        # The point, its scores, the slopes there and the gradient with, for a kernel, its scores; a step and its end.
        self.coef, self.gradient, self.step, self.next_coef, self.last = (np.zeros(d) for _ in range(5))
        self.scores, self.g, self.moved, self.next_scores = (np.zeros(n) for _ in range(4))
        self.gradient_scores, self.last_scores = (np.zeros(n if design.is_kernel else 1) for _ in range(2))
        self.value, self.subproblem_gap, self.decrease, self.stuck = np.inf, np.inf, np.inf, False
        self.warm = False  # whether a start other than f = 0 is known
        self.begun = False  # whether value and gradient, or the cutting planes, are those of the point
        if initial is not None:
            self._start_from(initial)

    @property
    def n_cuts(self):
        return 0 if self.bundle is None else self.bundle.n_cuts

    @property
    def vanishes(self):
        """Whether no f that was found has a smaller objective than f = 0, up to `tol`."""
        return bool(self.objective() >= (1 - self.tol) * self.problem.at_zero)

    # --- the iteration -----------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take up to `n_iter` steps of L-BFGS, or cuts; return how many, fewer once it has converged or is stuck."""
        done = 0
        while done < n_iter and not self.converged and not self.stuck:
            if not self.begun:
                self._begin()
            elif self.bundle is None:
                self._descend()
            else:
                self._cut()
            self.n_iter += 1
            done += 1
        return done

    def _begin(self):
        """Evaluate the first point: what was given, else the solution for a sample, else a Newton step from 0."""
        self.bundle = None  # unless Ctrl-C came within a step
        if not self.warm:
            self._first_point()
        elif self.coef.any():
            self.scores = self.design.scores(self.coef)
        if self.preconditioner is not None:
            self.core.cutting_planes.fit_preconditioner(self.preconditioner, self.problem, self.scores, self.g)
        self.value = self.core.value_at(self.problem, self.coef, self.scores, self.g)
        self.decrease = max(0.0, self.problem.at_zero - self.value)  # before the first step: from f = 0
        self._differentiate()
        self.begun = True

    def _first_point(self):
        """The solution for a sample; or the Newton step from f = 0 for the mean of all losses, which is convex, scaled.

        f = 0 itself is critical: there all scores are tied.
        """
        if self.problem.n > 4 * len(self.sample):
            part = self.design.take(self.sample), self.problem.ranked.take(self.sample)
            coarse = ExactDCA(
                *part, alpha=self.alpha, tol=COARSE_TOL, proximal=self.proximal, random_state=self.seed, core=self.core
            )
            coarse.advance(COARSE_STEPS)
            self.coef = np.array(self.design.embed(coarse.found(), self.sample))
            self.scores = self.design.scores(self.coef)
        else:
            convex = self.core.RankedRisk(self.design, self.problem.ranked.whole(), self.alpha)
            self.core.newton_direction(convex, self.preconditioner, self.g, self.step, self.moved)
            self._try(self._best_multiple())
            self.coef[:], self.scores[:] = self.next_coef, self.next_scores
        self.warm = True

    def _best_multiple(self):
        """Double or halve 1 while that lowers the objective at this multiple of the step."""
        t, here = 1.0, self._try(1.0)
        for factor in (2.0, 0.5):
            while NOWHERE < t < 1 / NOWHERE and (there := self._try(factor * t)) < here:
                t, here = factor * t, there
        return t

    def _try(self, t):
        """Set the next point, and return the objective there."""
        way = self.coef, self.scores, self.step, self.moved
        return self.core.value_along(self.problem, t, *way, self.next_coef, self.next_scores)

    def _differentiate(self):
        """The gradient, its scores where there is a kernel, and the gap that follows."""
        square = self.core.differentiate(self.problem, self.coef, self.g, self.gradient, self.gradient_scores)
        self.subproblem_gap = max(square, 0.0) / (2 * self.strength)  # rounding may make a square negative

    def root_of_gap(self):
        """Return the gradient in the units in which its square is the gap; None for features and with cutting planes.

        The gap of cutting planes is no such square, and its rounding is not bounded.
        """
        if not (self.begun and self.bundle is None and self.design.is_kernel):
            return None
        return tuple(values / np.sqrt(2 * self.strength) for values in (self.gradient, self.gradient_scores))

    def _descend(self):
        """A step of L-BFGS; cutting planes take over where it makes no progress and the gap is not closed."""
        before = self.value
        np.negative(self.gradient, out=self.step)
        self.memory.solve(self.step, self.preconditioner)
        way = self.coef, self.scores, self.step, self.moved, self.next_coef, self.next_scores
        t = self.core.line_search(self.problem, self.value, self.gradient, *way, self.g)
        if t > 0:
            self._move(t)
        elif self.memory.n_pairs:
            self.memory.forget()
            return
        self.decrease = before - self.value
        if self.decrease <= self.tol * self.value:
            self.converged = self._is_within(self.tol)
            if not self.converged:
                self._open_bundle()

    def _move(self, t):
        """Go to the next point, t times the step away, and remember the change of the gradient."""
        self.begun = False  # until the move is whole: Ctrl-C may come between
        self.last, self.gradient = self.gradient, self.last
        self.last_scores, self.gradient_scores = self.gradient_scores, self.last_scores
        self.coef, self.next_coef = self.next_coef, self.coef
        self.scores, self.next_scores = self.next_scores, self.scores
        self.value = self.core.value_at(self.problem, self.coef, self.scores, None)
        self._differentiate()
        np.subtract(self.gradient, self.last, out=self.last)
        if self.design.is_kernel:
            np.subtract(self.gradient_scores, self.last_scores, out=self.last_scores)
        self.memory.append(t, self.step, self.moved, self.last, self.last_scores)
        self.begun = True

    def _open_bundle(self, state=None):
        """Linearise the lower part at the point; set up the cutting planes of the subproblem, from a state or afresh.

        Without alpha the subproblem has a proximal term: its variable is the step from the point.
        """
        coef, risk = self.coef.copy(), self.problem
        if self.alpha == 0:
            coef[:] = 0.0
            risk = self.core.RankedRisk(self.design, self.problem.ranked, self.proximal, self.scores.copy())
        self.core.linearise(risk, self.scores, self.g)
        start = Solution(coef) if state is None else Solution(state.pop("coef"), state=state)
        self.bundle = CuttingPlanes(
            risk, tol=CLOSED, max_cuts=MAX_CUTS, seed=seed_of(self.seed), initial=start, core=self.core.cutting_planes
        )

    def _cut(self):
        """Add a cut; linearise again where the subproblem is solved, or has gained more than it may still gain."""
        bundle = self.bundle
        if bundle.advance(1) == 0 and not bundle.converged:
            self.stuck = True
            return
        gap = bundle.gap()
        self.subproblem_gap = self._gap_of_point()
        closed = gap <= self.tol * self.value
        if not closed and self.value - bundle.value < gap:
            return
        self.begun = False  # until the point and the linear part have moved: Ctrl-C may come between
        if self.alpha > 0:
            self.coef[:], self.scores[:] = bundle.coef, bundle.scores
        else:
            self.step[:], self.moved[:] = bundle.coef, bundle.scores
            self._try(1.0)
            self.coef[:], self.scores[:] = self.next_coef, self.next_scores
        self.subproblem_gap = gap
        value = self.core.value_at(self.problem, self.coef, self.scores, None)
        self.decrease, self.value = self.value - value, value
        self.converged = closed and self.decrease <= self.tol * value
        if not self.converged:
            self._linearise_again()
            self.subproblem_gap = self._gap_of_point()
        self.begun = True

    def _gap_of_point(self):
        """Return the gap of the point, where L is linearised; that of the cutting planes is that of their best one."""
        return max(0.0, self.value - self.bundle.bound)

    def _linearise_again(self):
        """Move the linear part of the subproblem to the point; the cuts change by the change of the linear part."""
        if self.alpha == 0:
            self._open_bundle()
            return
        value, change = self.core.linearise(self.bundle.problem, self.scores, self.g)
        self.bundle.add_linear(self.g, change, value)

    # --- what it found -----------------------------------------------------------------------------------------------

    def check(self, tol):
        """Set `converged` to whether the gap and the decrease of the last step are at most `tol` times F; return it."""
        self.converged = self._is_within(tol)
        return self.converged

    def _is_within(self, tol):
        return bool(max(self.subproblem_gap, self.decrease) <= tol * self.objective())

    def hold_to(self, tol):
        """Set `tol`; a start that had converged to a larger one is the first point of a new search."""
        super().hold_to(tol)
        if self.converged and not self._is_within(tol):
            # The point has moved since the cuts were made.
            self.converged, self.begun, self.bundle = False, False, None

    def objective(self):
        """Return the objective of the point."""
        if self.begun:
            return self.value
        scores = self.design.scores(self.coef) if self.coef.any() else np.zeros(self.problem.n)
        return self.core.value_at(self.problem, self.coef, scores, None)

    def criticality(self, mu=1.0, tol=1e-2):
        """Return how far the point is from being critical, certified (see `kernbench.solvers.ranking.criticality`)."""
        return criticality(
            self.design, self.problem.ranked, self.coef, core=self.core, alpha=self.alpha, mu=mu, tol=tol
        )[0]

    def solution(self):
        """Return the point with the state needed to continue."""
        state = {"seed": np.array([self.seed])}
        if self.begun:
            state |= self.memory.state() | {
                "settings": np.append(self.problem.settings(), self.proximal),
                "signature": signature(self.problem, self.scores),
                "hessian": np.empty((0, 0)) if self.preconditioner is None else self.preconditioner.state(),
                "progress": np.array(
                    [self.subproblem_gap, self.converged, self.stuck, self.decrease], dtype=np.float64
                ),
            }
            if self.bundle is not None:
                inner = self.bundle.solution()
                state |= {f"{INNER}{name}": value for name, value in ({"coef": inner.coef} | inner.state).items()}
        return Solution(self.found(), 0.0, self.n_iter, state)

    def found(self):
        """Return the coefficients of the point, one for each column of the data."""
        return widen(self.coef, self.columns, self.n_features)

    def _start_from(self, initial):
        keys = ["settings", "signature", "hessian", "progress", "steps", "changes"]
        keys += ["step_scores", "change_scores"] * self.design.is_kernel
        state = require_state(initial, self.n_features, keys)
        coef = np.array(initial.coef, dtype=np.float64)
        self.coef = coef if self.columns is None else coef[self.columns]
        self.warm, self.n_iter = bool(self.coef.any()), initial.n_iter
        if state is None or not np.array_equal(state["settings"], np.append(self.problem.settings(), self.proximal)):
            return
        self.scores = self.design.scores(self.coef)
        if not same_data(self.problem, state["signature"], self.scores):
            return
        if self.preconditioner is not None:
            self.preconditioner.load(state["hessian"])
        self.memory.load(state)
        self.value = self.core.value_at(self.problem, self.coef, self.scores, self.g)
        inner = {name.removeprefix(INNER): value for name, value in initial.state.items() if name.startswith(INNER)}
        if inner:
            self._open_bundle(inner)
        else:
            self._differentiate()
        gap, converged, stuck, *decrease = state["progress"].tolist()  # models saved earlier have no last one
        self.subproblem_gap, self.converged, self.stuck = gap, bool(converged), bool(stuck)
        self.decrease = decrease[0] if decrease else np.inf
        self.begun = True
