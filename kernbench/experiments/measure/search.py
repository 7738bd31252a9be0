"""The strength of regularisation by validation, for any estimator with ``alpha`` or ``C``."""

import numpy as np

from kernbench._lazy import load
from kernbench.datasets.splits import split_indices
from kernbench.experiments.measure.building import build, takes

HELD_OUT = 0.25  # share of the rows for validation, without folds


def best_alpha(
    estimator, params, data, output, *, alphas, max_rows, max_kernel_rows=None, folds=None, fpr_range=None, seed
):
    """Return the alpha with the best validation score; among equal ones the largest.

    Since the loss is a mean, alpha does not depend on the number of rows and may be chosen on some of them.

    Parameters
    ----------
    estimator : str
        ``"module:Class"``. One with ``alpha`` and ``path`` starts each fit from the previous solution; others are
        fitted from scratch.
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
        models = _along(alphas, estimator, params, X[train], y[train])
        scores += [_score(model, output, X[test], y[test], fpr_range) for model in models]
    return float(alphas[np.argmax(scores)])


def _splits(y, folds, seed):
    if folds is None:
        return [split_indices(y, round((1 - HELD_OUT) * len(y)), seed + 1)]
    from sklearn.model_selection import StratifiedKFold

    # Shuffled, since rows of a file are often sorted.
    return StratifiedKFold(folds, shuffle=True, random_state=seed).split(y, y)


def _along(alphas, estimator, params, X, y):
    """Yield a model for each alpha."""
    make = load(estimator)
    if takes(make, "alpha") and hasattr(make, "path"):
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
