"""The smoothed risk and its Newton equation: the core of `solvers.bundle.smoothed_newton`."""

from kernbench.reference.bundle.line_search import SampledLine

__all__ = ["SampledLine", "differentiate", "evaluate", "newton_step", "search"]

RESIDUAL = 0.1  # of the Newton equation, as a share of the gradient


def evaluate(risk, alpha, coef, scores, g):
    """Return the smoothed risk and objective at a point, and the offset of the cut with its slopes, put in `g`."""
    smoothed, g[:], offset = risk.evaluate(scores)
    return float(smoothed), float(smoothed + 0.5 * alpha * coef @ coef), float(offset)


def differentiate(alpha, coef, element, gradient):
    """Set the gradient to alpha f + the slope of the risk; return its squared norm."""
    gradient[:] = alpha * coef + element
    return float(gradient @ gradient)


def newton_step(risk, design, alpha, most_cg, gradient, step, moved):
    """Solve (alpha I + X' H X) step = -gradient by up to `most_cg` conjugate gradients; moved = X step. Return whether
    the limit broke them off."""
    step[:], moved[:], residual = 0.0, 0.0, -gradient
    p, rr = residual, residual @ residual
    goal = RESIDUAL**2 * rr
    for _ in range(most_cg):
        p_scores = design.scores(p)
        product = design.combine(risk.hessian_product(p_scores)) + alpha * p
        length = rr / (p @ product)
        step += length * p
        moved += length * p_scores
        residual = residual - length * product
        last, rr = rr, residual @ residual
        if rr <= goal:
            return False
        p = residual + rr / last * p
    return True


def search(line, alpha, gradient, coef, scores, step, moved, next_coef, next_scores):
    """Set the next point and its scores: just beyond the minimiser of the smoothed objective along the line."""
    t = line.search(scores, moved, gradient @ step, alpha * step @ step)
    next_coef[:], next_scores[:] = coef + t * step, scores + t * moved
