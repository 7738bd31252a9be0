"""The strength of regularisation by cross-validation, for any estimator with a parameter ``alpha``."""

import numpy as np
from sklearn.model_selection import StratifiedKFold

from kernbench.datasets.splits import stratified_indices
from kernbench.experiments.base import resolve
from kernbench.metrics import roc_auc


def chosen_alpha(estimator, params, data, *, alphas, cv, max_rows, seed):
    """The alpha of the largest mean validation AUC, of equal ones the largest.

    An alpha does not depend on the number of rows, the risk being a mean, so it may be looked for on some of
    them.

    Parameters
    ----------
    estimator : str
        ``"module:Class"`` with a parameter ``alpha``. `ROCSVC` walks along the alphas from each solution to
        the next; others are fitted anew.
    params : dict
        Its other parameters.
    data : Dataset
    alphas : list of float
    cv : int
        Stratified folds.
    max_rows : int
        Training rows that are used, a stratified draw.
    seed : int

    Returns
    -------
    float
    """
    X, y = data.X_train, data.y_train
    if len(y) > max_rows:
        rows = stratified_indices(y, max_rows, np.random.default_rng(seed))
        X, y = X[rows], y[rows]
    make = resolve(estimator)
    alphas = sorted(alphas, reverse=True)
    aucs = np.zeros(len(alphas))
    for train, test in StratifiedKFold(cv).split(X, y):
        if hasattr(make, "path"):
            models = make(**params).path(X[train], y[train], alphas)
        else:
            models = [make(**params, alpha=alpha).fit(X[train], y[train]) for alpha in alphas]
        aucs += [roc_auc(y[test], model.decision_function(X[test])) for model in models]
    return float(alphas[np.argmax(aucs)])
