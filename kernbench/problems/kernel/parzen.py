"""When the Parzen classifier is the minimiser: with strong regularisation all examples lie inside the margin.

With all hinges active the minimiser of alpha/2 ||f||^2 + (1/n) sum_i w_i max(0, 1 - y_i f(x_i)) is

    f = 1/(alpha n) sum_i w_i y_i k(x_i, .) = g / (alpha n),  objective = (1/n) sum w_i - w'(yy' * K)w / (2 alpha n^2),

the Parzen window classifier: each dual variable is at its upper bound 1, which is optimal if and only if no
margin y_i f(x_i) of an example with w_i > 0 exceeds 1. So it holds if and only if
alpha >= max_i y_i g(x_i) / n; with k <= 1, as for a Gaussian kernel, and unit weights it does for alpha >= 1.

With an unregularised intercept the dual has the constraint sum_i w_i y_i a_i = 0, which a = 1 satisfies only if both
classes have the same total weight; and some b must satisfy max_i y_i (f(x_i) + b) <= 1.
"""

import numpy as np

SAME_WEIGHT = 1e-12  # relative difference of the two classes' weights that counts as rounding


def smallest_alpha(sums, y, weights, *, fit_intercept):
    """Return the smallest alpha at which the Parzen classifier is the minimiser.

    Parameters
    ----------
    sums : ndarray of shape (n,)
        g(x_i) = sum_j w_j y_j k(x_j, x_i).
    y : ndarray of shape (n,)
        Labels, -1 or +1; each class needs a positive weight.
    weights : ndarray of shape (n,)
    fit_intercept : bool

    Returns
    -------
    float
        0.0 if it is the minimiser for every alpha > 0, infinity if it is for no alpha.
    """
    used = weights > 0
    heights, y, weights = (y * sums)[used], y[used], weights[used]
    if not fit_intercept:
        return max(0.0, float(heights.max())) / len(sums)
    if not _same_weight(y, weights):
        return np.inf
    # There must be a b with f(x_i) + b <= 1 for positives and -f(x_i) - b <= 1 for negatives.
    return max(0.0, float(heights[y > 0].max() + heights[y < 0].max())) / (2 * len(sums))


def middle_intercept(f, y, weights):
    """Return the midpoint of the intercepts for which no margin y_i (f(x_i) + b) exceeds 1."""
    positive, negative = (weights > 0) & (y > 0), (weights > 0) & (y < 0)
    return 0.5 * float((1.0 - f[positive].max()) + (-1.0 - f[negative].min()))


def require_possible(y, weights):
    """Raise ValueError if no alpha makes the Parzen classifier the minimiser with an intercept."""
    if not _same_weight(y, weights):
        raise ValueError(
            "with an intercept the closed form is the minimiser only if both classes have the same total weight: "
            "set fit_intercept=False, or class_weight='balanced'"
        )


def _same_weight(y, weights):
    return abs(weights @ y) <= SAME_WEIGHT * weights.sum()
