"""The strength of regularisation, and options of a solver, by validation, for any estimator with ``alpha`` or ``C``."""

from itertools import product

import numpy as np

from kernbench._lazy import load
from kernbench.datasets.splits import split_indices
from kernbench.experiments.measure.building import build, takes
from kernbench.kernels.base import squared_norms

HELD_OUT = 0.25  # share of the rows for validation, without folds


def best_alpha(
    estimator,
    params,
    data,
    output,
    *,
    alphas,
    max_rows,
    max_kernel_rows=None,
    folds=None,
    fpr_range=None,
    warm=True,
    seed,
):
    """Return the alpha with the best validation score; among equal ones the largest.

    Since the loss is a mean, alpha does not depend on the number of rows and may be chosen on some of them.

    Parameters
    ----------
    estimator : str
        ``"module:Class"``. One with ``alpha`` and ``path`` starts each fit from the previous solution if `warm`; others
        are fitted from scratch.
    params : dict
        Its other parameters. A time budget among them is that of the fit, and ignored here.
    data : Dataset
    output : {"predict", "decision_function"}
        The score is the accuracy of the former, the AUC of the latter.
    alphas : list of float
    max_rows : int
        Largest number of training rows used, a stratified draw.
    max_kernel_rows : int, optional
        The same for kernels, which take longer to fit; `max_rows` by default.
    folds : int, optional
        Stratified folds, drawn at random; by default a quarter of the rows is held out once.
    fpr_range : (float, float), optional
        Score by the partial AUC over this range instead of the AUC.
    warm : bool, default=True
        False for options of a solver that diverge at some alphas: each starts as the final fit does.
    seed : int
    """
    X, y = data.X_train, data.y_train
    params = {name: value for name, value in params.items() if name != "max_seconds"}
    if max_kernel_rows is not None and params.get("kernel", "linear") != "linear":
        max_rows = max_kernel_rows
    if len(y) > max_rows:
        rows, _ = split_indices(y, max_rows, seed)
        X, y = X[rows], y[rows]
    alphas = sorted(alphas, reverse=True)
    scores = np.zeros(len(alphas))
    for train, test in _splits(y, folds, seed):
        models = _along(alphas, estimator, params, X[train], y[train], warm)
        scores += [_score(model, output, X[test], y[test], fpr_range) for model in models]
    return float(alphas[np.argmax(scores)])


def best_options(estimator, params, data, output, *, grid, alphas, max_rows, n_points=None, fpr_range=None, seed):
    """Return the options of a solver with the best score on a quarter of the rows; among equal ones the first.

    Each fit is as long as the final one: options that do best in a short run may diverge in a longer one.

    Parameters
    ----------
    estimator, params, data, output, max_rows, fpr_range, seed
        As for :func:`best_alpha`. ``solver_options`` in `params` apply where the grid says nothing.
    grid : dict of str to list
        Values by the name of an option; all combinations are tried. ``c`` stands for a ``step_size`` of c over the mean
        |x|^2, so that it does not depend on the units of the features.
    alphas : list of float
        The smallest is used: papers without a penalty choose their options so.
    n_points : int, optional
        Try only the first so many combinations.
    """
    X, y = data.X_train, data.y_train
    rows = split_indices(y, max_rows, seed)[0] if len(y) > max_rows else np.arange(len(y))
    X, y = X[rows], y[rows]
    ((train, test),) = _splits(y, None, seed)
    mean = float(squared_norms(X[train]).mean())
    best, found = -np.inf, {}
    for values in list(product(*grid.values()))[:n_points]:
        options = {**(params.get("solver_options") or {}), **dict(zip(grid, values))}
        if "c" in options:
            options["step_size"] = options.pop("c") / mean
        own = {**params, "solver_options": options, "alpha": min(alphas)}
        score = _score(build(estimator, own, len(train)).fit(X[train], y[train]), output, X[test], y[test], fpr_range)
        if score > best:
            best, found = score, options
    return found


def _splits(y, folds, seed):
    if folds is None:
        return [split_indices(y, round((1 - HELD_OUT) * len(y)), seed + 1)]
    from sklearn.model_selection import StratifiedKFold

    # Shuffled, since rows of a file are often sorted.
    return StratifiedKFold(folds, shuffle=True, random_state=seed).split(y, y)


def _along(alphas, estimator, params, X, y, warm):
    """Yield a model for each alpha."""
    make = load(estimator)
    if warm and takes(make, "alpha") and hasattr(make, "path"):
        yield from build(estimator, params, len(y)).path(X, y, alphas)
    else:
        for alpha in alphas:
            yield build(estimator, {**params, "alpha": alpha}, len(y)).fit(X, y)


def _score(model, output, X, y, fpr_range=None):
    from kernbench.metrics import partial_auc

    answer = getattr(model, output)(X)
    if output == "decision_function":
        return partial_auc(y, answer, fpr_range or (0.0, 1.0))
    return float(np.mean(answer == y))
