"""The logistic loss over all pairs: cells and moments against the sum over the pairs in extended precision."""

import numpy as np
import pytest

from kernbench.pairs import AllPairs

ROUNDING = 1e-15


def in_extended_precision(y, scores, weights=None):
    """Value and gradient by the double sum over all pairs."""
    w = (np.ones(len(y)) if weights is None else weights).astype(np.longdouble)
    t = scores[y][:, None].astype(np.longdouble) - scores[~y]
    share = np.outer(w[y], w[~y]) / (w[y].sum() * w[~y].sum())
    e = np.exp(-np.abs(t))
    losses, slopes = np.log1p(e) + np.maximum(0, -t), -np.where(t > 0, e, 1) / (1 + e)
    gradient = np.empty(len(y), np.longdouble)
    gradient[y], gradient[~y] = np.sum(share * slopes, axis=1), -np.sum(share * slopes, axis=0)
    return np.sum(share * losses), gradient


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("n, spread, shift", [(30, 0.3, 0), (800, 1, 0), (800, 5, 1000), (800, 60, -3), (300, 1e3, 0)])
def test_sums_are_exact_to_rounding(n, spread, shift, weighted):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.arange(n) % 3 == 0
        scores = rng.permutation(rng.normal(size=n) * spread + shift)
        scores[:4] = np.round(scores[:4])  # on the border of a cell
        weights = rng.exponential(size=n) if weighted else None
        value, gradient = in_extended_precision(y, scores, weights)
        pairs = AllPairs(y, weights)
        found, slopes = pairs.value_and_subgradient(scores, "log_loss")
        assert abs(found / value - 1) <= 3 * ROUNDING
        assert pairs.mean_loss(scores, "log_loss") == found
        errors = np.abs(slopes - gradient)
        assert errors.max() <= 4 * ROUNDING * np.abs(gradient).max()
        near = np.abs(gradient) > 1e-12 * np.abs(gradient).max()  # beyond 40 units the slope is 0 or 1
        assert np.max(errors[near] / np.abs(gradient[near])) <= (1e-3 if spread > 10 else 10 * ROUNDING)


@pytest.mark.parametrize("distance", [-60.0, -40.5, -39.5, 0.0, 39.5, 40.5, 60.0])
def test_two_scores_at_any_distance(distance):
    for base in (0.0, 0.25, -7.9):
        loss, slopes = AllPairs([1, -1]).value_and_subgradient([base + distance, base], "log_loss")
        assert loss == pytest.approx(np.logaddexp(0, -distance), rel=1e-14, abs=1e-17)
        np.testing.assert_allclose(slopes[1], 1 / (1 + np.exp(distance)), rtol=1e-13, atol=1e-17)
        assert slopes[0] == pytest.approx(-slopes[1], rel=1e-13)


def test_hessian_product_is_the_derivative_of_the_gradient():
    rng = np.random.default_rng(0)
    n = 500
    y, scores, v, weights = (rng.random(n) < 0.3, 3 * rng.normal(size=n), rng.normal(size=n), rng.exponential(size=n))
    pairs = AllPairs(y, weights)
    ahead, behind = (pairs.value_and_subgradient(scores + sign * 1e-5 * v, "log_loss")[1] for sign in (1, -1))
    product = pairs.hessian_product(scores, v, "log_loss")
    np.testing.assert_allclose((ahead - behind) / 2e-5, product, rtol=1e-6, atol=1e-9 * np.abs(product).max())
    np.testing.assert_allclose(pairs.hessian_product(scores, np.ones(n), "log_loss"), 0, atol=1e-16)


def test_scores_far_apart_are_linear_or_refused():
    assert AllPairs([1, -1]).mean_loss([-1e306, 1e306], "log_loss") == pytest.approx(2e306)
    assert AllPairs([1, -1]).mean_loss([1e306, -1e306], "log_loss") == 0
    with pytest.raises(ValueError, match="too far apart"):
        AllPairs([1, -1]).mean_loss([-1e308, 1e308], "log_loss")


@pytest.mark.parametrize("base, distance", [(3e17, 64.0), (1e17, 48.0)])
def test_two_scores_beyond_whole_numbers(base, distance):
    """The nearest scores to `base` lie 64 and 16 apart: a place 40 units below it is rounded to one of them."""
    pairs, scores = AllPairs([1, -1, -1]), [base, base + distance, base]
    loss, slopes = pairs.value_and_subgradient(scores, "log_loss")
    assert loss == pytest.approx((distance + np.log(2)) / 2, rel=1e-14)
    np.testing.assert_allclose(slopes, [-0.75, 0.5, 0.25], rtol=1e-14)
    product = pairs.hessian_product(scores, [1.0, 0.0, 0.0], "log_loss")
    np.testing.assert_allclose(product, [0.125, 0.0, -0.125], rtol=1e-14, atol=1e-17)
