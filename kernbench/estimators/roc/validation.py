"""Validation rows during a fit: their score in the trace, and the iterate that scores best."""

import numpy as np

from kernbench.estimators.arguments.targets import check_targets
from kernbench.estimators.arguments.training_data import distinct_labels
from kernbench.estimators.fit.continuation import digest
from kernbench.estimators.roc.rows import hold_out
from kernbench.estimators.roc.scores import scores_of
from kernbench.kernels.domain import is_precomputed
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import is_number
from kernbench.validation.rows import check_rows


class Validation:
    """A callback that scores the snapshots of a run on validation rows and keeps the best.

    Parameters
    ----------
    task : SpaceTask
        Its `described` is the solution that the snapshot was made from.
    X : ndarray or CSR matrix
    y : ndarray
        As the metric takes it.
    weights : ndarray, or None
        Of these rows.
    metric : callable
        ``metric(y, scores, weights) -> float``, the larger the better.
    name : str
        The column of the trace.
    best : (float, int, ndarray), optional
        That of the run which this one continues.

    Attributes
    ----------
    best : (float, int, ndarray) or None
        Score, iteration and coefficients of the best iterate.
    """

    def __init__(self, task, X, y, weights, metric, name, best=None):
        self.task, self.X, self.y, self.weights, self.metric, self.name = task, X, y, weights, metric, name
        self.best = best

    def __call__(self, model):
        """Score a snapshot; return the column of the trace."""
        value = float(self.metric(self.y, scores_of(model, self.X) + model.intercept_[0], self.weights))
        if self.best is None or value > self.best[0]:
            self.best = value, int(model.n_iter_[0]), np.array(self.task.described.coef)
        return {self.name: value}


class ValidatedRuns:
    """The validation of the runs along a path, one after the other; the callback of the current one.

    Parameters
    ----------
    task, X, y, weights, name
        As for `Validation`.

    Attributes
    ----------
    best : (float, int, ndarray) or None
        That of the run that was finished last.
    """

    by_iteration = True  # or the best iterate would depend on how fast the machine is

    def __init__(self, task, X, y, weights, name):
        self.task, self.X, self.y, self.weights, self.name = task, X, y, weights, name
        self.runs, self.best = [], None

    def __call__(self, model):
        """Score a snapshot of the current run; return the column of the trace."""
        return self.runs[-1](model)

    def key(self):
        """Return what equals that of the same rows only."""
        return tuple(None if values is None else digest(values) for values in (self.X, self.y, self.weights))

    def begin(self, metric, best=None):
        """Begin a run; `best` is the best iterate of the run that it continues."""
        self.runs.append(Validation(self.task, self.X, self.y, self.weights, metric, self.name, best))

    def finish(self, model):
        """Set what validation found on the next model of the path; make it the best iterate if ``keep="best"``."""
        self.best = best = self.runs.pop(0).best if self.runs else None
        if best is None:
            return
        model.validation_score_, model.best_n_iter_, coef = best
        if model.keep == "best":
            self.task.describe(model, Solution(coef))


def validation_rows(model, rows, seed):
    """Return the rows to fit to, and those that ``validation=`` means: (X, y, weights).

    Parameters
    ----------
    model : estimator
        With ``classes_`` if it is a classifier; the y returned are then -1 and +1.
    rows : Rows
        Checked.
    seed : int
    """
    asked, classes = model.validation, getattr(model, "classes_", None)
    if is_number(asked):
        if is_precomputed(model.kernel):
            raise ValueError("validation must be a pair (K(rows, train), y) for kernel='precomputed', or None")
        rows, held = hold_out(rows, "validation", asked, seed, stratified=classes is not None)
        return rows, (held.X, held.y, held.weights)
    accept_sparse = not is_precomputed(model.kernel)
    if classes is None:
        return rows, (*check_targets(model, *asked, reset=False, accept_sparse=accept_sparse), None)
    X, y = check_rows(model, *asked, reset=False, accept_sparse=accept_sparse)
    if distinct_labels(y).tolist() != classes.tolist():
        raise ValueError(f"the rows of validation must hold both classes, {classes.tolist()}, and no others")
    return rows, (X, np.where(y == classes[1], 1.0, -1.0), None)
