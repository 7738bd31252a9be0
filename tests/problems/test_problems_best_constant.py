"""The constant of least loss, by brute force."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from kernbench import KernelRegressor
from kernbench.losses.regression import RESIDUAL_LOSSES
from kernbench.problems.intercept import _zero_of_slope, best_constant, best_intercept
from kernbench.problems.margin_problem import MarginProblem

PARAMETERS = {"huber": (0.1, 1.0, 10.0), "epsilon_insensitive": (0.0, 0.3, 4.0), "quantile": (0.1, 0.5, 0.8),
              "squared_epsilon_insensitive": (0.0, 0.3, 4.0)}  # fmt: skip
CASES = [RESIDUAL_LOSSES[name](p) for name in RESIDUAL_LOSSES for p in PARAMETERS.get(name, (None,))]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("loss", CASES, ids=lambda loss: f"{loss.name}-{loss.parameter:g}")
def test_no_other_constant_has_a_smaller_loss(loss, weighted):
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 30):
        targets = rng.normal(size=n) * rng.choice([0.1, 1.0, 10.0]) + rng.integers(-3, 4)
        weights = rng.integers(0, 3, size=n) + (np.arange(n) == 0) if weighted else np.ones(n)

        def total(b):
            return weights @ loss.value(b - targets)  # noqa: B023

        found = total(best_constant(targets, weights if weighted else None, loss))
        kinks = np.concatenate([targets + k * (loss.parameter or 0.0) for k in (-1, 0, 1)])
        searched = minimize_scalar(total, bounds=(targets.min(), targets.max() + 1e-9), options={"xatol": 1e-12})
        assert found <= min(total(searched.x), *map(total, kinks)) * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("loss", CASES, ids=lambda loss: f"{loss.name}-{loss.parameter:g}")
def test_weight_k_equals_repeat_k(loss):
    rng = np.random.default_rng(1)
    targets, weights = rng.normal(size=20), rng.integers(0, 4, size=20)
    repeated = best_constant(np.repeat(targets, weights), None, loss)
    assert best_constant(targets, weights / weights.mean(), loss) == pytest.approx(repeated, abs=1e-12)


def test_the_intercept_of_two_groups_under_huber_lies_between_them():
    y = np.repeat([0.0, 10.0], 5)
    model = KernelRegressor("huber", delta=10.0, alpha=1e6).fit(np.zeros((10, 1)), y)
    assert model.intercept_ == pytest.approx(5.0)


@pytest.mark.parametrize("loss", [loss for loss in CASES if np.isfinite(loss.smoothness)], ids=lambda loss: loss.name)
def test_the_search_for_any_loss_finds_what_the_formulas_do(loss):
    rng = np.random.default_rng(1)
    for n in (1, 2, 30):
        targets, weights = rng.normal(size=n), rng.uniform(0.5, 2.0, size=n)
        found, formula = (
            weights @ loss.value(b - targets)
            for b in (_zero_of_slope(targets, weights, loss), best_constant(targets, weights, loss))
        )
        assert found == pytest.approx(formula, rel=1e-10, abs=1e-13)


@pytest.mark.parametrize("loss", CASES, ids=lambda loss: f"{loss.name}-{loss.parameter:g}")
def test_rows_without_weight_do_not_move_it(loss):
    targets, weights = np.array([0.0, 0.2, 1.0, 100.0]), np.array([1.0, 1.0, 1.0, 0.0])
    assert best_constant(targets, weights, loss) == pytest.approx(best_constant(targets[:3], None, loss))


@pytest.mark.parametrize("delta", [10.0, 1e4, 1e12, 1e18, 1e200])
@pytest.mark.parametrize("unit", [1.0, 1e-17])
def test_the_constant_of_a_wide_huber_loss_is_the_mean(unit, delta):
    loss, targets = RESIDUAL_LOSSES["huber"](delta), unit * np.array([0.0, 1.0, 2.0, 7.0])
    assert best_constant(targets, None, loss) == pytest.approx(2.5 * unit, rel=1e-10, abs=0.0)
    assert best_constant(targets, np.array([1.0, 0.0, 2.0, 1.0]), loss) == pytest.approx(
        2.75 * unit, rel=1e-10, abs=0.0
    )


def test_of_many_constants_with_the_least_loss_the_middle_is_taken():
    targets = np.array([0.0, 0.0, 10.0, 10.0])
    for loss in CASES:
        if loss.name not in ("absolute_error", "quantile"):  # one of their quantiles will do
            assert best_constant(targets, None, loss) == pytest.approx(5.0)


def test_sums_of_weights_that_differ_by_rounding_are_the_same():
    y, weights = np.array([1.0, 1.0, 1.0, -1.0]), np.array([0.1, 0.1, 0.1, 0.3])
    problem = MarginProblem(SimpleNamespace(n_rows=4), y, alpha=1.0, weights=weights)
    assert weights[:3].sum() != weights[3]
    assert problem.at_zero == pytest.approx((0.15, 0.0))


def test_the_mean_loss_at_zero_does_not_depend_on_the_unit_of_weights():
    y, rows = np.array([1.0, 2.0]), SimpleNamespace(n_rows=2)
    settings = {"alpha": 1.0, "fit_intercept": False, "loss": "squared_error"}
    losses = [MarginProblem(rows, y, weights=np.full(2, w), **settings).loss_at_zero() for w in (1.0, 3.0)]
    assert losses == pytest.approx([1.25, 1.25])


@pytest.mark.parametrize("heavy", [1.0, 1e6, 1e12])
def test_the_lighter_class_decides_where_the_heavier_has_no_loss(heavy):
    y, weights = np.array([1.0, -1.0, -1.0, -1.0]), np.array([heavy, 0.5, 0.5, 0.25])
    assert best_intercept(np.array([0.0, 0.0, -3.0, -5.0]), y, weights) == 1.0  # from there on the first negative costs
    assert best_intercept(np.array([0.0, -3.0, -4.0, -5.0]), y, weights) == 1.5  # up to 2 no row costs
