"""The bundle method for the ROC-SVM: cutting planes of the mean over pairs (see `reference/cutting_planes`)."""

from kernbench.reference.bundle.cutting_planes import CuttingPlanes
from kernbench.reference.ranking.problem import PairwiseProblem


class Bundle(CuttingPlanes):
    """Bundle method for alpha/2 ||f||^2 + the mean over pairs of loss(1 - (f(x_i) - f(x_j))).

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
        Made by `as_design`.
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n_samples,), optional
        The pair (i, j) weighs w_i w_j. All equal by default.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
    n_pairs : int, optional
        Draw so many pairs once and minimise over these; by default over all pairs.
    balanced : bool, default=False
        Draw the pairs so that each sample of a class comes up equally often.
    tol : float, default=1e-3
        Converged when the gap is at most `tol` times the objective.
    max_cuts : int, default=200
        Cuts kept at the most, at least 3; beyond, the two of least weight become one.
    random_state : None, int, RandomState or Generator
        For the pairs, and for the sample of the first fit.
    initial : Solution, optional
        Go on from a solution of this solver, for this `alpha` exactly, for another with its cuts (they do not
        depend on alpha); any other coefficients are where to start.
    """

    losses = ("hinge", "squared_hinge", "log_loss")

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", n_pairs=None, balanced=False, tol=1e-3,
                 max_cuts=200, random_state=None, initial=None):  # fmt: skip
        rng = self._settle(tol, max_cuts, random_state, initial)
        problem = PairwiseProblem(design, y, alpha=alpha, weights=weights, loss=loss, n_pairs=n_pairs,
                                  balanced=balanced, rng=rng, offered=self.losses)  # fmt: skip
        self._set_up(problem, rng, initial)
