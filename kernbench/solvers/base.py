"""What every solver is: a state that advances.

A solver holds its state and can move it forward; the loop around it, with its clock, its stopping rule, its trace
and its progress bar, is written once, in :mod:`kernbench.solvers.driver`.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from kernbench.problems.whole_objective import Estimate


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
        What else the solver needs to continue exactly where it stopped (counts, averages, …); may be empty.
    """

    coef: np.ndarray
    intercept: float = 0.0
    n_iter: int = 0
    state: dict = field(default_factory=dict)


class Diverged(ValueError):
    """Iterates are not finite any more; the solution is the last one that was. The message names the remedy."""


class Solver(Protocol):
    """The contract of compiled solvers and of their reference twins.

    The objective is ``alpha/2 * ||f||^2`` plus the mean of the losses, over examples or over pairs, for all of them.
    The protocols below add what only some solvers have.

    Attributes
    ----------
    losses : tuple of str
        Names of the losses that it minimises.
    n_iter : int
        Iterations done so far, over all warm starts.
    n_kernel_evaluations : int
        Values k(x, z) computed so far; rows found in the cache are not among them. 0 on explicit features.
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


class SelfStoppingSolver(Solver, Protocol):
    """A solver whose `advance` tests the stopping rule: ``first_check`` is None.

    Attributes
    ----------
    tol : float
        What the rule is tested against; may be set between two calls.
    """

    tol: float


class DualSolver(Solver, Protocol):
    """A dual method: it knows its dual objective at no cost, while the primal one may take a pass over the kernel."""

    def dual_objective(self) -> float:
        """alpha times the dual objective: a lower bound on the optimum, in units of `objective`."""


class FinishingSolver(Solver, Protocol):
    """A method that may end without having converged, such as the Perceptron after the passes asked for.

    Attributes
    ----------
    finished : bool
    """

    finished: bool


class StagnatingSolver(Solver, Protocol):
    """A method that ends once its steps hardly improve the objective, whatever its gap.

    Attributes
    ----------
    stagnated : bool
        Set by `check`.
    """

    stagnated: bool


class PairSolver(Solver, Protocol):
    """A solver of a loss of pairs.

    Attributes
    ----------
    problem : PairwiseProblem
        With the pairs, which the solver may have drawn.
    """

    problem: object


class FeatureSolver(Solver, Protocol):
    """A solver on explicit features.

    Attributes
    ----------
    n_inner_products : int
        Inner products with a row, or the same amount of work, done so far.
    """

    n_inner_products: int


class DelayedSolver(SelfStoppingSolver, Protocol):
    """A solver whose stopping rule can be deferred until a number of iterations are done.

    Attributes
    ----------
    min_iter : int
        Iterations, over all warm starts, before which `advance` does not stop; may be set between two calls.
    """

    min_iter: int


class BoundedSolver(Solver, Protocol):
    """A solver with a certificate that needs no kernel values, for runs that have used up their time."""

    def known_gap(self) -> float | None:
        """Return a certified bound on objective() minus the optimum from values already computed."""


class SampledSolver(Solver, Protocol):
    """A solver that may work on a sample of the rows; `objective` is then that of the sample.

    Attributes
    ----------
    is_sampled : bool
    """

    is_sampled: bool

    def whole_objective(self) -> Estimate:
        """The objective over all rows."""


class DifferenceSolver(Solver, Protocol):
    """A method for a difference of convex functions: `gap` is None, but its subproblems are convex.

    Attributes
    ----------
    subproblem_gap : float
        Certified gap of the last one solved, in units of `objective`; infinity before the first.
    """

    subproblem_gap: float


class InterruptibleSolver(Solver, Protocol):
    """A solver with long iterations that can be interrupted."""

    def stop_at(self, time: float) -> None:
        """Interrupt the iteration from this value of `time.perf_counter` on; the next `advance` resumes it."""
