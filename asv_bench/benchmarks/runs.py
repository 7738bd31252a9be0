"""Runs of the registered solvers of each kind, on the problem that its solvers share: what the benchmarks measure."""

from dataclasses import dataclass

import numpy as np

from kernbench.kernels import Gaussian
from kernbench.kernels.threads import single_threaded_blas
from kernbench.metrics import partial_auc
from kernbench.solvers import registry
from kernbench.solvers.kinds import KINDS

from . import problems
from .beside import twins

PASSES = 2  # iterations of a run, in passes over the training rows
ITERATIONS = 25  # of a solver whose iteration is itself a pass
DESCENT = ("gradient", "adamax")  # whose steps are small
TOL = 1e-6  # at which solvers of rankings are done before they have taken so many
NOISE = 0.1  # of the targets of a regression: its standard deviation


class Runs:
    """Every registered solver of a kind; a subclass has `kind` and `params`, and what differs from the following."""

    param_names = ("solver",)
    timeout = 120
    kernel = None
    problem_of = staticmethod(problems.ranking_problem)

    def setup(self, solver):
        self.solver_class = problems.solver_class(self.kind, solver)
        self.problem = self.problem_of()
        problems.prepare_process()

    def settings(self, solver):
        """Keywords of the solver."""
        return {"tol": TOL, **twins.settings_of(self.kind, len(self.problem.y))}

    def n_iter(self, solver):
        """Iterations of a run."""
        return PASSES * len(self.problem.y)

    def new_solver(self, solver):
        """The solver before its first iteration."""
        return problems.make_solver(self.kind, self.solver_class, self.problem, self.kernel, **self.settings(solver))

    def run(self, solver):
        """The solver after so many iterations, or after those it had to take."""
        n_iter = self.n_iter(solver)
        with single_threaded_blas():  # as the driver does
            made = self.new_solver(solver)
            while made.n_iter < n_iter and made.advance(n_iter - made.n_iter):
                pass
        return made


class KernelRuns(Runs):
    """Solvers of the kernel SVM, with the default settings."""

    kind, kernel = "kernel-svm", Gaussian(sigma=2.0)
    params = (tuple(problems.solver_names("kernel-svm")),)
    problem_of = staticmethod(problems.hinge_problem)

    def settings(self, solver):
        return {}


class LinearRuns(Runs):
    """Solvers of the linear SVM, on the hinge loss with the default settings."""

    kind = "linear-svm"
    params = (tuple(problems.solver_names("linear-svm")),)
    problem_of = staticmethod(problems.linear_problem)

    def settings(self, solver):
        return {}

    def n_iter(self, solver):
        return super().n_iter(solver) if registry.get(solver, self.kind).default_epochs else ITERATIONS


class RankingRuns(Runs):
    """Solvers of the ROC-SVM, over all pairs."""

    kind = "roc-svm"
    params = (tuple(problems.solver_names("roc-svm")),)

    def settings(self, solver):
        loss = {"loss": "squared_hinge" if self.is_squared(solver) else "hinge"}
        return loss if solver in DESCENT else {"tol": TOL, **loss}

    @staticmethod
    def is_squared(solver):
        """Whether it minimises the squared hinge only."""
        return solver == "newton"

    def n_iter(self, solver):
        return 500 if solver in DESCENT else ITERATIONS


class WindowRuns(Runs):
    """Solvers of the partial AUC."""

    kind = "partial-auc"
    params = (tuple(problems.solver_names("partial-auc")),)

    def n_iter(self, solver):
        return ITERATIONS if solver in ("dca-exact", "svmpauc-tight") else 1000  # steps on batches

    def one_minus_partial_auc(self, solver):
        """1 - partial AUC of 2,000 test rows."""
        scores = self.problem.X_test @ np.asarray(self.run(solver).solution().coef)
        return 1.0 - partial_auc(self.problem.y_test, scores, twins.FPR_RANGE)


