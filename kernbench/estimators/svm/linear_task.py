"""The problems of a linear model: weights of features; those of a `LinearSVC`, each class against the rest."""

from types import SimpleNamespace

import numpy as np
from scipy import sparse

from kernbench.estimators.arguments.training_data import check_training_data
from kernbench.estimators.fit.centring import moved_to_centre, shift_of
from kernbench.estimators.fit.certificate import Examined
from kernbench.estimators.fit.choice import SMOOTH, linear_entry, other_solver
from kernbench.estimators.fit.continuation import cold_start, digest, last_fit
from kernbench.estimators.fit.folding import Stored, StoredFunction
from kernbench.estimators.fit.problem import Task
from kernbench.estimators.fit.solver import make_solver
from kernbench.estimators.fit.solver_data import design_maker, with_constant
from kernbench.estimators.svm.parameters import check_linear_svc, has_free_intercept
from kernbench.kernels.domain import check_range
from kernbench.kernels.functions import Linear
from kernbench.losses.regression import example_loss
from kernbench.problems.certificate.risks import MarginRisk
from kernbench.problems.margin_problem import MarginProblem
from kernbench.solvers.base import Solution

FEW_VALUES = 1 << 14  # stored values of X, for which a million steps take some hundredths of a second
FEW_STEPS = 1 << 20
FEW_COLUMNS = 64  # up to which some hundred Newton steps take as little time


class WeightsTask(Task):
    """The task of a linear model, or of a path of them.

    A task sets ``entry``, that of the solver the model names or None for ``"auto"``, ``weights`` and ``problems``, and
    calls `hold`.
    """

    counts_products = True
    free_last = False  # whether the coefficient of the constant column has no penalty, which `newton` alone can do
    constant = None  # value of that column; None without it
    centre = None  # that columns are moved by; None where they are as given
    kind = "linear-svm"

    def hold(self, X, y, settings):
        """Set what follows from the rows.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Without the constant column.
        y : ndarray of shape (n_samples,)
        settings : tuple
            Parameters besides the solver for which the solution of the last fit is a start.
        """
        model = self.model
        if self.entry is None:
            columns = X.shape[1] + bool(model.fit_intercept)
            self.entry = linear_entry(self.kind, self.loss_name, X.shape[0], columns)
        model.solver_ = self.entry.name
        model.dtype_ = X.dtype.name if model.dtype == "auto" else model.dtype
        check_range(X, Linear(), model.dtype_, feature_names=getattr(model, "feature_names_in_", None))
        settings = (model.solver_, *settings, bool(model.fit_intercept))
        n_problems = len(self.problems)
        self.last = last_fit(model, settings, n_problems) or cold_start(model, settings, n_problems)
        self.X = self.columns_of(X, np.dtype(model.dtype_))
        if model.warm_start:
            self.key = tuple(digest(part) for part in (self.X, y, self.weights) if part is not None)
        # On little data a million steps cost almost nothing and give the optimal weights to the last digit, for any
        # order, repetition or weighting of the rows: a solver that can continues beyond tol.
        self.n_values = self.X.nnz if sparse.issparse(self.X) else self.X.size
        is_cheap = self.entry.name != "newton" or self.loss_name in SMOOTH or self.X.shape[1] <= FEW_COLUMNS
        self.min_iter = FEW_STEPS if self.n_values <= FEW_VALUES and is_cheap else 0

    def columns_of(self, X, dtype):
        """Return the columns that weights are fitted to."""
        return with_constant(X, self.constant, dtype)

    def advice(self):
        """A sentence for a run that did not converge."""
        return other_solver(self.entry, self.loss_name, self.X.shape[0])

    def assemble(self, model, results):
        self.set_solutions(model, [result.model for result in results])
        model.n_inner_products_ = int(sum(result.n_inner_products for result in results))

    def set_solutions(self, model, solutions):
        """Set the attributes that define the predictions."""
        set_weights(model, solutions, self.constant, self.centre)

    def stored_by(self, model, solutions, offsets, loss, heaviest):
        """Return the `Stored` functions of a model whose targets are centred by `offsets`."""
        functions = [
            StoredFunction(
                None if self.centre is None else w,
                (offset,) if self.constant is None else (offset, float(self.constant * solution.coef[-1])),
                Solution(solution.coef),
            )
            for w, solution, offset in zip(np.atleast_2d(model.coef_), solutions, offsets, strict=True)
        ]
        penalised, by_mean = None if self.free_last else self.constant, self.constant is None
        return Stored(functions, self.centre, None, loss, heaviest, penalised, by_mean)


class LinearTask(WeightsTask):
    """The task of one `LinearSVC`, or of a path of them.

    Parameters
    ----------
    model : LinearSVC
        ``classes_``, ``class_weight_``, ``loss_`` and ``dtype_`` are set on it.
    X, y, sample_weight
        As given to ``fit``.
    """

    shared = (*Task.shared, "loss_", "solver_")

    def __init__(self, model, X, y, sample_weight):
        self.model = model
        self.entry, model.loss_ = check_linear_svc(model)
        self.n_jobs = model.n_jobs
        X, self.codes, self.sample_weight, self.weights = check_training_data(model, X, y, sample_weight)
        n_classes = len(model.classes_)
        positives = [1] if n_classes == 2 else range(n_classes)
        self.problems = [ClassProblem(self, k, positive) for k, positive in enumerate(positives)]
        self.hold(X, self.codes, (model.loss_,))

    def columns_of(self, X, dtype):
        # An intercept without a penalty makes up for any shift of the columns; centred ones are better conditioned.
        if self.free_last:
            X, self.centre = moved_to_centre(X, np.promote_types(X.dtype, dtype))
        return super().columns_of(X, dtype)

    def stored(self, model, solutions):
        if self.centre is None:
            return None
        weights = self.weights if len(self.problems) == 1 else self.sample_weight
        heaviest = 1.0 if weights is None else float(weights.max())
        if len(self.problems) > 1:
            heaviest *= max(1.0, float(np.max(model.class_weight_)))
        return self.stored_by(model, solutions, [0.0] * len(solutions), example_loss(model.loss_), heaviest)

    @property
    def free_last(self):
        return has_free_intercept(self.model)

    @property
    def constant(self):
        if not self.model.fit_intercept:
            return None
        return 1.0 if self.free_last else self.model.intercept_scaling

    @property
    def loss_name(self):
        return self.model.loss_


