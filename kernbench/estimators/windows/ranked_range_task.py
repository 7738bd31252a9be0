"""The task of a model of a ranked range: the mean of the losses between two ranks.

The intercept is the weight of a constant column, of the centred rows if they are columns; a kernel without features has
none.
"""

from dataclasses import replace

import numpy as np

from kernbench.estimators.arguments.targets import check_targets
from kernbench.estimators.arguments.training_data import check_square, check_weights
from kernbench.estimators.roc.rows import Rows
from kernbench.estimators.roc.space_task import Formulation
from kernbench.estimators.windows.parameters import check_ranked_range, loss_of, masses_of, solver_needs_features
from kernbench.kernels.domain import is_precomputed
from kernbench.losses.table import losses_of
from kernbench.pairs.thresholds import quantile
from kernbench.problems.intercept import weighted_quantile
from kernbench.solvers import registry
from kernbench.validation.numbers import check_positive

MARGIN_LOSSES, RESIDUAL_LOSSES = losses_of("margin"), losses_of("residual")
OF_THE_SOLVER = ("loss", "solver", "ranked_range", "fit_intercept")
LARGE_EXPONENT = 200  # of weights that are rescaled
START_TOL, LEAST_ALPHA = 1e-2, 1e-6  # of the logistic regression that a classifier starts from


def _prepare(task, rows):
    """Set ``task.masses``, the ends of the range, and the scale of the targets; return rows with these targets."""
    model = task.model
    task.masses = masses_of(model.ranked_range, float(len(rows.y) if rows.weights is None else rows.weights.sum()))
    if rows.weights is not None:
        # One power of two for weights and masses keeps their products from over- or underflow; only ratios matter.
        exponent = int(np.frexp(rows.weights.max())[1])
        if abs(exponent) >= LARGE_EXPONENT:
            task.masses = tuple(np.ldexp(task.masses, -exponent).tolist())
            rows = replace(rows, weights=np.ldexp(rows.weights, -exponent))
    return rows


def _prepare_targets(task, rows):
    """Do the same, and scale the targets of a regression."""
    rows, model = _prepare(task, rows), task.model
    task.unit = float(model.unit)
    if model.fit_intercept:
        task.offset = quantile(rows.y, 0.5, rows.weights)
    return replace(rows, y=(rows.y - task.offset) / task.unit)


def _make_solver(task, design, alpha, initial):
    return task.solver(design, initial, alpha=alpha, loss=task.model.loss_, ranked_range=task.masses)


def _examined(task, design, solver, alpha):
    return task.examined_kernel(solver, balanced=False)  # a list of losses, and no intercept with a kernel


def _check_classifier(model):
    entry = check_ranked_range(model, MARGIN_LOSSES)
    return entry, loss_of(model, entry, "log_loss")


def _check_regressor(model):
    check_positive("unit", model.unit)
    entry = check_ranked_range(model, RESIDUAL_LOSSES)
    return entry, loss_of(model, entry, "squared_error")


def _start(task, design):
    """Return the solver of a logistic regression: at f = 0 all losses are equal, so that their ranks are undefined."""
    if task.space.is_exact:
        return None
    weights = task.rows.weights
    if weights is not None:
        weights = weights / weights.mean()  # a weight of k is equivalent to k copies
    return registry.get("bundle", "linear-svm").load(task.model._twin)(
        design, task.rows.y, alpha=max(task.model.alpha, LEAST_ALPHA), weights=weights, loss="log_loss",
        tol=START_TOL, random_state=task.last.draws.solver,
    )  # fmt: skip


def _read_targets(model, X, y, sample_weight):
    X, y = check_targets(model, X, y, reset=True, accept_sparse=not is_precomputed(model.kernel))
    check_square(X, model.kernel)
    weights = None if sample_weight is None else check_weights(sample_weight, X)
    return Rows(X, y, weights)


def _accuracy(y, scores, weights):
    return np.average((scores >= 0) == (y > 0), weights=weights)


def _minus_median_error(y, predicted, weights):
    errors = np.abs(y - predicted)
    return -(np.median(errors) if weights is None else weighted_quantile(errors, weights, 0.5 * weights.sum()))


RANKED_RANGE_CLASSIFIER = Formulation(
    check=_check_classifier,
    make_solver=_make_solver,
    of_the_solver=OF_THE_SOLVER,
    ranks=False,
    needs_features=solver_needs_features("ranked-range"),
    centres=lambda model: bool(model.fit_intercept),
    metric=lambda task: _accuracy,
    metric_name="validation_accuracy",
    prepare=_prepare,
    start=_start,
    examined=_examined,
)
RANKED_RANGE_REGRESSOR = Formulation(
    check=_check_regressor,
    make_solver=_make_solver,
    of_the_solver=OF_THE_SOLVER,
    read=_read_targets,
    ranks=False,
    needs_features=solver_needs_features("ranked-range"),
    centres=lambda model: bool(model.fit_intercept),
    metric=lambda task: _minus_median_error,
    metric_name="validation_score",
    prepare=_prepare_targets,
    examined=_examined,
)
