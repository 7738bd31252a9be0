"""Intervals of the accuracy of cross-validation that hold for the exact minimisers of all folds, by their `bands`.

With a kernel that is not positive semi-definite the folds have no minimisers, or none that a band bounds: such kernels
are told as those of fits, see `problems.certificate.curvature`.
"""

from copy import copy
from functools import partial

import numpy as np

from kernbench.estimators.search.bands import decision_band
from kernbench.estimators.search.one_kernel import OneKernel, SearchEnded

LEAST_GROWTH = 1.001  # from one C to the next
RESOLUTION = 0.1 * np.log(LEAST_GROWTH)  # of a growth, as a logarithm
STRICTER = 0.1  # factor from one tolerance to the next
STRICTEST = 1e-10  # tolerance at which an interval is left as wide as it is


def certify_finalists(grid, width, deadline):
    """Bound the mean accuracies of the exact minimisers of all cells within one standard error of the best one.

    Parameters
    ----------
    grid : GridOfCells
        After its run; its cells get ``certified_lower`` and ``certified_upper``, as far as there is time. Those without
        an interval are counted in ``n_indefinite``.
    width, deadline : float
        As for `certified_interval`.
    """
    name = grid.scoring.names[0]
    means = np.array([cell["scores"][name].mean() if "scores" in cell else np.nan for cell in grid.cells])
    best = np.nanmax(means)
    least = best - np.sqrt(best * (1.0 - best) / sum(len(fold.test) for fold in grid.folds))
    try:
        for cell, mean in zip(grid.cells, means, strict=True):
            if mean >= least:
                group = dict(cell["params"])
                C = group.pop("C")
                task = grid.search._source(group, grid.examples, grid.folds, deadline).task
                bounds = certified_interval(task, grid.examples.sample_weight, grid.folds, C, width, deadline)
                cell["certified_lower"], cell["certified_upper"], n_kernel_evaluations = bounds
                grid.n_indefinite += bool(np.isnan(cell["certified_lower"]))
                grid.n_kernel_evaluations += n_kernel_evaluations
    except SearchEnded as ended:
        grid.status = ended.args[0]


def certified_interval(task, sample_weight, folds, C, width, deadline):
    """Return bounds of the mean accuracy over folds of the exact minimisers, at most `width` apart if that is possible.

    The folds are solved in float64, to a smaller and smaller tolerance.

    Parameters
    ----------
    task : KernelTask
    sample_weight : ndarray of shape (n,), or None
    folds : list of Fold
    C, width : float
    deadline : float
        As for `OneKernel`.

    Returns
    -------
    lower, upper : float
        NaN if the kernel is not positive semi-definite.
    n_kernel_evaluations : int
    """
    task = copy(task)
    task.dtype, task.model = "float64", copy(task.model)
    kernel = OneKernel(task, sample_weight, folds, deadline)
    diagonal, cell = kernel.squared_norms(), None
    while True:
        cell = next(kernel.cells([C])) if cell is None else kernel.continued(C, cell)
        if _is_indefinite(kernel, C, cell):
            return np.nan, np.nan, kernel.n_kernel_evaluations
        lower, upper = _interval(kernel, sample_weight, C, cell, diagonal)
        task.model.tol *= STRICTER
        if upper - lower <= width or task.model.tol < STRICTEST:
            return lower, upper, kernel.n_kernel_evaluations


