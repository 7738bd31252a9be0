"""Kernelised Pegasos: stochastic subgradient descent with steps 1/(lambda t), on responses.

Shalev-Shwartz, Singer, Srebro, Cotter, Math. Prog. 127 (2011). A step on example i shrinks all coefficients by 1 - 1/t
and, if i violates the margin, adds 1/(lambda t) to its own. Both together have a closed form: after T steps the
coefficient is v_i / (lambda T), with v_i the number of violations of i. So only counts are stored.

Other losses add -l'(m)/(lambda t) instead, a real number. A step on a smooth loss must not be longer than one over its
curvature, so for these t counts from t0 = L max k(x_i, x_i) / lambda: steps 1/(lambda (t + t0)), coefficients
v_i / (lambda (T + t0)).

A step on a batch of B examples adds the mean of their subgradients, as in the mini-batch version of the paper: 1/B of
the above for each of them, all at the f before the step.
"""

import numpy as np

from kernbench.losses.margin import Hinge
from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.kernel.expansion import largest_pull
from kernbench.problems.margin_problem import require_state
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.online.online import OnlineSolver
from kernbench.validation.numbers import check_flag


class Pegasos(OnlineSolver):
    """Kernel Pegasos for alpha/2 ||f||^2 + (1/n) sum_i w_i l(y_i (f(x_i) + b)).

    After T steps coef_i = y_i v_i / (lambda (T + t0)), v_i the sum of the slopes -l'(m) met at i. With W = sum_i w_i
    and lambda = alpha n / W the objective is W/n times lambda/2 ||f||^2 + sum_i (w_i/W) l_i; so example i is drawn with
    probability w_i/W. For the hinge v_i is the number of margin violations and t0 = 0.

    Parameters
    ----------
    loss : str or ResidualLoss, default="hinge"
        One of `losses`. For all but the hinge t0 = L max k(x_i, x_i) / lambda, L the largest second derivative, or one
        over the mean size of the targets for residuals with kinks.
    project : bool, default=False
        Project onto the ball ||f|| <= sqrt(c / lambda), which contains the optimum, after each step; c = 1 for the
        hinge, the paper's, else the largest -l'(m) m, or the mean loss at f = 0. Without intercept only.
    rescale : bool, default=True
        `solution` is the multiple of the last iterate with the least objective (exact), which removes most of the noise
        of the first steps. False gives the paper's last iterate. The steps are the same.
    batch_size : int, default=1
        Examples per step, drawn with replacement.
    """

    losses = EXAMPLE_LOSSES

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", random_state=None,
                 initial=None, project=False, rescale=True, batch_size=1, core="compiled"):  # fmt: skip
        check_flag("project", project)
        check_flag("rescale", rescale)
        if project and fit_intercept:
            raise ValueError("project=True needs fit_intercept=False: the method with projections has no intercept")
        super().__init__(
            core, rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss,
            random_state=random_state, batch_size=batch_size,
        )  # fmt: skip
        problem = self.problem
        self.project, self.rescale = project, rescale
        self.squared_radius = largest_pull(problem) * self.lam if project else np.inf  # of lambda f
        self.delay = 0.0  # t0
        if problem.loss is not Hinge:
            self.delay = problem.curvature() * max(0.0, self.largest) / self.lam
        # v; and g_j = sum_i v_i y_i K_ij, so that f = g / (lambda (t + t0))
        self.sums, self.responses = np.zeros((2, problem.n))
        self.numbers = np.zeros(2)  # steps; ||g||^2 = sum_i v_i y_i g_i, for the projection
        self.find_intercept = self.core.intercept_search(problem)
        if initial is not None:
            self._start_from(initial)

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        done, period = 0, self.granularity
        while done < n_iter:
            length = min(n_iter - done, period - self.n_iter % period)
            if self.batch_size > 1:
                for _ in range(length):
                    self._batch_step(self._draw(self.batch_size))
            else:
                self.core.steps(
                    self.walk, self._draw(length), self.loss, self.y, self.problem.targets, self.diagonal, self.lam,
                    self.delay, self.squared_radius, self.intercept, self.sums, self.responses, self.numbers,
                )  # fmt: skip
            done += length
            if self.problem.fit_intercept and self.n_iter % period == 0:
                self.intercept = self.find_intercept(self._f())
        return done

    def _batch_step(self, drawn):
        before = self.responses[drawn]
        pushes = self._mean_pushes(drawn, before / self._denominator() + self.intercept)
        steps = self.y[drawn] * pushes
        sums, responses = self.sums, self.responses
        if steps.any():  # copies take longer than the rest of a step without violations
            sums, responses = sums.copy(), responses.copy()
            self.walk.add_rows(drawn, steps, responses)
            np.add.at(sums, drawn, pushes)
        # ||g + h||^2 - ||g||^2 = <h, g + (g + h)>
        numbers = self.numbers + (1.0, steps @ (before + responses[drawn]))
        limit = self.squared_radius * (numbers[0] + self.delay) ** 2
        if numbers[1] > limit:
            shrink = np.sqrt(limit / numbers[1])
            sums, responses = shrink * sums, shrink * responses
            numbers[1] = limit
        self.sums, self.responses, self.numbers = sums, responses, numbers  # together: Ctrl-C comes before or after

    def _denominator(self):
        """lambda (t + t0), the divisor of the responses; before the first step these are 0."""
        return self.lam * (max(self.numbers[0], 1.0) + self.delay)

    def _f(self):
        return self.responses / self._denominator()

    def _expansion(self):
        return self._expanded(self.y * self.sums / self._denominator(), self._f(), self.rescale)

    def solution(self):
        """The last iterate, with the best scale (if `rescale`) and intercept for it."""
        found = self._found()
        state = {"counts": self.sums.copy(), "responses": self.responses.copy(),
                 "intercept": np.array([self.intercept]), "settings": self._settings()}  # fmt: skip
        if self.project:
            state["squared_norm"] = self.numbers[1:].copy()
        return Solution(found.coef.copy(), found.intercept, self.n_iter, state)

    def _settings(self):
        return self.problem.settings(self.lam)

    def _start_from(self, initial):
        keys = ["counts", "responses", "intercept", "settings"] + ["squared_norm"] * self.project
        state = require_state(initial, self.problem.n, keys)
        if state is not None and np.array_equal(state["settings"], self._settings()):
            self.sums, self.responses = state["counts"], state["responses"]
            self.intercept = state["intercept"].item() if self.problem.fit_intercept else 0.0
            self.numbers[:] = initial.n_iter, state["squared_norm"].item() if self.project else 0.0
            return
        self.numbers[0] = max(initial.n_iter, 1)
        size = self._denominator()
        signed = np.clip(initial.coef * size, *self.problem.cone())
        responses = self.rows.matvec(signed)
        factor, self.intercept = self._useful(responses / size, signed @ responses / size**2, initial.intercept)
        self.sums, self.responses = factor * self.y * signed, factor * responses
        self.numbers[1] = factor**2 * (signed @ responses)
