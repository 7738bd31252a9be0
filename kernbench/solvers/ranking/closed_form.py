"""The squared loss over all pairs, solved: a linear system of class means and covariances."""

import numpy as np

from kernbench.pairs.checks import binary_problem
from kernbench.problems.margin_problem import require_number
from kernbench.solvers.bundle._preconditioner import LARGEST, solve_pairwise_hessian


def squared_loss_solution(design, y, *, alpha, weights=None):
    """Minimise alpha/2 |w|^2 + the mean over pairs of (1 - w'(x_i - x_j))^2.

    With m and M the first and second moment of the differences, (alpha I + 2 M) w = 2 m. A start for the
    solvers of the hinge losses, or an answer of its own.

    Parameters
    ----------
    design : FeatureDesign
        Made by `as_design`, of at most 1500 features.
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n_samples,), optional
        The pair (i, j) weighs w_i w_j. All equal by default.

    Returns
    -------
    ndarray of shape (n_features,)

    Raises
    ------
    ValueError
        A kernel, too many features, labels or weights that no solver takes.
    """
    alpha = require_number("alpha", alpha, positive=True)
    if design.is_kernel or design.n_coef > LARGEST:
        found = "a kernel" if design.is_kernel else f"{design.n_coef:,}"
        raise ValueError(
            f"the closed form of the squared loss needs explicit features, at most {LARGEST:,} of them, got {found}: "
            "choose another loss, such as 'squared_hinge', or fewer features"
        )
    if np.shape(y) != (design.n_samples,):
        raise ValueError(f"y must hold one label per sample, shape ({design.n_samples},), got {np.shape(y)}")
    positive, weights = binary_problem(y, weights)
    shares = np.ones(len(positive)) if weights is None else weights.copy()
    for members in (positive, ~positive):
        shares[members] /= shares[members].sum()
    difference = design.combine(np.where(positive, shares, -shares))
    return solve_pairwise_hessian(design, positive, alpha, 2 * shares, 2 * difference)
