"""A cell: the effect of the number of drawn pairs on the solution; each problem is solved to a certified gap."""

from statistics import fmean, median

from kernbench._lazy import load
from kernbench.experiments.measure.building import build
from kernbench.experiments.measure.clock import timed
from kernbench.experiments.measure.race import Fit
from kernbench.experiments.measure.ranking import ranker
from kernbench.experiments.measure.record import columns, exponent, result

AT_RANDOM, EVENLY, ALL = "drawn at random", "drawn evenly", "all pairs"
COLUMNS = ("draws", "share", "seed", "gap", "excess", "seconds")


def measure(cell):
    """Minimise over B drawn pairs to a certified gap, for several B, and over all pairs.

    The cell's `params` are those of `ROCSVC` and ``shares`` (values of B / n, 1 among them) and ``n_seeds``.

    Returns
    -------
    dict
        ``metrics``, all of pairs drawn at random: ``excess``, how far above its minimum the objective over
        all pairs is with B = n, relative to it, mean over seeds; ``excess_slope``, the power of B with which
        it changes; ``pairs_cost``, the AUC that B = n loses to all pairs, median over seeds. ``trace``:
        ``draws``, ``share``, ``seed``, ``gap``, ``excess``, ``seconds``.
    """
    data = load(cell.loader)(**cell.arguments)
    params = dict(cell.params)
    shares, n_seeds = params.pop("shares"), params.pop("n_seeds")
    rows = []
    for seed in range(n_seeds):
        # A seed draws the landmarks first, so that they do not depend on the number of pairs.
        seeded = {**params, "random_state": cell.seed + seed}
        of_all = _fitted(cell, data, {**seeded, "pairs": "all"})
        for draws in (AT_RANDOM, EVENLY):
            for share in shares:
                drawing = {"pairs": round(share * len(data.y_train)), "solver_options": {"balanced": draws == EVENLY}}
                gap, objective, seconds = _fitted(cell, data, {**seeded, **drawing})
                rows.append((draws, share, seed, gap, objective / of_all[1] - 1, seconds))
        rows += [(ALL, share, seed, of_all[0], None, of_all[2]) for share in shares]
    return result(data, summary(rows), trace=columns(COLUMNS, rows))


def _fitted(cell, data, params):
    """The gap to the truth, the objective over all pairs, and the seconds of a fit."""
    model = build(cell.estimator, params, len(data.y_train))
    _, seconds = timed(lambda: model.fit(data.X_train, data.y_train))
    found = ranker(Fit(model, data, model.decision_function(data.X_test), params))
    return found["gap"], found["objective"], seconds


def summary(rows):
    """The metrics of :func:`measure` from the rows of its trace."""
    excess, gaps = {}, {}
    for draws, share, seed, gap, above, _ in rows:
        gaps[draws, share, seed] = gap
        if draws == AT_RANDOM:
            excess.setdefault(share, []).append(above)
    means = {share: fmean(values) for share, values in excess.items()}
    seeds = range(len(excess[1.0]))
    return {
        "excess": means[1.0],
        "excess_slope": exponent(list(means), list(means.values())),
        "pairs_cost": median(gaps[AT_RANDOM, 1.0, seed] - gaps[ALL, 1.0, seed] for seed in seeds),
    }
