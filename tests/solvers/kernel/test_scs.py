"""Stochastic conjugate subgradients and Wolfe's method: worked numbers, and invariants of every step."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernbench.kernels import Gaussian, Linear
from kernbench.kernels.functions import Precomputed
from kernbench.kernels.rows import KernelRows
from kernbench.problems.kernel.conjugate import smallest_norm
from kernbench.problems.streaming.samples import RowSource
from kernbench.reference.kernel.conjugate import scs as reference_core
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.registry import get

SCS, Wolfe = get("scs").load(), get("wolfe").load()


@pytest.fixture(scope="module")
def sheet():
    """The sheet's reference problem: X, y, optimum by alpha."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 4))
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=3000))
    X, y = X[:600], y[:600]
    Q = Gaussian(1.0)(X, X)
    return X, y, {1.0: 1 - y @ Q @ y / (2 * 600**2), 0.01: 0.641330}


def on(sheet, solver=SCS, **options):
    X, y, _ = sheet
    options = {"alpha": 0.01, "fit_intercept": False, "random_state": 0, **options}
    if solver is Wolfe:
        options.pop("random_state")
    return solver(KernelRows(X, Gaussian(1.0), dtype=np.float64), y, **options)


# --- worked numbers


@pytest.mark.parametrize(
    "a, b, share, shortest",
    [((3, 0), (0, 4), 0.64, (1.92, 1.44)), ((1, 1), (3, 1), 1.0, (1, 1)), ((2, 5), (2, 5), 0.0, (2, 5))],
)
def test_shortest_vector_of_two(a, b, share, shortest):
    a, b = np.array(a, float), np.array(b, float)
    mu = smallest_norm(a @ a, b @ b, a @ b)
    assert mu == pytest.approx(share)
    np.testing.assert_allclose(mu * a + (1 - mu) * b, shortest)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_tiny_problem(twin):
    Q, y = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([1.0, -1.0])
    rows = {"compiled": KernelRows, "reference": ReferenceRows}[twin]
    solver = get("scs").load(twin)(rows(Q, Precomputed(), dtype=np.float64), y, alpha=1.0, fit_intercept=False, s0=2,
                                   geometry="euclidean", random_state=0)  # fmt: skip
    assert solver.objective() == 1.0
    solver.advance(1)
    direction = solver.solution().state["direction"][np.argsort(solver.sample)]
    np.testing.assert_allclose(direction, [0.25, -0.25])
    solver.advance(60)
    assert solver.objective() == pytest.approx(0.875, abs=1e-9)
    np.testing.assert_allclose(solver.solution().coef, [0.5, -0.5], atol=1e-4)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_tiny_problem_elsewhere(twin):
    Q, y = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([1.0, -1.0])
    rows = {"compiled": KernelRows, "reference": ReferenceRows}[twin](Q, Precomputed(), dtype=np.float64)
    begun = get("wolfe").load(twin)(rows, y, alpha=1.0, fit_intercept=False, initial=Solution(np.array([0.3, -0.1])))
    assert begun.objective() == pytest.approx(0.935, abs=1e-14)
    solver = get("wolfe").load(twin)(rows, y, alpha=0.1, fit_intercept=False)
    solver.advance(200)  # both margins of the optimum are 1: it lies on two kinks
    assert solver.objective() == pytest.approx(0.2, abs=1e-6)
    np.testing.assert_allclose(solver.solution().coef, [2.0, -2.0], atol=1e-3)


def test_start_of_the_reference_problem_is_the_closed_form(sheet):
    assert sheet[2][1.0] == pytest.approx(0.994120, abs=5e-7)


# Required accuracy on the reference problem: alpha, geometry, iterations, excess.
RUNS = [
    (1.0, "rkhs", 300, 1e-5),
    (1.0, "euclidean", 300, 1e-4),
    (0.01, "rkhs", 400, 5e-4),
    (0.01, "euclidean", 600, 2e-3),
]


@pytest.mark.parametrize("line_search", ["exact", "bracket"])
@pytest.mark.parametrize("alpha, geometry, n_iter, excess", RUNS)
def test_reference_runs(alpha, geometry, n_iter, excess, line_search, sheet):
    solver = on(sheet, alpha=alpha, geometry=geometry, line_search=line_search)
    solver.advance(n_iter)
    assert -1e-6 <= solver.objective() - sheet[2][alpha] <= excess
    assert solver.gap() >= solver.objective() - sheet[2][alpha] - 1e-6


