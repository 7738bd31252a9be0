"""Truncated Newton for the ROC-SVM with a smooth loss (Chapelle and Keerthi 2010; Lee and Lin 2014).

An iteration costs two products with the data per conjugate gradient step, which sorts nothing, and two evaluations of
the risk or so.
"""

import math

import numpy as np

from kernbench.losses.pairwise import SQUARED_HINGE
from kernbench.losses.table import losses_of
from kernbench.problems.draws import seed_of
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.problems.ranking.pairwise_problem import PairwiseProblem
from kernbench.problems.risk import same_data, same_risk, signature
from kernbench.solvers.base import Solution
from kernbench.solvers.design.method import DesignMethod

SAMPLE = 4096  # samples of the first fit
COARSE_TOL, COARSE_STEPS = 0.03, 12
REFITS = (0, 1, 2, 4, 8, 16, 32)  # steps before which the preconditioner is computed


class NewtonSteps(DesignMethod):
    """Newton's method on a problem of pairs, from f = 0 or from `coef`.

    Parameters
    ----------
    core : {"compiled", "reference"}
    problem : PairwiseRisk
    rng : Generator
    tol : float
    seed : int
        Seed of the first fit.
    """

    first_check = None

    def _set_up(self, problem, rng, tol, seed):
        self.problem, self.design, self.alpha = problem, problem.design, problem.alpha
        self.tol, self.seed = tol, seed
        self.sample = problem.sample(rng, SAMPLE)
        self.coef, self.scores = np.zeros(self.design.n_coef), np.zeros(problem.n)
        self.work = self.core.Work(problem, rng)  # the gradient, the preconditioner
        self.value, self.bound, self.n_steps, self.n_products = 0.0, 0.0, 0, 0
        self.warm = self.stuck = False
        self.begun = False  # value and gradient are those at the point, and so are Hessian products of the pairs

    # --- the iteration -----------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take up to `n_iter` steps; return how many, fewer once the gap is closed or the point no longer moves."""
        done = 0
        while done < n_iter and not self.converged and not self.stuck:
            if not self.begun:
                self._begin()
            if not self.converged:
                self._step()
            self.n_iter += 1
            done += 1
        return done

    def _begin(self):
        """Start from what was given, else from the solution for a sample, else from 0."""
        if not self.warm and self.problem.n > 4 * len(self.sample):
            coarse = NewtonSteps(self.core)
            part = self.problem.take(self.sample, self.design.take(self.sample))
            coarse._set_up(part, np.random.default_rng(self.seed), COARSE_TOL, self.seed)
            coarse.advance(COARSE_STEPS)
            self.coef = np.array(self.design.embed(coarse.coef, self.sample))
        self.warm = True
        if self.coef.any():
            self.scores = self.design.scores(self.coef)
        self.value = self.core.value_at(self.work, self.coef, self.scores)
        squared_norm = self.core.differentiate(self.work, self.coef)
        self._raise_bound(squared_norm)
        # f = 0 orders nothing: however close its objective is (it is, for large alpha), one step from it is taken.
        self.converged = self.converged and bool(self.coef.any() or squared_norm == 0.0)
        self.begun = True

    def _raise_bound(self, squared_norm):
        """By strong convexity the optimum is at most |gradient|^2 / (2 alpha) below."""
        self.bound = max(self.bound, self.value - squared_norm / (2.0 * self.alpha))
        self.converged = bool(self.value - self.bound <= self.tol * self.value)

    def _step(self):
        """Solve the Newton equation roughly, and go so far along its solution that the objective falls enough."""
        # Loose far from the optimum, tighter towards it: the convergence of the steps is faster than linear.
        share = min(0.1, math.sqrt(max(0.0, self.value - self.bound) / self.value))
        refits, self.n_steps = self.n_steps in REFITS, self.n_steps + 1
        self.begun = False  # until the step is whole: Ctrl-C may come between
        value, squared_norm, n_products = self.core.step(self.work, refits, share, self.value, self.coef, self.scores)
        self.n_products += n_products
        self.stuck = value >= self.value  # what is left is rounding
        if not self.stuck:
            self.value = value
            self._raise_bound(squared_norm)
        self.begun = True

    # --- what it found -----------------------------------------------------------------------------------------------

    def objective(self):
        """Return the objective as of now."""
        if self.begun:
            return float(self.value)
        if not self.coef.any():
            return float(self.problem.at_zero)
        return self.core.value_at(self.work, self.coef, self.design.scores(self.coef))

    def gap(self):
        """Return the objective minus a lower bound: by strong convexity it is at most |gradient|^2 / (2 alpha)."""
        return max(0.0, self.objective() - float(self.bound))


class Newton(NewtonSteps):
    """Newton's method for alpha/2 ||f||^2 + the mean over pairs of max(0, 1 - (f(x_i) - f(x_j)))^2.

    The Newton equation is solved by conjugate gradients in the Hilbert space of the design, preconditioned, for
    few features, with the Hessian in which the two members of a pair are taken as independent.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
        Made by `as_design`.
    y, alpha, weights, n_pairs, balanced : see `PairwiseProblem`
    loss : {"squared_hinge", "log_loss"}, default="squared_hinge"
    tol : float, default=1e-3
        Converged when the gap is at most `tol` times the objective.
    random_state : None, int, RandomState or Generator
        Draws the pairs, and the sample of the first fit.
    initial : Solution, optional
        Coefficients to start from.
    core : {"compiled", "reference"}, default="compiled"

    Attributes
    ----------
    n_products : int
        Hessian products so far.

    References
    ----------
    Chapelle and Keerthi, Inf. Retrieval 13 (2010); Lee and Lin, Neural Computation 26 (2014); with kernels Kuo, Lee and
    Lin, SDM 2014.
    """

    losses = losses_of("pair", smooth=True)

    def __init__(self, design, y, *, alpha, weights=None, loss=SQUARED_HINGE, n_pairs=None, balanced=False, tol=1e-3,
                 random_state=None, initial=None, core="compiled"):  # fmt: skip
        super().__init__(core)
        tol, seed = require_number("tol", tol, positive=True), seed_of(random_state, initial)
        rng = np.random.default_rng(seed)
        problem = PairwiseProblem(
            design.n_samples, y, alpha=alpha, weights=weights, loss=loss, n_pairs=n_pairs, balanced=balanced, rng=rng,
            offered=self.losses,
        )  # fmt: skip
        self._set_up(self.core.PairwiseRisk(problem, design), rng, tol, seed)
        if initial is not None:
            self._start_from(initial)

    def solution(self):
        """Return the point as of now."""
        state = {"seed": np.array([self.seed]), "settings": self.problem.settings(),
                 "signature": signature(self.problem, self.scores), "hessian": self.work.hessian(),
                 "progress": np.array([self.bound, self.n_steps], dtype=np.float64)}  # fmt: skip
        return Solution(self.coef.copy(), 0.0, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(initial, self.design.n_coef, ["settings", "signature", "hessian", "progress"])
        self.coef = np.array(initial.coef, dtype=np.float64)
        self.warm, self.n_iter = True, initial.n_iter
        if state is None or not same_risk(self.problem, state["settings"]):
            return
        if not same_data(self.problem, state["signature"], self.design.scores(self.coef)):
            return
        self.work.load_hessian(state["hessian"])
        if state["settings"][0] == self.alpha:
            self.bound, self.n_steps = float(state["progress"][0]), int(state["progress"][1])
        elif self.work.hessian().size:
            self.n_steps = 3  # the Hessian does not depend on alpha: it serves a step for the next one, too
