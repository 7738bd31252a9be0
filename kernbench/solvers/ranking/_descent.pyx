"""Steps along subgradients of the objective of pairs: the core of `descent`."""

from libc.math cimport fabs, isfinite

from kernbench.solvers.bundle._risk cimport answer_signals, refuse_nan
from kernbench.solvers.ranking._problem cimport PairwiseRisk as Problem

import numpy as np

from kernbench.solvers.ranking._problem import PairwiseRisk

__all__ = ["PairwiseRisk", "adamax_steps", "gradient_steps", "objective_at"]  # what the method takes from its core

cdef double ROUNDING = 2.0 ** -52      # relative error of each term of a sum


def gradient_steps(Problem problem, Py_ssize_t n_iter, double rate, double[::1] x, double[::1] scores,
                   double[::1] mean, double[::1] best_coef, double[::1] history, double[::1] progress,
                   long long[::1] counts):
    """Do `n_iter` steps of gradient descent; return how many were done, fewer where the risk is not finite."""
    cdef Py_ssize_t done = 0, k
    cdef double[::1] g, element, slopes
    g, element, slopes = _scratch(problem)
    with nogil:
        while done < n_iter and _evaluate(problem, x, scores, g, element, slopes, best_coef, history,
                                          progress, counts):
            for k in range(x.shape[0]):
                x[k] -= rate * element[k]
            if problem.design.is_kernel:        # the slopes are the scores of the step
                for k in range(x.shape[0]):
                    scores[k] -= rate * slopes[k]
            else:
                problem.design.score(&x[0], &scores[0])
            _add_to_mean(x, mean, counts)
            done += 1
    return done


def adamax_steps(Problem problem, Py_ssize_t n_iter, double rate, double beta_1, double beta_2, double[::1] x,
                 double[::1] scores, double[::1] mean, double[::1] best_coef, double[::1] history,
                 double[::1] progress, long long[::1] counts, double[::1] momentum, double[::1] largest):
    """Do `n_iter` steps of Adamax; return how many were done, fewer where the risk is not finite."""
    cdef Py_ssize_t done = 0, k
    cdef double step
    cdef double[::1] g, element, slopes
    g, element, slopes = _scratch(problem)
    with nogil:
        while done < n_iter and _evaluate(problem, x, scores, g, element, slopes, best_coef, history,
                                          progress, counts):
            step = rate / (1.0 - beta_1 ** <double> counts[0])
            for k in range(x.shape[0]):
                momentum[k] = beta_1 * momentum[k] + (1.0 - beta_1) * slopes[k]
                largest[k] = max(beta_2 * largest[k], fabs(slopes[k]))
                if largest[k] > 0.0:
                    x[k] -= step * (momentum[k] / largest[k])
            problem.design.score(&x[0], &scores[0])
            _add_to_mean(x, mean, counts)
            done += 1
    return done


def objective_at(Problem problem, const double[::1] coef, const double[::1] scores):
    """Return the objective of coefficients with these scores."""
    cdef double risk = problem.risk(&scores[0], NULL)
    refuse_nan(risk)
    return 0.5 * problem.alpha * problem.design.inner(&coef[0], &coef[0], &scores[0]) + risk


cdef bint _evaluate(Problem problem, const double[::1] x, double[::1] scores, double[::1] g, double[::1] element,
                    double[::1] slopes, double[::1] best_coef, double[::1] history, double[::1] progress,
                    long long[::1] counts) except -1 nogil:
    """Compare the iterate with the best one and compute the subgradient: in the scores (`g`), as an `element` of H, in
    the coefficients (`slopes`). Return False if the risk is not finite."""
    cdef:
        Py_ssize_t k, d = problem.design.n_coef
        double risk, value, drop
    answer_signals()
    risk = problem.risk(&scores[0], &g[0])
    if not isfinite(risk):
        return False
    value = 0.5 * problem.alpha * problem.design.inner(&x[0], &x[0], &scores[0]) + risk
    if value < progress[0]:
        progress[0] = value
        best_coef[:] = x
    problem.design.gather_up(&g[0], &element[0])
    for k in range(d):
        element[k] += problem.alpha * x[k]
    if problem.design.is_kernel:
        problem.design.score(&element[0], &slopes[0])
    # The objective is alpha-strongly convex, which gives this lower bound, minus what rounding may add. While the
    # iterates are far away, it is a difference of two large numbers and useless.
    drop = problem.design.inner(&element[0], &element[0], &slopes[0]) / (2.0 * problem.alpha)
    if value <= 2.0 * problem.at_zero:
        progress[1] = max(progress[1], value - drop - ROUNDING * (problem.n + d) * (value + drop))
    counts[0] += 1
    history[counts[0] % history.shape[0]] = progress[0]
    counts[1] = 1
    return True


cdef _scratch(Problem problem):
    """Return arrays for the subgradient; where there are features, `element` and `slopes` are the same."""
    element = np.empty(problem.design.n_coef)
    return np.empty(problem.n), element, np.empty_like(element) if problem.design.is_kernel else element


cdef void _add_to_mean(const double[::1] x, double[::1] mean, long long[::1] counts) noexcept nogil:
    """End a step: the average covers the iterates since the last power of two, the tail of a run of any length."""
    cdef Py_ssize_t k
    cdef long long power = 1
    cdef double share
    counts[1] = 0
    while 2 * power <= counts[0]:
        power *= 2
    share = 1.0 / (counts[0] - power + 1)
    for k in range(x.shape[0]):
        mean[k] += share * (x[k] - mean[k])
