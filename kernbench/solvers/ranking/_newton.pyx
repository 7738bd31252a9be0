"""Steps of truncated Newton on the objective of pairs: the core of `newton`."""

from libc.math cimport fabs

from kernbench.solvers.bundle._preconditioner cimport Preconditioner, preconditioner_for
from kernbench.solvers.bundle._risk cimport answer_signals, refuse_nan
from kernbench.solvers.design._design cimport Design
from kernbench.solvers.ranking._problem cimport PairwiseRisk as Problem

import numpy as np

from kernbench.solvers.ranking._problem import PairwiseRisk

__all__ = ["PairwiseRisk", "Work", "differentiate", "step", "value_at"]  # what the method takes from its core

cdef enum:
    LARGEST_CG = 250       # Hessian products per step
cdef double SUFFICIENT = 1e-4      # share of the predicted decrease that a step must achieve
cdef double SMALLEST = 1e-10       # relative length of a step below which its effect is rounding error


cdef class Work:
    """A problem of pairs with the gradient at a point, a step from there, and the preconditioner; parameters are those of the reference."""

    cdef Problem problem
    cdef Design design
    cdef Preconditioner preconditioner
    # the slopes of the risk; the gradient as an element of H with, for a kernel, its scores
    cdef double[::1] g, gradient, gradient_scores
    # a trial point, and what conjugate gradients need: an element of H is followed by its scores
    cdef double[::1] next_coef, next_scores, step, moved, residual, z, z_scores, p, p_scores, product, curved

    def __init__(self, Problem problem, rng):
        self.problem, self.design = problem, problem.design
        d, n = problem.design.n_coef, problem.n
        self.preconditioner = preconditioner_for(self.design, problem.mask, problem.alpha, rng)
        self.g, self.gradient = np.empty(n), np.empty(d)
        self.gradient_scores = np.empty(n if self.design.is_kernel else 1)
        self.next_coef, self.step, self.product = np.empty(d), np.empty(d), np.empty(d)
        self.residual, self.z, self.p = np.empty(d), np.empty(d), np.empty(d)
        self.next_scores, self.moved, self.curved = np.empty(n), np.empty(n), np.empty(n)
        self.z_scores, self.p_scores = np.empty(n), np.empty(n)

    def hessian(self):
        """Return the Hessian of the preconditioner, empty without one."""
        return np.empty((0, 0)) if self.preconditioner is None else self.preconditioner.state()

    def load_hessian(self, hessian):
        """Restore it."""
        if self.preconditioner is not None:
            self.preconditioner.load(hessian)

    cdef double _value_at(self, const double *coef, const double *scores) except? -1 nogil:
        cdef double risk = self.problem.risk(scores, &self.g[0])
        refuse_nan(risk)
        return 0.5 * self.problem.alpha * self.design.inner(coef, coef, scores) + risk

    cdef int _precondition(self) except -1 nogil:
        """z: the preconditioned residual; and its scores."""
        self.z[:] = self.residual
        if self.preconditioner is not None:
            self.preconditioner.solve(&self.z[0])
        return self.design.score(&self.z[0], &self.z_scores[0])


def value_at(Work work, const double[::1] coef, const double[::1] scores):
    """Return the objective at an element with these scores; the pairs remember them, for the gradient and products."""
    cdef double value
    with nogil:
        value = work._value_at(&coef[0], &scores[0])
    return value


def differentiate(Work work, const double[::1] coef):
    """Compute the gradient where the objective was evaluated last, and return its squared norm."""
    cdef double norm
    with nogil:
        norm = _differentiate(work, coef)
    return norm


def step(Work work, bint refits, double share, double value, double[::1] coef, double[::1] scores):
    """Solve the Newton equation until a `share` of the residual remains, and take a step along the solution.

    The step decreases the objective enough. With `refits`, the preconditioner is fitted first.
    """
    cdef double there, norm = 0.0
    cdef Py_ssize_t n_products
    with nogil:
        if refits and work.preconditioner is not None:
            _fit_preconditioner(work)
        n_products = _solve_newton_equation(work, share)
        there = _search(work, value, coef, scores)
        if there < value:
            norm = _differentiate(work, coef)
    return there, norm, n_products


