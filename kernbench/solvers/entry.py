"""What the registry knows of an algorithm."""

from dataclasses import dataclass

import numpy as np

from kernbench._lazy import load
from kernbench.solvers.kinds import KINDS, reference_of


@dataclass(frozen=True)
class SolverEntry:
    """One algorithm: the addresses of its two twins and its properties.

    Attributes
    ----------
    name : str
        What users type for ``solver=``.
    problem : str
        The name of its kind of problem, a key of `KINDS`.
    compiled : str or None
        ``"module:Class"`` of the compiled class. None for a plug-in's solver that is written in NumPy only: its
        reference is then both twins.
    paper : str
        Where the algorithm comes from.
    complexity : str
        Cost in words; n examples, d features.
    stopping : str
        What ``tol`` is compared with.
    default_epochs : float
        Number of passes of n iterations after which a run with ``max_iter=-1`` ends with a warning.
    default_iterations : int
        Smallest number of iterations that ``max_iter=-1`` stands for.
    default_work : int, optional
        Of a solver whose iteration is a step on one row: stored values that `default_iterations` steps may touch. With
        longer rows the steps are fewer.
    draws : bool
        Whether it uses ``random_state``.
    two_precisions : bool
        Whether the compiled class also takes `kernels.two_precisions.TwoPrecisionRows`, to reach float64 solutions
        by way of float32 rows.
    reference : str, optional
        ``"module:Class"`` of the plain-NumPy twin; by default `reference_of` the compiled one.
    """

    name: str
    problem: str
    compiled: str | None
    paper: str
    complexity: str
    stopping: str
    default_epochs: float
    default_iterations: int = 0
    default_work: int | None = None
    draws: bool = True
    two_precisions: bool = False
    reference: str | None = None

    def __post_init__(self):
        if self.reference is None:
            if self.compiled is None:
                raise ValueError(f"solver {self.name!r} needs a class: compiled or reference")
            object.__setattr__(self, "reference", reference_of(self.compiled))

    @property
    def kind(self):
        """The `Kind` of its problem."""
        return KINDS[self.problem]

    @property
    def has_two_twins(self):
        """Whether there is a compiled class beside the reference."""
        return self.compiled not in (None, self.reference)

    @property
    def losses(self):
        """Valid values of ``loss=``: what its classes declare, of the losses of its kind."""
        return tuple(loss for loss in self.load().losses if loss in self.kind.losses)

    def iteration_limit(self, n_samples, row_values=1):
        """Iterations that ``max_iter=-1`` stands for, for rows of `row_values` stored values on average."""
        fewest = self.default_iterations
        if self.default_work is not None:
            fewest = min(fewest, int(self.default_work / max(1, row_values)))
        return max(fewest, int(np.ceil(self.default_epochs * n_samples)))

    def load(self, twin="compiled"):
        """Import and return the class of one twin, ``"compiled"`` or ``"reference"``."""
        return load(getattr(self, twin) or self.reference)
