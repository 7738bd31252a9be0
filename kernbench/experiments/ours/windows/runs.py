"""A cell of ``pauc-map``: partial AUC of the window's model minus a logistic regression's, by positives and range."""

import numpy as np

from kernbench._lazy import load
from kernbench.estimators import LinearSVC, PartialAUCClassifier
from kernbench.experiments.measure.record import columns, result
from kernbench.experiments.ours.windows.data import draw
from kernbench.metrics import partial_auc

COLUMNS = ("positives", "range", "difference", "low", "high")
NEGATIVES = 10  # for each positive
CONFIDENCE = 0.95


def measure(cell):
    """Compare both models on fresh rows over pairs of seeds.

    Of each model the strength alpha is chosen from ``alphas`` by the partial AUC of as many validation rows as there
    are training rows; both models of a seed see the same rows. The cell's `params` further hold ``positives`` and
    ``ends`` (numbers of training positives, and ends of ranges that begin at 0) and ``n_seeds``.

    Returns
    -------
    dict
        ``metrics``: how many places of the map the window wins and loses (the interval excludes 0), and the largest and
        least mean difference. ``trace``: `COLUMNS`, mean differences with 95 % intervals over the seeds.
    """
    data, params = load(cell.loader)(**cell.arguments), cell.params
    shift = cell.arguments["misspecification"]
    rows = []
    for n_positive in params["positives"]:
        for end in params["ends"]:
            found = [_difference(data, shift, n_positive, end, params["alphas"], [cell.seed, k, n_positive])
                     for k in range(params["n_seeds"])]  # fmt: skip
            mean, half = np.mean(found), _half_interval(found)
            rows.append((f"{n_positive:,}", f"[0, {end:g}]", mean, mean - half, mean + half))
    means, lows, highs = (np.array([row[k] for row in rows]) for k in (2, 3, 4))
    metrics = {
        "wins": int(np.sum(lows > 0)),
        "losses": int(np.sum(highs < 0)),
        "places": len(rows),
        "largest": means.max(),
        "least": means.min(),
    }
    return result(data, metrics, trace=columns(COLUMNS, rows))


def _difference(data, shift, n_positive, end, alphas, seed):
    rng = np.random.default_rng(seed)
    train, validation = (draw(n_positive, NEGATIVES * n_positive, shift, rng) for _ in range(2))
    window = (0.0, end)

    def tuned(make):
        models = [make(alpha).fit(*train) for alpha in alphas]
        best = max(models, key=lambda model: partial_auc(validation[1], model.decision_function(validation[0]), window))
        return partial_auc(data.y_test, best.decision_function(data.X_test), window)

    ours = tuned(lambda alpha: PartialAUCClassifier(window, alpha=alpha))
    return ours - tuned(lambda alpha: LinearSVC(loss="log_loss", C=1.0 / (alpha * len(train[1]))))


def _half_interval(values):
    """Half of the interval of the mean, by Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(len(values) - 1, 0.5 + CONFIDENCE / 2)) * np.std(values, ddof=1) / len(values) ** 0.5
