from functools import partial

import numpy as np
import pytest

from kernbench.kernels.functions import Gaussian, Linear, Precomputed
from kernbench.problems.water_level import water_level
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.sbp import sbp

SBP = partial(sbp.SBP, core="reference")


def scripted(*args, choices, **kwargs):
    """An SBP that takes its choices from a list, and the levels it saw."""
    solver, choices, levels = SBP(*args, **kwargs), iter(choices), []

    def choose(level, streams):
        levels.append(level)
        return next(choices)

    solver.work.choose = choose
    return solver, levels


def recording(*args, **kwargs):
    """An SBP, and its choices."""
    solver, choices = SBP(*args, **kwargs), []
    choose = solver.work.choose

    def kept(level, streams):
        choices.append(choose(level, streams))
        return choices[-1]

    solver.work.choose = kept
    return solver, choices


def test_worked_trace(six_points):
    p = six_points
    solver, levels = scripted(p.rows, p.y, nu=0.1, fit_intercept=False, choices=[0, 3, 2])
    expected = [
        (0.1, 6, 1, [1, 0.606531, -0.324652, 0.043937, -0.011109, -0.000335]),
        (0.076960, 4, 1, [0.824951, 0.668954, -0.602898, 0.600905, -0.508162, -0.183941]),
        (-0.255530, 2, 0.637167, [0.637512, 0.159444, -0.025547, 0.250724, -0.320724, -0.158574]),
    ]
    for t, (gamma, k, r2, c) in enumerate(expected, start=1):
        solver.advance(1)
        state = solver.solution().state
        assert (levels[-1].gamma, levels[-1].mass) == (pytest.approx(gamma, abs=1e-6), k)
        assert state["scalars"][0] == pytest.approx(r2, abs=1e-6)
        np.testing.assert_allclose(state["responses"], c, atol=1e-6)
        assert solver.n_iter == t and solver.n_kernel_evaluations == 6 * t
        if t == 2:
            np.testing.assert_allclose(state["dual"], [0.800093, 0, 0, 0.565751, 0, 0], atol=1e-6)
    assert state["dual"][2] == pytest.approx(0.577350, abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_choices_follow_the_minimax_distribution(random_problem, fit_intercept, weighted):
    """Every example is taken as often as p* says, by proposals and by the walk that stands in for them."""
    p = random_problem(0, n=12)
    weights = p.weights if weighted else np.ones(p.n)
    solver = SBP(p.rows, p.y, nu=0.3, weights=weights, fit_intercept=fit_intercept, random_state=0)
    c = np.round(p.rng.normal(size=p.n), 1)
    c[p.n // 2 :] = 0.2  # ties at many places
    solver.work.heights = c
    for volume in (0.0, 1.0, 3.0, 50.0):
        level = water_level(c, weights, volume, p.y if fit_intercept else None)
        taken = [solver.work.choose(level, solver.streams) for _ in range(5_000)]
        chance = np.bincount(taken, minlength=p.n) / len(taken)
        expected = np.zeros(p.n)
        for sign, edge in ((1, level.positive), (-1, level.negative)):
            basin = (p.y == sign) if fit_intercept else np.full(p.n, sign == 1)
            below, at_edge = basin & (c < edge), basin & (c == edge)
            expected[below] = weights[below] / level.mass
            if at_edge.any():
                left = 1 - expected[basin].sum()
                expected[at_edge] = left * weights[at_edge] / weights[at_edge].sum()
        if fit_intercept:
            expected /= 2
        np.testing.assert_allclose(chance, expected, atol=0.035)  # five standard deviations
        # p* is the adversary's best answer: its value is the level.
        density = expected[weights > 0] / weights[weights > 0]
        assert expected @ c + volume * density.max() == pytest.approx(level.gamma, abs=1e-12)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_supergradient_inequality(random_problem, fit_intercept):
    """f(w + v) <= f(w) + <v, g>, with g the mean of the steps drawn at w."""
    p = random_problem(1)
    basins = p.y if fit_intercept else None

    def level(c):
        return water_level(c, p.weights, 0.4 * p.weights.sum(), basins)

    Q = p.y[:, None] * p.K * p.y
    for _ in range(20):
        c = Q @ p.rng.random(p.n)
        here = level(c)
        distribution = np.zeros(p.n)
        for sign, edge in ((1, here.positive), (-1, here.negative)):
            basin = (p.y == sign) if fit_intercept else np.ones(p.n, dtype=bool)
            below, at_edge = basin & (c < edge), basin & (c == edge)
            distribution[below] = p.weights[below] / here.mass
            left = 1 - distribution[basin & ~at_edge].sum()
            distribution[at_edge] = left * p.weights[at_edge] / p.weights[at_edge].sum()
        distribution /= distribution.sum()
        for size in (0.01, 1.0, 10.0):
            change = Q @ (size * p.rng.normal(size=p.n))
            assert level(c + change).gamma <= here.gamma + distribution @ change + 1e-12


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("budget", [dict(nu=0.2), dict(alpha=0.02)])
def test_invariants_of_every_step(random_problem, budget, fit_intercept):
    p = random_problem(2)
    options = dict(weights=p.weights, fit_intercept=fit_intercept, average_power=1.5, burn_in=20, **budget)
    solver = SBP(p.rows, p.y, random_state=0, **options)
    Q = p.y[:, None] * p.K * p.y
    total, total_weight, seen_interior = 0.0, 0.0, 0
    for t in range(1, 301):
        solver.advance(1)
        state = solver.solution().state
        dual, (r2, average_weight, _) = state["dual"], state["scalars"]
        np.testing.assert_allclose(state["responses"], Q @ dual, atol=1e-12)
        assert r2 == pytest.approx(dual @ Q @ dual, abs=1e-12)
        assert r2 <= 1 and dual.min() >= 0 and not dual[p.weights == 0].any()
        seen_interior += r2 < 1
        if t > 20:
            total += (t / 1000) ** 1.5 * dual
            total_weight += (t / 1000) ** 1.5
    assert seen_interior > 5
    np.testing.assert_allclose(state["average"], total, rtol=1e-12)
    np.testing.assert_allclose(state["average_responses"], Q @ total, atol=1e-12)
    assert average_weight == pytest.approx(total_weight)
    assert solver.n_kernel_evaluations == 300 * p.n


def test_squared_norm_is_refreshed(random_problem):
    p = random_problem(2)
    solver = SBP(p.rows, p.y, nu=0.1, random_state=0)
    solver.advance(999)
    solver.work.squared_norm = 0.5  # as if it had drifted away
    solver.advance(1)
    state = solver.solution().state
    assert state["scalars"][0] == pytest.approx(state["dual"] @ state["responses"], abs=1e-14)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_loss_of_the_output_is_the_water(random_problem, fit_intercept, weighted):
    """L(w_out) = nu / gamma exactly, since the slack is the volume of the water; and ||w_out|| <= 1/gamma."""
    for seed in range(4):
        p = random_problem(seed)
        weights = p.weights if weighted else np.ones(p.n)
        solver = SBP(p.rows, p.y, nu=0.4, weights=weights, fit_intercept=fit_intercept, random_state=seed)
        solver.advance(200)
        assert solver.separable
        out, gamma = solver.solution(), -solver.objective()
        f = p.K @ out.coef
        loss = weights @ np.maximum(0, 1 - p.y * (f + out.intercept)) / weights.sum()
        assert loss == pytest.approx(0.4 / gamma, rel=1e-12)
        assert np.sqrt(out.coef @ f) <= 1 / gamma


def test_six_points_at_the_nu_of_their_optimum(six_points):
    p = six_points
    Q = p.y[:, None] * p.K * p.y
    assert water_level(p.heights / p.norm, np.ones(6), 6 * p.nu).gamma == pytest.approx(p.gamma, abs=1e-6)
    solver = SBP(p.rows, p.y, nu=p.nu, fit_intercept=False, random_state=0)
    for n_iter, low in ((1000, 0.67), (4000, 0.68)):
        solver.advance(n_iter)
        gamma, out = -solver.objective(), np.abs(solver.solution().coef)
        assert low < gamma < p.gamma
        # Lemma 2.1: what is eps from the best level is near the regularised optimum; the loss just so.
        room = (1 - (p.gamma - gamma) * p.norm) * (1 - 1e-8)
        assert np.sqrt(out @ Q @ out) <= p.norm / room
        assert np.maximum(0, 1 - Q @ out).mean() <= p.loss / room
    assert solver.gap() is None and not solver.check(1e9) and not solver.converged


def test_seven_points_at_the_nu_of_their_optimum(seven_points):
    p = seven_points
    heights = p.y * (p.K @ (p.y * p.dual))
    level = water_level(heights / p.norm, np.ones(7), 7 * p.nu, p.y)
    assert level.gamma == pytest.approx(p.gamma, abs=1e-6)
    assert level.b / level.gamma == pytest.approx(p.intercept, abs=1e-5)
    solver = SBP(p.rows, p.y, nu=p.nu, random_state=0)
    solver.advance(5_000)
    assert 0.65 < -solver.objective() < p.gamma
    assert solver.solution().intercept == pytest.approx(p.intercept, abs=0.1)


def test_two_points_by_hand():
    solver = SBP(ReferenceRows(np.array([[1.0], [-1.0]]), Linear()), [1, -1], nu=0.5, random_state=0)
    solver.advance(50)
    assert -solver.objective() == pytest.approx(1.5)  # every step ends at w = 1
    assert solver.solution().coef @ [1, -1] == pytest.approx(1 / 1.5)


def test_hard_margin_of_separable_data(optimum):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(20, 2)) + 3, rng.normal(size=(20, 2)) - 3]
    y = np.repeat([1.0, -1.0], 20)
    best = optimum(X @ X.T, y, alpha=1e-6)
    margin = 1 / np.sqrt(best.coef @ X @ X.T @ best.coef)
    solver = SBP(ReferenceRows(X, Linear()), y, nu=0.0, random_state=0)
    solver.advance(1000)
    assert 0.9 * margin < -solver.objective() <= margin * (1 + 1e-6)


