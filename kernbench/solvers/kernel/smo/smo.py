"""Sequential minimal optimisation on kernel rows: the dual of the kernel SVM, a working set at a time.

The dual problem is that of `dual_state`. A run consists of `rounds`: choose a working set, solve it by steps on pairs
of coordinates (Platt 1998; by second-order information, Fan, Chen, Lin, JMLR 2005), update the gradient of all.

A run in float64 costs little more than one in float32 if its first digits are found on float32 rows:

    float32 rows --until the violation is 1e-3--> gradient of all, recomputed in float64 --float64 rows--> tol

Most of the time of SMO goes into rows, and float32 rows cost half. Their rounding errors accumulate in the gradient,
which SMO only updates; so at the end of the float32 phase the gradient is computed from the coefficients in float64
(mixed-precision refinement: the solution in low precision, the residual in high precision; Higham, Accuracy and
Stability of Numerical Algorithms, 2002, section 12). At the default tolerance the run usually ends there; otherwise a
few rounds on float64 rows follow. They start from a good point, so the result is as accurate as that of a float64 run,
and `converged` means the same.

The float32 phase also ends when its steps make no more progress.
"""

from dataclasses import replace

import numpy as np

from kernbench.kernels.two_precisions import TwoPrecisionRows
from kernbench.losses.regression import QUADRATIC_LOSSES, example_loss
from kernbench.problems.novelty_problem import NU_LOSSES, loss_of_name
from kernbench.problems.nu_problem import NuLoss, kernel_problem
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo.certificate import is_certified, is_zero
from kernbench.solvers.kernel.smo.dual_state import State
from kernbench.solvers.kernel.smo.one_set import OneSet
from kernbench.solvers.kernel.smo.set_size import SetSize, checked_sizes
from kernbench.solvers.kernel.smo.several_sets import SeveralSets
from kernbench.solvers.method import Method
from kernbench.validation.numbers import check_flag, check_number

ROUGH = 1e-3  # violation down to which float32 rows are used
CLASSIC_ROWS = 4000  # up to this size the whole problem is one working set; at 5,000 rows it gains and loses


