"""The order of a fit of each public model: how its time grows with n rows and d columns."""

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
CUTS = Order(1, 1, {**TO_THE_LIMIT, "max_iter": 20})
# The solver is named because the iterations of the one that "auto" chooses may not be passes.
ROWS = Order(1, 1, {**TO_THE_LIMIT, "solver": "sdca"}, passes=5)
KERNEL_ROWS = Order(2, 1, {**TO_THE_LIMIT, "solver": "sdca"}, passes=2)
BATCHES = Order(1, 1, TO_THE_LIMIT, passes=10, batch_size=64)
# Step t of a pass computes the features of all t blocks so far.
STREAM = Order(2, 1, {"block_size": 64, "precondition": False, "max_blocks": None}, passes=1, batch_size=64)
FEATURES = Order(1, 1)

ORDERS = {
    "KernelSVC": Order(2, 1),
    "KernelNuSVC": Order(2, 1),
    "KernelSVCCV": Order(2, 1, {"Cs": [0.1, 1.0], "cv": 3}),
    "LinearSVC": ROWS,
    "KernelRegressor": KERNEL_ROWS,
    "KernelSVR": Order(2, 1),
    "KernelNuSVR": Order(2, 1),
    "KernelNoveltyDetector": Order(2, 1),
    "LinearRegressor": ROWS,
    "ROCSVC": CUTS,
    "ROCSVCCV": Order(1, 1, {**CUTS.params, "alphas": [1e-2, 1e-3], "cv": 3}),
    "PartialAUCClassifier": CUTS,
    "AUCMarginClassifier": BATCHES,
    "RankedRangeClassifier": CUTS,
    "RankedRangeRegressor": CUTS,
    "DoublyStochasticClassifier": STREAM,
    "DoublyStochasticRegressor": STREAM,
    "DoublyStochasticNoveltyDetector": STREAM,
    "DoublyStochasticDensityRatio": STREAM,
    "DoublyStochasticGPRegressor": STREAM,
    "Nystroem": FEATURES,
    "RandomFeatures": FEATURES,
}


# In the order of the list of models. A new model needs a line above: a test requires it.
STATED = [(model, ORDERS[model.name]) for model in MODELS if model.name in ORDERS]
