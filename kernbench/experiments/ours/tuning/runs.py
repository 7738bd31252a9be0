"""A cell of ``tuning``: a search from data to fitted model on the clock of its processor time, judged off the clock."""

import warnings
from time import process_time

import numpy as np

from kernbench._lazy import load
from kernbench.estimators import KernelSVC
from kernbench.experiments.measure.building import build, takes
from kernbench.experiments.measure.judging import error_rate
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.race import in_precision, laid_out, warm_up
from kernbench.experiments.measure.record import result
from kernbench.experiments.ours.tuning import referee
from kernbench.experiments.ours.tuning.peers import standard_error


def measure(cell):
    """Choose C and gamma by cross-validation and fit to all rows.

    The cell's `params` are those of the search; ``Cs`` and ``gammas``; ``folds``, their number; ``one_fold``, the
    methods that run the first fold only, whose seconds are multiplied by the number of folds; ``judged_choice``:
    whether an exact search tells, off the clock, how far the cell chosen is from the best one. A class that has no
    ``cv`` is fitted as it is.

    Returns
    -------
    dict
        ``metrics``: ``test_error``, ``auc``, ``cv_error`` with ``cv_std_error``, ``C``, ``gamma``, ``n_cells``,
        ``n_dropped``, ``folds_run``, ``relative_gap`` of the final fit, ``standard_errors`` of the judged choice.
        ``seconds``: ``fit`` of all folds, ``measured``, ``predict``: processor times.
    """
    data, params = in_precision(cell, laid_out(cell, load(cell.loader)(**cell.arguments))), dict(cell.params)
    n_folds, one_fold = params.pop("folds"), cell.method in params.pop("one_fold", ())
    is_judged = params.pop("judged_choice", False)
    grid = {"Cs": params.pop("Cs"), "gammas": params.pop("gammas")}
    X, y = data.X_train, data.y_train
    folds = _folds(n_folds, cell.seed)
    cv = [next(folds.split(X, y))] if one_fold else folds
    searches = takes(load(cell.estimator), "cv")
    if searches:
        params |= {**grid, "cv": cv}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of single cells that did not reach their tolerance
        warm_up(cell, params, data)
        model = build(cell.estimator, params, len(y))
        start = process_time()
        model.fit(X, y)
        measured = process_time() - start
        start = process_time()
        predictions, scores = model.predict(data.X_test), model.decision_function(data.X_test)
        predicted = process_time() - start
        memory = peak_memory()
        metrics = {
            "test_error": error_rate(data.y_test, predictions),
            "auc": referee.mean_auc(model.classes_, data.y_test, scores),
            "relative_gap": _relative_gap(model, X, y),
            **(_of_search(model, grid, n_folds, one_fold) if searches else {}),
        }
        if is_judged:
            metrics["standard_errors"] = referee.standard_errors_below_best(model.best_params_, X, y, **grid, cv=folds)
    seconds = {"fit": measured, "measured": measured, "predict": predicted}
    if one_fold:
        seconds["fit"] += (n_folds - 1) * model.search_seconds_
    return result(
        data,
        metrics,
        seconds=seconds,
        n_kernel_evaluations=None if one_fold else getattr(model, "n_kernel_evaluations_", None),
        memory=memory,
    )


def measure_path(cell):
    """The least that an exact search can compute: a path of fits to all rows for each gamma, without folds.

    Returns
    -------
    dict
        ``seconds``: ``fit``, processor time. ``metrics``: ``n_cells``.
    """
    data, params = load(cell.loader)(**cell.arguments), cell.params
    Cs, gammas, count = params["Cs"], params["gammas"], 0
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for gamma in gammas:
            model = KernelSVC(kernel="rbf", gamma=gamma, cache_size=referee.CACHE)
            count += sum(fit.n_kernel_evaluations_ for fit in model.path(data.X_train, data.y_train, Cs))
    seconds = process_time() - start
    metrics = {"n_cells": len(Cs) * len(gammas)}
    return result(data, metrics, seconds={"fit": seconds, "measured": seconds}, n_kernel_evaluations=count)


def _folds(n_folds, seed):
    """Stratified folds in random order, since rows of a file are often sorted."""
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(n_folds, shuffle=True, random_state=seed)


def _of_search(model, grid, n_folds, one_fold):
    if hasattr(model, "cv_results_"):  # KernelSVCCV
        table, best = model.cv_results_, model.best_index_
        error = standard_error([table[f"split{k}_test_score"][best] for k in range(model.n_splits_)])
        dropped = sum(after is not None for after in table.get("dropped_after", ()))
    else:
        error, dropped = model.best_std_error_, model.n_dropped_
    return {
        "cv_error": 1.0 - model.best_score_,
        "cv_std_error": None if one_fold else error,
        "C": model.best_params_["C"],
        "gamma": model.best_params_["gamma"],
        "n_cells": len(grid["Cs"]) * len(grid["gammas"]),
        "n_dropped": dropped,
        "folds_run": 1 if one_fold else n_folds,
    }


def _relative_gap(model, X, y):
    """None for a model on features, and for the zero model."""
    machine = model if hasattr(model, "dual_coef_") else getattr(model, "model_", None)
    if not np.size(getattr(machine, "support_", ())):
        return None
    params = getattr(model, "best_params_", None) or {"C": model.C, "gamma": 0.5 / model.kernel_.sigma**2}
    return referee.relative_gap(machine, X, y, C=params["C"], gamma=params["gamma"])
