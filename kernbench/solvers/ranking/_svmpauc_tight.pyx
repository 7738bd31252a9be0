"""SVMpAUC-tight: cutting planes for a structural bound of the partial AUC (Narasimhan and Agarwal, KDD 2013).

    min over w of  alpha/2 |w|^2 + Q(w),

Q convex, and at least 1 - the partial AUC. The published method adds a cut at a time and minimises the model of all of
them until the risk is within eps of the model; it minimises 1/2 |w|^2 + C Q(w), so that C = 1 / alpha.
"""

from libc.math cimport INFINITY

from kernbench.solvers.bundle._cutting_planes cimport CuttingPlanes
from kernbench.solvers.bundle._risk cimport answer_signals, refuse_nan
from kernbench.solvers.design._design cimport dot

import numpy as np

from kernbench.problems.margin_problem import require_number
from kernbench.problems.ranking.ranked_problem import StructuralProblem, check_loss
from kernbench.solvers.ranking._ranked_risk import RankedRisk


cdef class SVMpAUCTight(CuttingPlanes):
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

    cdef readonly bint plain
    cdef readonly double eps
    cdef double excess     # of the risk at the last point over the model there

    losses = ("hinge",)

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", fpr_range=(0.0, 1.0), ranks=None,
                 rounding="mass", plain=False, eps=1e-4, tol=1e-3, max_cuts=200, random_state=None, initial=None):
        check_loss(loss, self.losses)
        rng = self._settle(tol, max_cuts, random_state, initial)
        self.eps, self.plain, self.excess = require_number("eps", eps, positive=True), plain, INFINITY
        require_number("alpha", alpha, positive=True)
        ranked = StructuralProblem(y, weights, fpr_range, ranks, rounding)
        if self.plain and initial is not None and "excess" in initial.state:
            self.excess = initial.state["excess"][0]
        self._set_up(RankedRisk(design, ranked, alpha), rng, initial)

    def _first_point(self):
        if not self.plain:
            return super()._first_point()
        if np.any(self.coef):
            self.design.score(&self.coef[0], &self.scores[0])
        self.next_coef[:], self.next_scores[:] = self.coef, self.scores

    cdef int _next_point(self) except -1 nogil:
        cdef Py_ssize_t k
        if not self.plain:
            return CuttingPlanes._next_point(self)
        for k in range(self.coef.shape[0]):
            self.next_coef[k] = -self.cuts.sum[k] / self.alpha
        return self.design.score(&self.next_coef[0], &self.next_scores[0])

    cdef int _evaluate(self) except -1 nogil:
        cdef double risk
        if not self.plain:
            return CuttingPlanes._evaluate(self)
        risk = self.problem.risk(&self.next_scores[0], &self.g[0])
        refuse_nan(risk)
        answer_signals()
        self.value = risk + 0.5 * self.alpha * self.design.inner(&self.next_coef[0], &self.next_coef[0],
                                                                 &self.next_scores[0])
        self.excess, self.best_risk = self.value - self.dual, risk
        self.cuts.append(&self.g[0], risk - dot(&self.g[0], &self.next_scores[0], self.problem.n))
        self.coef, self.next_coef = self.next_coef, self.coef
        self.scores, self.next_scores = self.next_scores, self.scores
        self.cuts.kept, self.stuck = self.cuts.n_cuts - 1, 0
        if self.cuts.n_cuts == 1:
            self.g[:] = 0.0
            self.cuts.append(&self.g[0], 0.0)      # Q is not negative
        return 0

    cdef bint _is_within(self, double tol) noexcept nogil:
        return self.excess <= self.eps if self.plain else CuttingPlanes._is_within(self, tol)

    def solution(self):
        """Return the best point, the last one where `plain`, and what it takes to go on."""
        solution = super().solution()
        if self.plain:
            solution.state["excess"] = np.array([self.excess])
        return solution
