"""Truncated Newton for the ROC-SVM with a smooth loss (Chapelle and Keerthi 2010; Lee and Lin 2014).

An iteration costs two products with the data per conjugate gradient step, which sorts nothing, and two evaluations of
the risk or so.
"""

from libc.math cimport fabs, sqrt

from kernbench.solvers.design._design cimport Design
from kernbench.solvers.bundle._preconditioner cimport Preconditioner, preconditioner_for
from kernbench.solvers.bundle._risk cimport answer_signals, refuse_nan
from kernbench.solvers.ranking._problem cimport PairwiseProblem

import numpy as np

from kernbench.problems.margin_problem import require_number, require_state
from kernbench.losses.pairwise import SQUARED_HINGE
from kernbench.solvers.base import Solution
from kernbench.problems.draws import seed_of

cdef enum:
    SAMPLE = 4096          # samples of the first fit
    COARSE_STEPS = 12
    LARGEST_CG = 250       # Hessian products per step
cdef double COARSE_TOL = 0.03
cdef double SUFFICIENT = 1e-4      # share of the predicted decrease that a step must bring
cdef double SMALLEST = 1e-10       # length of a step below which rounding rules


cdef class Newton:
    """Newton's method for alpha/2 ||f||^2 + the mean over pairs of max(0, 1 - (f(x_i) - f(x_j)))^2.

    The Newton equation is solved by conjugate gradients in the Hilbert space of the design, preconditioned, for
    few features, with the Hessian in which the two members of a pair are taken as independent.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
        Made by `as_design`.
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n_samples,), optional
        The pair (i, j) weighs w_i w_j. All equal by default.
    loss : {"squared_hinge", "log_loss"}, default="squared_hinge"
    n_pairs : int, optional
        Draw so many pairs once and minimise over these; by default over all pairs.
    balanced : bool, default=False
        Draw the pairs so that each sample of a class comes up equally often.
    tol : float, default=1e-3
        Converged when the gap is at most `tol` times the objective.
    random_state : None, int, RandomState or Generator
        For the pairs, and for the sample of the first fit.
    initial : Solution, optional
        Coefficients to start from.

    Attributes
    ----------
    n_products : int
        Hessian products so far.
    n_passes : int
        Products with the data, or with the kernel matrix, so far.

    References
    ----------
    Chapelle and Keerthi, Inf. Retrieval 13 (2010); Lee and Lin, Neural Computation 26 (2014); with kernels Kuo, Lee and
    Lin, SDM 2014.
    """

    cdef readonly long long n_iter, n_products
    cdef readonly bint converged
    cdef public double tol
    cdef readonly PairwiseProblem problem
    cdef Design design
    cdef Preconditioner preconditioner
    cdef object sample
    cdef long long seed
    cdef double alpha, value, bound
    cdef bint warm, stuck
    cdef bint begun        # value and gradient are those at the point, and so are Hessian products of the pairs
    cdef Py_ssize_t n_steps
    # the point, its scores, the slopes there and the gradient as an element of H with, for a kernel, its scores
    cdef double[::1] coef, scores, g, gradient, gradient_scores
    # a trial point, or what conjugate gradients need: an element of H is followed by its scores
    cdef double[::1] next_coef, next_scores, step, moved, residual, z, z_scores, p, p_scores, product, curved

    losses = ("squared_hinge", "log_loss")
    granularity = 1
    first_check = None

    def __init__(self, design, y, *, alpha, weights=None, loss=SQUARED_HINGE, n_pairs=None, balanced=False, tol=1e-3,
                 random_state=None, initial=None):
        self.tol = require_number("tol", tol, positive=True)
        self.seed = seed_of(random_state, initial)
        rng = np.random.default_rng(self.seed)
        problem = PairwiseProblem(design, y, alpha=alpha, weights=weights, loss=loss, n_pairs=n_pairs,
                                  balanced=balanced, rng=rng, offered=self.losses)
        self._set_up(problem, rng)
        if initial is not None:
            self._start_from(initial)

    def _set_up(self, PairwiseProblem problem, rng):
        self.problem, self.design, self.alpha = problem, problem.design, problem.alpha
        d, n = problem.design.n_coef, problem.n
        self.sample = problem.sample(rng, SAMPLE)
        self.preconditioner = preconditioner_for(self.design, problem.mask, self.alpha, rng)
        self.coef, self.scores, self.g = np.zeros(d), np.zeros(n), np.empty(n)
        self.gradient = np.empty(d)
        self.gradient_scores = np.empty(n if self.design.is_kernel else 1)
        self.next_coef, self.step, self.product = np.empty(d), np.empty(d), np.empty(d)
        self.residual, self.z, self.p = np.empty(d), np.empty(d), np.empty(d)
        self.next_scores, self.moved, self.curved = np.empty(n), np.empty(n), np.empty(n)
        self.z_scores, self.p_scores = np.empty(n), np.empty(n)
        self.value, self.bound = 0.0, 0.0

    @property
    def n_kernel_evaluations(self):
        return self.design.n_kernel_evaluations

    @property
    def n_passes(self):
        return self.design.n_passes

    # --- the iteration -----------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take up to `n_iter` steps; return how many, fewer once the gap is closed or nothing moves any more."""
        done = 0
        while done < n_iter and not self.converged and not self.stuck:
            if not self.begun:
                self._begin()
            if not self.converged:
                with nogil:
                    self._iterate()
            self.n_iter += 1
            done += 1
        return done

    def _begin(self):
        """Start from what was given, else from the solution for a sample, else from 0."""
        cdef Newton coarse
        if not self.warm and self.problem.n > 4 * len(self.sample):
            coarse = Newton.__new__(Newton)
            coarse.tol = COARSE_TOL
            part = self.problem.take(self.sample, self.design.take(self.sample))
            coarse._set_up(part, np.random.default_rng(self.seed))
            coarse.advance(COARSE_STEPS)
            self.coef = np.array(self.design.embed(np.asarray(coarse.coef), self.sample))
        self.warm = True
        if np.any(self.coef):
            self.design.score(&self.coef[0], &self.scores[0])
        with nogil:
            self.value = self._value_at(&self.coef[0], &self.scores[0])
            self._differentiate()
        # f = 0 orders nothing: however close its objective is (it is, for large alpha), one step from it is taken.
        self.converged = self.converged and (np.any(self.coef) or self.gap() == 0)
        self.begun = True

    cdef double _value_at(self, const double *coef, const double *scores) except? -1 nogil:
        """The objective at an element with these scores; `g` becomes its slopes, and the pairs remember the scores."""
        cdef double risk = self.problem.risk(scores, &self.g[0])
        refuse_nan(risk)
        return 0.5 * self.alpha * self.design.inner(coef, coef, scores) + risk

    cdef int _differentiate(self) except -1 nogil:
        """The gradient, an element of H, its scores where H is that of a kernel, and the bound that follows."""
        cdef Py_ssize_t k
        self.design.gather_up(&self.g[0], &self.gradient[0])
        for k in range(self.gradient.shape[0]):
            self.gradient[k] += self.alpha * self.coef[k]
        if self.design.is_kernel:
            self.design.score(&self.gradient[0], &self.gradient_scores[0])
        self.bound = max(self.bound, self.value - self._norm_of_gradient() / (2.0 * self.alpha))
        self.converged = self.value - self.bound <= self.tol * self.value
        return 0

    cdef double _norm_of_gradient(self) noexcept nogil:
        return self.design.inner(&self.gradient[0], &self.gradient[0], &self.gradient_scores[0])

    cdef int _iterate(self) except -1 nogil:
        cdef double slope, t = 1.0, value
        if self.preconditioner is not None and self.n_steps in (0, 1, 2, 4, 8, 16, 32):
            self._fit_preconditioner()
        self.n_steps += 1
        self._newton_step()
        slope = self.design.inner(&self.gradient[0], &self.step[0], &self.moved[0])
        self.begun = False      # until the step is whole: Ctrl-C may come between
        value = self._try(t)
        while value > self.value + SUFFICIENT * t * slope and t > SMALLEST:
            t *= 0.5
            value = self._try(t)
        if value >= self.value:
            self.stuck = self.begun = True      # what is left is rounding
            return 0
        self.value = value
        self.coef, self.next_coef = self.next_coef, self.coef
        self.scores, self.next_scores = self.next_scores, self.scores
        self._differentiate()
        self.begun = True
        return 0

    cdef double _try(self, double t) except? -1 nogil:
        """The objective a step of length t away."""
        cdef Py_ssize_t k
        answer_signals()
        for k in range(self.coef.shape[0]):
            self.next_coef[k] = self.coef[k] + t * self.step[k]
        for k in range(self.scores.shape[0]):
            self.next_scores[k] = self.scores[k] + t * self.moved[k]
        return self._value_at(&self.next_coef[0], &self.next_scores[0])

    cdef int _fit_preconditioner(self) except -1 nogil:
        """Weigh each sample by its pairs at the scores ranked last: by |Hessian times the indicator of a class|."""
        cdef Py_ssize_t i, n = self.problem.n
        for i in range(n):
            self.moved[i] = self.problem.mask[i]
        self.problem.pairs.hessian_product(&self.moved[0], &self.curved[0])
        for i in range(n):
            self.curved[i] = fabs(self.curved[i])
        return self.preconditioner.fit(&self.curved[0])

    cdef int _newton_step(self) except -1 nogil:
        """Solve (Hessian) step = -gradient by preconditioned conjugate gradients; `moved` becomes the step's scores."""
        cdef:
            Py_ssize_t k, turn, d = self.design.n_coef, n = self.problem.n
            double rz, last, goal, length, share
        for k in range(d):
            self.step[k] = 0.0
            self.residual[k] = -self.gradient[k]
        for k in range(n):
            self.moved[k] = 0.0
        self._precondition()
        self.p[:], self.p_scores[:] = self.z, self.z_scores
        rz = self.design.inner(&self.residual[0], &self.z[0], &self.z_scores[0])
        # Loose far from the optimum, tighter towards it: the convergence of the steps is faster than linear.
        goal = rz * min(0.1, sqrt(max(0.0, self.value - self.bound) / self.value)) ** 2
        for turn in range(LARGEST_CG):
            answer_signals()
            self.problem.pairs.hessian_product(&self.p_scores[0], &self.curved[0])
            self.design.gather_up(&self.curved[0], &self.product[0])
            for k in range(d):
                self.product[k] += self.alpha * self.p[k]
            self.n_products += 1
            length = rz / self.design.inner(&self.product[0], &self.p[0], &self.p_scores[0])
            for k in range(d):
                self.step[k] += length * self.p[k]
                self.residual[k] -= length * self.product[k]
            for k in range(n):
                self.moved[k] += length * self.p_scores[k]
            self._precondition()
            last, rz = rz, self.design.inner(&self.residual[0], &self.z[0], &self.z_scores[0])
            if rz <= goal:
                break
            share = rz / last
            for k in range(d):
                self.p[k] = self.z[k] + share * self.p[k]
            for k in range(n):
                self.p_scores[k] = self.z_scores[k] + share * self.p_scores[k]
        return 0

    cdef int _precondition(self) except -1 nogil:
        """z: the preconditioned residual; and its scores."""
        self.z[:] = self.residual
        if self.preconditioner is not None:
            self.preconditioner.solve(&self.z[0])
        return self.design.score(&self.z[0], &self.z_scores[0])

    # --- what it found -----------------------------------------------------------------------------------------------

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it."""
        self.converged = self.gap() <= tol * self.objective()
        return self.converged

    def objective(self):
        """Return the objective as of now."""
        if self.begun:
            return self.value
        if not np.any(self.coef):
            return self.problem.at_zero
        cdef double[::1] scores = self.design.scores(self.coef)
        return self._value_at(&self.coef[0], &scores[0])

    def gap(self):
        """Return the objective minus a lower bound: by strong convexity it is at most |gradient|^2 / (2 alpha)."""
        return max(0.0, self.objective() - self.bound)

    def solution(self):
        """Return the point as of now."""
        state = {"seed": np.array([self.seed]), "settings": self.problem.settings(),
                 "signature": self.problem.signature(self.scores),
                 "hessian": np.empty((0, 0)) if self.preconditioner is None else self.preconditioner.state(),
                 "progress": np.array([self.bound, self.n_steps], dtype=np.float64)}
        return Solution(np.array(self.coef), 0.0, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(initial, self.design.n_coef, ["settings", "signature", "hessian", "progress"])
        self.coef = np.array(initial.coef, dtype=np.float64)
        self.warm, self.n_iter = True, initial.n_iter
        if state is None or not self.problem.same_risk(state["settings"]):
            return
        if not self.problem.same_data(state["signature"], self.design.scores(self.coef)):
            return
        if self.preconditioner is not None:
            self.preconditioner.load(state["hessian"])
        if state["settings"][0] == self.alpha:
            self.bound, self.n_steps = state["progress"][0], int(state["progress"][1])
        elif self.preconditioner is not None and self.preconditioner.fitted:
            self.n_steps = 3        # the Hessian does not depend on alpha: it serves a step for the next one, too
