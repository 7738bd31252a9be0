"""The problems that the benchmarks share, drawn from fixed seeds.

They are built here and not by ``kernbench.datasets``, so that every commit is measured on the same numbers.
For the same reason they must not change: a new problem gets a new name.
"""

import ast
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.svm import SVC, LinearSVC

from kernbench.kernels import Gaussian, Laplacian, Polynomial
from kernbench.kernels.threads import single_threaded_blas
from kernbench.solvers import registry
from kernbench.solvers.kinds import KINDS

N_POINTS = 1024  # rows on either side of a block
N_FETCHED = 256  # rows a solver asks for together
N_TRAIN, N_TEST = 1024, 2000  # of the problem for solvers; above 1,000, SMO does no more than it is asked to
N_LINEAR = 2048  # rows of the problem for solvers on explicit features
N_RANKED = 4096  # rows of the problem for solvers of the ROC-SVM
N_FIT, N_PREDICT = 3000, 3000  # of the problem for estimators; above 2,000, KernelSVC computes in float32

LAYOUTS = ("dense64", "dense256", "sparse256")
DTYPES = ("float32", "float64")
KERNELS = {
    "gaussian": Gaussian(sigma=16.0),
    "laplacian": Laplacian(sigma=256.0),
    "polynomial": Polynomial(degree=3, c=1.0, scale=1 / 256),
}


def prepare_process():
    """Pay before the first call what a process pays once: the scan of its libraries for BLAS, some 10 ms."""
    with single_threaded_blas():
        pass


def solver_names(kind):
    """The solvers of a kind of problem, read from the text of the registry beside this suite.

    asv addresses parameters by position. Were they taken from the commit that is measured, an older commit
    with fewer solvers would report one solver's numbers under another's name.
    """
    path = Path(__file__).parents[2] / "kernbench" / "solvers" / "registry.py"
    calls = [
        {word.arg: word.value for word in node.keywords}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "SolverEntry"
    ]
    return [words["name"].value for words in calls if words["problem"].value == kind]


def solver_class(kind, solver):
    """The compiled class of a solver, from the commit that is measured.

    Raises
    ------
    NotImplementedError
        If this commit has no such solver: asv then leaves the benchmark out.
    """
    if solver not in registry.names(kind):
        raise NotImplementedError(f"this commit has no {solver}")
    return registry.get(solver, kind).load()


def make_solver(kind, solver_class, problem, kernel=None, **options):
    """A solver of a kind of problem on the rows of `problem`, in float64."""
    data = KINDS[kind].make_data(problem.X, kernel, dtype="float64")
    return solver_class(data, problem.y, alpha=problem.alpha, random_state=0, **options)


def points(layout, dtype, n, seed):
    """Rows of standard normal numbers: ``"dense64"`` has 64 columns, ``"sparse256"`` 256 with 10% filled."""
    rng = np.random.default_rng(seed)
    if layout.startswith("dense"):
        return rng.standard_normal((n, int(layout.removeprefix("dense")))).astype(dtype)
    shape = (n, int(layout.removeprefix("sparse")))
    return sparse.csr_matrix(np.where(rng.random(shape) < 0.1, rng.standard_normal(shape), 0.0).astype(dtype))


@dataclass(frozen=True)
class HingeProblem:
    """A two-class problem, with an account of solutions that asks no solver.

    The objective is ``alpha/2 ||f||^2 + mean hinge(y (f(x) + b))`` with ``alpha = 1 / (C n)``.

    Attributes
    ----------
    X, X_test : ndarray of shapes (n, d) and (m, d)
    y, y_test : ndarray of shapes (n,) and (m,)
        -1 and +1.
    kernel : Gaussian
    C : float
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    kernel: Gaussian = Gaussian(sigma=2.0)
    C: float = 1.0

    @property
    def alpha(self):
        return 1.0 / (self.C * len(self.y))

    @cached_property
    def _K(self):
        return self._values(self.X)

    def _values(self, Z):
        distances = (Z**2).sum(axis=1)[:, None] + (self.X**2).sum(axis=1) - 2 * Z @ self.X.T
        return np.exp(-distances / (2 * self.kernel.sigma**2))

    @cached_property
    def optimum(self):
        """The dual objective of LIBSVM's solution: a lower bound of the optimum, tight to eight digits."""
        model = SVC(C=self.C, kernel="precomputed", tol=1e-9).fit(self._K, self.y)
        coef = np.zeros(len(self.y))
        coef[model.support_] = model.dual_coef_[0]
        return self.alpha * (coef @ self.y - 0.5 * coef @ self._K @ coef)

    def relative_gap(self, solution):
        """(objective - optimum) / optimum; never less than 1e-12, so that it has a logarithm."""
        values = self._K @ solution.coef
        hinge = np.maximum(0.0, 1.0 - self.y * (values + solution.intercept)).mean()
        objective = 0.5 * self.alpha * solution.coef @ values + hinge
        return max(objective / self.optimum - 1.0, 1e-12)

    def test_error(self, solution):
        """Share of the test rows on the wrong side."""
        values = self._values(self.X_test) @ solution.coef + solution.intercept
        return float(np.mean(np.where(values > 0, 1, -1) != self.y_test))


