"""The problems of regressors: one each, on features or on kernel rows."""

from types import SimpleNamespace

import numpy as np
from scipy import sparse

from kernbench.estimators.arguments.kernel import check_kernel, kernel_of
from kernbench.estimators.arguments.parameters import precision
from kernbench.estimators.arguments.training_data import check_weights
from kernbench.estimators.fit.centring import centred, combined, left_over, mean_of, shift_of
from kernbench.estimators.fit.certificate import Examined
from kernbench.estimators.fit.choice import kernel_regression_entry, other_solver
from kernbench.estimators.fit.continuation import cold_start, digest, key_of, last_fit
from kernbench.estimators.fit.folding import Stored, StoredFunction
from kernbench.estimators.fit.problem import Task
from kernbench.estimators.fit.solver import make_solver
from kernbench.estimators.fit.solver_data import make_rows, row_size, with_constant
from kernbench.estimators.regression.parameters import check_regression_data, check_regressor, check_spread, offset_of
from kernbench.estimators.svm.expansion import set_support_vectors
from kernbench.estimators.svm.linear_task import WeightsProblem, WeightsTask
from kernbench.kernels.functions import CentredLinear, Linear
from kernbench.problems.certificate.curvature import shows_negative_curvature
from kernbench.problems.certificate.risks import MarginRisk, steepest_slope
from kernbench.problems.nu_problem import kernel_problem
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import check_flag

OWN_DUAL = ("smo", "sdca", "newton")  # their bounds are the dual objectives of their coefficients, clipped at most
FAR = 1e3  # dual variables of a start, in units of the largest slopes that are to be expected


def check_linear_regressor(model):
    """Check the parameters of a `LinearRegressor`; return the registry's entry of its solver and its loss."""
    return check_regressor(model, "linear-regression")


def check_kernel_regressor(model):
    """Check the parameters of a `KernelRegressor`; return the registry's entry of its solver and its loss."""
    check_kernel(model)
    return check_regressor(model, "kernel-regression")


def check_kernel_svr(model):
    """Check the parameters of a `KernelSVR`; return the registry's entry of its solver and its loss."""
    check_kernel(model)
    check_flag("shrinking", model.shrinking)
    offered = ("epsilon_insensitive", "squared_epsilon_insensitive")
    return check_regressor(model, "kernel-regression", strength="C", offered=offered)


class LinearRegressorTask(WeightsTask):
    """The task of one `LinearRegressor`, or of a path of them.

    Parameters
    ----------
    model : LinearRegressor
        ``dtype_`` is set on it.
    X, y, sample_weight
        As given to ``fit``.
    """

    strength, kind, plural = "alpha", "linear-regression", "outputs"
    shared = ("n_features_in_", "feature_names_in_", "dtype_", "solver_")

    def __init__(self, model, X, y, sample_weight):
        self.model = model
        self.entry, self.loss = check_linear_regressor(model)
        X, y, self.weights = check_regression_data(model, X, y, sample_weight, several=True)
        self.has_outputs = y.ndim == 2
        outputs = y.T if self.has_outputs else [y]
        self.problems = [
            LinearRegressionProblem(self, k, target, offset_of(model, self.loss, target, self.weights))
            for k, target in enumerate(outputs)
        ]
        self.hold(X, y, (self.loss.name, self.loss.parameter))
        for problem in self.problems:
            check_spread(model, problem.y, problem.offset)

    @property
    def loss_name(self):
        return self.loss.name

    @property
    def free_last(self):
        """Whether the solver leaves the coefficient of the constant column without a penalty."""
        return self.constant is not None and self.entry.name == "newton"

    def columns_of(self, X, dtype):
        """Return the columns less their means, and with an intercept one of a constant.

        The intercept has no penalty, so that it makes up for any shift of the columns; centred ones are better
        conditioned. For the squared error its best value is then the mean of the targets, 0: no column is needed.
        """
        self.centre = self.constant = None
        if not self.model.fit_intercept:
            return with_constant(X, None, dtype)
        if not sparse.issparse(X):
            self.centre = np.average(X.astype(np.float64, copy=False), axis=0, weights=self.weights)
            X = X - self.centre
        if self.entry.name == "newton":
            self.constant = 1.0
        elif self.loss.name != "squared_error" or self.centre is None:
            # As long as a row on average: its coefficient is penalised, but little.
            self.constant = row_size(X, self.weights)
        return with_constant(X, self.constant, dtype)

    def set_solutions(self, model, solutions):
        found = [problem.weights_of(solution) for problem, solution in zip(self.problems, solutions, strict=True)]
        if self.has_outputs:
            model.coef_, model.intercept_ = (np.array(part) for part in zip(*found))
        else:
            ((model.coef_, model.intercept_),) = found

    def stored(self, model, solutions):
        if self.constant is None and self.centre is None:
            return None
        heaviest = 1.0 if self.weights is None else float(self.weights.max())
        offsets = [float(problem.offset) for problem in self.problems]
        return self.stored_by(model, solutions, offsets, self.loss, heaviest)


