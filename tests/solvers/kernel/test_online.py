"""The online methods: Pegasos, norm-ball SGD, the Perceptron and NORMA."""

import numpy as np
import pytest

from kernbench.kernels import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.problems.draws import as_generator, draw_indices
from kernbench.problems.expansion import LARGEST_PULL, Expansion, ball_radius
from kernbench.problems.margin_problem import MarginProblem
from kernbench.problems.online import StepRule, pass_order
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.registry import get

LOSSES = tuple(MARGIN_LOSSES)
SIX = np.array([[-2.0], [-1.0], [-0.5], [0.5], [1.0], [2.0]])  # the points of the fixture `six_points`
either_twin = pytest.mark.parametrize("twin", ["compiled", "reference"])
each_loss = pytest.mark.parametrize("loss", LOSSES)


def solver_of(name, twin, p, *, X=None, alpha=None, **options):
    rows = {"compiled": KernelRows, "reference": ReferenceRows}[twin]
    X = getattr(p, "X", SIX) if X is None else X
    rows = rows(X, getattr(p, "kernel", Gaussian(1.0)), dtype=np.float64)
    return get(name).load(twin)(rows, p.y, alpha=alpha or 1 / len(p.y), **options)


# --- the Perceptron
# --------------------------------------------------------------------------------------------------


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
    assert np.all(np.abs(counts - runs * share) < 4.5 * np.sqrt(runs * share * (1 - share)))


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
    solver = solver_of(
        "perceptron", twin, p, n_passes=None, random_state=0
    )  # a Gaussian kernel separates any data
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
    X, y, p.y = p.X[order], p.y, p.y[order]
    permuted = solver_of("perceptron", twin, p, X=X, order="index")
    permuted.advance(p.n)
    np.testing.assert_array_equal(
        permuted.solution().state["mistakes"], solver.solution().state["mistakes"][order]
    )
    p.y = y


@either_twin
def test_weight_zero_is_left_out_of_the_pass(twin, random_problem):
    p = random_problem(4)
    keep = p.weights > 0
    solver = solver_of("perceptron", twin, p, weights=p.weights, order="index", alpha=0.1)
    solver.advance(p.n)
    X, p.y = p.X[keep], p.y[keep]
    without = solver_of("perceptron", twin, p, X=X, weights=p.weights[keep], order="index", alpha=0.1)
    without.advance(p.n)
    np.testing.assert_array_equal(
        solver.solution().state["mistakes"][keep], without.solution().state["mistakes"]
    )
    assert solver.n_logical_evaluations == without.n_logical_evaluations


# --- SGD on the ball
# -------------------------------------------------------------------------------------------------


def test_norm_ball_on_six_points(six_points):
    """The loss at 10^3, 10^4 and 10^5 steps within the ball of the optimum: .5640, .5540, .5492, as drawn."""
    p = six_points
    losses = []
    for seed in range(3):
        solver = solver_of(
            "norm-ball-sgd", "compiled", p, fit_intercept=False, radius=p.norm, random_state=seed
        )
        for n_iter in (1000, 9000, 90_000):
            solver.advance(n_iter)
            solution = solver.solution()
            K = p.K
            assert np.sqrt(solution.coef @ K @ solution.coef) <= p.norm * (1 + 1e-9)
            losses.append(np.maximum(0, 1 - p.y * (K @ solution.coef)).mean())
    measured = np.mean(np.reshape(losses, (3, 3)), axis=0)
    assert np.all(np.abs(measured - [0.5640, 0.5540, 0.5492]) < [4e-3, 2e-3, 7e-4]), measured
    assert np.all(np.array(losses) >= p.loss - 1e-9)


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
    found = (
        exact.solution()
    )  # the multiplier of the ball is alpha: no multiple of the optimum within it is better
    assert Expansion(exact.problem, found.coef, p.K @ found.coef).scale == pytest.approx(1, abs=0.02)
    assert radius < start


# --- NORMA ------------------------------------------------------------------------------------------------
# -----------


def norma_recursion(K, y, lam, rule, loss, draws, *, bias, newest=np.inf, window=np.inf):
    """The published update, term by term."""
    terms, b = [], 0.0  # [example, coefficient, step]
    for t, i in enumerate(draws, start=1):
        f = sum(c * y[j] * K[i, j] for j, c, _ in terms) + b
        gamma = rule(t)
        push = -float(MARGIN_LOSSES[loss].slope(y[i] * f))
        for term in terms:
            term[1] *= 1 - gamma * lam
        if push:
            terms.append([i, gamma * push, t])
            b += bias * gamma * push * y[i]
        terms = [term for term in terms if term[2] > t - window]
        terms = terms[-int(newest) :] if np.isfinite(newest) else terms
    coef = np.zeros(len(y))
    for i, c, _ in terms:
        coef[i] += c * y[i]
    return coef


