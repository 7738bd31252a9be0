"""Kernel Pegasos in response form, a batch of draws at a time.

The indices of a batch are drawn ahead. The responses tell which of them would violate the margin now; the kernel rows
of those are fetched together. Then the batch is walked step by step: a violation updates the responses of the rest of
the batch at once and those of everyone else when the batch ends. A violator nobody foresaw ends the batch early.
"""

from libc.stdlib cimport free

from kernbench.kernels._engine cimport allocate
from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels._tiles cimport add_rows_double, add_rows_float
from kernbench.solvers.kernel._intercept cimport InterceptFinder

import numpy as np

from kernbench.solvers.base import Solution
from kernbench.solvers.draws import as_generator, cumulative_weights, draw_indices
from kernbench.losses.duality import dual_bound
from kernbench.losses.margin_problem import MarginProblem, require_state
from kernbench.losses.slack_budget import best_scale

BATCH = 256  # draws looked at together, and steps between two updates of the intercept


cdef class Pegasos:
    """Kernel Pegasos: after T steps coef_i = y_i v_i / (lambda T), v_i the number of margin violations of i.

    lambda = alpha n / W with W the sum of the weights; example i is drawn with probability w_i / W.

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
        -1 and +1.
    alpha : float
    weights : array-like of shape (n,), optional
    fit_intercept : bool, default=True
        The bias is set to its exact minimiser every 256 steps.
    random_state : None, int, RandomState or Generator
        One uniform number per step.
    initial : Solution, optional
        Go on from a Pegasos solution exactly, or from other coefficients as a warm start.
    project : bool, default=False
        Project onto the ball ||f|| <= 1/sqrt(lambda) after each step; without intercept only.

    rescale : bool, default=True
        `solution` is the last iterate times the number that makes the objective smallest; False gives the paper's.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro, Cotter, Math. Prog. 127 (2011).
    """

    cdef readonly long long n_iter
    cdef readonly bint converged
    cdef readonly object problem
    cdef readonly Py_ssize_t first_check
    cdef KernelRows rows
    cdef InterceptFinder finder
    cdef object rng, cumulative
    cdef double lam, squared_norm, intercept
    cdef bint project, rescale
    cdef double[::1] y, counts, responses, diagonal

    granularity = BATCH

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, random_state=None, initial=None,
                 project=False, rescale=True):
        if project and fit_intercept:
            raise ValueError("project=True needs fit_intercept=False: the ball is valid without an intercept only")
        problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept)
        if problem.alpha is None:
            raise ValueError("Pegasos needs alpha, a positive number")
        self.problem, self.rows, self.project, self.rescale = problem, rows, project, rescale
        self.lam = problem.alpha * problem.n / problem.total_weight
        self.rng = as_generator(random_state)
        self.cumulative = cumulative_weights(problem.weights)
        self.first_check = -(-problem.n // BATCH) * BATCH
        self.y, self.diagonal = problem.y, rows.diagonal()
        self.finder = InterceptFinder(problem.y, problem.weights) if problem.fit_intercept else None
        self.counts, self.responses = np.zeros(problem.n), np.zeros(problem.n)
        if initial is not None:
            self._start_from(initial)

    @property
    def n_kernel_evaluations(self):
        return self.rows.n_evaluations

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        done = 0
        while done < n_iter:
            length = min(n_iter - done, BATCH - self.n_iter % BATCH)
            indices = draw_indices(self.rng, length, self.problem.n, self.cumulative)
            first = 0
            while first < length:
                first += self._walk(indices[first:])
            done += length
            if self.problem.fit_intercept and self.n_iter % BATCH == 0:
                self.intercept = self.finder.find(self._f())
        return done

    cdef Py_ssize_t _walk(self, const Py_ssize_t[::1] drawn) except -1:
        """Do the steps on `drawn` up to the first violator whose row was not fetched; return how many were done."""
        cdef:
            Py_ssize_t length = drawn.shape[0], k, l, i, n_foreseen = 0, n_used = 0, n = self.y.shape[0]
            Py_ssize_t[::1] foreseen = np.empty(length, dtype=np.intp)
            Py_ssize_t[::1] place = np.full(length, -1, dtype=np.intp)     # position of a draw's row in `pointers`
            double[::1] local = np.empty(length)                           # responses of the draws, kept up to date
            double[::1] steps = np.zeros(length)
            double margin, shrink, limit, scale = 1.0
            bint single = self.rows.single
            void **pointers = <void **> allocate(length * sizeof(void *))
        try:
            with nogil:
                for k in range(length):
                    i = drawn[k]
                    local[k] = self.responses[i]
                    if n_foreseen < self.rows.capacity and self._margin(i, local[k]) < 1.0:
                        place[k] = n_foreseen
                        foreseen[n_foreseen] = i
                        n_foreseen += 1
                if n_foreseen:
                    self.rows.fetch(&foreseen[0], n_foreseen, pointers)
                for k in range(length):
                    i = drawn[k]
                    margin = self._margin(i, local[k])
                    if margin < 1.0 and place[k] < 0:
                        length = k
                        break
                    self.n_iter += 1
                    if margin < 1.0:
                        self.squared_norm += 2.0 * self.y[i] * local[k] + self.diagonal[i]
                        self.counts[i] += 1.0
                        # Under projection everything shrinks by `scale`; the sums over the batch are kept unshrunk.
                        steps[place[k]] = self.y[i] / scale
                        if single:
                            _add_at[float](<const float *> pointers[place[k]], self.y[i], drawn, k + 1, local)
                        else:
                            _add_at[double](<const double *> pointers[place[k]], self.y[i], drawn, k + 1, local)
                    if self.project:
                        limit = self.lam * <double> self.n_iter * <double> self.n_iter
                        if self.squared_norm > limit:
                            shrink = (limit / self.squared_norm) ** 0.5
                            self.squared_norm = limit
                            scale *= shrink
                            for l in range(n):
                                self.counts[l] *= shrink
                            for l in range(k + 1, local.shape[0]):
                                local[l] *= shrink
                for k in range(n_foreseen):  # a pass over memory for each row, so leave out those of no step
                    if steps[k] != 0.0:
                        steps[n_used] = steps[k]
                        pointers[n_used] = pointers[k]
                        n_used += 1
                if n_used:
                    if single:
                        add_rows_float(<float **> pointers, &steps[0], n_used, 0, n, &self.responses[0])
                    else:
                        add_rows_double(<double **> pointers, &steps[0], n_used, 0, n, &self.responses[0])
                if scale != 1.0:
                    for l in range(n):
                        self.responses[l] *= scale
        finally:
            free(pointers)
        return length

    cdef inline double _margin(self, Py_ssize_t i, double response) noexcept nogil:
        """y_i (f(x_i) + b) before the next step: f = g / (lambda (t - 1)), 0 before the first."""
        return self.y[i] * (response / (self.lam * max(self.n_iter, 1)) + self.intercept)

    # --- what it found -----------------------------------------------------------------------------------------------

    def _f(self):
        return np.asarray(self.responses) / (self.lam * max(self.n_iter, 1))

    def _coef(self):
        return self.problem.y * np.asarray(self.counts) / (self.lam * max(self.n_iter, 1))

    def _scale_and_intercept(self):
        """The multiple of the last iterate, and the intercept, that make the objective smallest."""
        if not self.rescale or self.n_iter == 0:
            return 1.0, self.problem.best_intercept(self._f())
        y, f = self.problem.y, self._f()
        return best_scale(y * f, self._coef() @ f, y, self.problem.weights, alpha=self.problem.alpha,
                          fit_intercept=self.problem.fit_intercept)

    def _scaled(self):
        scale, intercept = self._scale_and_intercept()
        return scale * self._coef(), scale * self._f(), intercept

    def check(self, tol):
        """Set `converged` to whether the duality gap is at most `tol` times the objective, and return it."""
        self.converged = self.gap() <= tol * max(self.objective(), np.finfo(float).tiny)
        return self.converged

    def solution(self):
        """The last iterate, with the best scale (if `rescale`) and intercept for it."""
        scale, intercept = self._scale_and_intercept()
        state = {"counts": np.array(self.counts), "responses": np.array(self.responses),
                 "intercept": np.array([self.intercept])}
        if self.project:
            state["squared_norm"] = np.array([self.squared_norm])
        return Solution(scale * self._coef(), intercept, self.n_iter, state)

    def objective(self):
        """The regularised hinge objective of `solution`."""
        coef, f, intercept = self._scaled()
        return self.problem.objective(f, coef @ f, intercept)

    def gap(self):
        """The objective of `solution` minus a lower bound on the optimum."""
        # The dual point is that of the iterate as it is: scaling it would only take it out of the box.
        bound = dual_bound(self.rows, self.problem.y, self._coef(), alpha=self.problem.alpha, weights=self.problem.weights,
                           fit_intercept=self.problem.fit_intercept, responses=self._f())
        return max(0.0, self.objective() - bound)

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
        counts = np.maximum(0.0, self.problem.y * initial.coef * self.lam * self.n_iter)
        signed = self.problem.y * counts
        self.counts, self.responses = counts, self.rows.matvec(signed)
        self.squared_norm = signed @ np.asarray(self.responses)
        self.intercept = float(initial.intercept) if self.problem.fit_intercept else 0.0


ctypedef fused real:
    float
    double


cdef void _add_at(const real *row, double step, const Py_ssize_t[::1] where, Py_ssize_t first,
                  double[::1] values) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(first, where.shape[0]):
        values[k] += step * row[where[k]]