def test_a_short_direction_at_the_smallest_radius_ends_the_run(sheet):
    solver = on(sheet, alpha=1.0, eps=1e-3)
    assert solver.advance(300) == solver.n_iter < 300
    assert solver.converged and solver.radius == 1e-3 and solver.advance(5) == 0
    assert solver.objective() - sheet[2][1.0] < 1e-5
    assert not on(sheet, alpha=1.0).advance(300) < 300  # its gap is certified: a tolerance of that is the rule


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_a_first_direction_that_is_short_as_features_are_tiny_is_no_convergence(twin, sheet):
    X = sheet[0][:300]
    rows = {"compiled": KernelRows, "reference": ReferenceRows}[twin]
    rows = rows(2.0**-20 * X, Linear(), dtype=np.float64)
    solver = get("scs").load(twin)(rows, np.sign(X[:, 0]), alpha=1e-14, random_state=0, sample_cap=60)
    result = driver.run(solver, max_iter=100, tol=1e-3)
    assert result.n_iter < 20 and result.status == "stagnated"


def test_wolfe_ends_after_one_step_where_the_closed_form_holds(sheet):
    for options in ({}, {"line_search": "bracket"}, {"bundle_size": 5}):
        solver = on(sheet, Wolfe, alpha=1.0, **options)
        solver.advance(10)
        assert solver.n_iter <= 2 and solver.converged
        assert solver.objective() == pytest.approx(sheet[2][1.0], abs=1e-12)


@pytest.mark.parametrize("geometry", ["rkhs", "euclidean"])
@pytest.mark.parametrize("bundle_size", [2, 4])
def test_wolfe_approaches_the_optimum(geometry, bundle_size, sheet):
    solver = on(sheet, Wolfe, geometry=geometry, bundle_size=bundle_size)
    excess = []
    for _ in range(3):
        solver.advance(100)
        excess.append(solver.objective() - sheet[2][0.01])
    assert -1e-6 <= excess[2] < excess[0] < 0.1
    assert excess[2] < {"rkhs": 5e-3, "euclidean": 3e-2}[geometry]
    assert solver.gap() >= excess[2] - 1e-6


# --- misprints


def test_the_printed_sign_stops_at_once(sheet):
    def turn(work, started):
        if not started:
            reference_core.turn(work, False)
            work.direction[:] *= -1.0  # the subgradient
        return reference_core.turn(work, True)

    X, y, _ = sheet
    core = SimpleNamespace(**{**vars(reference_core), "turn": turn})
    solver = SCS(ReferenceRows(X[:100], Gaussian(1.0)), y[:100], alpha=1.0, fit_intercept=False, random_state=0,
                 core=core)  # fmt: skip
    solver.advance(1)
    assert not solver.solution().state["direction"].any()
    assert not solver.solution().coef.any()


class Printed(SCS):
    """Judges a step by the opposite inequality."""

    def _accepts(self, t, length):
        predicted = self.core.predict(self.work, t)
        return predicted <= self.eta1 * self.core.judge(self.work, self.source.validation(self.work.size), t)


def test_the_printed_acceptance_test_takes_every_step_and_ends_worse(sheet):
    X, y, _ = sheet
    runs = []
    for method in (SCS, Printed):
        solver = method(ReferenceRows(X[:120], Gaussian(1.0)), y[:120], alpha=1.0, fit_intercept=False,
                        random_state=0, geometry="euclidean", line_search="bracket", core=reference_core)  # fmt: skip
        solver.advance(120)
        runs.append((solver.n_accepted / solver.n_iter, solver.objective()))
    (repaired, good), (taken, bad) = runs
    assert repaired < 0.8 and taken > 0.95
    assert bad > good + 1e-4


# --- invariants of a run


@pytest.mark.parametrize("geometry", ["rkhs", "euclidean"])
@pytest.mark.parametrize("validation", ["redraw", "holdout"])
def test_every_iteration_keeps_the_invariants(geometry, validation, sheet):
    X, y, _ = sheet
    X, y = X[:300], y[:300]
    solver = SCS(KernelRows(X, Gaussian(1.0), dtype=np.float64), y, alpha=0.01, random_state=1, geometry=geometry,
                 validation=validation, sample_cap=200)  # fmt: skip
    K, radius, accepted, before = Gaussian(1.0)(X, X), 0.5, 0, solver.sample_objective()
    for _ in range(120):
        size = len(solver.sample)
        solver.advance(1)
        state = solver.solution().state
        np.testing.assert_array_equal(solver.sample[:size], state["sample"].astype(int)[:size])
        assert len(set(solver.sample.tolist())) == len(solver.sample) <= 200
        assert not np.intersect1d(solver.sample, state["held_out"].astype(int)).size
        moved = solver.n_accepted > accepted
        assert solver.radius == (min(2 * radius, 8.0) if moved else max(radius / 2, 1e-3))
        if len(solver.sample) == size:
            after = solver.sample_objective()
            assert after < before if moved else after == pytest.approx(before, rel=1e-12)
        radius, accepted, before = solver.radius, solver.n_accepted, solver.sample_objective()
        exact = K[np.ix_(solver.sample, solver.sample)] @ state["sample_coef"]
        np.testing.assert_allclose(solver.responses(), exact, rtol=0, atol=1e-10 * max(1, np.abs(exact).max()))
    # A hold-out sample ends the run early: steps that do not help on it are rejected forever.
    assert (10 if validation == "redraw" else 0) < solver.n_accepted < 110


