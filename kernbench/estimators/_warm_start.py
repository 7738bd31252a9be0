"""What a fit leaves for the next one with ``warm_start=True``: solutions, and generators that go on."""

from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from scipy import sparse

from kernbench._random import generator_of
from kernbench.estimators._outcome import NOT_STARTED
from kernbench.solvers.base import Solution


@dataclass(frozen=True)
class Continuation:
    """The state of a fit between two calls.

    Attributes
    ----------
    settings : tuple
        Of the model: what solutions and generators belong to.
    classes : ndarray
    data : tuple
        What the state of solvers belongs to: digests of the examples, labels included, and the kernel.
    solutions : list of Solution or None
        One for each two-class problem; None where it was not begun.
    generators : list of Generator or None
        One for each problem, so that the split of the iterations over calls does not matter. None where nothing
        is drawn.
    kernel_seed : int
        For ``gamma="median"``, which has to mean the same number in every call.
    """

    settings: tuple
    classes: np.ndarray
    data: tuple
    solutions: list
    generators: list
    kernel_seed: int

    def matches(self, settings, classes, n_problems):
        """Whether a fit of `classes`, as `n_problems` two-class problems, can go on from here."""
        return (
            self.settings == settings
            and np.array_equal(self.classes, classes)
            and len(self.solutions) == n_problems
        )

    def initial(self, k, fits, data):
        """Return where the fit of problem `k` starts, or None for a cold start.

        On the same `data` it starts from the solution as it is. Else coefficients serve as long as ``fits(coef)``, and
        what a solver keeps beside them (responses, averages) is left out.
        """
        solution = self.solutions[k]
        if solution is None or data == self.data:
            return solution
        return replace(solution, state={}) if fits(solution.coef) else None

    def after(self, results, data):
        """Return the continuation of the fit that ended with `results`; problems not begun stay as they were."""
        solutions = [
            old if result.status == NOT_STARTED else result.solution
            for old, result in zip(self.solutions, results, strict=True)
        ]
        return replace(self, data=data, solutions=solutions)


def carried(solution, C, next_C, weights):
    """Return where the fit for the next larger C of a path starts, given the solution for C.

    Where most dual variables are at their bound C w_i, all grow with it, and stay balanced; where most are
    free, the classes are nearly separated and hardly anything depends on C. It is a new run from there: step
    sizes and averages of the old one belong to its C, and a stochastic solver that goes on with them hardly
    moves. Only the kernel matrix times the coefficients, where a solver leaves that, goes along.
    """
    size = np.abs(solution.coef)
    at_bound = np.count_nonzero(size > C * (1.0 if weights is None else weights) * (1 - 1e-9))
    grows = 2 * at_bound > np.count_nonzero(size)
    factor = next_C / C if grows else 1.0
    products = solution.state.get("products")
    state = {} if products is None else {"products": factor * products}
    return Solution(factor * solution.coef, solution.intercept, state=state)


def carried_weights(solution):
    """Return where the fit for the next C of a path on explicit features starts.

    At the weights and, where there are any, the dual variables. It is a new run from there: step sizes and
    averages belong to the old C.
    """
    kept = {name: solution.state[name] for name in ("a", "settings") if name in solution.state}
    return Solution(solution.coef, state=kept if "a" in kept else {})


def digest(X):
    """Return a digest of X: equal data, equal digest."""
    hasher = blake2b(digest_size=16)
    for part in (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,):
        hasher.update(f"{part.shape}{part.dtype}".encode())
        hasher.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8))
    return hasher.hexdigest()


def cold_start(settings, classes, random_state, n_problems, *, draws_kernel=False, draws=True):
    """Return the `Continuation` of no fit at all: fresh generators, no solutions.

    Parameters
    ----------
    settings : tuple
    classes : ndarray
    random_state : None, int, RandomState or Generator
    n_problems : int
    draws_kernel : bool, default=False
        Whether a seed is needed for the kernel.
    draws : bool, default=True
        Whether the solver has a use for generators; if not, fresh ones, which take a while, are not made.
    """
    if random_state is None and not (draws or draws_kernel):
        return Continuation(settings, classes, (), [None] * n_problems, [None] * n_problems, 0)
    rng = generator_of(random_state)
    kernel_seed = int(rng.integers(2**63)) if draws_kernel else 0
    if n_problems == 1:
        generators = [rng]  # the very stream that a solver of kernbench.solvers would draw from
    else:
        generators = [np.random.default_rng(seed) for seed in rng.integers(2**63, size=n_problems)]
    return Continuation(settings, classes, (), [None] * n_problems, generators, kernel_seed)
