"""A cell of ``pauc-deep``: the grid by validation, the chosen fit's curve, partial AUC on test images."""

from kernbench._lazy import load
from kernbench.experiments.measure.building import takes
from kernbench.experiments.measure.clock import timed
from kernbench.experiments.measure.judging import iterations
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.record import result
from kernbench.experiments.papers.pauc.parts import RANGE
from kernbench.metrics import partial_auc, roc_auc

COLUMNS = ("seconds", "n_iter", "epoch", "loss", "validation_partial_auc")


def measure(cell):
    """Fit a method by each point of its grid; judge the one of the best validation score.

    A cell's `params` are those of the estimator, others that it does not take, ``learning_rates`` and ``n_rates``: how
    many of these are tried. ``seconds``: ``fit``, that of the chosen fit; ``search``, those of the others. ``trace``:
    `COLUMNS`, and ``test_pauc`` by the states of the chosen fit along its run.
    """
    data = load(cell.loader)(**cell.arguments)
    make, params = load(cell.estimator), dict(cell.params)
    rates = params.pop("learning_rates", None)
    tried = [{}] if rates is None else [{"learning_rate": rate} for rate in rates[: params["n_rates"]]]
    params = {name: value for name, value in params.items() if takes(make, name)}
    fits = []
    for more in tried:
        model = make(**params, **more)
        _, spent = timed(lambda model=model: model.fit(data.X_train, data.y_train))
        fits.append((getattr(model, "validation_score_", 0.0), spent, model))
    score, spent, model = max(fits, key=lambda fit: fit[0])
    memory = peak_memory()
    scores, predicting = timed(lambda: model.decision_function(data.X_test))
    metrics = {
        "test_pauc": partial_auc(data.y_test, scores, RANGE),
        "validation_pauc": score if hasattr(model, "validation_score_") else None,
        "auc": roc_auc(data.y_test, scores),
        "learning_rate": getattr(model, "learning_rate", None),
        "n_iter": iterations(model),
    }
    seconds = {"fit": spent, "search": sum(fit[1] for fit in fits) - spent, "predict": predicting}
    return result(data, metrics, seconds=seconds, trace=_curve(model, data), memory=memory)


def _curve(model, data):
    """Return the trace of a network with the partial AUC of the test images at each of its evaluations."""
    if not hasattr(model, "scores_along"):
        return {}
    along = [partial_auc(data.y_test, scores, RANGE) for scores in model.scores_along(data.X_test)]
    return {name: model.trace_[name][: len(along)] for name in COLUMNS} | {"test_pauc": along}