def test_directions_shorten_while_the_sample_stays(sheet):
    solver = on(sheet, s0=600, growth=0)
    Q, lengths = Gaussian(1.0)(sheet[0], sheet[0]), []
    for _ in range(40):
        solver.advance(1)
        state = solver.solution().state
        d = np.zeros(600)
        d[solver.sample] = state["direction"]
        lengths.append(np.sqrt(d @ Q @ d))
    assert np.all(np.diff(lengths) <= 1e-12)


def test_same_seed_same_run(sheet):
    coefs = []
    for _ in range(2):
        solver = on(sheet, sample_cap=200)
        solver.advance(80)
        coefs.append(solver.solution().coef)
    np.testing.assert_array_equal(*coefs)
    assert on(sheet, sample_cap=200, random_state=1).solution().state["sample"].tolist() != solver.sample[:50].tolist()


def test_more_rows_than_the_cap_are_sampled_and_not_certified(sheet):
    solver = on(sheet, sample_cap=100)
    result = driver.run(solver, max_iter=60, tol=1e-9)
    assert result.gap is None and np.count_nonzero(result.solution.coef) <= 100
    assert result.objective_of_sample == solver.sample_objective() and result.objective > 0
    assert solver.sample_gap() > 0
    # The cost of a run depends on the sample, not on the number of rows.
    assert result.n_kernel_evaluations <= 100**2 + 61 * 100**2


def test_kernel_values_do_not_grow_with_the_data():
    counts = []
    for n in (2000, 8000):  # beyond those whose responses are all kept
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 3))
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
        solver = SCS(KernelRows(X, Gaussian(1.0)), y, alpha=0.01, random_state=0, sample_cap=150, eps=0.0)
        solver.advance(30)
        counts.append(solver.n_kernel_evaluations)
    assert counts[1] == pytest.approx(counts[0], rel=0.2)


def test_sample_objectives_are_right_in_expectation():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(80, 2)), rng.integers(0, 4, 80).astype(float)
    y = np.where(X[:, 0] + rng.normal(size=80) > 0, 1.0, -1.0)
    weights[:2], y[:2] = 1.0, (1.0, -1.0)
    rows, coef = ReferenceRows(X, Gaussian(1.0)), 0.3 * y
    f = rows.matvec(coef)
    loss = weights @ np.maximum(0, 1 - y * f) / 80
    values = []
    for seed in range(2000):
        source = RowSource(rows, y, alpha=1.0, weights=weights, random_state=seed)
        ids = source.fresh(20)
        assert len(set(ids.tolist())) == 20 and np.all(weights[ids] > 0)
        values.append(source.share * weights[ids] @ np.maximum(0, 1 - y[ids] * f[ids]) / 20)
    error = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values) - loss) < 5 * error  # more with probability 6e-7


def test_the_first_sample_has_both_classes():
    y = np.full(200, 1.0)
    y[150] = -1.0
    rows = ReferenceRows(np.arange(200.0)[:, None], Gaussian(1.0))
    for seed in range(5):
        source = RowSource(rows, y, alpha=1.0, random_state=seed)
        ids = source.fresh(10, both_classes=True)
        assert 150 in ids and len(set(ids.tolist())) == 10
        assert 150 not in source.fresh(190) and source.n_left == 0


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"geometry": "rhks"}, "did you mean 'rkhs'"),
        ({"line_search": "armijo"}, "line_search"),
        ({"validation": "hold-out"}, "did you mean 'holdout'"),
        ({"c1": 0.5}, "c1 < c2"),
        ({"c1": "0.2"}, "c1 must be a positive number below 1, got '0.2'"),
        ({"c2": None}, "c2 must be a positive number below 1"),
        ({"delta_min": 2.0}, "delta_min <= delta_0"),
        ({"gamma": 1.0}, "gamma"),
        ({"gamma": "2"}, "gamma must be a number above 1, got '2'"),
        ({"eta1": 1.0}, "eta1"),
        ({"eta1": "0.1"}, "eta1 must be a positive number below 1"),
        ({"s0": 1}, "s0"),
        ({"s0": 300, "sample_cap": 200}, "lower s0"),
        ({"growth": -1}, "growth"),
        ({"eps": np.nan}, "eps"),
        ({"loss": "log_loss"}, "hinge"),
    ],
)
def test_bad_options_are_refused(options, sentence, sheet):
    with pytest.raises(ValueError, match=sentence):
        on(sheet, **options)


