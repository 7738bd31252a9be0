"""The registry's description of an algorithm."""

from dataclasses import dataclass
from functools import cache, cached_property, partial
from numbers import Integral

import numpy as np

from kernbench._lazy import load
from kernbench.solvers.kinds import KINDS
from kernbench.solvers.method import has_cores

EXTRA_VALUES = {"log_loss": 400}  # stored values in the time of the equation that a step of a loss solves


@dataclass(frozen=True)
class SolverEntry:
    """One algorithm: its class and its properties.

    There are two twins of it, which take the same steps: the method on its compiled core and on the one in NumPy. A
    method in plain NumPy, without the parameter ``core``, is both of them.

    Attributes
    ----------
    name : str
        What users type for ``solver=``.
    problem : str
        The name of its kind of problem, a key of `KINDS`.
    method : str
        ``"module:Class"``; see `kernbench.solvers.method.Method`.
    paper : str
        Where the algorithm comes from.
    complexity : str
        Cost in words; n examples, d features.
    stopping : str
        What ``tol`` is compared with; by default the certified duality gap.
    default_epochs : float, default=0
        Number of passes over n rows after which a run with ``max_iter=-1`` ends with a warning.
    default_iterations : int, default=0
        Smallest number of iterations that ``max_iter=-1`` stands for.
    default_work : int, optional
        For a solver whose iteration is a step on one row, the stored values that `default_iterations` steps may touch.
        With longer rows, or a loss whose steps take longer, the steps are fewer.
    steps_on_batches : bool
        Whether an iteration with the option ``batch_size`` is a step on so many rows; else it is a visit of one row.
    draws : bool
        Whether it uses ``random_state``.
    two_precisions : bool
        Whether it also takes `kernels.two_precisions.TwoPrecisionRows`, to reach float64 solutions
        through float32 rows.
    """

    name: str
    problem: str
    method: str
    paper: str
    complexity: str
    stopping: str = "certified duality gap / objective"
    default_epochs: float = 0
    default_iterations: int = 0
    default_work: int | None = None
    steps_on_batches: bool = False
    draws: bool = True
    two_precisions: bool = False

    @property
    def kind(self):
        """The `Kind` of its problem."""
        return KINDS[self.problem]

    @property
    def has_two_twins(self):
        """Whether there is compiled code beside the reference."""
        return has_cores(load(self.method))

    @property
    def is_built_in(self):
        """Whether it is one of kernbench's own solvers."""
        return self.method.startswith("kernbench.")

    @cached_property
    def losses(self):
        """Valid values of ``loss=``: what its class declares, of the losses of its kind."""
        return tuple(loss for loss in self.load().losses if loss in self.kind.losses)

    @property
    def stops_by_gap(self):
        """Whether ``tol`` is compared with a certified gap."""
        return self.stopping.startswith("certified")

    def rows_per_iteration(self, options):
        """Rows that an iteration of a run with these options visits: ``batch_size`` if it is a step on a batch.

        An invalid size counts as 1: the solver's constructor rejects it, with a message that names the valid ones.
        """
        rows = (options or {}).get("batch_size", 1)
        return int(rows) if self.steps_on_batches and isinstance(rows, Integral) and rows >= 1 else 1

    def iteration_limit(self, n_samples, row_values=1, loss=None, options=None):
        """Iterations that ``max_iter=-1`` stands for, for rows of `row_values` stored values on average, a loss, and
        options of the solver."""
        fewest = self.default_iterations
        if self.default_work is not None:
            fewest = min(fewest, int(self.default_work / (max(1, row_values) + EXTRA_VALUES.get(loss, 0))))
        per_pass = -(-n_samples // self.rows_per_iteration(options))
        return max(fewest, int(np.ceil(self.default_epochs * per_pass)))

    def load(self, twin="compiled"):
        """Import and return what makes solvers of one twin, ``"compiled"`` or ``"reference"``.

        A class, or a method with its ``core`` filled in.
        """
        method = load(self.method)
        return _on_core(method, twin) if twin != "compiled" and has_cores(method) else method


@cache
def _on_core(method, core):
    return partial(method, core=core)
