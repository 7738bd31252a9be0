"""What the online methods have in common, and norm-ball SGD."""

import numpy as np
import pytest
from online_solvers import either_twin, solver_of

from kernbench.kernels import Gaussian, Linear
from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.problems.kernel.expansion import Expansion, ball_radius
from kernbench.problems.margin_problem import MarginProblem
from kernbench.solvers.base import Solution

LOSSES = tuple(MARGIN_LOSSES)
each_loss = pytest.mark.parametrize("loss", LOSSES)


def test_norm_ball_on_six_points(six_points):
    """The loss at 10^3, 10^4 and 10^5 steps within the ball of the optimum: .5640, .5540, .5492, as drawn."""
    p = six_points
    losses = []
    for seed in range(3):
        solver = solver_of("norm-ball-sgd", "compiled", p, fit_intercept=False, radius=p.norm, random_state=seed)
        for n_iter in (1000, 9000, 90_000):
            solver.advance(n_iter)
            solution = solver.solution()
            K = p.K
            assert np.sqrt(solution.coef @ K @ solution.coef) <= p.norm * (1 + 1e-9)
            losses.append(np.maximum(0, 1 - p.y * (K @ solution.coef)).mean())
    measured = np.mean(np.reshape(losses, (3, 3)), axis=0)
    assert np.all(np.abs(measured - [0.5640, 0.5540, 0.5492]) < [4e-3, 2e-3, 7e-4]), measured
    assert np.all(np.array(losses) >= p.loss - 1e-9)


@pytest.mark.parametrize("size", [0.5, 3.0])
def test_a_start_is_projected_onto_the_ball(size, six_points):
    p = six_points
    coef = p.y * size / np.sqrt(p.y @ p.K @ p.y)
    found = solver_of("norm-ball-sgd", "compiled", p, radius=1.0, initial=Solution(coef)).solution().coef
    np.testing.assert_allclose(found, coef * min(1.0, 1.0 / size), rtol=1e-9)


def test_norm_ball_averages_its_iterates(random_problem):
    p = random_problem(0)
    options = dict(radius=1.5, weights=p.weights, random_state=0, loss="squared_hinge")
    total = np.zeros(p.n)
    stepper = solver_of("norm-ball-sgd", "compiled", p, **options)
    for _ in range(300):
        stepper.advance(1)
        total += stepper.solution().state["steps"]
    solver = solver_of("norm-ball-sgd", "compiled", p, **options)
    solver.advance(300)
    np.testing.assert_allclose(solver.solution().coef, 1.5 * p.y * total / 300, rtol=1e-9, atol=1e-12)


@each_loss
def test_the_radius_comes_to_be_the_norm_of_the_optimum(loss, random_problem):
    p = random_problem(1)
    solver = solver_of("norm-ball-sgd", "compiled", p, alpha=0.05, loss=loss, random_state=0)
    start = solver.solution().state["scalars"][3]
    solver.advance(40_000)
    radius = solver.solution().state["scalars"][3]
    assert solver.gap() < 0.04 * solver.objective()
    exact = solver_of("norm-ball-sgd", "compiled", p, alpha=0.05, loss=loss, radius=radius, random_state=1)
    exact.advance(40_000)
    assert exact.gap() < 0.04 * exact.objective()
    found = exact.solution()  # the multiplier of the ball is alpha: no multiple of the optimum within it is better
    assert Expansion(exact.problem, found.coef, p.K @ found.coef).scale == pytest.approx(1, abs=0.02)
    assert radius < start


RUNS = [
    ("pegasos", {"loss": "log_loss"}),
    ("pegasos", {"loss": "squared_hinge", "fit_intercept": False, "project": True}),
    ("norm-ball-sgd", {}),
    ("norm-ball-sgd", {"radius": 2.0, "loss": "log_loss"}),
    ("perceptron", {"n_passes": None, "output": "average"}),
    ("perceptron", {"n_passes": 9, "output": "random"}),
    ("norma", {}),
    ("norma", {"truncation": 9, "loss": "squared_hinge"}),
    ("norma", {"batch_size": 4}),
    ("pegasos", {"batch_size": 5}),
]
each_run = pytest.mark.parametrize("name, options", RUNS, ids=lambda value: str(value))


@each_run
@either_twin
def test_resumed_anywhere_is_one_long_run(twin, name, options, random_problem):
    p = random_problem(2)
    for first in (1, 37, 120):
        whole = solver_of(name, twin, p, random_state=np.random.default_rng(7), weights=p.weights, **options)
        whole.advance(170)
        rng = np.random.default_rng(7)
        part = solver_of(name, twin, p, random_state=rng, weights=p.weights, **options)
        part.advance(first)
        rest = solver_of(name, twin, p, random_state=rng, weights=p.weights, initial=part.solution(), **options)
        assert rest.n_iter == part.n_iter
        rest.advance(170 - first)
        assert rest.n_iter == whole.n_iter
        np.testing.assert_allclose(rest.solution().coef, whole.solution().coef, rtol=1e-9, atol=1e-12)