cdef double _differentiate(Work work, const double[::1] coef) except? -1 nogil:
    cdef Py_ssize_t k
    work.design.gather_up(&work.g[0], &work.gradient[0])
    for k in range(coef.shape[0]):
        work.gradient[k] += work.problem.alpha * coef[k]
    if work.design.is_kernel:
        work.design.score(&work.gradient[0], &work.gradient_scores[0])
    return work.design.inner(&work.gradient[0], &work.gradient[0], &work.gradient_scores[0])


cdef int _fit_preconditioner(Work work) except -1 nogil:
    """Weight each sample by its pairs at the scores ranked last: by |Hessian times the indicator of a class|."""
    cdef Py_ssize_t i
    for i in range(work.problem.n):
        work.moved[i] = work.problem.mask[i]
    work.problem.pairs.product(&work.moved[0], &work.curved[0])
    for i in range(work.problem.n):
        work.curved[i] = fabs(work.curved[i])
    return work.preconditioner.fit(&work.curved[0])


cdef Py_ssize_t _solve_newton_equation(Work work, double share) except -1 nogil:
    """Solve (Hessian) step = -gradient by preconditioned conjugate gradients; return the number of Hessian products."""
    cdef:
        Py_ssize_t k, _turn, done = 0, d = work.design.n_coef, n = work.problem.n
        double rz, last, goal, curvature, length, ratio
    for k in range(d):
        work.step[k] = 0.0
        work.residual[k] = -work.gradient[k]
    for k in range(n):
        work.moved[k] = 0.0
    work._precondition()
    work.p[:] = work.z
    work.p_scores[:] = work.z_scores
    rz = work.design.inner(&work.residual[0], &work.z[0], &work.z_scores[0])
    goal = rz * (share * share)
    for _turn in range(LARGEST_CG):
        answer_signals()
        work.problem.pairs.product(&work.p_scores[0], &work.curved[0])
        work.design.gather_up(&work.curved[0], &work.product[0])
        for k in range(d):
            work.product[k] += work.problem.alpha * work.p[k]
        done += 1
        curvature = work.design.inner(&work.product[0], &work.p[0], &work.p_scores[0])
        if not (rz > 0.0 and curvature > 0.0):
            break              # only rounding errors are left
        length = rz / curvature
        for k in range(d):
            work.step[k] += length * work.p[k]
            work.residual[k] -= length * work.product[k]
        for k in range(n):
            work.moved[k] += length * work.p_scores[k]
        work._precondition()
        last, rz = rz, work.design.inner(&work.residual[0], &work.z[0], &work.z_scores[0])
        if rz <= goal:
            break
        ratio = rz / last
        for k in range(d):
            work.p[k] = work.z[k] + ratio * work.p[k]
        for k in range(n):
            work.p_scores[k] = work.z_scores[k] + ratio * work.p_scores[k]
    return done


cdef double _search(Work work, double value, double[::1] coef, double[::1] scores) except? -1 nogil:
    """Halve the step until the objective falls enough; move there if it is below `value`, and return it."""
    cdef:
        Py_ssize_t k
        double t = 1.0, there, slope = work.design.inner(&work.gradient[0], &work.step[0], &work.moved[0])
    while True:
        answer_signals()
        for k in range(coef.shape[0]):
            work.next_coef[k] = coef[k] + t * work.step[k]
        for k in range(scores.shape[0]):
            work.next_scores[k] = scores[k] + t * work.moved[k]
        there = work._value_at(&work.next_coef[0], &work.next_scores[0])
        if not (there > value + SUFFICIENT * t * slope and t > SMALLEST):
            break
        t *= 0.5
    if there < value:
        coef[:] = work.next_coef
        scores[:] = work.next_scores
    return there
