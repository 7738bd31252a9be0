"""A cell of ``pauc-rates``: the criticality of AGD-SBCD over its work."""

from warnings import catch_warnings, simplefilter

from kernbench._lazy import load
from kernbench.experiments.measure.building import build
from kernbench.experiments.measure.rates import rate
from kernbench.experiments.measure.record import columns, result

BATCH = 200  # rows of a step


def measure(cell):
    """Measure the criticality after increasing numbers of outer iterations, all from the same start.

    Returns
    -------
    dict
        ``metrics``: ``criticality`` after the most steps; ``slope``, its power of the work, with the ends ``low`` and
        ``high`` of its interval. ``trace``: ``n_iter``, ``passes`` (rows touched over rows) and ``criticality``.
    """
    data = load(cell.loader)(**cell.arguments)
    params = {name: value for name, value in cell.params.items() if name != "outer"}
    rows, n = [], len(data.y_train)
    for outer in cell.params["outer"]:
        steps = 50 * sum((k + 1) ** 2 for k in range(outer))
        with catch_warnings():
            simplefilter("ignore")  # every run but an exact one stops at its limit
            model = build(cell.estimator, {**params, "max_iter": steps}, n).fit(data.X_train, data.y_train)
        rows.append((steps, steps * BATCH / n, model.criticality(data.X_train, data.y_train)))
    found = rate([row[1] for row in rows], [row[2] for row in rows])
    metrics = {"criticality": rows[-1][2], "slope": found.slope, "low": found.low, "high": found.high}
    return result(data, metrics, trace=columns(("n_iter", "passes", "criticality"), rows))
