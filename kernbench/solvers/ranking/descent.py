"""Subgradient descent for the ROC-SVM, with a fixed step and with Adamax (Bae and Shin; Kingma and Ba 2015, section 7).

An iteration costs two products with the data and one evaluation of the risk: a sort for all pairs, indexing for drawn
ones.
"""

import numpy as np

from kernbench.losses.table import losses_of
from kernbench.problems.draws import seed_of
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.problems.ranking.pairwise_problem import PairwiseProblem
from kernbench.problems.risk import same_data, signature
from kernbench.solvers.base import Solution
from kernbench.solvers.design.method import DesignMethod
from kernbench.validation.numbers import check_flag

PATIENCE = 20  # iterations over which the best objective has to improve


class Descent(DesignMethod):
    """Base of both methods: the best iterate, the mean of the last ones, the stopping rule.

    A method defines `_steps`. It may keep arrays of its own in `own`, which `solution` saves by name.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
        Made by `as_design`. The subgradient is an element of its Hilbert space.
    y, alpha, weights, n_pairs, balanced : see `PairwiseProblem`; ``n_pairs=n_samples`` is the paper's incomplete risk
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
    average : bool, default=False
        `solution` is the mean of the iterates since the last power of two instead of the best iterate.
    random_state : None, int, RandomState or Generator
        Draws the pairs.
    initial : Solution, optional
        Continue a solution of this method exactly, or start from other coefficients.
    core : {"compiled", "reference"}, default="compiled"

    Attributes
    ----------
    iterate : ndarray of shape (n_coef,)
        The coefficients as of now; `solution` gives the best so far.

    References
    ----------
    Bae and Shin, "Scaling Up ROC-Optimizing Support Vector Machines".
    """

    losses = losses_of("pair")
    first_check = PATIENCE
    own = ()

    def _set_up(self, design, y, step_size, average, random_state, initial, **problem):
        self.step_size = require_number("step_size", step_size, positive=True)
        check_flag("average", average)
        self.average = average
        self.seed = seed_of(random_state, initial)
        rng = np.random.default_rng(self.seed)
        pairwise = PairwiseProblem(design.n_samples, y, rng=rng, offered=self.losses, **problem)
        self.problem = self.core.PairwiseRisk(pairwise, design)
        self.design, self.alpha = design, self.problem.alpha
        self.x, self.mean, self.best_coef = np.zeros((3, design.n_coef))
        self.own = {name: np.zeros(design.n_coef) for name in self.own}
        self.scores = np.zeros(self.problem.n)
        self.history = np.full(PATIENCE + 1, np.inf)  # the best objective after the last iterations, a ring
        self.progress = np.array([np.inf, 0.0])  # the best objective, and a lower bound on the optimum
        # Iterations; and whether one was interrupted, so that the scores are not yet those of the iterate.
        self.counts = np.zeros(2, dtype=np.int64)
        self.latest = None, -1  # the objective of the iterate, and its number
        if initial is not None:
            self._start_from(initial)

    @property
    def n_iter(self):
        return int(self.counts[0])

    @property
    def iterate(self):
        return self.x.copy()

    def advance(self, n_iter):
        """Take `n_iter` steps; return `n_iter`."""
        self._finish_step()
        shared = self.x, self.scores, self.mean, self.best_coef, self.history, self.progress, self.counts
        if self._steps(n_iter, *shared) < n_iter:
            raise ValueError("the iterates leave all bounds: lower step_size, or scale the features")
        return n_iter

    def _finish_step(self):
        """Bring the scores up to date after an interruption."""
        if self.counts[1]:
            self.scores[:] = self.design.scores(self.x)
            self.counts[1] = 0

    # --- what it found -----------------------------------------------------------------------------------------------

    def check(self, tol):
        """Set `converged` as in `Method.check`, and `stagnated` to whether the best objective fell by less than tol *
        max(1, objective) over the last 20 iterations."""
        best = self.progress[0]
        before = self.history[(self.n_iter + 1) % (PATIENCE + 1)] if self.n_iter > PATIENCE else np.inf
        self.stagnated = bool(before - best < tol * max(1.0, best))
        return super().check(tol)

    def objective(self):
        """Return the objective of `solution`."""
        if self.n_iter and not self.average:
            return float(min(self.progress[0], self._latest_objective()))
        coef = self._reported()
        if not coef.any():
            return float(self.problem.at_zero)
        return self.core.objective_at(self.problem, coef, self.design.scores(coef))

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum."""
        return max(0.0, self.objective() - float(self.progress[1]))

    def solution(self):
        """Return the best iterate, or the mean of the last ones (`average`)."""
        arrays = {"iterate": self.x, "mean": self.mean, "best": self.best_coef, "history": self.history,
                  "progress": self.progress, **self.own}  # fmt: skip
        self._finish_step()
        state = {"seed": np.array([self.seed]), "settings": self.problem.settings(),
                 "signature": signature(self.problem, self.scores)}  # fmt: skip
        state |= {name: values.copy() for name, values in arrays.items()}
        return Solution(self._reported().copy(), 0.0, self.n_iter, state)

    def _reported(self):
        if self.n_iter and self.average:
            return self.mean
        return self.x if self.n_iter == 0 or self._latest_objective() < self.progress[0] else self.best_coef

    def _latest_objective(self):
        """Return the objective of the iterate as of now.

        A step computes that of the iterate it starts from, so the last one is not among the candidates for the best
        yet. It costs a sort, but no product with the data.
        """
        if self.latest[1] != self.n_iter:
            self._finish_step()
            self.latest = self.core.objective_at(self.problem, self.x, self.scores), self.n_iter
        return self.latest[0]

    def _start_from(self, initial):
        keys = ["settings", "signature", "iterate", "mean", "best", "history", "progress", *self.own]
        state = require_state(initial, self.design.n_coef, keys)
        if state is not None and np.array_equal(state["settings"], self.problem.settings()):
            self.scores = self.design.scores(state["iterate"])
            if same_data(self.problem, state["signature"], self.scores):  # as the best objective and the bound demand
                self.counts[0] = initial.n_iter
                self.x, self.mean, self.best_coef = state["iterate"], state["mean"], state["best"]
                self.history, self.progress = state["history"], state["progress"]
                self.own = {name: state[name] for name in self.own}
                return
        self.x = np.array(initial.coef, dtype=np.float64)
        self.scores = self.design.scores(self.x)


class Gradient(Descent):
    """Subgradient descent with a fixed step: f <- f - step_size * subgradient.

    Parameters
    ----------
    step_size : float, default=0.01
    """

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", n_pairs=None, balanced=False,
                 step_size=0.01, average=False, random_state=None, initial=None, core="compiled"):  # fmt: skip
        super().__init__(core)
        self._set_up(design, y, step_size, average, random_state, initial, alpha=alpha, weights=weights, loss=loss,
                     n_pairs=n_pairs, balanced=balanced)  # fmt: skip

    def _steps(self, n_iter, *shared):
        return self.core.gradient_steps(self.problem, n_iter, self.step_size, *shared)


class Adamax(Descent):
    """Subgradient descent with Adamax (Kingma and Ba, ICLR 2015, section 7.1), the method of the paper's experiments.

    With g the derivatives with respect to the coefficients: m <- beta_1 m + (1 - beta_1) g, u <- max(beta_2 u, |g|),
    and the coefficients move by -step_size / (1 - beta_1^t) m/u. Where u is 0 they stay.

    Parameters
    ----------
    step_size : float, default=0.002
        No coefficient moves by much more in one iteration.
    beta_1, beta_2 : float, default=0.9, 0.999
    """

    own = ("momentum", "largest")

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", n_pairs=None, balanced=False,
                 step_size=0.002, beta_1=0.9, beta_2=0.999, average=False, random_state=None, initial=None,
                 core="compiled"):  # fmt: skip
        super().__init__(core)
        for name, value in (("beta_1", beta_1), ("beta_2", beta_2)):
            if not require_number(name, value) < 1:
                raise ValueError(f"{name} must be below 1, got {value!r}")
        self.beta_1, self.beta_2 = beta_1, beta_2
        self._set_up(design, y, step_size, average, random_state, initial, alpha=alpha, weights=weights, loss=loss,
                     n_pairs=n_pairs, balanced=balanced)  # fmt: skip

    def _steps(self, n_iter, *shared):
        step = self.step_size, self.beta_1, self.beta_2
        return self.core.adamax_steps(self.problem, n_iter, *step, *shared, *self.own.values())
