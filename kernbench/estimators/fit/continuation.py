"""Warm starts: what a fit with ``warm_start=True`` keeps for the next one, its solutions and random generators."""

from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from scipy import sparse

from kernbench._random import check_random_state, generator_of
from kernbench.estimators.fit.outcome import NOT_STARTED


@dataclass(frozen=True)
class Continuation:
    """The state of a fit between two calls.

    Attributes
    ----------
    settings : tuple
        Parameters of the model for which solutions and draws are valid.
    classes : ndarray, or None in a regression
    solutions : list of Solution or None
        One for each problem; None if it was not begun.
    draws : sequence
        For each problem its generator, so that results do not depend on how iterations are split over calls, or None if
        nothing is drawn; for a ranking, whose draws are the same in every call, its seeds.
    kernel_seed : int
        For ``gamma="median"``, which must give the same number in every call.
    key : tuple
        Identifies the examples, labels included, and the kernel that the state of solvers belongs to.
    memory : object
        Anything else that the estimator keeps, such as a feature map.
    best : tuple
        Of a model with validation rows: what its best iterate belongs to, and that iterate.
    """

    settings: tuple
    classes: np.ndarray
    solutions: list
    draws: tuple | list
    kernel_seed: int = 0
    key: tuple = ()
    memory: object = None
    best: tuple = (None, None)

    def initial(self, k, key, fits):
        """Return where the fit of problem `k` starts, or None for a cold start.

        With an equal `key` it starts from the unchanged solution. Otherwise its coefficients are used if
        ``fits(coef)``, without the rest of the solver's state (responses, averages).
        """
        solution = self.solutions[k]
        if solution is None or key == self.key:
            return solution
        return replace(solution, state={}) if fits(solution.coef) else None

    def after(self, results, key, **changes):
        """Return the continuation of the fit that ended with `results`; problems that were not begun keep their
        solutions."""
        solutions = [
            old if result.status == NOT_STARTED else result.solution
            for old, result in zip(self.solutions, results, strict=True)
        ]
        return replace(self, solutions=solutions, key=key, **changes)


def last_fit(model, settings, n_problems):
    """Return the `Continuation` of the last fit of `model` if this one can continue from it, else None."""
    last = getattr(model, "_continuation", None) if model.warm_start else None
    if (
        last is not None
        and last.settings == settings
        and np.array_equal(last.classes, getattr(model, "classes_", None))
        and len(last.solutions) == n_problems
    ):
        return last
    return None


def cold_start(model, settings, n_problems, *, draws_kernel=False, draws=True):
    """Return the `Continuation` of a first fit: new generators, no solutions.

    Parameters
    ----------
    model : estimator
        Gives ``random_state`` and, if it is a classifier, ``classes_``.
    settings : tuple
    n_problems : int
    draws_kernel : bool, default=False
        Whether a seed is needed for the kernel.
    draws : bool, default=True
        Whether the solver draws random numbers. If not, and no seed is needed, nothing is drawn from ``random_state``,
        nor from NumPy's global state.
    """
    solutions, classes = [None] * n_problems, getattr(model, "classes_", None)
    if not (draws or draws_kernel):
        check_random_state(model.random_state)
        return Continuation(settings, classes, solutions, solutions)
    rng = generator_of(model.random_state)
    kernel_seed = int(rng.integers(2**63)) if draws_kernel else 0
    if not draws:
        generators = solutions  # None for each problem
    elif n_problems == 1:
        generators = [rng]  # the draws of a solver used directly
    else:
        generators = [np.random.default_rng(seed) for seed in rng.integers(2**63, size=n_problems)]
    return Continuation(settings, classes, solutions, generators, kernel_seed)


def key_of(kernel, X):
    """Return what identifies a kernel and its rows, for `Continuation.key`: a tuple.

    If the kernel is a Python function, nothing equals it: the function may have changed in place, and so may rows that
    are objects, of which no digest can be taken.
    """
    return (object(),) if kernel.calls_python else (kernel, digest(X))


def digest(X):
    """Return a digest of numbers or text: equal data, equal digest."""
    hasher = blake2b(digest_size=16)
    for part in (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,):
        hasher.update(f"{part.shape}{part.dtype}".encode())
        if part.dtype.hasobject:
            hasher.update(repr(part.tolist()).encode())
        else:
            hasher.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8))
    return hasher.hexdigest()