def covered_range(task, sample_weight, folds, low, high, most, deadline):
    """Return the C up to which, from `low`, no exact minimisers have a mean accuracy over folds above `most`.

    The folds are solved in float64 for one C after the other, each as far from the one before as the bound allows;
    where it allows less than `LEAST_GROWTH`, to a smaller tolerance.

    Parameters
    ----------
    task, sample_weight, folds, deadline : see `certified_interval`
    low, high, most : float

    Returns
    -------
    covered : float
        `high`, or less where the accuracy above may be larger than `most`.
    n_solved : int
        Number of Cs for which the folds were solved.

    Raises
    ------
    ValueError
        If the kernel is not positive semi-definite.
    KeyboardInterrupt
        After Ctrl-C.
    """
    task = copy(task)
    task.dtype, task.model = "float64", copy(task.model)
    kernel, C, n_solved = OneKernel(task, sample_weight, folds, deadline), low, 1
    try:
        diagonal, cell = kernel.squared_norms(), next(kernel.cells([low]))
        while True:
            if _is_indefinite(kernel, C, cell):
                raise ValueError(
                    "covered_C bounds the accuracy of exact minimisers, which exist only for a positive semi-definite "
                    "kernel, and this one is not on these rows: use another (of a precomputed matrix, set the negative "
                    "eigenvalues to 0), or rely on cross-validation"
                )
            holds = partial(_is_bounded, kernel, sample_weight, C, cell, diagonal, most)
            growth = _largest_growth(holds, high / C)
            if growth >= high / C:
                return high, n_solved
            if growth < LEAST_GROWTH:
                task.model.tol *= STRICTER
                if task.model.tol < STRICTEST:
                    return C, n_solved
            cell = kernel.continued(C * growth, cell, growth)
            C, n_solved = C * growth, n_solved + 1
    except SearchEnded as ended:
        if ended.args[0] == "interrupted":
            raise KeyboardInterrupt from None
        return C, n_solved


def _is_bounded(kernel, weights, C, cell, diagonal, most, growth):
    return _interval(kernel, weights, C, cell, diagonal, growth)[1] <= most


def _is_indefinite(kernel, C, cell):
    """Return whether the solution of any fold shows that the kernel is not positive semi-definite."""
    return any(
        kernel.is_indefinite(pair, C, solution, j)
        for pair, own in zip(kernel.pairs, cell.of_folds, strict=True)
        for j, solution in enumerate(own)
    )


def _largest_growth(holds, most):
    """Return the largest growth from 1 to `most` for which `holds` is true, up to `RESOLUTION`; 1 if there is none."""
    if holds(most):
        return most
    low, high = 0.0, np.log(min(most, np.finfo(np.float64).max))  # the ratio of two Cs may overflow
    while high - low > RESOLUTION:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(np.exp(middle)) else (low, middle)
    return float(np.exp(low))


def _interval(kernel, weights, C, cell, diagonal, growth=1.0):
    """Return bounds of the mean accuracy from the settled predictions of each fold, for all Cs from C to growth C."""
    bounds = []
    for j, fold in enumerate(kernel.folds):
        votes = np.zeros((2, len(fold.test), len(kernel.model.classes_)))  # certain ones, and possible ones
        for k, pair in enumerate(kernel.pairs):
            solution = cell.of_folds[k][j]
            band = decision_band(
                pair.y,
                C * kernel.weights_of_pair(pair, j),
                solution.coef,
                solution.state["products"],
                diagonal,
                kernel.model.fit_intercept,
                growth,
            )
            lower, upper = (end[fold.test] for end in band)
            votes[0, :, pair.positive] += lower > 0.0
            votes[0, :, pair.negative] += upper < 0.0
            votes[1, :, pair.positive] += upper >= 0.0
            votes[1, :, pair.negative] += lower <= 0.0
        bounds.append(_shares(votes, kernel.task.codes[fold.test], None if weights is None else weights[fold.test]))
    return tuple(float(end) for end in np.mean(bounds, axis=0))


def _shares(votes, codes, weights):
    """Return the shares, by weight, of rows whose class certainly has most votes, and of those where it may have."""
    rows = np.arange(len(codes))
    certain, possible = votes
    own = certain[rows, codes], possible[rows, codes]
    others = certain.copy(), possible.copy()
    for one in others:
        one[rows, codes] = -1.0
    ends = own[0] > others[1].max(axis=1), own[1] >= others[0].max(axis=1)
    return tuple(np.average(end, weights=weights) for end in ends)
