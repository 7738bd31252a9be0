"""Metrics of a model of a window: partial AUCs, AUC, and the objective by one code for all."""

import numpy as np

from kernbench.experiments.measure.judging import iterations
from kernbench.experiments.measure.objectives import training_scores
from kernbench.experiments.papers.pauc.parts import RANGE
from kernbench.metrics import partial_auc, roc_auc, roc_curve
from kernbench.pairs import WindowPairs

CURVE_POINTS = 200


def window_loss(y, scores, loss="log_loss"):
    """The mean loss of the pairs in the paper's window, without the penalty."""
    return WindowPairs(np.where(y > 0, 1, -1), tuple(RANGE), loss=loss).value_and_subgradient(scores)[0]


def evaluate(fit):
    """Return partial AUCs on test and training rows, the AUC, the mean logistic loss in the window, alpha."""
    model, data, scores = fit.model, fit.data, fit.predictions
    own = training_scores(model, data.X_train)
    return {
        "test_pauc": partial_auc(data.y_test, scores, RANGE),
        "train_pauc": partial_auc(data.y_train, own, RANGE),
        "auc": roc_auc(data.y_test, scores),
        "objective": window_loss(data.y_train, own),
        "alpha": fit.params.get("alpha"),
        "n_iter": iterations(model),
    }


def curve(y, scores):
    """The ROC curve at `CURVE_POINTS` false positive rates, as two lists."""
    fpr, tpr, _ = roc_curve(y, scores)
    rates = np.linspace(0.0, 1.0, CURVE_POINTS)
    return rates.tolist(), np.interp(rates, fpr, tpr).tolist()
