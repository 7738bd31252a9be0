"""A cell: the race, with every method followed towards the certified optimum."""

from kernbench._lazy import load
from kernbench.experiments.measure.clock import Tracer, timed
from kernbench.experiments.measure.judging import error_rate, iterations
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.objectives import svm_objective
from kernbench.experiments.measure.optimum import certified_optimum
from kernbench.experiments.measure.race import in_precision, laid_out, timed_fit, warm_up
from kernbench.experiments.measure.record import result

ACCURACY = 1e-3  # relative gap to the optimum that counts as solved
ROUGH = 1e-2  # … roughly
MARGIN = 0.002  # of the optimum's test error


def judge(model, data):
    """The test error, and the objective of a model that is an expansion over the training rows."""
    has_objective = hasattr(model, "dual_coef_")
    objective = svm_objective(model, data.X_train, data.y_train)[0] if has_objective else None
    # Not "objective": a dual method's trace has its dual objective under that name.
    return {"test_error": error_rate(data.y_test, model.predict(data.X_test)), "primal": objective}


def measure(cell):
    """Fit and judge one solver of the Gaussian SVM.

    The cell's `params` are those of the estimator, ``gamma`` and ``C`` among them.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict
        ``metrics``: ``test_error``, ``objective``, ``relative_gap`` (to the certified lower bound),
        ``n_support``, ``n_iter``; ``seconds_to_gap``, ``seconds_to_percent`` and ``seconds_to_error``, until
        the relative gap is at most 10⁻³, at most 1 %, and the test error within 0.2 points of the optimum's:
        from the trace where there is one, else the time of the fit; None where it did not get there;
        ``evaluations_to_percent``, the same in kernel evaluations. ``seconds``: ``fit`` without tracing,
        ``predict``.
    """
    original = laid_out(cell, load(cell.loader)(**cell.arguments))
    data = in_precision(cell, original)
    warm_up(cell, cell.params, data)
    model, fit_seconds = timed_fit(cell, cell.params, data)
    predictions, predict_seconds = timed(lambda: model.predict(data.X_test))
    memory = peak_memory()

    judged = judge(model, original)
    evaluations = getattr(model, "n_kernel_evaluations_", None)
    final = {"seconds": fit_seconds, "n_kernel_evaluations": evaluations, **judged}
    trace = {name: [value] for name, value in final.items()}
    if cell.traced:
        # A second run, so that nothing but the fit is on the clock of the first, and its memory is its own.
        traced, whole = timed_fit(cell, cell.params, data, Tracer(lambda model: judge(model, original)))
        before = whole - traced.trace_["seconds"][-1]  # set-up, which the solver's clock leaves out
        trace = {name: list(traced.trace_[name]) for name in trace}
        # In the time of the first run, since the machine may have been slower during the second.
        trace["seconds"] = [(before + value) * fit_seconds / whole for value in trace["seconds"]]
    optimum = certified_optimum(original, gamma=cell.params["gamma"], C=cell.params["C"], cache_size=1000)
    trace["relative_gap"] = [optimum.relative_gap(value) for value in trace["primal"]]
    metrics = {
        "test_error": error_rate(data.y_test, predictions),
        "objective": judged["primal"],
        "relative_gap": optimum.relative_gap(judged["primal"]),
        "n_support": len(getattr(model, "support_", ())) or None,
        "n_iter": iterations(model),
        "seconds_to_gap": first_within(trace["seconds"], trace["relative_gap"], ACCURACY),
        "evaluations_to_percent": first_within(trace["n_kernel_evaluations"], trace["relative_gap"], ROUGH),
        "seconds_to_percent": first_within(trace["seconds"], trace["relative_gap"], ROUGH),
        "seconds_to_error": first_within(trace["seconds"], trace["test_error"], optimum.test_error + MARGIN),
    }
    return result(
        data,
        metrics,
        seconds={"fit": fit_seconds, "predict": predict_seconds},
        trace=trace,
        n_kernel_evaluations=evaluations,
        memory=memory,
    )


def first_within(seconds, values, level):
    """The first time from which all values are at most `level`; None where the last one is not."""
    found = None
    for second, value in zip(reversed(seconds), reversed(values)):
        if value is None or value > level:
            break
        found = second
    return found
