"""SMO in float64 at about the cost of float32: the first digits on float32 rows, the last ones on float64 rows.

    float32 rows --until the violation is 1e-3--> gradient of all, recomputed in float64 --float64 rows--> tol

Most of the time of SMO goes into rows, and float32 rows cost half. Their rounding errors accumulate in the gradient,
which SMO only updates; so at the end of the float32 phase the gradient is computed from the coefficients in float64
(mixed-precision refinement: the solution in low precision, the residual in high precision; Higham, Accuracy and
Stability of Numerical Algorithms, 2002, section 12). At the default tolerance the run usually ends there; otherwise a
few rounds on float64 rows follow. They are an ordinary run of SMO from a good start, so the result is as accurate as
that of a float64 run, and `converged` means the same.

The float32 phase also ends when its steps make no more progress.
"""

from dataclasses import replace

import numpy as np

from kernbench.problems.nu_problem import kernel_problem
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo._smo import SMO
from kernbench.solvers.kernel.smo.certificate import is_certified, is_zero
from kernbench.solvers.kernel.smo.dual_state import State

ROUGH = 1e-3  # violation down to which float32 rows are used


class RefinedSMO:
    """Kernel SVM by sequential minimal optimisation, with rows of two precisions.

    Its reference is that of `SMO`, in float64 only; the two agree within the tolerance.

    Parameters
    ----------
    rows : TwoPrecisionRows
    y, alpha, weights, fit_intercept, loss, tol, random_state, **options
        As for `SMO`.
    initial : Solution, optional
        Start from these coefficients, clipped to the box; directly on float64 rows if they are good enough.
    """

    granularity = 1
    first_check = None

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", tol=1e-3, random_state=None,
                 initial=None, **options):  # fmt: skip
        self.rows, self.tol, self.converged = rows, tol, False
        problem = kernel_problem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        self.problem = problem
        self._y, self._unit = y, problem.unit()
        self._options = {"alpha": problem.alpha, "weights": problem.weights, "fit_intercept": fit_intercept,
                         "loss": loss, **options}  # fmt: skip
        # The last point whose gradient was computed in float64; at first beta = 0.
        self._known, self._known_at = State.of(problem, rows.diagonal()), None
        self._violation, start = np.inf, Solution(self._known.beta)
        if initial is not None:
            start = self._feasible(initial)
            if "products" in initial.state:
                known = self._known
                e = known.linear - initial.state["products"] - known.ridge * initial.coef
                self._known = replace(known, beta=np.asarray(initial.coef, dtype=np.float64), e=e)
            self._known = self._state_at(start.coef, count=True)
            self._violation = self._known.violation(fit_intercept)
        self._begin(np.float64 if self._violation <= max(tol, ROUGH) * self._unit else np.float32, start)

    def _feasible(self, solution):
        """Return its coefficients as SMO requires them: inside the box, and with sum zero if there is an intercept."""
        return Solution(self.problem.feasible(solution.coef), n_iter=solution.n_iter)

    def _begin(self, dtype, start):
        """Continue from `start`, where the gradient is known, on rows of this precision."""
        start = replace(start, state={"products": self._known_products()})
        solver = SMO(self.rows.of(dtype), self._y, tol=self.tol, initial=start, **self._options)
        if dtype is np.float32:
            solver.rough = True
        self._solver, self._exact = solver, dtype is np.float64

    @property
    def n_iter(self):
        return self._solver.n_iter

    @property
    def n_kernel_evaluations(self):
        return self.rows.n_evaluations

    @property
    def violation(self):
        """The largest violation over all coordinates; in float64 once it was computed so."""
        return self._solver.violation if self._exact else self._violation

    def advance(self, n_iter):
        """Take at least one and about `n_iter` steps; return how many were taken."""
        done = 0
        while done < n_iter and not self.converged:
            self._solver.tol = self.tol if self._exact else max(self.tol, ROUGH)
            steps = self._solver.advance(n_iter - done)
            done += steps
            if self._exact:
                self.converged = self._solver.converged
                if steps == 0:
                    break
            elif self._solver.converged or steps == 0:
                self._refine()
        return done

    def _refine(self):
        """End the float32 phase: compute the gradient in float64, and continue on float64 rows if necessary."""
        start = self._feasible(self._solver.solution())
        self._known, self._known_at = self._state_at(start.coef, count=True), self.n_iter
        self._violation = self._known.violation(self.problem.fit_intercept)
        known, problem = self._known, self.problem
        intercept = known.intercept() if problem.fit_intercept else 0.0
        ends = is_certified(problem, known, intercept, self.tol) or is_zero(
            problem, known, intercept, self._violation, self.tol * self._unit
        )
        self.converged = self._violation <= self.tol * self._unit and ends
        if not self.converged:
            self._begin(np.float64, start)

    def _state_at(self, beta, count):
        """The state at `beta`, its gradient e = y - (K + R) beta in float64.

        Computed from the last known one and the coefficients that changed since, or from zero if that is less work.
        """
        known = self._known
        changed, used = np.flatnonzero(beta != known.beta), np.flatnonzero(beta)
        if len(used) < len(changed):
            e = known.linear - known.ridge * beta - self.rows.product(used, beta[used], count=count)
        else:
            change = beta - known.beta
            e = known.e - known.ridge * change - self.rows.product(changed, change[changed], count=count)
        return replace(known, beta=beta, e=e)

    # --- what it found -----------------------------------------------------------------------------------------------

    def check(self, tol):
        """Return whether the rule, which `advance` tests, holds."""
        return self.converged

    def _is_known(self):
        return not self._exact and self._known_at == self.n_iter

    def solution(self):
        """The current coefficients and intercept; the state holds K times the coefficients, if known in float64."""
        if self._exact:
            return self._solver.solution()
        if not self._is_known():
            found = self._solver.solution()
            return replace(found, state={key: found.state[key] for key in ("level",) if key in found.state})
        intercept = self._known.intercept() if self.problem.fit_intercept else 0.0
        state = {"products": self._known_products()}
        if self.problem.constraint != "sum":
            state["level"] = np.array([self._known.level()])
        return Solution(self._known.beta.copy(), intercept, self.n_iter, state)

    def _known_products(self):
        """K times the coefficients of the last known point."""
        return self._known.scores()

    def dual_objective(self):
        """alpha times the dual objective, a lower bound of the optimum; in the float32 phase up to rounding."""
        if not self._is_known():
            return self._solver.dual_objective()
        return self.problem.alpha * self._known.dual()

    def objective(self):
        """The primal objective; in the float32 phase this computes the gradient in float64."""
        self._look()
        if self._exact:
            return self._solver.objective()
        state = self._known
        scores = state.scores()
        return self.problem.objective(scores, float(state.beta @ scores), self.solution().intercept)

    def gap(self):
        """Primal minus dual objective, a certified bound on the distance to the optimum."""
        self._look()
        return max(self.objective() - self.dual_objective(), 0.0)

    def _look(self):
        if not self._exact and self._known_at != self.n_iter:
            self._known = self._state_at(self._solver.solution().coef, count=False)
            self._known_at = self.n_iter
