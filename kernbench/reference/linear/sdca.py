"""Dual coordinate ascent on explicit features, with random permutations and shrinking.

Hsieh, Chang, Lin, Keerthi, Sundararajan, ICML 2008, Algorithm 3; the logistic loss as in Yu, Huang, Lin,
Machine Learning 85 (2011). The dual variables a_i and w = (1/(alpha n)) sum_i w_i a_i y_i x_i are kept together: a step
visits one row, finds the best a_i given all others, and moves w along x_i.

Shrinking leaves out variables at a bound whose gradient points outwards by more than that of any variable did in the
epoch before. Once the others are solved, all are visited again.

The rule of this class is the duality gap, which takes a pass over the data. So the pass is made only when the
gap is expected to be small enough: the sum over the rows of an epoch of w_i (l(m_i) - psi(a_i) + a_i m_i),
with the margins m_i at each visit, costs nothing and would be the gap if nothing moved.
"""

import numpy as np

from kernbench._names import unknown_name
from kernbench.losses.margin import LogLoss, SquaredHinge
from kernbench.losses.regression import EXAMPLE_LOSSES, ResidualLoss
from kernbench.problems.draws import as_generator, draw_indices
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_number
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import check_number

ORDERS = ("permutation", "uniform")
STILL = 1e-12  # a gradient, or a step of the logistic loss or its effect on a margin, within rounding error
MOST_DOUBT = 10.0  # largest correction factor of an estimate of the gap


