"""Kernelised Pegasos: stochastic subgradient descent with steps 1/(lambda t), in response form.

Shalev-Shwartz, Singer, Srebro, Cotter, Math. Prog. 127 (2011). A step on example i shrinks all coefficients
by 1 - 1/t and, if i violates the margin, adds 1/(lambda t) to its own. Both together have a closed form:
after T steps the coefficient is v_i / (lambda T), with v_i the number of violations of i. So counts are all
there is to store.
"""

import numpy as np

from kernbench.losses.duality import dual_bound
from kernbench.losses.margin_problem import MarginProblem, require_state
from kernbench.losses.slack_budget import best_scale
from kernbench.solvers.base import Solution
from kernbench.solvers.draws import as_generator, cumulative_weights, draw_indices

BATCH = 256  # steps between two updates of the intercept


class Pegasos:
    """Kernel Pegasos for alpha/2 ||f||^2 + (1/n) sum_i w_i hinge(y_i (f(x_i) + b)).

    With W = sum_i w_i and lambda = alpha n / W the objective is W/n times
    lambda/2 ||f||^2 + sum_i (w_i/W) hinge_i; so example i is drawn with probability w_i/W.

    Parameters
    ----------
    rows : KernelRows or ReferenceRows
        Rows of the n by n kernel matrix.
    y : array-like of shape (n,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n,), optional
        Ones by default.
    fit_intercept : bool, default=True
        Set b to its exact minimiser after every 256th step; it is frozen in between.
    random_state : None, int, RandomState or Generator
        One uniform number per step.
    initial : Solution, optional
        Where to start. With the state of a Pegasos run (``counts``, ``responses``, ``intercept``, and
        ``squared_norm`` if projected) that run goes on; otherwise ``coef`` is a warm start, as if reached by
        ``max(n_iter, 1)`` steps.
    project : bool, default=False
        Project on the ball ||f|| <= 1/sqrt(lambda), which holds the optimum, after each step.
        Only with ``fit_intercept=False``, the problem the paper projects for.

    rescale : bool, default=True
        `solution` is the last iterate times the number that makes the objective smallest (found exactly), which takes
        away most of the noise of the first steps. False gives the paper's last iterate. The steps are the same.

    Raises
    ------
    ValueError
        With a sentence that says what to change.
    """

    granularity = BATCH

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, random_state=None, initial=None,
                 project=False, rescale=True):  # fmt: skip
        if project and fit_intercept:
            raise ValueError("project=True needs fit_intercept=False: only that problem is projected")
        problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept)
        if problem.alpha is None:
            raise ValueError("Pegasos needs alpha, a positive number")
        self._problem, self._project, self._rescale = problem, project, rescale
        self._lambda = problem.alpha * problem.n / problem.total_weight
        self._diagonal = rows.diagonal()
        self._rng = as_generator(random_state)
        self._cumulative = cumulative_weights(problem.weights)

        self.n_iter = 0
        self.n_kernel_evaluations = 0
        self.converged = False
        self.first_check = -(-problem.n // BATCH) * BATCH
        self._counts = np.zeros(problem.n)  # v_i; integers, unless projected
        self._responses = np.zeros(problem.n)  # g_j = sum_i v_i y_i K_ij, so that f = g / (lambda t)
        self._squared_norm = 0.0  # lambda^2 t^2 ||f||^2 = sum_i v_i y_i g_i, for the projection
        self._intercept = 0.0
        if initial is not None:
            self._start_from(initial)

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        for i in draw_indices(self._rng, n_iter, self._problem.n, self._cumulative):
            self._step(i)
        return n_iter

    def check(self, tol):
        """Set `converged` to whether the duality gap is at most `tol` times the objective, and return it."""
        self.converged = bool(self.gap() <= tol * max(self.objective(), np.finfo(float).tiny))
        return self.converged

    def solution(self):
        """Return the last iterate, with the best scale (if `rescale`) and intercept for it."""
        state = {
            "counts": self._counts.copy(),
            "responses": self._responses.copy(),
            "intercept": np.array([self._intercept]),
        }
        if self._project:
            state["squared_norm"] = np.array([self._squared_norm])
        scale, intercept = self._scale_and_intercept()
        return Solution(scale * self._coef(), intercept, self.n_iter, state)

    def objective(self):
        """Return the regularised hinge objective of `solution`."""
        coef, f, intercept = self._scaled()
        return self._problem.objective(f, coef @ f, intercept)

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum."""
        # The dual point is that of the iterate as it is: scaling it would only take it out of the box.
        bound = dual_bound(self._problem.rows, self._problem.y, self._coef(), alpha=self._problem.alpha, weights=self._problem.weights,
                           fit_intercept=self._problem.fit_intercept, responses=self._f())
        return max(0.0, self.objective() - bound)

    def _step(self, i):
        y = self._problem.y
        f_i = self._responses[i] / (self._lambda * max(self.n_iter, 1))
        margin = y[i] * (f_i + self._intercept)
        self.n_iter += 1
        if margin < 1:
            row = np.asarray(self._problem.rows.row(i), dtype=np.float64)
            self.n_kernel_evaluations += self._problem.n
            self._squared_norm += 2 * y[i] * self._responses[i] + self._diagonal[i]
            self._counts[i] += 1
            self._responses += y[i] * row
        if self._project:
            self._project_on_ball()
        if self._problem.fit_intercept and self.n_iter % BATCH == 0:
            self._intercept = self._best_intercept()

    def _project_on_ball(self):
        limit = self._lambda * self.n_iter**2  # lambda^2 t^2 times the squared radius 1/lambda
        if self._squared_norm > limit:
            shrink = np.sqrt(limit / self._squared_norm)
            self._counts *= shrink
            self._responses *= shrink
            self._squared_norm = limit

    def _f(self):
        """The responses f(x_i) after `n_iter` steps, without the intercept; 0 before the first."""
        return self._responses / (self._lambda * max(self.n_iter, 1))

    def _coef(self):
        return self._problem.y * self._counts / (self._lambda * max(self.n_iter, 1))

    def _best_intercept(self):
        return self._problem.best_intercept(self._f())

    def _scale_and_intercept(self):
        """The multiple of the last iterate, and the intercept, that make the objective smallest."""
        if not self._rescale or self.n_iter == 0:
            return 1.0, self._best_intercept()
        y, f = self._problem.y, self._f()
        return best_scale(y * f, self._coef() @ f, y, self._problem.weights, alpha=self._problem.alpha,
                          fit_intercept=self._problem.fit_intercept)  # fmt: skip

    def _scaled(self):
        scale, intercept = self._scale_and_intercept()
        return scale * self._coef(), scale * self._f(), intercept

    def _start_from(self, initial):
        y, keys = self._problem.y, ["counts", "responses", "intercept"]
        state = require_state(initial, self._problem.n, keys + ["squared_norm"] * self._project)
        if state is not None:
            self.n_iter = initial.n_iter
            self._counts, self._responses = state["counts"], state["responses"]
            self._intercept = state["intercept"].item()
            if self._project:
                self._squared_norm = state["squared_norm"].item()
        else:
            self.n_iter = max(initial.n_iter, 1)
            self._counts = np.maximum(0.0, y * initial.coef * self._lambda * self.n_iter)
            self._responses = self._problem.rows.matvec(y * self._counts)
            self._squared_norm = (y * self._counts) @ self._responses
            self._intercept = float(initial.intercept) if self._problem.fit_intercept else 0.0
