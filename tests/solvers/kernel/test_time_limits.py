"""Runs that have used up their time: a gap at no cost, and iterations that can be interrupted and resumed."""

import signal
import threading
from time import perf_counter, sleep

import numpy as np
import pytest

from kernbench.kernels import Callable, Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.solvers.method import CostlyGap
from kernbench.solvers.registry import get

PRODUCT_FOR_A_GAP = ("pegasos", "norm-ball-sgd", "perceptron", "norma", "sbp", "wolfe")
by_name = pytest.mark.parametrize("name", PRODUCT_FOR_A_GAP)


@by_name
@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_the_known_gap_is_a_certificate_and_costs_no_kernel_values(name, twin, classification, build):
    problem = classification(60, seed=3, weighted=True)
    solver = build(get(name), twin, problem)
    solver.advance(40)
    before = solver.n_kernel_evaluations
    assert solver.known_gap() == solver.objective()  # losses are not negative: the only bound at first
    assert solver.n_kernel_evaluations == before
    gap = solver.gap()
    assert solver.known_gap() == pytest.approx(gap, rel=1e-12)
    solver.advance(60 if name == "wolfe" else 300)
    before = solver.n_kernel_evaluations
    known = solver.known_gap()
    assert solver.n_kernel_evaluations == before
    best = build(get("smo"), "compiled", problem, tol=1e-9)
    best.advance(10**6)
    assert known >= solver.objective() - best.objective() - 1e-9
    assert min(known, solver.gap()) >= solver.known_gap()


@by_name
def test_a_gap_is_computed_once_for_each_iterate(name, classification):
    problem = classification(60, seed=3)
    rows = KernelRows(problem.X, problem.kernel, dtype=np.float64, cache_bytes=3 * 8 * 60)
    options = {} if name == "wolfe" else {"random_state": 0}
    solver = get(name).load()(rows, problem.y, alpha=1 / 60, **options)
    solver.advance(30)
    first = solver.gap()
    count = rows.n_evaluations
    assert solver.gap() == first and not solver.check(1e-12)
    assert rows.n_evaluations == count
    solver.advance(256)
    assert solver.gap() != first


def test_the_known_gap_is_that_of_the_best_bound_so_far():
    class Worsening(CostlyGap):
        def objective(self):
            return 1.0 + 0.1 * self.n_iter

        def _find_gap(self):
            return 0.2 + 0.3 * self.n_iter

    solver = Worsening(core=None)
    assert solver.gap() == 0.2 and solver.known_gap() == pytest.approx(0.2)
    solver.n_iter = 2
    assert solver.gap() == pytest.approx(0.8)
    assert solver.known_gap() == pytest.approx(0.4)


def test_with_a_slack_budget_no_gap_is_known(classification, build):
    problem = classification(40, seed=1)
    for twin in ("compiled", "reference"):
        rows = KernelRows(problem.X, problem.kernel)
        assert get("sbp").load(twin)(rows, problem.y, nu=0.1, random_state=0).known_gap() is None


