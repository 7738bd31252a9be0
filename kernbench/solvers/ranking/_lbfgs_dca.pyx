"""Values, gradients and steps of exact DCA: the core of `lbfgs_dca`."""

from libc.math cimport INFINITY

from kernbench.solvers.bundle._preconditioner cimport Preconditioner
from kernbench.solvers.bundle._risk cimport answer_signals, refuse_nan
from kernbench.solvers.design._design cimport dot
from kernbench.solvers.ranking._ranked_risk cimport RankedRisk as Risk

from kernbench.solvers.bundle import _cutting_planes as cutting_planes, _limited_memory as limited_memory
from kernbench.solvers.ranking._ranked_risk import RankedRisk

__all__ = [  # what the method takes from its core
    "RankedRisk", "cutting_planes", "differentiate", "limited_memory", "line_search", "linearise", "newton_direction",
    "value_along", "value_at",
]

cdef enum:
    EVALUATIONS = 40           # of a line search
cdef double SUFFICIENT = 1e-4  # share of the predicted decrease that a step must achieve
cdef double CURVATURE = 0.5    # share of the initial slope that may remain at the end of a step


def value_at(Risk problem, const double[::1] coef, const double[::1] scores, double[::1] g):
    """Return the objective at a point; put the slopes of U - L in `g`, unless it is None."""
    cdef double value
    with nogil:
        value = _value_at(problem, &coef[0], &scores[0], &g[0] if g is not None else NULL)
    return value


def value_along(Risk problem, double t, const double[::1] coef, const double[::1] scores, const double[::1] step,
                const double[::1] moved, double[::1] next_coef, double[::1] next_scores):
    """Set the next point, t times the step away, and return the objective there."""
    cdef double value
    with nogil:
        value = _value_along(problem, t, coef, scores, step, moved, next_coef, next_scores, NULL)
    return value


def differentiate(Risk problem, const double[::1] coef, const double[::1] g, double[::1] gradient,
                  double[::1] gradient_scores):
    """Set the gradient and, where there is a kernel, its scores; return its squared norm."""
    cdef Py_ssize_t k
    cdef double square
    with nogil:
        problem.design.gather_up(&g[0], &gradient[0])
        for k in range(gradient.shape[0]):
            gradient[k] += problem.alpha * coef[k]
        if problem.design.is_kernel:
            problem.design.score(&gradient[0], &gradient_scores[0])
        square = problem.design.inner(&gradient[0], &gradient[0], &gradient_scores[0])
    return square


def newton_direction(Risk convex, Preconditioner preconditioner, double[::1] g, double[::1] step, double[::1] moved):
    """Set the step to that of Newton's method from f = 0 for a convex problem, and `moved` to its scores."""
    cdef Py_ssize_t l
    with nogil:
        moved[:] = 0.0
        refuse_nan(convex.risk(&moved[0], &g[0]))
        convex.design.gather_up(&g[0], &step[0])
        if preconditioner is not None:
            convex.density(&moved[0], &g[0])
            preconditioner.fit(&g[0])
            preconditioner.solve(&step[0])
        for l in range(step.shape[0]):
            step[l] = -step[l]
        convex.design.score(&step[0], &moved[0])


def line_search(Risk problem, double value, const double[::1] gradient, const double[::1] coef,
                const double[::1] scores, const double[::1] step, double[::1] moved, double[::1] next_coef,
                double[::1] next_scores, double[::1] g):
    """Return a length of the step at which the objective has fallen enough and become flatter (weak Wolfe conditions)."""
    cdef double t = 0.0, slope
    with nogil:
        problem.design.score(&step[0], &moved[0])
        slope = problem.design.inner(&gradient[0], &step[0], &moved[0])
        if slope < 0.0:
            t = _line_search(problem, value, slope, coef, scores, step, moved, next_coef, next_scores, g)
    return t


def linearise(Risk risk, const double[::1] scores, double[::1] change):
    """Linearise the lower part at these scores; set `change` to the change of the slopes of the linear part.

    Return U - L there and the change of the constant of the linear part.
    """
    cdef Py_ssize_t i
    cdef double constant = risk.constant, value
    with nogil:
        change[:] = risk.slopes
        value = risk.linearise(&scores[0])
        for i in range(risk.n):
            change[i] -= risk.slopes[i]
    return value, risk.constant - constant


cdef double _value_at(Risk problem, const double *coef, const double *scores, double *g) except? -1 nogil:
    cdef double value = problem.window(scores, g)
    refuse_nan(value)
    return 0.5 * problem.alpha * problem.design.inner(coef, coef, scores) + value


cdef double _value_along(Risk problem, double t, const double[::1] coef, const double[::1] scores,
                         const double[::1] step, const double[::1] moved, double[::1] next_coef,
                         double[::1] next_scores, double *g) except? -1 nogil:
    cdef Py_ssize_t k
    answer_signals()
    for k in range(coef.shape[0]):
        next_coef[k] = coef[k] + t * step[k]
    for k in range(scores.shape[0]):
        next_scores[k] = scores[k] + t * moved[k]
    return _value_at(problem, &next_coef[0], &next_scores[0], g)


cdef double _line_search(Risk problem, double value, double slope, const double[::1] coef, const double[::1] scores,
                         const double[::1] step, const double[::1] moved, double[::1] next_coef,
                         double[::1] next_scores, double[::1] g) except? -1 nogil:
    cdef:
        Py_ssize_t _turn
        double low = 0.0, high = INFINITY, t = 1.0, here, slope_here
        double shrink = problem.alpha * problem.design.inner(&coef[0], &step[0], &moved[0])
        double curvature = problem.alpha * problem.design.inner(&step[0], &step[0], &moved[0])
    for _turn in range(EVALUATIONS):
        here = _value_along(problem, t, coef, scores, step, moved, next_coef, next_scores, &g[0])
        slope_here = shrink + t * curvature + dot(&g[0], &moved[0], problem.n)
        if not here <= value + SUFFICIENT * t * slope:
            high = t
        elif slope_here < CURVATURE * slope:
            low = t
        else:
            return t
        t = 2.0 * low if high == INFINITY else 0.5 * (low + high)
    if low > 0.0:
        _value_along(problem, low, coef, scores, step, moved, next_coef, next_scores, &g[0])
    return low
