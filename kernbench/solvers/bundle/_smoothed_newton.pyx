"""The smoothed risk and its Newton equation: the core of `smoothed_newton`."""

from kernbench.solvers.bundle._line_search cimport SampledLine as Line
from kernbench.solvers.bundle._risk cimport SmoothedRisk, answer_signals, refuse_nan
from kernbench.solvers.design._design cimport Design, dot

import numpy as np

from kernbench.solvers.bundle._line_search import SampledLine

__all__ = ["SampledLine", "differentiate", "evaluate", "newton_step", "search"]  # what the method takes from its core

cdef double RESIDUAL = 0.1         # of the Newton equation, as a share of the gradient


def evaluate(SmoothedRisk risk, double alpha, const double[::1] coef, const double[::1] scores, double[::1] g):
    """Return the smoothed risk and objective at a point, and the offset of the cut with its slopes, put in `g`."""
    cdef double smoothed, value
    with nogil:
        smoothed = risk.risk(&scores[0], &g[0])
        refuse_nan(smoothed)
        value = smoothed + 0.5 * alpha * dot(&coef[0], &coef[0], coef.shape[0])
    return smoothed, value, risk.offset


def differentiate(double alpha, const double[::1] coef, const double[::1] element, double[::1] gradient):
    """Set the gradient to alpha f + the slope of the risk; return its squared norm."""
    cdef Py_ssize_t k
    for k in range(coef.shape[0]):
        gradient[k] = alpha * coef[k] + element[k]
    return dot(&gradient[0], &gradient[0], gradient.shape[0])


def newton_step(SmoothedRisk risk, Design design, double alpha, int most_cg, const double[::1] gradient, double[::1] step,
                double[::1] moved):
    """Solve (alpha I + X' H X) step = -gradient by up to `most_cg` conjugate gradient iterations; moved = X step.

    Return whether this limit ended them.
    """
    cdef:
        Py_ssize_t k, _turn, d = step.shape[0], n = moved.shape[0]
        double rr, last, goal, length, share
        bint broken_off = True
        double[::1] residual = np.empty(d), p = np.empty(d), product = np.empty(d)
        double[::1] p_scores = np.empty(n), curved = np.empty(n)
    with nogil:
        for k in range(d):
            step[k] = 0.0
            residual[k] = p[k] = -gradient[k]
        for k in range(n):
            moved[k] = 0.0
        rr = dot(&residual[0], &residual[0], d)
        goal = RESIDUAL * RESIDUAL * rr
        for _turn in range(most_cg):
            answer_signals()
            design.score(&p[0], &p_scores[0])
            risk.hessian_product(&p_scores[0], &curved[0])
            design.gather_up(&curved[0], &product[0])
            for k in range(d):
                product[k] += alpha * p[k]
            length = rr / dot(&p[0], &product[0], d)
            for k in range(d):
                step[k] += length * p[k]
                residual[k] -= length * product[k]
            for k in range(n):
                moved[k] += length * p_scores[k]
            last, rr = rr, dot(&residual[0], &residual[0], d)
            if rr <= goal:
                broken_off = False
                break
            share = rr / last
            for k in range(d):
                p[k] = residual[k] + share * p[k]
    return broken_off


def search(Line line, double alpha, const double[::1] gradient, const double[::1] coef,
           const double[::1] scores, const double[::1] step, const double[::1] moved, double[::1] next_coef,
           double[::1] next_scores):
    """Set the next point and its scores: just beyond the minimiser of the smoothed objective along the line."""
    cdef:
        Py_ssize_t i, k, d = coef.shape[0]
        double t
    with nogil:
        t = line.search(&scores[0], &moved[0], dot(&gradient[0], &step[0], d), alpha * dot(&step[0], &step[0], d))
        for k in range(d):
            next_coef[k] = coef[k] + t * step[k]
        for i in range(scores.shape[0]):
            next_scores[i] = scores[i] + t * moved[i]
