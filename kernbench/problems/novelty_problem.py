"""The problem of the one-class support vector machine: a level below which few training rows score.

    minimise  alpha/2 ||f||^2 + (1/n) sum_i w_i max(0, rho - f(x_i)) - nu rho W/n,     W = sum_i w_i

over f and rho (Schölkopf, Platt, Shawe-Taylor, Smola, Williamson, Neural Computation 2001). With the intercept b = -rho
it has the form of a `MarginProblem` with the loss max(0, -z) and a term that is linear in b. So the sum of the
coefficients is not 0, but nu W / (alpha n); their factors in the dual objective are 0:

    maximise  -alpha/2 beta' K beta   with  0 <= beta_i <= w_i / (alpha n),  sum beta = nu W / (alpha n).

`NU_LOSSES` are the losses of this problem and of the two of `nu_problem`, by name.
"""

import numpy as np

from kernbench.problems.intercept import weighted_quantile
from kernbench.problems.nu_problem import SAME_SUM, NuLoss, NuMargin, NuProblem, NuResidual, filled


class OneClass(NuLoss):
    """max(0, -z), for the share `nu` of outliers, in (0, 1]."""

    name = "one_class"

    def problem_of(self, rows, y, **settings):
        return NoveltyProblem(rows, y, loss=self, **settings)


class NoveltyProblem(NuProblem):
    """A checked problem over the rows of a kernel matrix; y is ignored."""

    def _checked_signs_and_targets(self, y):
        return np.ones(self.n), np.zeros(self.n)

    def loss_sum(self, responses, intercept):
        """Return sum_i w_i max(0, rho - f(x_i)) - nu W rho."""
        return self.weights @ np.maximum(0.0, -(responses + intercept)) + self.mass * intercept

    def level(self, scores):
        """Return 0: scores hold the intercept."""
        return 0.0

    def excess(self, scores, level):
        """Return how far scores are below the level."""
        return level - scores

    def residual(self, g):
        """Return by how much the sum of the coefficients times alpha n misses what it should be."""
        return float(abs(g.sum() - self.mass))

    def best_intercept(self, responses):
        """Return minus the level below which the share nu of the weight lies."""
        used = self.weights > 0
        level = min(self.mass, self.weights[used].sum() * (1.0 - SAME_SUM))
        return -weighted_quantile(responses[used], self.weights[used], level)

    def feasible(self, coef):
        """Return coefficients near `coef` inside the box and of the right sum."""
        return filled(np.asarray(coef, dtype=np.float64), self.box()[1], self.size())

    def start(self):
        return self.feasible(np.zeros(self.n))


NU_LOSSES = {loss.name: loss for loss in (NuMargin, NuResidual, OneClass)}


def loss_of_name(loss):
    """Return the `NuLoss` of this name, with the share 0.5; anything else as it is."""
    return NU_LOSSES[loss]() if isinstance(loss, str) and loss in NU_LOSSES else loss
