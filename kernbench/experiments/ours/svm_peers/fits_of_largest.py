"""A cell of the largest race, where a second solution of the problem would take too long to be the judge."""

from kernbench._lazy import load
from kernbench.experiments.measure.clock import timed
from kernbench.experiments.measure.judging import error_rate, iterations
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.objectives import svm_objective
from kernbench.experiments.measure.race import in_precision, laid_out, timed_fit, warm_up
from kernbench.experiments.measure.record import result


def measure(cell):
    """Fit one method once and judge it by its own dual variables.

    Returns
    -------
    dict
        ``metrics``: ``test_error``, ``n_support``, ``n_iter``; of an expansion over training rows ``objective`` and
        ``relative_gap``, the distance to the dual objective of its coefficients as a share of the latter. ``seconds``:
        ``fit``, ``predict``.
    """
    original = laid_out(cell, load(cell.loader)(**cell.arguments))
    data = in_precision(cell, original)
    warm_up(cell, cell.params, data)
    model, fit_seconds = timed_fit(cell, cell.params, data)
    predictions, predict_seconds = timed(lambda: model.predict(data.X_test))
    memory = peak_memory()
    objective = lower = None
    if hasattr(model, "dual_coef_"):
        objective, gap = svm_objective(model, original.X_train, original.y_train)
        lower = None if gap is None else objective - gap
    metrics = {
        "test_error": error_rate(data.y_test, predictions),
        "objective": objective,
        "relative_gap": objective / lower - 1.0 if lower else None,  # of f = 0 the dual objective is 0
        "n_support": len(getattr(model, "support_", ())) or None,
        "n_iter": iterations(model),
    }
    return result(
        data,
        metrics,
        seconds={"fit": fit_seconds, "predict": predict_seconds},
        n_kernel_evaluations=getattr(model, "n_kernel_evaluations_", None),
        memory=memory,
    )
