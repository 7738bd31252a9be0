"""The problems of a `KernelSVC`: pairs of classes, or each class against the rest, on kernel rows.

Kernel rows belong to one thread, which keeps them from one run to the next if all problems have the same examples (one
against the rest, and the Cs of a path).
"""

from functools import cached_property
from types import SimpleNamespace

import numpy as np

from kernbench.estimators.arguments.kernel import kernel_of
from kernbench.estimators.arguments.parameters import AUTO_DOUBLE_ROWS, precision
from kernbench.estimators.arguments.training_data import check_training_data
from kernbench.estimators.fit.centring import centred
from kernbench.estimators.fit.certificate import Examined
from kernbench.estimators.fit.continuation import cold_start, digest, key_of, last_fit
from kernbench.estimators.fit.folding import Stored, StoredFunction
from kernbench.estimators.fit.problem import Task
from kernbench.estimators.fit.solver import make_solver
from kernbench.estimators.fit.solver_data import make_rows
from kernbench.estimators.svm.expansion import centre_for, set_expansion
from kernbench.estimators.svm.multiclass import ONE_VS_REST, Pair, pairs_of
from kernbench.estimators.svm.parameters import check_kernel_svc
from kernbench.kernels.domain import is_precomputed
from kernbench.losses.regression import example_loss
from kernbench.problems.certificate.risks import MarginRisk
from kernbench.problems.margin_problem import MarginProblem
from kernbench.solvers.base import Solution

OWN_DUAL = ("smo", "sdca")  # dual methods: their bounds are the dual objectives of their coefficients

# dtype="auto" with a rare class, at most one row in `RARE`: up to this size `smo` computes few kernel rows, and twice
# their bytes cost less than the certificate of float32 values, which computes some in float64.
RARE_DOUBLE_ROWS, RARE = 2500, 4

BEYOND = 8 * np.finfo(float).eps  # share of a bound that the roundings of C, its multiple and weights stay below
LEAST_PRODUCT = 1e-4  # products with the kernel are known to a rounding of 1: smaller ones may not be multiplied


