"""The parts of a certificate by themselves: bounds are the best of their kind, and cover what they claim to cover."""

import tracemalloc
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from kernbench.kernels import Gaussian, Laplacian, Precomputed, Sigmoid
from kernbench.kernels.rows import KernelRows
from kernbench.losses.duality import best_multiple
from kernbench.losses.margin import MARGIN_LOSSES, Hinge
from kernbench.pairs import AllPairs
from kernbench.problems.certificate import extended
from kernbench.problems.certificate.certify import certify, measured
from kernbench.problems.certificate.extended import LONG, Expansion, Features
from kernbench.problems.certificate.kernel_values import error_of_values
from kernbench.problems.certificate.risks import MarginRisk, PairRisk, ScoresRisk
from kernbench.problems.certificate.rounding import Rounding, of_expansion, of_weights
from kernbench.problems.margin_problem import MarginProblem
from kernbench.solvers.base import Solution

Y = np.repeat([-1.0, 1.0], 20)
X = np.random.default_rng(0).normal(size=(40, 3)) + 0.3 * Y[:, None]


def risk_of_pairs(alpha):
    pairs = AllPairs(Y)
    return ScoresRisk(lambda scores: pairs.value_and_subgradient(scores, "hinge"), alpha, 40, 2.0)


def risk_of_margins(weight=1.0, loss="hinge", alpha=0.1):
    rows = KernelRows(X, Gaussian(1.0), dtype=np.float64)
    return MarginRisk(MarginProblem(rows, Y, alpha=alpha, weights=np.full(40, weight), loss=loss))


@pytest.mark.parametrize("alpha", [1e-3, 10.0])
def test_the_bound_of_scores_is_the_best_of_the_multiples_of_a_subgradient(alpha):
    risk, w = risk_of_pairs(alpha), np.array([0.1, 0.2, -0.1])
    ((bound, spread),) = risk.lower_bounds(Features(X), w, X @ w, 0.0, {})
    value, slopes = risk.evaluate(X @ w)
    u = X.T @ slopes
    thetas = np.linspace(0.0, 1.0, 100_001)
    duals = thetas * (value - slopes @ X @ w) - 0.5 * thetas**2 * (u @ u) / alpha
    assert bound == pytest.approx(duals.max(), rel=1e-3) and bound > 0.0
    assert spread == pytest.approx(thetas[duals.argmax()] * np.abs(slopes).sum(), rel=1e-2)
    for scale in np.linspace(0.0, 3.0, 31):
        v = scale * np.array([0.4, 0.3, 0.3])
        assert bound <= 0.5 * alpha * v @ v + risk.evaluate(X @ v)[0]


