"""The table of a search, with the columns of ``GridSearchCV.cv_results_``."""

import numpy as np
from scipy.stats import rankdata


def results_of(cells, n_folds, names=("score",), is_race=False, is_certified=False):
    """Return the columns of the table.

    Parameters
    ----------
    cells : list of dict
        Each has ``params`` and, if it was finished, ``fit_seconds`` and ``score_seconds`` of shape (n_folds,), and
        ``scores``, a dict of such arrays; those that a race dropped have ``dropped_after``, ``dropped_p_value`` and
        ``dropped_against``.
    n_folds : int
    names : sequence of str
        Names of the scores.
    is_race : bool, default=False
        Whether to add the columns of dropped cells.
    is_certified : bool, default=False
        Whether to add those of certified intervals, ``certified_lower`` and ``certified_upper``.
    """
    nothing, table = np.full(n_folds, np.nan), {}
    for name in ("fit", "score"):
        values = np.array([cell.get(f"{name}_seconds", nothing) for cell in cells])
        table[f"mean_{name}_time"], table[f"std_{name}_time"] = values.mean(axis=1), values.std(axis=1)
    params = [cell["params"] for cell in cells]
    for name in params[0]:
        table[f"param_{name}"] = _column([own[name] for own in params])
    table["params"] = params
    for name in names:
        scores = np.array([cell.get("scores", {}).get(name, nothing) for cell in cells])
        for k, column in enumerate(scores.T):
            table[f"split{k}_test_{name}"] = column.copy()
        mean = scores.mean(axis=1)
        table[f"mean_test_{name}"], table[f"std_test_{name}"] = mean, scores.std(axis=1)
        worst = np.nanmin(mean) - 1.0 if np.isfinite(mean).any() else 0.0
        table[f"rank_test_{name}"] = rankdata(-np.nan_to_num(mean, nan=worst), method="min").astype(np.int32)
    columns = {"dropped_after": None, "dropped_p_value": np.nan, "dropped_against": -1} if is_race else {}
    columns |= {"certified_lower": np.nan, "certified_upper": np.nan} if is_certified else {}
    for name, other in columns.items():
        table[name] = np.array([cell.get(name, other) for cell in cells])
    return table


def _column(values):
    """Return a masked array of parameters: numbers, or objects where some are not, such as "scale"."""
    array = np.array(values)
    if array.dtype.kind not in "biuf":
        array = np.empty(len(values), dtype=object)
        array[:] = values
    return np.ma.MaskedArray(array, mask=np.zeros(len(values), dtype=bool))


def index_chosen(refit, table):
    """Return the index of the cell that a function `refit` takes; raise ValueError unless it is a finished one."""
    index, n_cells = refit(table), len(table["params"])
    if isinstance(index, bool) or not isinstance(index, int | np.integer) or not 0 <= index < n_cells:
        raise ValueError(f"refit must return the index of a cell, from 0 to {n_cells - 1}, got {index!r}")
    return int(index)
