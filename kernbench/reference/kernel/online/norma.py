"""NORMA, exact kernel stochastic gradient descent with truncation.

Kivinen, Smola, Williamson, IEEE Transactions on Signal Processing 52 (2004). A step on example i, with
f and b before the step and a = -l'(y_i (f(x_i) + b)):

    f <- (1 - gamma_t lambda) f + gamma_t a y_i k(x_i, .),      b <- b + gamma_t a y_i.

Old terms have been shrunk the most, so the oldest may be dropped: then an example costs only the evaluations
of the terms kept.
"""

from collections import deque

import numpy as np

from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.draws import as_generator, cumulative_weights, draw_indices
from kernbench.problems.kernel.online import StepRule, require_count
from kernbench.problems.margin_problem import require_state
from kernbench.reference.kernel.online.online import OnlineSolver
from kernbench.solvers.base import Solution


class NORMA(OnlineSolver):
    """Kernel SGD on alpha/2 ||f||^2 + (1/n) sum_i w_i l(y_i (f(x_i) + b)), with truncation of old terms.

    lambda = alpha n / W with W the sum of the weights; example i is drawn with probability w_i / W.

    Parameters
    ----------
    rows : KernelRows
        Rows of the n by n kernel matrix.
    y : array-like of shape (n,)
        Labels, -1 or +1; targets for a loss of residuals.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n,), optional
        Ones by default.
    fit_intercept : bool, default=True
        Move b by its gradient, as the paper does; the reported b is the best for the reported f.
    loss : str or ResidualLoss, default="hinge"
        One of `losses`.
    schedule : {"inverse_sqrt", "inverse", "constant"}, default="inverse_sqrt"
        gamma_t = step B / (r sqrt(t)), the paper's, with B a radius that contains the optimum (1/sqrt(lambda)
        for the hinge) and r^2 = max k(x_i, x_i); step / (lambda (t + 1)); or step B / (r sqrt(n)).
        At most 1 / (2 lambda), and for the smooth losses at most one over the largest curvature times r^2.
    step : float, default=0.25
        Multiplies the schedule, > 0.
    truncation : int, optional
        Keep the newest `truncation` terms, at most this many support vectors; all by default.
    window : int, optional
        Keep the terms of the last `window` steps, of which not all add one: the paper's truncation; all by default.
    rescale : bool, default=True
        `solution` is the last iterate times the number that makes the objective smallest. False gives the
        paper's.
    random_state : None, int, RandomState or Generator
        One uniform number per step.
    initial : Solution, optional
        Where to start. With the state of a run of this solver that run is continued; otherwise ``coef`` is a warm
        start, as if reached by ``n_iter`` steps, whose terms all date from the last of them.

    Notes
    -----
    A run that keeps all terms keeps the responses of all examples and needs n evaluations when a step adds a term. One
    that drops terms evaluates f only at the drawn example: one evaluation per term.

    Raises
    ------
    ValueError
        With a sentence that says what to change.
    """

    losses = EXAMPLE_LOSSES

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge",
                 schedule="inverse_sqrt", step=0.25, truncation=None, window=None, rescale=True,
                 random_state=None, initial=None):  # fmt: skip
        super().__init__(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        self._step_at = StepRule.of(self._problem, self._diagonal, schedule, step)
        self._newest = require_count("truncation", truncation) or np.inf
        self._window = require_count("window", window) or np.inf
        self._drops = truncation is not None or window is not None
        self._rescale = rescale
        self._rng = as_generator(random_state)
        self._cumulative = cumulative_weights(self._problem.weights)

        self._coef = np.zeros(self._problem.n)  # without labels
        self._responses = np.zeros(self._problem.n)  # f(x_i), when all terms are kept
        # [example, coefficient, step that made it], oldest first, when old ones are dropped
        self._terms = deque()
        self._intercept = 0.0
        if initial is not None:
            self._start_from(initial)

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        for i in draw_indices(self._rng, n_iter, self._problem.n, self._cumulative):
            self.n_iter += 1
            gamma = self._step_at(self.n_iter)
            f_i = self._f_at(i) if self._drops else self._responses[i]
            term = gamma * self._push(self._y[i] * (f_i + self._intercept) - self._problem.targets[i])
            if self._drops:
                self._step_with_terms(i, 1.0 - gamma * self._lambda, term)
            else:
                self._coef *= 1.0 - gamma * self._lambda
                self._responses *= 1.0 - gamma * self._lambda
                if term != 0.0:
                    self._coef[i] += term
                    self._responses += term * self._y[i] * self._row(i)
            if self._problem.fit_intercept:
                self._intercept += self._y[i] * term
        return n_iter

    def solution(self):
        """Return the last iterate, with the best scale (if `rescale`) and intercept for it."""
        found = self._expansion()
        state = {"intercept": np.array([self._intercept])}
        if self._drops:
            state["terms"] = np.array(self._terms, dtype=np.float64).reshape(-1, 3)
        else:
            state |= {"coefficients": self._coef.copy(), "responses": self._responses.copy()}
        return Solution(found.coef, found.intercept, self.n_iter, state)

    def _step_with_terms(self, i, shrink, term):
        for old in self._terms:
            old[1] *= shrink
        if term != 0.0:
            self._terms.append([i, term, self.n_iter])
        while self._terms and (len(self._terms) > self._newest or self._terms[0][2] <= self.n_iter - self._window):
            self._terms.popleft()

    def _f_at(self, i):
        """f(x_i) from the terms: one kernel evaluation each."""
        if not self._terms:
            return 0.0
        examples = [term[0] for term in self._terms]
        self.n_kernel_evaluations += len(examples)
        coef = np.array([term[1] for term in self._terms]) * self._y[examples]
        return float(np.asarray(self._problem.rows.block([i], examples), dtype=np.float64)[0] @ coef)

    def _expansion(self):
        if not self._drops:
            return self._expanded(self._y * self._coef, self._responses, self._rescale)
        coef = np.zeros(self._problem.n)
        for i, c, _ in self._terms:
            coef[i] += c
        coef *= self._y
        return self._expanded(coef, self._problem.rows.matvec(coef), self._rescale)

    def _start_from(self, initial):
        keys = ["terms"] if self._drops else ["coefficients", "responses"]
        state = require_state(initial, self._problem.n, ["intercept", *keys])
        self.n_iter = initial.n_iter
        if state is not None:
            self._intercept = state["intercept"].item()
            if self._drops:
                self._terms.extend([int(i), c, int(t)] for i, c, t in state["terms"])
            else:
                self._coef, self._responses = state["coefficients"], state["responses"]
            return
        coef = np.clip(initial.coef, *self._problem.cone())
        self._intercept = float(initial.intercept) if self._problem.fit_intercept else 0.0
        if self._drops:
            self._terms.extend([int(i), self._y[i] * coef[i], self.n_iter] for i in np.flatnonzero(coef))
        else:
            self._coef, self._responses = self._y * coef, self._problem.rows.matvec(coef)
