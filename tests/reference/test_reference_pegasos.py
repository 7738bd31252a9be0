import numpy as np
import pytest

from kernbench.kernels.functions import Gaussian
from kernbench.problems.draws import as_generator, cumulative_weights, draw_indices
from kernbench.problems.intercept import best_intercept
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.online.online import BATCH
from kernbench.solvers.kernel.online.pegasos import Pegasos as Method


def Pegasos(*args, **options):
    """Pegasos in plain NumPy."""
    return Method(*args, core="reference", **options)


def LastIterate(*args, **options):
    """The paper's Pegasos, without the final rescaling."""
    return Pegasos(*args, rescale=False, **options)


def recursion(K, y, weights, alpha, seed, n_iter, project):
    """The published update, coefficients shrunk at every step; without an intercept."""
    lam = alpha * len(y) / weights.sum()
    rng, coef, violations = as_generator(seed), np.zeros(len(y)), 0
    draws = draw_indices(rng, n_iter, len(y), cumulative_weights(weights))
    for t, i in enumerate(draws, start=1):
        violates = y[i] * (K[i] @ (coef * y)) < 1
        coef *= 1 - 1 / t
        if violates:
            coef[i] += 1 / (lam * t)
            violations += 1
        if project:
            norm = np.sqrt((coef * y) @ K @ (coef * y))
            coef *= min(1.0, 1 / (np.sqrt(lam) * max(norm, 1e-300)))
    return coef * y, violations


@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_closed_form_is_the_recursion(random_problem, weighted, project):
    for seed in range(3):
        p = random_problem(seed)
        weights = p.weights if weighted else np.ones(p.n)
        solver = LastIterate(
            p.rows, p.y, alpha=0.02, weights=weights, fit_intercept=False, random_state=seed, project=project
        )
        assert solver.advance(700) == 700
        expected, violations = recursion(p.K, p.y, weights, 0.02, seed, 700, project)
        np.testing.assert_allclose(solver.solution().coef, expected, rtol=1e-9, atol=1e-12)
        assert solver.n_kernel_evaluations == violations * p.n
        assert solver.n_iter == 700


def test_projection_binds_and_is_held(random_problem):
    p = random_problem(0)
    norms = {}
    for project in (False, True):
        solver = LastIterate(p.rows, p.y, alpha=0.02, fit_intercept=False, random_state=0, project=project)
        norms[project] = []
        for _ in range(60):
            solver.advance(1)
            coef = solver.solution().coef
            norms[project].append(np.sqrt(coef @ p.K @ coef) * np.sqrt(0.02))
    assert max(norms[False]) > 1.5
    assert max(norms[True]) == pytest.approx(1, abs=1e-12)


def test_expected_suboptimality_of_heavy_regularisation(random_problem):
    """At lambda = 1 every margin is violated; the optimum is y/n and E[P] - P* = (1 - ||f*||^2) / (2T)."""
    p = random_problem(5, n=40)
    squared = p.y @ p.K @ p.y / p.n**2
    for n_iter in (50, 200):
        objectives = []
        for seed in range(150):
            solver = LastIterate(p.rows, p.y, alpha=1.0, fit_intercept=False, random_state=seed)
            solver.advance(n_iter)
            objectives.append(solver.objective())
        excess = np.array(objectives) - (1 - squared / 2)
        law = (1 - squared) / (2 * n_iter)
        assert excess.min() >= -1e-12
        assert abs(excess.mean() - law) < 3 * excess.std() / np.sqrt(len(excess)) < 0.2 * law
        assert solver.n_kernel_evaluations == n_iter * p.n


def test_six_points_without_intercept(six_points):
    p = six_points
    solver = LastIterate(p.rows, p.y, alpha=p.alpha, fit_intercept=False, random_state=0)
    previous = np.inf
    for n_iter, accuracy in ((100, 0.1), (900, 0.02), (9000, 0.002)):
        solver.advance(n_iter)
        excess = solver.objective() - p.optimum
        assert 0 <= excess < accuracy and excess < previous
        assert solver.gap() >= excess - 1e-9
        previous = excess


def test_converges_to_the_optimum_with_intercept_and_weights(random_problem, optimum):
    for seed in range(3):
        p = random_problem(seed)
        best = optimum(p.K, p.y, 0.1, p.weights)
        solver = LastIterate(p.rows, p.y, alpha=0.1, weights=p.weights, random_state=seed)
        solver.advance(40 * BATCH)
        assert best.objective <= solver.objective() + 1e-9 < best.objective * 1.02
        assert solver.gap() >= solver.objective() - best.objective - 1e-9


