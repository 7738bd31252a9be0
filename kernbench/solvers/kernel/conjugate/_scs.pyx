"""Stochastic conjugate subgradients on a growing sample: reference/kernel/scs.py, made fast.

No product is computed that is known already:

* responses u of f and v of the direction follow f and the direction by recurrences;
* Q(y w a) for the subgradient changes by the rows of the examples that crossed the margin since the last iteration;
* new examples have coefficient 0, so only their own responses are computed;
* with few rows the responses of all are kept, so that those of a validation sample are only looked up;
* with many rows, validation examples in the sample have known responses, and the kernel values of the others are used
  tile by tile and never stored.

In the kernel's geometry an iteration takes O(s) work, a kernel row for each example that crossed the margin, and the
validation sample where it is not known; the geometry of coefficients also needs one product with the sample's matrix.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memset

from kernbench.solvers.kernel.conjugate._hinge_line cimport HingeLine, dot, mix
from kernbench.solvers.kernel.conjugate._sample_matrix cimport SampleMatrix
from kernbench.solvers.kernel.conjugate._validation cimport ValidationLoss

import numpy as np

from kernbench.losses.margin import margin_loss
from kernbench.problems.margin_problem import require_state
from kernbench.solvers.base import Solution
from kernbench.problems.kernel.conjugate import (
    EPS, HELD_OUT, NO_DIRECTION, RECOMPUTED, certified_gap, check_scs, largest, scattered, smallest_norm, watches_all,
)
from kernbench.solvers.kernel.conjugate._sample_matrix import products
from kernbench.problems.streaming.samples import as_source
from kernbench.problems.whole_objective import Estimate, estimate_objective

cdef long long RECOMPUTED_EVERY = RECOMPUTED


cdef class SCS:
    """Stochastic conjugate subgradients for alpha/2 ||f||^2 + (1/n) sum_i w_i hinge(y_i (f(x_i) + b)).

    Every iteration turns the last direction towards the subgradient on the sample (the shortest vector between the
    two), searches along it, enlarges the sample, and keeps the step if it also decreases the loss of validation
    examples.

    Parameters
    ----------
    rows : KernelRows or a source of samples
        A source (see ``kernbench.problems.streaming.samples``) has labels and weights of its own; then `y` is None.
    y : array-like of shape (n,)
        -1 and +1.
    alpha : float
    weights : array-like of shape (n,), optional
    fit_intercept : bool, default=True
        b is the exact minimiser for the sample at every point of a search.
    loss : {"hinge"}, default="hinge"
    random_state : None, int, RandomState or Generator
    initial : Solution, optional
        Continue an SCS solution exactly, or start from other coefficients: then the sample begins with the rows whose
        coefficient is not zero, or with all rows if there are no more than `sample_cap`.
    geometry : {"rkhs", "euclidean"}, default="rkhs"
        Inner product of directions: that of the kernel's space, or the paper's, of coefficients.
    line_search : {"exact", "bracket"}, default="exact"
        The minimiser along the direction, or the paper's search for a point with enough decrease and a flat slope.
    validation : {"redraw", "holdout"}, default="redraw"
        Judge steps by examples drawn anew each time, or by a fifth of the rows set aside at the start.
    eps : float, default=None
        Length of the direction below which, at the smallest radius, the run ends; with 0 only the gap ends it. None is
        1e-3 for more rows than `sample_cap`, and 0 for fewer: their gap is certified.
    delta_min, delta_0, delta_max : float, default=1e-3, 0.5, 8.0
        Smallest, first and largest radius of a step.
    eta1 : float, default=0.1
        Share of the predicted decrease that a step must keep on the validation sample.
    eta2 : float, default=1e-3
        A direction shorter than eta2 times the radius fails.
    gamma : float, default=2.0
        Factor of the radius after success and failure.
    n : int, default=8
        The shortest step of the bracket search is the radius divided by n.
    c1, c2 : float, default=0.25, 0.4
        Decrease and flatness that the bracket search requires.
    s0, growth : int, default=50
        Size of the first sample, and examples that join in each iteration.
    sample_cap : int, default=2000
        The sample grows no further. Memory is at most 3 sample_cap^2 numbers of 8 bytes and 100 MB, whatever n.

    References
    ----------
    Zhang and Sen, "The Stochastic Conjugate Subgradient Algorithm for Kernel Support Vector Machines".
    """

    cdef readonly long long n_iter, n_accepted
    cdef readonly bint converged
    cdef readonly double radius
    cdef readonly object sample              # ids, in the order they came
    cdef object source, held_out
    cdef object watched                      # ids whose responses are kept even if they are not in the sample
    cdef SampleMatrix matrix
    cdef HingeLine line
    cdef ValidationLoss validation
    cdef Py_ssize_t size, held, cap, growth
    cdef bint fit_intercept, rkhs, exact, started, growing, watching_all
    cdef double alpha, share, eps, delta_min, delta_max, eta1, eta2, gamma, n, c1, c2
    cdef double length, steepest             # of the direction, and of the subgradient it was made from
    cdef double[::1] y, weights                                  # of the sample
    cdef double[::1] coef, direction, part, active, applied, g   # one entry per example of the sample
    cdef double[::1] u, v, z, h, hh                              # responses at [watched | sample]

    losses = ("hinge",)
    granularity = 1
    first_check = 20

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", random_state=None,
                 initial=None, geometry="rkhs", line_search="exact", validation="redraw", eps=None, delta_min=1e-3,
                 delta_0=0.5, delta_max=8.0, eta1=0.1, eta2=1e-3, gamma=2.0, n=8, c1=0.25, c2=0.4, s0=50, growth=50,
                 sample_cap=2000):
        margin_loss(loss, offered=self.losses)
        check_scs(geometry=geometry, line_search=line_search, validation=validation, eps=eps, delta_min=delta_min,
                  delta_0=delta_0, delta_max=delta_max, eta1=eta1, eta2=eta2, gamma=gamma, n=n, c1=c1, c2=c2, s0=s0,
                  growth=growth, sample_cap=sample_cap)
        self.source = as_source(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept,
                                random_state=random_state)
        self.alpha, self.fit_intercept, self.share = alpha, fit_intercept, self.source.share
        self.rkhs, self.exact = geometry == "rkhs", line_search == "exact"
        self.delta_min, self.delta_max = delta_min, delta_max
        self.eta1, self.eta2, self.gamma, self.n, self.c1, self.c2 = eta1, eta2, gamma, n, c1, c2
        self.growth, self.radius, self.length = growth, delta_0, INFINITY
        self.cap = min(sample_cap, self.source.size)
        self.eps = (0.0 if self._is_small() else EPS) if eps is None else eps
        self.held_out = np.empty(0, dtype=np.intp)
        state = None
        if initial is not None:
            keys = ["sample", "held_out", "sample_coef", "direction", "part", "radius"]
            state = require_state(initial, self.source.size, keys)
        if state is not None:
            self.held_out = self.source.take(state["held_out"].astype(np.intp))
        elif validation == "holdout" and initial is None:
            self.held_out = self.source.hold_out(HELD_OUT, self.cap)
        self._reserve()
        if initial is None:
            self._append(self.source.fresh(s0, both_classes=True))
        else:
            self._start_from(initial, state)

    def _reserve(self):
        rows = None if len(self.held_out) else self.source.drawable()
        self.watching_all = rows is not None and watches_all(len(rows), self.cap, self.source.dtype.itemsize)
        self.watched = rows if self.watching_all else self.held_out
        self.held = len(self.watched)
        self.matrix = SampleMatrix(self.cap, self.held, self.source.dtype)
        self.sample = np.empty(0, dtype=np.intp)
        self.validation = ValidationLoss(self.source)
        self.validation.place(self.watched, 0)
        self.coef, self.direction, self.part = np.zeros(self.cap), np.zeros(self.cap), np.zeros(self.cap)
        self.active, self.applied, self.g = np.zeros(self.cap), np.zeros(self.cap), np.zeros(self.cap)
        columns = self.held + self.cap
        self.u, self.v, self.z = np.zeros(columns), np.zeros(columns), np.zeros(columns)
        self.h, self.hh = np.zeros(columns), np.zeros(columns)

    @property
    def n_kernel_evaluations(self):
        return self.source.n_evaluations

    @property
    def n_inner_products(self):
        return self.source.n_evaluations

    def advance(self, n_iter):
        """Do `n_iter` iterations, or fewer if the stopping rule holds; return how many were done."""
        for done in range(n_iter):
            if self.converged:
                return done
            self._iterate()
        return n_iter

    cdef int _iterate(self) except -1:
        cdef:
            double t, predicted, actual, at_zero, at_t
            bint accepted
        self._turn()
        t = self._search()
        if self.growing:
            if self.size < self.cap:
                self._append(self.source.fresh(min(self.growth, self.cap - self.size)))
                self._aim()
            else:
                self.growing = False
        self.line.look(0.0)
        predicted, at_zero = -self.line.value, self.line.intercept
        self.line.look(t)
        predicted, at_t = predicted + self.line.value, self.line.intercept
        accepted = predicted < 0.0 and self.length > self.eta2 * self.radius
        ids = self.held_out if len(self.held_out) else self.source.validation(self.size)
        if accepted:  # otherwise whatever the validation sample says
            actual = self.alpha * t * (self.line.q1 + 0.5 * t * self.line.q2) + self._judge(ids, t, at_zero, at_t)
            accepted = actual <= self.eta1 * predicted
        if accepted:
            mix(1.0, &self.coef[0], t, &self.direction[0], self.size)
            mix(1.0, &self.u[0], t, &self.v[0], self.held + self.size)
            self.radius = min(self.gamma * self.radius, self.delta_max)
            self.n_accepted += 1
        else:
            self.radius = max(self.radius / self.gamma, self.delta_min)
        self.n_iter += 1
        if self.eps > 0.0:
            self.converged = self.length <= self.eps and self.radius <= self.delta_min
        elif self.length <= NO_DIRECTION * self.steepest:
            self.started = False  # no descent in the hull, but the gap is the rule: restart from the subgradient
        if self.n_iter % RECOMPUTED_EVERY == 0:
            self._recompute()
        return 0

    cdef int _turn(self) except -1:
        """Turn the direction towards minus the subgradient."""
        cdef:
            Py_ssize_t i, s = self.size, columns = self.held + s
            double scale = self.share / s, mu = 0.0, gg, dd, gd
            double *h = &self.h[0]
            double *hs = h + self.held
            double *vs = &self.v[self.held]
            double *g = &self.g[0]
            double *d = &self.direction[0]
        self._aim()
        self.line.active_part(&self.active[0])
        for i in range(s):  # the change of y w a, and its rows, for z = Q(y w a)
            g[i] = self.y[i] * self.weights[i] * (self.active[i] - self.applied[i])
            self.applied[i] = self.active[i]
        self.matrix.combine(g, s, &self.z[0])
        for i in range(columns):
            h[i] = self.alpha * self.u[i] - scale * self.z[i]
        if self.rkhs:
            for i in range(s):
                g[i] = self.alpha * self.coef[i] - scale * self.y[i] * self.weights[i] * self.active[i]
            gg, gd, dd = dot(g, hs, s), dot(g, vs, s), dot(d, vs, s)
        else:
            for i in range(s):
                g[i] = hs[i]
            h = &self.hh[0]
            memset(h, 0, columns * sizeof(double))
            self.matrix.combine_all(g, h)
            gg, gd, dd = dot(g, g, s), dot(g, d, s), dot(d, d, s)
        if self.started:
            mu = smallest_norm(dd, gg, -gd)
        self.started = True
        mix(mu, d, mu - 1.0, g, s)
        mix(mu, &self.v[0], mu - 1.0, h, columns)
        mix(mu, &self.part[0], 1.0 - mu, &self.active[0], s)
        self.length = sqrt(max(dot(d, vs, s) if self.rkhs else dot(d, d, s), 0.0))
        self.steepest = sqrt(max(gg, 0.0))
        self._aim()
        return 0

    cdef void _aim(self) noexcept:
        cdef:
            const double *u = &self.u[self.held]
            const double *v = &self.v[self.held]
            const double *d = &self.direction[0]
        self.line.aim(u, v, dot(&self.coef[0], u, self.size), dot(d, u, self.size), dot(d, v, self.size))

    cdef double _search(self) except? -1.0:
        if not self.length > 0.0:
            return 0.0
        if self.exact:
            return self.line.exact(self.radius / self.length)
        return self.line.bracket(self.length, self.radius, self.n, self.c1, self.c2)

    cdef double _judge(self, const Py_ssize_t[::1] ids, double t, double at_zero, double at_t) except? -1.0:
        """The change of the mean loss over a validation sample."""
        cdef Py_ssize_t n_columns = self.held + self.size
        unknown = self.validation.list_unknown(ids, n_columns)
        try:
            found = self._responses_of(unknown) if len(unknown) else None
            return self.share * self.validation.change(ids, self.u, self.v, n_columns, found, t, at_zero, at_t)
        finally:
            self.validation.forget(unknown)

    def _responses_of(self, ids):
        """Return f and the direction at ids, shape (n, 2), by their kernel values."""
        pair = np.column_stack([np.asarray(self.coef)[: self.size], np.asarray(self.direction)[: self.size]])
        used = pair.any(axis=1)
        if used.all():
            return products(self.source, ids, self.sample, pair)
        return products(self.source, ids, self.sample[used], pair[used])

    def _append(self, ids):
        """Add fresh examples to the sample; their coefficients are zero, so no function changes."""
        cdef Py_ssize_t old = self.size, k = len(ids), j, column
        cdef double[::1] signed
        self.growing = self.growth > 0 and k > 0
        if k == 0:
            return
        joined = np.concatenate([self.sample, ids])
        if self.watching_all:
            block = self.source.block(ids, self.watched)
            self.matrix.append(np.hstack([block, block[:, self.validation.columns_of(joined)]]))
        else:
            self.matrix.append(self.source.block(ids, np.concatenate([self.watched, joined])))
            self.validation.place(ids, self.held + old)
        self.sample = joined
        self.size = old + k
        self.y, self.weights = self.source.y[self.sample], self.source.weights[self.sample]
        self.line = HingeLine(self.y, self.weights, self.alpha, self.share, self.fit_intercept)
        signed = np.asarray(self.y) * np.asarray(self.weights) * np.asarray(self.applied)[: self.size]
        for j in range(old, self.size):
            column = self.held + j
            self.u[column] = self.matrix.dot_row(j, self.held, &self.coef[0], old)
            self.v[column] = self.matrix.dot_row(j, self.held, &self.direction[0], old)
            self.z[column] = self.matrix.dot_row(j, self.held, &signed[0], old)
        if self.watching_all and self.held and self.source.complete(self.sample):
            self._drop_watched()

    def _drop_watched(self):
        """Stop watching rows once all are in the sample: their responses need not be kept twice."""
        self.matrix.drop_held()
        self.u, self.v, self.z = self.u[self.held :], self.v[self.held :], self.z[self.held :]
        self.held, self.watched = 0, self.held_out
        self.validation.place(self.sample, 0)

    def _recompute(self):
        """Recompute the responses."""
        cdef double[::1] signed = np.asarray(self.y) * np.asarray(self.weights) * np.asarray(self.applied)[: self.size]
        self.u[:], self.v[:], self.z[:] = 0.0, 0.0, 0.0
        self.matrix.combine(&self.coef[0], self.size, &self.u[0])
        self.matrix.combine(&self.direction[0], self.size, &self.v[0])
        self.matrix.combine(&signed[0], self.size, &self.z[0])

    # --- what it found -----------------------------------------------------------------------------------------------

    def _sample_coef(self):
        return np.array(self.coef)[: self.size]

    def sample_objective(self):
        """The objective with the loss averaged over the sample."""
        self._aim()
        self.line.look(0.0)
        return self.line.value

    def sample_gap(self):
        """`sample_objective` minus a lower bound on its optimum."""
        y, weights = np.asarray(self.y), np.asarray(self.weights) * self.share
        return certified_gap(self.matrix.matvec, y, weights, self.alpha, self.fit_intercept, self.sample_objective(),
                             [self._sample_coef(), self._averaged()])

    def _averaged(self):
        """The coefficients of the averaged subgradient."""
        part = np.array(self.part)[: self.size]
        return np.asarray(self.y) * np.asarray(self.weights) * part * self.share / (self.alpha * self.size)

    def objective(self):
        """The objective over all rows, if there are no more than `sample_cap`; else `sample_objective`.

        The latter is too low for all rows, since f was fitted to the sample: see `whole_objective`.
        """
        return self._whole()[0] if self._is_small() else self.sample_objective()

    @property
    def is_sampled(self):
        """Whether `objective` is that of a sample only: there are more rows than `sample_cap`."""
        return not self._is_small()

    def whole_objective(self):
        """Return the objective over all rows as an `Estimate`.

        Exact for few rows and where the responses of all are kept; else estimated from as many rows outside the sample
        as it holds, at the cost of one validation sample.
        """
        if self._is_small():
            return Estimate(self.objective(), 0.0)
        self.sample_objective()  # sets the intercept
        u, known = np.asarray(self.u), self.watching_all and self.held > 0
        outside = self.source.outside(self.sample, None if known else self.cap)
        responses = u[self.validation.columns_of(outside)] if known else self._responses_of(outside)[:, 0]
        inside = self.responses()
        return estimate_objective(self.source, self.sample, outside, intercept=self.line.intercept,
                                  penalty=0.5 * self.alpha * float(self._sample_coef() @ inside),
                                  inside_responses=inside, outside_responses=responses)

    def gap(self):
        """`objective` minus a lower bound on the optimum over all rows; None for more than `sample_cap` rows."""
        return self._whole()[1] if self._is_small() else None

    def check(self, tol):
        """Set `converged` to whether the certified gap is at most `tol` times the objective, and return it.

        For more rows than `sample_cap` the certificate is that of the sample, once it has stopped growing.
        """
        if self._is_small():
            objective, gap = self._whole()
        elif self.growing:
            return self.converged
        else:
            objective, gap = self.sample_objective(), self.sample_gap()
        self.converged = gap <= tol * max(objective, np.finfo(float).tiny)
        return self.converged

    def solution(self):
        """Coefficients by id, the best intercept for the sample, and the state of the run."""
        self.sample_objective()  # sets the intercept
        state = {
            "sample": self.sample.astype(np.float64),
            "held_out": self.held_out.astype(np.float64),
            "sample_coef": self._sample_coef(),
            "direction": np.array(self.direction)[: self.size] if self.started else np.empty(0),
            "part": np.array(self.part)[: self.size],
            "radius": np.array([self.radius]),
        }
        coef = scattered(self.source.size, self.sample, self._sample_coef())
        return Solution(coef, self.line.intercept, self.n_iter, state)

    def responses(self):
        """Return f at the sample, kept by recurrences."""
        return np.array(self.u)[self.held : self.held + self.size]

    def _is_small(self):
        return self.source.size <= self.cap

    def _whole(self):
        """Objective and gap over all rows."""
        if self.source.complete(self.sample):
            return self.sample_objective(), self.sample_gap()
        problem = self.source.problem
        coef = scattered(problem.n, self.sample, self._sample_coef())
        responses = problem.rows.matvec(coef)
        objective = problem.objective(responses, coef @ responses, problem.best_intercept(responses))
        coefs = [coef, scattered(problem.n, self.sample, self._averaged())]
        gap = certified_gap(problem.rows.matvec, problem.y, problem.weights, self.alpha, self.fit_intercept, objective,
                            coefs)
        return objective, gap

    def _start_from(self, initial, state):
        self.n_iter = initial.n_iter
        if state is None:
            used = np.arange(self.source.size) if self._is_small() else largest(initial.coef, self.cap)
            self._append(self.source.take(used))
            np.asarray(self.coef)[: self.size] = initial.coef[self.sample]
        else:
            self._append(self.source.take(state["sample"].astype(np.intp)))
            np.asarray(self.coef)[: self.size] = state["sample_coef"]
            np.asarray(self.part)[: self.size] = state["part"]
            self.started = len(state["direction"]) > 0
            if self.started:
                np.asarray(self.direction)[: self.size] = state["direction"]
            self.radius = state["radius"].item()
        self._recompute()
