"""Stochastic dual coordinate ascent, with kernel rows: one coordinate a step, or two where there is an intercept.

Hsieh et al., ICML 2008; Shalev-Shwartz and Zhang, JMLR 14 (2013). With f = 1/(alpha n) sum_i w_i y_i a_i
k(x_i, .) and psi the loss's dual (`losses.margin`), the dual

    maximise  D(a) = (1/n) sum_i w_i psi(a_i) - alpha/2 ||f||^2

(in a regression z_i = f(x_i) - t_i takes the place of the margin, see `losses.regression`)
is maximised by setting one a_i at a time to its best value, which costs one row of the kernel matrix if a_i changes.

With an intercept D has the constraint sum_i w_i y_i a_i = 0, which steps of single coordinates violate. So pairs move:
a batch of examples is drawn, and each of them in turn exchanges signed mass w_i y_i a_i with the example of the batch
that promises the largest gain. Each such step maximises D over a segment of the feasible set, so D never decreases;
random permutations put every two examples into one batch with positive probability in every epoch, and a feasible point
at which no pair can increase D is optimal (the conditions of optimality compare two examples at a time: y_i psi'(a_i) -
f(x_i) of one that can grow with that of one that can shrink). So the iterates approach the optimum that SMO finds. And
since they are feasible, D is a lower bound of the optimum at any time, and the gap costs no kernel value.
"""

import numpy as np

from kernbench._names import unknown_name
from kernbench.losses.duality import balanced
from kernbench.losses.margin import dual_pair, pair_room
from kernbench.losses.regression import EXAMPLE_LOSSES, ResidualLoss
from kernbench.problems.draws import as_generator, draw_indices
from kernbench.problems.margin_problem import MarginProblem, require_state
from kernbench.solvers.base import Solution

BATCH = 256  # examples drawn together; pairs are found among them
ORDERS = ("permutation", "uniform")
NO_CHANGE = 1e-13  # dual variables nearer than this are equal, and so are a variable and a bound
NO_VIOLATION = 1e-12  # batches that violate the optimality conditions by less are skipped
LEAST_CURVATURE = 1e-12
INSIDE = 1e-3  # partners are judged by the curvature of psi this far inside its domain: at its ends it may be infinite