def test_differences_of_scores_keep_their_digits_far_from_zero():
    risk = risk_of_pairs(0.1)
    scores = np.random.default_rng(1).integers(-20, 20, 40).astype(LONG) / 8
    assert risk.value(scores + LONG(2) ** (np.finfo(LONG).nmant - 8), 0.0) == risk.value(scores, 0.0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
@pytest.mark.parametrize("far", [0.0, 1e6, 1e13])
def test_a_risk_of_pairs_is_known_up_to_its_rounding(far, loss):
    """One score far away costs the others no digits."""
    pairwise = SimpleNamespace(drawn=None, loss=loss)
    risk = PairRisk(SimpleNamespace(pairwise=pairwise, positive=Y > 0, weights=None, alpha=0.1, n=40))
    scores = np.random.default_rng(0).normal(size=40) + LONG(1) / 3
    scores[-1] += far
    exact = MARGIN_LOSSES[loss].value(scores[Y > 0][:, None] - scores[Y < 0]).mean()
    value = risk.value(scores, 0.0)
    assert abs(value - exact) <= min(1e-13, risk.rounding(value, scores))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
@pytest.mark.parametrize("weight", [0.2, 1.0, 5.0])
def test_the_change_of_a_risk_covers_that_of_its_scores(weight, loss):
    risk, scores, error = risk_of_margins(weight, loss), -0.5 * Y.astype(LONG), 1e-3
    before, after = risk.value(scores, 0.0), risk.value(scores - error * Y, 0.0)
    bound = risk.change(float(before), error)
    assert 0.5 * bound <= after - before <= bound * (1 + 1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_change_and_slopes_of_a_risk_of_pairs_are_covered(loss):
    """Where one score of each pair falls as the other grows."""
    pairwise = SimpleNamespace(drawn=None, loss=loss)
    risk = PairRisk(SimpleNamespace(pairwise=pairwise, positive=Y > 0, weights=None, alpha=0.1, n=40))
    scores, error = -0.5 * Y.astype(LONG), 1e-3
    before, after = risk.value(scores, 0.0), risk.value(scores - error * Y, 0.0)
    bound = risk.change(float(before), error)
    assert 0.5 * bound <= after - before <= bound * (1 + 1e-9)
    assert 0.2 * risk.reach <= np.abs(risk.evaluate(np.zeros(40))[1]).sum() <= risk.reach


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_rounding_grows_in_proportion_to_weights_and_alpha(loss):
    one, five = risk_of_margins(1.0, loss, 0.1), risk_of_margins(5.0, loss, 0.5)
    for of, size in ((of_weights, (0.1, 3.0, 2.0, 4)), (of_expansion, (3.0, 2.0, 1e-12))):
        known = of(one, 0.5, *size)
        larger = of(five, 2.5, *((0.5, *size[1:]) if of is of_weights else size))  # of the gap, too
        ratios = larger.objective / known.objective, larger.bound / known.bound
        assert ratios == pytest.approx((5.0, 5.0), rel=1e-9)


def test_scores_of_sparse_rows_some_of_which_are_empty_are_those_of_dense_ones():
    Z, w = X.copy(), np.array([0.1, 0.2, -0.1])
    Z[[0, 5, 6, 39]] = 0.0
    found = [Features(form(Z)).scores(w) for form in (np.asarray, sparse.csr_matrix)]
    np.testing.assert_allclose(*np.array(found, dtype=np.float64), rtol=1e-15)


def test_a_bound_above_the_objective_of_zero_is_lowered_to_it():
    out_of_reach = SimpleNamespace(work=np.inf)
    settings = {"objective": 1.5, "gap": 0.1, "tol": 1e-3, "known": Rounding(0.0, 0.0)}
    found = certify(risk_of_margins(), Solution(np.ones(40)), make_space=lambda: out_of_reach, **settings)
    assert (found.objective, found.gap) == (1.0, 0.0)


@pytest.mark.parametrize("error, is_zero", [(1e-16, True), (1e-18, False)])
def test_an_objective_below_zero_by_rounding_alone_gives_way_to_zero(monkeypatch, error, is_zero):
    """Where objectives may be negative the optimum may be f = 0."""
    found = -1e-17, error, -2e-17, np.zeros(40)
    monkeypatch.setattr("kernbench.problems.certificate.certify._extended", lambda *arguments: found)
    risk = SimpleNamespace(lowest=-np.inf, at_zero=lambda: (0.0, 0.0), change=lambda risk, error: 0.0)
    settings = {"objective": 1e-17, "gap": 1e-17, "tol": 1e-3, "known": Rounding(1e-16, 1e-16)}
    certificate = certify(risk, Solution(np.ones(40)), make_space=lambda: SimpleNamespace(work=0), **settings)
    assert (certificate.intercept_of_zero is not None) == is_zero


@pytest.mark.parametrize("folding, is_zero", [(0.05, False), (0.2, True)])
def test_a_model_that_is_worse_than_zero_as_it_is_stored_gives_way_to_zero(folding, is_zero):
    """The hinge moves by as much as the scores, from 0.9; of f = 0 it is 1."""
    settings = {"objective": 0.9, "gap": 0.01, "tol": 1e-3, "known": Rounding(0.0, 0.0), "make_space": None}
    found = certify(risk_of_margins(), Solution(np.zeros(40)), folding=folding, **settings)
    assert (found.intercept_of_zero is not None) == is_zero
    assert found.objective == (1.0 if is_zero else 0.9)
    assert found.objective - found.gap <= 0.89 + 1e-12


def test_errors_of_values_count_as_those_of_the_coefficients_that_make_the_bound():
    """The bound with ten times the coefficients is that of a model of ten times the size, with errors of that size."""
    risk, coef = risk_of_margins(), np.random.default_rng(1).normal(size=40)
    own = measured(risk, 0.5, 10.0 * coef, 1.0, 1e-14, 1e-5, 0.0)
    risk.dual_size = 10.0 * np.abs(coef).sum()
    other = measured(risk, 0.5, coef, 1.0, 1e-14, 1e-6, 0.0)
    assert other.bound == pytest.approx(own.bound, rel=1e-12) and other.objective < own.objective


def test_errors_of_the_terms_of_sums_and_products_add_up():
    one, other = Gaussian(1e-3), Laplacian(1e-3)
    for dtype in ("float32", "float64"):
        least = error_of_values(one, dtype, X) + error_of_values(other, dtype, X)
        assert least <= error_of_values(one * other, dtype, X) and least <= error_of_values(one + other, dtype, X)


def test_terms_of_a_sigmoid_that_cancel_count_in_extended_precision():
    rng = np.random.default_rng(0)
    rows, kernel = np.column_stack([1e4 + 1e-5 * rng.normal(size=20), rng.normal(size=20)]), Sigmoid(1.0, -1e8)
    space, of_rows = Expansion(kernel, rows), [[Fraction(value) for value in row] for row in rows.tolist()]
    exact = np.tanh([[float(x[0] * z[0] + x[1] * z[1] - 10**8) for z in of_rows] for x in of_rows])
    rounding = 4 * np.finfo(float).eps  # of `exact`, in float64
    error = float(np.abs(space._values(np.arange(20), np.arange(20)) - exact).max())
    assert error <= (space.value_error + rounding) * np.diagonal(exact).max()
    assert space.value_error >= 1e8 * extended.EPS


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_terms_of_a_sigmoid_that_have_one_sign_do_not_cancel(sign):
    """However large they are: where tanh is flat, their rounding does not show."""
    rows, kernel = sign * np.random.default_rng(0).uniform(size=(30, 6)) * np.logspace(-3, 6, 30)[:, None], Sigmoid(0.5)
    exact, values = np.tanh(0.5 * (rows @ rows.T)), kernel(rows.astype(np.float32), rows.astype(np.float32))
    error = error_of_values(kernel, "float32", rows)
    assert np.abs(values - exact).max() <= error * np.diagonal(exact).max() and error < 1e-5
    assert error_of_values(kernel, "float32", np.vstack([rows, -rows])) > 1.0


def test_a_rounding_error_that_is_not_a_number_certifies_nothing():
    X, y = np.ones((4, 1)), np.array([1.0, 1.0, -1.0, 1.0])
    risk = MarginRisk(MarginProblem(KernelRows(X, Gaussian()), y, alpha=1e30, fit_intercept=False))
    unknown = Rounding(np.nan, np.nan)
    model = Solution(1e-3 * y, 0.0)
    options = {"objective": 0.9, "gap": 0.1, "tol": 1e-3, "known": unknown}
    found = certify(risk, model, **options, make_space=lambda: SimpleNamespace(work=np.inf))
    assert found.gap == np.inf


def test_a_quadratic_term_that_overflows_gives_the_bound_of_zero():
    assert best_multiple(np.ones(3), np.ones(3), np.inf, 3, Hinge) == 0.0
    assert best_multiple(np.ones(3), np.ones(3), np.nan, 3, Hinge) == 0.0


@pytest.mark.parametrize("kept, most", [(2**30, 1.5), (0, 0.5)], ids=["all are kept", "none is kept"])
def test_kernel_values_of_other_columns_take_the_place_of_those_before(monkeypatch, kept, most):
    """In the memory that they need; the scores do not depend on what is kept."""
    K, coef = np.random.default_rng(0).normal(size=(500, 500)), np.random.default_rng(1).normal(size=500)
    coefs = [coef, coef, np.where(np.arange(500) == 7, 0.0, coef)]
    monkeypatch.setattr(extended, "TILE", 2**13)
    expected = [Expansion(Precomputed(), K).scores(c) for c in coefs]
    monkeypatch.setattr(extended, "KEPT_BYTES", kept)
    space = Expansion(Precomputed(), K)
    tracemalloc.start()
    try:
        scores = [space.scores(c) for c in coefs]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.array_equal(scores, expected)
    assert peak < most * K.size * np.dtype(LONG).itemsize
