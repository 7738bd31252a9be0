"""Losses over a window of false positive rates: values and subgradients of both convex parts."""

from itertools import combinations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.pairs import AllPairs, StructuralBound, WindowPairs, window_of
from kernbench.pairs.window import range_of
from kernbench.reference.pairs import structural as structural_reference
from kernbench.reference.pairs import window as reference

LOSSES = ("hinge", "squared_hinge", "log_loss")
TWINS = pytest.mark.parametrize("Window", [WindowPairs, reference.WindowPairs], ids=["compiled", "reference"])
BOUNDS = pytest.mark.parametrize(
    "Bound", [StructuralBound, structural_reference.StructuralBound], ids=["compiled", "reference"]
)
EVERY_LOSS = pytest.mark.parametrize("loss", LOSSES)
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def random_case(rng, largest=6):
    """A small problem: scores with ties in half of the cases, whole, real or no weights, any window."""
    p, n = rng.integers(1, 4), rng.integers(1, largest + 1)
    y = rng.permutation(np.repeat([1, -1], [p, n]))
    scores = rng.normal(size=p + n)
    scores = np.round(2 * scores) / 2 if rng.random() < 0.5 else scores
    weights = [None, rng.integers(1, 4, size=p + n).astype(float), rng.uniform(0.1, 3.0, size=p + n)][rng.integers(3)]
    ends = np.sort(rng.choice([0, 1, 0.25, 0.5, *rng.random(2)], size=2, replace=False))
    if ends[1] - ends[0] < 1e-3:
        ends = np.array([0.0, 1.0])
    return y, scores, weights, tuple(ends)


def all_shares(weights, mass):
    """All vertices of 0 <= u <= weights, sum u = mass: some whole, one in part."""
    n, found = len(weights), []
    for size in range(n + 1):
        for whole in map(list, combinations(range(n), size)):
            rest = mass - weights[whole].sum()
            u = np.zeros(n)
            u[whole] = weights[whole]
            if abs(rest) < 1e-12:
                found.append(u)
            for j in set(range(n)) - set(whole):
                if 0 < rest <= weights[j] + 1e-12:
                    found.append(u + rest * (np.arange(n) == j))
    return np.array(found)


def phi(y, scores, weights, mass, loss):
    """The maximum over all shares, and its gradient for the best shares that come first by index."""
    gradient = np.zeros(len(y))
    if mass <= 0:
        return 0.0, gradient
    positives, negatives = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    margins = scores[positives][:, None] - scores[negatives]
    w, values, slopes = (weights[positives], MARGIN_LOSSES[loss].value(margins), MARGIN_LOSSES[loss].slope(margins))
    shares = all_shares(weights[negatives], mass)
    sums = shares @ (w @ values)
    best = shares[sums >= sums.max() - 1e-13 * abs(sums.max())]
    u = best[np.lexsort(best.T[::-1])[-1]]
    gradient[positives], gradient[negatives] = w * (slopes @ u), -u * (w @ slopes)
    return sums.max(), gradient


@TWINS
@EVERY_LOSS
def test_window_is_the_maximum_over_subsets(Window, loss):
    rng = np.random.default_rng(LOSSES.index(loss))
    for _ in range(200 if Window is WindowPairs else 70):
        y, scores, weights, fpr_range = random_case(rng)
        w = np.ones(len(y)) if weights is None else weights
        total, positive = w[y < 0].sum(), w[y > 0].sum()
        low, high = (end * total for end in fpr_range)
        parts = [phi(y, scores, w, mass, loss) for mass in (high, low)]
        (upper, g), (lower, h) = ((v / (positive * (high - low)), d / (positive * (high - low))) for v, d in parts)
        window = Window(y, fpr_range, loss=loss, sample_weight=weights)
        for found, expected in (
            (window.upper_and_subgradient(scores), (upper, g)),
            (window.lower_and_subgradient(scores), (lower, h)),
            (window.value_and_subgradient(scores), (upper - lower, g - h)),
        ):
            scale = max(1.0, upper)
            assert found[0] == pytest.approx(expected[0], rel=1e-12, abs=1e-12 * scale)
            np.testing.assert_allclose(found[1], expected[1], rtol=1e-12, atol=1e-12 * max(1, np.abs(g).max()))


