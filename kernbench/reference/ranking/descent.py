"""Subgradient descent for the ROC-SVM: with a fixed step, or Adamax (Bae and Shin; Kingma and Ba 2015)."""

import numpy as np

from kernbench.problems.draws import seed_of
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.reference.design import ProductCounts
from kernbench.reference.ranking.problem import PairwiseProblem
from kernbench.solvers.base import Solution

PATIENCE = 20  # iterations over which the best objective has to improve
ROUNDING = 2.0**-52  # relative error of each term of a sum


class _Descent(ProductCounts):
    """What both methods share: subgradients of the whole objective, the best iterate, the stopping rule."""

    losses = ("hinge", "squared_hinge", "log_loss")
    granularity = 1
    first_check = PATIENCE
    extra_state = ()

    def _set_up(self, design, y, *, learning_rate, average, random_state, initial, **problem):
        self.learning_rate = require_number("learning_rate", learning_rate, positive=True)
        self.average = bool(average)
        self._seed = seed_of(random_state, initial)
        self.problem = PairwiseProblem(design, y, rng=np.random.default_rng(self._seed), offered=self.losses, **problem)
        self.design, self.alpha = design, self.problem.alpha
        self.n_iter, self.converged, self.stagnated = 0, False, False
        d = design.n_coef
        self.iterate, self._mean = np.zeros(d), np.zeros(d)
        self._scores = np.zeros(self.problem.n)
        self._best_coef, self._best, self._bound = np.zeros(d), np.inf, 0.0
        self._history = np.full(PATIENCE + 1, np.inf)  # the best objective after the last iterations, a ring
        for name in self.extra_state:
            setattr(self, name, np.zeros(d))
        if initial is not None:
            self._start_from(initial)

    def advance(self, n_iter):
        """Take `n_iter` steps; return `n_iter`."""
        for _ in range(n_iter):
            self._iterate()
        return n_iter

    def _iterate(self):
        risk, g = self.problem.risk(self._scores)
        objective = 0.5 * self.alpha * self.design.inner(self.iterate, self.iterate, self._scores) + risk
        if objective < self._best:
            self._best, self._best_coef = objective, self.iterate.copy()
        # The subgradient as an element of H, and the derivatives with respect to the coefficients.
        element = self.design.combine(g) + self.alpha * self.iterate
        slopes = self.design.scores(element) if self.design.is_kernel else element
        # The objective is alpha-strongly convex, so no point is better than this, less what rounding may add. Where the
        # iterates leave for a while, it is the difference of two large numbers and useless.
        drop = element @ slopes / (2 * self.alpha)
        rounding = ROUNDING * (self.problem.n + len(element)) * (objective + drop)
        if objective <= 2 * self.problem.at_zero:
            self._bound = max(self._bound, objective - drop - rounding)
        self.n_iter += 1
        self._history[self.n_iter % (PATIENCE + 1)] = self._best
        self.iterate = self.iterate - self._step(element, slopes)
        self._scores = self._scores_after(slopes)
        # The mean of the iterates since the last power of two: the tail, however long the run will be.
        first = 1 << (self.n_iter.bit_length() - 1)
        self._mean = self._mean + (self.iterate - self._mean) / (self.n_iter - first + 1)

    def _scores_after(self, slopes):
        return self.design.scores(self.iterate)

    # --- what it found -----------------------------------------------------------------------------------------

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it; set `stagnated` to
        whether the best objective fell by less than tol * max(1, objective) over the last 20 iterations."""
        before = self._history[(self.n_iter + 1) % (PATIENCE + 1)] if self.n_iter > PATIENCE else np.inf
        self.stagnated = bool(before - self._best < tol * max(1.0, self._best))
        self.converged = bool(self.gap() <= tol * self.objective())
        return self.converged

    def objective(self):
        """Return the objective of `solution`."""
        if self.n_iter and not self.average:
            return float(min(self._best, self._latest_objective()))
        return self._objective_at(self._reported())

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum."""
        return max(0.0, self.objective() - self._bound)

    def solution(self):
        """Return the best iterate, or the mean of the last ones (`average`)."""
        state = {
            "seed": np.array([self._seed]), "settings": self.problem.settings(),
            "iterate": self.iterate.copy(), "mean": self._mean.copy(), "best": self._best_coef.copy(),
            "history": self._history.copy(), "progress": np.array([self._best, self._bound]),
        }  # fmt: skip
        state |= {name: getattr(self, name).copy() for name in self.extra_state}
        return Solution(self._reported().copy(), 0.0, self.n_iter, state)

    def _reported(self):
        if self.n_iter and self.average:
            return self._mean
        return self.iterate if self.n_iter == 0 or self._latest_objective() < self._best else self._best_coef

    def _latest_objective(self):
        """The objective of the iterate as of now: a step computes that of the iterate it starts from, so the last one
        is not among the candidates for `_best` yet."""
        norm = self.design.inner(self.iterate, self.iterate, self._scores)
        return 0.5 * self.alpha * norm + self.problem.risk(self._scores)[0]

    def _objective_at(self, coef):
        if not coef.any():
            return float(self.problem.at_zero)
        scores = self.design.scores(coef)
        norm = self.design.inner(coef, coef, scores)
        return float(0.5 * self.alpha * norm + self.problem.risk(scores)[0])

    def _start_from(self, initial):
        keys = ["settings", "iterate", "mean", "best", "history", "progress", *self.extra_state]
        state = require_state(initial, self.design.n_coef, keys)
        if state is not None and np.array_equal(state["settings"], self.problem.settings()):
            self.n_iter = initial.n_iter
            self.iterate, self._mean, self._best_coef = state["iterate"], state["mean"], state["best"]
            self._history, (self._best, self._bound) = state["history"], state["progress"]
            for name in self.extra_state:
                setattr(self, name, state[name])
        else:
            self.iterate = np.array(initial.coef, dtype=np.float64)
        self._scores = self.design.scores(self.iterate)


