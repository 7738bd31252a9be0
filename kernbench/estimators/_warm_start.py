"""What a fit leaves for the next one with ``warm_start=True``: solutions, and generators that go on."""

from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from scipy import sparse

from kernbench._random import generator_of
from kernbench.estimators._outcome import NOT_STARTED
from kernbench.kernels.functions import Kernel
from kernbench.solvers.base import Solution


@dataclass
class Continuation:
    """The state of a fit between two calls.

    Attributes
    ----------
    solver : str
    classes : ndarray
    kernel : Kernel
    data : str
        Digest of the examples, labels included, the solutions belong to.
    solutions : list of Solution or None
        One for each pair of classes; None where it was not begun.
    generators : list of Generator
        One for each pair, so that the split of the iterations over calls does not matter.
    kernel_seed : int
        For ``gamma="median"``, which has to mean the same number in every call.
    """

    solver: str
    classes: np.ndarray
    kernel: Kernel | None
    data: str
    solutions: list
    generators: list
    kernel_seed: int

    def matches(self, solver, classes, n_pairs):
        """Whether a fit of `classes` with `solver`, as `n_pairs` two-class problems, can go on from here."""
        return (
            self.solver == solver and np.array_equal(self.classes, classes) and len(self.solutions) == n_pairs
        )

    def initial(self, k, y, kernel, data):
        """Return where the fit of pair `k` with labels `y` starts, or None for a cold start.

        The coefficients serve as long as they fit the labels: one for each, of its sign. (On the same examples they
        fit as they are: those of conjugate subgradients may have either sign.) What a solver keeps beside them
        (responses, averages) holds for the same examples and kernel only, and is left out otherwise.
        """
        solution, same_examples = self.solutions[k], data == self.data
        if solution is None or solution.coef.shape != y.shape:
            return None
        if not same_examples and np.any(solution.coef * y < 0):
            return None
        return solution if same_examples and kernel == self.kernel else replace(solution, state={})

    def after(self, results, kernel, data):
        """Return the continuation of the fit that ended with `results`; pairs not begun stay as they were."""
        solutions = [
            old if result.status == NOT_STARTED else result.solution
            for old, result in zip(self.solutions, results, strict=True)
        ]
        return replace(self, kernel=kernel, data=data, solutions=solutions)


def carried(solution, C, next_C, weights):
    """Return where the fit for the next larger C of a path starts, given the solution for C.

    Where most dual variables are at their bound C w_i, all grow with it, and stay balanced; where most are
    free, the classes are nearly separated and hardly anything depends on C. It is a new run from there: step
    sizes and averages of the old one belong to its C, and a stochastic solver that goes on with them hardly
    moves.
    """
    size = np.abs(solution.coef)
    at_bound = np.count_nonzero(size > C * (1.0 if weights is None else weights) * (1 - 1e-9))
    grows = 2 * at_bound > np.count_nonzero(size)
    return Solution(solution.coef * (next_C / C if grows else 1.0), solution.intercept)


def digest(X):
    """Return a digest of X: equal data, equal digest."""
    hasher = blake2b(digest_size=16)
    for part in (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,):
        hasher.update(f"{part.shape}{part.dtype}".encode())
        hasher.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8))
    return hasher.hexdigest()


def cold_start(solver, classes, random_state, n_pairs, *, draws_kernel=False):
    """Return the `Continuation` of no fit at all: fresh generators, no solutions.

    Parameters
    ----------
    solver : str
    classes : ndarray
    random_state : None, int, RandomState or Generator
    n_pairs : int
    draws_kernel : bool, default=False
        Whether a seed is needed for the kernel.
    """
    rng = generator_of(random_state)
    kernel_seed = int(rng.integers(2**63)) if draws_kernel else 0
    if n_pairs == 1:
        generators = [rng]  # the very stream that a solver of kernbench.solvers would draw from
    else:
        generators = [np.random.default_rng(seed) for seed in rng.integers(2**63, size=n_pairs)]
    return Continuation(solver, classes, None, "", [None] * n_pairs, generators, kernel_seed)
