"""Where the fit of a `LinearSVC` starts, and what it leaves for the next one with ``warm_start=True``."""

from dataclasses import dataclass, replace

import numpy as np

from kernbench.estimators._outcome import NOT_STARTED
from kernbench.estimators._warm_start import cold_start as fresh
from kernbench.estimators._warm_start import digest
from kernbench.solvers.base import Solution


@dataclass(frozen=True)
class LinearStart:
    """The state of a fit between two calls.

    Attributes
    ----------
    settings : tuple
        Of the model: what solutions and generators belong to.
    classes : ndarray
    data : str
        Digest of rows, labels and weights.
    solutions : list of Solution or None
        One for each two-class problem.
    generators : list of Generator
    """

    settings: tuple
    classes: np.ndarray
    data: str
    solutions: list
    generators: list

    def matches(self, settings, classes):
        """Whether a fit can go on from here."""
        return self.settings == settings and np.array_equal(self.classes, classes)

    def initial(self, k, data, n_coef):
        """Return the solution that problem `k` starts from, or None.

        Weights serve on any rows with the same columns; what a solver keeps beside them, on the same rows only.
        """
        solution = self.solutions[k]
        if solution is None or solution.coef.shape != (n_coef,):
            return None
        return solution if data == self.data else replace(solution, state={})

    def after(self, results, data):
        """Return the start of the fit after the one that ended with `results`."""
        solutions = [
            old if result.status == NOT_STARTED else result.solution
            for old, result in zip(self.solutions, results, strict=True)
        ]
        return replace(self, data=data, solutions=solutions)


def cold_start(settings, classes, random_state, n_problems):
    """Return the `LinearStart` of no fit at all."""
    generators = fresh("", classes, random_state, n_problems).generators
    return LinearStart(settings, classes, "", [None] * n_problems, generators)


def data_digest(X, codes, weights):
    """Return a digest of all that the state of a solver belongs to."""
    return " ".join(digest(part) for part in (X, codes, weights) if part is not None)


def carried(solution):
    """Return where the fit for the next C of a path starts: at the weights and, where there are any, the dual variables.

    It is a new run from there: step sizes and averages belong to the old C.
    """
    kept = {name: solution.state[name] for name in ("a", "settings") if name in solution.state}
    return Solution(solution.coef, state=kept if "a" in kept else {})
