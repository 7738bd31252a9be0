"""The operator of a Gaussian process's variance: worked numbers, its fixed point, resuming, memory."""

import numpy as np
import pytest
from streaming_problems import rows_and_labels, solver_of

from kernbench.features.blocks import FeatureBlocks
from kernbench.kernels import Gaussian, Matern

OF_A_PROCESS = {"loss": "squared_error", "operator": True, "max_blocks": 4}


def test_four_steps_to_monte_carlo_error():
    """E A_t(x, x) over frequencies; with one stream for both sides it would be .891, 1.074, 1.161, 1.173."""
    X, x, steps = np.array([[0.3], [-0.4], [0.9], [0.1]]), np.array([[0.2]]), (0.6, 0.4, 0.3, 0.2)
    expected = np.array([0.590698, 0.636961, 0.638337, 0.678249])
    found = np.empty((250, 4))
    for seed in range(len(found)):
        solver = solver_of(
            X, np.zeros(4), kernel=Gaussian(0.8), alpha=0.25, batch_size=1, block_size=64, shuffle=False,
            random_state=seed, **OF_A_PROCESS,
        )  # fmt: skip
        solver._step_at = lambda t: steps[t - 1]
        for t in range(4):
            solver.advance(1)
            found[seed, t] = solver.operator.explained(x)[0]
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert np.all(np.abs(found.mean(axis=0) - expected) < 4 * error)
    # Coefficients shrunk before they are used would give .649219 for the second of them.
    assert error.max() < 0.0025


def test_steps_over_all_rows_end_in_the_closed_form():
    """Theta = D (n R alpha I + Z'^T Z')^{-1}, D the diagonal blocks of Z^T Z', with R blocks in turn."""
    X, y = rows_and_labels(n=40, d=2)
    R, m, alpha, kernel = 3, 4, 0.05, Gaussian(1.2)
    solver = solver_of(
        X, y, kernel=kernel, alpha=alpha, batch_size=40, block_size=m, step_size=1.0, precondition=True,
        damping=0.0, schedule="published", **{**OF_A_PROCESS, "max_blocks": R},
    )  # fmt: skip
    solver._step_at = lambda t: 1.0
    solver.advance(300)
    first, second = (FeatureBlocks(kernel, m, 2, second_stream=second) for second in (False, True))
    Z, other = (np.hstack([s.features(X, solver.seed, b) for b in range(R)]) for s in (first, second))
    D = np.kron(np.eye(R), np.ones((m, m))) * (Z.T @ other)
    expected = D @ np.linalg.inv(40 * R * alpha * np.eye(R * m) + other.T @ other)
    np.testing.assert_allclose(solver.operator.coef, expected, atol=1e-8)


@pytest.mark.parametrize("draws", ["iid", "orthogonal", "qmc", "fastfood"])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Matern(1.5, 1.0)], ids=["gaussian", "matern"])
def test_the_second_stream_is_independent_of_the_first(kernel, draws):
    X = np.random.default_rng(0).normal(size=(3, 4))
    found = []
    for seed in range(200):
        a, b = (
            FeatureBlocks(kernel, 64, 4, form="phase", draws=draws, second_stream=second).features(X, seed, 5)
            for second in (False, True)
        )
        found.append([(a * b).sum(), (b @ b.T)[0, 1]])
    found = np.array(found)
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    # Features of a draw, uncorrelated: the mean of a product is 0; the kernel is that of the second stream as well.
    assert np.all(np.abs(found.mean(axis=0) - [0, kernel(X[:1], X[1:2]).item()]) < 4.5 * error)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize("split", [2, 4, 7])
def test_a_resumed_run_is_one_long_run(twin, split):
    X, y = rows_and_labels(n=50)
    whole, first = (solver_of(X, y, twin, **OF_A_PROCESS) for _ in range(2))
    whole.advance(9), first.advance(split)
    second = solver_of(X, y, twin, initial=first.solution(), **OF_A_PROCESS)
    second.advance(9 - split)
    np.testing.assert_array_equal(second.solution().state["operator"], whole.solution().state["operator"])
    assert second.solution().state["counts"] == whole.solution().state["counts"]


@pytest.mark.parametrize("before, after", [(2, None), (2, 4), (None, 2)])
def test_another_number_of_blocks_goes_on_with_blocks_in_order(before, after):
    """Coefficient block i belongs to features of block i, also if the run went round before."""
    X, y = rows_and_labels(n=60)
    options = {"loss": "squared_error", "shuffle": False, "batch_size": 60, "schedule": "inverse", "t0": 1e9}
    first = solver_of(X, y, max_blocks=before, **options)
    first.advance(5)
    solver = solver_of(X, y, max_blocks=after, initial=first.solution(), **options)
    f, old = solver.outputs(X)[:, 0], solver.A.copy()
    solver.advance(1)
    k = len(old) if after != 2 else 5 % 2
    Z = FeatureBlocks(Gaussian(1.2), 8, 3).features(X, solver.seed, k)
    gamma = 0.5 / (6 + 1e9)
    base = old[k, :, 0] * (1 - gamma * 0.05) if k < len(old) else 0.0
    np.testing.assert_allclose((base - solver.A[k, :, 0]) / gamma, Z.T @ (f - y) / 60, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"max_blocks": None}, "give max_blocks"),
        ({"loss": "hinge"}, "for loss='squared_error', not 'hinge'"),
        ({"max_blocks": 100, "cache_size": 10}, "100 blocks of 8 features takes 12 MB, more than cache_size=10"),
        ({"operator": 1}, "operator must be"),
    ],
)
@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_settings_without_an_operator_are_refused(twin, options, message):
    X, y = rows_and_labels("hinge", n=20)
    with pytest.raises(ValueError, match=message):
        solver_of(X, y, twin, **{**OF_A_PROCESS, **options})
