"""An algorithm is a method on a core.

A :class:`Method` is one Python class, to be read as one would explain the algorithm: its parameters, the order of its
epochs and stages, its arrays, objective and certificate, what resuming needs. The arithmetic for each example is its
**core**, a module of functions, of which there are two with the same names and signatures: compiled, and in plain
NumPy. A core gets arrays and numbers, changes arrays in place and returns counts; one call does a batch or a stage.
"""

import inspect
from functools import cache
from importlib import import_module

from kernbench.problems.whole_objective import Estimate
from kernbench.solvers.kinds import TWINS, reference_of


class Method:
    """Base class of solvers: defaults for all that the driver asks.

    Parameters
    ----------
    core : {"compiled", "reference"} or module
        The functions that do the arithmetic. The compiled one is named after the module of the class, with an
        underscore, or by `compiled_core`; the reference is at the same place below ``kernbench.reference``, or named by
        `reference_core`.

    Attributes
    ----------
    core : module
    compiled_core, reference_core : str or None
        Names of the modules of the cores, for classes that share one, or that are not in kernbench.
    losses, n_iter, n_kernel_evaluations, converged, granularity, first_check : see `Solver`
    n_inner_products : int
        Inner products with a row of explicit features, or the same amount of work, done so far.
    stagnated : bool
        Set by `check` where steps hardly improve the objective, whatever the gap; this ends a run.
    finished : bool
        Whether the method is at its end without having converged, as the Perceptron after the passes asked for.
    step_name : str or None
        The parameter to lower where the iterates diverge.
    gap_is_costly : bool
        Whether `check` and `gap` may take a product with the kernel matrix. A run that has used up its time then asks
        `known_gap` instead.
    is_sampled : bool
        Whether `objective` is that of a sample of the rows; `whole_objective` then estimates that of all.
    growing : bool
        Whether rows joined this sample in the last iteration.
    subproblem_gap : float or None
        The certified gap of the last convex subproblem of a difference of convex functions, whose `gap` is None, in
        units of `objective`; infinity before the first.
    tol : float
        Only where ``first_check`` is None: what `advance` tests its rule against; may be set between two calls, until
        it has converged.
    min_iter : int or None
        Iterations, over all warm starts, before which `advance` does not stop; None where there is no such number.
    is_interruptible : bool
        Whether `advance` leaves a consistent state wherever KeyboardInterrupt breaks it. If not, the first Ctrl-C waits
        until it returns. For methods with long iterations, see `stop_at`.
    needs_features : bool
        Whether a `design` must be of features: the method cannot take one of a kernel.
    problem : object
        The problem that is minimised, or None, from which estimators make it again.
    """

    losses: tuple = ()
    compiled_core: str | None = None
    reference_core: str | None = None
    n_iter: int = 0
    n_kernel_evaluations: int = 0
    n_inner_products: int = 0
    converged: bool = False
    stagnated: bool = False
    finished: bool = False
    granularity: int = 1
    first_check: int | None = 1
    step_name: str | None = None
    gap_is_costly: bool = False
    is_sampled: bool = False
    growing: bool = False
    subproblem_gap: float | None = None
    tol: float
    min_iter: int | None = None
    is_interruptible: bool = False
    needs_features: bool = False
    problem: object = None

    def __init__(self, core="compiled"):
        self.core = core_of(type(self), core) if isinstance(core, str) else core

    def gap(self) -> float | None:
        """Return a certified bound on objective() minus the optimum, None if the method has none."""
        return None

    def hold_to(self, tol: float) -> None:
        """Set the `tol` of `advance`; a method that judges its start when it is made judges that again."""
        self.tol = tol

    def check(self, tol: float) -> bool:
        """Set `converged` to whether the certified gap is at most `tol` times the objective, and return it.

        This may take products with the kernel matrix, or a pass over the data. Without a gap it is always False.
        """
        gap = self.gap()
        self.converged = gap is not None and bool(gap <= tol * self.objective())
        return self.converged

    def known_gap(self) -> float | None:
        """Return such a bound from values already computed, for runs that have used up their time."""
        return self.gap()

    def root_of_gap(self):
        """Return coefficients and scores of a function of kernel rows whose squared norm is `subproblem_gap`, or None.

        By these a certificate bounds the rounding of the gap.
        """
        return None

    def dual_objective(self) -> float | None:
        """Return alpha times the dual objective, a lower bound on the optimum in units of `objective`.

        For methods that know it at no cost, while `objective` may take a pass over the kernel; None for others.
        """
        return None

    def whole_objective(self) -> Estimate:
        """Return the objective over all rows, where `is_sampled`."""
        return Estimate(self.objective(), 0.0)

    def stop_at(self, time: float) -> None:
        """Interrupt the iteration from this value of `time.perf_counter` on; the next `advance` resumes it.

        Only methods with long iterations do.
        """

    def stop_after(self, n_iter: float) -> None:
        """Do no iteration beyond this value of `n_iter`, or any number of them if it is infinity.

        Only methods whose `advance` may do many more than it is asked for need to know.
        """


class CostlyGap(Method):
    """Base of methods whose gap may take products with the kernel matrix: it is found once an iterate.

    A method defines `_find_gap`. The best lower bound on the optimum so far is kept, for runs that have used up their
    time.
    """

    gap_is_costly = True
    best_bound, last_gap, gap_at = 0.0, None, -1  # the last gap, and its iteration

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum."""
        if self.gap_at != self.n_iter:
            self.last_gap, self.gap_at = self._find_gap(), self.n_iter
            self.best_bound = max(self.best_bound, self.objective() - self.last_gap)
        return self.last_gap

    def known_gap(self):
        """Return the objective minus the best lower bound that `gap` has found so far, 0 before the first."""
        return max(0.0, self.objective() - self.best_bound)


def core_of(method, core):
    """Import and return the core of a subclass of `Method` that is called ``"compiled"`` or ``"reference"``."""
    if core == "reference" and method.reference_core is not None:
        return import_module(method.reference_core)
    package, _, name = method.__module__.rpartition(".")
    if not package and None in (method.compiled_core, method.reference_core):
        raise ValueError(f"{method.__name__} takes core=: name its modules in compiled_core and reference_core")
    return core_at(method.compiled_core or f"{package}._{name}", core)


def core_at(compiled, core):
    """Import and return the compiled module of this name, or its reference; `core` as in `core_of`."""
    if core not in TWINS:
        raise ValueError(f"core must be 'compiled' or 'reference', got {core!r}")
    return import_module(compiled if core == "compiled" else reference_of(compiled))


@cache
def has_cores(method):
    """Return whether a class has a compiled core and one in NumPy, that is, whether its constructor takes ``core``."""
    return "core" in inspect.signature(method).parameters
