"""The order of a fit of each public model: how its time grows with n rows and d columns.

It follows from the `work` in the list of models.
"""

from dataclasses import dataclass, field

from kernbench._models import MODELS


@dataclass(frozen=True)
class Order:
    """A fit takes a time in proportion to n ** rows * d ** columns.

    Attributes
    ----------
    rows, columns : float
    params : dict
        Parameters with which it is stated, apart from the defaults.
    passes : float or None
        Passes over the rows, which give the number of iterations, passes * n / batch_size; None if iterations are not
        counted in passes.
    batch_size : int or None
        Rows of an iteration of a method on batches; None for methods that take one row at a time.
    """

    rows: float
    columns: float
    params: dict = field(default_factory=dict)
    passes: float | None = None
    batch_size: int | None = None


# Iterations are limited, and the tolerance too small to end a fit before, where the order is that of an iteration or a
# pass: how many are needed depends on the data. SMO alone runs to its default tolerance.
TO_THE_LIMIT = {"tol": 1e-12}
ITERATIONS = {**TO_THE_LIMIT, "max_iter": 20}
# The solver is named because the iterations of the one that "auto" chooses may not be passes.
PASSES = {**TO_THE_LIMIT, "solver": "sdca"}
STREAM = {"block_size": 64, "precondition": False, "max_blocks": None}

# By the `work` of a model.
ORDERS = {
    "iterations": Order(1, 1, ITERATIONS),  # each takes a pass over the rows
    "passes": Order(1, 1, PASSES, passes=5),  # of steps on single rows
    "batches": Order(1, 1, TO_THE_LIMIT, passes=10, batch_size=64),
    "features": Order(1, 1),  # a number of them that does not depend on n
    "kernel": Order(2, 1),
    "kernel passes": Order(2, 1, PASSES, passes=2),  # of steps on single rows of the kernel matrix
    # Step t of a pass computes the features of all t blocks so far.
    "stream": Order(2, 1, STREAM, passes=1, batch_size=64),
    "search": Order(1, 1, {**ITERATIONS, "alphas": [1e-2, 1e-3], "cv": 3}),
    "kernel search": Order(2, 1, {"Cs": [0.1, 1.0], "cv": 3}),
    "linear search": Order(1, 1, {**PASSES, "Cs": [0.1, 1.0], "cv": 3}, passes=2),
    "regression search": Order(2, 1, {**PASSES, "alphas": [1e-2, 1e-3], "cv": 3}, passes=2),
}
STATED = [(model, ORDERS[model.work]) for model in MODELS]
