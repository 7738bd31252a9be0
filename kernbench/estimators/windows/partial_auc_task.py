"""The problem of a `PartialAUCClassifier`: a loss of pairs over a range of false positive rates."""

import numpy as np

from kernbench.estimators.fit.outcome import warn
from kernbench.estimators.fit.solver import make_solver
from kernbench.estimators.fit.training_data import check_weights
from kernbench.estimators.roc.scores import space_of, weights_of
from kernbench.estimators.roc.task import RankingTask
from kernbench.estimators.windows.parameters import check_partial_auc, loss_of
from kernbench.estimators.windows.validation import ValidatedRuns, validation_rows
from kernbench.losses.margin import margin_loss
from kernbench.metrics import partial_auc
from kernbench.pairs.window import window_of
from kernbench.problems.certificate.risks import StructuralRisk
from kernbench.problems.ranking.ranked_problem import WindowProblem
from kernbench.solvers import registry
from kernbench.solvers.base import Solution
from kernbench.solvers.design import as_design
from kernbench.solvers.ranking.criticality import criticality
from kernbench.validation.rows import check_rows

START_TOL = 1e-2  # gap / objective of the convex problem whose solution is the start
START_CUTS = 200
LEAST_ALPHA = 1e-6  # of that problem, which must have a solution
NOTHING = 1e-3  # relative decrease from f = 0 that counts as none


class PartialAUCTask(RankingTask):
    """The task of one `PartialAUCClassifier`, or of a path over alpha or over ranges.

    Parameters
    ----------
    model : PartialAUCClassifier
    X, y, sample_weight
        As given to ``fit``.
    strength : {"alpha", "fpr_range"}, default="alpha"
        What changes along the path.
    """

    of_the_solver = ("loss", "solver", "fpr_range", "ranks", "start")

    def __init__(self, model, X, y, sample_weight, strength="alpha"):
        entry = check_partial_auc(model)
        self.strength = strength
        super().__init__(model, entry, X, y, sample_weight, loss=loss_of(model, entry, "log_loss"))

    def split(self, rows):
        rows, validation = validation_rows(self.model, rows, self.last.draws.solver)
        self.validation = ValidatedRuns(self, validation, None, "validation_partial_auc")
        self.callbacks = self.validation.callbacks
        return super().split(rows)

    def start(self, design):
        solution = super().start(design)
        if solution is None and self.model.start != "solver":
            solution = Solution(self._convex_start(design))
        return solution

    def next_start(self, solution, strength, following):
        return Solution(solution.coef)  # its state belongs to the problem before

    def _convex_start(self, design):
        """The coefficients of a convex problem on the same design: at f = 0 all windows are alike, and no step leads
        away from there (see `PartialAUCClassifier`)."""
        model, rows = self.model, self.rows
        weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
        settings = {"alpha": max(model.alpha, LEAST_ALPHA), "tol": START_TOL}
        if model.start == "logistic" and not self.space.is_exact:
            # Both classes weigh the same, since there is no intercept.
            shares = [weights / weights[rows.y == side].sum() for side in (-1, 1)]
            settings["weights"] = len(rows.y) / 2 * np.where(rows.positive, shares[1], shares[0])
            settings["loss"] = "log_loss"
            entry = registry.get("bundle", "linear-svm")
        else:
            entry = registry.get("bundle", "roc-svm")
            settings["weights"] = rows.weights
            settings["loss"] = model.loss_ if model.loss_ in entry.losses else entry.losses[0]
        solver = entry.load(model._twin)(design, rows.y, random_state=self.last.draws.solver, **settings)
        solver.advance(START_CUTS)
        return solver.solution().coef

    def make_solver(self, design, strength, initial):
        model, rows = self.model, self.rows
        now = {"alpha": model.alpha, "fpr_range": model.fpr_range, self.strength: strength}
        self.rates = self._rates(now["fpr_range"])
        self.validation.begin(lambda y, scores, rates=self.rates: partial_auc(y, scores, rates))
        settings = {
            "alpha": now["alpha"],
            "weights": rows.weights,
            "loss": model.loss_,
            "random_state": self.last.draws.solver,
            "initial": initial,
            **self._ends(now["fpr_range"]),
        }
        return make_solver(model, self.entry, design, rows.y, settings)

    def examined(self, design, solver, strength):
        if self.entry.name != "svmpauc-tight":
            return None  # the others minimise what is not convex
        ranked = solver.ranked
        return self.examined_by(StructuralRisk(ranked, solver.alpha), design)

    def _ends(self, fpr_range):
        """The keyword of a solver that says the range."""
        ranks = self.model.ranks
        return {"fpr_range": tuple(map(float, fpr_range))} if ranks is None else {"ranks": tuple(ranks)}

    def _rates(self, fpr_range):
        """The range in false positive rates, whichever way it was given."""
        rows = self.rows
        low, high = window_of(rows.y, weights=rows.weights, **self._ends(fpr_range))
        total = np.sum(~rows.positive) if rows.weights is None else rows.weights[~rows.positive].sum()
        return float(low / total), float(min(1.0, high / total))

    def describe(self, model, solution):
        model.fpr_range_ = self.rates
        super().describe(model, solution)

    def assemble(self, model, results):
        self.rates = self._rates(model.fpr_range)
        super().assemble(model, results)
        self.validation.finish(model)
        if results[0].converged and results[0].objective >= (1 - NOTHING) * margin_loss(model.loss_).value(0.0):
            low, high = self.rates
            warn(
                f"no function f does better than f = 0 over fpr_range=({low:g}, {high:g}): most pairs of this window "
                "are ranked wrongly, and their losses are least where all scores are equal. Widen the range, or choose "
                "a kernel or features that separate the classes better"
            )


def criticality_of(model, X, y, sample_weight, mu):
    """Return the criticality of a fitted `PartialAUCClassifier` on some rows; see its method of that name."""
    if model.features_ == "exact" or model.solver == "svmpauc-tight":
        what = "features='exact'" if model.features_ == "exact" else "solver='svmpauc-tight'"
        raise ValueError(f"there is no criticality with {what}: it takes features and the loss of a window")
    X, y = check_rows(model, X, y, reset=False)
    if not np.isin(y, model.classes_).all():
        raise ValueError(f"y must hold the classes {model.classes_.tolist()}, and no others")
    weights = None if sample_weight is None else check_weights(sample_weight, X)
    design = as_design(space_of(model).features(X))
    ranked = WindowProblem(np.where(y == model.classes_[1], 1.0, -1.0), weights, model.loss_, model.fpr_range_)
    return criticality(design, ranked, weights_of(model), alpha=model.alpha, mu=mu)[0]
