"""Checks of the parameters of a search over C and gamma; each error says what to change."""

import numpy as np
import psutil

from kernbench.estimators.arguments.parameters import check_grid, check_n_jobs
from kernbench.estimators.search.calibration import METHODS
from kernbench.estimators.search.store import check_memory_folder
from kernbench.validation.numbers import check_name, check_number, check_positive

WITHOUT_GAMMA = ("linear", "cosine", "additive_chi2", "precomputed")
BYTES_PER_FOLD = 112  # of each row and pair of classes: starts and solutions with their products, bounds, changes


def checked_grid(search):
    """Return Cs and gammas of a `KernelSVCCV` as lists, after checks of all that can be checked without data."""
    Cs = check_grid("Cs", search.Cs)
    gammas = list(np.atleast_1d(np.asarray(search.gammas, dtype=object)))
    for name, values in (("Cs", Cs), ("gammas", gammas)):
        if len(values) == 0:
            raise ValueError(f"{name} must hold at least one value")
        if len({*map(str, values)}) < len(values):
            raise ValueError(f"{name} holds a value twice: {list(values)}")
    if len(gammas) > 1 and (not isinstance(search.kernel, str) or search.kernel in WITHOUT_GAMMA):
        raise ValueError(f"kernel={search.kernel!r} does not depend on gamma: pass one value in gammas")
    check_name("search", search.search, ("exact", "race"))
    check_number("risk", search.risk, above=0, below=1)
    if search.search == "race" and search.scoring not in (None, "accuracy"):
        raise ValueError(
            f"search='race' compares whether rows are classified correctly, not scoring={search.scoring!r}: choose "
            "search='exact', or scoring=None"
        )
    if search.certify is not None:
        check_number("certify", search.certify, above=0)
        if search.scoring not in (None, "accuracy"):
            raise ValueError(f"certify bounds the accuracy, not scoring={search.scoring!r}: choose certify=None")
    if search.search == "race" and callable(search.refit):
        raise ValueError("search='race' drops cells by its own test: with a function refit choose search='exact'")
    if not (isinstance(search.refit, bool | np.bool_ | str) or callable(search.refit)):
        raise ValueError(f"refit must be True, False, the name of a score or a function, got {search.refit!r}")
    if search.calibration is not None:
        check_name("calibration", search.calibration, METHODS)
    check_memory_folder(search.memory, search.kernel)
    if search.search == "race" and search.memory is not None:
        raise ValueError("search='race' stores no cells: choose search='exact', or memory=None")
    check_n_jobs(search.n_jobs)
    if search.max_seconds is not None:  # of the search; its fits have no budgets of their own
        check_positive("max_seconds", search.max_seconds, unit=" of seconds, or None")
    for gamma in gammas:
        search._model(Cs[0], gamma)._check_parameters()
    return [float(C) for C in Cs], gammas


def check_memory(n_rows, n_folds, n_pairs):
    """Raise ValueError, with the number of folds that would fit, if the starts of all folds exceed the memory."""
    free, size = psutil.virtual_memory().available, BYTES_PER_FOLD * n_rows * n_pairs
    if n_folds * size > free:
        raise ValueError(
            f"{n_folds} folds of {n_rows} rows need {n_folds * size / 1e9:.3g} GB, but {free / 1e9:.3g} GB are free: "
            f"at most {int(free // size)} folds fit"
        )