@either_twin
@pytest.mark.parametrize("dropped", [{}, {"truncation": 6}, {"window": 15}])
@pytest.mark.parametrize("schedule", ["inverse_sqrt", "inverse", "constant"])
def test_norma_is_the_published_recursion(twin, schedule, dropped, random_problem):
    p = random_problem(0)
    for loss in LOSSES:
        problem = MarginProblem(p.rows, p.y, alpha=0.05, loss=loss)
        rule = StepRule.of(problem, np.ones(p.n), schedule, 0.5)
        solver = solver_of("norma", twin, p, alpha=0.05, loss=loss, schedule=schedule, step=0.5, rescale=False,
                           random_state=3, **dropped)  # fmt: skip
        solver.advance(300)
        draws = draw_indices(as_generator(3), 300, p.n)
        expected = norma_recursion(p.K, p.y, 0.05, rule, loss, draws, bias=True,
                                   newest=dropped.get("truncation", np.inf), window=dropped.get("window",
                                   np.inf))  # fmt: skip
        np.testing.assert_allclose(solver.solution().coef, expected, rtol=1e-8, atol=1e-10)
        if "truncation" in dropped:
            assert np.count_nonzero(solver.solution().coef) <= 6
            assert solver.n_logical_evaluations <= 6 * 300


@either_twin
def test_truncation_error_of_norma_is_bounded(twin, random_problem):
    """Proposition 1 of the paper: with steps gamma the terms older than tau steps weigh at most (1 - gamma
    lambda)^tau r / lambda.

    At lambda = 1 every margin is violated, so that dropping terms changes no step and leaves exactly these
    out.
    """
    p = random_problem(1)
    for tau in (5, 20, 60):
        options = dict(
            alpha=1.0, fit_intercept=False, schedule="constant", step=0.3, rescale=False, random_state=0
        )
        gamma = StepRule.of(MarginProblem(p.rows, p.y, alpha=1.0), np.ones(p.n), "constant", 0.3)(1)
        whole, part = (
            solver_of("norma", twin, p, **options),
            solver_of("norma", twin, p, window=tau, **options),
        )
        whole.advance(200 - tau)
        old = whole.solution().coef
        whole.advance(tau)
        part.advance(200)
        left_out = whole.solution().coef - part.solution().coef
        np.testing.assert_allclose(left_out, (1 - gamma) ** tau * old, atol=1e-12)
        assert 0 < np.sqrt(left_out @ p.K @ left_out) <= (1 - gamma) ** tau


# --- all --------------------------------------------------------------------------------------------------
# -----------

RUNS = [
    ("pegasos", {"loss": "log_loss"}),
    ("pegasos", {"loss": "squared_hinge", "fit_intercept": False, "project": True}),
    ("norm-ball-sgd", {}),
    ("norm-ball-sgd", {"radius": 2.0, "loss": "log_loss"}),
    ("perceptron", {"n_passes": None, "output": "average"}),
    ("perceptron", {"n_passes": 9, "output": "random"}),
    ("norma", {}),
    ("norma", {"truncation": 9, "loss": "squared_hinge"}),
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
        rest = solver_of(
            name, twin, p, random_state=rng, weights=p.weights, initial=part.solution(), **options
        )
        assert rest.n_iter == part.n_iter
        rest.advance(170 - first)
        assert rest.n_iter == whole.n_iter
        np.testing.assert_allclose(rest.solution().coef, whole.solution().coef, rtol=1e-9, atol=1e-12)


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
        assert coef @ p.K @ coef <= LARGEST_PULL[loss] / 0.01 * (1 + 1e-9)


def test_violations_are_counted_exactly_however_far_the_walk_looks_ahead(classification):
    """Rows come in batches of what is likely needed; which steps are made must not depend on that."""
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
        problem = MarginProblem(
            p.rows, p.y, alpha=0.02, weights=p.weights, fit_intercept=fit_intercept, loss=loss
        )
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
        ("norma", {"step": 0.0}, "step must be a positive number"),
        ("norma", {"truncation": 1.5}, "truncation must be a positive integer"),
        ("norma", {"window": True}, "window must be a positive integer"),
        ("pegasos", {"loss": "hinje"}, "did you mean 'hinge'"),
        ("norma", {"initial": Solution(np.zeros(3))}, "3 coefficients"),
    ],
)
def test_bad_options_are_refused(twin, name, options, sentence, random_problem):
    with pytest.raises(ValueError, match=sentence):
        solver_of(name, twin, random_problem(0), **options)