def test_level_below_zero_is_flagged_and_not_divided_by():
    rows = ReferenceRows(np.array([[1.0], [2.0], [3.0]]), Linear())
    solver = SBP(rows, [1, -1, 1], nu=0.0, fit_intercept=False, random_state=0)
    solver.advance(3)
    assert solver.objective() > 0 and not solver.separable
    solution = solver.solution()
    np.testing.assert_allclose(np.abs(solution.coef), solution.state["average"] / 3)


@pytest.mark.parametrize("budget", [dict(nu=0.1), dict(alpha=0.02)])
@pytest.mark.parametrize("first, n_iter", [(1, 200), (31, 200), (32, 200), (400, 1100)])
def test_resumed_is_one_long_run(random_problem, budget, first, n_iter):
    """Budgets are tuned at steps 32, 40, 50 and so on; in step 1,000 the norm is computed anew."""
    p = random_problem(3)
    common = dict(weights=p.weights, burn_in=5, average_power=1.0, **budget)
    whole = SBP(p.rows, p.y, random_state=7, **common)
    whole.advance(n_iter)

    rng = np.random.default_rng(7)
    part = SBP(p.rows, p.y, random_state=rng, **common)
    part.advance(first)
    rest = SBP(p.rows, p.y, random_state=rng, initial=part.solution(), **common)
    rest.advance(n_iter - first)
    assert rest.n_iter == whole.n_iter == n_iter
    np.testing.assert_array_equal(rest.solution().coef, whole.solution().coef)
    assert rest.solution().intercept == whole.solution().intercept
    assert rest.objective() == whole.objective()


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_permutation_of_the_rows_permutes_the_coefficients(random_problem, fit_intercept):
    p = random_problem(4)
    order = p.rng.permutation(p.n)
    common = dict(alpha=0.02, fit_intercept=fit_intercept)
    a, choices = recording(p.rows, p.y, random_state=0, weights=p.weights, **common)
    a.advance(300)
    position = np.argsort(order)
    rows = ReferenceRows(p.X[order], Gaussian(1.0))
    b, _ = scripted(rows, p.y[order], weights=p.weights[order], choices=position[choices], **common)
    b.advance(300)
    np.testing.assert_allclose(a.solution().coef[order], b.solution().coef, rtol=1e-9, atol=1e-12)
    assert a.solution().intercept == pytest.approx(b.solution().intercept, abs=1e-9)


