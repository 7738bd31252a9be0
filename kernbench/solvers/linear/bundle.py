"""The bundle method on explicit features: cutting planes of the mean loss (see `solvers.bundle.cutting_planes`)."""

from kernbench.losses.table import losses_of
from kernbench.problems.draws import seed_of
from kernbench.problems.linear_problem import LinearProblem
from kernbench.solvers.bundle.cutting_planes import CuttingPlanes
from kernbench.solvers.method import core_at

RISK = "kernbench.solvers.linear._bundle"


class Bundle(CuttingPlanes):
    """Bundle method for alpha/2 ||w||^2 + (1/n) sum_i w_i l(y_i <w, x_i>).

    Parameters
    ----------
    design, y, alpha, weights : see `PrimalSolver`
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
    tol, max_cuts, initial, core : see `kernbench.solvers.ranking.bundle.Bundle`
    random_state : None, int, RandomState or Generator
        Draws the sample of the first fit.

    References
    ----------
    Joachims, KDD 2006; Franc and Sonnenburg, JMLR 10 (2009); Teo, Vishwanathan, Smola, Le, JMLR 11 (2010).
    """

    losses = losses_of("margin")

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", tol=1e-3, max_cuts=200, random_state=None,
                 initial=None, core="compiled"):  # fmt: skip
        problem = LinearProblem(design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses)
        risk = core_at(RISK, core).PointwiseRisk(problem)
        seed = seed_of(random_state, initial)
        super().__init__(risk, tol=tol, max_cuts=max_cuts, seed=seed, initial=initial, core=core)
