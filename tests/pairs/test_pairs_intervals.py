"""Two-way partial areas, intervals of areas and of their differences."""

import numpy as np
import pytest
from scipy import stats

from kernbench.metrics import auc_difference, auc_interval, partial_auc, roc_auc, roc_curve
from kernbench.pairs.intervals import bootstrap_interval, resamples

TIES = pytest.mark.parametrize("ties", [False, True], ids=["distinct", "tied"])
RECTANGLES = [
    ((0.0, 1.0), (0.0, 1.0)),
    ((0.05, 0.5), (0.0, 1.0)),
    ((0.0, 0.3), (0.4, 1.0)),
    ((0.123, 0.8), (0.3, 0.77)),
]


def by_grid(y, scores, weights, fpr_range, tpr_range, n=20_000):
    """The clipped height of the curve, averaged over a fine grid of false positive rates."""
    fpr, tpr, _ = roc_curve(y, scores, sample_weight=weights, drop_intermediate=False)
    grid = fpr_range[0] + (np.arange(n) + 0.5) / n * (fpr_range[1] - fpr_range[0])
    place = np.searchsorted(fpr, grid, side="right") - 1  # grid points are not vertices: pieces rise from left to right
    share = (grid - fpr[place]) / (fpr[place + 1] - fpr[place])
    height = tpr[place] + share * (tpr[place + 1] - tpr[place])
    return np.mean(np.clip(height, *tpr_range) - tpr_range[0]) / (tpr_range[1] - tpr_range[0])


def by_ranks(y, scores, weights, fpr_range, tpr_range):
    """Pairs of a positive and a negative, by the part of their weight that lies in the ranges; ties are misses."""
    shares = []
    for members, (low, high) in ((y > 0, tpr_range), (y <= 0, fpr_range)):
        order = np.argsort(-scores[members], kind="stable")
        w = weights[members][order] / weights[members].sum()
        after = np.cumsum(w)
        covered = np.maximum(0, np.minimum(after, high) - np.maximum(after - w, low))
        shares.append((scores[members][order], covered / (high - low)))
    (a, u), (b, v) = shares
    return u @ (a[:, None] > b) @ v


@TIES
@pytest.mark.parametrize("rectangle", RECTANGLES, ids=str)
def test_two_way_area_is_the_clipped_area(ties, rectangle, pair_problem):
    for seed in range(5):
        p = pair_problem(seed, 80, seed % 2 == 1, ties)
        w = None if p.weights is None else p.weights + 0.1
        found = partial_auc(p.y, p.scores, *rectangle, sample_weight=w)
        assert found == pytest.approx(by_grid(p.y, p.scores, w, *rectangle), abs=2e-4)


@TIES
@pytest.mark.parametrize("rectangle", RECTANGLES, ids=str)
def test_area_with_ties_as_misses_counts_ranks(ties, rectangle, pair_problem):
    for seed in range(5):
        p = pair_problem(seed, 61, True, ties)
        found = partial_auc(p.y, p.scores, *rectangle, ties="miss", sample_weight=p.weights)
        assert found == pytest.approx(by_ranks(p.y, p.scores, p.weights, *rectangle), rel=1e-11, abs=1e-13)
        if not ties:
            assert found == pytest.approx(partial_auc(p.y, p.scores, *rectangle, sample_weight=p.weights), rel=1e-11)


def test_worked_areas():
    y, scores = [1, 1, 0, 0, 0, 0], [1, 0, 2, 0.5, -1, 0]
    assert partial_auc(y, scores, (0.25, 0.75)) == pytest.approx(0.5 + 0.25 / 2)  # half of one tied pair of four
    assert partial_auc(y, scores, (0.25, 0.75), ties="miss") == pytest.approx(0.5)
    assert partial_auc(y, scores, (0.1, 0.6), ties="miss") == pytest.approx(0.35)
    assert partial_auc(y, scores, ties="miss") == pytest.approx(0.5)
    assert roc_auc(y, scores) == pytest.approx(0.5625)


@pytest.mark.parametrize("options, message", [({"tpr_range": (0.5, 0.5)}, "tpr_range"), ({"ties": "none"}, "ties")])
def test_bad_options_of_the_area_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        partial_auc([0, 1], [0.0, 1.0], **options)


# --- intervals ----------------------------------------------------------------------------------------------


def delong(y, scores):
    """Area and covariance of several scores by their structural components, pair by pair."""
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
    a, b = scores[:, positive, None], scores[:, None, negative]
    right = (a > b) + 0.5 * (a == b)
    v10, v01 = right.mean(axis=2), right.mean(axis=1)
    return v10.mean(axis=1), np.atleast_2d(np.cov(v10)) / len(positive) + np.atleast_2d(np.cov(v01)) / len(negative)