class KernelTask(Task):
    """The task of one `KernelSVC`, or of a path of them.

    Parameters
    ----------
    model : KernelSVC
        ``classes_``, ``class_weight_``, ``kernel_``, ``centre_`` and ``dtype_`` are set on it.
    X, y, sample_weight
        As given to ``fit``.
    all_classes : bool, default=False
        As for `check_training_data`.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The rows of the problems: `given` ones less ``centre_``.
    """

    shared = (*Task.shared, "kernel_", "centre_", "shape_fit_")
    check = staticmethod(check_kernel_svc)

    def __init__(self, model, X, y, sample_weight, *, all_classes=False):
        self.model, self.entry = model, self.check(model)
        self.n_jobs = model.n_jobs
        self.may_lower_strength = self.entry.name == "smo"
        X, codes, sample_weight, weights = check_training_data(
            model, X, y, sample_weight, kernel=model.kernel, all_classes=all_classes
        )
        self.given, self.codes, self.weights = X, codes, weights
        model.shape_fit_ = X.shape
        n_classes = len(model.classes_)
        self.shares_data = model.multi_class == ONE_VS_REST and n_classes > 2
        self.plural = "classes" if self.shares_data else "pairs of classes"
        n_problems = n_classes if self.shares_data else n_classes * (n_classes - 1) // 2

        settings = (model.solver, self.shares_data)
        self.last = last_fit(model, settings, n_problems) or cold_start(
            model,
            settings,
            n_problems,
            draws_kernel=isinstance(model.gamma, str) and model.gamma == "median",
            draws=self.entry.draws,
        )
        self.dtype = model.dtype_ = precision(model.dtype, len(codes), _most_double_rows(model, codes))
        model.kernel_ = kernel_of(model, X, sample_weight, self.last.kernel_seed)
        model.centre_ = centre_for(model, X, n_problems)
        self.X = centred(X, model.centre_, np.float64)  # as in `KernelRegressorTask`
        if model.warm_start:
            taking_part = codes if weights is None else np.where(weights > 0, codes, -1)
            self.key = (
                *key_of(model.kernel_, X),
                digest(taking_part),
                self.dtype,
                model.loss,
                bool(model.fit_intercept),
            )

    @cached_property
    def problems(self):
        """One for each pair of classes, or each class; made lazily, since `fit_small_pairs` needs none."""
        pairs = pairs_of(self.codes, len(self.model.classes_), self.weights, self.model.multi_class)
        return [self.problem_of(k, pair) for k, pair in enumerate(pairs)]

    def problem_of(self, k, pair):
        """Return the problem of a pair."""
        return PairProblem(self, k, pair)

    def X_of(self, pair):
        """Return the training rows of a pair."""
        if pair.rows is None:
            return self.X
        return self.X[np.ix_(pair.rows, pair.rows)] if is_precomputed(self.model.kernel) else self.X[pair.rows]

    def rows_of(self, pair, dtype=None):
        """Return the kernel rows of a pair, by default in the precision of the task."""
        model = self.model
        rows = make_rows(
            self.X_of(pair),
            model.kernel_,
            dtype or self.dtype,
            cache_size=model.cache_size,
            twin=model._twin,
            may_widen=model.dtype == "auto",
            two_precisions=self.entry.two_precisions,
        )
        if self.dtype == "float32" and rows.dtype is np.float64:
            model.dtype_ = "float64"  # that of the model is the widest of its problems
        return rows

    def assemble(self, model, results):
        pairs = [problem.pair for problem in self.problems]
        set_expansion(model, self.given, self.codes, pairs, [result.model for result in results])

    def stored(self, model, solutions):
        return self.stored_by(model, solutions, example_loss(model.loss))

    def stored_by(self, model, solutions, loss):
        """Return the `Stored` functions of a model, for their loss."""
        if model.centre_ is None or "nu" in (model.solver_options or {}):
            return None
        sign = 1.0 if len(model.classes_) == 2 or self.shares_data else -1.0  # the earlier class of a pair is positive
        functions = [
            StoredFunction(w, (sign * solution.intercept,), Solution(sign * w, solution.intercept), sign)
            for w, solution in zip(model.coef_, solutions, strict=True)
        ]
        heaviest = 1.0 if self.weights is None else float(self.weights.max())
        return Stored(functions, model.centre_, None, loss, heaviest)


