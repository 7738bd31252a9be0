"""Thresholds for a requested rate or cost of errors, under the rule "positive if score >= threshold"."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.metrics import roc_curve, threshold_for

WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
TIES = pytest.mark.parametrize("ties", [False, True], ids=["distinct", "tied"])
WISHES = [0.001, 0.1, 0.25, 1 / 3, 0.5, 0.7, 0.9, 0.999, 1]

# Five positives and ten negatives.
Y = np.repeat([1, -1], [5, 10])
SCORES = np.array([3, 2, 2, 1, 0, 2.5, 2, 1, 0.5, 0, -1, -1, -2, -3, -4])


def rates(y, scores, threshold, weights=None):
    """True positive and true negative rate of the rule."""
    w = np.ones(len(y)) if weights is None else weights
    predicted = scores >= threshold
    return w[(y > 0) & predicted].sum() / w[y > 0].sum(), w[(y <= 0) & ~predicted].sum() / w[y <= 0].sum()


@pytest.mark.parametrize(
    "wish, threshold, sensitivity, specificity",
    [
        ({"sensitivity": 0.8}, 1, 0.8, 0.7),
        ({"sensitivity": 0.6}, 2, 0.6, 0.8),
        ({"sensitivity": 1.0}, 0, 1.0, 0.5),
        ({"specificity": 0.7}, 0.75, 0.8, 0.7),
        ({"specificity": 0.9}, 2.25, 0.2, 0.9),
    ],
)
def test_worked_example(wish, threshold, sensitivity, specificity):
    found = threshold_for(Y, SCORES, **wish)
    assert found == threshold
    assert rates(Y, SCORES, found) == pytest.approx((sensitivity, specificity))


@WEIGHTED
@TIES
@pytest.mark.parametrize("wish", WISHES)
def test_sensitivity_is_reached_by_the_largest_threshold(wish, weighted, ties, pair_problem):
    for seed in range(10):
        p = pair_problem(seed, 50, weighted, ties)
        threshold = threshold_for(p.y, p.scores, sensitivity=wish, sample_weight=p.weights)
        assert rates(p.y, p.scores, threshold, p.weights)[0] >= wish - 1e-11
        assert rates(p.y, p.scores, np.nextafter(threshold, np.inf), p.weights)[0] < wish


@WEIGHTED
@TIES
@pytest.mark.parametrize("wish", WISHES)
def test_specificity_is_reached_by_the_smallest_score(wish, weighted, ties, pair_problem):
    for seed in range(10):
        p = pair_problem(seed, 50, weighted, ties)
        threshold = threshold_for(p.y, p.scores, specificity=wish, sample_weight=p.weights)
        counted = np.ones(p.n, bool) if p.weights is None else p.weights > 0
        assert rates(p.y, p.scores, threshold, p.weights)[1] >= wish - 1e-11
        assert threshold not in p.scores[counted]
        below = p.scores[counted & (p.scores < threshold)].max()
        assert rates(p.y, p.scores, below, p.weights)[1] < wish


@TIES
@pytest.mark.parametrize("wish", WISHES)
def test_it_is_the_vertex_of_the_curve(wish, ties, pair_problem):
    p = pair_problem(3, 200, False, ties)
    fpr, tpr, thresholds = roc_curve(p.y, p.scores, drop_intermediate=False)
    first = np.flatnonzero(tpr >= wish - 1e-12)[0]
    assert threshold_for(p.y, p.scores, sensitivity=wish) == thresholds[first]
    last = np.flatnonzero(1 - fpr >= wish - 1e-12)[-1]
    assert rates(p.y, p.scores, threshold_for(p.y, p.scores, specificity=wish))[1] == pytest.approx(1 - fpr[last])


def counts(p, threshold):
    """Weight of the true positives, the false positives and the false negatives."""
    w, positive = np.ones(p.n) if p.weights is None else p.weights, p.y > 0
    predicted = p.scores >= threshold
    return w[positive & predicted].sum(), w[~positive & predicted].sum(), w[positive & ~predicted].sum()


def all_thresholds(p):
    """One threshold for each way to divide the scores."""
    counted = p.scores if p.weights is None else p.scores[p.weights > 0]
    return [*np.unique(counted), np.inf]


@WEIGHTED
@TIES
@pytest.mark.parametrize("wish", WISHES)
def test_precision_is_reached_with_the_largest_sensitivity(wish, weighted, ties, pair_problem):
    for seed in range(10):
        p = pair_problem(seed, 50, weighted, ties)
        hits, alarms = np.transpose([counts(p, t)[:2] for t in all_thresholds(p)[:-1]])
        reached = (hits > 0) & (hits >= (wish - 1e-12) * (hits + alarms))
        if not reached.any():
            with pytest.raises(ValueError, match=f"no threshold has a precision of {wish}: the largest here is 0"):
                threshold_for(p.y, p.scores, precision=wish, sample_weight=p.weights)
            continue
        found = threshold_for(p.y, p.scores, precision=wish, sample_weight=p.weights)
        true, false, _ = counts(p, found)
        assert true >= (wish - 1e-11) * (true + false)
        assert true == pytest.approx(hits[reached].max())
        assert false == pytest.approx(alarms[reached & (hits >= true * (1 - 1e-12))].min())


def test_a_score_without_weight_is_not_the_next_one_above():
    assert threshold_for([0, 0, 1, 1], [0, 1, 1.2, 3], specificity=1.0, sample_weight=[1, 1, 0, 1]) == 2.0


@WEIGHTED
@TIES
@pytest.mark.parametrize("cost", [(1, 1), (5, 1), (0.1, 20.0), (1, 0), [0, 3], (1e-300, 1e-299)])
def test_cost_is_the_least(cost, weighted, ties, pair_problem):
    for seed in range(10):
        p = pair_problem(seed, 50, weighted, ties)
        totals = [cost[0] * counts(p, t)[1] + cost[1] * counts(p, t)[2] for t in all_thresholds(p)]
        found = threshold_for(p.y, p.scores, cost=cost, sample_weight=p.weights)
        _, false, missed = counts(p, found)
        assert cost[0] * false + cost[1] * missed == pytest.approx(min(totals), abs=0, rel=1e-9)
        assert np.isfinite(found)


def test_worked_examples_of_precision_and_cost():
    assert threshold_for(Y, SCORES, precision=0.5) == -0.5  # 5 of 10
    assert threshold_for(Y, SCORES, precision=0.6) == 1.5  # 3 of 5; below, at 1, 4 of 7
    assert threshold_for(Y, SCORES, precision=1.0) == 2.75
    assert threshold_for(Y, SCORES, precision=1.0, sample_weight=np.where(SCORES == 2.5, 1e-9, 1.0)) == 2.75
    assert threshold_for(Y, SCORES, precision=0.7, sample_weight=np.where(Y == 1, 1.0, 0.1)) == -0.5
    assert threshold_for(Y, SCORES, precision=0.0) == -np.inf
    assert threshold_for(Y, SCORES, cost=(1, 0)) == np.nextafter(3.0, np.inf)
    assert threshold_for(Y, SCORES, cost=(0, 1)) == -0.5
    assert threshold_for(Y[:6], [1, 1, 1, 1, 1, 0], cost=(1, 3)) == 0.5
    # Of a false positive of 0.3 and misses of 0.1 + 0.2, which are more by rounding, the larger threshold.
    weights = [0.3, 0.1, 0.2, 1.0]
    assert threshold_for([0, 1, 1, 0], [5, 4, 3, 0], cost=(1, 1), sample_weight=weights) == np.nextafter(5, 6)
    with pytest.raises(ValueError, match="no threshold has a precision of 0.9: the largest here is 0.5"):
        threshold_for([0, 1], [1.0, 0.0], precision=0.9)


@pytest.mark.parametrize("unit", [1e-320, 1e308])
@pytest.mark.parametrize("wish", [{"precision": 0.6}, {"cost": (5, 1)}], ids=str)
def test_the_unit_of_the_weights_is_immaterial(unit, wish):
    """Sums of weights of 1e308 overflow."""
    assert threshold_for(Y, SCORES, **wish, sample_weight=np.full(len(Y), unit)) == threshold_for(Y, SCORES, **wish)


@pytest.mark.parametrize("cost", [3, (1,), (1, 2, 3), (-1, 1), (0, 0), (1, np.inf), ("a", 1), "ab", (True, 1)])
def test_costs_are_two_numbers(cost):
    with pytest.raises(ValueError, match="cost must be a pair"):
        threshold_for([0, 1], [0.0, 1.0], cost=cost)


@pytest.mark.parametrize("n", [3, 7, 10, 49, 1000, 100_000])
def test_every_multiple_of_one_over_n_is_met_exactly(n):
    """Where k / n * n is rounded upwards, no further sample is taken."""
    y, scores = np.repeat([1, -1], n), np.tile(np.arange(n), 2)
    for k in {1, n // 7 + 1, n // 3 + 1, n // 2 + 1, n - 1, n}:
        assert threshold_for(y, scores, sensitivity=k / n) == n - k
        assert rates(y, scores, threshold_for(y, scores, specificity=k / n))[1] == k / n


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.booleans(), st.integers(0, 3)), max_size=20),
    st.floats(0, 1),
    st.sampled_from(["sensitivity", "specificity", "cost"]),
)
def test_weight_k_equals_repeat_k(samples, wish, kind):
    samples = [*samples, (0, True, 1), (1, False, 2)]
    scores, positive, weights = (np.array(column) for column in zip(*samples))
    repeats = np.repeat(np.arange(len(scores)), weights)
    wishes = {kind: (1.0, wish) if kind == "cost" else wish}
    threshold = threshold_for(positive, scores, sample_weight=weights, **wishes)
    assert threshold == threshold_for(positive[repeats], scores[repeats], **wishes)
    if kind == "cost":
        return
    assert rates(positive, scores, threshold, weights)[kind == "specificity"] >= wish - 1e-11


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0, 4.0]])
def test_extreme_wishes(weights):
    y, scores = [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]
    given_weights = {"sample_weight": weights}
    assert threshold_for(y, scores, sensitivity=0, **given_weights) == np.inf
    assert threshold_for(y, scores, specificity=0, **given_weights) == -np.inf
    assert threshold_for(y, scores, sensitivity=1e-15, **given_weights) == 4
    assert threshold_for(y, scores, specificity=1e-15, **given_weights) == 1.5
    assert threshold_for(y, scores, sensitivity=1, **given_weights) == 2
    assert threshold_for(y, [1.0, 2.0, 5.0, 4.0], specificity=1, **given_weights) == np.nextafter(5.0, np.inf)


def test_neighbouring_scores_have_no_number_between_them():
    above = np.nextafter(1.0, 2.0)
    assert threshold_for([0, 1], [1.0, above], specificity=1) == above
    assert threshold_for([0, 1], [-1.7e308, 1.7e308], specificity=1) == 0


def test_precision_and_cost_separate_neighbouring_scores():
    above = np.nextafter(1.0, 2.0)
    for wish in ({"precision": 1.0}, {"cost": (1, 1)}):
        assert threshold_for([0, 1], [1.0, above], **wish) == above
        assert threshold_for([0, 1], [-1.7e308, 1.7e308], **wish) == 0


@pytest.mark.parametrize("n", [25, 29, 41, 100])
def test_every_rate_of_the_scores_can_be_asked_for_whatever_its_rounding(n):
    """A rate k / n times n may be larger than k in floating-point numbers."""
    scores = np.arange(n, 0.0, -1.0)
    for k in range(1, n + 1):
        assert threshold_for(np.repeat([1, 0], [n, 1]), [*scores, 0.0], sensitivity=k / n) == scores[k - 1]
        lowest = threshold_for(np.repeat([1, 0], [1, n]), [n + 1.0, *scores], specificity=k / n)
        assert np.count_nonzero(scores < lowest) == k
        # The k positives are below n - k negatives: the precision of all of them is k / n.
        lowest = threshold_for(np.repeat([0, 1, 0], [n - k, k, 1]), [*scores, 0.0], precision=k / n)
        assert lowest == 0.5


@pytest.mark.parametrize("wishes", [{}, {"sensitivity": 0.5, "specificity": 0.5}, {"precision": 0.5, "cost": (1, 1)}])
def test_exactly_one_wish_is_allowed(wishes):
    with pytest.raises(ValueError, match="pass exactly one of sensitivity=, specificity=, precision= and cost="):
        threshold_for([0, 1], [0.0, 1.0], **wishes)


@pytest.mark.parametrize("kind", ["sensitivity", "specificity", "precision"])
@pytest.mark.parametrize("wish", [-0.1, 1.1, np.nan, "0.9"])
def test_wishes_are_rates(kind, wish):
    with pytest.raises(ValueError, match=kind):
        threshold_for([0, 1], [0.0, 1.0], **{kind: wish})


@pytest.mark.parametrize(
    "y, score, message", [([1, 1], [0.0, 1.0], "only 1"), ([0, 1], [0.0, np.nan], "finite"), ([0, 1], [0.0], "long")]
)
def test_bad_input_is_refused(y, score, message):
    with pytest.raises(ValueError, match=message):
        threshold_for(y, score, specificity=0.5)
