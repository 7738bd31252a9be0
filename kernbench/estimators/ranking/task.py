"""The problem of a ranking, on a design of features or of a kernel."""

from typing import NamedTuple

from kernbench._random import generator_of
from kernbench.estimators.fit.continuation import Continuation, digest
from kernbench.estimators.fit.problem import Task
from kernbench.estimators.ranking.rows import check_ranked_rows, split_for_threshold
from kernbench.estimators.ranking.scores import scores_of, set_function, set_intercept, set_space
from kernbench.estimators.ranking.space import fit_space
from kernbench.solvers.base import Solution

# The parameters on which a space depends, besides kernel and rows.
OF_THE_SPACE = ("gamma", "degree", "coef0", "features", "n_landmarks", "landmarks", "n_features", "dtype")


class Seeds(NamedTuple):
    """The seeds of a fit."""

    kernel: int
    map: int
    solver: int
    split: int


def draw_seeds(random_state):
    """Return the seeds drawn from ``random_state``."""
    return Seeds(*map(int, generator_of(random_state).integers(2**53, size=len(Seeds._fields))))


class RankingTask(Task):
    """The task of one ranking, or of a path over alpha; it is itself its only problem.

    A subclass defines `make_solver`.

    Parameters
    ----------
    model : RankingClassifier
        ``classes_``, ``dtype_`` and ``loss_`` are set on it.
    entry : SolverEntry
    X, y, sample_weight
        As given to ``fit``.
    loss : str
    needs_features : bool, default=False
        Whether the solver cannot use the kernel itself.
    """

    strength = "alpha"
    shared = (*Task.shared, "loss_")
    of_the_solver = ("solver",)  # the parameters on which the state of a solver depends, except alpha
    title = ""

    def __init__(self, model, entry, X, y, sample_weight, *, loss, needs_features=False):
        self.model, self.entry, self.problems = model, entry, [self]
        rows = check_ranked_rows(model, X, y, sample_weight)
        model.loss_ = loss
        self.last = (model.warm_start and getattr(model, "_continuation", None)) or Continuation(
            (), model.classes_, [None], draw_seeds(model.random_state)
        )
        self.rows, self.held = split_for_threshold(model, rows, self.last.draws.split)
        self.space = None
        if model.warm_start:
            of_the_solver = [getattr(model, name) for name in self.of_the_solver]
            self.key = (_digest_of(model, self.rows), *of_the_solver, repr(model.solver_options))
            if self.last.key[:1] == self.key[:1]:
                self.space, model.dtype_ = self.last.memory, self.last.memory.dtype
        if self.space is None:
            self.space = fit_space(
                model,
                self.rows.X,
                self.rows.positive,
                self.rows.weights,
                (self.last.draws.kernel, self.last.draws.map),
                needs_features=needs_features,
            )
        self.design, self.n_of_the_map = self.space.design(
            self.rows.X, cache_size=model.cache_size, twin=model._twin
        )
        self.largest = self.space.largest(self.rows.X)
        self.n_rows, self.n_coef = self.rows.X.shape[0], self.design.n_coef

    def make_data(self):
        return self.design

    def start(self, design):
        """Return the last solution if it is valid on this design.

        Weights of landmarks or random features are valid for the same map only, those of columns for any rows. The
        state of a solver is valid for the same rows and parameters.
        """
        solution = self.last.solutions[0]
        if (
            solution is None
            or solution.coef.shape != (design.n_coef,)
            or self.last.classes.tolist() != self.model.classes_.tolist()
        ):
            return None
        if self.space is self.last.memory:
            return solution if self.key == self.last.key else Solution(solution.coef)
        return Solution(solution.coef) if self.space.kind == self.last.memory.kind == "linear" else None

    def next_start(self, solution, alpha, following):
        return solution

    def counted_from(self, design):
        # The values computed for the design and its feature map count for the first run.
        n_of_the_map, self.n_of_the_map = self.n_of_the_map, None
        return design.n_kernel_evaluations if n_of_the_map is None else -n_of_the_map

    def describe(self, model, solution):
        set_space(model, self.space)
        set_function(model, solution.coef, self.rows.X, self.rows.indices)
        if self.held is None:
            rows, scores = self.rows, self.design.scores(solution.coef)
        else:
            rows, scores = self.held, scores_of(model, self.held.X)
        set_intercept(model, model.threshold, self.largest, scores, rows.positive, rows.weights)

    def continuation(self, results):
        return self.last.after(results, self.key, classes=self.model.classes_, memory=self.space)


def _digest_of(model, rows):
    """Return a digest of everything on which a space depends."""
    settings = repr([repr(model.kernel), *(getattr(model, name) for name in OF_THE_SPACE)])
    weights = "" if rows.weights is None else digest(rows.weights)
    return " ".join([digest(rows.X), digest(rows.positive), weights, settings])