@pytest.fixture(scope="module")
def many():
    """More rows than are added to the responses together."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=700) > 0, 1.0, -1.0)


def wolfe(X, y, kernel=None):
    rows = KernelRows(X, kernel or Gaussian(1.0), dtype=np.float64)
    return get("wolfe").load()(rows, y, alpha=0.01)


def test_iterations_broken_off_are_taken_up_again(many):
    """The same iterations, bit for bit, for any number of interruptions."""
    whole, pieces, calls = wolfe(*many), wolfe(*many), 0
    whole.advance(60)
    pieces.stop_at(perf_counter())
    while pieces.n_iter < 60:
        pieces.advance(60 - pieces.n_iter)
        calls += 1
        assert np.isfinite(pieces.objective()) and calls < 1000
        if pieces.n_iter == 50:  # here responses are added up anew, of which each call does as much as before
            pieces.stop_at(np.inf)
    assert calls > 3, "the first subgradient takes three batches of rows"
    np.testing.assert_array_equal(pieces.solution().coef, whole.solution().coef)
    assert pieces.objective() == whole.objective()


def test_an_interrupt_between_two_batches_of_rows_leaves_a_whole_state(many):
    X, y = many
    calls, at = [0], {2, 3}

    def interrupted(A, B):
        calls[0] += 1
        if calls[0] in at:
            raise KeyboardInterrupt
        return Gaussian(1.0)(A, B)

    solver, n_interrupts = wolfe(X, y, Callable(interrupted)), 0
    while solver.n_iter < 10:
        try:
            solver.advance(10 - solver.n_iter)
        except KeyboardInterrupt:
            n_interrupts += 1
    expected = wolfe(X, y)
    expected.advance(10)
    assert n_interrupts == 2
    np.testing.assert_allclose(solver.solution().coef, expected.solution().coef, rtol=1e-9, atol=1e-12)
    assert solver.objective() == pytest.approx(expected.objective(), rel=1e-12)


class Interrupted:
    """A Gaussian kernel function that Ctrl-C breaks off once, in `left` calls."""

    left = np.inf

    def __call__(self, A, B):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return Gaussian(1.0)(A, B)


def broken_off(name, at, n_iter, cached, X, y, **options):
    """Return a solver with a cache of few rows, interrupted at a call of the kernel, and whether it was."""
    kernel = Interrupted()
    rows = KernelRows(X, Callable(kernel), dtype=np.float64, cache_bytes=8 * cached * len(y))
    solver = get(name).load()(rows, y, alpha=0.001, **options)
    kernel.left = at
    try:
        solver.advance(n_iter)
    except KeyboardInterrupt:
        return solver, True
    return solver, False


@pytest.fixture
def few():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)


@pytest.mark.parametrize(
    "name, n_iter, options",
    [
        ("sdca", 150, {"fit_intercept": False, "random_state": 0}),
        ("sdca", 150, {"fit_intercept": False, "random_state": 0, "order": "uniform"}),
        ("sdca", 150, {"fit_intercept": True, "random_state": 0}),
        ("sdca", 150, {"fit_intercept": False, "random_state": 0, "batch_size": 20}),
        ("smo", 400, {"classic_rows": 0, "working_set_size": 8}),
    ],
)
def test_an_interrupt_of_the_kernel_leaves_the_responses_of_the_coefficients(name, n_iter, options, few):
    X, y = few
    K, n_interrupts = Gaussian(1.0)(X), 0
    for at in range(1, 40, 3):
        solver, interrupted = broken_off(name, at, n_iter, 6, X, y, **options)
        found, n_interrupts = solver.solution(), n_interrupts + interrupted
        responses = K @ found.coef
        exact = solver.problem.objective(responses, found.coef @ responses, found.intercept)
        assert solver.objective() == pytest.approx(exact, rel=1e-9)
    assert n_interrupts > 5


def test_draws_of_the_batch_perceptron_go_on_after_an_interrupt(few):
    X, y = few
    options = {"random_state": 0}
    whole, _ = broken_off("sbp", np.inf, 150, 10, X, y, **options)
    pieces, interrupted = broken_off("sbp", 40, 150, 10, X, y, **options)
    assert interrupted and 0 < pieces.n_iter < 150
    pieces.advance(150 - pieces.n_iter)
    np.testing.assert_allclose(pieces.work.dual(), whole.work.dual(), rtol=1e-12)


@pytest.mark.parametrize("name, coefficients", [("pegasos", "sums"), ("norma", "coef")])
@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_an_interrupt_after_the_rows_of_a_batch_leaves_whole_steps(name, coefficients, twin, build, classification):
    problem = classification(60, seed=3)
    solver = build(get(name), twin, problem, batch_size=8)
    add_rows, calls, n_whole = solver.walk.add_rows, 0, None

    class Walk:
        def __getattr__(self, key):
            return getattr(solver_walk, key)

        def add_rows(self, *given):
            nonlocal calls, n_whole
            add_rows(*given)
            calls, n_whole = calls + 1, solver.n_iter
            if calls == 3:
                raise KeyboardInterrupt  # Python delivers signals when a call returns

    solver_walk, solver.walk = solver.walk, Walk()
    with pytest.raises(KeyboardInterrupt):
        solver.advance(10)
    assert solver.n_iter == n_whole >= 2
    signed = solver.y * getattr(solver, coefficients)
    np.testing.assert_allclose(solver.responses, problem.kernel(problem.X) @ signed, rtol=1e-5, atol=1e-12)


def test_an_interrupt_of_the_kernel_leaves_whole_subgradients_in_the_bundle(few):
    X, y = few
    options, n_interrupts = {"geometry": "euclidean", "bundle_size": 4}, 0
    whole, _ = broken_off("wolfe", np.inf, 12, 6, X, y, **options)
    for at in range(20, 140, 7):
        pieces, interrupted = broken_off("wolfe", at, 12, 6, X, y, **options)
        pieces.advance(12 - pieces.n_iter)
        n_interrupts += interrupted
        np.testing.assert_allclose(pieces.coef, whole.coef, rtol=1e-6)
    assert n_interrupts > 5


@pytest.fixture
def product():
    """A call that multiplies the whole kernel matrix, in 16 batches of rows, and changes nothing."""
    X = np.random.default_rng(0).normal(size=(4000, 3))
    rows = KernelRows(X, Gaussian(1.0))
    solver = get("wolfe").load()(rows, np.sign(X[:, 0]), alpha=0.01, geometry="euclidean")
    solver.core.add_subgradient(solver.work, True, np.inf)
    return lambda: solver.core.add_subgradient(solver.work, True, np.inf)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer here")
def test_signals_are_handled_between_the_batches_of_a_product(product):
    """If they were handled after the last one only, all of them would be one."""
    handled = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: handled.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
        product()
        signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(handled) > 3


def test_other_threads_go_on_during_a_product(product):
    """With the lock of the interpreter held they would stop for nearly all of it. One of many will do: the system may
    be busy."""
    moments, done = [], threading.Event()

    def tick():
        while not done.is_set():
            moments.append(perf_counter())
            sleep(1e-5)

    def longest_pause():
        """Return the longest time without a tick, as a share of the time of the product."""
        moments.clear()
        begun = perf_counter()
        product()
        ended = perf_counter()
        within = [moment for moment in list(moments) if begun < moment < ended]
        return np.diff([begun, *within, ended]).max() / (ended - begun)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        assert any(longest_pause() < 0.4 for _ in range(200))
    finally:
        done.set()
        thread.join()