class PairProblem:
    """The problem of a pair of classes, or of a class against the rest."""

    __slots__ = ("k", "pair", "task")

    def __init__(self, task, k, pair):
        self.task, self.k, self.pair = task, k, pair

    @property
    def n_rows(self):
        return len(self.pair.y)

    n_coef = n_rows

    @property
    def X(self):
        """The training rows."""
        return self.task.X_of(self.pair)

    @property
    def title(self):
        pair, classes = self.pair, self.task.model.classes_
        if pair.negative is None:
            return f"{classes[pair.positive]} against the rest"
        return f"{classes[pair.negative]} against {classes[pair.positive]}"

    def make_data(self, dtype=None):
        return self.task.rows_of(self.pair, dtype)

    def start(self, rows):
        y = self.pair.y

        def fits(coef):
            """Whether there is one coefficient for each label, of the same sign or 0."""
            return coef.shape == y.shape and not np.any(coef * y < 0)

        return self.task.last.initial(self.k, self.task.key, fits)

    def next_start(self, solution, C, following):
        return _next_start(solution, C, following, self.pair.of_rows(self.task.weights))

    def counted_from(self, rows):
        # The reference twins count for themselves.
        return rows.n_evaluations if self.task.model._twin == "compiled" else 0

    def make_solver(self, rows, C, initial):
        task, model = self.task, self.task.model
        if hasattr(rows, "release"):
            rows.release()  # the previous solver may have left them restricted to a working set
        settings = {
            **self.objective(rows, C),
            "weights": self.pair.of_rows(task.weights),
            "random_state": task.last.draws[self.k],
            "initial": initial,
        }
        if task.entry.name == "smo":
            settings["shrinking"] = bool(model.shrinking)
        return make_solver(model, task.entry, rows, self.pair.y, settings)

    def objective(self, rows, C):
        """Return the keywords of a solver that say what it minimises."""
        model = self.task.model
        return {
            # A slack budget `nu` replaces alpha if a solver has one.
            "alpha": None if "nu" in (model.solver_options or {}) else 1.0 / (C * rows.n_rows),
            "fit_intercept": model.fit_intercept,
            "loss": model.loss,
        }

    def problem_of(self, rows, C):
        """Return the problem on kernel rows."""
        return MarginProblem(rows, self.pair.y, weights=self.pair.of_rows(self.task.weights), **self.objective(rows, C))

    def risk_of(self, C):
        return MarginRisk(self.problem_of(SimpleNamespace(n_rows=self.n_rows), C))

    def examined(self, rows, solver, C):
        task, model = self.task, self.task.model
        if "nu" in (model.solver_options or {}):
            return None
        rows.release()  # a run that was stopped may have left rows out
        problem, alpha = solver.problem, 1.0 / (C * rows.n_rows)
        if not isinstance(problem, MarginProblem) or problem.alpha != alpha:  # made and checked from the same arguments
            problem = self.problem_of(rows, C)
        own_dual = task.entry.name in OWN_DUAL
        dtype = np.dtype(rows.dtype).name
        X = task.X_of(self.pair)
        return Examined(MarginRisk(problem), X, model.kernel_, rows, dtype, own_dual, model.centre_)

    def describe(self, model, solution):
        pair, task = self.pair, self.task
        if pair.negative is None:
            model.classes_, model.class_weight_ = np.array([False, True]), np.ones(2)
        else:
            two = [pair.negative, pair.positive]
            model.classes_ = task.model.classes_[two]
            model.class_weight_ = task.model.class_weight_[two]
        codes = (task.codes == pair.positive).astype(np.intp)
        set_expansion(model, task.given, codes, [Pair(0, 1, pair.rows, pair.y)], [solution])


def _next_start(solution, C, following, weights):
    """Return the start of the fit for the next larger C of a path, given the solution for C.

    If most dual variables are at their bound C w_i, all are scaled with it and remain balanced; if most are free, the
    classes are nearly separable and the solution hardly depends on C. It is a new run: step sizes and averages belong
    to the old C, and a stochastic solver that continued with them would hardly move. Of the solver's state only the
    kernel matrix times the coefficients, if present and known well enough, is kept.
    """
    size = np.abs(solution.coef)
    is_bounded = size > C * (1.0 if weights is None else weights) * (1 - 1e-9)
    grows = 2 * np.count_nonzero(is_bounded) > np.count_nonzero(size)
    factor = following / C if grows else 1.0
    coef = factor * solution.coef
    if grows:  # beyond the bound, to which solvers clip: one rounding below it they would count as free
        coef[is_bounded] *= 1.0 + BEYOND
    products = solution.state.get("products")
    if products is None or (grows and np.abs(products).max() < LEAST_PRODUCT):
        return Solution(coef, solution.intercept)
    return Solution(coef, solution.intercept, state={"products": factor * products})


def _most_double_rows(model, codes):
    """Return the number of rows up to which ``dtype="auto"`` is float64."""
    if not AUTO_DOUBLE_ROWS < len(codes) <= RARE_DOUBLE_ROWS or len(model.classes_) > 2 or model.solver != "smo":
        return AUTO_DOUBLE_ROWS
    return RARE_DOUBLE_ROWS if RARE * np.bincount(codes).min() <= len(codes) else AUTO_DOUBLE_ROWS
