import numpy as np
import pytest

from kernbench.kernels.functions import Precomputed
from kernbench.losses.duality import balanced, best_multiple, dual_bound, dual_variables
from kernbench.losses.regression import RESIDUAL_LOSSES, regression_loss
from kernbench.problems.margin_problem import MarginProblem
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_bound_never_exceeds_the_optimum_and_meets_it_there(random_problem, optimum, fit_intercept, weighted):
    for seed in range(3):
        p = random_problem(seed)
        weights, alpha = p.weights if weighted else np.ones(p.n), 10.0 ** -(1 + seed % 3)
        best = optimum(p.K, p.y, alpha, weights, fit_intercept)

        def bound(coef):
            return dual_bound(p.rows, p.y, coef, alpha=alpha, weights=weights, fit_intercept=fit_intercept)

        assert bound(best.coef) == pytest.approx(best.objective, rel=1e-5)
        for noise in (0.1, 1.0, 10.0):
            size = noise / (alpha * p.n)
            assert bound(best.coef + size * p.rng.normal(size=p.n)) <= best.objective * (1 + 1e-7)
            assert bound(p.y * size * p.rng.random(p.n)) <= best.objective * (1 + 1e-7)


def test_dual_variables_are_feasible(random_problem):
    p = random_problem(1)
    for fit_intercept in (False, True):
        coef = p.rng.normal(size=p.n)
        a = dual_variables(p.y, coef, alpha=0.1, weights=p.weights, fit_intercept=fit_intercept)
        assert a.min() >= 0 and a.max() <= 1
        assert not a[p.weights == 0].any()
        if fit_intercept:
            assert (p.weights * a) @ p.y == pytest.approx(0, abs=1e-13)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_dual_variables_of_residuals_are_feasible(fit_intercept):
    rng, loss = np.random.default_rng(0), regression_loss("quantile", quantile=0.2)
    coef, weights = rng.normal(size=30), rng.uniform(0.1, 3.0, 30)
    a = dual_variables(np.ones(30), coef, alpha=0.1, weights=weights, fit_intercept=fit_intercept, loss=loss)
    assert a.min() >= -0.8 and a.max() <= 0.2 and np.all(a * coef > 0)
    if fit_intercept:
        assert weights @ a == pytest.approx(0, abs=1e-13)


def test_a_multiple_of_dual_variables_stays_in_their_domain():
    """That of a quantile is [q - 1, q]: here D(theta a) = theta - 0.01 theta^2 / 2 grows up to theta = 0.2 / 0.1."""
    loss, a = regression_loss("quantile", quantile=0.2), np.array([0.1, -0.1])
    assert best_multiple(a, np.ones(2), 0.01, 2, loss, np.array([10.0, -10.0])) == pytest.approx(1.98)


@pytest.mark.parametrize("loss", RESIDUAL_LOSSES)
def test_the_bound_of_tiny_coefficients_is_that_of_their_multiples(random_problem, loss):
    """Their squares underflow."""
    p = random_problem(0)
    targets, coef = p.rng.normal(size=p.n), 1e-3 * p.rng.normal(size=p.n)
    bounds = [
        dual_bound(
            p.rows, np.ones(p.n), size * coef, alpha=0.1, weights=p.weights, fit_intercept=False, targets=targets,
            loss=regression_loss(loss),
        )
        for size in (1.0, 2.0**-600)
    ]  # fmt: skip
    assert bounds[0] == bounds[1] > 0.0


@pytest.mark.parametrize("loss", RESIDUAL_LOSSES)
def test_the_bound_of_coefficients_against_their_targets_is_zero(random_problem, loss):
    """That of a negative multiple would be positive, and none."""
    p = random_problem(0)
    targets = p.rng.normal(size=p.n)
    settings = {"weights": p.weights, "fit_intercept": False, "targets": targets, "loss": regression_loss(loss)}
    assert dual_bound(p.rows, np.ones(p.n), -0.1 * targets, alpha=0.1, **settings) == 0.0


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_known_responses_change_nothing_but_the_cost(random_problem, fit_intercept):
    class Counting(ReferenceRows):
        products = 0

        def matvec(self, a):
            self.products += 1
            return super().matvec(a)

    p = random_problem(2)
    rows = Counting(p.K, Precomputed())
    options = dict(alpha=0.1, weights=np.ones(p.n), fit_intercept=fit_intercept)
    feasible = dual_variables(p.y, p.y * p.rng.random(p.n) / p.n / 0.1, **options) * p.y / (0.1 * p.n)
    for coef, products in ((0.999 * feasible, 0 if not fit_intercept else None), (100 * feasible, 1)):
        rows.products = 0
        known = dual_bound(rows, p.y, coef, responses=p.K @ coef, **options)
        assert products is None or rows.products == products
        assert known == pytest.approx(dual_bound(rows, p.y, coef, **options), rel=1e-12)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_weight_k_equals_repeat_k(random_problem, fit_intercept):
    p = random_problem(3)
    k = p.weights.astype(int)
    coef = p.y * p.rng.random(p.n) * k * 0.5
    alpha = 0.05
    one = dual_bound(p.rows, p.y, coef, alpha=alpha, weights=p.weights, fit_intercept=fit_intercept)
    total = k.sum()
    repeated = ReferenceRows(np.repeat(np.repeat(p.K, k, axis=0), k, axis=1), Precomputed())
    many = dual_bound(
        repeated,
        np.repeat(p.y, k),
        np.repeat(coef / np.maximum(k, 1), k),
        alpha=alpha * p.n / total,
        weights=np.ones(total),
        fit_intercept=fit_intercept,
    )
    assert one * p.n == pytest.approx(many * total, rel=1e-12)


def test_bound_of_nothing_is_zero(random_problem):
    p = random_problem(4)
    for coef in (np.zeros(p.n), -p.y, np.where(p.y > 0, 1.0, 0.0)):  # no, wrong, and one-sided coefficients
        assert dual_bound(p.rows, p.y, coef, alpha=0.1, weights=p.weights, fit_intercept=True) == 0


def test_worked_optima(six_points, seven_points):
    for p, b in ((six_points, 0.0), (seven_points, seven_points.intercept)):
        problem = MarginProblem(p.rows, p.y, alpha=p.alpha, fit_intercept=b != 0)
        coef = p.y * p.dual
        f = p.K @ coef
        assert problem.objective(f, coef @ f, b) == pytest.approx(p.optimum, abs=2e-6)
        assert np.sqrt(coef @ f) == pytest.approx(p.norm, abs=2e-6)
        assert 0 <= problem.gap(coef, f, b) < 1e-5
    p = six_points
    np.testing.assert_allclose(p.y * (p.K @ (p.y * p.dual)), p.heights, atol=2e-6)


def test_balancing_leaves_coefficients_on_their_bounds_where_only_rounding_is_to_be_balanced():
    beta = np.array([1.0, 1.0, 0.1, 0.2, -0.3, -1.0, -1.0])
    assert beta[beta > 0].sum() != -beta[beta < 0].sum()  # by a last bit
    np.testing.assert_array_equal(balanced(beta), beta)


def test_balancing_scales_the_larger_side_down():
    np.testing.assert_allclose(balanced(np.array([1.0, 2.0, -1.0])), [1 / 3, 2 / 3, -1.0])
    np.testing.assert_allclose(balanced(np.array([1.0, -3.0, -1.0])), [1.0, -0.75, -0.25])
