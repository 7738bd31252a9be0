"""A cell: a method followed over its time and its kernel values, judged at every point by the certified optimum."""

import warnings
from time import perf_counter

from kernbench._lazy import load
from kernbench.experiments.measure.building import build
from kernbench.experiments.measure.clock import Tracer, fit_seconds, own_clock, timed
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.record import columns, result
from kernbench.experiments.ours.cross_paper.judge import Judge

NEAR = 0.005  # of the exact solution's error or AUC: half a point
COLUMNS = ("seconds", "values", "test_error", "auc", "gap", "distance")


def measure(cell):
    """Fit a method, judging its models on the way, or at growing numbers of landmarks.

    The cell's `params` are those of the estimator, ``objective`` of :class:`~.judge.Judge`, and perhaps ``ladder``,
    numbers of landmarks.

    Returns
    -------
    dict
        ``metrics``: ``test_error``, ``auc``, ``gap``, ``distance`` of the final model; ``error_seconds`` and
        ``auc_seconds``, the time from which on its error, or AUC, stays within half a point of that of the exact
        solution of its objective; ``gap_seconds``, that from which on the objective stays within 1 % of the optimum;
        ``exact_error``, ``exact_auc``. ``trace``: seconds of a fit up to a point, set-up included; ``values`` of the
        kernel, or of features; the judgement.
    """
    data = load(cell.loader)(**cell.arguments)
    params = dict(cell.params)
    objective, ladder = params.pop("objective"), params.pop("ladder", None)
    judge = Judge(data, objective, gamma=params["gamma"], alpha=params["alpha"])
    before = peak_memory()
    follow = _along_landmarks if ladder else _along_the_run
    rows, model = follow(cell, params, data, judge, ladder)
    memory = max(before, peak_memory())
    trace = columns(COLUMNS, rows)
    exact = judge.exact
    metrics = {
        **{name: trace[name][-1] for name in ("test_error", "auc", "gap", "distance")},
        "error_seconds": stays_from(trace, "test_error", lambda error: error <= exact["test_error"] + NEAR),
        "auc_seconds": stays_from(trace, "auc", lambda auc: auc >= exact["auc"] - NEAR),
        "gap_seconds": stays_from(trace, "gap", lambda gap: gap is not None and gap <= 0.01),
        "values": trace["values"][-1],
        "exact_error": exact["test_error"],
        "exact_auc": exact["auc"],
        "n_support": len(model.support_) if hasattr(model, "support_") else None,
    }
    return result(data, metrics, seconds={"fit": trace["seconds"][-1]}, trace=trace, memory=memory)


def stays_from(trace, column, near):
    """The first time from which on all values of a column are near; None if the last one is not."""
    found = None
    for seconds, value in zip(reversed(trace["seconds"]), reversed(trace[column]), strict=True):
        if not near(value):
            break
        found = seconds
    return found


def _along_the_run(cell, params, data, judge, _):
    """The points of one fit, and the model."""

    def judged(model):
        return judge(model) | {"values": _values(model)}

    tracer = Tracer(judged, pace=0)
    model = build(cell.estimator, {**params, "callback": tracer}, len(data.y_train))
    start = perf_counter()
    _fit(model, data)
    seconds = fit_seconds(start, perf_counter(), tracer, own_clock(model))
    trace = model.trace_
    set_up = seconds - own_clock(model)
    rows = [
        (set_up + trace["seconds"][k], *(trace[name][k] for name in COLUMNS[1:]))
        for k in range(len(trace["seconds"]))
        if trace["n_iter"][k] > 0
    ]
    final = judged(model)
    return [*rows, (seconds, *(final[name] for name in COLUMNS[1:]))], model


def _along_landmarks(cell, params, data, judge, ladder):
    """A point for each number of landmarks, and the last model."""
    n, rows = len(data.y_train), []
    for m in sorted({min(m, n) for m in ladder}):
        model = build(cell.estimator, {**params, "n_landmarks": m}, n)
        _, seconds = timed(lambda model=model: _fit(model, data))
        found = judge(model) | {"values": m * (n + m)}
        rows.append((seconds, *(found[name] for name in COLUMNS[1:])))
    return rows, model


def _fit(model, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a method ends at its last step
        return model.fit(data.X_train, data.y_train)


def _values(model):
    """Values of the kernel, or of random features, that were computed for the fit so far."""
    features = getattr(model, "n_feature_values_", None)
    return getattr(model, "n_kernel_evaluations_", 0) if features is None else features
