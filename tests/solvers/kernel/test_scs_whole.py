"""Conjugate subgradients: when a run has converged, and the objective over all rows of what a sample gave."""

import numpy as np
import pytest

from kernbench import KernelSVC
from kernbench.kernels import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.problems.streaming.samples import RowSource
from kernbench.problems.streaming.stream_source import StreamSource
from kernbench.problems.whole_objective import Estimate
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers import driver
from kernbench.solvers.registry import get

ROWS = {"compiled": KernelRows, "reference": ReferenceRows}
by_twin = pytest.mark.parametrize("twin", ROWS)


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=1500) > 0, 1.0, -1.0)


def scs(twin, X, y, **options):
    options = {"alpha": 1 / len(y), "random_state": 0, **options}
    return get("scs").load(twin)(ROWS[twin](X, Gaussian(1.5), dtype=np.float64), y, **options)


def written_out(X, y, solution, weights=1.0):
    f = Gaussian(1.5)(X) @ solution.coef
    losses = weights * np.maximum(0, 1 - y * (f + solution.intercept))
    return 0.5 / len(y) * solution.coef @ f + losses.mean()


@by_twin
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("geometry", ["rkhs", "euclidean"])
def test_equal_rows_converge_by_the_gap(twin, tol, fit_intercept, geometry):
    """The shortest vector of the hull is zero immediately, which certifies nothing."""
    y = np.where(np.random.default_rng(0).normal(size=60) > 0.2, 1.0, -1.0)
    solver = scs(twin, np.ones((60, 3)), y, fit_intercept=fit_intercept, geometry=geometry)
    result = driver.run(solver, tol=tol, max_iter=300)
    assert not result.converged or result.gap <= tol * result.objective
    if not result.converged:  # the paper's geometry does not see that all rows are one
        assert geometry == "euclidean" and not fit_intercept
        return
    expected = 2 * min((y > 0).mean(), (y < 0).mean())  # the loss of a constant
    assert result.objective == pytest.approx(expected, rel=2 * tol, abs=0 if fit_intercept else 0.02)


def test_the_estimator_of_equal_rows_says_what_the_gap_says():
    y = np.where(np.random.default_rng(0).normal(size=60) > 0.2, 1, -1)
    model = KernelSVC(solver="scs", tol=1e-6, random_state=0).fit(np.ones((60, 3)), y)
    assert model.converged_ and model.duality_gap_ <= 1e-6 * model.objective_


@by_twin
def test_the_objective_of_few_rows_is_that_of_all(twin, noisy):
    X, y = noisy[0][:120], noisy[1][:120]
    solver = scs(twin, X, y)
    solver.advance(20)
    assert not solver.is_sampled and solver.whole_objective() == Estimate(solver.objective(), 0.0)
    assert solver.objective() == pytest.approx(written_out(X, y, solver.solution()), rel=1e-9)


@by_twin
@pytest.mark.parametrize("n_iter", [2, 12])
def test_rows_without_weight_do_not_count_towards_the_cap(twin, n_iter, noisy):
    """A run on them and the others has the certificate of one on the others."""
    X, y, used = noisy[0][:120], noisy[1][:120], np.arange(120) % 2 == 0
    options = {"sample_cap": 60, "s0": 9, "growth": 7, "random_state": 0}
    whole = scs(twin, X, y, weights=used.astype(float), alpha=0.01, **options)
    part = scs(twin, X[used], y[used], alpha=0.02, **options)
    whole.advance(n_iter), part.advance(n_iter)
    assert not whole.is_sampled and whole.eps == part.eps == 0.0
    assert whole.objective() == pytest.approx(part.objective() / 2, rel=1e-9)
    assert whole.gap() == pytest.approx(part.gap() / 2, rel=1e-6)


@by_twin
@pytest.mark.parametrize("validation", ["redraw", "holdout"])
def test_the_objective_of_few_rows_is_that_of_the_solution(twin, validation, noisy):
    """Also while the sample lacks some of them: the intercept is the best for all."""
    X, y = noisy[0][:120], noisy[1][:120]
    solver = scs(twin, X, y, validation=validation, s0=5, growth=3)
    for _ in range(3):
        solver.advance(4)
        assert not solver.source.complete(solver.sample)
        assert solver.objective() == pytest.approx(written_out(X, y, solver.solution()), rel=1e-9)


def resumed(twin, X, y, seed, *, weights=None, **options):
    """A run of 40 iterations, one that resumes it after 25 with other weights, and the sample there."""
    rng = np.random.default_rng(seed)
    whole = scs(twin, X, y, random_state=np.random.default_rng(seed), **options)
    part = scs(twin, X, y, random_state=rng, **options)
    whole.advance(40)
    part.advance(25)
    rest = scs(twin, X, y, random_state=rng, weights=weights, initial=part.solution(), **options)
    rest.advance(15)
    return whole, rest, part.sample


@by_twin
def test_a_run_resumes_where_all_rows_of_a_class_are_held_out(twin, noisy):
    X, y = noisy[0][:60], np.where(np.arange(60) == 7, 1.0, -1.0)
    held_out = 0
    for seed in range(12):
        whole, rest, _ = resumed(twin, X, y, seed, validation="holdout", s0=5)
        held_out += 7 in whole.held_out
        np.testing.assert_allclose(rest.solution().coef, whole.solution().coef, rtol=1e-8, atol=1e-12)
    assert held_out > 0


