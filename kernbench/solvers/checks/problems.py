"""Small problems of each kind, solvers on them, and the objective of a solution computed by other code than theirs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from kernbench.kernels import Gaussian
from kernbench.pairs import AllPairs
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.novelty_problem import loss_of_name
from kernbench.problems.nu_problem import NuLoss, kernel_problem
from kernbench.solvers import driver, registry

CLOSE = 1e-5  # relative gap to which the optimum is enclosed

# The forms of the training rows that solvers of a kind are given.
FORMS = {
    "kernel-svm": ("kernel",),
    "linear-svm": ("dense", "csr"),
    "roc-svm": ("dense", "csr", "kernel"),
    "kernel-regression": ("kernel",),
    "kernel-nu-svm": ("kernel",),
    "kernel-nu-regression": ("kernel",),
    "kernel-novelty": ("kernel",),
    "linear-regression": ("dense", "csr"),
}


@dataclass(frozen=True)
class Problem:
    """Two overlapping, unbalanced classes, or targets with noise.

    Attributes
    ----------
    kind : Kind
    X : ndarray or CSR matrix of shape (n, d)
    y : ndarray of shape (n,)
    weights : ndarray of shape (n,) or None
    kernel : Kernel or None
    alpha : float
    """

    kind: Any
    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    kernel: Any
    alpha: float

    @property
    def n(self):
        """Number of rows."""
        return len(self.y)

    @property
    def n_coef(self):
        """Coefficients of a solution."""
        return self.X.shape[1] if self.kernel is None else self.n

    def data(self, twin="compiled", **options):
        """The first argument of a solver, in double precision unless `options` say otherwise."""
        return self.kind.make_data(self.X, self.kernel, twin=twin, **{"dtype": np.float64, **options})


def make_problem(kind, n=60, seed=0, *, d=3, form=None, weighted=False, C=1.0):
    """Draw a problem.

    Parameters
    ----------
    kind : Kind
        One of `FORMS`.
    n, seed, d : int
    form : str, optional
        One of its forms; the first by default.
    weighted : bool
    C : float
        alpha = 1 / (C n).
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] * X[:, -1] + X[:, 0] + 0.5 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    if kind.real_targets:
        y = X[:, 0] * X[:, -1] + X[:, 0] + 0.5 * rng.normal(size=n)
    weights = rng.uniform(0.2, 3.0, size=n) if weighted else None
    form = form or FORMS[kind.name][0]
    if form == "csr":
        X = sparse.csr_matrix(np.where(np.abs(X) > 0.4, X, 0.0))
    kernel = Gaussian(1.2) if form == "kernel" else None
    return Problem(kind, X, y, weights, kernel, 1.0 / (C * n))


def build(entry, problem, twin="compiled", *, data=None, rows=None, **options):
    """Return a solver of `problem` before its first step, on `rows` or on new ones with the options `data`."""
    settings = {
        "alpha": problem.alpha,
        "weights": problem.weights,
        "random_state": 0,
        **problem.kind.defaults,
        **options,
    }
    settings.setdefault("loss", entry.losses[0])
    rows = problem.data(twin, **(data or {})) if rows is None else rows
    return entry.load(twin)(rows, problem.y, **settings)


def objective_of(problem, solution, loss):
    """The objective of a solution, in float64, by the NumPy reference of the rows or of the design."""
    data, coef = problem.data("reference"), np.asarray(solution.coef, dtype=np.float64)
    settings = {"alpha": problem.alpha, "weights": problem.weights}
    if problem.kind.first == "rows":
        f = data.matvec(coef)
        return _kernel_problem(problem, data, loss).objective(f, coef @ f, solution.intercept)
    scores = data.scores(coef)
    if problem.kind.name in ("linear-svm", "linear-regression"):
        return LinearProblem(data, problem.y, loss=loss, **settings).primal(coef, scores)
    risk = AllPairs(problem.y > 0, problem.weights).mean_loss(scores, loss)
    return 0.5 * problem.alpha * data.inner(coef, coef, scores) + risk


def _kernel_problem(problem, data, loss):
    return kernel_problem(
        data, problem.y, alpha=problem.alpha, weights=problem.weights, loss=loss_of_name(loss),
        fit_intercept=problem.kind.defaults.get("fit_intercept", True),
    )  # fmt: skip


def enclosed_optimum(problem, loss, judged):
    """A lower and an upper bound on the smallest objective, by kernbench's own solvers: what they reach, and certify.

    Where the solver to be judged is the only one, by the gap of its solution as NumPy computes it: by weak duality any
    feasible coefficients bound the optimum.

    Parameters
    ----------
    problem : Problem
    loss : str
    judged : SolverEntry
        The solver that the bounds are to judge, which is left out if there is another one.
    """
    lower, upper = -np.inf if isinstance(loss_of_name(loss), NuLoss) else 0.0, np.inf
    own = [e for e in registry.SOLVERS if e.is_built_in and e.problem == problem.kind.name and loss in e.losses]
    for entry in [entry for entry in own if entry is not judged] or own:
        solver = build(entry, problem, loss=loss)
        if solver.first_check is None:
            solver.tol = CLOSE
        found = driver.run(solver, tol=CLOSE, max_iter=entry.iteration_limit(problem.n), max_seconds=2.0)
        objective, gap = _recomputed(problem, found.solution, loss) if entry is judged else (found.objective, found.gap)
        lower, upper = lower if gap is None else max(lower, objective - gap), min(upper, objective)
        if upper - lower <= 2 * CLOSE * abs(upper):
            break
    return lower, upper


def _recomputed(problem, solution, loss):
    """Return objective and gap of a solution on kernel rows, by NumPy."""
    data, coef = problem.data("reference"), np.asarray(solution.coef, dtype=np.float64)
    checked, f = _kernel_problem(problem, data, loss), data.matvec(coef)
    return checked.objective(f, coef @ f, solution.intercept), checked.gap(coef, f, solution.intercept)
