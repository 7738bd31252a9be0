"""A cell: the accuracy at λ = 1 over the width of the kernel, of the optimum and of the method."""

import numpy as np

from kernbench._lazy import load
from kernbench.datasets.splits import split_indices
from kernbench.experiments.measure.building import build
from kernbench.experiments.measure.record import columns, result

OPTIMUM, SCS = "optimum (closed form)", "SCS"
HELD_OUT = 0.25


def measure(cell):
    """Fit at several widths, by the closed form and by conjugate subgradients.

    The cell's `params` are those of `KernelSVC`, ``factors``, by which the width is multiplied, and ``max_iter``.

    Returns
    -------
    dict
        ``metrics``: ``accuracy_here``, of the optimum with a factor of 1; ``best`` and ``best_factor``, the highest
        accuracy over the factors; ``accuracy_validated`` and ``validated_factor``, at the one that is best on a quarter
        of the training rows held out; ``scs_loses``, the most by which the method is less accurate than the optimum.
        ``trace``: ``line``, ``factor``, ``accuracy``.
    """
    data = load(cell.loader)(**cell.arguments)
    params = dict(cell.params)
    factors, limit = params.pop("factors"), {"max_iter": params.pop("max_iter")}
    X, y = data.X_train, data.y_train
    solvers = {OPTIMUM: {"solver": "closed-form"}, SCS: {"solver": "scs", **limit, "random_state": cell.seed}}
    params.pop("random_state", None)

    def accuracy(line, factor, rows, test):
        own = {**params, **solvers[line], "gamma": 1.0 / (X.shape[1] * factor**2)}
        model = build(cell.estimator, own, len(rows)).fit(X[rows], y[rows])
        return float(np.mean(model.predict(test[0]) == test[1]))

    every, test = np.arange(len(y)), (data.X_test, data.y_test)
    kept, held = split_indices(y, round((1 - HELD_OUT) * len(y)), cell.seed)
    found = {line: [accuracy(line, factor, every, test) for factor in factors] for line in solvers}
    validated = int(np.argmax([accuracy(OPTIMUM, factor, kept, (X[held], y[held])) for factor in factors]))
    best = int(np.argmax(found[OPTIMUM]))
    metrics = {
        "accuracy_here": found[OPTIMUM][factors.index(1.0)],
        "best": found[OPTIMUM][best],
        "best_factor": factors[best],
        "accuracy_validated": found[OPTIMUM][validated],
        "validated_factor": factors[validated],
        "scs_loses": max(exact - scs for exact, scs in zip(found[OPTIMUM], found[SCS], strict=True)),
    }
    rows = [(line, factor, value) for line, values in found.items() for factor, value in zip(factors, values)]
    return result(data, metrics, trace=columns(("line", "factor", "accuracy"), rows))
