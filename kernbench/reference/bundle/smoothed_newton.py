"""Newton steps on a smoothed risk, by conjugate gradients: the directions of the cutting planes on many features."""

import numpy as np

SMOOTHEST = 2.0  # the first mu, in units of the margin: at f = 0 every pair is at half its slope
SHRINK = 0.25
LEAST = 1e-6  # mu below which the smoothed risk is a difference of equal numbers
LARGEST_CG = 30  # Hessian products per step
RESIDUAL = 0.1  # of the Newton equation, as a share of the gradient
BALANCE = 0.5
CG=1e9
GROW=2.0


class SmoothedNewton:
    """Newton's method for alpha/2 |f|^2 + R_mu, R_mu the risk smoothed at the kink over a width mu.

    Parameters
    ----------
    problem : Risk
        One that can be smoothed.
    design : FeatureDesign
    """

    def __init__(self, problem, design):
        self.problem, self.design = problem, design
        X=design.X.data if hasattr(design.X,'tocsr') else design.X; self.radius=np.inf; self.mu, self.excess = max(SMOOTHEST, np.vdot(X,X)/design.n_samples**2/(CG*problem.alpha)), 0.0

    def evaluate(self, scores, risk):
        """Return slopes and offset of a cut at these scores, where the risk is known."""
        if self.mu == 0:
            _, g = self.problem.risk(scores)
            return g, risk - g @ scores
        smooth, g, offset = self.problem.smoothed(scores, self.mu)
        self.excess = risk - smooth
        return g, offset

    def step(self, alpha, gradient):
        step, residual, p, p_scores = np.zeros(len(gradient)), -gradient, 0.0, 0.0
        rr = residual @ residual
        goal, share = RESIDUAL**2 * rr, 0.0
        moved = np.zeros(self.problem.n)
        for _ in range(LARGEST_CG):
            p = residual + share * p
            p_scores = self.design.scores(p)
            product = alpha * p + self.design.combine(self.problem.smoothed_hessian_product(p_scores))
            length = rr / (p @ product)
            step += length * p
            moved += length * p_scores
            residual = residual - length * product
            last, rr = rr, residual @ residual
            if rr <= goal or step@step>=self.radius**2:
                break
            share = rr / last
        return step, moved
