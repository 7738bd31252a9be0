"""Metrics of a model that ranks: its AUC, the distance to that of the true score, the objective over all pairs."""

from kernbench.experiments.measure.judging import iterations
from kernbench.experiments.measure.objectives import squared_norm, training_scores
from kernbench.metrics import roc_auc
from kernbench.pairs import AllPairs

# The optimal score of data drawn from a formula, by the name of the data set.
TRUTHS = {"roc-linear": lambda X: X[:, 0] + X[:, 1], "roc-radial": lambda X: X[:, 0] ** 2 + X[:, 1] ** 2}


def truth_auc(data):
    """The AUC of the true score on the test rows; None if the data are not generated.

    It differs from the population's AUC by the sampling error of the test rows (a standard error of 0.003 for
    25,000), and so does that of any model, in the same direction: a model's distance to it is far more exact
    than its distance to the population's.
    """
    truth = TRUTHS.get(data.name)
    return None if truth is None else roc_auc(data.y_test, truth(data.X_test))


def pairwise_objective(model, alpha, data):
    """alpha/2 ‖f‖² + the mean hinge over all pairs of training rows, by the same code for every model."""
    scores = training_scores(model, data.X_train)
    return 0.5 * alpha * squared_norm(model, scores) + AllPairs(data.y_train).mean_loss(scores, "hinge")


def ranker(fit):
    """Metrics of a model from its scores of the test rows.

    Returns
    -------
    dict
        ``auc``; ``gap`` to the truth's AUC on the same rows and ``gap_population``, None for real data;
        ``alpha``, ``objective`` (of models with hinge loss over pairs), ``n_iter``.
    """
    model, data, alpha = fit.model, fit.data, fit.params.get("alpha")
    auc, truth, population = roc_auc(data.y_test, fit.predictions), truth_auc(data), data.population_auc
    hinge = getattr(model, "loss_", None) == "hinge" and alpha is not None
    return {
        "auc": auc,
        "gap": None if truth is None else truth - auc,
        "gap_population": None if population is None else population - auc,
        "alpha": alpha,
        "objective": pairwise_objective(model, alpha, data) if hinge else None,
        "n_iter": iterations(model),
    }
