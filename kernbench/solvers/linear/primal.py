"""Base of the linear solvers that keep weights: their problem, draws and certificate."""

import numpy as np

from kernbench.problems.draws import UniformStream, seed_of
from kernbench.problems.linear.feature_bounds import certificate
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_state
from kernbench.problems.multiples import useful_multiple
from kernbench.solvers.base import Solution
from kernbench.solvers.method import Method

DRAWS = 4096  # draws of a call of the core, at most


class PrimalSolver(Method):
    """Weights of explicit features, judged by a certificate that is computed from them.

    A method defines `_steps`, which takes steps by its core, and `_coef`, the weights that are reported. Its core
    counts the steps, in ``self.numbers[0]``. A run can be resumed from `_arrays`, which are read and written in place,
    and `_scalars`; `_resume` takes the latter, `_warm_start` other weights. If small steps are slow to shrink these,
    `_warm_start` takes their `_useful` multiple.

    Parameters
    ----------
    core : {"compiled", "reference"} or module
        "compiled" is the default of all methods.
    design : FeatureDesign
        Made by `as_design`.
    y : array-like of shape (n,)
        Labels, -1 or +1; targets for a loss of residuals.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n,), optional
        Ones by default.
    loss : str or ResidualLoss, default="hinge"
        One of `losses`.
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, unless `initial` has one.
    initial : Solution or None
    width : int, default=1
        Uniform numbers for each draw of ``self.stream``.
    """

    numbers: np.ndarray
    settings: np.ndarray  # a run is resumed only where these are equal
    per_step = 1  # draws of `stream` for a step

    def __init__(self, core, design, y, *, alpha, weights, loss, random_state, initial, width=1):
        super().__init__(core)
        self.problem = LinearProblem(design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses)
        self.design = design
        self.lam = self.problem.alpha * self.problem.n / self.problem.total_weight
        self.width = width
        self.stream = UniformStream(seed_of(random_state, initial), 0, width=width)

    @property
    def n_iter(self):
        return int(self.numbers[0])

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        done = 0
        while done < n_iter:
            steps = min(self._begin_series(), n_iter - done)
            drawn = self.stream.ahead(steps * self.per_step)[: steps * self.per_step]
            self.stream.position += len(drawn)
            self._steps(drawn)
            done += steps
        return done

    def _begin_series(self):
        """Prepare a series of steps, which are one call of the core; return how many there may be."""
        return max(1, DRAWS // self.per_step)

    def _certificate(self):
        """Return objective and gap of `solution`, by a few passes over the data."""
        return certificate(self.problem, self._coef())

    def objective(self):
        """Return the objective of `solution`, by a pass over the data."""
        coef = self._coef()
        return self.problem.primal(coef, self.design.scores(coef))

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum."""
        return self._certificate()[1]

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it."""
        objective, gap = self._certificate()
        self.converged = bool(gap <= tol * objective)
        return self.converged

    def solution(self):
        """Return the weights, and the state of the run."""
        state = {
            "seed": np.array([self.stream.seed]),
            "settings": self.settings.copy(),
            "scalars": np.array([self.stream.position, *self._scalars()], dtype=np.float64),
            **{name: values.copy() for name, values in self._arrays().items()},
        }
        return Solution(np.array(self._coef()), 0.0, self.n_iter, state)

    def _useful(self, coef):
        """Return weights to start from: `coef`, or their best multiple if w = 0 has a lower objective."""
        return useful_multiple(self.problem, self.design.scores(coef), coef @ coef) * coef

    def _start_from(self, initial):
        arrays, coef = self._arrays(), np.array(initial.coef, dtype=np.float64)
        state = require_state(initial, self.design.n_coef, ["settings", "scalars", *arrays])
        self.numbers[0] = initial.n_iter
        is_same = state is not None and np.array_equal(state["settings"], self.settings)
        if not is_same or any(state[name].shape != values.shape for name, values in arrays.items()):
            self._warm_start(coef)
            return
        for name, values in arrays.items():
            values[:] = state[name]
        position, *scalars = state["scalars"]
        self.stream = UniformStream(self.stream.seed, 0, width=self.width, position=int(position))
        self._resume(coef, *scalars)
