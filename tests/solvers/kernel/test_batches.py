"""Steps on batches of examples, with kernel rows: the published recursions, optima, laws."""

import numpy as np
import pytest
from lockstep import Tally, Tolerance, follow
from online_solvers import either_twin, solver_of

from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.problems.draws import as_generator, draw_indices
from kernbench.problems.kernel.online import StepRule
from kernbench.problems.margin_problem import MarginProblem
from kernbench.solvers import driver, registry

each_loss = pytest.mark.parametrize("loss", MARGIN_LOSSES)
B = 7


def mean_pushes(loss, y, f, batch):
    return -MARGIN_LOSSES[loss].slope(y[batch] * f[batch]) / len(batch)


@each_loss
@either_twin
def test_pegasos_takes_the_mean_subgradient(twin, loss, random_problem):
    """f <- (1 - 1/(t + t0)) f + sum over the batch of -l'(m_i) y_i k(x_i, .) / (B lambda (t + t0))."""
    p, lam = random_problem(0), 0.05
    solver = solver_of("pegasos", twin, p, alpha=lam, loss=loss, batch_size=B, fit_intercept=False, rescale=False,
                       random_state=3)  # fmt: skip
    solver.advance(40)
    draws, coef = draw_indices(as_generator(3), 40 * B, p.n).reshape(40, B), np.zeros(p.n)
    for t, batch in enumerate(draws, start=1):
        step = 1 / (lam * (t + solver.delay))
        pushes = mean_pushes(loss, p.y, p.K @ coef, batch)
        coef *= 1 - lam * step
        np.add.at(coef, batch, step * p.y[batch] * pushes)
    np.testing.assert_allclose(solver.solution().coef, coef, rtol=1e-8, atol=1e-10)


@either_twin
def test_norma_takes_the_mean_subgradient(twin, random_problem):
    p, lam = random_problem(1), 0.05
    rule = StepRule.of(MarginProblem(p.rows, p.y, alpha=lam), np.ones(p.n), "inverse_sqrt", 0.25)
    solver = solver_of("norma", twin, p, alpha=lam, batch_size=B, rescale=False, random_state=3)
    solver.advance(40)
    draws, coef, b = draw_indices(as_generator(3), 40 * B, p.n).reshape(40, B), np.zeros(p.n), 0.0
    for t, batch in enumerate(draws, start=1):
        terms = rule(t) * p.y[batch] * mean_pushes("hinge", p.y, p.K @ coef + b, batch)
        coef *= 1 - rule(t) * lam
        np.add.at(coef, batch, terms)
        b += terms.sum()
    np.testing.assert_allclose(solver.solution().coef, coef, rtol=1e-8, atol=1e-10)


@each_loss
def test_projected_batches_stay_in_the_ball(loss, random_problem):
    p = random_problem(6)
    solver = solver_of("pegasos", "compiled", p, alpha=0.01, loss=loss, fit_intercept=False, project=True,
                       rescale=False, batch_size=3, random_state=1)  # fmt: skip
    for _ in range(12):
        solver.advance(5)
        coef = solver.solution().coef
        squared_norm = coef @ p.K @ coef
        assert squared_norm <= MARGIN_LOSSES[loss].largest_pull / 0.01 * (1 + 1e-9)
        scaled = squared_norm * solver._denominator() ** 2
        assert solver.numbers[1] == pytest.approx(scaled, rel=1e-9)


@each_loss
@pytest.mark.parametrize("name", ["pegasos", "norma"])
def test_every_loss_is_minimised_by_batches(name, loss, random_problem):
    p = random_problem(5)
    solver = solver_of(name, "compiled", p, loss=loss, alpha=0.05, weights=p.weights, batch_size=16, random_state=0)
    solver.advance(4000)
    assert solver.gap() < 0.05 * solver.objective()


@each_loss
@pytest.mark.parametrize("order", ["permutation", "uniform"])
def test_batches_of_dual_coordinates_never_descend(order, loss, random_problem):
    """The dual objective D grows up to the optimum, which the gap certifies."""
    p = random_problem(2)
    for batch_size in (2, 16, 1000):
        solver = solver_of("sdca", "compiled", p, alpha=0.02, weights=p.weights, loss=loss, fit_intercept=False,
                           batch_size=batch_size, order=order, random_state=0)  # fmt: skip
        last = 0.0
        for _ in range(30):
            solver.advance(batch_size)
            a, coef = solver.dual, solver.solution().coef
            value = p.weights @ solver.loss.dual_value(a) / p.n - 0.01 * coef @ p.K @ coef
            assert value >= last - 1e-12
            last = value
        assert driver.run(solver, tol=1e-3, max_iter=400_000).converged


@each_loss
def test_twins_of_batches_of_dual_coordinates_are_in_lockstep(loss, classification, build):
    tally, entry = Tally(), registry.get("sdca")
    tolerance = Tolerance(coef=1e-9, smallest=1e-6, objective=1e-9, gap=1e-6, gap_floor=1e-9, keys=False)
    for seed, order in enumerate(("permutation", "uniform")):
        problem = classification(60, seed, weighted=bool(seed))
        options = {"C": 3.0, "fit_intercept": False, "loss": loss, "batch_size": 7, "order": order}
        compiled, reference = (build(entry, twin, problem, **options) for twin in ("compiled", "reference"))
        follow(compiled, reference, tally, tolerance, rounds=20, length=11)
    tally.require(1.0)


@pytest.mark.parametrize("name", ["pegasos", "norma", "sdca"])
@either_twin
def test_splitting_a_run_of_batches_changes_nothing(twin, name, random_problem):
    """Also where an epoch, of 30 rows, is no whole number of batches."""
    p = random_problem(3)
    whole, parts = (
        solver_of(name, twin, p, alpha=0.02, fit_intercept=False, batch_size=B, random_state=0) for _ in range(2)
    )
    grain = whole.granularity
    whole.advance(12 * grain)
    for count in (1, 4, 2, 5):
        parts.advance(count * grain)
    assert whole.n_iter == parts.n_iter == 12 * grain
    np.testing.assert_array_equal(whole.solution().coef, parts.solution().coef)


@either_twin
def test_a_batch_without_violations_copies_nothing(twin, random_problem):
    """Late steps have few, and copies of all responses would take longer than the rest of the step."""
    options = {"alpha": 0.02, "fit_intercept": False, "batch_size": 5, "random_state": 0}
    solver = solver_of("pegasos", twin, random_problem(3), **options)
    solver.responses = responses = 1e6 * solver.y
    solver.advance(solver.granularity)
    assert solver.n_iter == solver.granularity and solver.responses is responses and not solver.sums.any()


@pytest.mark.parametrize("name", ["pegasos", "norma", "sdca"])
def test_batches_larger_than_the_cache_change_nothing(name, classification, build):
    problem = classification(90, 4)
    options = {"fit_intercept": False, "batch_size": 50}
    small, large = (
        build(registry.get(name), "compiled", problem, cache_bytes=size, **options) for size in (4 * 90 * 8, 10**8)
    )
    for solver in (small, large):
        solver.advance(200)
    np.testing.assert_allclose(small.solution().coef, large.solution().coef, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "name, options, sentence",
    [
        ("sdca", {"batch_size": 2}, "fit_intercept=False"),
        ("norma", {"batch_size": 2, "truncation": 5}, "truncation"),
        ("pegasos", {"batch_size": 0}, "batch_size"),
    ],
)
def test_what_batches_cannot_do_is_refused(name, options, sentence, random_problem):
    with pytest.raises(ValueError, match=sentence):
        solver_of(name, "compiled", random_problem(0), **options)