class LinearRegressionProblem(WeightsProblem):
    """The weights of a regression on features, of one output.

    Parameters
    ----------
    task : LinearRegressorTask
    k : int
        Index of the output.
    target : ndarray of shape (n_samples,)
    offset : float
        The constant that the targets are centred by.
    """

    def __init__(self, task, k, target, offset):
        super().__init__(task, k)
        self.y, self.offset = target - offset, offset

    @property
    def title(self):
        return f"output {self.k}"

    def make_solver(self, data, alpha, initial):
        return self.solver_of(self.y, alpha, self.task.loss, initial)

    def examined(self, data, solver, alpha):
        return self.examined_by(solver, self.y, alpha, self.task.loss)

    def risk_of(self, alpha):
        return self.risk_by(self.y, alpha, self.task.loss)

    def describe(self, model, solution):
        model.coef_, model.intercept_ = self.weights_of(solution)

    def weights_of(self, solution):
        """Return the weights of the given columns, and the intercept."""
        task, coef = self.task, solution.coef
        intercept = self.offset
        if task.constant is not None:
            coef, intercept = coef[:-1], intercept + task.constant * coef[-1]
        if task.centre is not None:
            intercept -= coef @ task.centre
        return np.array(coef), float(intercept)


class KernelRegressorTask(Task):
    """The task of one `KernelRegressor`, or of a path of them.

    Parameters
    ----------
    model : KernelRegressor
        ``kernel_``, ``centre_`` and ``dtype_`` are set on it.
    X, y, sample_weight
        As given to ``fit``.
    """

    strength, plural, several, risk = "alpha", "outputs", True, MarginRisk
    mean_weight = 1.0
    shared = ("n_features_in_", "feature_names_in_", "kernel_", "centre_", "dtype_", "solver_", "shape_fit_")
    check = staticmethod(check_kernel_regressor)

    def __init__(self, model, X, y, sample_weight):
        self.model = model
        self.entry, self.loss = self.check(model)
        X, y, self.weights = self.read(X, y, sample_weight)
        model.shape_fit_ = X.shape
        self.entry = self.entry or kernel_regression_entry(self.loss, len(y))
        model.solver_ = self.entry.name
        # Its dual has one more constraint, which SMO keeps; for other solvers the targets are centred.
        self.free_intercept = model.solver_ == "smo" and model.fit_intercept
        self.has_outputs = y.ndim == 2
        self.problems = [
            KernelRegressionProblem(self, k, target, self.offset_of(target))
            for k, target in enumerate(y.T if self.has_outputs else [y])
        ]
        for problem in self.problems:
            check_spread(model, problem.y, problem.offset)
        self.n_rows = len(y)
        settings, n_problems = (model.solver_, bool(model.fit_intercept)), len(self.problems)
        draws_kernel = isinstance(model.gamma, str) and model.gamma == "median"
        self.last = last_fit(model, settings, n_problems) or cold_start(
            model, settings, n_problems, draws_kernel=draws_kernel, draws=self.entry.draws
        )
        # A factor of the kernel matrix is computed in float64 anyway.
        dtype = "float64" if model.dtype == "auto" and model.solver_ == "newton" else model.dtype
        self.dtype = model.dtype_ = precision(dtype, len(y))
        model.kernel_ = kernel_of(model, X, self.weights, self.last.kernel_seed)
        model.centre_, self.kernel = None, model.kernel_
        if isinstance(model.kernel_, Linear) and model.fit_intercept:
            # The mean, since the intercept is that of f = 0, the best one for the squared error if <w, x> has mean 0.
            model.centre_ = mean_of(X, self.weights)
            rest = left_over(X, model.centre_)
            self.kernel = self.kernel if rest is None else CentredLinear(rest)
        # In float64: the model is applied to rows as given, from which float32 ones less their centre would differ.
        self.given, self.X = X, centred(X, model.centre_, np.float64)
        if model.warm_start:
            parts = tuple(digest(part) for part in (y, self.weights) if part is not None)
            strength = getattr(model, self.strength)
            self.key = (*key_of(model.kernel_, X), *parts, self.dtype, strength, self.loss.name, self.loss.parameter)

    def read(self, X, y, sample_weight):
        """Return the checked arguments of ``fit``, the weights as the solver takes them."""
        return check_regression_data(self.model, X, y, sample_weight, kernel=self.model.kernel, several=self.several)

    def offset_of(self, target):
        """Return the constant that the targets of an output are centred by."""
        return offset_of(self.model, self.loss, target, self.weights)

    def advice(self):
        """The cause, if the kernel matrix shows it, or another solver."""
        if shows_negative_curvature(self.model.kernel_, self.X, np.zeros(self.n_rows), balanced=self.free_intercept):
            return (
                "The kernel matrix is not positive semi-definite, so that there need not be a minimum: choose another "
                "kernel."
            )
        return self.other_solver()

    def other_solver(self):
        """Return a sentence that names another solver; may be empty."""
        return other_solver(self.entry, self.loss.name, self.n_rows)

    def make_rows(self, dtype=None, keep=False):
        """Return the kernel rows, which all outputs share, by default in the precision of the task.

        `keep` is that of `solver_data.make_rows`.
        """
        model = self.model
        rows = make_rows(
            self.X,
            self.kernel,
            dtype or self.dtype,
            cache_size=model.cache_size,
            twin=model._twin,
            may_widen=model.dtype == "auto",
            two_precisions=self.entry.two_precisions and not keep,
            keep=keep,
            whole=self.entry.name == "newton",
        )
        if self.dtype == "float32" and rows.dtype is np.float64:
            model.dtype_ = "float64"
        return rows

    def assemble(self, model, results):
        self.set_solutions(model, [result.model for result in results])

    def set_solutions(self, model, solutions):
        """Set the attributes that define the predictions."""
        self.set_functions(model, self.problems, solutions)

    def set_functions(self, model, problems, solutions):
        """Set these attributes as if there were no other problems than those given."""
        coef = np.array([solution.coef for solution in solutions])
        pairs = zip(problems, solutions, strict=True)
        offsets = np.array([problem.offset + solution.intercept for problem, solution in pairs], dtype=np.float64)
        set_expansions(model, self.given, coef, offsets)
        self.shape_intercept(model)

    def stored(self, model, solutions):
        centre, kernel = model.centre_, self.kernel
        offsets = [float(problem.offset) for problem in self.problems]
        if centre is None and not any(offsets):
            return None
        weights = [None] * len(solutions) if centre is None else np.atleast_2d(model.coef_)
        functions = [
            StoredFunction(w, (offset, float(solution.intercept)), solution)
            for w, offset, solution in zip(weights, offsets, solutions, strict=True)
        ]
        heaviest = 1.0 if self.weights is None else float(self.weights.max())
        by_mean = self.loss.name == "squared_error" and centre is not None and not self.free_intercept
        return Stored(functions, centre, kernel, self.loss, heaviest, by_mean=by_mean)

    def alpha_of(self, strength):
        """Return the alpha of the problem for one of the model's strengths."""
        return strength

    def shape_intercept(self, model):
        """Make the intercept of a model of one output a number."""
        if not self.has_outputs:
            model.intercept_ = float(model.intercept_[0])