def test_intercept_is_frozen_within_a_batch_and_exact_in_solutions(random_problem):
    p = random_problem(1)
    solver = LastIterate(p.rows, p.y, alpha=0.02, random_state=0)
    frozen = []
    for n_iter in (BATCH - 1, 1, BATCH - 1, 1):
        solver.advance(n_iter)
        solution = solver.solution()
        frozen.append(solution.state["intercept"].item())
        exact = best_intercept(p.K @ solution.coef, p.y, np.ones(p.n))
        assert solution.intercept == pytest.approx(exact, abs=1e-9)
    assert frozen[0] == 0 and frozen[1] == frozen[2] != frozen[3]
    assert frozen[3] == solution.intercept


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False, "project": True}])
@pytest.mark.parametrize("first", [1, 256, 300])
def test_resumed_is_one_long_run(random_problem, options, first):
    p = random_problem(2)
    common = dict(alpha=0.02, weights=p.weights, **options)
    whole = LastIterate(p.rows, p.y, random_state=7, **common)
    whole.advance(900)

    rng = np.random.default_rng(7)
    part = LastIterate(p.rows, p.y, random_state=rng, **common)
    part.advance(first)
    rest = LastIterate(p.rows, p.y, random_state=rng, initial=part.solution(), **common)
    part.advance(0)
    rest.advance(900 - first)
    assert rest.n_iter == whole.n_iter == 900
    np.testing.assert_array_equal(rest.solution().coef, whole.solution().coef)
    assert rest.solution().intercept == whole.solution().intercept


def test_warm_start_keeps_the_function(random_problem, optimum):
    p = random_problem(3)
    best = optimum(p.K, p.y, 0.05)
    for project in (False, True):
        solver = LastIterate(
            p.rows,
            p.y,
            alpha=0.05,
            fit_intercept=not project,
            project=project,
            initial=Solution(best.coef, best.intercept, n_iter=5000),
        )
        np.testing.assert_allclose(solver.solution().coef, best.coef, rtol=1e-12)
        assert solver.n_iter == 5000
        if not project:
            assert solver.gap() <= 1e-4 * best.objective and solver.check(1e-3) and solver.converged
            start = solver.objective()
            solver.advance(512)
            assert solver.objective() < 1.02 * start


def test_permutation_of_the_rows_permutes_the_coefficients(random_problem):
    p = random_problem(4)
    order = p.rng.permutation(p.n)
    position = np.argsort(order)
    a = LastIterate(p.rows, p.y, alpha=0.02)
    b = LastIterate(ReferenceRows(p.X[order], Gaussian(1.0)), p.y[order], alpha=0.02)
    drawn = p.rng.integers(p.n, size=600)
    for solver, examples in ((a, drawn), (b, position[drawn])):
        batches = iter(np.split(examples, [256, 512]))
        solver._draw = lambda length, batches=batches: next(batches)
        solver.advance(600)
    np.testing.assert_allclose(a.solution().coef[order], b.solution().coef, rtol=1e-12)
    assert a.solution().intercept == pytest.approx(b.solution().intercept)


def test_examples_of_weight_zero_are_never_drawn(random_problem):
    p = random_problem(0)
    solver = LastIterate(p.rows, p.y, alpha=0.01, weights=p.weights, random_state=0)
    solver.advance(2000)
    assert not solver.solution().coef[p.weights == 0].any()
    assert solver.solution().coef[p.weights > 0].any()


def test_before_the_first_step(random_problem):
    p = random_problem(0)
    solver = LastIterate(p.rows, p.y, alpha=0.1)
    assert not solver.solution().coef.any()
    assert solver.objective() == pytest.approx(2 * min((p.y > 0).mean(), (p.y < 0).mean()))
    assert solver.gap() == solver.objective()
    assert not solver.check(0.5)
    assert solver.first_check == BATCH and solver.granularity == BATCH


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(alpha=0.0), "alpha must be a positive number"),
        (dict(alpha=None), "needs alpha"),
        (dict(alpha=np.inf), "alpha must be a positive finite number"),
        (dict(y=np.ones(30)), "the class -1 needs"),
        (dict(y=np.arange(30)), "-1 and .1 only"),
        (dict(y=np.ones(4)), "one label per row"),
        (dict(weights=np.ones(4)), "one number per row"),
        (dict(weights=-np.ones(30)), "at least 0"),
        (dict(weights=np.full(30, np.nan)), "finite"),
        (dict(weights=np.zeros(30)), "positive weight"),
        (dict(project=True), "fit_intercept=False"),
        (dict(initial=Solution(np.zeros(3))), "3 coefficients"),
    ],
)
def test_bad_input_is_refused(random_problem, change, message):
    p = random_problem(0)
    options = dict(y=p.y, alpha=0.1) | change
    with pytest.raises(ValueError, match=message):
        LastIterate(p.rows, options.pop("y"), **options)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_rescaling_lowers_the_objective_and_changes_no_step(random_problem, fit_intercept):
    p = random_problem(2)
    options = dict(alpha=0.001, weights=p.weights, fit_intercept=fit_intercept, random_state=0)
    plain, rescaled = LastIterate(p.rows, p.y, **options), Pegasos(p.rows, p.y, **options)
    plain.advance(40)
    rescaled.advance(40)
    assert rescaled.objective() < 0.9 * plain.objective()  # the first steps are far too long
    assert 0 <= rescaled.gap() < plain.gap()
    for key, value in plain.solution().state.items():
        np.testing.assert_array_equal(value, rescaled.solution().state[key])
