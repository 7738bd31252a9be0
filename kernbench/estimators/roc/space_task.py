"""The task of a model in a space of columns, features or a kernel: one problem, warm starts, the space fitted once.

::

    PartialAUCClassifier.fit(X, y)              each of the following files passes X on to the next
      '-- SpaceTask(PARTIAL_AUC, model, X, y)   space_task: holds the rows, is the problem of the one fit
            |-- check_two_classes               arguments.training_data, which asks validation.rows
            |-- prepare                         space: kernel (arguments.kernel, which asks kernels.domain), map,
            |                                   design of the training rows (solvers.design), from here on the data
            '-- PARTIAL_AUC                     a `Formulation`: which solver, from where, which certificate
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from kernbench._random import generator_of
from kernbench.estimators.arguments.training_data import check_two_classes
from kernbench.estimators.fit.centring import shift_of
from kernbench.estimators.fit.certificate import Examined, ExaminedKernel
from kernbench.estimators.fit.continuation import Continuation, digest
from kernbench.estimators.fit.problem import Task
from kernbench.estimators.fit.solver import make_solver
from kernbench.estimators.roc.parameters import ON_TRAINING_ROWS
from kernbench.estimators.roc.rows import Rows, split_for_threshold
from kernbench.estimators.roc.scores import scores_of, set_function, set_intercept, set_space
from kernbench.estimators.roc.space import prepare
from kernbench.estimators.roc.validation import ValidatedRuns, validation_rows
from kernbench.features.nystroem.landmarks import OWN, choice_of
from kernbench.kernels.domain import check_range
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.validation.objects import calls_python

# The parameters that a space depends on, besides kernel and rows.
OF_THE_SPACE = ("gamma", "degree", "coef0", "features", "n_landmarks", "landmarks", "n_features", "dtype")
START_ITERATIONS = 200  # largest number, of the solver that finds a start


class Seeds(NamedTuple):
    """The seeds of a fit."""

    kernel: int
    map: int
    solver: int
    split: int


def draw_seeds(random_state):
    """Return the seeds that ``random_state=`` means."""
    return Seeds(*map(int, generator_of(random_state).integers(2**53, size=len(Seeds._fields))))


def read_two_classes(model, X, y, sample_weight):
    """Check the arguments of ``fit`` of a classifier of two classes; return its `Rows`."""
    return Rows(*check_two_classes(model, X, y, sample_weight, kernel=model.kernel))


@dataclass(frozen=True)
class Formulation:
    """What distinguishes a model from the others in a space: plain data, and functions of its task.

    Attributes
    ----------
    check : callable
        ``check(model) -> (entry, loss)``: checks the parameters; returns the registry's entry of the solver, and the
        name of the loss.
    make_solver : callable
        ``make_solver(task, design, strength, initial)`` returns the solver; see `SpaceTask.solver`.
    of_the_solver : tuple of str
        The parameters that the state of a solver belongs to, except alpha.
    read : callable
        ``read(model, X, y, sample_weight) -> Rows``: checks the arguments of ``fit``.
    ranks : bool
        Whether the intercept is set by the parameter ``threshold``. If not, it is the weight of a constant column, in
        the scale of the targets: ``task.offset`` and ``task.unit``.
    needs_features : callable
        ``needs_features(model)``: whether the solver does not take the kernel itself.
    centres : callable
        ``centres(model)``: whether the solver takes columns less their medians; losses of pairs centre by themselves.
    metric : callable, optional
        ``metric(task)`` returns ``metric(y, scores, weights) -> float`` of validation rows; None without a parameter
        ``validation``.
    metric_name : str
        Its column of the trace.
    prepare : callable, optional
        ``prepare(task, rows) -> rows``: what the solver takes, of the rows that are not held out.
    start : callable, optional
        ``start(task, design)`` returns the solver of another problem, which finds a start where no fit precedes; None
        for the start of the solver itself.
    continues : bool
        Whether along a path the state of a solver is a start, too, or its coefficients only.
    examined : callable, optional
        ``examined(task, design, solver, strength)`` returns what certifies a solution.
    describe : callable, optional
        ``describe(task, model)`` sets the attributes of a model that no other has.
    finish : callable, optional
        ``finish(task, model, result)`` is called at the end of a fit.
    warn : callable, optional
        ``warn(task, model, result)`` warns of a useless model.
    """

    check: Callable
    make_solver: Callable
    of_the_solver: tuple
    read: Callable = read_two_classes
    ranks: bool = True
    needs_features: Callable = lambda model: False
    centres: Callable = lambda model: False
    metric: Callable | None = None
    metric_name: str = ""
    prepare: Callable | None = None
    start: Callable | None = None
    continues: bool = False
    examined: Callable | None = None
    describe: Callable | None = None
    finish: Callable | None = None
    warn: Callable | None = None


class SpaceTask(Task):
    """The task of one model, or of a path over a strength. It is its own and only problem.

    Parameters
    ----------
    formulation : Formulation
    model : estimator
        Gets what is known before the first run: ``classes_``, ``dtype_`` and ``loss_``.
    X, y, sample_weight
        As given to ``fit``.
    strength : str, default="alpha"
        The parameter that changes along the path.

    Attributes
    ----------
    rows : Rows
        Those that the model is fitted to.
    held : Rows or None
        Those that set the threshold, if they are others.
    space : Space
    design : Design
        Of the training rows less `centre`, with a last column of `constant`.
    current : float or tuple
        The strength of the run, or of the model that is described.
    described : Solution
        The solution that was described last.
    """

    strength = "alpha"
    shared = (*Task.shared, "loss_")
    title = ""
    centre = constant = held = validation = None
    offset, unit = 0.0, 1.0  # the solver's targets are (y - offset) / unit

    def __init__(self, formulation, model, X, y, sample_weight, strength="alpha"):
        self.open(formulation, model, strength)
        rows = formulation.read(model, X, y, sample_weight)
        if rows.weights is not None:
            rows = rows.without_weightless(model.kernel)
        self.begin()
        self.rows = self.without_held(rows)
        self._prepare()

    def open(self, formulation, model, strength="alpha"):
        """Check the parameters of the model."""
        self.formulation, self.model, self.strength, self.problems = formulation, model, strength, [self]
        self.entry, model.loss_ = formulation.check(model)

    def begin(self):
        """Set `last`: what the fit before left, with ``warm_start=True``, or a cold start."""
        model, classes = self.model, getattr(self.model, "classes_", None)
        self.last = (model.warm_start and getattr(model, "_continuation", None)) or Continuation(
            (), classes, [None], draw_seeds(model.random_state)
        )

    def without_held(self, rows):
        """Hold out rows to validate iterates and to set the threshold; return the others, as the solver takes them."""
        model, draws, formulation = self.model, self.last.draws, self.formulation
        if formulation.metric is not None and model.validation is not None:
            rows, validation = validation_rows(model, rows, draws.solver if formulation.ranks else draws.split)
            self.validation = ValidatedRuns(self, *validation, formulation.metric_name)
            self.callbacks = [self.validation]
        if formulation.ranks and model.threshold_on != ON_TRAINING_ROWS:
            rows, self.held = split_for_threshold(model, rows, draws.split)
        return rows if formulation.prepare is None else formulation.prepare(self, rows)

    def _prepare(self):
        """Fix the space of f and make the design of the training rows."""
        model, rows, space, formulation = self.model, self.rows, None, self.formulation
        needs_features = formulation.needs_features(model)
        if model.warm_start:
            of_the_solver = [_comparable(getattr(model, name)) for name in formulation.of_the_solver]
            self.key = (_digest_of(model, rows, needs_features), *of_the_solver, repr(model.solver_options))
            if self.last.key[:1] == self.key[:1]:
                space = self.last.memory
        seeds = self.last.draws
        self.space, self.centre, self.constant, self.design, self.n_of_the_map = prepare(
            model,
            rows.X,
            rows.positive if hasattr(model, "classes_") else None,
            rows.weights,
            (seeds.kernel, seeds.map),
            space=space,
            needs_features=needs_features,
            centres=formulation.centres(model),
            constant=None if formulation.ranks or not model.fit_intercept else 1.0,
        )
        self.check_held()
        self.n_rows, self.n_coef = self.design.n_samples, self.design.n_coef

    def check_held(self):
        """Raise ValueError for rows held out that the kernel does not take, as predictions do."""
        names = getattr(self.model, "feature_names_in_", None)
        for held in (self.held, self.validation):
            if held is not None:
                check_range(held.X, self.space.kernel, self.space.dtype, feature_names=names)

    @cached_property
    def largest(self):
        """The largest k(x, x) of the training rows."""
        return self.space.largest(self.rows.X)

    def make_data(self):
        return self.design

    def start(self, design):
        self.started, solution = None, self._last_solution(design)
        if solution is None and self.formulation.start is not None:
            solver = self.formulation.start(self, design)
            if solver is not None:
                found = driver.run(solver, max_iter=START_ITERATIONS, max_seconds=self.model.max_seconds)
                solution = Solution(found.solution.coef)
                self.started = replace(found, solution=solution)  # the memory of its cuts is released
        return solution

    def _last_solution(self, design):
        """Return the last solution where it is valid on this design.

        Weights of landmarks or random features are valid for the same map only, those of columns for any rows. The
        state of a solver is valid for the same rows and parameters.
        """
        last, solution = self.last, self.last.solutions[0]
        if solution is None or solution.coef.shape != (design.n_coef,):
            return None
        if not np.array_equal(last.classes, getattr(self.model, "classes_", None)):
            return None
        if self.space is last.memory:
            return solution if self.key == last.key else Solution(solution.coef)
        return Solution(solution.coef) if self.space.kind == last.memory.kind == "linear" else None

    def next_start(self, solution, strength, following):
        return solution if self.formulation.continues else Solution(solution.coef)

    def counted_from(self, design):
        # The values that the design and its feature map took belong to the first run.
        n_of_the_map, self.n_of_the_map = self.n_of_the_map, None
        return design.n_kernel_evaluations if n_of_the_map is None else -n_of_the_map

    def make_solver(self, design, strength, initial):
        self.current = strength
        if self.validation is not None:
            self.validation.begin(self.formulation.metric(self), self._last_best())
        return self.formulation.make_solver(self, design, strength, initial)

    def _last_best(self):
        """Return the best iterate of the last fit where it has the same rows and parameters; see `_last_solution`."""
        key, best = self.last.best
        return best if best is not None and key == self._key_of_best() else None

    def _key_of_best(self):
        return self.key, self.current, self.validation.key()

    def solver(self, design, initial, **settings):
        """Return the solver of the registry's entry, with `settings` besides those that all solvers have."""
        settings |= {"weights": self.rows.weights, "random_state": self.last.draws.solver, "initial": initial}
        return make_solver(self.model, self.entry, design, self.rows.y, settings)

    def examined(self, design, solver, strength):
        examined = self.formulation.examined
        return None if examined is None else examined(self, design, solver, strength)

    def examined_by(self, risk, design):
        """Return what certifies a solution for a risk of scores."""
        if self.space.is_exact:
            return Examined(risk, self.rows.X, self.space.kernel, dtype=self.space.dtype)
        # Rows in blocks are read from files or workers: the solver's own certificate has to do.
        return Examined(risk, design.X) if hasattr(design, "X") else None

    def examined_kernel(self, solver, *, balanced):
        """Return what shows that the kernel is not semi-definite, and the rounding of its values, for a problem that is
        not convex; None for features.

        `balanced` is whether the coefficients of a solution sum to zero, as those of pairs do.
        """
        if not self.space.is_exact:
            return None
        return ExaminedKernel(self.space.kernel, self.rows.X, balanced, self.space.dtype, solver.root_of_gap())

    def describe(self, model, solution):
        self.described = solution
        set_space(model, self.space)
        coef = self.unit * solution.coef
        if self.constant is not None:
            constant, coef = self.constant * coef[-1], coef[:-1]
        else:
            constant = 0.0
        if self.space.is_exact:
            set_function(model, coef, self.rows.X, self.rows.indices)
        else:
            set_function(model, coef)
        if self.formulation.describe is not None:
            self.formulation.describe(self, model)
        if self.formulation.ranks:
            self._set_threshold(model, solution)
        else:
            model.intercept_ = np.array([self.offset + constant - shift_of(coef, self.centre)])

    def _set_threshold(self, model, solution):
        if self.held is None:
            rows = self.rows
            # Scores of rows as they are, if the design has centred ones.
            is_given = self.centre is None
            scores = self.design.scores(solution.coef) if is_given else scores_of(model, rows.X)
        else:
            rows, scores = self.held, scores_of(model, self.held.X)
        threshold = model._threshold(model.threshold)
        set_intercept(model, threshold, lambda: self.largest, scores, rows.positive, rows.weights)

    def assemble(self, model, results):
        self.current = getattr(model, self.strength)
        super().assemble(model, results)
        for name in ("validation_score_", "best_n_iter_"):  # of an earlier fit
            vars(model).pop(name, None)
        if self.validation is not None:
            self.validation.finish(model)
        if self.formulation.finish is not None:
            self.formulation.finish(self, model, results[0])

    def warn(self, model, results):
        if self.formulation.warn is not None:
            self.formulation.warn(self, model, results[0])

    def continuation(self, results):
        best = (None, None) if self.validation is None else (self._key_of_best(), self.validation.best)
        classes = getattr(self.model, "classes_", None)
        return self.last.after(results, self.key, classes=classes, memory=self.space, best=best)


def _comparable(value):
    """Return the value of a parameter for comparison: an array, whose ``==`` is an array, or a list as a tuple."""
    return tuple(np.asarray(value).tolist()) if isinstance(value, list | np.ndarray) else value


def _digest_of(model, rows, needs_features):
    """Return a digest of all that a space depends on; for a Python function, see `key_of`, what equals nothing."""
    if calls_python(model.kernel):
        return object()
    own = (getattr(model, name) for name in OF_THE_SPACE if name != "landmarks")
    settings = [repr(model.kernel), needs_features, *own]
    landmarks = model.landmarks
    if choice_of(landmarks) == OWN:
        landmarks = digest(landmarks if sparse.issparse(landmarks) else np.asarray(landmarks))
    weights = "" if rows.weights is None else digest(rows.weights)
    return " ".join([digest(rows.X), digest(rows.y), weights, landmarks, repr(settings)])
