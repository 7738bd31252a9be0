"""What must hold of doubly stochastic gradients: resuming, sources, weights, threads, bad input."""

import copy

import numpy as np
import pytest
from scipy import sparse
from streaming_problems import rows_and_labels, solver_of, solver_on, stream_of
from threadpoolctl import threadpool_limits

from kernbench.features.blocks import FeatureBlocks
from kernbench.kernels import Gaussian
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
        {"loss": "novelty", "alpha": 0.2, **AVERAGED},
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


def test_a_batch_that_was_looked_at_only_is_resumed_with():
    """The objective before the first step is that of the first batch, which is still to be learned from."""
    X, y = rows_and_labels("log_loss")
    whole, first = solver_of(X, y, loss="log_loss"), solver_of(X, y, loss="log_loss")
    first.objective()
    second = solver_of(X, y, loss="log_loss", initial=first.solution())
    whole.advance(3), second.advance(3)
    equal_states(second.solution(), whole.solution())


@pytest.mark.parametrize(
    "options",
    [
        {},
        AVERAGED,
        {"window": 30},
        {"loss": "novelty", "alpha": 0.2},
        {"loss": "squared_error", "max_blocks": 2, "operator": True},
    ],
    ids=str,
)
def test_later_steps_leave_a_solution_as_it_is(options):
    options = {"loss": "log_loss", "max_blocks": 3, **options}
    X, y = rows_and_labels(options["loss"])
    solver = solver_of(X, y, **options)
    solver.advance(9)
    solution = solver.solution()
    before = copy.deepcopy(solution)
    solver.advance(4)
    equal_states(solution, before)


@pytest.mark.parametrize(
    "before, after, first_averaged",
    [
        ({"average": "weighted"}, {"average": "all"}, 9),
        ({"average": "all"}, {"average": "tail"}, 9),
        ({"average": "tail"}, {"average": "tail", "average_from": 11}, 11),
        ({"average": "all"}, {"average": "last"}, 14),
    ],
    ids=str,
)
def test_an_average_of_another_kind_begins_anew(before, after, first_averaged):
    """Iterates up to the change do not count: the weights of some kinds are far larger than those of others."""
    X, y = rows_and_labels(n=80)
    plain, first = solver_of(X, y, average="last"), solver_of(X, y, **before)
    first.advance(7)
    solver = solver_of(X, y, initial=first.solution(), **after)
    solver.advance(6)
    iterates = []
    for _ in range(13):
        iterates.append(np.concatenate([plain.A, np.zeros((13 - len(plain.A), 8, 1))]))
        plain.advance(1)
    iterates.append(plain.A)
    np.testing.assert_allclose(solver.solution().coef, np.mean(iterates[first_averaged - 1 : max(13, first_averaged)],
                                                               axis=0), atol=1e-13)  # fmt: skip


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize(
    "options",
    [{"average": "tail"}, {"average": "tail", "average_from": 2}, {"average": "all"}, {"average": "weighted"}],
    ids=str,
)
def test_the_first_step_of_an_average_that_begins_anew_has_an_effect(options, twin):
    """The average was the iterate before it."""
    X, y = rows_and_labels(n=80)
    first = solver_of(X, y, twin)
    first.advance(7)
    plain, averaged = (solver_of(X, y, twin, initial=first.solution(), **more) for more in ({}, options))
    plain.advance(1), averaged.advance(1)
    np.testing.assert_array_equal(averaged.solution().coef, plain.A)


@pytest.mark.parametrize("precondition", [False, True])
def test_kept_outputs_change_rounding_only(precondition):
    X, y = rows_and_labels("log_loss")
    kept, anew = (solver_of(X, y, loss="log_loss", precondition=precondition, max_blocks=6, cache_size=size)
                  for size in (10, 1e-4))  # fmt: skip
    kept.advance(15), anew.advance(15)
    assert "outputs" in kept.solution().state and "outputs" not in anew.solution().state
    np.testing.assert_allclose(kept.A, anew.A, rtol=0, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"window": 30}], ids=str)
def test_outputs_are_those_of_the_coefficients_after_ctrl_c(options, monkeypatch):
    X, y = rows_and_labels("log_loss")
    solver = solver_of(X, y, loss="log_loss", **options)
    solver.advance(9)
    multiply = solver.features.multiply

    def interrupted(*args):
        if len(args) == 5:  # outputs are brought up to date
            raise KeyboardInterrupt
        return multiply(*args)

    with monkeypatch.context() as patch:
        patch.setattr(solver.features, "multiply", interrupted)
        with pytest.raises(KeyboardInterrupt):
            solver.advance(1)
    assert np.isfinite(solver.solution().coef).all()
    solver.advance(2)
    np.testing.assert_allclose(solver.solution().state["outputs"], solver.outputs(X), rtol=0, atol=1e-12)
    if options:
        assert len(solver.recent.batch) <= 30
        np.testing.assert_allclose(solver.recent.f, solver.outputs(solver.recent.batch.X), rtol=0, atol=1e-12)


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