class RangeRuns(WindowRuns):
    """Solvers of a ranked range: the largest twentieth of the losses is left out."""

    kind = "ranked-range"
    params = (tuple(problems.solver_names("ranked-range")),)


class MarginRuns(WindowRuns):
    """Solvers of the min-max margin loss."""

    kind = "auc-margin"
    params = (tuple(problems.solver_names("auc-margin")),)


@dataclass(frozen=True)
class Targets:
    """Rows and numbers to be predicted.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    alpha : float
    """

    X: np.ndarray
    y: np.ndarray
    alpha: float = 1e-2


class _RegressionRuns(Runs):
    """Solvers of ridge regression, which all of them minimise."""

    def problem_of(self):
        """1,024 rows of six columns; a curved function with a kernel, a linear one without."""
        rng = np.random.default_rng(8)
        X = rng.standard_normal((problems.N_TRAIN, 6))
        f = X @ rng.standard_normal(6) if self.kernel is None else np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
        return Targets(X, f + NOISE * rng.standard_normal(len(X)))

    def settings(self, solver):
        return {"loss": "squared_error"} | ({} if self.kernel is None else {"fit_intercept": False})


class KernelRegressionRuns(_RegressionRuns):
    """With a kernel."""

    kind, kernel = "kernel-regression", Gaussian(sigma=2.0)
    params = (tuple(problems.solver_names("kernel-regression")),)


class _ShareRuns(Runs):
    """Solvers of the problems with a share nu, here 0.5, with the default settings."""

    kernel = Gaussian(sigma=2.0)

    def settings(self, solver):
        return KINDS[self.kind].defaults


class NuRuns(_ShareRuns):
    """Two classes."""

    kind = "kernel-nu-svm"
    params = (tuple(problems.solver_names("kernel-nu-svm")),)
    problem_of = staticmethod(problems.hinge_problem)


class NoveltyRuns(_ShareRuns):
    """One class: the labels are ignored."""

    kind = "kernel-novelty"
    params = (tuple(problems.solver_names("kernel-novelty")),)
    problem_of = staticmethod(problems.hinge_problem)


class NuRegressionRuns(_ShareRuns):
    """Targets."""

    kind = "kernel-nu-regression"
    params = (tuple(problems.solver_names("kernel-nu-regression")),)
    problem_of = _RegressionRuns.problem_of


class LinearRegressionRuns(_RegressionRuns):
    """On features."""

    kind = "linear-regression"
    params = (tuple(problems.solver_names("linear-regression")),)


class StreamingRuns(Runs):
    """Solvers on batches, on the hinge loss: one pass over 1,024 rows."""

    kind, kernel, block_size = "doubly-stochastic", Gaussian(4.0), 32
    params = (tuple(problems.solver_names("doubly-stochastic")),)

    def problem_of(self):
        """Rows of ten columns, and those of a test."""
        rng = np.random.default_rng(0)
        X, X_test = rng.normal(size=(twins.BATCH_SIZE * self.n_iter(None), 10)), rng.normal(size=(2000, 10))
        y, y_test = (np.where(Z[:, 0] + Z[:, 1] * Z[:, 2] > 0, 1.0, -1.0) for Z in (X, X_test))
        return problems.LinearProblem(X, y, X_test, y_test)

    def n_iter(self, solver):
        return 16

    def new_solver(self, solver, **settings):
        X, y = self.problem.X, self.problem.y
        batches = KINDS[self.kind].make_data(X, y=y, batch_size=twins.BATCH_SIZE)
        settings = {"alpha": 1e-4, "loss": "hinge", "block_size": self.block_size, "random_state": 0, **settings}
        return self.solver_class(batches, self.kernel, **settings)

    def test_error(self, solver):
        """Share of the test rows misclassified by its solution."""
        outputs = self.new_solver(solver, initial=self.run(solver).solution()).outputs(self.problem.X_test)
        return float(np.mean(outputs[:, 0] * self.problem.y_test <= 0))