class KernelSVRTask(KernelRegressorTask):
    """The task of one `KernelSVR`, or of a path of them.

    Its objective is that of the regressor with weights of mean 1, times C and the sum of the weights.

    Parameters
    ----------
    model : KernelSVR
    X, y, sample_weight
        As given to ``fit``.
    """

    strength, several = "C", False
    check = staticmethod(check_kernel_svr)

    def __init__(self, model, X, y, sample_weight):
        super().__init__(model, X, y, sample_weight)
        weights = np.ones(self.n_rows) if sample_weight is None else check_weights(sample_weight, self.X)
        self.total_weight = float(weights.sum())

    def other_solver(self):
        return ""  # the model has no parameter for it

    def alpha_of(self, strength):
        return 1.0 / (strength * self.total_weight)

    def shape_intercept(self, model):
        """Leave it an array, as in scikit-learn's `SVR`."""


class KernelRegressionProblem:
    """The coefficients of a kernel regression, of one output.

    Parameters
    ----------
    task : KernelRegressorTask
    k : int
        Index of the output.
    target : ndarray of shape (n_samples,)
    offset : float
        The constant that the targets are centred by.
    """

    def __init__(self, task, k, target, offset):
        self.task, self.k = task, k
        self.y, self.offset = target - offset, offset
        self.n_rows = self.n_coef = len(target)

    @property
    def title(self):
        return f"output {self.k}"

    @property
    def X(self):
        """The training rows."""
        return self.task.X

    def make_data(self, dtype=None):
        return self.task.make_rows(dtype)

    def start(self, rows):
        return self.task.last.initial(self.k, self.task.key, self._is_start)

    def _is_start(self, coef):
        """Return whether coefficients of another fit are a start for this one.

        Its dual variables are at most as large as slopes of the loss at the targets. Those for targets a million times
        as large, say, would leave their rounding errors in responses and bounds.
        """
        if coef.shape != (self.n_coef,):
            return False
        loss, problem = self.task.loss, self.risk_of(getattr(self.task.model, self.task.strength)).problem
        steepest, weights = steepest_slope(loss), problem.weights
        if steepest == np.inf:
            steepest = loss.smoothness * float(np.sqrt(weights @ np.square(problem.targets) / problem.n))
        return float(np.linalg.norm(problem.alpha * np.sqrt(problem.n) * coef)) <= FAR * steepest * weights.max()

    def next_start(self, solution, alpha, following):
        return Solution(solution.coef)

    def counted_from(self, rows):
        # The reference twins count for themselves.
        return rows.n_evaluations if self.task.model._twin == "compiled" else 0

    def make_solver(self, rows, strength, initial):
        task = self.task
        if hasattr(rows, "release"):
            rows.release()  # the previous solver may have left them restricted to a working set
        settings = {
            "alpha": task.alpha_of(strength),
            "weights": task.weights,
            "loss": task.loss,
            "random_state": task.last.draws[self.k],
            "initial": initial,
            "fit_intercept": task.free_intercept,
        }
        return make_solver(task.model, task.entry, rows, self.y, settings)

    def examined(self, rows, solver, strength):
        task = self.task
        if hasattr(rows, "release"):
            rows.release()
        own_dual, dtype = task.entry.name in OWN_DUAL, np.dtype(rows.dtype).name
        risk = task.risk(self.problem_of(rows, strength))
        return Examined(risk, task.X, task.kernel, rows, dtype, own_dual, task.model.centre_)

    def risk_of(self, strength):
        return self.task.risk(self.problem_of(SimpleNamespace(n_rows=self.n_rows), strength))

    def problem_of(self, rows, strength):
        """Return the problem on kernel rows, for one of the model's strengths."""
        task = self.task
        return kernel_problem(
            rows,
            self.y,
            alpha=task.alpha_of(strength),
            weights=task.weights,
            fit_intercept=task.free_intercept,
            loss=task.loss,
        )

    def describe(self, model, solution):
        self.task.set_functions(model, [self], [solution])


def set_expansions(model, X, coef, offsets):
    """Set support vectors, ``dual_coef_`` and ``intercept_``, an array, from coefficients of shape (n_outputs, n)."""
    set_support_vectors(model, X, np.flatnonzero(coef.any(axis=0)))
    model.dual_coef_, model.intercept_ = np.ascontiguousarray(coef[:, model.support_]), offsets
    if model.centre_ is not None:
        weights = combined(model.dual_coef_, model.support_vectors_, model.centre_)
        model.intercept_ = offsets - shift_of(weights, model.centre_)
