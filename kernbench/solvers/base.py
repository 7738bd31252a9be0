"""What every solver is: a state that advances.

A solver holds its state and can move it forward; the loop around it, with its clock, its stopping rule, its trace
and its progress bar, is written once, in :mod:`kernbench.solvers.driver`.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np


@dataclass
class Solution:
    """A kernel expansion f(x) = sum_i coef_i k(x_i, x) + intercept, and what is needed to go on from it.

    Attributes
    ----------
    coef : ndarray of shape (n_samples,), float64
        Signed coefficients (y_i times the dual variable, for a classifier).
    intercept : float
        The unregularised bias; 0.0 for a problem without one.
    n_iter : int
        Iterations behind this solution, counted over all warm starts.
    state : dict of str to ndarray
        What else the solver needs to go on exactly where it stopped (counts, averages, …); may be empty.
    """

    coef: np.ndarray
    intercept: float = 0.0
    n_iter: int = 0
    state: dict = field(default_factory=dict)


class Solver(Protocol):
    """The contract of compiled solvers and of their reference twins.

    The objective is ``alpha/2 * ||f||^2 + (1/n) * sum_i weights_i * loss_i`` for all of them.

    Attributes
    ----------
    n_iter : int
        Iterations done so far, over all warm starts.
    n_kernel_evaluations : int
        Values k(x, z) computed so far; rows found in the cache are not among them.
    converged : bool
        True once the solver's own stopping rule held; never because it stagnated.
    granularity : int
        Calls of `advance` with a multiple of this number give the same iterates however they are split.
    first_check : int or None
        Iteration at which the driver first asks `check`; None when `advance` itself watches the rule.
    """

    n_iter: int
    n_kernel_evaluations: int
    converged: bool
    granularity: int
    first_check: int | None

    def advance(self, n_iter: int) -> int:
        """Do `n_iter` more iterations and return how many were done, 0 when there is nothing left to do.

        A solver that works in blocks finishes the block it has begun and may do a few more. The driver calls this with
        BLAS limited to one thread (`kernels.threads.single_threaded_blas`); who calls it by hand should do the same.
        """

    def check(self, tol: float) -> bool:
        """Test the stopping rule now, set `converged` and return it. May cost a pass over the kernel."""

    def solution(self) -> Solution:
        """The coefficients and intercept as of now, as fresh arrays."""

    def objective(self) -> float:
        """The objective this solver minimises, as of now."""

    def gap(self) -> float | None:
        """A certified bound on objective() minus the optimum, where the method has one."""