def test_scaling_the_kernel_changes_no_decision(random_problem):
    p = random_problem(5)
    a = SBP(p.rows, p.y, nu=0.2, random_state=0)
    b = SBP(ReferenceRows(9 * p.K, Precomputed()), p.y, nu=0.2 * 3, random_state=0)
    a.advance(200)
    b.advance(200)
    np.testing.assert_allclose(p.K @ a.solution().coef, 9 * p.K @ b.solution().coef, rtol=1e-9, atol=1e-12)
    assert a.solution().intercept == pytest.approx(b.solution().intercept)


@pytest.mark.parametrize("budget", ["alpha", "nu"])
def test_warm_start_keeps_the_function(random_problem, optimum, budget):
    p = random_problem(3)
    best = optimum(p.K, p.y, 0.05)
    norm = np.sqrt(best.coef @ p.K @ best.coef)
    loss = np.maximum(0, 1 - p.y * (p.K @ best.coef + best.intercept)).mean()
    given = dict(alpha=0.05) if budget == "alpha" else dict(nu=loss / norm)
    initial = Solution(best.coef, best.intercept, n_iter=10_000)
    solver = SBP(p.rows, p.y, initial=initial, random_state=0, **given)
    np.testing.assert_allclose(solver.solution().coef, best.coef, rtol=1e-6, atol=1e-9)
    assert solver.n_iter == 10_000
    start = solver.objective()
    solver.advance(200)
    assert solver.objective() <= start + 0.02 * abs(start)


