"""Checks of the parameters that every search has; each error says what to change."""

import numpy as np
import psutil

from kernbench.estimators.arguments.parameters import check_grid, check_n_jobs
from kernbench.estimators.fit.solver_data import MEGABYTE
from kernbench.estimators.search.store import check_memory_folder
from kernbench.validation.numbers import check_flag, check_positive

WITHOUT_GAMMA = ("linear", "cosine", "additive_chi2", "precomputed")
DOUBLE = 8  # bytes
BYTES_PER_FOLD = 112  # of each row and pair of classes: starts and solutions with their products, bounds, changes


def checked_grid(search):
    """Return the strengths of a search as a list, and its groups: dicts of the other parameters of its cells."""
    (name, strength), *others = search._grid.items()
    strengths = check_grid(name, search._values(name))
    _check_distinct(name, strengths)
    groups = [{}]
    for name, parameter in others:
        values = list(np.atleast_1d(np.asarray(search._values(name), dtype=object)))
        if len(values) == 0:
            raise ValueError(f"{name} must hold at least one value")
        _check_distinct(name, values)
        if parameter == "gamma" and len(values) > 1 and _has_no_gamma(search.kernel):
            raise ValueError(f"kernel={search.kernel!r} does not depend on gamma: pass one value in {name}")
        groups = [{**group, parameter: value} for group in groups for value in values]
    if not (isinstance(search.refit, bool | np.bool_ | str) or callable(search.refit)):
        raise ValueError(f"refit must be True, False, the name of a score or a function, got {search.refit!r}")
    check_flag("warm_start", search.warm_start)
    search._check_own()
    check_memory_folder(search.memory, getattr(search, "kernel", None), search.warm_start)
    check_n_jobs(search.n_jobs)
    if search.max_seconds is not None:  # of the search; its fits have no budgets of their own
        check_positive("max_seconds", search.max_seconds, unit=" of seconds, or None")
    for group in groups:
        search._model({strength: float(strengths[0]), **group})._check_parameters()
    return [float(value) for value in strengths], groups


def _check_distinct(name, values):
    if len({*map(str, values)}) < len(values):
        raise ValueError(f"{name} holds a value twice: {list(values)}")


def _has_no_gamma(kernel):
    return not isinstance(kernel, str) or kernel in WITHOUT_GAMMA


def check_memory(n_rows, n_folds, n_pairs, cache_size):
    """Raise ValueError, with the number of folds that would fit, if all folds and kernel rows exceed the memory."""
    cache = min(cache_size * MEGABYTE, DOUBLE * n_rows**2)
    free, size = psutil.virtual_memory().available, BYTES_PER_FOLD * n_rows * n_pairs
    if n_folds * size + cache > free:
        fit = max(int((free - cache) // size), 0)
        raise ValueError(
            f"{n_folds} folds of {n_rows} rows need {n_folds * size / 1e9:.3g} GB, kernel rows {cache / 1e9:.3g} GB, "
            f"but {free / 1e9:.3g} GB are free: at most {fit} folds fit; a smaller cache_size leaves more for folds"
        )
