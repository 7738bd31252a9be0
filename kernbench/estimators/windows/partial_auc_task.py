"""The task of a `PartialAUCClassifier`: a loss of pairs over a range of false positive rates."""

import numpy as np

from kernbench._warnings import warn
from kernbench.estimators.arguments.training_data import check_weights
from kernbench.estimators.roc.scores import space_of, weights_of
from kernbench.estimators.roc.space_task import Formulation
from kernbench.estimators.windows.parameters import (
    WINDOW,
    check_partial_auc,
    loss_of,
    solver_needs_features,
    threshold_of_window,
)
from kernbench.losses.margin import margin_loss
from kernbench.metrics import partial_auc
from kernbench.pairs import WindowPairs
from kernbench.pairs.window import window_of
from kernbench.problems.certificate.risks import StructuralRisk
from kernbench.problems.ranking.ranked_problem import WindowProblem
from kernbench.solvers import registry
from kernbench.solvers.design import as_design
from kernbench.solvers.ranking.criticality import criticality
from kernbench.validation.rows import check_rows

START_TOL = 1e-2  # gap / objective of the convex problem whose solution is the start
LEAST_ALPHA = 1e-6  # of that problem, which must have a solution
NOTHING = 1e-3  # relative decrease from f = 0 that counts as none
SPREADS = 2.0 ** np.arange(-4, 11)  # of the scores of multiples of a model, in margins


def _check(model):
    entry = check_partial_auc(model)
    return entry, loss_of(model, entry, "log_loss")


def _make_solver(task, design, strength, initial):
    model = task.model
    if model.threshold == WINDOW:  # where ranks, and ends next to 1, lie is known with the rows only
        threshold_of_window(_rates(task))
    alpha = model.alpha if task.strength == "fpr_range" else strength
    return task.solver(design, initial, alpha=alpha, loss=model.loss_, **_ends(task))


def _start(task, design):
    """Return the solver of a convex problem on the same design: at f = 0 all scores are tied, and no step leads away
    from there (see `PartialAUCClassifier`)."""
    model, rows = task.model, task.rows
    if model.start == "solver":
        return None
    weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
    settings = {"alpha": max(model.alpha, LEAST_ALPHA), "tol": START_TOL}
    if model.start == "logistic" and not task.space.is_exact:
        # Both classes weigh the same, since there is no intercept.
        shares = [weights / weights[rows.y == side].sum() for side in (-1, 1)]
        settings["weights"] = len(rows.y) / 2 * np.where(rows.positive, shares[1], shares[0])
        settings["loss"] = "log_loss"
        entry = registry.get("bundle", "linear-svm")
    else:
        entry = registry.get("bundle", "roc-svm")
        settings["weights"] = rows.weights
        settings["loss"] = model.loss_ if model.loss_ in entry.losses else entry.losses[0]
    return entry.load(model._twin)(design, rows.y, random_state=task.last.draws.solver, **settings)


def _examined(task, design, solver, strength):
    if task.entry.name != "svmpauc-tight":
        return task.examined_kernel(solver, balanced=True)  # the others minimise what is not convex
    return task.examined_by(StructuralRisk(solver.ranked, solver.alpha), design)


def _ends(task):
    """Return the keyword of a solver that says the range."""
    model = task.model
    if model.ranks is not None:
        return {"ranks": tuple(model.ranks)}
    fpr_range = task.current if task.strength == "fpr_range" else model.fpr_range
    return {"fpr_range": tuple(map(float, fpr_range))}


def _rates(task):
    """Return the range in false positive rates, whichever way it was given."""
    rows = task.rows
    low, high = window_of(rows.y, weights=rows.weights, **_ends(task))
    total = np.sum(~rows.positive) if rows.weights is None else rows.weights[~rows.positive].sum()
    return float(low / total), float(min(1.0, high / total))


def _metric(task):
    rates = _rates(task)
    return lambda y, scores, weights: partial_auc(y, scores, rates, sample_weight=weights)


def _describe(task, model):
    model.fpr_range_ = _rates(task)


def _warn(task, model, result):
    at_zero = margin_loss(model.loss_).value(0.0)
    if not (result.converged and result.objective >= (1 - NOTHING) * at_zero):
        return
    (low, high), rows = model.fpr_range_, task.rows
    window = WindowPairs(rows.y, (low, high), loss=model.loss_, sample_weight=rows.weights)
    if _least_loss(window, task.design.scores(result.model.coef)) < (1 - NOTHING) * at_zero:
        reason = (
            "multiples of the model have smaller losses, but the penalty keeps all scores nearly equal. Reduce "
            f"alpha={model.alpha:g}"
        )
    else:
        reason = (
            "most pairs of this window are ranked wrongly, and their losses are smallest if all scores are equal. "
            "Widen the range, or choose a kernel or features that separate the classes better"
        )
    warn(
        f"no function f does better than f = 0 over fpr_range=({low:g}, {high:g}) by more than {100 * NOTHING:g} %: "
        f"{reason}"
    )


def _least_loss(window, scores):
    """Return the smallest mean loss of a window, without a penalty, of multiples of some scores."""
    spread = np.ptp(scores)
    multiples = SPREADS / spread if spread > 0.0 else [1.0]
    return min(window.value_and_subgradient(multiple * scores)[0] for multiple in multiples)


PARTIAL_AUC = Formulation(
    check=_check,
    make_solver=_make_solver,
    of_the_solver=("loss", "solver", "fpr_range", "ranks", "start"),
    needs_features=solver_needs_features("partial-auc"),
    metric=_metric,
    metric_name="validation_partial_auc",
    start=_start,
    examined=_examined,
    describe=_describe,
    warn=_warn,
)


def criticality_of(model, X, y, sample_weight, mu):
    """Return the criticality of a fitted `PartialAUCClassifier` on some rows; see its method of that name."""
    if model.features_ == "exact" or model.solver == "svmpauc-tight":
        what = "features='exact'" if model.features_ == "exact" else "solver='svmpauc-tight'"
        raise ValueError(f"criticality is unavailable with {what}: it needs features and the loss of a window")
    X, y = check_rows(model, X, y, reset=False)
    if not np.isin(y, model.classes_).all():
        raise ValueError(f"y must hold the classes {model.classes_.tolist()}, and no others")
    weights = None if sample_weight is None else check_weights(sample_weight, X)
    design = as_design(space_of(model).features(X))
    ranked = WindowProblem(np.where(y == model.classes_[1], 1.0, -1.0), weights, model.loss_, model.fpr_range_)
    return criticality(design, ranked, weights_of(model), alpha=model.alpha, mu=mu)[0]
