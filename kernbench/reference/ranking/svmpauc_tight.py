"""SVMpAUC-tight: cutting planes for a structural bound of the partial AUC (Narasimhan and Agarwal, KDD 2013).

    min over w of  alpha/2 |w|^2 + Q(w),

Q convex, and at least 1 - the partial AUC. The published method adds a cut at a time and minimises the model of all of
them until the risk is within eps of the model; it minimises 1/2 |w|^2 + C Q(w), so that C = 1 / alpha.
"""

import numpy as np

from kernbench.problems.margin_problem import require_number
from kernbench.problems.ranking.ranked_problem import StructuralProblem, check_loss
from kernbench.reference.bundle.cutting_planes import CuttingPlanes
from kernbench.reference.ranking.ranked_risk import RankedRisk


class SVMpAUCTight(CuttingPlanes):
    """Cutting planes for alpha/2 |f|^2 + Q(f), Q the structural bound of 1 - the partial AUC.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
        Made by `as_design`.
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0: 1 / C of the paper, whose objective is C times this one.
    weights : array-like of shape (n_samples,), optional
        All equal by default.
    loss : {"hinge"}, default="hinge"
        The bound of the whole range is the mean hinge over all pairs.
    fpr_range : (float, float), default=(0.0, 1.0)
    ranks : (int, int), optional
        (m, n) instead of `fpr_range`: the negatives ranked m + 1 to n.
    rounding : {"mass", "integer"}, default="mass"
        What is done with ends of the range that cut a sample in two: "integer" rounds them inwards, as published.
    plain : bool, default=False
        Run the published method: the next point is the minimiser of the model, without a line search or Newton steps,
        from f = 0; it ends where Q exceeds the model by at most `eps`.
    eps : float, default=1e-4
        See `plain`.
    tol : float, default=1e-3
        Converged when the gap is at most `tol` times the objective; not looked at where `plain`.
    max_cuts : int, default=200
        Cuts kept at the most, at least 3; beyond, the two of least weight become one.
    random_state : None, int, RandomState or Generator
        For the sample of the first fit.
    initial : Solution, optional
        Go on from a solution of this solver; any other coefficients are where to start.
    """

    losses = ("hinge",)

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", fpr_range=(0.0, 1.0), ranks=None,
                 rounding="mass", plain=False, eps=1e-4, tol=1e-3, max_cuts=200, random_state=None,
                 initial=None):  # fmt: skip
        check_loss(loss, self.losses)
        rng = self._settle(tol, max_cuts, random_state, initial)
        self.eps, self.plain = require_number("eps", eps, positive=True), bool(plain)
        self._excess = np.inf  # of the risk at the last point over the model there
        require_number("alpha", alpha, positive=True)
        ranked = StructuralProblem(y, weights, fpr_range, ranks, rounding)
        if self.plain and initial is not None and "excess" in initial.state:
            self._excess = float(initial.state["excess"][0])
        self._set_up(RankedRisk(design, ranked, alpha), rng, initial)

    def _first_point(self):
        if not self.plain:
            return super()._first_point()
        if self._coef.any():
            self._scores = self.design.scores(self._coef)
        return self._coef, self._scores

    def _next_point(self):
        if not self.plain:
            return super()._next_point()
        coef = -self._cuts.sum / self.alpha
        return coef, self.design.scores(coef)

    def _evaluate(self, coef, scores):
        if not self.plain:
            super()._evaluate(coef, scores)
            return
        risk, g = self.problem.risk(scores)
        value = 0.5 * self.alpha * self.design.inner(coef, coef, scores) + risk
        self._excess = value - self._dual
        self._cuts.append(g, risk - g @ scores)
        self._cuts.kept = self.n_cuts - 1
        if self.n_cuts == 1:
            self._cuts.append(np.zeros(self.problem.n), 0.0)  # Q is not negative
        self._coef, self._scores, self._risk, self._objective = coef, scores, risk, value
        self._stuck = 0

    def _is_within(self, tol):
        return bool(self._excess <= self.eps) if self.plain else super()._is_within(tol)

    def solution(self):
        """Return the best point, the last one where `plain`, and what it takes to go on."""
        solution = super().solution()
        if self.plain:
            solution.state["excess"] = np.array([self._excess])
        return solution
