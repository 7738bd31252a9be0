"""The problem of a model of a ranked range: the mean of the losses between two ranks."""

from dataclasses import replace

import numpy as np

from kernbench.estimators.fit.centring import shift_of
from kernbench.estimators.fit.solver import make_solver
from kernbench.estimators.fit.targets import check_targets
from kernbench.estimators.fit.training_data import check_square, check_weights
from kernbench.estimators.roc.rows import Rows, check_ranked_rows
from kernbench.estimators.roc.space_task import SpaceTask
from kernbench.estimators.windows.parameters import check_ranked_range, loss_of, masses_of
from kernbench.estimators.windows.validation import ValidatedRuns, validation_rows
from kernbench.kernels.domain import is_precomputed
from kernbench.losses.table import losses_of
from kernbench.pairs.thresholds import quantile
from kernbench.solvers import registry
from kernbench.solvers.base import Solution

LARGE_EXPONENT = 200  # of weights that are rescaled
START_TOL, START_CUTS, LEAST_ALPHA = (1e-2, 200, 1e-6)  # of the logistic regression that a classifier starts from


class RankedRangeTask(SpaceTask):
    """The task of one model of a ranked range, or of a path over alpha.

    The intercept is the weight of a constant column, of the centred rows if they are columns; a kernel without features
    has none.

    Parameters
    ----------
    model : RankedRangeClassifier or RankedRangeRegressor
    X, y, sample_weight
        As given to ``fit``.
    metric : callable
        For validation: ``metric(y, f) -> float``, the larger the better.
    name : str
        Name of its column in the trace.
    default_loss : str
    """

    losses: tuple  # that the model may have
    of_the_solver = ("loss", "solver", "ranked_range", "fit_intercept")
    offset, unit = 0.0, 1.0  # the solver's targets are (y - offset) / unit

    def __init__(self, model, X, y, sample_weight, *, metric, name, default_loss):
        entry = check_ranked_range(model, self.losses)
        super().__init__(model, entry)
        self.centres = bool(model.fit_intercept)
        model.loss_ = loss_of(model, entry, default_loss)
        rows = self.check_rows(X, y, sample_weight)
        self.begin(getattr(model, "classes_", None))
        rows, validation = validation_rows(model, rows, self.last.draws.split)
        self.validation = ValidatedRuns(self, validation, metric, name)
        self.callbacks = self.validation.callbacks
        self.total = float(len(rows.y) if rows.weights is None else rows.weights.sum())
        self.masses = masses_of(model.ranked_range, self.total)
        if rows.weights is not None:
            rows = self._in_range(rows)
        rows = self.scaled(rows)
        self.fit_space(rows, landmark_labels=self.landmark_labels(rows))

    def scaled(self, rows):
        """Return the rows with the targets that the solver takes."""
        return rows

    def _in_range(self, rows):
        """Scale weights and masses by one power of two, lest their products over- or underflow: only ratios matter."""
        exponent = int(np.frexp(rows.weights.max())[1])
        if abs(exponent) < LARGE_EXPONENT:
            return rows
        self.masses = tuple(np.ldexp(self.masses, -exponent).tolist())
        return replace(rows, weights=np.ldexp(rows.weights, -exponent))

    def make_design(self, X):
        model = self.model
        self.constant = 1.0 if model.fit_intercept and not self.space.is_exact else None
        return self.space.design(X, cache_size=model.cache_size, twin=model._twin, constant=self.constant)

    def next_start(self, solution, strength, following):
        return Solution(solution.coef)

    def make_solver(self, design, alpha, initial):
        self.validation.begin()
        settings = {
            "alpha": alpha,
            "weights": self.rows.weights,
            "loss": self.model.loss_,
            "ranked_range": self.masses,
            "random_state": self.last.draws.solver,
            "initial": initial,
        }
        return make_solver(self.model, self.entry, design, self.rows.y, settings)

    def describe(self, model, solution):
        coef = self.unit * solution.coef
        constant = 0.0 if self.constant is None else self.constant * coef[-1]
        weights = coef if self.constant is None else coef[:-1]
        super().describe(model, Solution(weights))
        self.described = solution
        model.intercept_ = np.array([self.offset + constant - shift_of(weights, self.centre)])

    def assemble(self, model, results):
        super().assemble(model, results)
        self.validation.finish(model)


class RankedRangeClassifierTask(RankedRangeTask):
    """The task of one `RankedRangeClassifier`, or of a path of them."""

    losses = losses_of("margin")

    def __init__(self, model, X, y, sample_weight):
        super().__init__(model, X, y, sample_weight, metric=_accuracy, name="validation_accuracy",
                         default_loss="log_loss")  # fmt: skip

    def check_rows(self, X, y, sample_weight):
        return check_ranked_rows(self.model, X, y, sample_weight)

    def landmark_labels(self, rows):
        return rows.positive

    def start(self, design):
        """The last solution, else a logistic regression: at f = 0 all losses are alike, and no range is another's."""
        solution = super().start(design)
        if solution is not None or self.space.is_exact:
            return solution
        weights = self.rows.weights
        if weights is not None:
            weights = weights / weights.mean()  # a weight of k is equivalent to k copies
        solver = registry.get("bundle", "linear-svm").load(self.model._twin)(
            design, self.rows.y, alpha=max(self.model.alpha, LEAST_ALPHA), weights=weights, loss="log_loss",
            tol=START_TOL, random_state=self.last.draws.solver,
        )  # fmt: skip
        solver.advance(START_CUTS)
        return Solution(solver.solution().coef)


class RankedRangeRegressorTask(RankedRangeTask):
    """The task of one `RankedRangeRegressor`, or of a path of them."""

    losses = losses_of("residual")
    shared = ("n_features_in_", "feature_names_in_", "dtype_", "loss_")

    def __init__(self, model, X, y, sample_weight):
        super().__init__(model, X, y, sample_weight, metric=_minus_median_error, name="validation_score",
                         default_loss="squared_error")  # fmt: skip

    def check_rows(self, X, y, sample_weight):
        model = self.model
        X, y = check_targets(model, X, y, reset=True, accept_sparse=not is_precomputed(model.kernel))
        check_square(X, model.kernel)
        weights = None if sample_weight is None else check_weights(sample_weight, X)
        if weights is not None and not weights.any():
            raise ValueError("all sample weights are 0")
        return Rows(X, y, weights).without_weightless(model.kernel)

    def landmark_labels(self, rows):
        return None

    def same_classes(self):
        return True

    def scaled(self, rows):
        self.unit = float(self.model.unit)
        if self.model.fit_intercept:
            self.offset = quantile(rows.y, 0.5, rows.weights)
        return Rows(rows.X, (rows.y - self.offset) / self.unit, rows.weights, rows.indices)


def _accuracy(y, scores):
    return np.mean((scores >= 0) == (y > 0))


def _minus_median_error(y, predicted):
    return -np.median(np.abs(y - predicted))
