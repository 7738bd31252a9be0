"""Cuts and steps of cutting planes: the core of `solvers.bundle.cutting_planes`."""

import numpy as np

from kernbench.reference.bundle import smoothed_newton
from kernbench.reference.bundle.cuts import Cuts
from kernbench.reference.bundle.line_search import SampledLine
from kernbench.reference.bundle.preconditioner import preconditioner_for
from kernbench.reference.bundle.simplex_qp import simplex_qp

__all__ = [
    "Cuts", "SampledLine", "evaluate", "fit_preconditioner", "inner", "minimise_model", "newton_step", "plain_step",
    "preconditioner_for", "search", "smoothed_newton",
]  # fmt: skip


def inner(design, u, v, scores_of_v):
    """Return <u, v>; the scores of v are needed for a kernel only."""
    return float(design.inner(u, v, scores_of_v))


def evaluate(problem, design, coef, scores, g):
    """Return the risk and the objective at a point, and the offset of the tangent of the risk, whose slopes are put in
    `g`; 0 instead of the offset where `g` is None."""
    risk, slopes = problem.risk(scores)
    value = 0.5 * problem.alpha * design.inner(coef, coef, scores) + risk
    if g is None:
        return float(risk), float(value), 0.0
    g[:] = slopes
    return float(risk), float(value), float(risk - g @ scores)


def fit_preconditioner(preconditioner, problem, scores, h):
    """Fit the preconditioner to the density of the problem at scores, which is put in `h`."""
    h[:] = problem.density(scores)
    preconditioner.fit(h)


def plain_step(cuts, alpha, coef, scores, step, moved):
    """Step from the point to the minimiser of the tangents alone, -sum_k u_k a_k / alpha."""
    step[:] = -cuts.sum / alpha - coef
    moved[:] = -cuts.sum_scores / alpha - scores if cuts.design.is_kernel else cuts.design.scores(step)


def newton_step(cuts, alpha, preconditioner, coef, step, moved):
    """Step from the point f_0 to the minimiser of max_k (<a_k, f> + b_k) + alpha/2 |f|^2 + (f - f_0)' H (f - f_0) / 2.

    H is the Hessian M - alpha I of the risk.
    """
    A, shrink = cuts.elements, alpha * coef
    Z = preconditioner.half_solve(np.vstack([A, shrink]))
    Q = Z @ Z.T
    u = simplex_qp(Q[:-1, :-1], A @ coef + cuts.offsets - Q[:-1, -1], np.zeros(cuts.n_cuts))
    step[:] = -preconditioner.solve(u @ A + shrink)
    moved[:] = cuts.design.scores(step)


def search(line, cuts, alpha, coef, scores, step, moved, next_coef, next_scores):
    """Set the next point and its scores: just beyond the minimiser of the objective along the line.

    The cut of the best point is the risk's slope there.
    """
    design = cuts.design
    slope = design.inner(alpha * coef + cuts.element(cuts.kept), step, moved)
    t = line.search(scores, moved, slope, alpha * design.inner(step, step, moved))
    next_coef[:], next_scores[:] = coef + t * step, scores + t * moved


def minimise_model(cuts, alpha, coef, scores):
    """Set the point and its scores to the minimiser of the tangents."""
    coef[:] = -cuts.sum / alpha
    scores[:] = cuts.design.scores(coef)
