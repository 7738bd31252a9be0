"""The problems of a `LinearSVC`: each class against the rest."""

import numpy as np
from scipy import sparse

from kernbench.estimators.fit.continuation import cold_start, digest, last_fit
from kernbench.estimators.fit.problem import Task
from kernbench.estimators.fit.solver import make_solver
from kernbench.estimators.fit.solver_data import make_design
from kernbench.estimators.fit.training_data import check_training_data
from kernbench.estimators.svm.parameters import check_linear_svc
from kernbench.kernels.domain import check_range
from kernbench.kernels.functions import Linear
from kernbench.solvers.base import Solution

FEW_VALUES = 1 << 14  # stored values of X; a million steps on so few take some hundredths of a second
FEW_STEPS = 1 << 20


class LinearTask(Task):
    """The task of one `LinearSVC`, or of a path of them.

    Parameters
    ----------
    model : LinearSVC
        Gets what is known before the first run: ``classes_``, ``class_weight_``, ``loss_`` and ``dtype_``.
    X, y, sample_weight
        As given to ``fit``.
    """

    shared = (*Task.shared, "loss_")
    counts_products = True

    def __init__(self, model, X, y, sample_weight):
        self.model = model
        self.entry, model.loss_ = check_linear_svc(model)
        self.n_jobs = model.n_jobs
        X, self.codes, _, self.weights = check_training_data(model, X, y, sample_weight)
        model.dtype_ = X.dtype.name if model.dtype == "auto" else model.dtype
        check_range(X, Linear(), model.dtype_, feature_names=getattr(model, "feature_names_in_", None))
        n_classes = len(model.classes_)
        positives = [1] if n_classes == 2 else range(n_classes)
        self.problems = [ClassProblem(self, k, positive) for k, positive in enumerate(positives)]
        settings = (model.solver, model.loss_, bool(model.fit_intercept))
        n_problems = len(self.problems)
        self.last = last_fit(model, settings, n_problems) or cold_start(model, settings, n_problems)
        self.X = with_constant(
            X, model.intercept_scaling if model.fit_intercept else None, np.dtype(model.dtype_)
        )
        if model.warm_start:
            parts = (self.X, self.codes, self.weights)
            self.key = tuple(digest(part) for part in parts if part is not None)
        # On little data a million steps cost next to nothing and make the weights those of the optimum to the last
        # digit, however the rows are ordered, repeated or weighted: where the solver can, it goes on beyond tol.
        n_values = self.X.nnz if sparse.issparse(self.X) else self.X.size
        self.min_iter = FEW_STEPS if n_values <= FEW_VALUES else 0

    def assemble(self, model, results):
        set_weights(model, [result.solution for result in results])
        model.n_inner_products_ = int(sum(result.n_inner_products for result in results))


class ClassProblem:
    """The problem of a class against the rest."""

    def __init__(self, task, k, positive):
        self.task, self.k, self.positive = task, k, positive

    @property
    def n_rows(self):
        return self.task.X.shape[0]

    @property
    def n_coef(self):
        return self.task.X.shape[1]

    @property
    def title(self):
        return f"{self.task.model.classes_[self.positive]} against the rest"

    def make_data(self):
        return self.task.X

    def start(self, X):
        task = self.task
        return task.last.initial(self.k, task.key, lambda coef: coef.shape == (self.n_coef,))

    def next_start(self, solution, C, following):
        # The weights and, where there are any, the dual variables. It is a new run: step sizes and averages
        # belong to the old C.
        kept = {name: solution.state[name] for name in ("a", "settings") if name in solution.state}
        return Solution(solution.coef, state=kept if "a" in kept else {})

    def counted_from(self, X):
        return 0

    def make_solver(self, X, C, initial):
        task, model = self.task, self.task.model
        design = make_design(X, model._twin)  # its own for each run: a design counts the passes over it
        settings = {
            "alpha": 1.0 / (C * self.n_rows),
            "weights": task.weights,
            "loss": model.loss_,
            "random_state": task.last.draws[self.k],
            "initial": initial,
        }
        y = np.where(task.codes == self.positive, 1.0, -1.0)
        solver = make_solver(model, task.entry, design, y, settings)
        if hasattr(solver, "min_iter") and "min_iter" not in (model.solver_options or {}):
            solver.min_iter = solver.n_iter + task.min_iter
        return solver

    def describe(self, model, solution):
        if len(self.task.problems) > 1:
            model.classes_, model.class_weight_ = np.array([False, True]), np.ones(2)
        set_weights(model, [solution])


def set_weights(model, solutions):
    """Set ``coef_`` and ``intercept_`` from the weights of columns, the constant one last."""
    weights = np.array([solution.coef for solution in solutions])
    if model.fit_intercept:
        model.coef_ = np.ascontiguousarray(weights[:, :-1])
        model.intercept_ = model.intercept_scaling * weights[:, -1]
    else:
        model.coef_, model.intercept_ = weights, np.zeros(len(weights))


def with_constant(X, scaling, dtype):
    """Return X in `dtype` with a last column of `scaling`, in one copy, or without that column for None.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    scaling : float, or None
    dtype : dtype

    Returns
    -------
    ndarray in C order or CSR matrix
    """
    if scaling is None:
        return X.astype(dtype, copy=False)
    n, d = X.shape
    if not sparse.issparse(X):
        rows = np.empty((n, d + 1), dtype=dtype)
        rows[:, :d], rows[:, d] = X, scaling
        return rows
    # The new entry is the last of its row, so the columns stay in order.
    index = np.int32 if X.nnz + n < 2**31 and d < 2**31 - 1 else np.int64
    starts = X.indptr.astype(index) + np.arange(n + 1, dtype=index)
    last = starts[1:] - 1
    is_old = np.ones(X.nnz + n, dtype=bool)
    is_old[last] = False
    values, columns = np.empty(X.nnz + n, dtype=dtype), np.empty(X.nnz + n, dtype=index)
    values[last], columns[last] = scaling, d
    values[is_old], columns[is_old] = X.data, X.indices
    rows = sparse.csr_matrix((values, columns, starts), shape=(n, d + 1))
    rows.has_sorted_indices = rows.has_canonical_format = True  # as X is: see `check_rows`
    return rows
