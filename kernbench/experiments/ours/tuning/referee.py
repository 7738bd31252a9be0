"""One judge for all searches: the objective at the parameters chosen, and how far the choice is from the best one."""

from itertools import combinations

import numpy as np

from kernbench.estimators import KernelSVC, KernelSVCCV
from kernbench.experiments.measure.objectives import gaussian
from kernbench.experiments.ours.tuning.peers import standard_error
from kernbench.kernels.blocks import matmul
from kernbench.metrics import roc_auc

CACHE = 2000  # megabytes, as the searches have


def relative_gap(model, X, y, *, C, gamma):
    """How far the objective of a fitted Gaussian SVM is above a certified lower bound, relative to the bound.

    Of many classes the sums over all pairs of them are compared.

    Parameters
    ----------
    model : fitted classifier
        With ``classes_``, ``support_``, ``dual_coef_`` and ``intercept_`` as `SVC` has them.
    X, y
        The training data.
    C, gamma : float
    """
    exact = KernelSVC(kernel="rbf", C=C, gamma=gamma, tol=1e-4, cache_size=CACHE).fit(X, y)
    sizes = [np.count_nonzero(np.isin(y, pair)) for pair in combinations(exact.classes_, 2)]
    bounds = np.ravel(exact.objective_) - np.ravel(exact.duality_gap_)  # of alpha/2 |f|^2 + mean hinge
    bound = C * float(bounds @ sizes)
    return objective(model, X, y, C=C, gamma=gamma) / bound - 1.0


def objective(model, X, y, *, C, gamma):
    """1/2 ‖f‖² + C times the sum of hinge losses, summed over all pairs of classes, one against one.

    Parameters
    ----------
    model, X, y, C, gamma
        As of `relative_gap`.
    """
    classes, support = model.classes_, np.asarray(model.support_)
    coef = np.atleast_2d(model.dual_coef_.toarray() if hasattr(model.dual_coef_, "toarray") else model.dual_coef_)
    of_support, total = y[support], 0.0
    for k, (i, j) in enumerate(combinations(range(len(classes)), 2)):
        first, second = of_support == classes[i], of_support == classes[j]
        own = np.zeros(len(support))
        # SVC's order: a row for each other class, those below a support vector's own class first.
        own[first], own[second] = coef[j - 1, first], coef[i, second]
        rows = np.flatnonzero(np.isin(y, (classes[i], classes[j])))
        signs = np.where(y[rows] == classes[i], 1.0, -1.0)
        if len(classes) == 2:  # positive for the second class
            signs = -signs
        used = support[first | second]
        f = matmul(gaussian(gamma), X[rows], X[used], own[first | second], dtype="float64")
        norm = float(own[first | second] @ f[np.searchsorted(rows, used)])
        losses = np.maximum(0.0, 1.0 - signs * (f + model.intercept_[k]))
        total += 0.5 * norm + C * float(losses.sum())
    return total


def mean_auc(classes, y, scores):
    """The AUC of two classes; of more the mean over classes of each against the rest, None without a score of each."""
    if len(classes) == 2:
        return roc_auc(y == classes[1], scores)
    if np.ndim(scores) == 1:
        return None
    return float(np.mean([roc_auc(y == label, column) for label, column in zip(classes, np.transpose(scores))]))


def standard_errors_below_best(params, X, y, *, Cs, gammas, cv):
    """How far the mean score of a cell is below the best of an exact search, in standard errors of the best.

    Parameters
    ----------
    params : dict
        ``C`` and ``gamma`` of the cell.
    X, y, Cs, gammas, cv
        As of the search.
    """
    exact = KernelSVCCV(Cs, gammas, cv=cv, refit=False, cache_size=CACHE).fit(X, y)
    table, best = exact.cv_results_, exact.best_index_
    below = exact.best_score_ - table["mean_test_score"][table["params"].index(params)]
    if below == 0.0:
        return 0.0
    return float(below / standard_error([table[f"split{k}_test_score"][best] for k in range(exact.n_splits_)]))
