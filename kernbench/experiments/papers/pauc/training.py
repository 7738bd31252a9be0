"""A cell: the training partial AUC, or the objective of a ranked range, of a solver along its run."""

import numpy as np

from kernbench._lazy import load
from kernbench.experiments.measure.building import build, takes
from kernbench.experiments.measure.clock import Tracer, fit_seconds, own_clock, timed
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.objectives import training_scores
from kernbench.experiments.measure.record import columns, result
from kernbench.experiments.papers.pauc.evaluation import curve, window_loss
from kernbench.experiments.papers.pauc.parts import RANGE
from kernbench.metrics import partial_auc, roc_auc
from kernbench.pairs import RankedRange

COLUMNS = ("seconds", "n_iter", "passes", "loss", "train_pauc", "penalised")
SORR_COLUMNS = ("seconds", "n_iter", "passes", "loss")


def measure(cell):
    """Fit a model of a window and follow its training partial AUC.

    Returns
    -------
    dict
        ``metrics``: those at the end. ``trace``: two tables, `COLUMNS` along the run, and the ROC curve of the final
        model on the test rows, ``fpr`` and ``tpr``. ``passes`` are rows touched over rows; ``penalised`` is the
        objective that the solver minimises, ``objective`` the loss in the window without the penalty.
    """
    data = load(cell.loader)(**cell.arguments)
    found, model, seconds = _traced_fit(
        cell,
        data,
        lambda scores: {
            "loss": window_loss(data.y_train, scores),
            "train_pauc": partial_auc(data.y_train, scores, RANGE),
        },
    )
    memory = peak_memory()
    scores, seconds["predict"] = timed(lambda: model.decision_function(data.X_test))
    fpr, tpr = curve(data.y_test, scores)
    last = found[-1]
    metrics = {
        "objective": last["loss"],
        "penalised": last["penalised"],
        "train_pauc": last["train_pauc"],
        "test_pauc": partial_auc(data.y_test, scores, RANGE),
        "auc": roc_auc(data.y_test, scores),
        "passes": last["passes"],
        "n_iter": last["n_iter"],
        "alpha": cell.params.get("alpha"),
    }
    trace = columns(COLUMNS, [[row[name] for name in COLUMNS] for row in found]) | {"fpr": fpr, "tpr": tpr}
    return result(data, metrics, seconds=seconds, trace=trace, memory=memory)


def measure_sorr(cell):
    """Fit a model of a ranked range and follow its objective, without the penalty."""
    data = load(cell.loader)(**cell.arguments)
    low, high = cell.params["ranked_range"]
    losses = RankedRange(np.where(data.y_train > 0, 1, -1), (float(low), float(high)), loss="log_loss")
    found, model, seconds = _traced_fit(cell, data, lambda scores: {"loss": losses.value_and_subgradient(scores)[0]})
    memory = peak_memory()
    last = found[-1]
    metrics = {"objective": last["loss"], "passes": last["passes"], "n_iter": last["n_iter"]}
    metrics["auc"] = roc_auc(data.y_test, model.decision_function(data.X_test))
    metrics["alpha"] = cell.params.get("alpha")
    trace = columns(SORR_COLUMNS, [[row[name] for name in SORR_COLUMNS] for row in found])
    return result(data, metrics, seconds=seconds, trace=trace, memory=memory)


def _traced_fit(cell, data, judge):
    """Fit the cell's estimator; return the rows of its trace, the model and the seconds by phase."""
    batch = cell.params.get("rows_per_step")
    params = {name: value for name, value in cell.params.items() if name != "rows_per_step"}
    n = data.X_train.shape[0]

    def followed(model):
        return judge(training_scores(model, data.X_train))

    tracer = Tracer(followed, pace=0)
    make = load(cell.estimator)
    if not takes(make, "ranked_range"):
        params.pop("ranked_range", None)
    traced = {"callback": tracer} if takes(make, "callback") else {}
    model = build(cell.estimator, {**params, **traced}, n)
    _, wall = timed(lambda: model.fit(data.X_train, data.y_train))
    seconds = {"fit": fit_seconds(0.0, wall, tracer, own_clock(model)), "solver": own_clock(model)}
    trace = getattr(model, "trace_", None) or {
        "seconds": [wall],
        "n_iter": [0],
        "objective": [None],
        **{name: [value] for name, value in followed(model).items()},
    }
    names = [name for name in trace if name in (*COLUMNS, "objective")]
    rows = [dict(zip(names, values)) for values in zip(*(trace[name] for name in names))]
    for row in rows:
        row["penalised"] = row.pop("objective")
        row["passes"] = row["n_iter"] * (batch / n if batch else 2.0)  # an exact step takes two products with the data
    return rows, model, seconds