@TIES
def test_standard_errors_are_those_of_delong(ties, pair_problem):
    for seed in range(5):
        p, q = (pair_problem(seed, 90, False, ties) for _ in range(2))
        other = np.round(q.scores + q.rng.normal(size=q.n), 1)
        areas, covariance = delong(p.y, np.array([p.scores, other]))
        found = auc_interval(p.y, p.scores)
        assert found.auc == pytest.approx(areas[0], rel=1e-13)
        assert found.standard_error == pytest.approx(np.sqrt(covariance[0, 0]), rel=1e-11)
        difference = auc_difference(p.y, p.scores, other)
        error = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
        assert difference.difference == pytest.approx(areas[0] - areas[1], abs=1e-13)
        assert difference.standard_error == pytest.approx(error, rel=1e-11)
        assert difference.p_value == pytest.approx(2 * stats.norm.sf(abs(areas[0] - areas[1]) / error), rel=1e-9)
        assert difference.high - difference.low == pytest.approx(2 * stats.norm.ppf(0.975) * error, rel=1e-9)


def test_intervals_stay_within_bounds():
    rng = np.random.default_rng(0)
    for seed in range(50):
        y = np.arange(12) < 6
        scores = rng.normal(size=12) + 2.5 * y
        for found in (
            auc_interval(y, scores, confidence=0.99),
            auc_interval(y, scores, (0.0, 0.5), n_resamples=50, random_state=seed),
        ):
            assert 0 <= found.low <= found.auc <= found.high <= 1
        difference = auc_difference(y, scores, -scores)
        assert -1 <= difference.low <= difference.difference <= difference.high <= 1


def test_perfect_rankings_have_an_interval():
    y = np.arange(20) < 5
    found = auc_interval(y, y)
    assert (found.auc, found.high) == (1, 1)
    assert found.low == pytest.approx(0.025 ** (1 / 5))
    turned = auc_interval(y, ~y)
    assert (turned.auc, turned.low) == (0, 0) and turned.high == pytest.approx(1 - found.low)
    same = auc_difference(y, y, y)
    assert (same.difference, same.p_value, same.low, same.high) == (0, 1, 0, 0)


@pytest.mark.parametrize("rectangle", RECTANGLES[1:], ids=str)
def test_bootstrap_is_reproducible_and_near_the_spread_of_samples(rectangle):
    rng = np.random.default_rng(1)
    y = np.arange(400) < 150
    samples = [rng.normal(size=400) + y for _ in range(60)]
    spread = np.std([partial_auc(y, scores, *rectangle) for scores in samples])
    found = auc_interval(y, samples[0], *rectangle, n_resamples=200, random_state=0)
    assert found == auc_interval(y, samples[0], *rectangle, n_resamples=200, random_state=0)
    assert found.auc == partial_auc(y, samples[0], *rectangle)
    assert 0.5 * spread < found.standard_error < 2 * spread
    assert found.low < found.auc < found.high


def test_an_interval_lies_between_percentiles_of_the_resampled_areas():
    areas = iter([0.5, 0.7, 0.9, 0.65])  # the last one of the samples as they are
    positive, rng = np.array([True, True, False, False]), np.random.default_rng(0)
    found = bootstrap_interval(lambda weights: next(areas), positive, 0.5, 3, rng)
    assert (found.auc, found.low, found.high) == pytest.approx((0.65, 0.6, 0.8))
    assert found.standard_error == pytest.approx(0.2)  # their sample standard deviation


def test_bootstrap_of_the_whole_area_is_near_delong():
    rng = np.random.default_rng(2)
    y = np.arange(500) < 200
    scores = np.round(rng.normal(size=500) + y, 1)
    exact = auc_interval(y, scores)
    found = auc_interval(y, scores, (0.0, 1.0), (0.0, 1.0 - 1e-12), n_resamples=500, random_state=0)
    for name, tolerance in (("auc", 1e-9), ("low", 0.01), ("high", 0.01), ("standard_error", 0.003)):
        assert getattr(found, name) == pytest.approx(getattr(exact, name), abs=tolerance)


