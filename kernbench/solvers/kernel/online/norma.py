"""NORMA, exact kernel stochastic gradient descent with truncation.

Kivinen, Smola, Williamson, IEEE Transactions on Signal Processing 52 (2004). A step on example i, with f and b before
the step and a = -l'(y_i (f(x_i) + b)):

    f <- (1 - gamma_t lambda) f + gamma_t a y_i k(x_i, .),      b <- b + gamma_t a y_i.

Old terms have been shrunk the most, so the oldest may be dropped: then an example costs only the evaluations of the
terms kept. A run that keeps all terms works with responses, like Pegasos. One that drops terms evaluates f only at the
drawn examples. A step on a batch adds the mean of the terms of its examples, all at the f before the step.
"""

import numpy as np

from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.kernel.online import StepRule, require_count
from kernbench.problems.margin_problem import require_state
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.online.online import BATCH, OnlineSolver
from kernbench.validation.numbers import check_flag

BLOCK_VALUES = 2**22  # largest number of kernel values of a block of draws and terms (32 MB)


class NORMA(OnlineSolver):
    """Kernel SGD on alpha/2 ||f||^2 + (1/n) sum_i w_i l(y_i (f(x_i) + b)), with truncation of old terms.

    lambda = alpha n / W with W the sum of the weights; example i is drawn with probability w_i / W.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Move b by its gradient, as the paper does; the reported b is the best for the reported f.
    loss : str or ResidualLoss, default="hinge"
        One of `losses`.
    schedule : {"inverse_sqrt", "inverse", "constant"}, default="inverse_sqrt"
        gamma_t = `step_size` times B / (r sqrt(t)), the paper's, with B the radius of a ball that holds the optimum
        (1/sqrt(lambda) for the hinge) and r^2 = max k(x_i, x_i); 1 / (lambda (t + 1)); or B / (r sqrt(n)), n the number
        of rows with a weight. At most 1 / (2 lambda), and for smooth losses at most one over the largest curvature
        times r^2, or r^2 + 1 with an intercept where r^2 is below 1.
    step_size : float, default=0.25
        Multiplies the schedule, > 0.
    truncation : int, optional
        Keep the newest `truncation` terms, at most this many support vectors; all by default.
    window : int, optional
        Keep the terms of the last `window` steps, of which not all add one: the paper's truncation; all by default.
    batch_size : int, default=1
        Examples per step, drawn with replacement. More than one need all terms: no `truncation` and no `window`.
    rescale : bool, default=True
        `solution` is the multiple of the last iterate with the least objective; False gives the last iterate, as in the
        paper.
    initial : Solution, optional
        The terms of a warm start all date from its last step.
    """

    losses = EXAMPLE_LOSSES

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", schedule="inverse_sqrt",
                 step_size=0.25, truncation=None, window=None, batch_size=1, rescale=True, random_state=None,
                 initial=None, core="compiled"):  # fmt: skip
        super().__init__(
            core, rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss,
            random_state=random_state, batch_size=batch_size,
        )  # fmt: skip
        check_flag("rescale", rescale)
        self.step_at = StepRule.of(self.problem, np.asarray(self.diagonal), schedule, step_size)
        self.newest, self.window = require_count("truncation", truncation), require_count("window", window)
        self.drops = truncation is not None or window is not None
        if self.drops and self.batch_size > 1:
            raise ValueError(
                f"batch_size={batch_size} keeps all terms: leave out truncation and window, or set batch_size=1"
            )
        self.rescale = rescale
        self.numbers = np.zeros(2)  # steps; the intercept
        self.coef, self.responses = np.zeros((2, self.problem.n))  # without labels; where all terms are kept
        # example, coefficient, step that made it, oldest first; where old ones are dropped
        self.terms = np.empty((0, 3))
        if initial is not None:
            self._start_from(initial)

    @property
    def n_logical_evaluations(self):
        """Evaluations of the method as published: n for each step that adds a term, or one for each kept term and
        step."""
        return self.walk.n_looked if self.drops else self.walk.n_steps * self.problem.n

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        done, problem = 0, self.problem
        while done < n_iter and self.batch_size > 1:
            self._batch_step(self._draw(self.batch_size), self.step_at(self.n_iter + 1.0))
            done += 1
        while done < n_iter:
            drawn = self._draw(min(n_iter - done, BATCH - self.n_iter % BATCH))
            gammas = self.step_at(self.n_iter + np.arange(1.0, len(drawn) + 1))
            of_the_problem = self.loss, self.y, problem.targets, self.lam, problem.fit_intercept
            if not self.drops:
                self.core.steps(self.walk, drawn, gammas, *of_the_problem, self.coef, self.responses, self.numbers)
            else:
                size = max(1, BLOCK_VALUES // (len(self.terms) + BATCH))
                for part in (slice(k, k + size) for k in range(0, len(drawn), size)):
                    self.terms = self.core.steps_with_terms(
                        self.walk, drawn[part], gammas[part], *of_the_problem, self.newest, self.window, self.terms,
                        self.numbers,
                    )  # fmt: skip
            done += len(drawn)
        return done

    def _batch_step(self, drawn, gamma):
        terms = gamma * self._mean_pushes(drawn, self.responses[drawn] + self.numbers[1])
        coef, responses = (values * (1.0 - gamma * self.lam) for values in (self.coef, self.responses))
        steps = self.y[drawn] * terms
        self.walk.add_rows(drawn, steps, responses)
        np.add.at(coef, drawn, terms)
        numbers = self.numbers + (1.0, steps.sum() if self.problem.fit_intercept else 0.0)
        self.coef, self.responses, self.numbers = coef, responses, numbers  # together: Ctrl-C comes before or after

    def _expansion(self):
        if not self.drops:
            return self._expanded(self.y * self.coef, self.responses, self.rescale)
        examples, terms, _ = self.terms.T
        coef = self.y * np.bincount(examples.astype(np.intp), terms, minlength=self.problem.n)
        return self._expanded(coef, self.rows.matvec(coef), self.rescale)

    def solution(self):
        """The last iterate, with the best scale (if `rescale`) and intercept for it."""
        found = self._found()
        state = {"intercept": self.numbers[1:].copy(), "settings": self._settings()}
        if self.drops:
            state["terms"] = self.terms.copy()
        else:
            state |= {"coefficients": self.coef.copy(), "responses": self.responses.copy()}
        return Solution(found.coef.copy(), found.intercept, self.n_iter, state)

    def _settings(self):
        return self.problem.settings(self.lam)

    def _start_from(self, initial):
        keys = ["terms"] if self.drops else ["coefficients", "responses"]
        state = require_state(initial, self.problem.n, ["intercept", "settings", *keys])
        self.numbers[0] = initial.n_iter
        if state is not None and np.array_equal(state["settings"], self._settings()):
            self.numbers[1] = state["intercept"].item() if self.problem.fit_intercept else 0.0
            if self.drops:
                self.terms = state["terms"]
            else:
                self.coef, self.responses = state["coefficients"], state["responses"]
            return
        coef = np.clip(initial.coef, *self.problem.cone())
        responses = self.rows.matvec(coef)
        factor, self.numbers[1] = self._useful(responses, coef @ responses, initial.intercept)
        if self.drops:
            used = np.flatnonzero(coef)
            self.terms = np.stack([used, factor * (self.y * coef)[used], np.full(len(used), self.n_iter)], axis=1)
        else:
            self.coef, self.responses = factor * self.y * coef, factor * responses