@EVERY_LOSS
def test_parts_by_one_sort_are_the_parts(loss):
    rng = np.random.default_rng(1)
    for _ in range(50):
        y, scores, weights, fpr_range = random_case(rng, 20)
        window = WindowPairs(y, fpr_range, loss=loss, sample_weight=weights)
        upper, lower, g, h = window.parts(scores)
        for one, other in zip(
            (upper, g, lower, h), (*window.upper_and_subgradient(scores), *window.lower_and_subgradient(scores))
        ):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12 * max(1.0, upper))
        value, slopes = window.value_and_subgradient(scores)
        np.testing.assert_allclose(value, upper - lower, rtol=1e-10, atol=1e-12 * max(1.0, upper))
        np.testing.assert_allclose(slopes, g - h, rtol=1e-10, atol=1e-12 * max(1.0, upper))


@EVERY_LOSS
@WEIGHTED
@pytest.mark.parametrize("n", [50, 2000])
@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.05, 0.5), (0.0, 0.1), (0.31234, 0.31239), (0.9, 1.0)])
def test_twins_agree(loss, weighted, n, fpr_range, pair_problem):
    for ties in (False, True):
        p = pair_problem(3, n, weighted, ties)
        found = WindowPairs(p.y, fpr_range, loss=loss, sample_weight=p.weights)
        expected = reference.WindowPairs(p.y, fpr_range, loss=loss, sample_weight=p.weights)
        for name in ("upper_and_subgradient", "lower_and_subgradient", "value_and_subgradient"):
            one, other = getattr(found, name)(p.scores), getattr(expected, name)(p.scores)
            width = fpr_range[1] - fpr_range[0]
            assert one[0] == pytest.approx(other[0], rel=1e-10, abs=1e-13 / width)
            np.testing.assert_allclose(one[1], other[1], rtol=1e-9, atol=1e-14 / width)
        if loss != "hinge":
            product = found.hessian_product(p.scores, p.v)
            np.testing.assert_allclose(product, expected.hessian_product(p.scores, p.v), rtol=1e-8, atol=1e-14 / width)


@EVERY_LOSS
@WEIGHTED
def test_whole_window_is_all_pairs(loss, weighted, pair_problem):
    p = pair_problem(5, 300, weighted)
    pairs = AllPairs(p.y, p.weights)
    expected = pairs.value_and_subgradient(p.scores, loss)
    for found in (WindowPairs(p.y, loss=loss, sample_weight=p.weights).value_and_subgradient(p.scores),
                  WindowPairs(p.y, loss=loss, sample_weight=p.weights).upper_and_subgradient(p.scores)):  # fmt: skip
        assert found[0] == pytest.approx(expected[0], rel=1e-14)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-13, atol=1e-18)


@TWINS
@EVERY_LOSS
def test_weight_k_equals_k_copies(Window, loss):
    rng = np.random.default_rng(2)
    for _ in range(50):
        y, scores, _, fpr_range = random_case(rng)
        weights = rng.integers(1, 4, size=len(y))
        copies = np.repeat(np.arange(len(y)), weights)
        value, slopes = Window(y, fpr_range, loss=loss, sample_weight=weights).value_and_subgradient(scores)
        expected, of_copies = Window(y[copies], fpr_range, loss=loss).value_and_subgradient(scores[copies])
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-13)
        np.testing.assert_allclose(slopes, np.bincount(copies, of_copies), rtol=1e-10, atol=1e-12)


@TWINS
def test_ranks_are_whole_masses(Window, pair_problem):
    p = pair_problem(4, 60)
    negatives = int(np.sum(p.y < 0))
    one = Window(p.y, ranks=(3, 9)).value_and_subgradient(p.scores)
    other = Window(p.y, (3 / negatives, 9 / negatives)).value_and_subgradient(p.scores)
    np.testing.assert_array_equal(one[1], other[1])
    assert one[0] == other[0]


@EVERY_LOSS
def test_adding_a_constant_and_permuting_changes_nothing(loss, pair_problem):
    p = pair_problem(6, 200, True)
    order = p.rng.permutation(p.n)
    value, slopes = WindowPairs(p.y, (0.1, 0.4), loss=loss, sample_weight=p.weights).value_and_subgradient(p.scores)
    window = WindowPairs(p.y[order], (0.1, 0.4), loss=loss, sample_weight=p.weights[order])
    moved, moved_slopes = window.value_and_subgradient(p.scores[order] + 3.7)
    assert moved == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(moved_slopes, slopes[order], rtol=1e-9, atol=1e-14)


