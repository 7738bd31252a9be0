"""A cell: fit on the clock, predict on the clock, judge by the objective and the optimum off the clock."""

from time import perf_counter

from kernbench.experiments.declare import resolve
from kernbench.experiments.measure.clock import fit_seconds, in_precision, laid_out, result, warm_up
from kernbench.experiments.measure.evaluation import error_rate, svm_objective
from kernbench.experiments.ours.svm_peers.optimum import find_optimum
from kernbench.experiments.run.memory import peak_memory

ACCURACY = 1e-3  # relative gap to the optimum that counts as solved
ROUGH = 1e-2  # … roughly
CLOCKS = ("seconds", "n_kernel_evaluations")  # of a trace
MARGIN = 0.002  # of the optimum's test error


class Tracer:
    """A callback that judges the model now and then, off the solver's clock."""

    def __init__(self, data):
        self.data = data
        self.first = self.last = None

    def __call__(self, model):
        if self.first is None:
            self.first = perf_counter()
        judged = judge(model, self.data)
        self.last = perf_counter()
        return judged


def judge(model, data):
    """The test error, and the objective of a model that is an expansion over the training rows."""
    has_objective = hasattr(model, "dual_coef_")
    objective = svm_objective(model, data.X_train, data.y_train)[0] if has_objective else None
    # Under a name of its own: a trace's "objective" is the dual one of a dual method.
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
    original = laid_out(cell, resolve(cell.loader)(**cell.arguments))
    data = in_precision(cell, original)
    warm_up(cell, data)
    tracer = Tracer(original)
    make = resolve(cell.estimator)
    start = perf_counter()
    model = make(**cell.params).fit(data.X_train, data.y_train)
    seconds = {"fit": perf_counter() - start}
    start = perf_counter()
    predictions = model.predict(data.X_test)
    seconds["predict"] = perf_counter() - start
    memory = peak_memory()

    judged = judge(model, original)
    evaluations = getattr(model, "n_kernel_evaluations_", None)
    trace = {
        "seconds": [seconds["fit"]],
        "n_kernel_evaluations": [evaluations],
        "primal": [judged["primal"]],
        "test_error": [judged["test_error"]],
    }
    if cell.traced:
        # A second run, so that nothing but the fit is on the clock of the first, and its memory is its own.
        start = perf_counter()
        traced = make(**cell.params, callback=tracer).fit(data.X_train, data.y_train)
        whole = fit_seconds(start, perf_counter(), tracer, traced.trace_["seconds"][-1])
        before = whole - traced.trace_["seconds"][-1]  # set-up, which the solver's clock leaves out
        trace = {name: list(traced.trace_[name]) for name in (*CLOCKS, "primal", "test_error")}
        # Its clock is that of the first run: a slow moment of the machine must not part the two.
        trace["seconds"] = [(before + value) * seconds["fit"] / whole for value in trace["seconds"]]
    optimum = find_optimum(original, cell.params)
    trace["relative_gap"] = [optimum.relative_gap(value) for value in trace["primal"]]
    metrics = {
        "test_error": error_rate(data.y_test, predictions),
        "objective": judged["primal"],
        "relative_gap": optimum.relative_gap(judged["primal"]),
        "n_support": len(getattr(model, "support_", ())) or None,
        "n_iter": _iterations(model),
        "seconds_to_gap": first_within(trace["seconds"], trace["relative_gap"], ACCURACY),
        "evaluations_to_percent": first_within(trace["n_kernel_evaluations"], trace["relative_gap"], ROUGH),
        "seconds_to_percent": first_within(trace["seconds"], trace["relative_gap"], ROUGH),
        "seconds_to_error": first_within(trace["seconds"], trace["test_error"], optimum.test_error + MARGIN),
    }
    return result(
        data,
        metrics,
        seconds=seconds,
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


def _iterations(model):
    n_iter = getattr(model, "n_iter_", None)
    return None if n_iter is None else int(max(n_iter) if hasattr(n_iter, "__len__") else n_iter)