class SDCA:
    """Dual coordinate ascent for alpha/2 ||w||^2 + (1/n) sum_i w_i l(y_i <w, x_i>), or l(<w, x_i> - y_i).

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n,)
        Labels, -1 or +1; targets for a loss of residuals.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n,), optional
        Ones by default.
    loss : str or ResidualLoss, default="hinge"
        One of `losses`.
    tol : float, default=1e-3
        Converged when the duality gap is at most `tol` times the objective. For a `tol` below 1e-12 the projected
        gradients (steps, for the logistic loss) of all rows must be within 1e-12, and the gap within 1e-12 times the
        objective.
    shrinking : bool, default=True
        Leave out variables that stay at a bound; not for ``order="uniform"`` and not for the logistic loss,
        whose variables never reach a bound.
    order : {"permutation", "uniform"}, default="permutation"
        How the rows of an epoch are drawn: a random permutation, or with replacement, as in the theory.
    min_iter : int, default=0
        Rows to visit before a gap of `tol` ends the run; until then only convergence up to rounding does.
    random_state : None, int, RandomState or Generator
        One permutation, or n numbers, for each epoch.
    initial : Solution, optional
        Where to start: at the dual variables of a run of this class, which is continued exactly if `alpha` and `loss`
        are the same; or from -l'(m_i) at the margins m_i of ``coef``.

    Raises
    ------
    ValueError
        With a sentence that says what to change.
    """

    losses = EXAMPLE_LOSSES
    granularity = 1
    first_check = None
    n_kernel_evaluations = 0

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", tol=1e-3, shrinking=True, order="permutation",
                 min_iter=0, random_state=None, initial=None):  # fmt: skip
        if order not in ORDERS:
            raise ValueError(unknown_name("order", order, ORDERS))
        problem = LinearProblem(design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses)
        self.tol = require_number("tol", tol)
        self.min_iter = check_number("min_iter", min_iter, at_least=0, whole=True)
        self.problem, self.loss, self._uniform = problem, problem.loss, order == "uniform"
        self._shrinking = bool(shrinking) and not self._uniform and self.loss is not LogLoss
        self._rng = as_generator(random_state)
        self._used = np.flatnonzero(problem.weights > 0)
        self._push = problem.weights * problem.y / (problem.alpha * problem.n)
        norms = np.array([row @ row for row in map(self._row, range(problem.n))])
        self._curvature = np.abs(self._push) * norms
        self._a, self._coef = np.zeros(problem.n), np.zeros(design.n_coef)
        self.n_iter, self.n_inner_products, self.converged = (0, problem.n, False)  # the norms are inner products
        self._known = None  # (n_iter, objective, gap) of the last pass
        self._order = self._used.copy()
        self._position, self._doubt = -1, 1.0
        self._bound, self._bound_due = 0.0, 0
        self._largest, self._smallest, self._residual = -np.inf, np.inf, 0.0
        self._restart()
        if initial is not None:
            self._start_from(initial)

    def _row(self, i):
        return self.problem.design.rows([i])[0]

    # --- the iteration
    # --------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Visit `n_iter` more rows; return how many were visited, fewer once converged."""
        done = 0
        while done < n_iter and not self.converged:
            if self._position < 0:  # not begun; at 0 rows may have been visited and shrunk
                self._begin_epoch()
            done += self._walk(n_iter - done)
            if self._position == self._active:
                self._end_epoch()
        return done

    def _begin_epoch(self):
        self._position = 0
        if self._uniform:
            self._order = self._used[draw_indices(self._rng, len(self._used), len(self._used))]
        else:
            self._rng.shuffle(self._order[: self._active])
        self._largest, self._smallest, self._residual = -np.inf, np.inf, 0.0

    def _walk(self, n_iter):
        """Visit up to `n_iter` rows of this epoch."""
        y, weights, loss = self.problem.y, self.problem.weights, self.loss
        done = 0
        while done < n_iter and self._position < self._active:
            i = self._order[self._position]
            x, a = self._row(i), self._a[i]
            margin = y[i] * (x @ self._coef) - self.problem.targets[i]  # or the residual
            done += 1
            self.n_inner_products += 1
            self._residual += weights[i] * (loss.value(margin) - loss.dual_value(a) + a * margin)
            if loss is not LogLoss:
                left, right = self._slopes(a, margin)
                if self._shrinking and self._stays_put(left, right):
                    self._active -= 1
                    last = self._order[self._active]
                    self._order[self._active], self._order[self._position] = i, last
                    continue
                projected = right if right < 0.0 else left if left > 0.0 else 0.0
            best = loss.dual_coordinate(a, margin, self._curvature[i])
            if loss is LogLoss:
                # Its effect on the margin where that is larger: on rows of 1e6 the dual variables are tiny.
                projected = (best - a) * max(1.0, self._curvature[i] / max(1.0, abs(margin)))
            self._largest, self._smallest = max(self._largest, projected), min(self._smallest, projected)
            if abs(projected) > STILL:
                self._a[i] = best
                self._coef += (best - a) * self._push[i] * x
                self.n_inner_products += 1
            self._position += 1
        self.n_iter += done
        return done

    def _slopes(self, a, z):
        """Return the derivatives of a z - psi(a) to the left and to the right of a, infinite at the ends of the
        domain."""
        if isinstance(self.loss, ResidualLoss):
            return self.loss.dual_slopes(a, z)
        slope = z - 1.0 + (0.5 * a if self.loss is SquaredHinge else 0.0)
        return -np.inf if a <= 0.0 else slope, np.inf if a >= self.loss.upper else slope

    def _stays_put(self, left, right):
        """Whether a is held, at a bound or a kink of psi, by more than any variable was pulled in the last epoch."""
        return (left == -np.inf or left < self._lower) and (right == np.inf or right > self._upper)

    def _end_epoch(self):
        """Make the pass over the data if the gap may have closed; set the thresholds of shrinking for the next
        epoch."""
        self._position = -1
        estimate = self._residual / self.problem.n
        tol = self.tol if self.n_iter >= self.min_iter else 0.0
        still = self._largest <= STILL and self._smallest >= -STILL
        whole = self._active == len(self._used)
        if self.n_iter >= self._bound_due:  # the bound only grows; it need not be recomputed after a short epoch
            self._bound, self._bound_due = self.dual_objective(), self.n_iter + len(self._used) // 4
        if still or estimate * self._doubt <= tol * self._bound:
            if still and whole:  # no step was taken, and none will be: the remaining gap is rounding
                tol = max(tol if self._uniform else self.tol, STILL)
            if self.check(tol):
                return
            # The error of this estimate corrects the next one, unless that covers other rows.
            self._doubt = max(1.0, self.gap() / max(estimate, self.gap() / MOST_DOUBT)) if whole else 1.0
            self._restart()
            return
        self._upper = self._largest if self._largest > STILL else np.inf
        self._lower = self._smallest if self._smallest < -STILL else -np.inf

    def _restart(self):
        """Visit all rows in the next epoch."""
        self._active, self._upper, self._lower = len(self._used), np.inf, -np.inf

    # --- what it found
    # --------------------------------------------------------------------------------------------

    def _certificate(self):
        if self._known is None or self._known[0] != self.n_iter:
            self.n_inner_products += self.problem.n
            objective = self.problem.primal(self._coef, self.problem.design.scores(self._coef))
            self._known = self.n_iter, objective, max(0.0, objective - self.dual_objective())
        return self._known

    def dual_objective(self):
        """The dual objective, a lower bound on the optimum; without a pass over the data."""
        return self.problem.dual(self._a, self._coef)

    def objective(self):
        """The objective, by a pass over the data."""
        return self._certificate()[1]

    def gap(self):
        """The objective minus the dual one: a bound on the distance to the optimum."""
        return self._certificate()[2]

    def check(self, tol):
        """Set `converged` to whether the duality gap is at most `tol` times the objective, and return it."""
        self.converged = self.gap() <= tol * self.objective()
        return self.converged

    def solution(self):
        """The weights w; the state holds the dual variables and the position in the epoch."""
        epoch = [self._active, self._position, self._upper, self._lower, self._doubt, self._largest, self._smallest,
                 self._residual, self._bound, self._bound_due]  # fmt: skip
        state = {"a": self._a.copy(), "order": self._order.copy(), "epoch": np.array(epoch, dtype=np.float64),
                 "settings": self._settings()}  # fmt: skip
        return Solution(self._coef.copy(), 0.0, self.n_iter, state)

    def _settings(self):
        return self.problem.settings(self._uniform, len(self._used))

    def _start_from(self, initial):
        self.n_iter = initial.n_iter
        self._a, state = self.problem.start(initial, self._settings())
        if state is not None:
            self._order = state["order"]
            self._active, self._position = map(int, state["epoch"][:2])
            (self._upper, self._lower, self._doubt, self._largest, self._smallest, self._residual, self._bound,
             self._bound_due) = state["epoch"][2:]  # fmt: skip
        self._coef = self.problem.design.combine(self._push * self._a)
        self.n_inner_products += self.problem.n
