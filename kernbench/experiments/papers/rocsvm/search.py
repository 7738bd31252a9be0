"""The strength of regularisation by cross-validation, for any estimator with a parameter ``alpha``."""

import numpy as np
from sklearn.model_selection import StratifiedKFold

from kernbench.datasets.splits import stratified_indices
from kernbench.experiments.declare import resolve
from kernbench.metrics import roc_auc


def chosen_alpha(estimator, params, data, *, alphas, cv, max_rows, max_kernel_rows=None, seed):
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
        Stratified folds, drawn at random.
    max_rows : int
        Training rows that are used, a stratified draw.
    max_kernel_rows : int, optional
        The same for kernels, whose fits take longer; `max_rows` by default.
    seed : int

    Returns
    -------
    float
    """
    X, y = data.X_train, data.y_train
    if max_kernel_rows is not None and params.get("kernel", "linear") != "linear":
        max_rows = max_kernel_rows
    if len(y) > max_rows:
        rows = stratified_indices(y, max_rows, np.random.default_rng(seed))
        X, y = X[rows], y[rows]
    make = resolve(estimator)
    alphas = sorted(alphas, reverse=True)
    aucs = np.zeros(len(alphas))
    # Files are in order of something: neighbouring rows make folds that differ more than splits do.
    folds = StratifiedKFold(cv, shuffle=True, random_state=seed)
    for train, test in folds.split(X, y):
        if hasattr(make, "path"):
            models = make(**params).path(X[train], y[train], alphas)
        else:
            models = [make(**params, alpha=alpha).fit(X[train], y[train]) for alpha in alphas]
        aucs += [roc_auc(y[test], model.decision_function(X[test])) for model in models]
    return float(alphas[np.argmax(aucs)])
