"""Truncated Newton for the ROC-SVM with a smooth loss (Chapelle and Keerthi 2010; Lee and Lin 2014)."""

import numpy as np

from kernbench.losses.pairwise import SQUARED_HINGE
from kernbench.problems.draws import seed_of
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.reference.bundle.preconditioner import LARGEST, Preconditioner, preconditioner_rows
from kernbench.reference.design import ProductCounts
from kernbench.reference.ranking.problem import PairwiseProblem
from kernbench.solvers.base import Solution

SAMPLE = 4096  # samples of the first fit
COARSE_TOL, COARSE_STEPS = 0.03, 12
LARGEST_CG = 250  # Hessian products per step
REFITS = (0, 1, 2, 4, 8, 16, 32)  # steps before which the preconditioner is computed
SUFFICIENT = 1e-4  # share of the predicted decrease that a step must bring


class Newton(ProductCounts):
    """Newton's method for alpha/2 ||f||^2 + the mean over pairs of max(0, 1 - (f(x_i) - f(x_j)))^2.

    The Newton equation is solved by conjugate gradients in the Hilbert space of the design, preconditioned,
    for few features, with the Hessian in which the two members of a pair are taken as independent.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
        Made by `as_design`.
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n_samples,), optional
        The pair (i, j) weighs w_i w_j. All equal by default.
    loss : {"squared_hinge", "log_loss"}, default="squared_hinge"
    n_pairs : int, optional
        Draw so many pairs once and minimise over these; by default over all pairs.
    balanced : bool, default=False
        Draw the pairs so that each sample of a class comes up equally often.
    tol : float, default=1e-3
        Converged when the gap is at most `tol` times the objective.
    random_state : None, int, RandomState or Generator
        For the pairs, and for the sample of the first fit.
    initial : Solution, optional
        Coefficients to start from.

    Attributes
    ----------
    n_products : int
        Hessian products so far.
    """

    losses = ("squared_hinge", "log_loss")
    granularity = 1
    first_check = None

    def __init__(self, design, y, *, alpha, weights=None, loss=SQUARED_HINGE, n_pairs=None, balanced=False, tol=1e-3,
                 random_state=None, initial=None):  # fmt: skip
        self.tol = require_number("tol", tol, positive=True)
        self._seed = seed_of(random_state, initial)
        rng = np.random.default_rng(self._seed)
        problem = PairwiseProblem(
            design, y, alpha=alpha, weights=weights, loss=loss, n_pairs=n_pairs, balanced=balanced, rng=rng,
            offered=self.losses,
        )  # fmt: skip
        self._set_up(problem, rng)
        if initial is not None:
            self._start_from(initial)

    def _set_up(self, problem, rng):
        design = problem.design
        self.problem, self.design, self.alpha = problem, design, problem.alpha
        self._sample = problem.sample(rng, SAMPLE)
        self._preconditioner = None
        if not design.is_kernel and design.n_coef <= LARGEST:
            rows = preconditioner_rows(problem.n, design.n_coef, rng)
            self._preconditioner = Preconditioner(design, problem.positive, self.alpha, rows)
        self.n_iter, self.n_products, self.converged = 0, 0, False
        self._coef, self._scores = np.zeros(design.n_coef), np.zeros(problem.n)
        self._objective, self._bound, self._warm = None, 0.0, False
        self._n_steps, self._stuck = 0, False

    # --- the iteration
    # --------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take up to `n_iter` steps; return how many, fewer once the gap is closed or nothing moves any more."""
        done = 0
        while done < n_iter and not self.converged and not self._stuck:
            if self._objective is None:
                self._begin()
            if not self.converged:
                self._iterate()
            self.n_iter += 1
            done += 1
        return done

    def _begin(self):
        if not self._warm and self.problem.n > 4 * len(self._sample):
            coarse = object.__new__(Newton)
            coarse.tol = COARSE_TOL
            part = self.problem.take(self._sample, self.design.take(self._sample))
            coarse._set_up(part, np.random.default_rng(self._seed))
            coarse.advance(COARSE_STEPS)
            self._coef = self.design.embed(coarse._coef, self._sample)
        if self._coef.any():
            self._scores = self.design.scores(self._coef)
        self._objective, self._g = self._value_at(self._coef, self._scores)
        self._differentiate()
        # f = 0 orders nothing: however close its objective is (it is, for large alpha), one step from it is
        # taken.
        self.converged = self.converged and bool(self._coef.any() or self.gap() == 0)

    def _value_at(self, coef, scores):
        risk, g = self.problem.risk(scores)
        return 0.5 * self.alpha * self.design.inner(coef, coef, scores) + risk, g

    def _differentiate(self):
        """The gradient, an element of H, its scores where H is that of a kernel, and the bound that follows."""
        self._gradient = self.design.combine(self._g) + self.alpha * self._coef
        self._gradient_scores = self.design.scores(self._gradient) if self.design.is_kernel else None
        norm = self.design.inner(self._gradient, self._gradient, self._gradient_scores)
        self._bound = max(self._bound, self._objective - norm / (2 * self.alpha))
        self.converged = self.gap() <= self.tol * self._objective

    def _iterate(self):
        if self._preconditioner is not None and self._n_steps in REFITS:
            self._fit_preconditioner(self._scores)
        self._n_steps += 1
        step, moved = self._newton_step()
        slope = self.design.inner(self._gradient, step, moved)
        t, objective, g = 1.0, *self._value_at(self._coef + step, self._scores + moved)
        while objective > self._objective + SUFFICIENT * t * slope and t > 1e-10:
            t *= 0.5
            objective, g = self._value_at(self._coef + t * step, self._scores + t * moved)
        if objective >= self._objective:
            self._stuck = True  # what is left is rounding
            return
        self._coef, self._scores = self._coef + t * step, self._scores + t * moved
        self._objective, self._g = objective, g
        self._differentiate()

    def _fit_preconditioner(self, scores):
        together = self.problem.positive.astype(np.float64)
        self._preconditioner.fit(np.abs(self._hessian(scores, together)))

    def _hessian(self, scores, v):
        return self.problem.pairs.hessian_product(scores, v, self.problem.loss)

    def _newton_step(self):
        """Solve (Hessian) step = -gradient by preconditioned conjugate gradients; return the step and its scores."""
        design = self.design
        step, moved = np.zeros(design.n_coef), np.zeros(self.problem.n)
        residual = -self._gradient
        z, z_scores = self._precondition(residual)
        p, p_scores = z, z_scores
        rz = first = design.inner(residual, z, z_scores)
        # Loose far from the optimum, tighter towards it: the convergence of the steps is faster than linear.
        goal = first * min(0.1, np.sqrt(self.gap() / self._objective)) ** 2
        for _ in range(LARGEST_CG):
            product = design.combine(self._hessian(self._scores, p_scores)) + self.alpha * p
            self.n_products += 1
            length = rz / design.inner(product, p, p_scores)
            step, moved = step + length * p, moved + length * p_scores
            residual = residual - length * product
            z, z_scores = self._precondition(residual)
            last, rz = rz, design.inner(residual, z, z_scores)
            if rz <= goal:
                break
            p, p_scores = z + rz / last * p, z_scores + rz / last * p_scores
        return step, moved

    def _precondition(self, residual):
        z = residual if self._preconditioner is None else self._preconditioner.solve(residual)
        return z, self.design.scores(z)

    # --- what it found
    # --------------------------------------------------------------------------------------------

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it."""
        self.converged = bool(self.gap() <= tol * self.objective())
        return self.converged

    def objective(self):
        """Return the objective as of now."""
        if self._objective is not None:
            return float(self._objective)
        if not self._coef.any():
            return float(self.problem.at_zero)
        return float(self._value_at(self._coef, self.design.scores(self._coef))[0])

    def gap(self):
        """Return the objective minus a lower bound: by strong convexity it is at most |gradient|^2 / (2 alpha)."""
        return max(0.0, self.objective() - self._bound)

    def solution(self):
        """Return the point as of now."""
        state = {"seed": np.array([self._seed]), "settings": self.problem.settings(),
                 "signature": self.problem.signature(self._scores),
                 "hessian": np.empty((0, 0)) if self._preconditioner is None else self._preconditioner.hessian.copy(),
                 "progress": np.array([self._bound, self._n_steps], dtype=np.float64)}  # fmt: skip
        return Solution(self._coef.copy(), 0.0, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(initial, self.design.n_coef, ["settings", "signature", "hessian", "progress"])
        self._coef = np.array(initial.coef, dtype=np.float64)
        self._warm, self.n_iter = True, initial.n_iter
        if state is None or not self.problem.same_risk(state["settings"]):
            return
        if not self.problem.same_data(state["signature"], self.design.scores(self._coef)):
            return
        if self._preconditioner is not None:
            self._preconditioner.load(state["hessian"])
        if state["settings"][0] == self.alpha:
            self._bound, self._n_steps = state["progress"][0], int(state["progress"][1])
        elif self._preconditioner is not None and len(self._preconditioner.hessian):
            self._n_steps = 3  # the Hessian does not depend on alpha: it serves a step for the next one, too
