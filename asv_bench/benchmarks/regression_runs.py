"""Runs of registered solvers of a regression, with a kernel or on features: ridge, which all of them minimise."""

from dataclasses import dataclass

import numpy as np

from kernbench.kernels import Gaussian
from kernbench.kernels.threads import single_threaded_blas

from . import problems

PASSES = 2
NOISE = 0.1  # standard deviation of that of the targets


@dataclass(frozen=True)
class Targets:
    """Rows and numbers to be predicted.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    kernel : Gaussian or None
    alpha : float
    """

    X: np.ndarray
    y: np.ndarray
    kernel: Gaussian | None
    alpha: float = 1e-2


def targets(kernel):
    """1,024 rows of six columns; a curved function with a kernel, a linear one without."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((problems.N_TRAIN, 6))
    f = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] if kernel is not None else X @ rng.standard_normal(6)
    return Targets(X, f + NOISE * rng.standard_normal(len(X)), kernel)


class RegressionRuns:
    """Every registered solver of a kind; a subclass has `kind`, `kernel` and `params`."""

    param_names = ("solver",)
    timeout = 120

    def setup(self, solver):
        self.solver_class = problems.solver_class(self.kind, solver)
        self.problem = targets(self.kernel)
        problems.prepare_process()

    def run(self, solver):
        """The solver after two passes."""
        with single_threaded_blas():  # as the driver does
            settings = {"loss": "squared_error"} | ({} if self.kernel is None else {"fit_intercept": False})
            made = problems.make_solver(self.kind, self.solver_class, self.problem, self.kernel, **settings)
            n_iter = PASSES * len(self.problem.y)
            while made.n_iter < n_iter and made.advance(n_iter - made.n_iter):
                pass
        return made


class KernelRuns(RegressionRuns):
    """With a kernel."""

    kind, kernel = "kernel-regression", Gaussian(sigma=2.0)
    params = (tuple(problems.solver_names("kernel-regression")),)


class LinearRuns(RegressionRuns):
    """On features."""

    kind, kernel = "linear-regression", None
    params = (tuple(problems.solver_names("linear-regression")),)
