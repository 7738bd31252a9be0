"""The mean of a list of losses over a range of ranks."""

import numpy as np
import pytest

from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.losses.regression import REGRESSION_LOSSES
from kernbench.metrics import ranked_range
from kernbench.pairs import RankedRange
from kernbench.reference.pairs import ranked_range as reference

LOSSES = {**MARGIN_LOSSES, **REGRESSION_LOSSES}
TWINS = pytest.mark.parametrize("Range", [RankedRange, reference.RankedRange], ids=["compiled", "reference"])
EVERY_LOSS = pytest.mark.parametrize("loss", LOSSES)


def problem(rng, loss, n, ties=False, weighted=False):
    y = rng.choice([-1.0, 1.0], size=n) if loss in MARGIN_LOSSES else rng.normal(size=n)
    scores = 2 * rng.normal(size=n)
    if ties:
        y, scores = np.round(y), np.round(scores)
    return y, scores, rng.uniform(0.1, 2.0, size=n) if weighted else None


def list_of_losses(y, scores, loss):
    margin = loss in MARGIN_LOSSES
    argument = y * scores if margin else scores - y
    return LOSSES[loss].value(argument), LOSSES[loss].slope(argument) * (y if margin else 1)


def phi(losses, slopes, w, mass):
    """The best of all shares: whole losses in decreasing order, ties by index, then a part."""
    order = sorted(range(len(losses)), key=lambda j: (-losses[j], j))
    value, gradient = 0.0, np.zeros(len(losses))
    for j in order:
        share = min(w[j], mass)
        value, mass = value + share * losses[j], mass - share
        gradient[j] = share * slopes[j]
    return value, gradient


@TWINS
@EVERY_LOSS
def test_range_is_the_sum_of_the_ranked_losses(Range, loss):
    rng = np.random.default_rng(0)
    for trial in range(60):
        n = int(rng.integers(1, 30))
        y, scores, weights = problem(rng, loss, n, trial % 2 == 0, trial % 3 == 0)
        w = np.ones(n) if weights is None else weights
        low, high = np.sort(rng.uniform(0, w.sum(), size=2))
        if weights is None and trial % 4 < 2:
            low, high = np.floor(low), np.ceil(high)
        losses, slopes = list_of_losses(y, scores, loss)
        (upper, g), (lower, h) = (
            (v / (high - low), d / (high - low)) for v, d in (phi(losses, slopes, w, m) for m in (high, low))
        )
        found = Range(y, (low, high), loss=loss, sample_weight=weights)
        tied_losses = loss in ("hinge", "squared_hinge", "epsilon_insensitive")  # 0 beyond the margin, with slope 0
        for (value, gradient), (expected, slope) in (
            (found.upper_and_subgradient(scores), (upper, g)),
            (found.lower_and_subgradient(scores), (lower, h)),
            (found.value_and_subgradient(scores), (upper - lower, g - h)),
        ):
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-12 * max(1, upper))
            if not tied_losses or np.all(losses > 0):
                np.testing.assert_allclose(gradient, slope, rtol=1e-10, atol=1e-12 * max(1, np.abs(g).max()))


@EVERY_LOSS
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_twins_agree(loss, weighted):
    rng = np.random.default_rng(1)
    for n, ties in ((7, False), (4000, False), (4000, True)):
        y, scores, weights = problem(rng, loss, n, ties, weighted)
        for ends in ((0, n // 3), (n // 7, n // 2), (n // 2, n // 2 + 1)):
            found = RankedRange(y, ends, loss=loss, sample_weight=weights)
            expected = reference.RankedRange(y, ends, loss=loss, sample_weight=weights)
            for name in ("upper_and_subgradient", "lower_and_subgradient", "value_and_subgradient"):
                one, other = getattr(found, name)(scores), getattr(expected, name)(scores)
                assert one[0] == pytest.approx(other[0], rel=1e-11, abs=1e-12 * n)
                np.testing.assert_allclose(one[1], other[1], rtol=1e-9, atol=1e-11)
            v = rng.normal(size=n)
            product = found.hessian_product(scores, v)
            np.testing.assert_allclose(product, expected.hessian_product(scores, v), rtol=1e-8, atol=1e-11)
            upper, lower, g, h = found.parts(scores)
            assert (upper, lower) == (found.upper_and_subgradient(scores)[0], found.lower_and_subgradient(scores)[0])
            np.testing.assert_array_equal(g, found.upper_and_subgradient(scores)[1])
            np.testing.assert_array_equal(h, found.lower_and_subgradient(scores)[1])


@TWINS
@EVERY_LOSS
def test_whole_ranks_are_the_metric(Range, loss):
    rng = np.random.default_rng(2)
    y, scores, _ = problem(rng, loss, 50)
    losses, _ = list_of_losses(y, scores, loss)
    value, _ = Range(y, (3, 20), loss=loss).value_and_subgradient(scores)
    assert value == pytest.approx(ranked_range(losses, 3, 20) / 17, rel=1e-12)
    assert Range(y, (0, 50), loss=loss).value_and_subgradient(scores)[0] == pytest.approx(losses.mean(), rel=1e-12)


@TWINS
@pytest.mark.parametrize("size", [1e-290, 1e-320])
def test_residuals_too_small_to_tell_apart_are_tied(Range, size):
    scores = [np.nextafter(size, 0), 2.0, size, np.nextafter(size, 1), 1.0]
    for n, expected in ((3, [1, 1, 0, 0, 1]), (4, [1, 1, 1, 0, 1])):
        value, slopes = Range(np.zeros(5), (0, n), loss="absolute_error").value_and_subgradient(scores)
        assert value == 3 / n
        np.testing.assert_allclose(slopes, np.divide(expected, n))


def test_extreme_scores_are_ranked_and_others_refused():
    found = RankedRange([1, -1, 1], (0, 1)).value_and_subgradient([-1e300, 5.0, 800.0])
    assert found[0] == 1e300
    np.testing.assert_array_equal(found[1], [-1, 0, 0])
    with pytest.raises(ValueError, match="finite.* index 1"):
        RankedRange([1, -1], (0, 1)).value_and_subgradient([0.0, np.nan])
    largest = np.finfo(float).max
    with pytest.raises(ValueError, match="too far apart"):
        RankedRange([-largest, -largest, 0.0], (0, 1), loss="absolute_error").value_and_subgradient([0.0, largest, 0.0])


@TWINS
@pytest.mark.parametrize(
    "arguments, message",
    [
        (([1, -1, 1], (1, 1)), "0 <= m < n"),
        (([1, -1, 1], (2, 1)), "0 <= m < n"),
        (([1, -1, 1], (0, 4)), "beyond the losses, whose total weight is 3"),
        (([1, -1, 1], (0, np.nan)), "numbers"),
        (([1, -1, 1], 2), "pair"),
        (([1, 2, 3], (0, 1)), "labels"),
        (([], (0, 1)), "empty"),
    ],
)
def test_bad_ranges_are_refused(Range, arguments, message):
    with pytest.raises(ValueError, match=message):
        Range(*arguments)
    with pytest.raises(ValueError, match="did you mean 'huber'"):
        Range([1, -1], (0, 1), loss="hubber")
    with pytest.raises(ValueError, match="weight above 0"):
        Range([1, -1], (0, 1), sample_weight=[0, 0])
