"""The runs of a `ROCSVC`'s solver, along one regularisation or many."""

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from kernbench.estimators._binary import Callbacks, make_solver
from kernbench.estimators._outcome import INTERRUPTED, NOT_STARTED, not_started
from kernbench.estimators._parameters import callbacks_of, iteration_limit
from kernbench.estimators._roc_features import Space
from kernbench.estimators._roc_parameters import SQUARED, n_pairs_of
from kernbench.ranking.moments import squared_loss_and_gradient
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.driver import FitResult
from kernbench.solvers.ranking.closed_form import squared_loss_solution


@dataclass(frozen=True)
class Task:
    """Training rows as solvers see them.

    Attributes
    ----------
    space : Space
    design : Design
    y : ndarray of shape (n_rows,)
        -1 and +1.
    weights : ndarray of shape (n_rows,), or None
    n_map_evaluations : int
        Kernel values that the features took.
    seed : int
        Of the solver's draws: every alpha of a path sees the same pairs.
    largest : float
        Largest k(x, x).
    """

    space: Space
    design: object
    y: np.ndarray
    weights: np.ndarray | None
    n_map_evaluations: int
    seed: int
    largest: float


def solve_path(model, entry, task, alphas, loss, initial=None, snapshot=None):
    """Solve for each alpha, each from the solution before it, within one time budget.

    Parameters
    ----------
    model : ROCSVC
        Gives the parameters of runs.
    entry : SolverEntry
    task : Task
    alphas : sequence of float
        Best from large to small.
    loss : str
    initial : Solution, optional
        Where the first one starts.
    snapshot : callable, optional
        ``snapshot(solver)`` returns the fitted model as of now, for callbacks.

    Returns
    -------
    list of FitResult
        After Ctrl-C the interrupted one says so, and those behind it have the status "not started".
    """
    results, left = [], model.max_seconds
    for k, alpha in enumerate(alphas):
        if results and results[-1].status in (INTERRUPTED, NOT_STARTED):
            results.append(not_started(task.design.n_coef))
            continue
        before = task.design.n_kernel_evaluations if k else 0
        if loss == SQUARED:
            result = _closed_form(task, alpha)
        else:
            solver = _solver(model, entry, task, alpha, loss, initial)
            seconds = (
                None if left is None else left / (len(alphas) - k)
            )  # what one leaves is for those that come
            result = _run(model, entry, solver, task, seconds, snapshot)
        spent = result.n_kernel_evaluations - before + (task.n_map_evaluations if k == 0 else 0)
        result = replace(result, n_kernel_evaluations=spent)
        left = None if left is None else max(0.0, left - result.seconds)
        initial = result.solution
        results.append(result)
    return results


def _solver(model, entry, task, alpha, loss, initial):
    settings = {
        "alpha": alpha,
        "weights": task.weights,
        "loss": loss,
        "n_pairs": n_pairs_of(model, len(task.y)),
        "random_state": task.seed,
        "initial": initial,
    }
    options = model.solver_options
    return make_solver(entry, task.design, task.y, settings, tol=model.tol, options=options, twin=model._twin)


def _run(model, entry, solver, task, seconds, snapshot):
    callbacks = Callbacks(callbacks_of(model), snapshot)
    result = driver.run(
        solver,
        max_iter=iteration_limit(model, entry, len(task.y)),
        tol=model.tol,
        max_seconds=seconds,
        callback=callbacks if callbacks_of(model) and snapshot is not None else None,
        progress=f"{type(model).__name__} {model.solver}" if model.verbose else False,
    )
    return replace(result, status=INTERRUPTED) if callbacks.interrupted else result


def _closed_form(task, alpha):
    """The squared loss is a quadratic function of the weights: one linear system, and the gap is 0."""
    tick = perf_counter()
    coef = squared_loss_solution(task.design, task.y, alpha=alpha, weights=task.weights)
    loss, _ = squared_loss_and_gradient(task.y, task.design.scores(coef), task.weights)
    objective, seconds = float(0.5 * alpha * (coef @ coef) + loss), perf_counter() - tick
    trace = {"n_iter": [1], "seconds": [seconds], "n_kernel_evaluations": [0], "objective": [objective]}
    return FitResult(Solution(coef, n_iter=1), "converged", 1, seconds, 0, objective, 0.0, trace)
