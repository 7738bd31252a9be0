"""Bands of decision values that hold for the exact minimisers.

The problem of a fold is to minimise, over f and b,

    P(f, b) = 1/2 ||f||^2 + sum_i c_i max(0, 1 - y_i (f(x_i) + b)),      c_i = C w_i, and 0 on held-out rows,

with the dual objective D(beta) = sum_i y_i beta_i - 1/2 ||f_beta||^2, f_beta = sum_i beta_i k(x_i, .). As P less
1/2 ||f||^2 and -D less 1/2 ||f_beta||^2 are convex, at f = f_beta

    1/2 ||f - f*||^2 <= P(f, b) - P*    and    1/2 ||f - f*||^2 <= D* - D(beta),

and as P* = D*, the sum of both is the duality gap G: ||f - f*||^2 <= G, and |f(x) - f*(x)| <= sqrt(G k(x, x)).
This takes a kernel that is positive semi-definite on all rows, held-out ones included; for another there is no such
norm, and nothing holds (`OneKernel.is_indefinite`).

The intercept: b* minimises the losses at f*, whose derivative with respect to b starts at minus the sum of the c_i of
the positive rows and grows by c_i where b passes e_i = y_i - f*(x_i). So the minimisers are the quantiles of the e_i,
weighted by the c_i, at the mass of the positive rows. A quantile grows with each e_i, and e_i is known up to
r_i = sqrt(G k(x_i, x_i)): all b* are between the least such quantile of e_i - r_i and the largest of e_i + r_i.

At s C with s >= 1, f and s beta are feasible, with P - D = 1/2 (s - 1)^2 ||f||^2 + s G. The first inequality for f, the
second for s f and the parallelogram law give

    ||(1 + s)/2 f - f*||^2 <= 1/4 (s - 1)^2 ||f||^2 + s G,

which grows with s: so one solution bounds the minimisers of a range of C.

Where f + b exceeds both errors in magnitude, the exact minimiser of the fold predicts the same class, whichever b* it
takes. Compare Shibagaki, Suzuki, Karasuyama, Takeuchi, NeurIPS 2015.
"""

import numpy as np

ROUNDING = 1e-12  # share of the objectives by which their difference may be wrong in float64
SAME_MASS = 1e-12  # share of the mass that counts as rounding, which widens the interval of quantiles


def decision_band(y, costs, beta, scores, diagonal, fit_intercept=True, growth=1.0):
    """Return bounds of f*(x_i) + b* on all rows, for the exact minimisers of a range of C and all of their intercepts.

    Parameters
    ----------
    y : ndarray of shape (n,)
        -1 and +1.
    costs : ndarray of shape (n,)
        c_i, of which some are positive in both classes.
    beta : ndarray of shape (n,)
        Feasible: 0 <= y_i beta_i <= c_i, with the sum 0 if there is an intercept.
    scores : ndarray of shape (n,)
        K beta, in float64.
    diagonal : ndarray of shape (n,)
        k(x_i, x_i), at least 0.
    fit_intercept : bool, default=True
    growth : float, default=1.0
        At least 1: the bounds hold for all problems with costs from 1 to so many times `costs`.

    Returns
    -------
    lower, upper : ndarray of shape (n,)
    """
    used = costs > 0
    mass = costs[used & (y > 0)].sum()
    intercept = np.mean(_quantiles((y - scores)[used], costs[used], mass)) if fit_intercept else 0.0
    squared_norm, linear = float(beta @ scores), float(beta @ y)
    loss = float(costs @ np.maximum(0.0, 1.0 - y * (scores + intercept)))
    rounding = ROUNDING * (squared_norm + loss + abs(linear)) + abs(intercept * beta.sum())
    gap = max(squared_norm + loss - linear, 0.0) + rounding
    reach = np.sqrt((0.25 * (growth - 1.0) ** 2 * squared_norm + growth * gap) * diagonal)
    centre = 0.5 * (1.0 + growth) * scores
    smallest, largest = np.minimum(scores, centre), np.maximum(scores, centre)
    lowest = highest = 0.0
    if fit_intercept:
        lowest = _quantiles((y - largest - reach)[used], costs[used], mass)[0]
        highest = _quantiles((y - smallest + reach)[used], costs[used], mass)[1]
    return smallest - reach + lowest, largest + reach + highest


def _quantiles(values, weights, mass):
    """Return the least and the largest quantile of weighted values: those where the weights below pass `mass`."""
    order = np.argsort(values, kind="stable")
    below, slack = np.cumsum(weights[order]), SAME_MASS * weights.sum()
    least = min(int(np.searchsorted(below, mass - slack, side="left")), len(order) - 1)
    largest = min(int(np.searchsorted(below, mass + slack, side="right")), len(order) - 1)
    return values[order[least]], values[order[largest]]
