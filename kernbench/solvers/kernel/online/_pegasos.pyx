"""Kernel Pegasos on responses, several draws at a time (see `_online`)."""

from kernbench.losses._loss cimport loss_room, loss_slope
from kernbench.solvers.kernel.online._intercept cimport InterceptFinder
from kernbench.solvers.kernel.online._online cimport BATCH, OnlineSolver

import numpy as np

from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.kernel.expansion import largest_pull
from kernbench.losses.margin import Hinge
from kernbench.problems.margin_problem import require_state
from kernbench.solvers.base import Solution
from kernbench.problems.draws import draw_indices


cdef class Pegasos(OnlineSolver):
    """Kernel Pegasos: after T steps coef_i = y_i v_i / (lambda (T + t0)), v_i the sum of the slopes -l'(m) met at i.

    lambda = alpha n / W with W the sum of the weights; example i is drawn with probability w_i / W. For the hinge v_i
    is the number of margin violations and t0 = 0.

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
        -1 and +1; targets for a loss of residuals.
    alpha : float
    weights : array-like of shape (n,), optional
    fit_intercept : bool, default=True
        The bias is set to its exact minimiser every 256 steps.
    loss : str or ResidualLoss, default="hinge"
        One of `losses`. For all but the hinge t0 = L max k(x_i, x_i) / lambda, L the largest second derivative, or one
        over the mean size of the targets for residuals with kinks.
    random_state : None, int, RandomState or Generator
        One uniform number per step.
    initial : Solution, optional
        Continue a Pegasos solution exactly, or use other coefficients as a warm start.
    project : bool, default=False
        Project onto the ball ||f|| <= sqrt(c / lambda) after each step, c = 1, 1/2, 0.278 by loss, or the mean loss at f = 0; without intercept
        only.
    rescale : bool, default=True
        `solution` is the multiple of the last iterate with the least objective; False gives the last iterate, as in the
        paper.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro, Cotter, Math. Prog. 127 (2011).
    """

    losses = EXAMPLE_LOSSES

    cdef InterceptFinder finder
    cdef double squared_norm, squared_radius, intercept, delay
    cdef bint project, rescale
    cdef double[::1] counts, responses

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", random_state=None,
                 initial=None, project=False, rescale=True):
        if project and fit_intercept:
            raise ValueError("project=True needs fit_intercept=False: the ball is valid without an intercept only")
        OnlineSolver.__init__(
            self, rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss,
            random_state=random_state,
        )
        problem = self.problem
        self.project, self.rescale = project, rescale
        self.squared_radius = largest_pull(problem) * self.lam  # of lambda f
        self.delay = 0.0 if problem.loss is Hinge else problem.curvature() * np.max(self.diagonal) / self.lam
        if problem.fit_intercept and problem.loss is Hinge:
            self.finder = InterceptFinder(problem.y, problem.weights)
        self.counts, self.responses = np.zeros(problem.n), np.zeros(problem.n)
        if initial is not None:
            self._start_from(initial)

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        done = 0
        while done < n_iter:
            length = min(n_iter - done, BATCH - self.n_iter % BATCH)
            self._follow(draw_indices(self.rng, length, self.problem.n, self.cumulative))
            done += length
            if self.problem.fit_intercept and self.n_iter % BATCH == 0:
                f = self._f()
                self.intercept = self.problem.best_intercept(f) if self.finder is None else self.finder.find(f)
        return done

    cdef Py_ssize_t _steps_on(self, const Py_ssize_t *drawn, Py_ssize_t length) except -1:
        cdef:
            Py_ssize_t k, i, n_done
            double push, shrink, limit, time, scale = 1.0
        walk = self.walk
        with nogil:
            n_done = walk.open(drawn, length, &self.responses[0])
            for k in range(n_done):
                walk.want(k, loss_room(self.loss, self.parameter, self._margin(drawn[k], walk.local[k])))
            walk.fetch()
            for k in range(n_done):
                i = drawn[k]
                push = self._push(i, scale * walk.local[k])
                if push != 0.0 and not walk.has(k):
                    n_done = k
                    break
                self.n_iter += 1
                if push != 0.0:
                    self.squared_norm += push * (2.0 * self.y[i] * scale * walk.local[k] + push * self.diagonal[i])
                    # Projections scale everything by `scale`; the sums of the walk are not scaled.
                    self.counts[i] += push / scale
                    walk.add(k, self.y[i] * push / scale, 0.0)
                if self.project:
                    time = <double> self.n_iter + self.delay
                    limit = self.squared_radius * time * time
                    if self.squared_norm > limit:
                        shrink = (limit / self.squared_norm) ** 0.5
                        self.squared_norm = limit
                        scale *= shrink
            walk.close(n_done, &self.responses[0])
            if scale != 1.0:
                for i in range(walk.n):
                    self.counts[i] *= scale
                    self.responses[i] *= scale
        return n_done

    cdef inline double _push(self, Py_ssize_t i, double response) noexcept nogil:
        """-l' at y_i (f(x_i) + b) before the next step: f = g / (lambda (t - 1 + t0)), 0 before the first."""
        return -loss_slope(self.loss, self.parameter, self._margin(i, response))

    cdef inline double _margin(self, Py_ssize_t i, double response) noexcept nogil:
        return self.y[i] * (response / self._denominator() + self.intercept) - self.targets[i]

    cdef inline double _denominator(self) noexcept nogil:
        cdef double time = <double> self.n_iter + self.delay
        return self.lam * (time if self.n_iter > 0 else 1.0 + self.delay)

    # --- what it found -----------------------------------------------------------------------------------------------

    def _f(self):
        return np.asarray(self.responses) / self._denominator()

    def _expansion(self):
        coef = self.problem.y * np.asarray(self.counts) / self._denominator()
        return self._expanded(coef, self._f(), self.rescale)

    def solution(self):
        """The last iterate, with the best scale (if `rescale`) and intercept for it."""
        found = self._found()
        state = {"counts": np.array(self.counts), "responses": np.array(self.responses),
                 "intercept": np.array([self.intercept])}
        if self.project:
            state["squared_norm"] = np.array([self.squared_norm])
        return Solution(found.coef.copy(), found.intercept, self.n_iter, state)

    def _start_from(self, initial):
        keys = ["counts", "responses", "intercept"] + ["squared_norm"] * self.project
        state = require_state(initial, self.problem.n, keys)
        if state is not None:
            self.n_iter = initial.n_iter
            self.counts, self.responses = state["counts"], state["responses"]
            self.intercept = state["intercept"].item()
            self.squared_norm = state["squared_norm"].item() if self.project else 0.0
            return
        self.n_iter = max(initial.n_iter, 1)
        signed = np.clip(initial.coef * self._denominator(), *self.problem.cone())
        counts = self.problem.y * signed
        self.counts, self.responses = counts, self.rows.matvec(signed)
        self.squared_norm = signed @ np.asarray(self.responses)
        self.intercept = float(initial.intercept) if self.problem.fit_intercept else 0.0
