"""The task of a model in a space of columns, features or a kernel: one problem, warm starts, the space fitted once."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from kernbench._random import generator_of
from kernbench.estimators.fit.centring import centre_of, centred
from kernbench.estimators.fit.certificate import Examined
from kernbench.estimators.fit.continuation import Continuation, digest
from kernbench.estimators.fit.problem import Task
from kernbench.estimators.roc.scores import set_function, set_space
from kernbench.estimators.roc.space import fit_space
from kernbench.features.nystroem.landmarks import OWN, choice_of
from kernbench.solvers.base import Solution

# The parameters that a space depends on, besides kernel and rows.
OF_THE_SPACE = ("gamma", "degree", "coef0", "features", "n_landmarks", "landmarks", "n_features", "dtype")


class Seeds(NamedTuple):
    """The seeds of a fit."""

    kernel: int
    map: int
    solver: int
    split: int


def draw_seeds(random_state):
    """Return the seeds that ``random_state=`` means."""
    return Seeds(*map(int, generator_of(random_state).integers(2**53, size=len(Seeds._fields))))


class SpaceTask(Task):
    """The task of one model, or of a path over alpha. It is its own and only problem.

    A subclass sets `model`, `last` and `rows` (`begin` makes the second), calls `fit_space`, and defines `make_solver`.

    Parameters
    ----------
    model : estimator
        Gets what is known before the first run: ``dtype_`` and ``loss_``.
    entry : SolverEntry
    """

    strength = "alpha"
    shared = (*Task.shared, "loss_")
    of_the_solver = ("solver",)  # the parameters that the state of a solver belongs to, except alpha
    title = ""
    centres = False  # whether the solver takes columns less their medians; pairwise losses centre by themselves
    centre = None  # what was subtracted

    def __init__(self, model, entry):
        self.model, self.entry, self.problems = model, entry, [self]

    def begin(self, classes=None):
        """Set `last`: what the fit before left, with ``warm_start=True``, or a cold start."""
        model = self.model
        self.last = (model.warm_start and getattr(model, "_continuation", None)) or Continuation(
            (), classes, [None], draw_seeds(model.random_state)
        )

    def fit_space(self, rows, *, landmark_labels=None, needs_features=False):
        """Fix the space of f and make the design of the training rows."""
        model, self.rows, self.space = self.model, rows, None
        if model.warm_start:
            of_the_solver = [getattr(model, name) for name in self.of_the_solver]
            self.key = (_digest_of(model, rows), *of_the_solver, repr(model.solver_options))
            if self.last.key[:1] == self.key[:1]:
                self.space, model.dtype_ = self.last.memory, self.last.memory.dtype
        if self.space is None:
            seeds = self.last.draws
            self.space = fit_space(
                model, rows.X, landmark_labels, rows.weights, (seeds.kernel, seeds.map), needs_features=needs_features
            )
        if self.centres and self.space.kind == "linear":
            self.centre = centre_of(rows.X)
        self.design, self.n_of_the_map = self.make_design(centred(rows.X, self.centre))
        self.n_rows, self.n_coef = rows.X.shape[0], self.design.n_coef

    def make_design(self, X):
        """Return the design of training rows, and how many kernel values its features took."""
        return self.space.design(X, cache_size=self.model.cache_size, twin=self.model._twin)

    def make_data(self):
        return self.design

    def start(self, design):
        """Return the last solution where it is valid on this design.

        Weights of landmarks or random features are valid for the same map only, those of columns for any rows. The
        state of a solver is valid for the same rows and parameters.
        """
        solution = self.last.solutions[0]
        if solution is None or solution.coef.shape != (design.n_coef,) or not self.same_classes():
            return None
        if self.space is self.last.memory:
            return solution if self.key == self.last.key else Solution(solution.coef)
        return Solution(solution.coef) if self.space.kind == self.last.memory.kind == "linear" else None

    def same_classes(self):
        """Whether the labels are those of the last fit."""
        return self.last.classes.tolist() == self.model.classes_.tolist()

    def next_start(self, solution, strength, following):
        return solution

    def counted_from(self, design):
        # The values that the design and its feature map took belong to the first run.
        n_of_the_map, self.n_of_the_map = self.n_of_the_map, None
        return design.n_kernel_evaluations if n_of_the_map is None else -n_of_the_map

    def examined(self, design, solver, strength):
        return None

    def examined_by(self, risk, design):
        """Return what certifies a solution for a risk of scores."""
        if self.space.is_exact:
            return Examined(risk, self.rows.X, self.space.kernel, dtype=self.space.dtype)
        # Rows in blocks are read from files or workers: the solver's own certificate has to do.
        return Examined(risk, design.X) if hasattr(design, "X") else None

    def describe(self, model, solution):
        self.described = solution
        set_space(model, self.space)
        set_function(model, solution.coef, self.rows.X, self.rows.indices)

    def continuation(self, results):
        return self.last.after(results, self.key, classes=getattr(self.model, "classes_", None), memory=self.space)


def _digest_of(model, rows):
    """Return a digest of all that a space depends on."""
    settings = [repr(model.kernel), *(getattr(model, name) for name in OF_THE_SPACE if name != "landmarks")]
    landmarks = model.landmarks
    if choice_of(landmarks) == OWN:
        landmarks = digest(landmarks if sparse.issparse(landmarks) else np.asarray(landmarks))
    weights = "" if rows.weights is None else digest(rows.weights)
    return " ".join([digest(rows.X), digest(rows.y), weights, landmarks, repr(settings)])
