"""The table of a search, with the columns of ``GridSearchCV.cv_results_``."""

import numpy as np
from scipy.stats import rankdata


def results_of(cells, n_folds, is_race=False):
    """Return the columns of the table.

    Parameters
    ----------
    cells : list of dict
        Each has ``params`` and, if it was finished, ``scores``, ``fit_seconds`` and ``score_seconds`` of shape
        (n_folds,); those that a race dropped have ``dropped_after``, ``dropped_p_value`` and ``dropped_against``.
    n_folds : int
    is_race : bool, default=False
        Whether to add the columns of dropped cells.
    """
    nothing = np.full(n_folds, np.nan)
    scores, fits, scoring = (
        np.array([cell.get(name, nothing) for cell in cells]) for name in ("scores", "fit_seconds", "score_seconds")
    )
    params = [cell["params"] for cell in cells]
    table = {}
    for name, values in (("fit_time", fits), ("score_time", scoring)):
        table[f"mean_{name}"], table[f"std_{name}"] = values.mean(axis=1), values.std(axis=1)
    for name in params[0]:
        table[f"param_{name}"] = np.array([own[name] for own in params])
    table["params"] = params
    for k, column in enumerate(scores.T):
        table[f"split{k}_test_score"] = column.copy()
    mean = scores.mean(axis=1)
    table["mean_test_score"], table["std_test_score"] = mean, scores.std(axis=1)
    worst = np.nanmin(mean) - 1.0 if np.isfinite(mean).any() else 0.0
    table["rank_test_score"] = rankdata(-np.nan_to_num(mean, nan=worst), method="min").astype(np.int32)
    for name, other in (("after", None), ("p_value", np.nan), ("against", -1)) if is_race else ():
        table[f"dropped_{name}"] = np.array([cell.get(f"dropped_{name}", other) for cell in cells])
    return table
