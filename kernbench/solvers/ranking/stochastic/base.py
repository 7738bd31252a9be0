"""Base of the stochastic solvers of ranking: draws, stages, the stopping rule, objective and solution."""

import numpy as np

from kernbench.problems.draws import UniformStream, seed_of
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.problems.ranking.sampling import first_coefficients
from kernbench.solvers.base import Diverged, Solution
from kernbench.solvers.method import Method

DRAWS = 1 << 16  # random numbers of one call of a core, at most


class Stochastic(Method):
    """A run in stages; the stopping rule compares the solutions after the last two stages.

    A method defines `_steps`, which does iterations by its core, `_left`, how many end the stage, `_end_stage`,
    `_current`, the current coefficients, and `_own_arrays`, the arrays needed to resume, which are read and written in
    place.

    Batches are uniform draws without replacement; weights multiply the terms of their sums, so that weight k is k
    copies in expectation.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n_samples,)
        Labels, -1 or +1; numbers for a loss of a regression.
    alpha : float
        Regularisation, at least 0.
    weights : array-like of shape (n_samples,), optional
    tol : float, default=1e-3
        Not used by the solver itself: `check` is given its tolerance.
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, and the run one uniform number per sample of a batch.
    initial : Solution, optional
        A run of this class with the same parameters is resumed exactly; any other ``coef`` is a starting point. By
        default normal numbers of standard deviation 0.01: zero may be a critical point.
    core : {"compiled", "reference"}, default="compiled"
    """

    n_gradients = 1  # stochastic subgradients of an iteration
    step_name = "step_size"
    needs_features = True

    def _set_up(self, batches, alpha, numbers, settings, first_stage, random_state, initial):
        """Set up a run; an iteration takes `numbers` random numbers; runs with equal `settings` may be resumed."""
        self.batches, self.design, self.alpha = batches, batches.design, require_number("alpha", alpha)
        self.seed = seed_of(random_state, initial)
        self.stream, self.numbers = UniformStream(self.seed, 0), numbers
        self.settings = np.array([alpha, *settings], dtype=np.float64)
        self.first_check = first_stage
        self.t = self.stage = 0  # iterations done in this stage, stages done
        self._begin_at(first_coefficients(self.seed, self.design.n_coef))
        if initial is not None:
            self._start_from(initial)

    def _begin_at(self, coef):
        """Take the coefficients of a start."""
        self.w = coef
        self.ended, self.before = coef.copy(), coef.copy()  # after the last stage, and after the one before

    def advance(self, n_iter):
        """Do `n_iter` iterations; return `n_iter`."""
        done = 0
        while done < n_iter:
            if self.t == 0:
                self._begin_stage()
            size = min(n_iter - done, self._left(), max(1, DRAWS // self.numbers))
            u = self.stream.ahead(size * self.numbers)[: size * self.numbers].reshape(size, self.numbers)
            taken = self._steps(u)
            self.stream.position += taken * self.numbers
            self.n_inner_products += taken * 2 * self.batches.size * self.n_gradients  # scores, and the rows of G
            self.n_iter, self.t, done = self.n_iter + taken, self.t + taken, done + taken
            if taken < size or not _has_scores(self._current()):
                self._refuse_overflow()
            if self._left() == 0:
                coef = np.array(self._end_stage())
                if not _has_scores(coef):
                    self._refuse_overflow()
                self.before, self.ended = self.ended, coef
                self.t, self.stage = 0, self.stage + 1
        return done

    def _begin_stage(self):
        """Prepare the first iteration of a stage."""

    def _refuse_overflow(self):
        raise Diverged(
            f"the iterates are not finite after {self.n_iter} iterations: lower {self.step_name}, or scale the features"
        )

    # --- results -----------------------------------------------------------------------------------------------

    def _reported(self):
        """Return the current coefficients, those after the last stage where they overflow."""
        current = self._current()
        return current if _has_scores(current) else self.ended

    def _value_at(self, coef):
        with np.errstate(over="ignore", invalid="ignore"):  # of a run that diverges, which its status says
            return float(0.5 * self.alpha * (coef @ coef) + self._risk(self.design.scores(coef)))

    def _risk(self, scores):
        """Return the mean loss over the range, NaN where it cannot be computed."""
        try:
            return self.ranked.value_and_subgradient(scores)[0]
        except ValueError:  # scores that are not finite, or too far apart
            return np.nan

    def objective(self):
        """Return the objective of `solution`, by a pass over the data."""
        return self._value_at(self._reported())

    def check(self, tol):
        """Set `converged`: the objective changed by at most `tol` times itself over the last stage; return it.

        Before two stages have ended the change counts as 1.
        """
        change = 1.0
        if self.stage >= 2:
            value = self._value_at(self.ended)
            change = abs(self._value_at(self.before) - value) / max(abs(value), 1e-300)
        self.converged = bool(change <= tol)
        return self.converged

    def solution(self):
        """Return the current coefficients, as each class defines them."""
        scalars = [self.stream.position, self.n_inner_products, self.t, self.stage]
        state = {
            "seed": np.array([self.seed]), "settings": self.settings.copy(),
            "scalars": np.array(scalars, dtype=np.float64), "ended": self.ended.copy(), "before": self.before.copy(),
            **{name: values.copy() for name, values in self._own_arrays().items()},
        }  # fmt: skip
        return Solution(np.array(self._reported()), 0.0, self.n_iter, state)

    def _start_from(self, initial):
        own = self._own_arrays()
        state = require_state(initial, self.design.n_coef, ["settings", "scalars", "ended", "before", *own])
        self.n_iter = initial.n_iter
        if (
            state is not None
            and np.array_equal(state["settings"], self.settings)
            and all(state[name].shape == values.shape for name, values in own.items())
        ):
            position, self.n_inner_products, self.t, self.stage = (int(number) for number in state["scalars"])
            self.stream = UniformStream(self.seed, 0, position=position)
            self.ended, self.before = state["ended"], state["before"]
            for name, values in own.items():
                values[:] = state[name]
        else:
            self._begin_at(np.array(initial.coef, dtype=np.float64))


def _has_scores(coef):
    """Return whether |w|^2, a term of the objective, is finite: so are the scores of all rows whose |x|^2 is."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(coef @ coef))