class Gradient(_Descent):
    """Subgradient descent with a fixed step: f <- f - learning_rate * subgradient.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
        Made by `as_design`. The subgradient is an element of its Hilbert space.
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n_samples,), optional
        The pair (i, j) weighs w_i w_j. All equal by default.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
    n_pairs : int, optional
        Draw so many pairs once and minimise over these (the paper's incomplete risk; it takes n_samples of
        them); by default over all pairs.
    balanced : bool, default=False
        Draw the pairs so that each sample of a class comes up equally often.
    learning_rate : float, default=0.01
    average : bool, default=False
        `solution` is the mean of the iterates since the last power of two instead of the best iterate.
    random_state : None, int, RandomState or Generator
        For the pairs.
    initial : Solution, optional
        Go on from a solution of this method exactly, or start from other coefficients.

    Attributes
    ----------
    iterate : ndarray of shape (n_coef,)
        The coefficients as of now; `solution` gives the best so far.
    """

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", n_pairs=None, balanced=False,
                 learning_rate=0.01, average=False, random_state=None, initial=None):  # fmt: skip
        self._set_up(design, y, alpha=alpha, weights=weights, loss=loss, n_pairs=n_pairs, balanced=balanced,
                     learning_rate=learning_rate, average=average, random_state=random_state,
                     initial=initial)  # fmt: skip

    def _step(self, element, slopes):
        return self.learning_rate * element

    def _scores_after(self, slopes):
        if self.design.is_kernel:  # the slopes are the scores of the step
            return self._scores - self.learning_rate * slopes
        return self.design.scores(self.iterate)


class Adamax(_Descent):
    """Subgradient descent with Adamax, the method of the paper's experiments.

    With g the derivatives with respect to the coefficients: m <- beta_1 m + (1 - beta_1) g, u <- max(beta_2
    u, |g|), and the coefficients move by -learning_rate / (1 - beta_1^t) m/u. Where u is 0 they stay.

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
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
    n_pairs : int, optional
        Draw so many pairs once and minimise over these (the paper's incomplete risk; it takes n_samples of
        them); by default over all pairs.
    balanced : bool, default=False
        Draw the pairs so that each sample of a class comes up equally often.
    learning_rate : float, default=0.002
        No coefficient moves by much more in one iteration.
    beta_1, beta_2 : float, default=0.9, 0.999
    average : bool, default=False
        `solution` is the mean of the iterates since the last power of two instead of the best iterate.
    random_state : None, int, RandomState or Generator
        For the pairs.
    initial : Solution, optional
        Go on from a solution of this method exactly, or start from other coefficients.

    Attributes
    ----------
    iterate : ndarray of shape (n_coef,)
        The coefficients as of now; `solution` gives the best so far.
    """

    extra_state = ("momentum", "largest")

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", n_pairs=None, balanced=False,
                 learning_rate=0.002, beta_1=0.9, beta_2=0.999, average=False, random_state=None,
                 initial=None):  # fmt: skip
        for name, value in (("beta_1", beta_1), ("beta_2", beta_2)):
            if not require_number(name, value) < 1:
                raise ValueError(f"{name} must be below 1, got {value!r}")
        self.beta_1, self.beta_2 = beta_1, beta_2
        self._set_up(design, y, alpha=alpha, weights=weights, loss=loss, n_pairs=n_pairs, balanced=balanced,
                     learning_rate=learning_rate, average=average, random_state=random_state,
                     initial=initial)  # fmt: skip

    def _step(self, element, slopes):
        self.momentum = self.beta_1 * self.momentum + (1 - self.beta_1) * slopes
        self.largest = np.maximum(self.beta_2 * self.largest, np.abs(slopes))
        moved = np.divide(self.momentum, self.largest, out=np.zeros_like(slopes), where=self.largest > 0)
        return self.learning_rate / (1 - self.beta_1**self.n_iter) * moved