class SMO(Method):
    """Kernel SVM by sequential minimal optimisation.

    Parameters
    ----------
    rows : KernelRows or TwoPrecisionRows
        With rows of two precisions it starts on float32 rows and ends in float64.
    y : array-like of shape (n,)
        -1 and +1; targets for a loss of residuals.
    alpha : float
        Weight of the norm, ``1 / (C n)``.
    weights : array-like of shape (n,), optional
    fit_intercept : bool, default=True
    loss : str, ResidualLoss or NuLoss, default="hinge"
        One of `losses`; the name of a loss with a share nu stands for nu = 0.5.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of the margin (LIBSVM's ``tol``), or in a regression of
        the targets' mean distance from the best constant.
    random_state : ignored
        The method has no randomness.
    initial : Solution, optional
        Start from these coefficients, clipped to the box; with rows of two precisions directly on those of float64 if
        they are good enough. ``initial.state["products"]``, if given, must be K times them.
    working_set_size : int or pair of ints, optional
        Coordinates of a working set. A pair is the size at first and the largest one: sets grow with the number of free
        coefficients, as far as the kernel between them takes a quarter of the cache. By default 1024 (from 20,000 rows
        on 1536) and 6144.
    shrinking : bool, default=True
        Leave out coordinates that will probably stay at their bound.
    classic_rows : int, default=4000
        Problems of at most this many rows are solved as one working set.
    core : {"compiled", "reference"}, default="compiled"

    Attributes
    ----------
    rough : bool
        Whether a first approximation is enough: the run stops at `tol` uncertified, and keeps the size of the sets.
    rounds : Rounds
        The iteration, on rows of the present precision.

    References
    ----------
    Platt 1998; Joachims 1999; Fan, Chen, Lin, JMLR 6 (2005).
    """

    losses = (*QUADRATIC_LOSSES, *NU_LOSSES)
    first_check = None
    is_interruptible = True
    rough = False

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", tol=1e-3, random_state=None,
                 initial=None, working_set_size=None, shrinking=True, classic_rows=CLASSIC_ROWS,
                 core="compiled"):  # fmt: skip
        super().__init__(core)
        sizes = checked_sizes(working_set_size, rows.n_rows)
        check_number("classic_rows", classic_rows, at_least=0, whole=True)
        check_number("tol", tol, above=0)
        check_flag("shrinking", shrinking)
        loss = loss_of_name(loss)
        if not isinstance(loss, NuLoss):
            example_loss(loss, QUADRATIC_LOSSES)
        problem = kernel_problem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        self.rows, self.tol, self.problem, self._unit = rows, tol, problem, problem.unit()
        self._sizes, self._shrinking, self._classic_rows = sizes, shrinking, classic_rows
        self._is_final, self._known_at = True, None  # whether rows are of the final precision; see `_known`
        self._last_iter = np.inf
        if isinstance(rows, TwoPrecisionRows):
            self._begin_rough(initial)
        else:
            self.rounds = self._rounds_on(rows, initial)

    def _rounds_on(self, rows, initial):
        """Begin on rows of one precision: with one working set if all of them fit memory and are few."""
        options = {"initial": initial, "shrinking": self._shrinking}
        if self.problem.n <= self._classic_rows and rows.capacity >= self.problem.n:
            return OneSet(self.problem, rows, self.core, **options)
        return SeveralSets(self.problem, rows, self.core, set_size=SetSize(*self._sizes, rows), **options)

    @property
    def n_iter(self):
        return self.rounds.n_iter

    @property
    def n_kernel_evaluations(self):
        return self.rows.n_evaluations

    @property
    def violation(self):
        """The largest violation over all coordinates; in float64 once it was computed so."""
        return self.rounds.violation if self._is_final else self._violation

    def stop_after(self, n_iter):
        self._last_iter = n_iter

    def advance(self, n_iter):
        """Take at least one and about `n_iter` steps (a working set that was begun is finished, up to the limit that
        `stop_after` sets); return how many."""
        done = 0
        while done < n_iter and not self.converged:
            self.rounds.tol = self.tol if self._is_final else max(self.tol, ROUGH)
            self.rounds.rough = self.rough or not self._is_final
            self.rounds.last_iter = self._last_iter
            steps = self.rounds.advance(n_iter - done)
            done += steps
            if self._is_final:
                self.converged, self.stagnated = self.rounds.converged, self.rounds.stagnation.hopeless
                if steps == 0:
                    break
            elif self.rounds.converged or steps == 0:
                self._refine()
        return done

    # --- two precisions ----------------------------------------------------------------------------------------------

    def _begin_rough(self, initial):
        """Begin on float32 rows, or on float64 rows if `initial` is a good start."""
        problem = self.problem
        # The last point whose gradient was computed in float64; at first beta = 0.
        self._known = State.of(problem, self.rows.diagonal())
        self._violation, start = np.inf, Solution(self._known.beta)
        if initial is not None:
            start = self._feasible(initial)
            if "products" in initial.state:
                known = self._known
                e = known.linear - initial.state["products"] - known.ridge * initial.coef
                self._known = replace(known, beta=np.asarray(initial.coef, dtype=np.float64), e=e)
            self._known = self._state_at(start.coef, count=True)
            self._violation = self._known.violation(problem.fit_intercept)
        self._begin(np.float64 if self._violation <= max(self.tol, ROUGH) * self._unit else np.float32, start)

    def _feasible(self, solution):
        """Return its coefficients as SMO requires them: inside the box, and with sum zero if there is an intercept."""
        return Solution(self.problem.feasible(solution.coef), n_iter=solution.n_iter)

    def _begin(self, dtype, start):
        """Continue from `start`, where the gradient is known, on rows of this precision."""
        start = replace(start, state={"products": self._known.scores()})
        self.rounds = self._rounds_on(self.rows.of(dtype), start)
        self._is_final = dtype is np.float64

    def _refine(self):
        """End the float32 phase: compute the gradient in float64, and continue on float64 rows if necessary."""
        start = self._feasible(self.rounds.solution())
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

    def _is_known(self):
        return not self._is_final and self._known_at == self.n_iter

    def _compute_state(self):
        """In the float32 phase, compute the gradient in float64."""
        if not self._is_final and self._known_at != self.n_iter:
            self._known = self._state_at(self.rounds.solution().coef, count=False)
            self._known_at = self.n_iter

    # --- what it found -----------------------------------------------------------------------------------------------

    def check(self, tol):
        """Return whether the rule, which `advance` tests, holds (also while further digits are computed)."""
        if self._is_final:
            self.converged = self.rounds.check(tol)
        return self.converged

    def solution(self):
        """The current coefficients and intercept; the state holds K times the coefficients, if known in `rows.dtype`,
        and of a problem with a share nu rho or eps."""
        if self._is_final:
            return self.rounds.solution()
        if not self._is_known():
            found = self.rounds.solution()
            return replace(found, state={key: found.state[key] for key in ("level",) if key in found.state})
        known, problem = self._known, self.problem
        state = {"products": known.scores()}
        if problem.constraint != "sum":
            state["level"] = np.array([known.level()])
        return Solution(known.beta.copy(), known.intercept() if problem.fit_intercept else 0.0, self.n_iter, state)

    def dual_objective(self):
        """alpha times the dual objective, a lower bound of the optimum that never decreases; known at no cost. In a
        float32 phase up to rounding."""
        return self.problem.alpha * (self._known.dual() if self._is_known() else self.rounds.dual)

    def objective(self):
        """The primal objective; the gradient of coordinates that are left out is computed, and in a float32 phase that
        of all, in float64."""
        self._compute_state()
        if self._is_final:
            return self.rounds.objective()
        scores = self._known.scores()
        return self.problem.objective(scores, float(self._known.beta @ scores), self.solution().intercept)

    def gap(self):
        """Primal minus dual objective, a certified bound on the distance to the optimum."""
        self._compute_state()
        return max(self.objective() - self.dual_objective(), 0.0)
