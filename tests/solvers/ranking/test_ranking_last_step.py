"""A run reports the iterate of its last step if that is the best."""

import numpy as np
import pytest

from kernbench import ROCSVC
from kernbench.reference.design import as_design as as_reference_design
from kernbench.solvers import driver
from kernbench.solvers.design import as_design
from kernbench.solvers.registry import get

X = np.array([[2.0, 0], [0, 1], [0, 0], [1, 1], [-1, 0]])
Y = np.array([1, 1, -1, -1, -1])
# By hand: w and the objective after each of the first steps, alpha = 0.1.
STEPS = {
    "adamax": [(0.002, 0.002), (0.00400019, 0.00400074), (0.00600056, 0.00600217)],
    "gradient": [(0.01, 0.00166667), (0.01999, 0.00333167)],
}
NUMBER_OF_STEPS = [(name, k) for name, steps in STEPS.items() for k in range(1, len(steps) + 1)]


def built(name, twin, **options):
    make = as_design if twin == "compiled" else as_reference_design
    return get(name).load(twin)(make(X), Y, alpha=0.1, **options)


def objective(w):
    D = X[Y > 0][:, None] - X[Y < 0][None]
    return 0.05 * w @ w + np.maximum(0, 1 - D @ w).mean()


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize("name, n_iter", NUMBER_OF_STEPS)
def test_k_steps_give_the_iterate_after_k_steps(name, n_iter, twin):
    solver = built(name, twin)
    result = driver.run(solver, max_iter=n_iter)
    np.testing.assert_allclose(result.solution.coef, STEPS[name][n_iter - 1], atol=6e-9)
    assert result.objective == pytest.approx(objective(result.solution.coef), rel=1e-14)


@pytest.mark.parametrize("name", STEPS)
def test_the_estimator_takes_the_last_step(name):
    model = ROCSVC(solver=name, max_iter=1, alpha=0.1).fit(X, Y)
    np.testing.assert_allclose(np.ravel(model.coef_), STEPS[name][0], atol=6e-9)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize("name", STEPS)
def test_a_worse_last_step_is_not_reported(name, twin):
    """With a long step the iterates oscillate: every report is the best of all iterates, the newest among them."""
    solver, best, newest_was_best = built(name, twin, step_size=0.7), np.inf, []
    for _ in range(30):
        solver.advance(1)
        newest = objective(np.array(solver.iterate))
        newest_was_best.append(newest < best)
        best = min(best, newest, 1.0)
        assert solver.objective() == pytest.approx(best, rel=1e-12)
        assert objective(solver.solution().coef) == pytest.approx(best, rel=1e-12)
    assert True in newest_was_best and False in newest_was_best
