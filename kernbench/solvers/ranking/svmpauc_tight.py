"""SVMpAUC-tight: cutting planes for a structural bound of the partial AUC (Narasimhan and Agarwal, KDD 2013).

    min over w of  alpha/2 |w|^2 + Q(w),

Q convex, and at least 1 - the partial AUC. The published method adds a cut at a time and minimises the model of all of
them until the risk is within eps of the model; it minimises 1/2 |w|^2 + C Q(w), so that C = 1 / alpha.
"""

import numpy as np

from kernbench.problems.draws import seed_of
from kernbench.problems.margin_problem import require_number
from kernbench.problems.ranking.ranked_problem import StructuralProblem, check_loss
from kernbench.solvers.bundle.cutting_planes import CuttingPlanes
from kernbench.solvers.method import core_at
from kernbench.validation.numbers import check_flag

RISK = "kernbench.solvers.ranking._ranked_risk"


class SVMpAUCTight(CuttingPlanes):
    """Cutting planes for alpha/2 |f|^2 + Q(f), Q the structural bound of 1 - the partial AUC.

    Parameters
    ----------
    alpha : float
        Regularisation, > 0: 1 / C of the paper, whose objective is C times this one.
    loss : {"hinge"}, default="hinge"
        The bound of the whole range is the mean hinge over all pairs.
    rounding : {"mass", "integer"}, default="mass"
        How to treat ends of the range that cut a sample in two: "integer" rounds them inwards, as published.
    plain : bool, default=False
        Take the steps of the published method: the next point is the minimiser of the model, without a line search or
        Newton steps, from f = 0 or `initial`; it ends where Q exceeds the model by at most `eps`. The published method
        holds all cuts; here idle ones are dropped, and at most `max_cuts` are held.
    eps : float, default=1e-4
        See `plain`.
    design, y, weights, fpr_range, ranks : see `kernbench.solvers.ranking.dca_exact.PartialAUCDCA`
    tol, max_cuts, core : see `kernbench.solvers.ranking.bundle.Bundle`; `tol` has no effect where `plain`
    random_state : None, int, RandomState or Generator
        Draws the sample of the first fit.
    initial : Solution, optional
        Continue a solution of this solver. Other coefficients are a starting point.
    """

    losses = ("hinge",)

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", fpr_range=(0.0, 1.0), ranks=None,
                 rounding="mass", plain=False, eps=1e-4, tol=1e-3, max_cuts=200, random_state=None, initial=None,
                 core="compiled"):  # fmt: skip
        check_loss(loss, self.losses)
        check_flag("plain", plain)
        self.eps, self.plain = require_number("eps", eps, positive=True), plain
        require_number("alpha", alpha, positive=True)
        self.ranked = ranked = StructuralProblem(y, weights, fpr_range, ranks, rounding)
        self.excess = np.inf  # of the risk at the last point over the model there, where `plain`
        state = {} if initial is None else initial.state
        if self.plain and "excess" in state and state["settings"][0] == alpha:  # of another alpha it is not known
            self.excess = float(state["excess"][0])
        risk, seed = core_at(RISK, core).RankedRisk(design, ranked, alpha), seed_of(random_state, initial)
        super().__init__(risk, tol=tol, max_cuts=max_cuts, seed=seed, initial=initial, core=core)
        if self.plain:
            self.warm = True  # no fit on a sample

    def _next_point(self):
        if self.plain:
            self.core.minimise_model(self.cuts, self.alpha, self.next_coef, self.next_scores)
        else:
            super()._next_point()

    def _evaluate(self):
        if not self.plain:
            super()._evaluate()
            return
        risk, value, offset = self.core.evaluate(self.problem, self.design, self.next_coef, self.next_scores, self.g)
        self.cuts.append(self.g, offset)
        self.excess = value - self.dual
        self._move_to_next(value, risk)
        self.stuck = 0
        if self.cuts.n_cuts == 1:
            self.cuts.append(np.zeros(self.problem.n), 0.0)  # Q is not negative

    def _is_within(self, tol):
        return self.excess <= self.eps if self.plain else super()._is_within(tol)

    def solution(self):
        """Return the best point, the last one where `plain`, with the state needed to continue."""
        solution = super().solution()
        if self.plain:
            solution.state["excess"] = np.array([self.excess])
        return solution
