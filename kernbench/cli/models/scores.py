"""How well predictions agree with labels, for each task a model may have."""

import numpy as np

from kernbench.metrics import roc_auc
from kernbench.report import text


def scores(task, model, X, y):
    """Return (name, value as text) of each score of a fitted model on examples with labels."""
    if task == "regress":
        if _is_text(y):
            return [("root mean squared error", "not defined: the labels are text")]
        return [("root mean squared error", text.significant(root_mean_squared_error(model.predict(X), y), 5))]
    if _unknown_labels(model, y):
        names = ("error", "AUC") if task == "rank" else ("error",)
        return [(name, "not defined: there are labels that the model does not know") for name in names]
    found = [("error", f"{text.percent(float(np.mean(model.predict(X) != y)))} %")]
    if task == "rank":
        if not np.isin(model.classes_, y).all():
            area = "one class only"
        else:
            area = f"{roc_auc(y, model.decision_function(X)):.5f}"
        found.append(("AUC", area))
    return found


def summary(task, model, predicted, y):
    """Return one line about predictions, compared with the labels y if these are not None."""
    examples = text.plural(len(predicted), "example")
    if y is None:
        return f"{examples}, no labels to compare with"
    if predicted.ndim == 2 and predicted.shape[1] > 1:
        return f"{examples} of {predicted.shape[1]} outputs each, of which one label says nothing: no error to print"
    if task == "regress" and _is_text(y):
        return f"{examples}; labels such as {str(y[0])!r} are not numbers: no error to print"
    if task == "regress":
        return f"root mean squared error {text.significant(root_mean_squared_error(predicted, y), 5)} ({examples})"
    unknown = _unknown_labels(model, y)
    if unknown:
        shown = text.listed(repr(label) for label in sorted(unknown, key=str)[:3])
        return f"{examples}; labels such as {shown} are not among the model's classes: no error to print"
    n_wrong = int(np.sum(predicted != y))
    return f"error {text.percent(n_wrong / len(predicted))} % ({n_wrong:,} of {examples})"


def _unknown_labels(model, y):
    return set(np.unique(y).tolist()) - set(model.classes_.tolist())


def _is_text(y):
    return np.asarray(y).dtype.kind in "OSU"


def root_mean_squared_error(predicted, y):
    """Return the square root of the mean of (predicted - y)^2."""
    predicted = np.asarray(predicted, dtype=np.float64).reshape(np.shape(y))  # one output may be a column
    return float(np.sqrt(np.mean((predicted - y) ** 2)))
