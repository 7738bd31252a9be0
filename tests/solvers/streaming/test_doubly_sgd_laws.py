"""What must hold of doubly stochastic gradients: resuming, sources, weights, optima, rates."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, minimize
from streaming_problems import rows_and_labels, solver_of, solver_on, stream_of
from threadpoolctl import threadpool_limits

from kernbench.features.blocks import FeatureBlocks
from kernbench.kernels import Gaussian
from kernbench.losses.output import OUTPUT_LOSSES, output_loss
from kernbench.losses.table import losses_of
from kernbench.problems.streaming.batches import ArrayBatches
from kernbench.problems.streaming.step_sizes import StepSizes
from kernbench.solvers import driver
from kernbench.solvers.base import Solution

AVERAGED = {"average": "tail"}


def equal_states(a, b):
    np.testing.assert_array_equal(a.coef, b.coef)
    assert a.n_iter == b.n_iter and a.intercept == b.intercept and a.state.keys() == b.state.keys()
    for name, value in a.state.items():
        np.testing.assert_array_equal(value, b.state[name], err_msg=name)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        AVERAGED,
        {"max_blocks": 3, "precondition": True},
        {"loss": "novelty", "alpha": 0.2},
        {"window": 30, "precondition": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("split", [3, 4, 9])
def test_a_resumed_run_is_one_long_run(twin, options, split):
    """Bit for bit; four batches are a pass."""
    options = {"loss": "log_loss", **options}
    X, y = rows_and_labels(options["loss"])
    whole, first = solver_of(X, y, twin, **options), solver_of(X, y, twin, **options)
    whole.advance(13), first.advance(split)
    second = solver_of(X, y, twin, initial=first.solution(), **{**options, "random_state": 99})
    second.advance(13 - split)
    equal_states(second.solution(), whole.solution())
    assert second.objective() == whole.objective() and second.seed == whole.seed


@pytest.mark.parametrize("precondition", [False, True])
def test_kept_outputs_change_rounding_only(precondition):
    X, y = rows_and_labels("log_loss")
    kept, anew = (solver_of(X, y, loss="log_loss", precondition=precondition, max_blocks=6, cache_size=size)
                  for size in (10, 1e-4))  # fmt: skip
    kept.advance(15), anew.advance(15)
    assert "outputs" in kept.solution().state and "outputs" not in anew.solution().state
    np.testing.assert_allclose(kept.A, anew.A, rtol=0, atol=1e-12)


def test_how_a_stream_is_cut_does_not_matter():
    X, y = rows_and_labels("hinge", n=100)
    weights = np.random.default_rng(0).integers(0, 3, size=100).astype(float)
    solutions = []
    for cuts in ((), (1,), (16, 32), (5, 5, 50, 99)):
        solver = solver_on(stream_of(X, y, weights, cuts=cuts), loss="hinge")
        assert solver.advance(100) == solver.n_iter < 100 and solver.finished
        solutions.append(solver.solution())
    for other in solutions[1:]:
        equal_states(other, solutions[0])


def test_a_stream_of_rows_in_order_is_one_pass_over_arrays():
    X, y = rows_and_labels("hinge", n=70)
    stream, arrays = (
        solver_on(stream_of(X, y), loss="hinge"),
        solver_of(X, y, loss="hinge", shuffle=False, n_passes=1),
    )
    assert stream.advance(50) == arrays.advance(50) == 5 and stream.finished and arrays.finished
    np.testing.assert_array_equal(stream.A, arrays.A)


def test_a_batch_of_one_is_one_example():
    """Algorithm 1, written down."""
    X, y = rows_and_labels("hinge", n=12)
    solver = solver_of(X, y, loss="hinge", batch_size=1, shuffle=False, alpha=0.1)
    blocks, A = FeatureBlocks(Gaussian(1.2), 8, 3), []
    for t in range(12):
        f = sum((blocks.features(X[t : t + 1], 3, i) @ A_i for i, A_i in enumerate(A)), np.zeros((1, 1)))
        gamma = 0.5 / (1 + 0.5 * 0.1 * (t + 1))
        new = gamma * y[t] * (y[t] * f.item() < 1) * blocks.features(X[t : t + 1], 3, t).T
        A = [(1 - gamma * 0.1) * A_i for A_i in A] + [new]
    solver.advance(12)
    np.testing.assert_allclose(solver.A, A, atol=1e-13)


@pytest.mark.parametrize("precondition", [False, True])
def test_rows_of_weight_0_are_not_there(precondition):
    X, y = rows_and_labels("hinge", n=80)
    weights = np.random.default_rng(0).integers(0, 2, size=80).astype(float)
    options = {"loss": "hinge", "precondition": precondition, "batch_size": 9}
    with_them = solver_of(X, y, weights=weights, **options)
    without = solver_of(X[weights > 0], y[weights > 0], **options)
    with_them.advance(12), without.advance(12)
    np.testing.assert_allclose(with_them.A, without.A, rtol=0, atol=1e-14)


@pytest.mark.parametrize("precondition", [False, True])
def test_a_weight_of_2_is_the_row_twice_in_a_batch_of_all(precondition):
    X, y = rows_and_labels("log_loss", n=30)
    weights = 1.0 + (np.arange(30) < 10)
    options = {"loss": "log_loss", "precondition": precondition, "shuffle": False, "alpha": 0.0, "damping": 1e-2}
    twice = solver_of(np.r_[X, X[:10]], np.r_[y, y[:10]], batch_size=40, **options)
    weighted = solver_of(X, y, weights=weights * 30 / 40, batch_size=30, **options)
    twice.advance(5), weighted.advance(5)
    np.testing.assert_allclose(weighted.A, twice.A, rtol=0, atol=1e-10)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_step_with_a_window_is_one_on_the_latest_rows(form, weighted):
    """The second step is that of a batch of the 24 latest rows, from the same f."""
    X, y = rows_and_labels("log_loss", n=32)
    X = sparse.csr_matrix(X) if form == "csr" else X
    weights = np.random.default_rng(0).uniform(0.5, 2, size=32) if weighted else np.ones(32)
    options = {"loss": "log_loss", "precondition": True, "alpha": 1e-3, "shuffle": False}
    solver = solver_of(X, y, weights=weights if weighted else None, window=24, **options)
    solver.advance(1)
    recent = X[8:], y[8:]
    other = solver_of(*recent, weights=weights[8:], batch_size=24, initial=Solution(solver.A.copy(), 0.0, 1), **options)
    other.seed = solver.seed
    solver.advance(1), other.advance(1)
    np.testing.assert_allclose(solver.A, other.A, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solver.recent.f, solver.outputs(recent[0]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("options", [{"precondition": True}, {"max_blocks": 2, "alpha": 0.3}])
def test_outputs_at_the_window_are_those_of_the_model(options):
    X, y = rows_and_labels("log_loss", n=70)
    solver = solver_of(X, y, loss="log_loss", window=40, **options)
    for _ in range(9):
        solver.advance(1)
        rows = solver.recent.batch
        assert len(rows) == min(16 * solver.n_iter, 40)
        np.testing.assert_allclose(solver.recent.f, solver.outputs(rows.X), rtol=0, atol=1e-12)


def test_losses_are_those_of_new_rows_whatever_the_window():
    X, y = rows_and_labels("log_loss", n=64)
    with_window, without = (solver_of(X, y, loss="log_loss", alpha=0.0, window=size) for size in (0, 40))
    with_window.advance(1), without.advance(1)
    assert with_window.objective() == pytest.approx(without.objective(), rel=1e-14)


def test_late_inverse_steps_are_the_published_ones_up_to_t0():
    late, published = (StepSizes(name, 0.3, 1e-6, 100.0) for name in ("late_inverse", "published"))
    assert [late(t) for t in (1, 99, 100)] == [published(t) for t in (1, 99, 100)]
    assert late(400) == pytest.approx(published(400) / 4)
    assert StepSizes("late_inverse", 0.3, 1e-6)(400) == published(400)


def test_threads_do_not_matter():
    X, y = rows_and_labels("log_loss", n=2000, d=20)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            solver = solver_of(X, y, loss="log_loss", batch_size=500, block_size=64, precondition=True)
            driver.run(solver, max_iter=12)
            found.append(solver.solution())
    equal_states(*found)


def test_the_driver_says_finished_never_converged():
    X, y = rows_and_labels("hinge", n=70)
    result = driver.run(solver_on(stream_of(X, y), loss="hinge"), max_iter=100, tol=1e9)
    assert result.status == "finished" and result.gap is None and not result.converged and result.n_iter == 5


def test_the_objective_is_the_loss_before_learning_and_the_norm():
    X, y = rows_and_labels("squared_error")
    solver = solver_of(X, y, loss="squared_error", n_passes=1, shuffle=False, alpha=0.3)
    blocks, losses = FeatureBlocks(Gaussian(1.2), 8, 3), []
    for start in range(0, 60, 16):
        rows = slice(start, start + 16)
        f = blocks.multiply(X[rows], 3, range(len(solver.A)), solver.A)
        losses.extend(0.5 * (f[:, 0] - y[rows]) ** 2)
        solver.advance(1)
        expected = np.mean(losses) + 0.15 * len(solver.A) * np.sum(solver.A**2)
        assert solver.objective() == pytest.approx(expected, rel=1e-12)
    solver = solver_of(X, y, loss="squared_error", shuffle=False)
    assert solver.objective() == pytest.approx(0.5 * np.mean(y[:16] ** 2))
    assert np.isnan(solver_on(stream_of(X[:0], y[:0]), loss="squared_error").objective())


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
    driver.run(solver, max_iter=2000)
    A = solver.solution().coef.reshape(T * m, n_outputs)
    reached = loss.value(Z @ A, y).mean() + 0.5 * alpha * T * np.sum(A**2)
    # Blocks that shrink while others are visited end O(gamma alpha) away; kinked losses converge like 1/sqrt(t).
    share = 2e-2 if not smooth else 1e-6 if precondition else 5e-4
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
    driver.run(solver, max_iter=4000)
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
    driver.run(solver, max_iter=3000)
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


# --- bad input


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_steps_that_diverge_are_stopped(twin):
    X, y = rows_and_labels("squared_error")
    solver = solver_of(X, y, twin, loss="squared_error", step_size=1e4, alpha=1e-8)
    with pytest.raises(ValueError, match="step_size=10000 with schedule='bounded' diverges.*Lower step_size"):
        solver.advance(10)
    assert solver.n_iter < 10
    assert np.all(np.isfinite(solver.solution().coef))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"alpha": -1.0}, "alpha must be .* at least 0"),
        ({"loss": "softmax"}, "n_outputs of at least 2"),
        ({"loss": "novelty", "alpha": 1.0}, r"share of outliers, in \(0, 1\)"),
        ({"schedule": "bound"}, "unknown schedule 'bound'; did you mean 'bounded'"),
        ({"average": "most"}, "unknown average"),
        ({"step_size": 0}, "step_size must be a positive number"),
        ({"damping": -1}, "damping must be"),
        ({"block_size": 0}, "block_size must be a positive integer"),
        ({"max_blocks": 0}, "max_blocks must be a positive integer"),
        ({"precondition": 1}, "precondition must be True or False"),
        ({"form": "pair", "block_size": 7}, "must be a multiple of 2"),
        ({"initial": Solution(np.zeros((2, 4, 1)))}, "initial has coefficients of shape"),
    ],
)
def test_bad_settings_are_refused(options, message):
    X, y = rows_and_labels("hinge")
    with pytest.raises(ValueError, match=message):
        solver_of(X, y, **{"loss": "hinge", **options})


def test_a_singular_covariance_says_what_to_change():
    X, y = rows_and_labels(n=20)
    with pytest.raises(ValueError, match="raise damping"):
        solver_of(X, y, loss="squared_error", precondition=True, damping=0.0, alpha=0.0, block_size=64).advance(1)


def test_a_stream_that_fails_leaves_a_usable_solver():
    X, y = rows_and_labels("hinge", n=64)
    good = stream_of(X, y)
    solver = solver_on(good, loss="hinge")
    solver.advance(2)
    take, good._take = good._take, lambda count: 1 / 0
    before = solver.solution()
    with pytest.raises(ZeroDivisionError):
        solver.advance(1)
    equal_states(solver.solution(), before)
    good._take = take
    assert solver.advance(10) == 2 and solver.finished
