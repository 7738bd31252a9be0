"""The kernel Perceptron: mistakes, passes and orders of examples."""

from types import SimpleNamespace

import numpy as np
from online_solvers import either_twin, solver_of

from kernbench.problems.kernel.online import pass_order
from kernbench.solvers import driver


@either_twin
def test_perceptron_on_six_points(twin, six_points):
    solver = solver_of("perceptron", twin, six_points, fit_intercept=False, order="index", n_passes=3)
    solver.advance(6)
    np.testing.assert_array_equal(np.flatnonzero(solver.solution().state["mistakes"]), [0, 2, 3, 4])
    assert (solver.n_mistakes, solver.n_logical_evaluations) == (4, 11)
    assert solver.advance(10**6) == 12 and solver.finished
    assert (solver.n_mistakes, solver.n_logical_evaluations) == (10, 69)
    np.testing.assert_array_equal(solver.solution().state["mistakes"], [1, 1, 2, 3, 3, 0])


@either_twin
def test_perceptron_holds_its_mistake_bound(twin, random_problem, optimum):
    for seed in range(4):
        p = random_problem(seed, n=60)
        for alpha in (1.0, 0.02, 0.001):
            coef = optimum(p.K, p.y, alpha, fit_intercept=False).coef
            loss, norm = np.maximum(0, 1 - p.y * (p.K @ coef)).sum(), np.sqrt(coef @ p.K @ coef)
            solver = solver_of("perceptron", twin, p, fit_intercept=False, random_state=seed)
            solver.advance(60)
            assert 0 < solver.n_mistakes <= loss + norm * np.sqrt(loss) + norm**2


@either_twin
def test_perceptron_reports_the_average_or_a_uniformly_drawn_iterate(twin, six_points):
    options = dict(fit_intercept=False, order="index", n_passes=2)
    solver = solver_of("perceptron", twin, six_points, **options)
    iterates = []
    for _ in range(12):
        solver.advance(1)
        iterates.append(solver.solution().state["mistakes"])
    average = solver_of("perceptron", twin, six_points, output="average", **options)
    average.advance(12)
    found, expected = average.solution().coef, six_points.y * np.mean(iterates, axis=0)
    np.testing.assert_allclose(found / np.linalg.norm(found), expected / np.linalg.norm(expected), atol=1e-12)

    distinct, expected = np.unique(iterates, axis=0, return_counts=True)
    counts, runs = np.zeros(len(distinct)), 400
    for seed in range(runs):
        solver = solver_of("perceptron", twin, six_points, output="random", random_state=seed, **options)
        solver.advance(12)
        counts += np.all(distinct == solver.solution().state["drawn"], axis=1)
    assert counts.sum() == runs
    share = expected / 12
    assert np.all(np.abs(counts - runs * share) < 6 * np.sqrt(runs * share * (1 - share)))  # or with probability 1e-6


@either_twin
def test_the_iterate_after_step_t_is_drawn_with_probability_one_over_t(twin, six_points):
    """With the same number u in each step it is the last one with u t < 1."""
    options = dict(fit_intercept=False, order="index", n_passes=2)
    solver, iterates = solver_of("perceptron", twin, six_points, **options), []
    for _ in range(12):
        solver.advance(1)
        iterates.append(solver.solution().state["mistakes"])
    for u, last in ((0.99, 1), (0.4, 2), (0.3, 3), (0.19, 5), (0.05, 12)):
        for sizes in ([12], [1, 3, 8]):
            solver = solver_of("perceptron", twin, six_points, output="random", **options)
            solver.coins = SimpleNamespace(ahead=lambda n, u=u: np.full((n, 1), u), position=0)
            for size in sizes:
                solver.advance(size)
            np.testing.assert_array_equal(solver.solution().state["drawn"], iterates[last - 1])


@either_twin
def test_a_finished_perceptron_does_not_claim_to_have_converged(twin, random_problem):
    p = random_problem(1, n=60)
    result = driver.run(solver_of("perceptron", twin, p, random_state=0), tol=1e-3)
    assert (result.status, result.n_iter, result.converged) == ("finished", 60, False)
    assert result.gap > 1e-3 * result.objective
    lenient = driver.run(solver_of("perceptron", twin, p, random_state=0), tol=1e3)
    assert lenient.converged


@either_twin
def test_perceptron_ends_with_a_faultless_pass(twin, random_problem):
    p = random_problem(2)
    solver = solver_of("perceptron", twin, p, n_passes=None, random_state=0)  # a Gaussian kernel separates any data
    result = driver.run(solver, max_iter=10**5)
    assert result.status == "finished" and result.n_iter % p.n == 0
    state = result.solution.state
    assert np.all(p.y * (state["responses"] + state["counts"][-1]) > 0)


@either_twin
def test_random_order_is_index_order_of_permuted_examples(twin, random_problem):
    p = random_problem(3)
    solver = solver_of("perceptron", twin, p, random_state=5)
    solver.advance(p.n)
    order = pass_order(int(solver.solution().state["seed"][0]), 0, p.n, "random")
    X, p.y = p.X[order], p.y[order]
    permuted = solver_of("perceptron", twin, p, X=X, order="index")
    permuted.advance(p.n)
    np.testing.assert_array_equal(permuted.solution().state["mistakes"], solver.solution().state["mistakes"][order])


@either_twin
def test_weight_zero_is_left_out_of_the_pass(twin, random_problem):
    p = random_problem(4)
    keep = p.weights > 0
    solver = solver_of("perceptron", twin, p, weights=p.weights, order="index", alpha=0.1)
    solver.advance(p.n)
    X, p.y = p.X[keep], p.y[keep]
    without = solver_of("perceptron", twin, p, X=X, weights=p.weights[keep], order="index", alpha=0.1)
    without.advance(p.n)
    np.testing.assert_array_equal(solver.solution().state["mistakes"][keep], without.solution().state["mistakes"])
    assert solver.n_logical_evaluations == without.n_logical_evaluations
