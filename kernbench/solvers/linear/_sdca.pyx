"""Dual coordinate ascent on explicit features; explained in the reference; the loop over rows is in _dual_steps.h."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from kernbench.solvers.design._design cimport FeatureDesign

import numpy as np

from kernbench._names import unknown_name
from kernbench.losses.margin import LogLoss
from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_number
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import check_number
from kernbench.problems.draws import as_generator, draw_indices

cdef extern from "_dual_steps.h" nogil:
    ctypedef struct Sample "kb_sample":
        double a, curvature, push
        int64_t start

    ctypedef struct Epoch "kb_epoch":
        Py_ssize_t active, position
        double upper, lower, largest, smallest, residual
        long long n_updates
        double parameter
        const double *targets

    void squared_norms_float(const float *values, const int64_t *starts, Py_ssize_t n, double *out)
    void squared_norms_double(const double *values, const int64_t *starts, Py_ssize_t n, double *out)
    Py_ssize_t sparse_walk_float(const float *values, const int32_t *columns, Sample *samples, int64_t *order, double *w,
                                 Epoch *epoch, Py_ssize_t count, int loss, int shrinking)
    Py_ssize_t sparse_walk_double(const double *values, const int32_t *columns, Sample *samples, int64_t *order,
                                  double *w, Epoch *epoch, Py_ssize_t count, int loss, int shrinking)
    Py_ssize_t dense_walk_float(const float *values, Py_ssize_t d, Sample *samples, int64_t *order, double *w,
                                Epoch *epoch, Py_ssize_t count, int loss, int shrinking)
    Py_ssize_t dense_walk_double(const double *values, Py_ssize_t d, Sample *samples, int64_t *order, double *w,
                                 Epoch *epoch, Py_ssize_t count, int loss, int shrinking)
    const double STILL "KB_STILL"
    double dual_sum "kb_dual_sum"(const Sample *samples, const double *targets, Py_ssize_t n, int loss, double p)

ORDERS = ("permutation", "uniform")
cdef double MOST_DOUBT = 10.0  # largest correction factor of an estimate of the gap


cdef class SDCA:
    """Dual coordinate ascent for alpha/2 ||w||^2 + (1/n) sum_i w_i l(y_i <w, x_i>), or l(<w, x_i> - y_i).

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n,)
        -1 and +1; targets for a loss of residuals.
    alpha : float
    weights : array-like of shape (n,), optional
    loss : str or ResidualLoss, default="hinge"
        One of `losses`.
    tol : float, default=1e-3
        Converged when the duality gap is at most `tol` times the objective. For a `tol` below 1e-12 the projected
        gradients (steps, for the logistic loss) of all rows must be within 1e-12, and the gap within 1e-12 times the
        objective.
    shrinking : bool, default=True
        Leave out variables that stay at a bound; not for ``order="uniform"`` and not for the logistic loss.
    order : {"permutation", "uniform"}, default="permutation"
        How the rows of an epoch are drawn: a random permutation, or with replacement.
    min_iter : int, default=0
        Rows to visit before a gap of `tol` ends the run; until then only convergence up to rounding does.
    random_state : None, int, RandomState or Generator
        One permutation, or n numbers, for each epoch.
    initial : Solution, optional
        Continue from dual variables of this class, exactly if `alpha` and `loss` are the same; or from any weights.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi, Sundararajan, ICML 2008; Yu, Huang, Lin, Machine Learning 85 (2011).
    """

    cdef public double tol
    cdef public long long min_iter
    cdef readonly long long n_iter
    cdef readonly bint converged
    cdef readonly object problem
    cdef FeatureDesign design
    cdef object rng, shuffle, store, order_array, used, known
    cdef bint uniform, shrinking
    cdef int loss
    cdef Py_ssize_t n_used
    cdef long long n_visits, n_passes
    cdef double alpha, doubt, bound
    cdef long long bound_due
    cdef Epoch epoch
    cdef Sample *samples
    cdef int64_t[::1] order
    cdef double[::1] coef, targets

    losses = EXAMPLE_LOSSES
    granularity = 1
    first_check = None
    n_kernel_evaluations = 0

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", tol=1e-3, shrinking=True, order="permutation",
                 min_iter=0, random_state=None, initial=None):
        if order not in ORDERS:
            raise ValueError(unknown_name("order", order, ORDERS))
        problem = LinearProblem(design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses)
        self.tol = require_number("tol", tol)
        self.min_iter = check_number("min_iter", min_iter, at_least=0, whole=True)
        self.problem, self.design, self.loss, self.uniform = problem, design, problem.loss.code, order == "uniform"
        self.shrinking = bool(shrinking) and not self.uniform and problem.loss is not LogLoss
        self.rng = as_generator(random_state)
        self.shuffle, self.alpha = self.rng.shuffle, problem.alpha
        self.used = np.flatnonzero(problem.weights > 0)
        self.n_used = len(self.used)
        self._lay_out()
        self.coef, self.targets = np.zeros(design.n_coef), problem.targets
        self.epoch.targets, self.epoch.parameter = &self.targets[0], problem.loss.parameter
        self._set_order(self.used.astype(np.int64))
        self.doubt, self.epoch.position = 1.0, -1
        self.epoch.largest, self.epoch.smallest = -INFINITY, INFINITY
        self._restart()
        if initial is not None:
            self._start_from(initial)

    def _lay_out(self):
        """Set the data of each row; the norms are the first n inner products."""
        cdef Py_ssize_t n = self.problem.n
        cdef double[::1] norms = np.empty(n)
        cdef int64_t[::1] starts
        store = np.zeros((n + 1, 4))
        if self.design.is_sparse:
            starts = np.array(<const int64_t[:n + 1]> self.design.starts)
        else:
            starts = np.arange(n + 1, dtype=np.int64) * self.design.n_coef
        if self.design.single:
            squared_norms_float(<const float *> self.design.values, &starts[0], n, &norms[0])
        else:
            squared_norms_double(<const double *> self.design.values, &starts[0], n, &norms[0])
        store[:n, 2] = self.problem.weights * self.problem.y / (self.problem.alpha * n)
        store[:n, 1] = np.abs(store[:n, 2]) * norms
        store.view(np.int64)[:, 3] = starts
        self.store = store
        self.samples = <Sample *> <size_t> store.ctypes.data
        self.n_passes = 1

    @property
    def n_inner_products(self):
        return self.n_visits + self.epoch.n_updates + self.n_passes * self.problem.n

    # --- the iteration -----------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Visit `n_iter` more rows; return how many were visited, fewer once converged."""
        cdef Py_ssize_t done = 0, walked, wanted = n_iter
        while done < wanted and not self.converged:
            if self.epoch.position < 0:  # not begun; at 0 rows may have been visited and shrunk
                self._begin_epoch()
            with nogil:
                walked = self._walk(wanted - done)
            done += walked
            self.n_visits += walked
            self.n_iter += walked
            if self.epoch.position == self.epoch.active:
                self._end_epoch()
        return done

    cdef _set_order(self, order):
        self.order_array = self.order = order

    cdef _begin_epoch(self):
        self.epoch.position = 0
        if self.uniform:
            self._set_order(self.used[draw_indices(self.rng, self.n_used, self.n_used)].astype(np.int64, copy=False))
        else:
            self.shuffle(self.order_array[:self.epoch.active])
        self.epoch.largest, self.epoch.smallest, self.epoch.residual = -INFINITY, INFINITY, 0.0

    cdef Py_ssize_t _walk(self, Py_ssize_t count) noexcept nogil:
        if self.design.is_sparse:
            if self.design.single:
                return sparse_walk_float(<const float *> self.design.values, self.design.columns, self.samples,
                                         &self.order[0], &self.coef[0], &self.epoch, count, self.loss, self.shrinking)
            return sparse_walk_double(<const double *> self.design.values, self.design.columns, self.samples,
                                      &self.order[0], &self.coef[0], &self.epoch, count, self.loss, self.shrinking)
        if self.design.single:
            return dense_walk_float(<const float *> self.design.values, self.design.n_coef, self.samples,
                                    &self.order[0], &self.coef[0], &self.epoch, count, self.loss, self.shrinking)
        return dense_walk_double(<const double *> self.design.values, self.design.n_coef, self.samples,
                                 &self.order[0], &self.coef[0], &self.epoch, count, self.loss, self.shrinking)

    cdef _end_epoch(self):
        """Make the pass over the data if the gap may have closed; set the thresholds of shrinking for the next
        epoch."""
        cdef double estimate = self.alpha * self.epoch.residual
        cdef double tol = self.tol if self.n_iter >= self.min_iter else 0.0
        cdef bint whole = self.epoch.active == self.n_used, still
        self.epoch.position = -1
        still = self.epoch.largest <= STILL and self.epoch.smallest >= -STILL
        if self.n_iter >= self.bound_due:  # the bound only grows; it need not be recomputed after a short epoch
            self.bound, self.bound_due = self.dual_objective(), self.n_iter + self.n_used // 4
        if still or estimate * self.doubt <= tol * self.bound:
            if still and whole:  # no step was taken, and none will be: the remaining gap is rounding
                tol = max(tol if self.uniform else self.tol, STILL)
            if self.check(tol):
                return
            # The error of this estimate corrects the next one, unless that covers other rows.
            self.doubt = max(1.0, self.gap() / max(estimate, self.gap() / MOST_DOUBT)) if whole else 1.0
            self._restart()
            return
        self.epoch.upper = self.epoch.largest if self.epoch.largest > STILL else INFINITY
        self.epoch.lower = self.epoch.smallest if self.epoch.smallest < -STILL else -INFINITY

    cdef void _restart(self):
        """Visit all rows in the next epoch."""
        self.epoch.active, self.epoch.upper, self.epoch.lower = self.n_used, INFINITY, -INFINITY

    # --- what it found -----------------------------------------------------------------------------------------------

    def _certificate(self):
        if self.known is None or self.known[0] != self.n_iter:
            self.n_passes += 1
            objective = self.problem.primal(np.asarray(self.coef), self.design.scores(self.coef))
            self.known = self.n_iter, objective, max(0.0, objective - self.dual_objective())
        return self.known

    def dual_objective(self):
        """The dual objective, a lower bound on the optimum; without a pass over the data."""
        cdef Py_ssize_t n = self.design.n_samples
        cdef double total
        with nogil:
            total = dual_sum(self.samples, self.epoch.targets, n, self.loss, self.epoch.parameter)
        coef = np.asarray(self.coef)
        return self.problem.alpha * (total - 0.5 * float(coef @ coef))

    def objective(self):
        """The objective, by a pass over the data."""
        return self._certificate()[1]

    def gap(self):
        """The objective minus the dual one: a bound on the distance to the optimum."""
        return self._certificate()[2]

    def check(self, tol):
        """Set `converged` to whether the duality gap is at most `tol` times the objective, and return it."""
        self.converged = self.gap() <= tol * self.objective()
        return self.converged

    def solution(self):
        """The weights w; the state holds the dual variables and the position in the epoch."""
        cdef Epoch *e = &self.epoch
        epoch = [e.active, e.position, e.upper, e.lower, self.doubt, e.largest, e.smallest,
                 self.problem.alpha * self.problem.n * e.residual, self.bound, self.bound_due]
        state = {"a": self.store[:-1, 0].copy(), "order": np.array(self.order),
                 "epoch": np.array(epoch, dtype=np.float64), "settings": self._settings()}
        return Solution(np.array(self.coef), 0.0, self.n_iter, state)

    def _settings(self):
        return self.problem.settings(self.uniform, self.n_used)

    def _start_from(self, initial):
        cdef Epoch *e = &self.epoch
        self.n_iter = initial.n_iter
        self.store[:-1, 0], state = self.problem.start(initial, self._settings())
        if state is not None:
            self._set_order(state["order"].astype(np.int64))
            e.active, e.position = map(int, state["epoch"][:2])
            e.upper, e.lower, self.doubt, e.largest, e.smallest, e.residual, self.bound, self.bound_due = state["epoch"][2:]
            e.residual /= self.problem.alpha * self.problem.n
        self.coef = self.design.combine(self.store[:-1, 2] * self.store[:-1, 0])
        self.n_passes += 1
