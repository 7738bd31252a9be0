"""What both twins of Newton's method share: the first width, costs, samples of rows, coordinate ascent in its place."""

from time import perf_counter

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
ASCENT = 4.0  # Hessians and factors, in the time of which coordinate ascent may reach the optimum
FEWEST_PASSES = 32  # of coordinate ascent: where fewer cost as much, Newton steps are cheap
LATE = 1000  # passes of conjugate gradients without a factor before coordinate ascent is tried with a smooth loss
LATE_PASSES = 4 * LATE  # at most: on nearly separable rows it takes hundreds where Newton steps do not end
HOPELESS = 0.9  # a gap, relative to the objective, at which coordinate ascent is given up early


def first_width(problem):
    """Return the width of the widest smoothing: 0 for a smooth loss, else about the size of residuals at w = 0."""
    if np.isfinite(problem.loss.smoothness):
        return 0.0
    size = float(problem.weights @ np.abs(problem.targets) / problem.total_weight)
    return size if size > 0.0 else WIDEST


def cost_of_row(design):
    """Return what a row adds to the cost of a Hessian, in multiplications of a product with the data."""
    dense = design.n_coef**2 / BLOCKED
    entries = max(1, design.n_values) / design.n_samples
    return min(dense, entries**2 / (2 * SCATTERED)) if entries < design.n_coef else dense


def cost_of_factor(d):
    """Return the cost of a Cholesky factor, besides that of the rows, in multiplications of a product with the data."""
    return d**3 / (3.0 * BLOCKED) + COPIED * d**2


def hessian_rows(n, d, row_cost, rng):
    """Return the rows that a Hessian is summed over: all, or a random sample of as many as can be afforded."""
    size = _most_rows(d, row_cost)
    return np.arange(n) if size >= n else np.sort(rng.choice(n, size, replace=False))


def _most_rows(d, row_cost):
    return max(4 * d, SAMPLE, int(MOST_WORK / row_cost))


def most_passes(design):
    """Return how many passes of coordinate ascent cost as much as `ASCENT` Hessians; 0 where it is not worth a try."""
    row_cost = cost_of_row(design)
    rows = min(design.n_samples, _most_rows(design.n_coef, row_cost))
    cost = ASCENT * (rows * row_cost + cost_of_factor(design.n_coef))
    passes = int(cost / max(1, design.n_values))
    return passes if passes >= FEWEST_PASSES else 0


def ascends_late(work, design):
    """Return whether conjugate gradients without a factor have taken so long that coordinate ascent is worth a try.

    Parameters
    ----------
    work : float
        Multiplications of conjugate gradients so far; minus infinity after that try.
    design : FeatureDesign
    """
    return design.n_coef > LARGEST and work >= 2.0 * LATE * design.n_values


def ascends_in(solver, n, most, deadline=np.inf):
    """Run a solver of coordinate ascent for up to `most` passes of `n` rows; return whether it has converged.

    It is given up after a quarter of them if its gap is still nearly the whole objective. A rate of convergence tells
    less: the gap falls at once when the last rows reach the margin. After a pass that ends past the `deadline`, a value
    of `time.perf_counter`, it is given up, too.
    """
    for passes in (most // 4, most):
        while solver.n_iter < passes * n and not solver.converged:
            left = passes * n - solver.n_iter
            solver.advance(left if deadline == np.inf else min(n, left))  # parts do not change the iterates
            if perf_counter() >= deadline:
                return solver.converged
        if solver.converged:
            return True
        if solver.gap() > HOPELESS * solver.objective():
            return False
    return False
