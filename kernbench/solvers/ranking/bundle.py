"""The bundle method for the ROC-SVM: cutting planes of the mean over pairs (see `solvers.bundle.cutting_planes`)."""

import numpy as np

from kernbench.losses.table import losses_of
from kernbench.problems.draws import seed_of
from kernbench.problems.ranking.pairwise_problem import PairwiseProblem
from kernbench.solvers.bundle.cutting_planes import CuttingPlanes
from kernbench.solvers.method import core_at

PROBLEM = "kernbench.solvers.ranking._problem"


class Bundle(CuttingPlanes):
    """Bundle method for alpha/2 ||f||^2 + the mean over pairs of loss(f(x_i) - f(x_j)).

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
        Made by `as_design`.
    y, alpha, weights, n_pairs, balanced : see `PairwiseProblem`
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
    tol : float, default=1e-3
        Converged when the gap is at most `tol` times the objective.
    max_cuts : int, default=200
        Largest number of cuts kept, at least 3; beyond it, one without weight is dropped or, if all have some, the two
        of least weight for the weighted sum of all. With more than 1,500 features fewer, at least 10, where these would
        take much more memory than the data.
    random_state : None, int, RandomState or Generator
        Draws the pairs, and the sample of the first fit.
    initial : Solution, optional
        Continue a solution of this solver: exactly for the same `alpha`, else with its cuts, which do not depend on
        alpha. Other coefficients are a starting point.
    core : {"compiled", "reference"}, default="compiled"

    References
    ----------
    Joachims, KDD 2006; Franc and Sonnenburg, JMLR 10 (2009); Teo, Vishwanathan, Smola, Le, JMLR 11 (2010).
    """

    losses = losses_of("pair")

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", n_pairs=None, balanced=False, tol=1e-3,
                 max_cuts=200, random_state=None, initial=None, core="compiled"):  # fmt: skip
        seed = seed_of(random_state, initial)
        rng = np.random.default_rng(seed)
        problem = PairwiseProblem(
            design.n_samples, y, alpha=alpha, weights=weights, loss=loss, n_pairs=n_pairs, balanced=balanced, rng=rng,
            offered=self.losses,
        )  # fmt: skip
        risk = core_at(PROBLEM, core).PairwiseRisk(problem, design)
        super().__init__(risk, tol=tol, max_cuts=max_cuts, seed=seed, rng=rng, initial=initial, core=core)
