"""Doubly stochastic gradients against independent optima of every loss, and their rates."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from streaming_problems import rows_and_labels, solver_of, solver_on

from kernbench.features.blocks import FeatureBlocks
from kernbench.kernels import Gaussian
from kernbench.losses.output import OUTPUT_LOSSES, output_loss
from kernbench.losses.table import losses_of
from kernbench.problems.streaming.batches import ArrayBatches
from kernbench.solvers import driver

# --- optima on fixed features: cyclic updates of a few blocks, batches of all rows


def fixed_features(X, n_blocks, m, seed=3):
    """Features of all blocks, of which the model is a linear function, with the norm of the space."""
    blocks = FeatureBlocks(Gaussian(1.2), m, X.shape[1])
    return np.hstack([blocks.features(X, seed, b) for b in range(n_blocks)])


def optimum(loss, Z, y, alpha, n_blocks, n_outputs):
    """The least value of the mean loss plus alpha/2 T ||a||^2, by an independent method."""
    n, m = Z.shape
    lam = alpha * n_blocks
    if loss.name == "truncated_ratio":
        return dual_optimum_of_the_truncated_ratio(loss.parameter, Z, y, lam)
    if loss.name in ("absolute_error", "quantile", "epsilon_insensitive", "hinge"):
        return dual_optimum(loss, Z, y, lam)

    def value(a):
        A = a.reshape(m, n_outputs)
        U = Z @ A
        slopes = Z.T @ loss.slope(U, y) / n + lam * A
        return loss.value(U, y).mean() + 0.5 * lam * a @ a, slopes.ravel()

    return minimize(value, np.zeros(m * n_outputs), jac=True, method="L-BFGS-B",
                    options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10}).fun  # fmt: skip


def dual_optimum(loss, Z, y, lam):
    """max_b -(1/n) sum conj(-b_i) - |Z^T b|^2 / (2 lam n^2), signs as in dual coordinate ascent."""
    n = len(y)
    K = Z @ Z.T / (lam * n * n)
    bounds = {
        "hinge": [(0, 1) if label > 0 else (-1, 0) for label in y],
        "absolute_error": [(-1, 1)] * n,
        "quantile": [(loss.parameter - 1, loss.parameter)] * n,
    }[loss.name]
    found = minimize(
        lambda b: (0.5 * b @ K @ b - b @ y / n, K @ b - y / n), np.zeros(n), jac=True, bounds=bounds,
        method="L-BFGS-B", options={"maxiter": 20000, "maxfun": 100000, "ftol": 1e-16, "gtol": 1e-9},
    )  # fmt: skip
    return -found.fun


def dual_optimum_of_the_truncated_ratio(floor, Z, y, lam):
    """max_b (1/n) sum_P (1 + log b_i) - |Z^T b|^2 / (2 lam n^2), b in (0, 1 / floor] for P and in [-1, 0] for Q."""
    n, of_p = len(y), y > 0
    K = Z @ Z.T / (lam * n * n)

    def value(b):
        logs, slopes = np.log(b[of_p]), np.zeros(n)
        slopes[of_p] = 1 / (n * b[of_p])
        return 0.5 * b @ K @ b - np.sum(1 + logs) / n, K @ b - slopes

    found = minimize(value, np.where(of_p, 1.0, -0.5), jac=True, method="L-BFGS-B",
                     bounds=[(1e-12, 1 / floor) if p else (-1, 0) for p in of_p],
                     options={"maxiter": 20000, "maxfun": 100000, "ftol": 1e-16, "gtol": 1e-9})  # fmt: skip
    return -found.fun


SMOOTH = (*losses_of("margin", "residual", smooth=True), "softmax", "density_ratio")
KINKED = tuple(name for name in losses_of("margin", "residual", smooth=False) if name != "epsilon_insensitive")
KINKED += ("truncated_ratio",)


@pytest.mark.parametrize("precondition", [False, True])
@pytest.mark.parametrize("name", SMOOTH + KINKED)
def test_every_loss_reaches_its_optimum_on_fixed_features(name, precondition):
    n_outputs, alpha, T, m = (3 if name == "softmax" else 1), 0.02, 4, 8
    X, y = rows_and_labels(name, n=80, n_outputs=n_outputs)
    Z, loss = fixed_features(X, T, m), output_loss(name, delta=0.4, quantile=0.3, floor=0.5)
    best = optimum(loss, Z, y, alpha, T, n_outputs)
    smooth = name in SMOOTH
    solver = solver_of(
        X, y, loss=name, alpha=alpha, batch_size=80, shuffle=False, block_size=m, n_outputs=n_outputs, max_blocks=T,
        precondition=precondition, damping=0.1, schedule="published" if smooth else "inverse",
        step_size=(0.3 if precondition else 0.5) if smooth else 1 / (alpha if not precondition else 0.2),
        t0=0.0 if smooth else 60.0, delta=0.4, quantile=0.3, floor=0.5, average="last" if smooth else "tail",
    )  # fmt: skip
    driver.run(solver, max_iter=1500 if precondition and not smooth else 600)
    A = solver.solution().coef.reshape(T * m, n_outputs)
    reached = loss.value(Z @ A, y).mean() + 0.5 * alpha * T * np.sum(A**2)
    # Blocks that shrink while others are visited end O(gamma alpha) away; kinked losses converge like 1/sqrt(t).
    share = 2e-2 if not smooth else 1e-6 if precondition else 7.5e-4
    assert best - 1e-8 <= reached <= best + share * loss.value(np.zeros((80, n_outputs)), y).mean()


def test_the_level_of_novelty_is_that_of_the_one_class_machine():
    """min (1/n) sum max(0, tau - f) + nu/2 T |a|^2 - nu tau, by a linear-constrained quadratic programme."""
    nu, T, m, n = 0.2, 4, 8, 60
    X, _ = rows_and_labels("novelty", n=n)
    Z = fixed_features(X, T, m)
    K = Z @ Z.T / T
    found = minimize(
        lambda a: (0.5 * a @ K @ a, K @ a), np.full(n, 1 / n), jac=True, bounds=[(0, 1 / (nu * n))] * n,
        constraints={"type": "eq", "fun": lambda a: a.sum() - 1, "jac": lambda a: np.ones(n)}, method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )  # fmt: skip
    best = -nu * found.fun  # strong duality, in these units
    solver = solver_of(X, None, loss="novelty", alpha=nu, batch_size=n, shuffle=False, block_size=m, max_blocks=T,
                       schedule="inverse", step_size=5.0, t0=20.0, average="tail")  # fmt: skip
    driver.run(solver, max_iter=1500)
    solution = solver.solution()
    f, tau = (Z @ solution.coef.reshape(-1, 1))[:, 0], -solution.intercept
    reached = np.mean(np.maximum(0, tau - f)) + 0.5 * nu * T * np.sum(solution.coef**2) - nu * tau
    assert best - 1e-8 <= reached <= best + 2e-3
    assert np.mean(f < tau - 1e-3) <= nu <= np.mean(f <= tau + 1e-2)


def test_quantile_without_regularisation_is_a_linear_programme():
    X, y = rows_and_labels(n=60)
    q, T, m, n = 0.3, 2, 4, 60
    Z = fixed_features(X, T, m)
    found = linprog(
        np.r_[np.zeros(2 * T * m), np.full(n, q / n), np.full(n, (1 - q) / n)],
        A_eq=np.hstack([Z, -Z, np.eye(n), -np.eye(n)]), b_eq=y, method="highs",
    )  # fmt: skip
    solver = solver_of(X, y, loss="quantile", quantile=q, alpha=0.0, batch_size=n, block_size=m, max_blocks=T,
                       schedule="inverse_sqrt", step_size=3.0, average="weighted")  # fmt: skip
    driver.run(solver, max_iter=2000)
    reached = output_loss("quantile", quantile=q).value(Z @ solver.solution().coef.reshape(-1, 1), y).mean()
    assert found.fun * (1 - 1e-9) <= reached <= found.fun * 1.02


def test_all_losses_are_covered_by_an_oracle():
    assert {*SMOOTH, *KINKED, "novelty", "epsilon_insensitive"} == set(OUTPUT_LOSSES)


# --- rates


@pytest.mark.slow
def test_the_rate_of_ridge_regression_is_one_over_t():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(3000, 2))
    y = np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=3000)
    kernel, alpha, steps = Gaussian(1.0), 0.1, (8, 16, 32, 64, 128, 256)
    K = kernel(X, X)
    ridge = K @ np.linalg.solve(K + 3000 * alpha * np.eye(3000), y)
    errors = np.zeros((4, len(steps)))
    for seed in range(4):
        batches = ArrayBatches(X, y, batch_size=64, seed=seed)
        solver = solver_on(batches, kernel=kernel, alpha=alpha, loss="squared_error", schedule="inverse",
                           step_size=10.0, block_size=64, random_state=seed)  # fmt: skip
        blocks = FeatureBlocks(kernel, 64, 2)
        for k, t in enumerate(steps):
            driver.run(solver, max_iter=t - solver.n_iter)
            f = blocks.multiply(X, seed, range(t), solver.A)[:, 0]
            errors[seed, k] = np.mean((f - ridge) ** 2)
    slope = np.polyfit(np.log(steps), np.log(errors.mean(axis=0)), 1)[0]
    assert slope <= -0.85 and errors.mean(axis=0)[-1] < 2.5e-4


def test_many_features_are_the_exact_functional_gradient():
    """The distance to gradient descent in the kernel's space falls like 1/sqrt(m): NORMA, batches of all rows."""
    X, y = rows_and_labels(n=40)
    kernel, distances = Gaussian(1.2), []
    K = kernel(X, X)
    for m in (64, 1024):
        found = []
        for seed in range(6):
            solver = solver_of(X, y, kernel=kernel, loss="squared_error", batch_size=40, shuffle=False, block_size=m,
                               alpha=0.1, step_size=1.0, random_state=seed)  # fmt: skip
            solver.advance(10)
            c = np.zeros(40)
            for t in range(1, 11):
                gamma = 1.0 / (1 + 0.1 * t)
                c = (1 - 0.1 * gamma) * c - gamma * (K @ c - y) / 40
            f = FeatureBlocks(kernel, m, 3).multiply(X, seed, range(10), solver.A)[:, 0]
            found.append(np.mean((f - K @ c) ** 2) ** 0.5)
        distances.append(np.mean(found))
    assert 2.5 < distances[0] / distances[1] < 6.5