class WeightsProblem:
    """A problem of a linear model: one vector of weights, that of the constant column last.

    Each solver makes a design of its own from the columns of the task, since a design counts the passes over it.
    """

    title = ""

    def __init__(self, task, k=0):
        self.task, self.k = task, k

    @property
    def weights(self):
        """Weights of the rows, or None."""
        return self.task.weights

    @property
    def n_rows(self):
        return self.task.X.shape[0]

    @property
    def n_coef(self):
        return self.task.X.shape[1]

    @property
    def X(self):
        """The columns of the task."""
        return self.task.X

    def make_data(self):
        return None

    def start(self, data):
        task = self.task
        return task.last.initial(self.k, task.key, lambda coef: coef.shape == (self.n_coef,))

    def next_start(self, solution, strength, following):
        # The weights and, if present, the dual variables. It is a new run: step sizes and averages belong to the old
        # strength, and settings that no run has say so even if the next one is the same.
        state = {"a": solution.state["a"], "settings": np.zeros(0)} if "a" in solution.state else {}
        return Solution(solution.coef, state=state)

    def counted_from(self, data):
        return 0

    def examined_by(self, solver, y, alpha, loss):
        """Return what certifies the solution of `solver` for targets or labels `y`.

        None where it has an intercept without a penalty, which the solver's own certificate knows of: a sum of terms
        that are not negative; and for rows in blocks. `fit.folding` adds what rounding the stored intercept costs.
        """
        X = self.task.X
        if self.task.free_last or not (isinstance(X, np.ndarray) or sparse.issparse(X)):
            return None
        problem = solver.problem
        if not isinstance(problem, MarginProblem):
            return Examined(self.risk_by(y, alpha, loss), X)
        return Examined(MarginRisk(problem), X)

    def risk_by(self, y, alpha, loss):
        """Return the risk of scores for targets or labels `y`."""
        rows = SimpleNamespace(n_rows=self.n_rows)
        problem = MarginProblem(rows, y, alpha=alpha, weights=self.weights, fit_intercept=False, loss=loss)
        return MarginRisk(problem)

    def solver_of(self, y, alpha, loss, initial):
        """Return the solver for targets or labels `y`."""
        task, model = self.task, self.task.model
        design = design_maker(model._twin)(task.X)
        settings = {
            "alpha": alpha,
            "weights": self.weights,
            "loss": loss,
            "random_state": task.last.draws[self.k],
            "initial": initial,
        }
        if task.entry.name == "newton":
            settings["free_last"] = task.free_last
        solver = make_solver(model, task.entry, design, y, settings)
        if solver.min_iter is not None and "min_iter" not in (model.solver_options or {}):
            solver.min_iter = solver.n_iter + task.min_iter
        return solver

    def describe(self, model, solution):
        set_weights(model, [solution], self.task.constant, self.task.centre)


class ClassProblem(WeightsProblem):
    """The problem of a class against the rest."""

    def __init__(self, task, k, positive):
        super().__init__(task, k)
        self.positive = positive

    @property
    def weights(self):
        """Sample weight times class weight. With more than two classes only the positive one has its class weight, and
        the rest has 1, as in LIBLINEAR."""
        task = self.task
        if len(task.problems) == 1:
            return task.weights
        factor = task.model.class_weight_[self.positive]
        if factor == 1.0:
            return task.sample_weight
        own = np.where(task.codes == self.positive, factor, 1.0)
        return own if task.sample_weight is None else own * task.sample_weight

    @property
    def title(self):
        return f"{self.task.model.classes_[self.positive]} against the rest"

    @property
    def y(self):
        return np.where(self.task.codes == self.positive, 1.0, -1.0)

    def make_solver(self, data, C, initial):
        return self.solver_of(self.y, 1.0 / (C * self.n_rows), self.task.model.loss_, initial)

    def examined(self, data, solver, C):
        return self.examined_by(solver, self.y, 1.0 / (C * self.n_rows), self.task.model.loss_)

    def risk_of(self, C):
        return self.risk_by(self.y, 1.0 / (C * self.n_rows), self.task.model.loss_)

    def describe(self, model, solution):
        if len(self.task.problems) > 1:
            model.classes_, model.class_weight_ = np.array([False, True]), np.ones(2)
        super().describe(model, solution)


def set_weights(model, solutions, constant, centre):
    """Set ``coef_`` and ``intercept_`` from the weights of columns moved by `centre`, that of a constant one last."""
    weights = np.array([solution.coef for solution in solutions])
    if constant is None:
        model.coef_, model.intercept_ = weights, np.zeros(len(weights))
    else:
        model.coef_ = np.ascontiguousarray(weights[:, :-1])
        model.intercept_ = constant * weights[:, -1] - shift_of(model.coef_, centre)
