"""Cuts and steps of cutting planes: the core of `cutting_planes`."""

from kernbench.solvers.bundle._cuts cimport Cuts as Tangents, weighted_sum
from kernbench.solvers.bundle._line_search cimport SampledLine as Line
from kernbench.solvers.bundle._preconditioner cimport Preconditioner
from kernbench.solvers.bundle._risk cimport Risk, answer_signals, refuse_nan
from kernbench.solvers.design._design cimport Design, dot

import numpy as np

from kernbench.solvers.bundle import _smoothed_newton as smoothed_newton
from kernbench.solvers.bundle._cuts import Cuts
from kernbench.solvers.bundle._line_search import SampledLine
from kernbench.solvers.bundle._preconditioner import preconditioner_for

__all__ = [  # what the method takes from its core
    "Cuts", "SampledLine", "evaluate", "fit_preconditioner", "inner", "minimise_model", "newton_step", "plain_step",
    "preconditioner_for", "search", "smoothed_newton",
]


def inner(Design design, const double[::1] u, const double[::1] v, const double[::1] scores_of_v):
    """Return <u, v>; the scores of v are needed for a kernel only."""
    return design.inner(&u[0], &v[0], &scores_of_v[0])


def evaluate(Risk problem, Design design, const double[::1] coef, const double[::1] scores, double[::1] g):
    """Return the risk and the objective at a point, and the offset of the tangent of the risk, whose slopes are written
    to `g`; the offset is 0 if `g` is None."""
    cdef double risk, value, offset = 0.0
    with nogil:
        risk = problem.risk(&scores[0], &g[0] if g is not None else NULL)
        refuse_nan(risk)
        answer_signals()
        value = risk + 0.5 * problem.alpha * design.inner(&coef[0], &coef[0], &scores[0])
        if g is not None:
            offset = risk - dot(&g[0], &scores[0], problem.n)
    return risk, value, offset


def fit_preconditioner(Preconditioner preconditioner, Risk problem, const double[::1] scores, double[::1] h):
    """Fit the preconditioner to the density of the problem at scores, which is put in `h`."""
    with nogil:
        problem.density(&scores[0], &h[0])
        answer_signals()
        preconditioner.fit(&h[0])


def plain_step(Tangents cuts, double alpha, const double[::1] coef, const double[::1] scores, double[::1] step,
               double[::1] moved):
    """Step from the point to the minimiser of the tangents alone, -sum_k u_k a_k / alpha."""
    cdef Py_ssize_t i, k
    with nogil:
        for k in range(coef.shape[0]):
            step[k] = -cuts.sum[k] / alpha - coef[k]
        answer_signals()
        if cuts.design.is_kernel:
            for i in range(scores.shape[0]):
                moved[i] = -cuts.sum_scores[i] / alpha - scores[i]
        else:
            cuts.design.score(&step[0], &moved[0])


def newton_step(Tangents cuts, double alpha, Preconditioner preconditioner, const double[::1] coef, double[::1] step,
                double[::1] moved):
    """Step from the point f_0 to the minimiser of max_k (<a_k, f> + b_k) + alpha/2 |f|^2 + (f - f_0)' H (f - f_0) / 2."""
    cdef:
        Py_ssize_t k, l, m = cuts.n_cuts, d = coef.shape[0]
        double[:, ::1] Z = np.empty((m + 1, d))     # the cuts, and the gradient alpha f_0, times L^-T; M = L L'
        double[::1] heights = np.empty(m), shares = np.zeros(m)
        double *last = &Z[m, 0]
    with nogil:
        for k in range(m):
            Z[k, :] = cuts.elements[k, :]
            heights[k] = cuts.offsets[k] + dot(&cuts.elements[k, 0], &coef[0], d)
        for l in range(d):
            last[l] = alpha * coef[l]
        preconditioner.half_solve(&Z[0, 0], m + 1)
        for k in range(m):
            heights[k] -= dot(&Z[k, 0], last, d)
            for l in range(k + 1):
                cuts.Q[k, l] = cuts.Q[l, k] = dot(&Z[k, 0], &Z[l, 0], d)
        cuts.qp.solve(&cuts.Q[0, 0], cuts.capacity, &heights[0], m, &shares[0])
        weighted_sum(cuts.elements, shares, m, -1.0, &step[0])
        for l in range(d):
            step[l] -= alpha * coef[l]
        preconditioner.solve(&step[0])
        answer_signals()
        cuts.design.score(&step[0], &moved[0])


def search(Line line, Tangents cuts, double alpha, const double[::1] coef, const double[::1] scores,
           const double[::1] step, const double[::1] moved, double[::1] next_coef, double[::1] next_scores):
    """Set the next point and its scores: just beyond the minimiser of the objective along the line."""
    cdef:
        Py_ssize_t i, k
        double slope, curvature, t
        Design design = cuts.design
    with nogil:
        slope = alpha * design.inner(&coef[0], &step[0], &moved[0])
        slope += design.inner(&cuts.elements[cuts.kept, 0], &step[0], &moved[0])
        curvature = alpha * design.inner(&step[0], &step[0], &moved[0])
        t = line.search(&scores[0], &moved[0], slope, curvature)
        for k in range(coef.shape[0]):
            next_coef[k] = coef[k] + t * step[k]
        for i in range(scores.shape[0]):
            next_scores[i] = scores[i] + t * moved[i]


def minimise_model(Tangents cuts, double alpha, double[::1] coef, double[::1] scores):
    """Set the point and its scores to the minimiser of the tangents."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(coef.shape[0]):
            coef[k] = -cuts.sum[k] / alpha
        cuts.design.score(&coef[0], &scores[0])
