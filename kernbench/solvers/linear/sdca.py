"""Dual coordinate ascent on explicit features, with random permutations and shrinking.

Hsieh, Chang, Lin, Keerthi, Sundararajan, ICML 2008, Algorithm 3; the logistic loss as in Yu, Huang, Lin,
Machine Learning 85 (2011). The dual variables a_i and w = (1/(alpha n)) sum_i w_i a_i y_i x_i are kept together: a step
visits one row, finds the best a_i given all others, and moves w along x_i.

Shrinking leaves out variables at a bound whose gradient points outwards by more than that of any variable did in the
epoch before. Once the others are solved, all are visited again.

The rule of this class is the duality gap, which takes a pass over the data. So the pass is made only when the
gap is expected to be small enough: the sum over the rows of an epoch of w_i (l(m_i) - psi(a_i) + a_i m_i),
with the margins m_i at each visit, costs nothing and would be the gap if nothing moved.

With a `batch_size` the variables of a batch move together, from the same w. The curvature w_i |x_i|^2 of a step is then
replaced by sum_j w_j |<x_i, x_j>| over the batch, so the dual objective never decreases; Takac, Bijral, Richtarik,
Srebro, ICML 2013, enlarge all curvatures by one factor instead, from the norm of the whole matrix.
"""

import numpy as np

from kernbench.losses.margin import LogLoss
from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.draws import PASSES, as_generator, draw_indices
from kernbench.problems.linear.feature_bounds import absolute_products
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_number
from kernbench.solvers.base import Solution
from kernbench.solvers.method import Method
from kernbench.validation.numbers import check_flag, check_name, check_number

MOST_CORRECTION = 10.0  # largest correction factor of an estimate of the gap