@EVERY_LOSS
def test_smooth_parts_have_these_derivatives(loss, pair_problem):
    p = pair_problem(7, 80, True)
    window = WindowPairs(p.y, (0.1, 0.6), loss=loss, sample_weight=p.weights)
    step = 1e-6 * p.v
    ahead, behind = (window.upper_and_subgradient(p.scores + sign * step) for sign in (1, -1))
    slope = window.upper_and_subgradient(p.scores)[1]
    assert (ahead[0] - behind[0]) / 2e-6 == pytest.approx(slope @ p.v, rel=1e-6, abs=1e-8)
    if loss == "log_loss":
        np.testing.assert_allclose(
            (ahead[1] - behind[1]) / 2e-6, window.hessian_product(p.scores, p.v), rtol=1e-4, atol=1e-9
        )


@EVERY_LOSS
def test_threads_agnosticism(loss):
    rng = np.random.default_rng(8)
    n = 200_000
    y, scores, weights = rng.random(n) < 0.2, rng.normal(size=n), rng.uniform(0.1, 1.0, size=n)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="openmp"):
            window = WindowPairs(y, (0.05, 0.5), loss=loss, sample_weight=weights)
            found.append((*window.parts(scores), *window.value_and_subgradient(scores)))
    for one, other in zip(*found):
        np.testing.assert_array_equal(one, other)


# --- worked numbers -----------------------------------------------------------------------------------------

Y, SCORES = np.array([1, 1, -1, -1, -1, -1]), np.array([1, 0, 2, 0.5, -1, 0])


@TWINS
def test_worked_scores(Window):
    window = Window(Y, (0.25, 0.75), loss="log_loss")
    normaliser = 2 * (3 - 1)
    assert (window.low, window.high) == (1, 3)
    assert window.upper_and_subgradient(SCORES)[0] * normaliser == pytest.approx(2.10060036 + 3.79415218, abs=1e-8)
    assert window.lower_and_subgradient(SCORES)[0] * normaliser == pytest.approx(1.31326169 + 2.12692801, abs=1e-8)
    assert window.value_and_subgradient(SCORES)[0] == pytest.approx(0.61364071, abs=1e-8)
    assert Window(Y, (0.25, 0.75), loss="hinge").value_and_subgradient(SCORES)[0] == 0.75


@BOUNDS
def test_worked_structural_bound(Bound):
    value, slopes = Bound(Y, (0.25, 0.75)).upper_and_subgradient(SCORES)
    assert value == pytest.approx(1.5, rel=1e-15)
    np.testing.assert_allclose(slopes[:2], [-2 / 4, -3 / 4], rtol=1e-15)  # r = (2, 3)
    assert Bound(Y, ranks=(0, 3)).upper_and_subgradient(SCORES)[0] == pytest.approx(4 / 3, rel=1e-15)
    assert Bound([1, -1, -1], ranks=(1, 2)).upper_and_subgradient([0.6, 0.5, 0.4])[0] == pytest.approx(0.7, rel=1e-14)


# --- the structural bound -----------------------------------------------------------------------------------


def bracket_by_enumeration(y, scores, weights, low, high):
    """The bound by trying every r at which the bracket can be largest."""
    b = scores[y < 0]
    order = np.argsort(-b, kind="stable")
    b, u = b[order], weights[y < 0][order]
    ends = np.append(0.0, np.cumsum(u))
    places = np.unique(np.concatenate([ends[ends <= high], [low, high]]))
    value, w = 0.0, weights[y > 0]
    for a, weight in zip(scores[y > 0], w):
        brackets = [max(0, r - low) + np.clip(r - ends[:-1], 0, u) @ (b - a) for r in places]
        value += weight * max(brackets)
    return value / (w.sum() * (high - low))


@BOUNDS
def test_structural_bound_is_the_maximum_over_ranks(Bound):
    rng = np.random.default_rng(9)
    for _ in range(300):
        y, scores, weights, fpr_range = random_case(rng, 12)
        w = np.ones(len(y)) if weights is None else weights
        low, high = window_of(y, fpr_range, weights=weights)
        value, slopes = Bound(y, fpr_range, sample_weight=weights).upper_and_subgradient(scores)
        assert value == pytest.approx(bracket_by_enumeration(y, scores, w, low, high), rel=1e-12, abs=1e-12)
        for _ in range(3):
            other = scores + rng.normal(size=len(y))
            beyond = Bound(y, fpr_range, sample_weight=weights).upper_and_subgradient(other)[0]
            assert beyond >= value + slopes @ (other - scores) - 1e-10


@WEIGHTED
@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.05, 0.5), (0.0, 0.1), (0.9, 1.0)])
def test_structural_twins_agree(weighted, fpr_range, pair_problem):
    for ties in (False, True):
        p = pair_problem(10, 1500, weighted, ties)
        found = StructuralBound(p.y, fpr_range, sample_weight=p.weights).upper_and_subgradient(p.scores)
        expected = structural_reference.StructuralBound(p.y, fpr_range, sample_weight=p.weights).upper_and_subgradient(
            p.scores
        )
        assert found[0] == pytest.approx(expected[0], rel=1e-11)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-9, atol=1e-15)


