"""A cell of ``pauc-deep``: the grid by validation, the chosen fit's curve, partial AUC on test images."""

from itertools import product

from kernbench._lazy import load
from kernbench.datasets.splits import split_indices
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

    A cell's `params` are those of the estimator, others that it does not take, and

    * ``grid``: values of some parameters, by their names; every combination is tried;
    * ``tried``: how many values of each, the first ones; one if it is not named;
    * ``validate_on``: how many of the test images, drawn by the cell's seed, validate in place of a tenth of the
      training images; the others are those that judge. A few positives to train with leave none to validate with, and
      the losses are compared, not the luck of a choice;
    * ``curve_rows``: how many test images are scored by the states of all evaluations; None: all of them.

    ``test_pauc`` is that of the chosen fit's best state, ``last_pauc`` that of its last one. ``seconds``: ``fit``, that
    of the chosen fit; ``search``, those of the others. ``trace``: `COLUMNS`, and ``test_pauc`` by the states of the
    chosen fit along its run.
    """
    data = load(cell.loader)(**cell.arguments)
    make, params = load(cell.estimator), dict(cell.params)
    points = grid_of(params.pop("grid", {}), params.pop("tried", {}))
    curve_rows, window = params.pop("curve_rows", None), params.get("fpr_range", RANGE)
    judges, validation = _parts_of_test(data, params.pop("validate_on", 0), cell.seed)
    params = {name: value for name, value in params.items() if takes(make, name)}
    getattr(make, "warm_up", lambda: None)()
    fits = []
    for point in points:
        model = make(**params, **point)
        _, spent = timed(lambda model=model: model.fit(data.X_train, data.y_train, **validation))
        fits.append((getattr(model, "validation_score_", 0.0), spent, model))
    score, spent, model = max(fits, key=lambda fit: fit[0])
    memory = peak_memory()
    X, y = judges
    scores, predicting = timed(lambda: model.decision_function(X))
    metrics = {
        "test_pauc": partial_auc(y, scores, window),
        "last_pauc": partial_auc(y, model.last_scores(X), window) if hasattr(model, "last_scores") else None,
        "validation_pauc": score if hasattr(model, "validation_score_") else None,
        "auc": roc_auc(y, scores),
        "learning_rate": getattr(model, "learning_rate", None),
        "gamma": getattr(model, "gamma", None),
        "n_fits": len(fits),
        "n_iter": iterations(model),
    }
    seconds = {"fit": spent, "search": sum(fit[1] for fit in fits) - spent, "predict": predicting}
    trace = _curve(model, X[:curve_rows], y[:curve_rows], window) if curve_rows != 0 else {}
    return result(data, metrics, seconds=seconds, trace=trace, memory=memory)


def grid_of(values, tried):
    """The points of a grid: dicts of every combination of the first values of each parameter."""
    cut = [[(name, value) for value in own[: tried.get(name, 1)]] for name, own in values.items()]
    return [dict(point) for point in product(*cut)]


def _parts_of_test(data, n_validation, seed):
    """Return the test images that judge, and keywords of `fit` with those that validate, if any."""
    if n_validation == 0:
        return (data.X_test, data.y_test), {}
    judging, validating = split_indices(data.y_test, len(data.y_test) - n_validation, seed)
    validation = data.X_test[validating], data.y_test[validating]
    return (data.X_test[judging], data.y_test[judging]), {"validation": validation}


def _curve(model, X, y, window):
    """Return the trace of a network with the partial AUC of test images at each of its evaluations."""
    if not hasattr(model, "scores_along"):
        return {}
    along = [partial_auc(y, scores, window) for scores in model.scores_along(X)]
    return {name: model.trace_[name][: len(along)] for name in COLUMNS} | {"test_pauc": along}
