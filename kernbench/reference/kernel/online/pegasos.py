"""Kernelised Pegasos: stochastic subgradient descent with steps 1/(lambda t), on responses.

Shalev-Shwartz, Singer, Srebro, Cotter, Math. Prog. 127 (2011). A step on example i shrinks all coefficients
by 1 - 1/t and, if i violates the margin, adds 1/(lambda t) to its own. Both together have a closed form:
after T steps the coefficient is v_i / (lambda T), with v_i the number of violations of i. So only counts are stored.

Other losses add -l'(m)/(lambda t) instead, a real number. A step on a smooth loss must not be longer than one
over its curvature, so for these t counts from t0 = L max k(x_i, x_i) / lambda: steps 1/(lambda (t + t0)),
coefficients v_i / (lambda (T + t0)).
"""

import numpy as np

from kernbench.losses.margin import Hinge
from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.draws import as_generator, cumulative_weights, draw_indices
from kernbench.problems.kernel.expansion import largest_pull
from kernbench.problems.margin_problem import require_state
from kernbench.reference.kernel.online.online import BATCH, OnlineSolver
from kernbench.solvers.base import Solution


class Pegasos(OnlineSolver):
    """Kernel Pegasos for alpha/2 ||f||^2 + (1/n) sum_i w_i l(y_i (f(x_i) + b)).

    With W = sum_i w_i and lambda = alpha n / W the objective is W/n times
    lambda/2 ||f||^2 + sum_i (w_i/W) l_i; so example i is drawn with probability w_i/W.

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
        Set b to its exact minimiser after every 256th step; it is frozen in between.
    loss : str or ResidualLoss, default="hinge"
        One of `losses`.
    random_state : None, int, RandomState or Generator
        One uniform number per step.
    initial : Solution, optional
        Where to start. With the state of a Pegasos run (``counts``, ``responses``, ``intercept``, and
        ``squared_norm`` if projected) that run is continued; otherwise ``coef`` is a warm start, as if reached by
        ``max(n_iter, 1)`` steps.
    project : bool, default=False
        Project onto the ball ||f|| <= sqrt(c/lambda), which contains the optimum, after each step; c = 1 for the
        hinge, the paper's, else the largest -l'(m) m. Only with ``fit_intercept=False``, as in the paper.
    rescale : bool, default=True
        `solution` is the multiple of the last iterate with the least objective (exact), which removes most of the noise
        of the first steps. False gives the paper's last iterate. The steps are the same.

    Raises
    ------
    ValueError
        With a sentence that says what to change.
    """

    losses = EXAMPLE_LOSSES

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge",
                 random_state=None, initial=None, project=False, rescale=True):  # fmt: skip
        if project and fit_intercept:
            raise ValueError("project=True needs fit_intercept=False: only that problem is projected")
        super().__init__(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        problem = self._problem
        self._project, self._rescale = project, rescale
        self._rng = as_generator(random_state)
        self._cumulative = cumulative_weights(problem.weights)
        self._squared_radius = largest_pull(problem) * self._lambda  # of lambda f
        self._delay = 0.0  # t0
        if problem.loss is not Hinge:
            self._delay = problem.curvature() * self._diagonal.max() / self._lambda
        self._counts = np.zeros(problem.n)  # v_i; integers for the hinge, unless projected
        self._responses = np.zeros(problem.n)  # g_j = sum_i v_i y_i K_ij, so that f = g / (lambda (t + t0))
        self._squared_norm = 0.0  # of lambda (t + t0) f: sum_i v_i y_i g_i, for the projection
        self._intercept = 0.0
        if initial is not None:
            self._start_from(initial)

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        for i in draw_indices(self._rng, n_iter, self._problem.n, self._cumulative):
            self._step(i)
        return n_iter

    def solution(self):
        """Return the last iterate, with the best scale (if `rescale`) and intercept for it."""
        state = {
            "counts": self._counts.copy(),
            "responses": self._responses.copy(),
            "intercept": np.array([self._intercept]),
        }
        if self._project:
            state["squared_norm"] = np.array([self._squared_norm])
        found = self._expansion()
        return Solution(found.coef, found.intercept, self.n_iter, state)

    def _step(self, i):
        y_i, response = self._y[i], self._responses[i]
        push = self._push(y_i * (response / self._denominator() + self._intercept) - self._problem.targets[i])
        self.n_iter += 1
        if push != 0.0:
            self._squared_norm += 2 * push * y_i * response + push**2 * self._diagonal[i]
            self._counts[i] += push
            self._responses += push * y_i * self._row(i)
        if self._project:
            self._project_on_ball()
        if self._problem.fit_intercept and self.n_iter % BATCH == 0:
            self._intercept = self._problem.best_intercept(self._f())

    def _project_on_ball(self):
        limit = self._squared_radius * (self.n_iter + self._delay) ** 2
        if self._squared_norm > limit:
            shrink = np.sqrt(limit / self._squared_norm)
            self._counts *= shrink
            self._responses *= shrink
            self._squared_norm = limit

    def _denominator(self):
        """lambda (t + t0), the divisor of the responses; before the first step these are 0."""
        return self._lambda * (max(self.n_iter, 1) + self._delay)

    def _f(self):
        """The responses f(x_i) after `n_iter` steps, without the intercept."""
        return self._responses / self._denominator()

    def _expansion(self):
        coef = self._y * self._counts / self._denominator()
        return self._expanded(coef, self._f(), self._rescale)

    def _start_from(self, initial):
        keys = ["counts", "responses", "intercept"]
        state = require_state(initial, self._problem.n, keys + ["squared_norm"] * self._project)
        if state is not None:
            self.n_iter = initial.n_iter
            self._counts, self._responses = state["counts"], state["responses"]
            self._intercept = state["intercept"].item()
            if self._project:
                self._squared_norm = state["squared_norm"].item()
        else:
            self.n_iter = max(initial.n_iter, 1)
            signed = np.clip(initial.coef * self._denominator(), *self._problem.cone())
            self._counts, self._responses = self._y * signed, self._problem.rows.matvec(signed)
            self._squared_norm = signed @ self._responses
            self._intercept = float(initial.intercept) if self._problem.fit_intercept else 0.0