class SDCA(Method):
    """Dual coordinate ascent for alpha/2 ||w||^2 + (1/n) sum_i w_i l(y_i <w, x_i>), or l(<w, x_i> - y_i).

    Parameters
    ----------
    design, y, alpha, weights, loss, core : see `PrimalSolver`
    tol : float, default=1e-3
        Converged when the duality gap is at most `tol` times the objective. For a `tol` below 1e-12 the projected
        gradients (steps, for the logistic loss) of all rows must be within 1e-12, and the gap within 1e-12 times the
        objective.
    shrinking : bool, default=True
        Leave out variables that stay at a bound; not for ``order="uniform"``, not for batches and not for the
        logistic loss, whose variables never reach a bound.
    order : {"permutation", "uniform"}, default="permutation"
        How the rows of an epoch are drawn: a random permutation, or with replacement, as in the theory.
    batch_size : int, default=1
        Rows whose variables move together. An iteration is a visit of one row.
    min_iter : int, default=0
        Rows to visit before a gap of `tol` ends the run; until then only convergence up to rounding does.
    random_state : None, int, RandomState or Generator
        One permutation, or n numbers, for each epoch.
    initial : Solution, optional
        The starting point: the dual variables of a run of this class, which is continued exactly if `alpha` and `loss`
        are the same; else -l'(m_i) at the margins m_i of ``coef``.
    """

    losses = EXAMPLE_LOSSES
    first_check = None

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", tol=1e-3, shrinking=True, order="permutation",
                 batch_size=1, min_iter=0, random_state=None, initial=None, core="compiled"):  # fmt: skip
        super().__init__(core)
        check_name("order", order, PASSES)
        check_flag("shrinking", shrinking)
        problem = LinearProblem(design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses)
        self.tol = require_number("tol", tol)
        self.batch_size = int(check_number("batch_size", batch_size, at_least=1, whole=True))
        self.granularity = self.batch_size
        self.min_iter = check_number("min_iter", min_iter, at_least=0, whole=True)
        self.problem, self.design, self.is_uniform = problem, design, order == "uniform"
        self.rng = as_generator(random_state)
        self.used = np.flatnonzero(problem.weights > 0)
        # Dual variables, weights, and what a walk over rows needs and finds.
        shrinks = shrinking and not self.is_uniform and self.batch_size == 1 and problem.loss is not LogLoss
        self.work = self.core.Work(problem, shrinks)
        self.work.order = self.used.astype(np.int64)
        self.n_iter, self.n_passes = 0, 1  # the norms are inner products
        self.known = None  # (n_iter, objective, gap) of the last pass
        self.correction, self.bound, self.bound_due = 1.0, 0.0, 0
        self._restart()
        if initial is not None:
            self._start_from(initial)

    @property
    def n_inner_products(self):
        return self.work.n_products + self.n_passes * self.problem.n

    # --- the iteration -----------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Visit `n_iter` more rows; return how many were visited, fewer once converged."""
        done, work = 0, self.work
        walk = self.core.walk if self.batch_size == 1 else self._walk_batch
        while done < n_iter and not self.converged:
            if work.is_over():  # at position 0 of an epoch rows may have been visited and shrunk
                self._begin_epoch()
            walked = walk(work, n_iter - done)
            done += walked
            self.n_iter += walked
            if work.is_over():
                self._end_epoch()
        return done

    def _walk_batch(self, work, most):
        """Visit the rows of the present batch, up to `most` of them; return how many.

        A batch ends where `n_iter` is a multiple of its size, as calls of `advance` do, and where an epoch ends.
        """
        count = min(most, self.batch_size - self.n_iter % self.batch_size, work.active - work.position)
        rows = work.order[work.position : work.position + count]
        products = absolute_products(self.design, rows, self.problem.weights)
        self.core.batch_step(work, rows, products / (self.problem.alpha * self.problem.n))
        return count

    def _begin_epoch(self):
        if self.is_uniform:
            drawn = draw_indices(self.rng, len(self.used), len(self.used))
            self.work.order = self.used[drawn].astype(np.int64, copy=False)
        else:
            self.rng.shuffle(self.work.active_rows())
        self.work.begin()

    def _end_epoch(self):
        """Make the pass over the data if the gap may have closed; set the thresholds of shrinking for the next
        epoch."""
        estimate, still = self.work.end()
        tol = self.tol if self.n_iter >= self.min_iter else 0.0
        if self.n_iter >= self.bound_due:  # the bound only grows; it need not be recomputed after a short epoch
            self.bound, self.bound_due = self.dual_objective(), self.n_iter + len(self.used) // 4
        if still or estimate * self.correction <= tol * self.bound:
            whole = self.work.active == len(self.used)
            if still and whole:  # no step was taken, and none will be: the remaining gap is rounding
                tol = max(tol if self.is_uniform else self.tol, self.core.STILL)
            if self.check(tol):
                return
            # The error of this estimate corrects the next one, unless that covers other rows.
            self.correction = max(1.0, self.gap() / max(estimate, self.gap() / MOST_CORRECTION)) if whole else 1.0
            self._restart()
            return
        self.work.narrow()

    def _restart(self):
        """Visit all rows in the next epoch."""
        self.work.active, self.work.upper, self.work.lower = len(self.used), np.inf, -np.inf

    # --- what it found -----------------------------------------------------------------------------------------------

    def _certificate(self):
        if self.known is None or self.known[0] != self.n_iter:
            self.n_passes += 1
            coef = self.work.coef
            objective = self.problem.primal(coef, self.design.scores(coef))
            self.known = self.n_iter, objective, max(0.0, objective - self.dual_objective())
        return self.known

    def dual_objective(self):
        """The dual objective, a lower bound on the optimum; without a pass over the data."""
        return self.work.dual_objective()

    def objective(self):
        """The objective, by a pass over the data."""
        return self._certificate()[1]

    def gap(self):
        """The objective minus the dual one: a bound on the distance to the optimum."""
        return self._certificate()[2]

    def solution(self):
        """The weights w; the state holds the dual variables and the position in the epoch."""
        work = self.work
        epoch = [work.active, work.position, work.upper, work.lower, self.correction, work.largest, work.smallest,
                 work.residual, self.bound, self.bound_due]  # fmt: skip
        state = {
            "a": np.array(work.dual),
            "order": np.array(work.order),
            "epoch": np.array(epoch, dtype=np.float64),
            "settings": self._settings(),
        }
        return Solution(np.array(work.coef), 0.0, self.n_iter, state)

    def _settings(self):
        return self.problem.settings(self.is_uniform, len(self.used))

    def _start_from(self, initial):
        work, self.n_iter = self.work, initial.n_iter
        dual, state = self.problem.dual_start(initial, self._settings())
        # Other weights may use as many rows, but not the same ones.
        if state is not None and np.all(self.problem.weights[state["order"]] > 0):
            work.order = state["order"].astype(np.int64)
            work.active, work.position = map(int, state["epoch"][:2])
            (work.upper, work.lower, self.correction, work.largest, work.smallest, work.residual, self.bound,
             self.bound_due) = state["epoch"][2:]  # fmt: skip
        work.start_from(dual)
        self.n_passes += 1