@pytest.mark.parametrize("options, sentence", [({"bundle_size": 1}, "bundle_size"), ({"geometry": "l2"}, "geometry"),
                                               ({"c1": "0.2"}, "c1 must be a positive number")])  # fmt: skip
def test_bad_options_of_wolfe_are_refused(options, sentence, sheet):
    with pytest.raises(ValueError, match=sentence):
        on(sheet, Wolfe, **options)


@pytest.mark.parametrize("line_search", ["exact", "bracket"])
@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_wolfe_ends_where_the_objective_has_no_minimum_along_a_direction(twin, line_search):
    rows = {"compiled": KernelRows, "reference": ReferenceRows}[twin]
    rows = rows(-np.eye(2), Precomputed(), dtype=np.float64)
    options = {"alpha": 1.0, "fit_intercept": False, "geometry": "euclidean", "line_search": line_search}
    solver = get("wolfe").load(twin)(rows, np.array([1.0, -1.0]), **options)
    result = driver.run(solver, max_iter=5)
    assert result.status == "diverged" and "not positive semi-definite" in result.message


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_a_sample_of_which_no_row_of_a_class_has_a_weight_any_more_is_drawn_anew(twin, sheet):
    X, y, _ = sheet
    rows = {"compiled": KernelRows, "reference": ReferenceRows}[twin]
    options = {"alpha": 0.1, "sample_cap": 20, "s0": 10, "random_state": 0}

    def solver(**more):
        return get("scs").load(twin)(rows(X[:200], Gaussian(1.0), dtype=np.float64), y[:200], **options, **more)

    first = solver()
    first.advance(2)
    for gone in (first.sample, first.sample[y[first.sample] > 0]):
        weights = np.ones(200)
        weights[gone] = 0.0
        again = solver(weights=weights, initial=first.solution())
        again.advance(2)
        assert np.isfinite(again.objective()) and np.isfinite(again.solution().intercept)
        assert len(set(y[again.sample])) == 2


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_a_start_from_coefficients_of_one_class_has_an_intercept(twin, sheet):
    X, y, _ = sheet
    rows = {"compiled": KernelRows, "reference": ReferenceRows}[twin]
    coef = np.where((y[:200] > 0) & (np.arange(200) < 60), 0.1, 0.0)
    solver = get("scs").load(twin)(rows(X[:200], Gaussian(1.0), dtype=np.float64), y[:200], alpha=0.1, sample_cap=20,
                                   s0=10, random_state=0, initial=Solution(coef))  # fmt: skip
    assert np.isfinite(solver.solution().intercept) and len(set(y[solver.sample])) == 2
    assert len(solver.sample) == 20


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize("name", ["scs", "wolfe"])
def test_objectives_do_not_depend_on_the_unit_of_the_kernel(name, twin, sheet):
    """With the kernel times 2^200, as of a polynomial of unscaled columns, and alpha, too, the problem is the same."""
    X, y, _ = sheet
    Q, rows, found = Gaussian(1.0)(X[:60], X[:60]), {"compiled": KernelRows, "reference": ReferenceRows}[twin], []
    for unit in (1.0, 2.0**200):
        solver = get(name).load(twin)(rows(unit * Q, Precomputed(), dtype=np.float64), y[:60], alpha=0.01 * unit,
                                      random_state=0)  # fmt: skip
        solver.advance(100)
        found.append(solver.objective())
    assert found[1] == pytest.approx(found[0], rel=0.02)


@pytest.mark.parametrize("name", ["sbp", "wolfe"])
def test_labels_may_be_read_only_or_strided(name, sheet):
    X, y, _ = sheet
    found = []
    for labels in (y[:100], np.repeat(y[:100], 2)[::2], y[:100].copy()):
        labels.flags.writeable = len(found) < 2
        solver = get(name).load()(KernelRows(X[:100], Gaussian(1.0)), labels, alpha=0.1, random_state=0)
        solver.advance(5)
        found.append(solver.solution().coef)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_the_row_that_another_class_displaces_is_drawn_later():
    y = np.where(np.arange(40) == 7, 1.0, -1.0)
    source = RowSource(KernelRows(np.arange(40.0)[:, None], Gaussian(1.0)), y, alpha=1.0, random_state=0)
    first = source.fresh(5, both_classes=True)
    assert 7 in first and len(first) == 5 and source.n_left == 35
    np.testing.assert_array_equal(np.sort(np.concatenate([first, source.fresh(100)])), np.arange(40))