def hinge_problem(C=1.0):
    """The problem of the solvers: a curved boundary in 6 dimensions, 3% of the labels flipped."""
    X, y = _curved(N_TRAIN + N_TEST, n_features=6, seed=1)
    return HingeProblem(X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:], C=C)


@dataclass(frozen=True)
class LinearProblem:
    """A two-class problem on explicit features, with an account of weights that asks no solver of ours.

    The objective is ``alpha/2 ||w||^2 + mean hinge(y <w, x>)`` with ``alpha = 1 / (C n)``.

    Attributes
    ----------
    X, X_test : ndarray of shapes (n, d) and (m, d)
    y, y_test : ndarray of shapes (n,) and (m,)
        -1 and +1.
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    C: float = 1.0

    @property
    def alpha(self):
        return 1.0 / (self.C * len(self.y))

    def objective(self, coef):
        """alpha/2 ||w||^2 + mean hinge."""
        hinge = np.maximum(0.0, 1.0 - self.y * (self.X @ coef)).mean()
        return 0.5 * self.alpha * coef @ coef + hinge

    @cached_property
    def optimum(self):
        """The objective of LIBLINEAR's solution, tight to six digits or more."""
        model = LinearSVC(C=self.C, loss="hinge", fit_intercept=False, tol=1e-7, max_iter=100_000, random_state=0)
        return self.objective(model.fit(self.X, self.y).coef_[0])

    def relative_gap(self, coef):
        """(objective - optimum) / optimum; never less than 1e-7, where LIBLINEAR's own error begins."""
        return max(self.objective(coef) / self.optimum - 1.0, 1e-7)

    def test_error(self, coef):
        """Share of the test rows on the wrong side."""
        return float(np.mean(np.where(self.X_test @ coef > 0, 1, -1) != self.y_test))


def linear_problem():
    """The problem of the solvers on explicit features: a linear truth in 32 dimensions, 3% of the labels flipped."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((N_LINEAR + N_TEST, 32))
    y = _labels(X @ rng.standard_normal(32), rng)
    return LinearProblem(X[:N_LINEAR], y[:N_LINEAR], X[N_LINEAR:], y[N_LINEAR:])


@dataclass(frozen=True)
class RankingProblem:
    """Rows of two classes, one of them rare, and an account of weights that asks no solver.

    The objective is ``alpha/2 ||w||^2`` + the mean over all pairs of ``max(0, 1 - (f(x_i) - f(x_j)))``, or of
    its square.

    Attributes
    ----------
    X, X_test : ndarray of shapes (n, d) and (m, d)
    y, y_test : ndarray of shapes (n,) and (m,)
        -1 and +1.
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    alpha: float = 1e-3

    def objective(self, coef, squared):
        """Every pair is looked at; in chunks of positives, so that memory stays small."""
        scores = self.X @ coef
        a, b = scores[self.y > 0], scores[self.y < 0]
        power = 2 if squared else 1
        parts = np.array_split(a, 16)
        total = sum((np.maximum(0.0, 1.0 - (part[:, None] - b)) ** power).sum() for part in parts)
        return 0.5 * self.alpha * coef @ coef + total / (len(a) * len(b))

    def one_minus_auc(self, coef):
        """Share of the pairs of test rows in the wrong order; ties count half."""
        scores = self.X_test @ coef
        a, b = np.sort(scores[self.y_test > 0]), scores[self.y_test < 0]
        below = np.searchsorted(a, b, side="left") + np.searchsorted(a, b, side="right")
        return below.sum() / (2 * len(a) * len(b))


def ranking_problem():
    """The problem of the solvers that rank: a curved truth in 16 dimensions, one row in ten positive."""
    rng = np.random.default_rng(6)
    X = rng.standard_normal((N_RANKED + N_TEST, 16))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(len(X)) > 1.8, 1.0, -1.0)
    return RankingProblem(X[:N_RANKED], y[:N_RANKED], X[N_RANKED:], y[N_RANKED:])


def training_and_test(layout):
    """The problem of the estimators, ``"dense"`` or ``"sparse"``, as (X, y, X_test, y_test)."""
    n = N_FIT + N_PREDICT
    if layout == "dense":
        X, y = _curved(n, n_features=16, seed=2)
    else:
        X = points("sparse256", "float64", n, seed=3)
        y = _labels(X @ np.random.default_rng(4).standard_normal(256), np.random.default_rng(5))
    return X[:N_FIT], y[:N_FIT], X[N_FIT:], y[N_FIT:]


def _curved(n, *, n_features, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features))
    return X, _labels(X[:, 0] * X[:, 1] + X[:, 2], rng)


def _labels(scores, rng, flipped=0.03):
    y = np.where(scores > 0, 1.0, -1.0)
    return np.where(rng.random(len(y)) < flipped, -y, y)
