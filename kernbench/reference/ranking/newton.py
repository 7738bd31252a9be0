"""Steps of truncated Newton on the objective of pairs: the core of `solvers.ranking.newton`."""

import numpy as np

from kernbench.reference.bundle.preconditioner import preconditioner_for
from kernbench.reference.ranking.problem import PairwiseRisk

__all__ = ["PairwiseRisk", "Work", "differentiate", "step", "value_at"]

LARGEST_CG = 250  # Hessian products per step
SUFFICIENT = 1e-4  # share of the predicted decrease that a step must bring
SMALLEST = 1e-10  # length of a step below which rounding rules


class Work:
    """A problem of pairs with the gradient at a point, a step from there, and the preconditioner.

    Parameters
    ----------
    problem : PairwiseRisk
    rng : Generator
        Draws the rows of the preconditioner.
    """

    def __init__(self, problem, rng):
        self.problem, self.design = problem, problem.design
        self.preconditioner = preconditioner_for(self.design, problem.positive, problem.alpha, rng)

    def hessian(self):
        """Return the Hessian of the preconditioner, empty without one."""
        return np.empty((0, 0)) if self.preconditioner is None else self.preconditioner.state()

    def load_hessian(self, hessian):
        """Restore it."""
        if self.preconditioner is not None:
            self.preconditioner.load(hessian)

    def hessian_product(self, v):
        """Return the Hessian of the risk, where it was evaluated last, times v."""
        return self.problem.pairs.hessian_product(self.ranked, v, self.problem.loss)

    def precondition(self, residual):
        """Return the preconditioned residual, and its scores."""
        z = residual if self.preconditioner is None else self.preconditioner.solve(residual)
        return z, self.design.scores(z)


def value_at(work, coef, scores):
    """Return the objective at an element with these scores; the pairs remember them, for the gradient and products."""
    work.ranked = scores.copy()
    risk, work.g = work.problem.risk(scores)
    return float(0.5 * work.problem.alpha * work.design.inner(coef, coef, scores) + risk)


def differentiate(work, coef):
    """Compute the gradient where the objective was evaluated last, and return its squared norm."""
    work.gradient = work.design.combine(work.g) + work.problem.alpha * coef
    scores = work.design.scores(work.gradient) if work.design.is_kernel else None
    return float(work.design.inner(work.gradient, work.gradient, scores))


def step(work, refits, share, value, coef, scores):
    """Solve the Newton equation up to a `share` of the residual, and go so far along its solution that the objective
    falls enough; first fit the preconditioner if it `refits`.

    Return the objective there, which is not below `value` where the point stays; the squared norm of the gradient, and
    the number of Hessian products.
    """
    if refits and work.preconditioner is not None:
        # Weigh each sample by its pairs at the scores ranked last: by |Hessian times the indicator of a class|.
        work.preconditioner.fit(np.abs(work.hessian_product(work.problem.positive.astype(np.float64))))
    direction, moved, n_products = _solve_newton_equation(work, share)
    t, slope = 1.0, work.design.inner(work.gradient, direction, moved)
    there = value_at(work, coef + direction, scores + moved)
    while there > value + SUFFICIENT * t * slope and t > SMALLEST:
        t *= 0.5
        there = value_at(work, coef + t * direction, scores + t * moved)
    if there >= value:
        return there, 0.0, n_products
    coef += t * direction
    scores += t * moved
    return there, differentiate(work, coef), n_products


def _solve_newton_equation(work, share):
    """Solve (Hessian) step = -gradient by preconditioned conjugate gradients; return the step, its scores, and the
    number of Hessian products."""
    design = work.design
    step, moved = np.zeros(design.n_coef), np.zeros(work.problem.n)
    residual = -work.gradient
    z, z_scores = work.precondition(residual)
    p, p_scores = z, z_scores
    rz = design.inner(residual, z, z_scores)
    goal = rz * share**2
    n_products = 0
    for _ in range(LARGEST_CG):
        n_products += 1
        product = design.combine(work.hessian_product(p_scores)) + work.problem.alpha * p
        curvature = design.inner(product, p, p_scores)
        if not (rz > 0.0 and curvature > 0.0):
            break  # only rounding errors are left
        length = rz / curvature
        step, moved = step + length * p, moved + length * p_scores
        residual = residual - length * product
        z, z_scores = work.precondition(residual)
        last, rz = rz, design.inner(residual, z, z_scores)
        if rz <= goal:
            break
        p, p_scores = z + rz / last * p, z_scores + rz / last * p_scores
    return step, moved, n_products