def begun_at_another_alpha(name, twin, p, alpha, **options):
    """Return a solver after 300 steps at alpha = 0.05, and one for `alpha` that begins at its solution."""
    options = {"random_state": 0, "rescale": False, **options}
    first = solver_of(name, twin, p, alpha=0.05, **options)
    first.advance(300)
    return first, solver_of(name, twin, p, alpha=alpha, initial=first.solution(), **options)


@pytest.mark.parametrize("name, options", [("pegasos", {}), ("norma", {}), ("norma", {"truncation": 20})])
@either_twin
def test_a_start_for_another_alpha_is_the_function_that_was_given(twin, name, options, random_problem):
    """The counts and averages of a run belong to its alpha: only its coefficients are taken over."""
    first, solver = begun_at_another_alpha(name, twin, random_problem(2), 0.04, **options)
    start = first.solution()
    assert start.coef.any()
    np.testing.assert_allclose(solver.solution().coef, start.coef, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name, options", [("pegasos", {}), ("norma", {}), ("norma", {"truncation": 20})])
@either_twin
def test_a_start_that_is_far_too_large_for_another_alpha_is_scaled(twin, name, options, random_problem):
    first, solver = begun_at_another_alpha(name, twin, random_problem(2), 1e4, **options)
    zero, _ = solver.problem.at_zero
    assert solver.solution().coef.any() and solver.objective() <= zero < first.objective() * 1e4


@pytest.mark.parametrize("name", ["pegasos", "norm-ball-sgd", "norma", "perceptron"])
@either_twin
def test_coefficients_of_a_start_that_pull_to_the_wrong_side_are_dropped(twin, name, random_problem):
    p = random_problem(2)
    coef = 0.1 * p.y
    coef[:5] *= -1.0
    started = solver_of(name, twin, p, alpha=0.05, random_state=0, initial=Solution(coef)).solution()
    assert not started.coef[:5].any() and np.all(started.coef[5:] * p.y[5:] > 0.0)


@each_run
def test_twins_count_the_same_logical_evaluations(name, options, random_problem):
    p = random_problem(3)
    counts = []
    for twin in ("compiled", "reference"):
        solver = solver_of(name, twin, p, random_state=0, **options)
        solver.advance(200)
        counts.append(solver.n_logical_evaluations)
        assert solver.n_inner_products == solver.n_kernel_evaluations
    assert counts[0] == counts[1] > 0


@each_loss
@pytest.mark.parametrize("name", ["pegasos", "norm-ball-sgd", "norma"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_every_loss_is_minimised(name, loss, fit_intercept, random_problem):
    p = random_problem(5)
    solver = solver_of(name, "compiled", p, loss=loss, alpha=0.05, weights=p.weights, fit_intercept=fit_intercept,
                       random_state=0)  # fmt: skip
    solver.advance(60_000)
    assert solver.gap() < 0.05 * solver.objective()


@each_loss
def test_projected_pegasos_stays_in_the_ball_in_both_twins(loss, random_problem):
    p = random_problem(6)
    options = dict(alpha=0.01, loss=loss, fit_intercept=False, project=True, rescale=False, random_state=1)
    a, b = (solver_of("pegasos", twin, p, **options) for twin in ("compiled", "reference"))
    for _ in range(12):
        a.advance(11), b.advance(11)
        coef = a.solution().coef
        np.testing.assert_allclose(coef, b.solution().coef, rtol=1e-8, atol=1e-10)
        assert coef @ p.K @ coef <= MARGIN_LOSSES[loss].largest_pull / 0.01 * (1 + 1e-9)


def test_projections_of_many_steps_do_not_underflow(classification):
    p = classification(400, 1, d=20)  # all rows are in the cache after some thousand steps, and walks long
    p.kernel = Gaussian(0.1)
    p.y = np.random.default_rng(0).permutation(p.y)
    options = dict(alpha=1e-11, fit_intercept=False, project=True, rescale=False, random_state=0)
    a, b = (solver_of("pegasos", twin, p, **options) for twin in ("compiled", "reference"))
    a.advance(5000), b.advance(5000)
    assert np.isfinite(a.objective())
    np.testing.assert_allclose(a.solution().coef, b.solution().coef, rtol=1e-9)


@pytest.mark.parametrize(
    "name, loss", [("pegasos", "log_loss"), ("norm-ball-sgd", "hinge"), ("norma", "hinge"), ("perceptron", "hinge")]
)
@either_twin
def test_the_length_of_a_row_without_weight_does_not_matter(twin, name, loss, random_problem):
    p, coefs = random_problem(8), []
    p.kernel, p.weights[5] = Linear(), 0.0
    for size in (1.0, 1e3):
        X = p.X.copy()
        X[5] *= size
        solver = solver_of(name, twin, p, X=X, alpha=0.05, loss=loss, weights=p.weights, random_state=0)
        solver.advance(300)
        coefs.append(solver.solution().coef)
    np.testing.assert_allclose(*coefs, rtol=1e-9, atol=1e-12)


def test_violations_are_counted_exactly_however_far_the_walk_looks_ahead(classification):
    """Rows are fetched in batches of likely steps; the steps must not depend on that."""
    p = classification(500, 1, d=20)
    p.kernel = Gaussian(3.0)
    a, b = (solver_of("pegasos", twin, p, random_state=0) for twin in ("compiled", "reference"))
    a.advance(1500), b.advance(1500)
    np.testing.assert_array_equal(a.solution().state["counts"], b.solution().state["counts"])


@each_loss
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_other_multiple_is_better(loss, fit_intercept, random_problem):
    for seed in range(3):
        p = random_problem(seed)
        problem = MarginProblem(p.rows, p.y, alpha=0.02, weights=p.weights, fit_intercept=fit_intercept, loss=loss)
        coef = p.y * p.rng.uniform(size=p.n)
        found = Expansion(problem, coef, p.K @ coef)
        assert found.scale > 0
        for factor in (0.99, 1.01):
            other = Expansion(problem, factor * found.coef, factor * found.responses, rescale=False)
            assert other.objective() >= found.objective()
        assert 0 <= found.gap() <= found.objective()
        backwards = Expansion(problem, -coef, -(p.K @ coef))
        assert backwards.scale == 0.0 and not backwards.coef.any()


@each_loss
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_ball_holds_the_optimum(loss, fit_intercept, random_problem):
    for alpha in (1.0, 0.05, 0.01):
        p = random_problem(7)
        solver = solver_of("pegasos", "compiled", p, alpha=alpha, loss=loss, weights=p.weights,
                           fit_intercept=fit_intercept, random_state=0)  # fmt: skip
        solver.advance(20_000)
        coef = solver.solution().coef
        assert np.sqrt(coef @ p.K @ coef) <= ball_radius(solver.problem)


@each_run
def test_hard_problems_leave_finite_numbers(name, options, random_problem):
    p = random_problem(0)
    X = np.concatenate([p.X, p.X[:10], np.zeros((1, 2))])  # duplicates with the opposite label
    p.y = np.concatenate([p.y, -p.y[:10], [1.0]])
    for alpha in (1e-12, 1e-3, 1e6):
        solver = solver_of(name, "compiled", p, X=X, alpha=alpha, random_state=0, **options)
        solver.advance(700)
        assert np.isfinite(solver.objective()) and solver.gap() >= 0
        assert np.all(np.isfinite(solver.solution().coef))
    p.y = np.array([1.0, -1.0])
    solver = solver_of(name, "compiled", p, X=np.array([[0.0], [1.0]]), random_state=0, **options)
    solver.advance(300)
    assert np.isfinite(solver.gap())


@either_twin
@pytest.mark.parametrize(
    "name, options, sentence",
    [
        ("perceptron", {"n_passes": 0}, "n_passes must be a positive integer"),
        ("perceptron", {"order": "indx"}, "did you mean 'index'"),
        ("perceptron", {"output": "mean"}, "unknown output"),
        ("perceptron", {"loss": "log_loss"}, "loss='hinge' only"),
        ("norm-ball-sgd", {"radius": 0.0}, "radius must be a positive number"),
        ("norm-ball-sgd", {"average_power": -1.0}, "average_power"),
        ("norma", {"schedule": "invers"}, "did you mean 'inverse'"),
        ("norma", {"step_size": 0.0}, "step_size must be a positive number"),
        ("norma", {"truncation": 1.5}, "truncation must be a positive integer"),
        ("norma", {"window": True}, "window must be a positive integer"),
        ("pegasos", {"project": True}, "project=True needs fit_intercept=False"),
        ("pegasos", {"loss": "hinje"}, "did you mean 'hinge'"),
        ("norma", {"initial": Solution(np.zeros(3))}, "3 coefficients"),
    ],
)
def test_bad_options_are_refused(twin, name, options, sentence, random_problem):
    with pytest.raises(ValueError, match=sentence):
        solver_of(name, twin, random_problem(0), **options)
