"""The squared loss over all pairs in plain NumPy: (alpha I + 2 M) w = 2 m, m and M the moments of the differences."""

import numpy as np

from kernbench.problems.ranking.pairwise_problem import PairwiseProblem


def squared_loss_solution(design, y, *, alpha, weights=None):
    """Minimise alpha/2 |w|^2 + the mean over pairs of (1 - w'(x_i - x_j))^2, for explicit features.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n_samples,)
    alpha : float
    weights : array-like of shape (n_samples,), optional

    Returns
    -------
    ndarray of shape (n_features,)
    """
    problem = PairwiseProblem(design.n_samples, y, alpha=alpha, weights=weights)
    w = np.ones(problem.n) if problem.weights is None else problem.weights
    X = design.rows(np.arange(problem.n))
    means, M = [], np.zeros((design.n_coef, design.n_coef))
    for members in (problem.positive, ~problem.positive):
        shares = w[members] / w[members].sum()
        means.append(shares @ X[members])
        centred = X[members] - means[-1]
        M += centred.T @ (shares[:, None] * centred)
    m = means[0] - means[1]
    M += np.outer(m, m)
    return np.linalg.solve(problem.alpha * np.eye(design.n_coef) + 2 * M, 2 * m)
