"""Runs of registered solvers of partial AUC, ranked ranges and the AUC margin loss, on the problem of the ROC-SVM."""

import numpy as np

from kernbench.kernels.threads import single_threaded_blas
from kernbench.metrics import partial_auc

from . import problems

EXACT = ("dca-exact", "svmpauc-tight")
ITERATIONS = 25  # of exact solvers
STEPS = 1000  # of those on batches
RANGE = (0.05, 0.5)
TOL = 1e-6


class Runs:
    """Every registered solver of a kind; a subclass has `kind`, `params` and `settings(n)`."""

    param_names = ("solver",)
    timeout = 120

    def setup(self, solver):
        self.solver_class = problems.solver_class(self.kind, solver)
        self.n_iter = ITERATIONS if solver in EXACT else STEPS
        self.problem = problems.ranking_problem()
        problems.prepare_process()

    def run(self, solver):
        """The solver after so many iterations, or after those it had to take."""
        settings = {"tol": TOL, **self.settings(len(self.problem.y))}
        with single_threaded_blas():  # as the driver does
            made = problems.make_solver(self.kind, self.solver_class, self.problem, **settings)
            while made.n_iter < self.n_iter and made.advance(self.n_iter - made.n_iter):
                pass
        return made

    def one_minus_partial_auc(self, solver):
        """1 - partial AUC over `RANGE` of 2,000 test rows."""
        scores = self.problem.X_test @ np.asarray(self.run(solver).solution().coef)
        return 1.0 - partial_auc(self.problem.y_test, scores, RANGE)


class WindowRuns(Runs):
    """Solvers of the partial AUC."""

    kind = "partial-auc"
    params = (tuple(problems.solver_names("partial-auc")),)

    def settings(self, n):
        return {"fpr_range": RANGE}


class RangeRuns(Runs):
    """Solvers of a ranked range: the largest twentieth of the losses is left out."""

    kind = "ranked-range"
    params = (tuple(problems.solver_names("ranked-range")),)

    def settings(self, n):
        return {"ranked_range": (n // 20, n)}


class MarginRuns(Runs):
    """Solvers of the min-max margin loss."""

    kind = "auc-margin"
    params = (tuple(problems.solver_names("auc-margin")),)

    def settings(self, n):
        return {}
