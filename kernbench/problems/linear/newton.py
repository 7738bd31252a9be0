"""What both twins of Newton's method share: the width of the first smoothing, costs and samples of rows."""

import numpy as np

WIDEST = 2.0  # in units of the margin: at w = 0 half the slope of the hinge
LARGEST = 1500  # features up to which the d x d Hessian is formed
SAMPLE = 4096  # rows of the first fit, if there are more than four times as many
MOST_WORK = 1e9  # of a Hessian, in multiplications of a product with the data: about a second
BLOCKED = 8.0  # multiplications by BLAS in the time of one of a product with the data
SCATTERED = 0.5  # the same for products of the entries of sparse rows
COPIED = 8.0  # multiplications in the time that an entry of the Hessian takes to be summed up, copied and mirrored
CHEAP = 16.0  # multiplications per stored value up to which the Hessian is factorised in each step
FIRST = 80.0  # the same for the first time: less than that is not worth a try of conjugate gradients without a factor


def first_width(problem):
    """Return the width of the widest smoothing: 0 for a smooth loss, else about the size of residuals at w = 0."""
    if np.isfinite(problem.loss.smoothness):
        return 0.0
    size = float(problem.weights @ np.abs(problem.targets) / problem.total_weight)
    return size if size > 0.0 else WIDEST


def cost_of_row(design):
    """Return what a row adds to the cost of a Hessian, in multiplications of a product with the data."""
    dense = design.n_coef**2 / BLOCKED
    entries = design.n_values / design.n_samples
    return min(dense, entries**2 / (2 * SCATTERED)) if entries < design.n_coef else dense


def cost_of_factor(d):
    """Return the cost of a Cholesky factor, besides that of the rows, in multiplications of a product with the data."""
    return d**3 / (3.0 * BLOCKED) + COPIED * d**2


def hessian_rows(n, d, row_cost, rng):
    """Return the rows that a Hessian is summed over: all, or a random sample of as many as can be afforded."""
    size = max(4 * d, SAMPLE, int(MOST_WORK / row_cost))
    return np.arange(n) if size >= n else np.sort(rng.choice(n, size, replace=False))
