"""Newton steps on a smoothed risk, by conjugate gradients: the directions of cutting planes on many features.

Where there are too many features for a Hessian matrix, the risk R is smoothed: R_mu takes the Moreau envelope of each
hinge, whose kink is rounded over a width mu. Truncated Newton steps minimise alpha/2 |f|^2 + R_mu, and mu is reduced as
soon as the point is nearer to that minimum than R_mu is to R:

    |gradient|^2 / (2 alpha)  <=  BALANCE (R - R_mu).

The gradient of R_mu is the slope of a cut of R, so every point raises the lower bound, which rises to within
R - R_mu + |gradient|^2 / (2 alpha) of the objective at the point by this cut alone. Its slopes are differences divided
by mu: the rounding of scores s changes each by up to the share eps (1 + |s|) / mu, and the cut may exceed R by as much.
"""

import numpy as np

FIRST_CG = 30  # Hessian products per step, at the most; twice as many after a step that was broken off by
MOST_CG = 960  # ... this limit and did not halve the gradient
WIDEST = 2.0  # the first mu, in units of the margin: at f = 0 half the slope of the hinge
SHRINK = 0.3
NARROWEST = 1e-10  # mu below which the gradient, a difference divided by mu, loses too many digits
BALANCE = 0.5
PROGRESS = 1e-12  # relative decrease of the smoothed objective below which mu is reduced
EPS = np.finfo(np.float64).eps


class SmoothedNewton:
    """The point and the smoothing of Newton's method, which starts at 0, where the smoothest problem is easy.

    Parameters
    ----------
    core : module
    problem : Risk
    small : Risk
        The problem of the `sample`, for the line search.
    sample : ndarray of int
    design : FeatureDesign

    Attributes
    ----------
    rounding : float
        How far the cut at the point may lie above the risk.
    """

    def __init__(self, core, problem, small, sample, design):
        self.core, self.problem, self.design, self.alpha = core, problem, design, problem.alpha
        self.risk, self.small = problem.smoothed(), small.smoothed()
        self.line = core.SampledLine(self.small, sample)
        self.coef, self.gradient, self.scores = np.zeros(design.n_coef), np.empty(design.n_coef), np.zeros(problem.n)
        self.most_cg = FIRST_CG
        self._smooth_by(WIDEST)

    def _smooth_by(self, mu):
        self.risk.mu = self.small.mu = mu
        self.value, self.excess, self.progress = np.inf, 0.0, True
        self.square, self.broken_off = np.inf, False  # square: of the gradient

    def take(self, coef, scores, risk, g):
        """Move to a point where the risk is known; set g to the slopes of a cut there and return its offset."""
        smoothed, value, offset = self.core.evaluate(self.risk, self.alpha, coef, scores, g)
        self.coef[:], self.scores[:] = coef, scores
        self.progress = value < self.value - PROGRESS * abs(value)
        self.value, self.excess = value, risk - smoothed
        # Scores plus mu are rounded, so that mu is another one for each sample; a smooth loss has no mu, and no excess.
        self.rounding = EPS * (1.0 + np.abs(scores).max()) / self.risk.mu * risk if self.excess != 0.0 else 0.0
        return offset

    def may_go_on(self, element):
        """Compute the gradient of the smoothed risk, reducing mu when due. Return False once mu is too small."""
        last, self.square = self.square, self.core.differentiate(self.alpha, self.coef, element, self.gradient)
        if self.progress and self.square > 2 * self.alpha * BALANCE * self.excess:
            if self.broken_off and self.square > 0.25 * last and self.most_cg < MOST_CG:
                self.most_cg *= 2
            return True
        self._smooth_by(self.risk.mu * SHRINK)
        return self.risk.mu >= NARROWEST

    def next_point(self, step, moved, next_coef, next_scores):
        """Set the next point: the end of a line search along the Newton direction; the same point if mu has just been
        reduced."""
        if self.value == np.inf:
            next_coef[:], next_scores[:] = self.coef, self.scores
            return
        self.broken_off = self.core.newton_step(
            self.risk, self.design, self.alpha, self.most_cg, self.gradient, step, moved
        )
        point = self.gradient, self.coef, self.scores
        self.core.search(self.line, self.alpha, *point, step, moved, next_coef, next_scores)

    def state(self):
        """Return the point, and mu with the rest."""
        rest = [self.risk.mu, self.value, self.progress, self.square, self.broken_off, self.most_cg]
        return {"iterate": self.coef.copy(), "smoothing": np.array(rest)}

    def load(self, state, risk_at):
        """Continue from the state of a solution of the same problem; ``risk_at(coef, scores)`` is the risk."""
        mu, value, progress, square, broken_off, most_cg = state["smoothing"]
        self._smooth_by(mu)
        coef = np.array(state["iterate"])
        scores = self.design.scores(coef)
        self.take(coef, scores, risk_at(coef, scores), np.empty_like(scores))
        self.value, self.progress = float(value), bool(progress)
        self.square, self.broken_off, self.most_cg = float(square), bool(broken_off), int(most_cg)