def test_before_the_first_step(random_problem):
    p = random_problem(0)
    tuned, given = SBP(p.rows, p.y, alpha=0.1), SBP(p.rows, p.y, nu=0.3)
    for solver in (tuned, given):
        assert not solver.solution().coef.any()
        assert solver.first_check == p.n and solver.granularity == 1
    assert tuned.objective() == pytest.approx(2 * min((p.y > 0).mean(), (p.y < 0).mean()))
    assert tuned.gap() == tuned.objective()
    assert tuned.separable and given.separable


def test_rows_of_zeros_are_harmless():
    solver = SBP(ReferenceRows(np.zeros((4, 2)), Linear()), [1, 1, 1, -1], alpha=0.1, random_state=0)
    solver.advance(50)
    assert solver.objective() == pytest.approx(0.5)
    assert solver.solution().intercept == pytest.approx(1.0)


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(alpha=None), "exactly one of alpha"),
        (dict(nu=0.1), "exactly one of alpha"),
        (dict(alpha=-1.0), "alpha must be"),
        (dict(alpha=None, nu=-0.1), "nu must be"),
        (dict(alpha="0.1"), "alpha must be"),
        (dict(alpha=None, nu=np.nan), "nu must be"),
        (dict(burn_in=-1), "burn_in"),
        (dict(average_power=-1), "average_power"),
        (dict(y=-np.ones(30)), r"the class \+1 needs"),
        (dict(initial=Solution(np.zeros(3))), "3 coefficients"),
    ],
)
def test_bad_input_is_refused(random_problem, change, message):
    p = random_problem(0)
    options = dict(y=p.y, alpha=0.1) | change
    with pytest.raises(ValueError, match=message):
        SBP(p.rows, options.pop("y"), **options)
