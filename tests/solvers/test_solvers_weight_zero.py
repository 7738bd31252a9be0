"""A row of weight 0, however far from the others, changes neither the iterates of a solver nor its certificate."""

import numpy as np
import pytest

from kernbench.kernels import Linear
from kernbench.solvers import driver
from kernbench.solvers.registry import SOLVERS, get

N = 150
KINDS = ("kernel-svm", "kernel-regression", "linear-svm", "linear-regression")
# The Perceptron permutes all rows, with those that it skips; Wolfe's method amplifies rounding; the preconditioner of
# the bundle method depends on the spread of all scores, its solution does not.
OTHERS = ("perceptron", "wolfe", "bundle")
OF_THE_NUMBER_OF_ROWS = [
    ("simba", "linear-svm", {"horizon": 64}),
    ("norma", "kernel-svm", {"schedule": "constant", "fit_intercept": False}),
]
CASES = [(e, loss) for e in SOLVERS if e.problem in KINDS and e.name not in OTHERS for loss in e.losses]


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize(
    "entry, loss", CASES, ids=lambda part: part if isinstance(part, str) else f"{part.problem}-{part.name}"
)
def test_a_row_of_weight_zero_changes_nothing(entry, loss, twin):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    y = X[:, 0] + 0.3 * rng.normal(size=N)
    y = y if entry.kind.real_targets else np.where(y > 0.0, 1.0, -1.0)
    far = np.concatenate([X, np.full((1, 4), 1e3)]), np.append(y, 1e6 if entry.kind.real_targets else 1.0)
    found = [objective_and_gap(entry, loss, twin, *of) for of in ((X, y, None), (*far, np.append(np.ones(N), 0.0)))]
    assert found[1] == pytest.approx(found[0], rel=1e-6, abs=1e-9)


def objective_and_gap(entry, loss, twin, X, y, weights):
    """Return both after some iterations, times the number of rows, at a penalty that does not depend on it."""
    n = len(y)
    data = entry.kind.make_data(X, Linear() if entry.kind.first == "rows" else None, twin=twin, dtype=np.float64)
    options = {**entry.kind.defaults, "loss": loss, "random_state": 0}
    if entry.kind.first == "rows":
        options["fit_intercept"] = False
    solver = entry.load(twin)(data, y, alpha=5.0 / n, weights=weights, **options)
    result = driver.run(solver, max_iter=512)
    return n * result.objective, n * result.gap


@pytest.mark.parametrize("name, problem, options", OF_THE_NUMBER_OF_ROWS)
@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_many_rows_of_weight_zero_leave_step_sizes_alone(name, problem, options, twin):
    """Those that depend on the number of rows."""
    entry, rng = get(name, problem), np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0.0, 1.0, -1.0)
    more = np.concatenate([X, np.zeros((600, 4))]), np.append(y, np.ones(600)), np.repeat([1.0, 0.0], [60, 600])
    found = []
    for rows, labels, weights in ((X, y, None), more):
        kernel = Linear() if entry.kind.first == "rows" else None
        data = entry.kind.make_data(rows, kernel, twin=twin, dtype=np.float64)
        solver = entry.load(twin)(data, labels, alpha=5.0 / len(labels), weights=weights, random_state=0, **options)
        solver.advance(600)
        found.append(len(labels) * solver.objective())
    assert found[1] == pytest.approx(found[0], rel=1e-9)
