"""What every solver is: a state that advances.

A solver holds its state and can move it forward; the loop around it, with its clock, its stopping rule, its trace
and its progress bar, is written once, in :mod:`kernbench.solvers.driver`.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np


@dataclass
class Solution:
    """The coefficients of a model f, and the state needed to continue from it.

    The kind of problem says what they are coefficients of: a kernel expansion f(x) = sum_i coef_i k(x_i, x) + intercept
    over the training rows, or a linear function f(x) = <coef, x> + intercept of the features.

    Attributes
    ----------
    coef : ndarray, float64
        One coefficient per training row or per feature. Those of a classifier's kernel expansion are signed: y_i times
        the dual variable.
    intercept : float
        The unregularised bias; 0.0 for a problem without one.
    n_iter : int
        Iterations that led to this solution, over all warm starts.
    state : dict of str to ndarray
        Further arrays needed to continue exactly where it stopped (counts, averages, …); may be empty.
    """

    coef: np.ndarray
    intercept: float = 0.0
    n_iter: int = 0
    state: dict = field(default_factory=dict)


class Diverged(ValueError):
    """Iterates are no longer finite; the solution is the last finite one. The message names the remedy."""


class Solver(Protocol):
    """The interface of a solver.

    The objective is ``alpha/2 * ||f||^2`` plus the mean of the losses, over examples or over pairs, for all of them.
    `kernbench.solvers.method.Method`, the base class of all, adds what only some have, with defaults for the others.

    Attributes
    ----------
    losses : tuple of str
        Names of the losses that it minimises.
    n_iter : int
        Iterations done so far, over all warm starts.
    n_kernel_evaluations : int
        Values k(x, z) computed so far; rows found in the cache are not among them. On `KernelRows` it includes their
        ``n_evaluations``, those of earlier solvers too, which estimators subtract. 0 on explicit features.
    converged : bool
        True once the solver's own stopping rule has held; never set because of stagnation.
    granularity : int
        Calls of `advance` with multiples of this number give the same iterates, however they are split.
    first_check : int or None
        Iteration at which the driver first calls `check`; None when `advance` tests the rule itself.
    """

    losses: tuple
    n_iter: int
    n_kernel_evaluations: int
    converged: bool
    granularity: int
    first_check: int | None

    def advance(self, n_iter: int) -> int:
        """Do `n_iter` more iterations and return how many were done, 0 if none is left to do.

        A solver that works in blocks finishes the block it has begun and may do a few more. The driver calls this with
        BLAS limited to one thread (`kernels.threads.single_threaded_blas`), and so should other callers.
        """

    def check(self, tol: float) -> bool:
        """Test the stopping rule now, set `converged` and return it. May cost a pass over the kernel."""

    def solution(self) -> Solution:
        """Return the current coefficients and intercept, as new arrays."""

    def objective(self) -> float:
        """Return the current value of the objective that this solver minimises."""

    def gap(self) -> float | None:
        """Return a certified bound on objective() minus the optimum, None if the method has none."""
