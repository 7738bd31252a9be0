"""The interface between an estimator and the fit: its problems (:class:`Problem`), gathered in a :class:`Task`."""

from typing import Protocol

import numpy as np

from kernbench.estimators.fit.continuation import Continuation
from kernbench.solvers.base import Solution


class Problem(Protocol):
    """One optimisation problem of a fit, such as that of a pair of classes, for every strength of a path.

    Attributes
    ----------
    n_rows : int
        Number of training rows, for the default limit of iterations.
    n_coef : int
        Number of coefficients of a solution.
    title : str
        Name of the problem in progress bars.
    """

    n_rows: int
    n_coef: int
    title: str

    def make_data(self, dtype=None):
        """Return the data of its solvers, kernel rows or a design, or None if each solver makes its own.

        Called in the thread that uses them. ``dtype="float64"`` is passed only where kernel rows were float32, for a
        solver of rows of two precisions (`SolverEntry`); see `fit.widening`.
        """

    def start(self, data) -> Solution | None:
        """Return the start of the first run; None for a cold start."""

    def next_start(self, solution, strength, following) -> Solution:
        """Return the start of the run for the strength `following`, given the solution for `strength`."""

    def counted_from(self, data) -> int:
        """Return how many kernel evaluations of `data` precede the run that begins now."""

    def make_solver(self, data, strength, initial):
        """Return the solver for C = `strength` or alpha = `strength`."""

    def examined(self, data, solver, strength):
        """Return what certifies a solution for C = `strength` or alpha = `strength`; None without a certificate."""

    def risk_of(self, strength):
        """Return the risk of scores for C = `strength` or alpha = `strength`.

        Needed, as is the attribute ``X`` with the rows, if `Task.stored` describes the function of the problem.
        """

    def describe(self, model, solution):
        """Set the attributes of `model` that follow from a solution of this problem alone, for callbacks."""


class Task:
    """All problems of one call of ``fit`` or ``path``: they share the training rows, the solver and a time budget.

    Attributes
    ----------
    model : estimator
        The first model to be fitted; gives the parameters.
    entry : SolverEntry
    problems : list of Problem
    last : Continuation
        The state after the last fit, with ``warm_start=True``, or a cold start.
    key : tuple
        Identifies rows, labels and kernel: the state of a solver is reused only if it is equal.
    strength : {"C", "alpha"}
        The parameter that changes along a path.
    shared : tuple of str
        Attributes that all models of a path have in common; set on `model` by the checks.
    plural : str
        The word for the problems in a warning.
    shares_data : bool
        Whether all problems have the same rows, so that a thread makes its data once.
    n_jobs : int or None
    counts_products : bool
        Whether models have ``n_inner_products_``.
    may_lower_strength : bool
        Whether the solutions for smaller strengths are candidates where a run ends far from the optimum.
    started : FitResult or None
        The run of another solver that found the start of the only problem: its time is part of the budget.
    callbacks : sequence of callable
        Called before those of the user, with the same snapshot.
    n_values : int or None
        Number of stored values of the features, and
    loss_name : str or None
        the loss, where the default limit of iterations depends on them.
    """

    strength = "C"
    shared = ("n_features_in_", "feature_names_in_", "classes_", "class_weight_", "dtype_")
    plural = "classes"
    shares_data = True
    n_jobs = None
    counts_products = False
    may_lower_strength = False
    started = None
    callbacks = ()
    n_values = loss_name = None
    last: Continuation
    key = ()

    def advice(self):
        """Return a sentence for the warning about a run that did not converge, or the error where numbers overflow."""
        return ""

    def examined(self, data, solver, strength):
        """Return None: a task that is its own problem keeps the solver's certificate unless it says otherwise."""
        return None

    def assemble(self, model, results):
        """Set the attributes of `model` that follow from the results, one FitResult for each problem."""
        self.problems[0].describe(model, results[0].model)

    def stored(self, model, solutions):
        """Return the `Stored` functions of a model; None if their intercepts are those of the solutions."""
        return None

    def warn(self, model, results):
        """Warn of a model that is useless although its runs converged."""

    def continuation(self, results):
        """Return the state from which the next fit continues."""
        return self.last.after(results, self.key)

    def share(self, model):
        """Copy the shared attributes of the first model to `model`."""
        if model is not self.model:
            copy_attributes(self.model, model, self.shared)


def copy_attributes(source, target, names):
    """Set the attributes `names` of `target` to those that `source` has."""
    known = vars(source)
    for name in names:
        if name in known:
            setattr(target, name, known[name])


def snapshot_of(model, shared, solver, counted_from=0):
    """Return a copy of `model` with the current counters of the solver, for callbacks."""
    now = type(model)(**model.get_params(deep=False))
    copy_attributes(model, now, shared)
    now.n_iter_ = np.array([solver.n_iter])
    now.n_kernel_evaluations_ = solver.n_kernel_evaluations - counted_from
    now.converged_ = bool(solver.converged)
    return now
