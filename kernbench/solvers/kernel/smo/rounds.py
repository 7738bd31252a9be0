"""The rounds of SMO on rows of one precision: what problems of one working set and of several have in common.

* A small problem is one set (`one_set`), a large one has a new set in every round (`several_sets`).
* `converged` means that the largest violation of the optimality conditions over *all* coordinates is at most `tol`,
  and that the certified gap is not a large part of the objective (`certificate`).
* Without progress (`stagnation`) the gradient is recomputed and working sets get smaller. If this does not help,
  `advance` returns 0, and the run ends as "stalled"; with hopelessly slow progress as "stagnated".
"""

import numpy as np

from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo.active_set import ActiveSet
from kernbench.solvers.kernel.smo.certificate import MOST_GAP, is_certified, is_zero, least_goal, rescaled
from kernbench.solvers.kernel.smo.dual_state import SAME_BETA, State
from kernbench.solvers.kernel.smo.stagnation import Stagnation

FAR = 0.01  # a dual objective that stays below this share of the primal one is hopeless


class Rounds:
    """Base class: the coefficients and their gradient, and when a run ends. Subclasses add `_round`, which takes about
    the given number of steps, updates `dual` and `violation`, and returns how many steps there were.

    Parameters
    ----------
    problem : MarginProblem or NuProblem
    rows : KernelRows
        Of one precision.
    core : module
        See `kernbench.solvers.method.core_of`.
    set_size : int
        Coordinates of a working set.
    initial : Solution or None
    whole : bool
        Whether the set is the whole problem.
    shrinking : bool
        Whether to leave out coordinates inside the set.

    Attributes
    ----------
    tol : float
        To be set before `advance`, as are `rough` and `last_iter`.
    rough : bool
    last_iter : int or inf
        Value of `n_iter` beyond which there are no steps.
    n_iter : int
    converged : bool
    violation : float
    dual : float
        The dual objective, updated in every round.
    inner : WorkingSet
        Of `core`.
    """

    def __init__(self, problem, rows, core, set_size, *, initial, whole, shrinking):
        self.problem, self.rows, self.core, self.with_bias = problem, rows, core, problem.fit_intercept
        self.tol, self.rough, self.converged, self.n_iter = 1e-3, False, False, 0
        self.last_iter = np.inf
        state = State.of(problem, rows.diagonal())
        self.active = ActiveSet(problem, rows, state)
        if initial is not None:
            state.beta = problem.feasible(initial.coef)
            self.n_iter = initial.n_iter
            self.active.start_gradient(initial, SAME_BETA * np.abs(state.beta).max())
        elif (start := problem.start()) is not None:
            state.beta = start
            self.active.compute_gradient()
        self.dual, self.unit, self.violation = state.dual(), problem.unit(), 0.0
        self.inner = core.WorkingSet(
            set_size, rows.single, self.with_bias, whole, shrinking, state.zone, state.constraint
        )
        self.stagnation = Stagnation(self.dual, rows.single)
        self.goal = np.inf  # violation to reach: `tol`, or less if the gap requires it
        self.intercept = None  # of a rescaled solution; None for the usual one
        self.last_objective, self.objective_at = None, -1  # and the step at which it was computed
        # The squared hinge bounds no coefficient: where the kernel is not positive semi-definite, the dual objective
        # may have no maximum. By weak duality it should stay below the primal one at f = 0.
        self.highest_dual = np.inf
        if not np.isfinite(np.sum(state.upper - state.lower)):
            self.highest_dual = 2.0 * problem.objective(np.zeros(problem.n), 0.0, 0.0) / problem.alpha

    def advance(self, n_iter):
        """Take at least one and about `n_iter` steps (a working set that was begun is finished, up to `last_iter`);
        return how many."""
        done = 0
        self.objective_at = -1
        while done < n_iter and not self.converged and not self.stagnation.stuck:
            steps = self._round(n_iter - done)
            if steps == 0:
                break
            done += steps
            self.n_iter += steps
        return done

    # --- the end -----------------------------------------------------------------------------------------------------

    def _solve(self, goal, budget):
        """Take steps inside the set; 0 if the objective grows beyond its bound, and the run ends before these steps."""
        steps = self.core.solve(self.inner, goal, budget, self.highest_dual - self.dual)
        self.stagnation.stuck |= steps < 0
        return max(steps, 0)

    def _is_hopeless(self):
        """Return whether the dual objective, at its steady rate, would stay far below the primal one."""
        problem = self.problem
        forecast = self.stagnation.forecast(self.dual, problem.n)
        if forecast is None or problem.lowest != 0.0:
            return False
        reached = problem.alpha * forecast
        if reached >= FAR * problem.at_zero[0]:
            return False
        self.objective_at = -1
        return reached < FAR * self.objective()

    def _conclude(self):
        """The violation over all coordinates is small enough: return whether the run ends.

        If the gap is large nevertheless, it is reduced by a multiple of the solution, or else by further steps.
        """
        if self.rough:
            return True
        state, problem = self.active.state, self.problem
        goal = 0.1 * min(self.tol * self.unit, self.goal, self.violation)
        is_last = goal < least_goal(state)
        share = max(MOST_GAP, self.tol) if is_last else self.tol  # by rounding, no smaller gap can be reached
        if is_certified(problem, state, self._intercept(), share):
            return True
        if is_zero(problem, state, self._intercept(), self.violation, self.tol * self.unit):
            return True
        moved, intercept = rescaled(problem, state)
        violation = moved.violation(self.with_bias)
        if violation <= self.tol * self.unit and is_certified(problem, moved, intercept, share):
            state.beta[:], state.e[:] = moved.beta, moved.e
            self.dual, self.violation, self.intercept = state.dual(), violation, intercept
            self.objective_at = -1
            return True
        self.goal, self.stagnation.stuck = goal, is_last
        return False

    def check(self, tol):
        """Return whether the run has converged, or may end at this violation of the conditions."""
        return self.converged

    def _intercept(self):
        if self.intercept is not None:
            return self.intercept
        return self.active.state.intercept() if self.with_bias else 0.0

    def solution(self):
        """Return the current coefficients and intercept, with K times the coefficients, if all are active."""
        self.active.write_back()
        whole, state = self.active.whole, {}
        if whole.constraint != "sum":
            state["level"] = np.array([self.active.state.level(self.dual)])
        if self.active.indices is None:
            state["products"] = whole.scores()
        return Solution(whole.beta.copy(), self._intercept(), self.n_iter, state)

    def objective(self):
        """Return the primal objective; if coordinates are left out, their gradient is computed."""
        if self.objective_at != self.n_iter:
            e, whole = self.active.full_gradient(count=False), self.active.whole
            scores = whole.linear - e - whole.ridge * whole.beta
            self.last_objective = self.problem.objective(scores, float(whole.beta @ scores), self._intercept())
            self.objective_at = self.n_iter
        return self.last_objective
