"""A cell: the time to equal objectives, beside the time of the paper's method at the limit of its steps."""

from kernbench._lazy import load
from kernbench.experiments.measure.building import build
from kernbench.experiments.measure.clock import Tracer
from kernbench.experiments.measure.record import columns, result

WITHIN = 0.01  # of the optimum: where objectives count as equal
TIGHT, NEVER = 1e-6, 1e-15  # tolerances: of the certified optimum, and of a run that ends at its last step
KINDS = {"drawn": "n_samples", "all": "all"}
LINES = {
    ("drawn", "adamax"): "B = n pairs, Adamax",
    ("drawn", "bundle"): "B = n pairs, bundle",
    ("all", "adamax"): "all pairs, Adamax",
    ("all", "bundle"): "all pairs, bundle",
}
COLUMNS = ("line", "seconds", "n_iter", "excess")


def measure(cell):
    """Run Adamax beyond its limit, and the bundle method, on drawn pairs and on all pairs.

    Both minimise the same objective, of which the bundle method gives a certified lower bound, so that their times to
    one per cent above it compare. The cell's `params` are those of `ROCSVC` and ``limit`` (steps at which the paper's
    method is ended elsewhere) and ``most`` (steps here).

    Returns
    -------
    dict
        ``metrics``, for ``drawn`` and ``all`` pairs: ``limit_excess``, the objective of Adamax above the optimum at the
        limit, relative to it; ``limit_factor``, its time by then over that of the bundle method to one per cent;
        ``equal_factor``, its time to one per cent over the same, None if `most` steps do not suffice;
        ``equal_steps``. ``trace``: ``line``, ``seconds``, ``n_iter``, ``excess``, both solvers on their own clocks.
    """
    data = load(cell.loader)(**cell.arguments)
    params = {name: value for name, value in cell.params.items() if name not in ("shares", "n_seeds", "alpha")}
    limit, most = params.pop("limit"), params.pop("most")
    params |= {"alpha": cell.params["alpha"], "random_state": cell.seed}
    options = params.pop("solver_options", {})
    metrics, rows = {}, []
    for kind, pairs in KINDS.items():
        tight = _run(cell, data, {**params, "pairs": pairs, "solver": "bundle", "tol": TIGHT})
        lower = tight.objective_ - tight.duality_gap_
        adamax = {**params, "pairs": pairs, "solver": "adamax", "solver_options": options, "tol": NEVER}
        runs = {"bundle": [tight], "adamax": [_run(cell, data, {**adamax, "max_iter": n}) for n in (limit, most)]}
        for solver, models in runs.items():
            points = sorted(point for model in models for point in _points(model, lower))
            rows += [(LINES[kind, solver], seconds, n_iter, excess) for seconds, n_iter, excess in points if n_iter]
        needed, _ = _reached(_points(tight, lower))
        at_limit, beyond = runs["adamax"]
        seconds, steps = _reached(_points(beyond, lower))
        metrics |= {
            f"{kind}_limit_excess": at_limit.objective_ / lower - 1,
            f"{kind}_limit_factor": at_limit.trace_["seconds"][-1] / needed,
            f"{kind}_equal_factor": None if seconds is None else seconds / needed,
            f"{kind}_equal_steps": steps,
        }
    return result(data, metrics, trace=columns(COLUMNS, rows))


def _run(cell, data, params):
    import warnings

    model = build(cell.estimator, {**params, "callback": Tracer(lambda model: {}, pace=0)}, len(data.y_train))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that Adamax ends at its last step
        return model.fit(data.X_train, data.y_train)


def _points(model, lower):
    """Seconds, iterations and relative distance to the optimum along a run; the least objective so far counts."""
    trace, best, found = model.trace_, float("inf"), []
    for seconds, n_iter, objective in zip(trace["seconds"], trace["n_iter"], trace["objective"], strict=True):
        best = min(best, objective)
        found.append((seconds, n_iter, best / lower - 1))
    return found


def _reached(points):
    """Seconds and iterations of the first point within one per cent of the optimum; None and None without one."""
    return next(((seconds, n_iter) for seconds, n_iter, excess in points if excess <= WITHIN), (None, None))