def test_a_step_of_the_level_with_a_window_is_one_on_the_latest_rows():
    X, _ = rows_and_labels("novelty", n=32)
    options = {"loss": "novelty", "alpha": 0.2, "shuffle": False}
    solver = solver_of(X, None, window=24, **options)
    solver.advance(1)
    start = Solution(solver.A.copy(), -solver.loss.parameter, 1)
    other = solver_of(X[8:], None, batch_size=24, initial=start, **options)
    other.seed = solver.seed
    solver.advance(1), other.advance(1)
    assert solver.loss.parameter == pytest.approx(other.loss.parameter, rel=1e-12)


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
    weights = np.random.default_rng(0).uniform(0.5, 2, size=60)
    solver = solver_of(X, y, loss="squared_error", weights=weights, shuffle=False)
    assert solver.objective() == pytest.approx(0.5 * np.mean(weights[:16] * y[:16] ** 2))


def test_the_objective_of_a_second_pass_has_no_losses_of_the_first():
    X, y = rows_and_labels("squared_error", n=48)
    solver = solver_of(X, y, loss="squared_error", shuffle=False, alpha=0.0)
    solver.advance(3)
    f = solver.outputs(X[:16])[:, 0]
    solver.advance(1)
    assert solver.objective() == pytest.approx(0.5 * np.mean((f - y[:16]) ** 2), rel=1e-12)


def test_the_objective_of_novelty_has_the_level():
    X, _ = rows_and_labels("novelty", n=16)
    solver = solver_of(X, None, loss="novelty", alpha=0.2)
    solver.advance(5)
    losses = np.maximum(0.0, solver.loss.parameter - solver.outputs(X)[:, 0])
    solver.advance(1)
    expected = losses.mean() + 0.1 * len(solver.A) * np.sum(solver.A**2) - 0.2 * solver.loss.parameter
    assert solver.objective() == pytest.approx(expected, rel=1e-12)


# --- bad input


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_steps_that_diverge_are_stopped(twin):
    X, y = rows_and_labels("squared_error")
    solver = solver_of(X, y, twin, loss="squared_error", step_size=1e4, alpha=1e-8)
    with pytest.raises(ValueError, match="step_size=10000 with schedule='bounded' diverges.*Lower step_size"):
        solver.advance(10)
    assert solver.n_iter < 10
    assert np.all(np.isfinite(solver.solution().coef))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rare", [range(32, 36), range(4)], ids=["later", "first"])
def test_rare_large_targets_are_no_divergence(rare, weighted):
    """The first batch, or those after it, has targets of 0 only: the losses of batches differ, not the steps."""
    X, y = rows_and_labels("squared_error", n=96)
    y = np.where(np.isin(np.arange(96), rare), 3000.0, 0.0)
    weights = np.random.default_rng(0).uniform(0.5, 2, size=96) if weighted else None
    solver = solver_of(X, y, loss="squared_error", weights=weights, shuffle=False, n_passes=1)
    assert solver.advance(6) == 6 and np.isfinite(solver.objective())


@pytest.mark.parametrize(
    "options, message",
    [
        ({"alpha": -1.0}, "alpha must be .* at least 0"),
        ({"loss": "softmax"}, "n_outputs of at least 2"),
        ({"loss": "novelty", "alpha": 1.0}, r"share of outliers, in \(0, 1\)"),
        ({"schedule": "bound"}, "unknown schedule 'bound'; did you mean 'bounded'"),
        ({"average": "most"}, "unknown average"),
        ({"average": "tail", "average_from": "5"}, "average_from must be a positive integer"),
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


def test_the_window_of_a_stream_survives_ctrl_c(monkeypatch):
    X, y = rows_and_labels("log_loss", n=100)
    options = {"loss": "log_loss", "window": 30, "precondition": True}
    solver = solver_on(stream_of(X, y), **options)
    solver.advance(3)
    rows, update = solver.recent.batch.X, solver._update

    def interrupted(*args):
        update(*args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(solver, "_update", interrupted)
        with pytest.raises(KeyboardInterrupt):
            solver.advance(1)
    np.testing.assert_array_equal(solver.recent.batch.X, rows)
    other = solver_on(stream_of(X[64:], y[64:]), initial=solver.solution(), **options)
    for one in (solver, other):
        one.advance(1)
        assert len(one.recent.batch) == 30
        np.testing.assert_allclose(one.recent.f, one.outputs(one.recent.batch.X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("stage", ["_sums", "_preconditioned"])
def test_a_step_that_fails_leaves_the_window_as_it_was(stage, monkeypatch):
    X, y = rows_and_labels("log_loss", n=100)
    options = {"loss": "log_loss", "window": 30, "precondition": True}
    solver = solver_on(stream_of(X, y), **options)
    solver.advance(3)
    rows = solver.recent.batch.X
    call = getattr(solver, stage)

    def failing(*args):
        call(*args)
        raise ValueError("singular")

    with monkeypatch.context() as patch:
        patch.setattr(solver, stage, failing)
        with pytest.raises(ValueError, match="singular"):
            solver.advance(1)
    np.testing.assert_array_equal(solver.recent.batch.X, rows)
    other = solver_on(stream_of(X[64:], y[64:]), initial=solver.solution(), **options)
    other.advance(1)
    np.testing.assert_allclose(other.recent.f, other.outputs(other.recent.batch.X), rtol=0, atol=1e-12)
