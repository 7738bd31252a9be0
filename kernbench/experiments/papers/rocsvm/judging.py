"""How a model that ranks is judged: by its AUC, by that of the truth, by the objective over all pairs."""

import numpy as np

from kernbench.metrics import roc_auc
from kernbench.ranking import AllPairs

# The score that no other can beat, where a formula drew the data: by the name of the data set.
TRUTHS = {
    "roc-linear": lambda X: X[:, 0] + X[:, 1],
    "roc-radial": lambda X: X[:, 0] ** 2 + X[:, 1] ** 2,
}


def truth_auc(data):
    """The AUC of the true score on the test rows; None where no formula drew them.

    It misses the population's AUC by the luck of the test rows (a standard error of 0.003 for 25,000), and
    so does that of any model, in the same direction: a model's distance to it is far more exact than its
    distance to the population's.
    """
    truth = TRUTHS.get(data.name)
    return None if truth is None else roc_auc(data.y_test, truth(data.X_test))


def squared_norm(model, training_scores):
    """‖f‖² of a fitted `ROCSVC`, or of a model with ``coef_`` alone.

    Parameters
    ----------
    model : fitted estimator
    training_scores : ndarray of shape (n,)
        ``model.decision_function`` of the training rows.
    """
    if getattr(model, "features_", None) != "exact":
        return float(model.coef_[0] @ model.coef_[0])
    f = training_scores[model.support_] - model.intercept_[0]
    return float(model.dual_coef_[0] @ f)


def objective(model, alpha, data):
    """alpha/2 ‖f‖² + the mean hinge over all pairs of training rows, by the same code for every model."""
    scores = np.asarray(model.decision_function(data.X_train), dtype=np.float64)
    return 0.5 * alpha * squared_norm(model, scores) + AllPairs(data.y_train).hinge_loss(scores)


def judge(model, data, scores):
    """Metrics of a model from its scores on the test rows.

    Parameters
    ----------
    model : fitted estimator
    data : Dataset
    scores : ndarray of shape (n_test,)

    Returns
    -------
    dict
        ``auc``; ``gap`` to the truth's AUC on the same rows and ``gap_population``, None for real data;
        ``alpha``, ``objective`` (of models with an alpha and hinge loss), ``n_iter``.
    """
    auc, truth, population = roc_auc(data.y_test, scores), truth_auc(data), data.population_auc
    alpha = getattr(model, "alpha", None)
    hinge = getattr(model, "loss_", None) == "hinge"
    n_iter = getattr(model, "n_iter_", None)
    return {
        "auc": auc,
        "gap": None if truth is None else truth - auc,
        "gap_population": None if population is None else population - auc,
        "alpha": alpha,
        "objective": objective(model, alpha, data) if hinge else None,
        "n_iter": None if n_iter is None else int(np.max(n_iter)),
    }
