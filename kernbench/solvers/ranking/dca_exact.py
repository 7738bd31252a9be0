"""Exact DCA for a partial AUC and for a ranked range (see `lbfgs_dca`)."""

from kernbench.losses.table import losses_of
from kernbench.problems.ranking.ranked_problem import RangeProblem, WindowProblem, check_loss
from kernbench.solvers.ranking.lbfgs_dca import ExactDCA


class PartialAUCDCA(ExactDCA):
    """Exact DCA for alpha/2 |f|^2 + the mean loss over the pairs within a range of false positive rates.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
        Made by `as_design`.
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, at least 0.
    weights : array-like of shape (n_samples,), optional
        The pair (i, j) has weight w_i w_j; the range is measured in cumulative weight of negatives. Equal by default.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="log_loss"
    fpr_range : (float, float), default=(0.0, 1.0)
    ranks : (int, int), optional
        (m, n) instead of `fpr_range`: the negatives ranked m + 1 to n.
    tol : float, default=1e-3
        Converged when the gap of the subproblem, and the decrease of the objective since the lower part was last
        linearised, are at most `tol` times the objective.
    proximal : float, default=1e-4
        Weight of the proximal term of the subproblems for alpha=0.
    random_state : None, int, RandomState or Generator
        Draws the sample of the first fit.
    initial : Solution, optional
        A solution of this solver for the same problem, to be continued; any nonzero coefficients are a starting point
        (0 is critical). By default the start is the solution for a sample or, for few data, the scaled Newton step from
        f = 0 for the mean over all pairs.
    core : {"compiled", "reference"}, default="compiled"

    Attributes
    ----------
    subproblem_gap : float
        Certified gap of the point in the last convex subproblem: by how much a step of DCA can lower that bound of the
        objective.
    vanishes : bool
        Whether no function with a smaller objective than f = 0 was found.
    """

    losses = losses_of("pair")

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", fpr_range=(0.0, 1.0), ranks=None, tol=1e-3,
                 proximal=1e-4, random_state=None, initial=None, core="compiled"):  # fmt: skip
        check_loss(loss, self.losses)
        ranked = WindowProblem(y, weights, loss, fpr_range, ranks)
        super().__init__(design, ranked, alpha=alpha, tol=tol, proximal=proximal, random_state=random_state,
                         initial=initial, core=core)  # fmt: skip


class RankedRangeDCA(ExactDCA):
    """Exact DCA for alpha/2 |f|^2 + the mean of the losses within a range of ranks.

    Parameters
    ----------
    design, alpha, tol, proximal, random_state, core : see `PartialAUCDCA`
    y : array-like of shape (n_samples,)
        Labels, -1 or +1, for a loss of a margin; real numbers otherwise.
    weights : array-like of shape (n_samples,), optional
        The range is measured in cumulative weight. Ones by default.
    loss : {"hinge", "squared_hinge", "log_loss", "squared_error", "absolute_error", "huber", \
            "epsilon_insensitive"}, default="log_loss"
    ranked_range : (float, float), optional
        (m, n): the losses ranked from m to n, the largest first. All by default.
    initial : Solution, optional
        See `PartialAUCDCA`; for few data the start is the scaled Newton step from f = 0 for the mean of all losses.

    Attributes
    ----------
    subproblem_gap, vanishes : see `PartialAUCDCA`
    """

    losses = losses_of("rank")

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", ranked_range=None, tol=1e-3, proximal=1e-4,
                 random_state=None, initial=None, core="compiled"):  # fmt: skip
        check_loss(loss, self.losses)
        ranked = RangeProblem(y, weights, loss, ranked_range)
        super().__init__(design, ranked, alpha=alpha, tol=tol, proximal=proximal, random_state=random_state,
                         initial=initial, core=core)  # fmt: skip
