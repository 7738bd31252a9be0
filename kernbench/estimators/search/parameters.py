"""Checks of the parameters that every search has; each error says what to change."""

import numpy as np
import psutil

from kernbench.estimators.arguments.parameters import check_grid, check_n_jobs, check_verbose
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
    groups = _groups(search, others)
    if not (isinstance(search.refit, bool | np.bool_ | str) or callable(search.refit)):
        raise ValueError(f"refit must be True, False, the name of a score or a function, got {search.refit!r}")
    check_flag("warm_start", search.warm_start)
    check_verbose(search.verbose)
    search._check_own()
    for kernel in kernels_of(search):
        check_memory_folder(search.memory, kernel, search.warm_start)
    check_n_jobs(search.n_jobs)
    if search.max_seconds is not None:  # of the search; its fits have no budgets of their own
        check_positive("max_seconds", search.max_seconds, unit=" of seconds, or None")
    for group in groups:
        search._model({strength: float(strengths[0]), **group})._check_parameters()
    return [float(value) for value in strengths], groups


def _check_distinct(name, values):
    values = np.asarray(values, dtype=object).tolist()
    if len({*map(str, values)}) < len(values):
        raise ValueError(f"{name} holds a value twice: {values}")


def kernels_of(search):
    """Return the kernels of a search: those of its grid, or its one kernel, which is None without kernels."""
    kernels = getattr(search, "kernels", None)
    return [getattr(search, "kernel", None)] if kernels is None else list(np.atleast_1d(np.asarray(kernels, object)))


def _groups(search, others):
    """Return the combinations of the values of the parameters that are not a path's, kernels without gamma once."""
    groups = [{}]
    for name, parameter in others:
        if parameter != "gamma" and search._values(name) is None:  # not in the grid
            continue
        values = (
            kernels_of(search) if parameter == "kernel" else np.atleast_1d(np.asarray(search._values(name), object))
        )
        if len(values) == 0:
            raise ValueError(f"{name} must hold at least one value")
        _check_distinct(name, values)
        groups = [{**group, parameter: value} for group in groups for value in values]
    if "gamma" in groups[0]:
        _check_gammas(search)
    if "kernel" not in groups[0]:
        return groups
    if any(isinstance(kernel, str) and kernel == "precomputed" for kernel in (search.kernel, *kernels_of(search))):
        raise ValueError("a precomputed matrix is one kernel: pass kernel='precomputed' and kernels=None")
    with_gamma = [group for group in groups if not _has_no_gamma(group["kernel"])]
    once = [group for group in groups if _has_no_gamma(group["kernel"]) and group["gamma"] == groups[0]["gamma"]]
    return with_gamma + [{name: value for name, value in group.items() if name != "gamma"} for group in once]


def _check_gammas(search):
    if np.size(search.gammas) > 1 and all(map(_has_no_gamma, kernels_of(search))):
        words = f"kernel={search.kernel!r} does" if search.kernels is None else f"kernels={search.kernels!r} do"
        raise ValueError(f"{words} not depend on gamma: pass one value in gammas")


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
