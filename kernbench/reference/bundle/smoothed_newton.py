"""Newton steps on a smoothed risk, by conjugate gradients: the directions of cutting planes on many features.

Where there are too many features for a Hessian matrix, the risk R is smoothed: R_mu takes the Moreau envelope of each
hinge, whose kink is rounded over a width mu. Truncated Newton steps minimise alpha/2 |f|^2 + R_mu, and mu is reduced as
soon as the point is nearer to that minimum than R_mu is to R:

    |gradient|^2 / (2 alpha)  <=  BALANCE (R - R_mu).

The gradient of R_mu is the slope of a cut of R.
"""

import numpy as np

from kernbench.reference.bundle.line_search import line_search

FIRST_CG = 30  # Hessian products per step, at the most; twice as many after a step that was broken off by
MOST_CG = 960  # ... this limit and did not halve the gradient
WIDEST, SHRINK, NARROWEST = 2.0, 0.3, 1e-10  # mu: the first one, in units of the margin; its factor, its end
BALANCE = 0.5
RESIDUAL = 0.1  # of the Newton equation, as a share of the gradient
PROGRESS = 1e-12  # relative decrease of the smoothed objective below which mu is reduced


class SmoothedNewton:
    """The point and the smoothing of Newton's method, which starts at 0, where the smoothest problem is easy.

    Parameters
    ----------
    problem : Risk
    small : Risk
        The problem of the `sample`, for the line search.
    sample : ndarray of int
    design : FeatureDesign
    """

    def __init__(self, problem, small, sample, design):
        self.problem, self.design, self.alpha = problem, design, problem.alpha
        self.risk, self.small, self.sample = problem.smoothed(), small.smoothed(), sample
        self.coef, self.scores = np.zeros(design.n_coef), np.zeros(problem.n)
        self.most_cg = FIRST_CG
        self._smooth_by(WIDEST)

    def _smooth_by(self, mu):
        self.risk.mu = self.small.mu = mu
        self.value, self.excess, self.progress = np.inf, 0.0, True
        self.square, self.broken_off = np.inf, False  # square: of the gradient

    def state(self):
        """Return the point, and mu with the rest."""
        rest = [self.risk.mu, self.value, self.progress, self.square, self.broken_off, self.most_cg]
        return {"iterate": self.coef.copy(), "smoothing": np.array(rest)}

    def load(self, state):
        """Go on from the state of a solution for the same problem."""
        coef = np.array(state["iterate"])
        mu, value, progress, square, broken_off, most_cg = state["smoothing"]
        self._smooth_by(mu)
        scores = self.design.scores(coef)
        self.take(coef, scores, self.problem.risk(scores)[0])
        self.value, self.progress = value, bool(progress)
        self.square, self.broken_off, self.most_cg = square, bool(broken_off), int(most_cg)

    def take(self, coef, scores, risk):
        """Move to a point where the risk is known; return slopes and offset of a cut there."""
        smoothed, g, offset = self.risk.evaluate(scores)
        value = smoothed + 0.5 * self.alpha * coef @ coef
        self.coef, self.scores = coef, scores
        self.progress = value < self.value - PROGRESS * abs(value)
        self.value, self.excess = value, risk - smoothed
        return g, offset

    def may_go_on(self, element):
        """Compute the gradient of the smoothed risk, reducing mu when due. Return False once mu is too small."""
        last, self.gradient = self.square, self.alpha * self.coef + element
        self.square = self.gradient @ self.gradient
        if self.progress and self.square > 2 * self.alpha * BALANCE * self.excess:
            if self.broken_off and self.square > 0.25 * last and self.most_cg < MOST_CG:
                self.most_cg *= 2
            return True
        self.risk.mu = self.small.mu = self.risk.mu * SHRINK
        self.value, self.square, self.broken_off = np.inf, np.inf, False
        return self.risk.mu >= NARROWEST

    def next_point(self):
        """Return the end of a line search along the Newton direction; the same point if mu has just been reduced."""
        if np.isinf(self.value):
            return self.coef, self.scores
        step, moved = self._newton_step()
        slope, curvature, t = self.gradient @ step, self.alpha * step @ step, 0.0
        here, along = self.scores[self.sample], moved[self.sample]
        offset = slope - self.small.evaluate(here)[1] @ along
        if slope < 0:
            t = line_search(lambda t: offset + curvature * t + self.small.evaluate(here + t * along)[1] @ along, slope)
        return self.coef + t * step, self.scores + t * moved

    def _newton_step(self):
        """Solve (alpha I + X' H X) step = -gradient by conjugate gradients; return step and X step."""
        step, moved, residual = np.zeros(len(self.gradient)), np.zeros(len(self.scores)), -self.gradient
        p, rr = residual, residual @ residual
        goal = RESIDUAL**2 * rr
        for _ in range(self.most_cg):
            p_scores = self.design.scores(p)
            product = self.design.combine(self.risk.hessian_product(p_scores)) + self.alpha * p
            length = rr / (p @ product)
            step, moved, residual = step + length * p, moved + length * p_scores, residual - length * product
            last, rr = rr, residual @ residual
            self.broken_off = rr > goal
            if not self.broken_off:
                break
            p = residual + rr / last * p
        return step, moved