def test_the_bootstrap_has_the_asked_confidence_and_ties():
    y = np.arange(60) % 2
    score, options = np.round(y + np.random.default_rng(0).normal(size=60)), {"n_resamples": 200, "random_state": 0}
    half, most = (auc_interval(y, score, (0, 0.5), confidence=confidence, **options) for confidence in (0.5, 0.95))
    assert most.low < half.low < half.auc < half.high < most.high
    missed = auc_interval(y, score, ties="miss", **options)
    assert missed.auc == partial_auc(y, score, ties="miss") < partial_auc(y, score)
    assert missed.low < missed.auc < missed.high


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: auc_interval([0, 0, 1], [1.0, 2.0, 3.0]), "two samples"),
        (lambda: auc_difference([0, 1, 1], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), "two samples"),
        (lambda: auc_interval([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], confidence=1.0), "confidence"),
        (lambda: auc_interval([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], (0, 0.5), n_resamples=1), "n_resamples"),
        (lambda: auc_interval([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], n_resamples=0.5), "n_resamples"),
        (lambda: auc_interval([0, 0, 1, 1], [1.0, np.nan, 3.0, 4.0]), "finite.* index 1"),
        (lambda: auc_interval([0, 0, 1, 1], [4.0, np.nan, 3.0, 1.0], (0, 0.5)), "score must be finite.* index 1"),
        (lambda: auc_interval([0, 0, 1, 1], [np.inf, 4.0, 3.0, 1.0], ties="miss"), "score must be finite.* index 0"),
        (lambda: auc_difference([0, 0, 1, 1], [1.0, 2, 3, 4], [1.0, 2, 3]), "y and other must be equally long"),
        (lambda: auc_difference([0, 0, 1, 1], [1.0, 2, 3, 4], [1.0, 2, 3, np.inf]), "other must be finite.* index 3"),
        (lambda: auc_difference([0, 0, 0, 0], [1.0, 2, 3, 4], [1.0, 2, 3, 4]), "two different labels"),
    ],
)
def test_bad_input_of_intervals_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.slow
def test_p_values_are_uniform_under_the_null():
    rng = np.random.default_rng(3)
    y = np.arange(600) < 240
    p_values, covered = [], 0
    for _ in range(1000):
        shared = rng.normal(size=600) + y
        scores = [shared + rng.normal(size=600) for _ in range(2)]
        p_values.append(auc_difference(y, *scores).p_value)
        interval = auc_interval(y, scores[0])
        covered += interval.low <= stats.norm.cdf(1 / 2) <= interval.high  # P(a > b), a - b normal with variance 4
    # Each fails with a probability below 1e-6; the numbers covered have the standard deviation 6.9.
    assert stats.kstest(p_values, "uniform").pvalue > 1e-6
    assert 915 <= covered <= 985


@pytest.mark.parametrize("n", [3, 49, 161, 387])  # of classes whose reciprocal is rounded
def test_scores_that_differ_alike_on_all_pairs_leave_a_doubt(n):
    y = np.arange(2 * n) >= n
    found = auc_interval(y, y)
    assert (found.auc, found.standard_error) == (1, 0) and found.low == pytest.approx(0.025 ** (1 / n))
    share = 0.025 ** (1 / n)
    for other, difference in ((~y, 1.0), (np.ones(2 * n), 0.5)):
        found = auc_difference(y, y, other)
        assert (found.difference, found.high, found.standard_error) == (difference, difference, 0)
        assert found.low == pytest.approx(share * difference - (1 - share))
        assert found.p_value == 2.0 ** (1 - n)
        turned = auc_difference(y, other, y)
        assert (turned.low, turned.high, turned.p_value) == (-found.high, -found.low, found.p_value)


@pytest.mark.parametrize("n", [3, 7, 49])
def test_placements_that_differ_alike_leave_no_variance(n):
    """Both classes in turn, from the top or from the bottom: every row's placements differ by one row of the other."""
    y, scores = np.tile([0, 1], n), np.arange(2 * n)
    found = auc_difference(y, scores, scores + np.tile([1, -1], n))
    assert found.standard_error == 0 and found.p_value == 2.0 ** (1 - n)
    assert found.difference == found.high == 1 / n and found.low < 0


def test_results_are_python_floats():
    y = np.arange(6) < 3
    for found in (auc_interval(y, y, confidence=np.float32(0.9)), auc_difference(y, y, ~y)):
        assert all(type(value) is float for value in vars(found).values())


@pytest.mark.parametrize("fpr_range", [{0, 1}, ("0", "1"), "ab", np.array(3), np.eye(2), (0, [1]), (0, 1, 1), None])
def test_what_is_not_a_pair_of_rates_is_refused(fpr_range):
    for range_of in ("fpr_range", "tpr_range"):
        with pytest.raises(ValueError, match=f"{range_of} must be a pair"):
            partial_auc([0, 1], [0, 1], **{range_of: fpr_range})


@pytest.mark.parametrize("random_state", ["a", 1.5, -1, {}])
def test_what_seeds_nothing_is_refused(random_state):
    with pytest.raises(ValueError, match="random_state must be"):
        auc_interval([0, 0, 1, 1], [0, 1, 0, 1], (0, 0.5), random_state=random_state)


def test_each_class_is_resampled_from_itself():
    positive = np.arange(50) % 5 == 0
    drawn = np.array([weights.copy() for weights in resamples(positive, 200, np.random.default_rng(0))])
    assert np.all(drawn[:, positive].sum(axis=1) == 10) and np.all(drawn[:, ~positive].sum(axis=1) == 40)
    assert np.all(drawn == np.round(drawn)) and drawn.min() == 0.0 and np.all(drawn.any(axis=0))