class SDCA:
    """Kernel SVM by stochastic dual coordinate ascent, for alpha/2 ||f||^2 + (1/n) sum_i w_i l(y_i (f(x_i) + b)).

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
        Labels, -1 or +1; targets for a loss of residuals.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n,), optional
    fit_intercept : bool, default=True
        Move pairs; False moves single coordinates.
    loss : str or ResidualLoss, default="hinge"
        One of `losses`.
    random_state : None, int, RandomState or Generator
    initial : Solution, optional
        With the state of an SDCA run of the same problem that run is continued; otherwise ``coef`` is a warm start,
        clipped to the domain.
    order : {"permutation", "uniform"}, default="permutation"
        Whether an epoch visits every example once, in random order, or as many drawn with replacement.
    shrinking : bool, default=True
        Visit only examples that are not at a bound and pushed against it when the epoch begins.
        Their responses are updated, so no example is left out for longer than an epoch.

    Raises
    ------
    ValueError
        With a sentence that says what to change.
    """

    losses = EXAMPLE_LOSSES
    granularity = BATCH

    def __init__(
        self,
        rows,
        y,
        *,
        alpha,
        weights=None,
        fit_intercept=True,
        loss="hinge",
        random_state=None,
        initial=None,
        order="permutation",
        shrinking=True,
    ):
        if order not in ORDERS:
            raise ValueError(unknown_name("order", order, ORDERS))
        self._problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        if self._problem.alpha is None:
            raise ValueError("SDCA needs alpha, a positive number")
        n = self._problem.n
        self._loss = self._problem.loss
        self._order, self._shrinking = order, bool(shrinking)
        self._scale = 1.0 / (self._problem.alpha * n)
        self._rng, self._diagonal = as_generator(random_state), rows.diagonal()
        self.n_iter, self.n_kernel_evaluations, self.converged = 0, 0, False
        self.first_check = -(-n // BATCH) * BATCH
        self._dual = np.zeros(n)  # a
        self._responses = 0.0 - self._problem.targets  # f(x_i), minus the targets of a regression
        self._visits, self._position = np.empty(0, dtype=np.intp), 0  # of this epoch
        if initial is not None:
            self._start_from(initial)

    @property
    def n_inner_products(self):
        return self.n_kernel_evaluations

    def advance(self, n_iter):
        """Visit `n_iter` examples; return `n_iter`."""
        done = 0
        while done < n_iter:
            if self._position == len(self._visits):
                self._begin_epoch()
            length = min(n_iter - done, BATCH - self.n_iter % BATCH, len(self._visits) - self._position)
            batch = self._visits[self._position : self._position + length]
            if self._problem.fit_intercept:
                self._pair_steps(batch)
            else:
                for i in batch:
                    self._single_step(i)
            self._position += length
            self.n_iter += length
            done += length
        return done

    def _f(self):
        return self._responses + self._problem.targets

    def check(self, tol):
        """Set `converged` to whether the duality gap is at most `tol` times the objective, and return it."""
        self.converged = bool(self.gap() <= tol * max(self.objective(), np.finfo(float).tiny))
        return self.converged

    def solution(self):
        """Return the coefficients as of now, with the best intercept for them."""
        state = {
            "dual": self._dual.copy(),
            "responses": self._responses.copy(),
            "visits": self._visits.astype(np.float64),
            "position": np.array([float(self._position)]),
        }
        return Solution(self._coef(), self._problem.best_intercept(self._f()), self.n_iter, state)

    def objective(self):
        """Return the objective of `solution`."""
        f = self._f()
        return self._problem.objective(f, self._coef() @ f, self._problem.best_intercept(f))

    def gap(self):
        """Return the objective of `solution` minus the dual objective; no kernel value is needed."""
        f = self._f()
        return self._problem.gap(self._coef(), f, self._problem.best_intercept(f))

    def _begin_epoch(self):
        used = self._problem.weights > 0
        open_ones = np.flatnonzero(used & ~self._shrinkable(slice(None))) if self._shrinking else np.flatnonzero(used)
        if len(open_ones) == 0:
            open_ones = np.flatnonzero(used)
        draw = self._rng.permutation if self._order == "permutation" else self._draw
        self._visits, self._position = open_ones[draw(len(open_ones))], 0

    def _draw(self, size):
        return draw_indices(self._rng, size, size)

    def _shrinkable(self, members):
        """Which of `members` are at a bound and pushed against it, by more than any of the others pulls."""
        if isinstance(self._loss, ResidualLoss):
            left, right = self._loss.dual_slopes(self._dual[members], self._responses[members])
            held = (left == -np.inf) | (right == np.inf) | (left < right)
            return held & (left < 0.0) & (right > 0.0)
        e, at_upper, at_lower = self._pulls(members)
        top = bottom = 0.0
        if self._problem.fit_intercept:
            top, bottom = _extremes(e, at_upper, at_lower)
        return (at_upper & (e > top)) | (at_lower & (e < bottom))

    def _pulls(self, members):
        """Return y psi'(a) - f, the slope in the signed mass y w a, and whether this is at its upper and lower
        bound."""
        a, y = self._dual[members], self._problem.y[members]
        e = y * self._loss.dual_slope(a) - self._responses[members]
        highest, lowest = a >= self._loss.upper, a <= 0.0
        return e, np.where(y > 0, highest, lowest), np.where(y > 0, lowest, highest)

    def _single_step(self, i):
        """Set a_i to its best value."""
        y, w = self._problem.y[i], self._problem.weights[i]
        a, margin, curvature = self._dual[i], y * self._responses[i], w * self._diagonal[i] * self._scale
        best = self._loss.dual_coordinate(a, margin, curvature)
        if abs(best - a) > NO_CHANGE * max(1.0, abs(a)):
            self._dual[i] = best
            self._add_rows([i], [y * w * (best - a) * self._scale])

    def _pair_steps(self, batch):
        """Exchange mass between each example of the batch, in turn, and its best partner."""
        batch = np.array(list(dict.fromkeys(batch)), dtype=np.intp)  # uniform draws may come twice
        e, at_upper, at_lower = self._pulls(batch)
        top, bottom = _extremes(e, at_upper, at_lower)
        if not top - bottom > NO_VIOLATION:
            return
        batch = batch[~self._shrinkable(batch)]
        y, w, diagonal = self._problem.y[batch], self._problem.weights[batch], self._diagonal[batch]
        K = np.asarray(self._problem.rows.batch(batch), dtype=np.float64)[:, batch]
        a, f = self._dual[batch], self._responses[batch]
        for i in range(len(batch)):
            j = self._partner(i, a, y, w, f, diagonal, K[i])
            if j is None:
                continue
            ends, curvature = [i, j], (diagonal[i] + diagonal[j] - 2 * K[i, j]) * self._scale
            s = dual_pair(self._loss, a[ends], y[ends], w[ends], f[i] - f[j], curvature)
            a[i] = self._in_domain(a[i] + y[i] * s / w[i])
            a[j] = self._in_domain(a[j] - y[j] * s / w[j])
            f += s * self._scale * (K[i] - K[j])
        moved = a != self._dual[batch]
        steps = y * w * (a - self._dual[batch]) * self._scale
        self._dual[batch] = a
        self._add_rows(batch[moved], steps[moved])

    def _partner(self, i, a, y, w, f, diagonal, row):
        """Return the candidate with which i gains most, by a parabola within the bounds of both; None if no gain is
        possible."""
        slopes, own = (y * self._loss.dual_slope(a), self._loss.dual_curvature(np.clip(a, INSIDE, 1 - INSIDE)) / w)
        grow, shrink = np.transpose([pair_room(self._loss, *one) for one in zip(a, y, w)])
        h = np.maximum((diagonal[i] + diagonal - 2 * row) * self._scale + (own[i] + own), LEAST_CURVATURE)
        slope = (slopes[i] - f[i]) - (slopes - f)
        s = np.clip(slope / h, -np.minimum(shrink[i], grow), np.minimum(grow[i], shrink))
        gains = s * (slope - 0.5 * s * h)
        j = int(np.argmax(gains))
        return j if gains[j] > 0.0 else None

    def _in_domain(self, a):
        if a <= NO_CHANGE:
            return 0.0
        return a if self._loss.upper - a > NO_CHANGE else self._loss.upper

    def _add_rows(self, indices, steps):
        if len(indices):
            self._responses += np.asarray(steps) @ np.asarray(self._problem.rows.batch(indices), dtype=np.float64)
            self.n_kernel_evaluations += len(indices) * self._problem.n

    def _coef(self):
        return self._problem.y * self._problem.weights * self._dual * self._scale

    def _start_from(self, initial):
        problem = self._problem
        state = require_state(initial, problem.n, ["dual", "responses", "visits", "position"])
        self.n_iter = initial.n_iter
        if state is not None:
            self._dual = state["dual"]
        if state is not None and np.array_equal(self._coef(), initial.coef):
            self._visits, self._position = state["visits"].astype(np.intp), int(state["position"].item())
            self._responses = state["responses"]
            return
        coef = np.clip(np.asarray(initial.coef, dtype=np.float64), *problem.box())  # alpha or the weights may differ
        coef = balanced(coef) if problem.fit_intercept else coef
        a = np.divide(
            problem.y * coef, problem.weights * self._scale, out=np.zeros(problem.n), where=problem.weights > 0
        )
        self._dual = np.clip(a, self._loss.lower, self._loss.upper)
        known = state is not None and np.allclose(self._coef(), initial.coef, rtol=1e-13, atol=0.0)
        self._responses = state["responses"] if known else problem.rows.matvec(self._coef()) - problem.targets


def _extremes(e, at_upper, at_lower):
    """Return the largest slope of those that can grow, and the smallest of those that can shrink."""
    return e.max(where=~at_upper, initial=-np.inf), e.min(where=~at_lower, initial=np.inf)
