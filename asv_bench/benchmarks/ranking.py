"""Solvers of the ROC-SVM: what a run costs and what it is worth."""

import numpy as np

from .runs import RankingRuns


class Ranking(RankingRuns):
    """At most 25 cuts or Newton steps, or 500 steps of descent, over all pairs of 4,096 rows."""

    number = 1
    repeat = (1, 10, 0.5)

    def time_run(self, solver):
        self.run(solver)


class RankingQuality(RankingRuns):
    """The solution of that run, judged from outside the solver, and its memory."""

    params = (RankingRuns.params[0],)

    def peakmem_run(self, solver):
        self.run(solver)

    def track_objective(self, solver):
        """The objective over all pairs, 1 for no weights; lower is better."""
        coef = np.asarray(self.run(solver).solution().coef)
        return float(self.problem.objective(coef, self.is_squared(solver)))

    def track_one_minus_auc(self, solver):
        """Share of the pairs of 2,000 test rows in the wrong order; lower is better."""
        return float(self.problem.one_minus_auc(np.asarray(self.run(solver).solution().coef)))

    def track_passes(self, solver):
        """Products with the data; lower is better."""
        return self.run(solver).n_passes

    track_objective.unit = "objective"
    track_one_minus_auc.unit = "1 - AUC"
    track_passes.unit = "passes over the data"
