"""Where the fit of a `ROCSVC` starts: seeds, and with ``warm_start=True`` what the last fit left."""

from dataclasses import dataclass, replace

import numpy as np

from kernbench._random import generator_of
from kernbench.estimators._roc_features import Space
from kernbench.estimators._warm_start import digest
from kernbench.solvers.base import Solution

# What a space depends on besides the rows.
OF_THE_SPACE = ("gamma", "degree", "coef0", "features", "n_landmarks", "landmarks", "n_features", "dtype")
OF_THE_TASK = ("pairs", "loss", "solver")


@dataclass(frozen=True)
class Start:
    """The seeds of a fit, and the state that it goes on from.

    Attributes
    ----------
    kernel_seed, map_seed, solver_seed, split_seed : int
    classes : ndarray, or None
    space : Space, or None
    rows : str
        Digest of the rows, labels, weights and settings that `space` was fitted to.
    task : tuple
        The settings that the state of `solution` belongs to.
    solution : Solution, or None
    """

    kernel_seed: int
    map_seed: int
    solver_seed: int
    split_seed: int
    classes: np.ndarray | None = None
    space: Space | None = None
    rows: str = ""
    task: tuple = ()
    solution: Solution | None = None

    def known_space(self, digested):
        """Return the space of the last fit if it saw the same rows, else None."""
        return self.space if digested and digested == self.rows else None

    def initial(self, model, space, design, classes):
        """Return the solution to start from, or None.

        Weights of landmarks or random features mean nothing for others; those of columns do, and so do the
        coefficients of rows. What a solver keeps beside them holds for the same rows and settings only.
        """
        known = self.solution
        if known is None or known.coef.shape != (design.n_coef,) or not np.array_equal(classes, self.classes):
            return None
        if space is self.space:
            same = self.task == task_of(model)
            return known if same else Solution(known.coef)
        return Solution(known.coef) if space.kind == self.space.kind == "linear" else None

    def after(self, model, space, digested, solution, classes):
        """Return where the next fit starts."""
        return replace(
            self, classes=classes, space=space, rows=digested, task=task_of(model), solution=solution
        )


def cold_start(random_state):
    """Return the `Start` of no fit at all."""
    return Start(*(int(seed) for seed in generator_of(random_state).integers(2**53, size=4)))


def task_of(model):
    """The settings that the state of a solver depends on; alpha is not among them."""
    return tuple(getattr(model, name) for name in OF_THE_TASK) + (repr(model.solver_options),)


def digest_of(model, rows):
    """Return a digest of all that a space depends on."""
    settings = repr([repr(model.kernel), *(getattr(model, name) for name in OF_THE_SPACE)])
    weights = "" if rows.weights is None else digest(rows.weights)
    return " ".join([digest(rows.X), digest(rows.positive), weights, settings])