@by_twin
def test_rows_that_were_held_out_may_join_the_sample_of_a_run_that_redraws(twin, noisy):
    X, y, options = noisy[0][:60], noisy[1][:60], {"s0": 5, "growth": 20}
    first = scs(twin, X, y, validation="holdout", **options)
    first.advance(10)
    assert len(first.held_out) == 12 and len(first.sample) == 48
    rest = scs(twin, X, y, validation="redraw", initial=first.solution(), **options)
    assert len(rest.held_out) == 0 and rest.n_iter == 10
    rest.advance(10)
    assert sorted(rest.sample) == list(range(60))
    assert rest.objective() == pytest.approx(written_out(X, y, rest.solution()), rel=1e-9)


@by_twin
def test_rows_that_lose_their_weight_leave_the_sample_of_a_resumed_run(twin, noisy):
    X, y = noisy[0][:120], noisy[1][:120]
    weights = np.where(np.arange(120) % 5 == 0, 0.0, 1.0)
    _, rest, sample = resumed(twin, X, y, 0, weights=weights)
    assert (weights[sample] == 0).any() and not rest.solution().coef[weights == 0].any()
    assert rest.objective() == pytest.approx(written_out(X, y, rest.solution(), weights), rel=1e-9)


@by_twin
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_exact_where_all_responses_are_known(twin, weighted, noisy):
    X, y = noisy[0][:600], noisy[1][:600]
    weights = np.random.default_rng(1).integers(0, 3, 600).astype(float) if weighted else np.ones(600)
    solver = scs(twin, X, y, sample_cap=100, weights=weights)
    solver.advance(40)
    count = solver.n_kernel_evaluations
    estimate = solver.whole_objective()
    assert twin == "reference" or solver.n_kernel_evaluations == count
    assert solver.is_sampled and estimate.error == 0.0
    assert estimate.value == pytest.approx(written_out(X, y, solver.solution(), weights), rel=1e-9)
    assert estimate.value > solver.objective() and estimate.is_above(solver.objective())


@by_twin
@pytest.mark.parametrize("options", [{"sample_cap": 100}, {"sample_cap": 200, "validation": "holdout"}])
def test_it_is_estimated_on_rows_outside_the_sample(twin, options, noisy):
    X, y = noisy
    errors = []
    for seed in range(12 if twin == "compiled" else 3):
        solver = scs(twin, X, y, random_state=seed, **options)
        solver.advance(30)
        estimate = solver.whole_objective()
        assert 0 < estimate.error < 0.2 * estimate.value
        errors.append((estimate.value - written_out(X, y, solver.solution())) / estimate.error)
    assert np.abs(errors).max() < 4 and np.abs(errors).max() > 0.1


@pytest.mark.parametrize("sample_cap", [100, 300])
def test_twins_agree(sample_cap, noisy):
    found = []
    for twin in ROWS:
        solver = scs(twin, *noisy, sample_cap=sample_cap)
        solver.advance(25)
        found.append(solver.whole_objective())
    assert found[0].value == pytest.approx(found[1].value, rel=1e-8)
    assert found[0].error == pytest.approx(found[1].error, rel=1e-6)


@by_twin
def test_asking_changes_no_iterate(twin, noisy):
    asked, not_asked = (scs(twin, *noisy, sample_cap=100) for _ in range(2))
    for _ in range(5):
        asked.advance(4)
        not_asked.advance(4)
        asked.whole_objective()
    np.testing.assert_array_equal(asked.solution().coef, not_asked.solution().coef)


def test_what_is_no_more_than_the_error_is_not_above():
    assert not Estimate(1.02, 0.01).is_above(1.0) and Estimate(1.04, 0.01).is_above(1.0)
    assert not Estimate(1.005, 0.0).is_above(1.0) and Estimate(1.02, 0.0).is_above(1.0)
    assert not Estimate(0.5, 0.0).is_above(1.0)


def test_rows_outside_a_sample(noisy):
    X, y = noisy[0][:50], noisy[1][:50]
    weights = np.ones(50)
    weights[[3, 4]] = 0.0
    source = RowSource(ReferenceRows(X, Gaussian(1.0)), y, alpha=1.0, weights=weights, random_state=0)
    sample = source.fresh(20)
    outside = source.outside(sample)
    assert len(outside) == source.n_outside(20) == 28
    assert not np.intersect1d(outside, [*sample, 3, 4]).size
    few = source.outside(sample, 10)
    assert len(set(few.tolist())) == 10 and np.isin(few, outside).all()


class Reader:
    known_as_whole = False

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def take(self, count):
        X = self.rng.normal(size=(count, 2))
        return X, np.where(X[:, 0] > 0, 1.0, -1.0), np.ones(count)

    def redraw(self, count):
        return None


@pytest.mark.parametrize("core", ["compiled", "reference"])
def test_a_sample_of_sparse_rows_is_that_of_dense_ones(core):
    def solved(is_sparse):
        source = StreamSource(Gaussian(1.0), Reader(), 40, 2, np.float64, np.random.default_rng(0), is_sparse)
        solver = get("scs").load()(source, None, alpha=0.01, s0=10, growth=5, sample_cap=40, core=core)
        solver.advance(15)
        return solver.solution()

    np.testing.assert_allclose(solved(True).coef, solved(False).coef, rtol=1e-9)


def test_outside_the_sample_of_a_stream_is_recent():
    source = StreamSource(Gaussian(1.0), Reader(), 40, 2, np.float64, np.random.default_rng(0))
    solver = get("scs").load()(source, None, alpha=0.01, s0=10, growth=5, sample_cap=40)
    solver.advance(15)
    outside = source.outside(solver.sample)
    assert len(outside) == source.n_recent and not np.intersect1d(outside, solver.sample).size
    assert source.n_outside(len(solver.sample)) == source.n_seen - len(solver.sample)
    estimate = solver.whole_objective()
    assert solver.is_sampled and estimate.error > 0 and np.isfinite(estimate.value)