@BOUNDS
def test_the_hessian_of_the_structural_bound_is_zero(Bound, pair_problem):
    """It is piecewise linear."""
    p = pair_problem(13, 40)
    bound = Bound(p.y, (0.1, 0.6))
    before = np.full(p.n, np.pi)  # memory that np.empty may get next
    del before
    np.testing.assert_array_equal(bound.hessian_product(p.scores, p.v), np.zeros(p.n))


@BOUNDS
def test_integer_rounding_keeps_whole_samples_inside(Bound, pair_problem):
    p = pair_problem(11, 61)
    n = int(np.sum(p.y < 0))
    bound = Bound(p.y, (0.123, 0.777), rounding="integer")
    assert (bound.low, bound.high) == (np.ceil(0.123 * n), np.floor(0.777 * n))
    same = Bound(p.y, ranks=(int(bound.low), int(bound.high)))
    assert bound.upper_and_subgradient(p.scores)[0] == same.upper_and_subgradient(p.scores)[0]
    with pytest.raises(ValueError, match="no whole negative"):
        Bound([1, -1, -1], (0.6, 0.9), rounding="integer")
    with pytest.raises(ValueError, match="rounding='integer' counts samples"):
        Bound(p.y, (0.1, 0.9), rounding="integer", sample_weight=np.arange(1.0, p.n + 1))


# --- what the window is given -------------------------------------------------------------------------------


def test_masses_next_to_a_whole_number_are_whole():
    y = np.repeat([True, False], [3, 100])
    assert 0.07 * 100 != 7
    assert window_of(y, (0.07, 0.29)) == (7, 29)
    assert window_of(y, (0.071, 0.29)) == (7.1, 29)


@pytest.mark.parametrize("weights", [None, [1.0, 0.5, 1.5, 1.0]])
def test_a_range_that_rounding_empties_is_refused(weights):
    low, high = 0.1, 0.10000000000000002
    assert low < high and 3 * low == 3 * high
    with pytest.raises(ValueError, match="too narrow"):
        window_of([1, -1, -1, -1], (low, high), weights=weights)


def test_a_range_that_ends_beyond_all_losses_by_rounding_ends_with_them():
    assert range_of((1, np.nextafter(3.0, 4.0)), 3.0) == (1.0, 3.0)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"fpr_range": (0.5, 0.5)}, "0 <= a < b <= 1"),
        ({"fpr_range": (0.6, 0.5)}, "0 <= a < b <= 1"),
        ({"fpr_range": (-0.1, 0.5)}, "0 <= a < b <= 1"),
        ({"fpr_range": (0, 1.1)}, "0 <= a < b <= 1"),
        ({"fpr_range": (0, np.nan)}, "0 <= a < b <= 1"),
        ({"fpr_range": 0.5}, "pair"),
        ({"ranks": (2, 2)}, "0 <= m < n"),
        ({"ranks": (-1, 2)}, "0 <= m < n"),
        ({"ranks": (0, 4)}, "beyond the negatives, whose total weight is 3"),
        ({"ranks": (0, 1.5)}, "integers"),
        ({"ranks": 3}, "pair"),
        ({"fpr_range": (0, 0.5), "ranks": (0, 1)}, "either fpr_range or ranks"),
        ({"loss": "hing"}, "hinge"),
    ],
)
@TWINS
def test_bad_windows_are_refused(Window, options, message):
    with pytest.raises(ValueError, match=message):
        Window([1, -1, -1, -1], **options)


@TWINS
def test_classes_without_weight_are_refused(Window):
    with pytest.raises(ValueError, match="no negative sample"):
        Window([1, 1], (0, 0.5))
    with pytest.raises(ValueError, match="no positive sample"):
        Window([1, -1], (0, 0.5), sample_weight=[0, 1])


@EVERY_LOSS
def test_scores_that_are_not_finite_are_refused(loss):
    window = WindowPairs(Y, (0.25, 0.75), loss=loss)
    with pytest.raises(ValueError, match="finite.* index 2"):
        window.value_and_subgradient([1, 0, np.nan, 0.5, -1, 0])
    with pytest.raises(ValueError, match="too far apart"):
        window.upper_and_subgradient([1, 0, 1e308, 0.5, -1e308, 0])
    assert np.isfinite(window.value_and_subgradient(SCORES)[0])
