"""ROC curve and the areas under it: against scikit-learn, the double sum and the reference twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics
from threadpoolctl import threadpool_limits

from kernbench.metrics import partial_auc, roc_auc, roc_curve
from kernbench.reference.pairs import roc as reference

WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
TIES = pytest.mark.parametrize("ties", [False, True], ids=["distinct", "tied"])
RANGES = [(0, 1), (0, 0.1), (0.05, 0.5), (0.3, 1), (0.123, 0.1231), (0, 1e-12), (0.25, 0.75)]


def by_pairs(y, scores, weights=None):
    """Weighted share of the pairs ranked correctly, ties counting half."""
    w = np.ones(len(y)) if weights is None else weights
    i, j = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
    right = (scores[i][:, None] > scores[j]) + 0.5 * (scores[i][:, None] == scores[j])
    return w[i] @ right @ w[j] / (w[i].sum() * w[j].sum())


def by_ranks(y, scores, low, high):
    """Partial area of distinct scores: negative j, from the top, counts by the part of the range that it covers."""
    a, b = scores[y > 0], np.sort(scores[y <= 0])[::-1]
    j = np.arange(len(b))
    covered = np.maximum(0, np.minimum(j + 1, len(b) * high) - np.maximum(j, len(b) * low))
    return (a[:, None] > b).mean(axis=0) @ covered / (len(b) * (high - low))


# --- the whole area -----------------------------------------------------------------------------------------


@WEIGHTED
@TIES
@pytest.mark.parametrize("n", [2, 3, 50, 5000])
def test_area_is_that_of_scikit_learn_and_of_the_pairs(weighted, ties, n, pair_problem):
    for seed in range(5):
        p = pair_problem(seed, n, weighted, ties)
        found = roc_auc(p.y, p.scores, sample_weight=p.weights)
        assert found == pytest.approx(
            sklearn_metrics.roc_auc_score(p.y, p.scores, sample_weight=p.weights), rel=1e-12, abs=1e-12
        )
        assert found == pytest.approx(by_pairs(p.y, p.scores, p.weights), rel=1e-12, abs=1e-14)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans(), st.integers(0, 3)), max_size=25))
def test_any_ties_and_integer_weights(samples):
    samples = [*samples, (0, True, 1), (1, False, 2)]
    scores, positive, weights = (np.array(column) for column in zip(*samples))
    assert roc_auc(positive, scores, sample_weight=weights) == pytest.approx(
        by_pairs(positive, scores, weights), rel=1e-14, abs=1e-15
    )
    repeats = np.repeat(np.arange(len(scores)), weights)
    assert roc_auc(positive[repeats], scores[repeats]) == pytest.approx(
        roc_auc(positive, scores, sample_weight=weights), rel=1e-14, abs=1e-15
    )


@pytest.mark.parametrize("ties", [False, True])
def test_large_problem_is_exact(ties):
    rng = np.random.default_rng(0)
    n = 300_000
    y = rng.random(n) < 0.2
    scores = rng.normal(size=n) + y
    scores = np.round(scores, 2) if ties else scores
    expected = sklearn_metrics.roc_auc_score(y, scores)
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="openmp"):
            assert roc_auc(y, scores) == pytest.approx(expected, abs=1e-12)


def test_worked_scores():
    y = np.repeat([1, -1], [5, 10])
    scores = [3, 2, 2, 1, 0, 2.5, 2, 1, 0.5, 0, -1, -1, -2, -3, -4]
    assert roc_auc(y, scores) == pytest.approx(0.8, rel=1e-15)
    assert roc_auc([0, 1], [1, 1]) == 0.5
    assert roc_auc([0, 1], [0, 1]) == 1 and roc_auc([0, 1], [1, 0]) == 0


@WEIGHTED
@TIES
def test_monotone_maps_permutations_and_reversal(weighted, ties, pair_problem):
    p = pair_problem(1, 300, weighted, ties)
    area = roc_auc(p.y, p.scores, sample_weight=p.weights)
    assert roc_auc(p.y, np.exp(p.scores), sample_weight=p.weights) == area
    order = p.rng.permutation(p.n)
    weights = None if p.weights is None else p.weights[order]
    assert roc_auc(p.y[order], p.scores[order], sample_weight=weights) == pytest.approx(area, rel=1e-14)
    assert roc_auc(p.y, -p.scores, sample_weight=p.weights) == pytest.approx(1 - area, rel=1e-13)
    assert roc_auc(-p.y, p.scores, sample_weight=p.weights) == pytest.approx(1 - area, rel=1e-13)


@pytest.mark.parametrize("factor", [1e-320, 1e-200, 1e200, 1e300])
def test_unit_of_the_weights_of_a_class_is_immaterial(factor, pair_problem):
    p = pair_problem(2, 60)
    weights = p.rng.integers(1, 9, size=p.n).astype(float)
    expected = roc_auc(p.y, p.scores, sample_weight=weights)
    for members in (p.y > 0, p.y < 0):
        found = roc_auc(p.y, p.scores, sample_weight=np.where(members, weights * factor, weights))
        # A denormal weight has few digits.
        assert found == pytest.approx(expected, rel=1e-13 if factor > 1e-300 else 1e-3)


# --- parts of the area --------------------------------------------------------------------------------------


@WEIGHTED
@TIES
@pytest.mark.parametrize("fpr_range", RANGES)
def test_partial_area_is_that_of_the_reference(weighted, ties, fpr_range, pair_problem):
    for seed in range(5):
        p = pair_problem(seed, 80, weighted, ties)
        found = partial_auc(p.y, p.scores, fpr_range, sample_weight=p.weights)
        assert found == pytest.approx(
            reference.roc_area(p.scores, p.y > 0, p.weights, *fpr_range), rel=1e-12, abs=1e-14
        )
        assert 0 <= found <= 1


@pytest.mark.parametrize("fpr_range", RANGES)
def test_partial_area_of_distinct_scores_counts_ranks_with_fractional_ends(fpr_range, pair_problem):
    for seed in range(5):
        p = pair_problem(seed, 61)
        assert partial_auc(p.y, p.scores, fpr_range) == pytest.approx(
            by_ranks(p.y, p.scores, *fpr_range), rel=1e-12, abs=1e-14
        )


@WEIGHTED
@TIES
@pytest.mark.parametrize("b", [0.01, 0.37, 0.999])
def test_standardised_it_is_that_of_scikit_learn(weighted, ties, b, pair_problem):
    p = pair_problem(4, 200, weighted, ties)
    area = partial_auc(p.y, p.scores, (0, b), sample_weight=p.weights)
    expected = sklearn_metrics.roc_auc_score(p.y, p.scores, max_fpr=b, sample_weight=p.weights)
    assert 0.5 * (1 + (area - b / 2) / (1 - b / 2)) == pytest.approx(expected, rel=1e-12)


@WEIGHTED
@TIES
def test_parts_add_up_to_the_whole(weighted, ties, pair_problem):
    p = pair_problem(5, 200, weighted, ties)
    cuts = [0, 0.1, 0.3, 1 / 3, 0.8, 1]
    parts = [(b - a) * partial_auc(p.y, p.scores, (a, b), sample_weight=p.weights) for a, b in zip(cuts[:-1], cuts[1:])]
    whole = roc_auc(p.y, p.scores, sample_weight=p.weights)
    assert sum(parts) == pytest.approx(whole, rel=1e-13)
    assert partial_auc(p.y, p.scores, sample_weight=p.weights) == whole


@pytest.mark.parametrize("fpr_range", RANGES)
def test_perfect_and_tied_rankings(fpr_range):
    y = np.arange(30) % 3 == 0
    assert partial_auc(y, y, fpr_range) == pytest.approx(1, rel=1e-14)
    assert partial_auc(y, ~y, fpr_range) == pytest.approx(0, abs=1e-14)
    assert partial_auc(y, np.zeros(30), fpr_range) == pytest.approx(sum(fpr_range) / 2, rel=1e-12)


@pytest.mark.parametrize(
    "fpr_range", [(0.5, 0.5), (0.6, 0.5), (-0.1, 0.5), (0, 1.1), (np.nan, 1), (0, np.nan), (0,), 0.5, "ab", None]
)
def test_ranges_that_are_none_are_refused(fpr_range):
    with pytest.raises(ValueError, match="fpr_range"):
        partial_auc([0, 1], [0.0, 1.0], fpr_range)


@pytest.mark.parametrize("ties", ["half", "miss"])
@pytest.mark.parametrize("fpr_range", [(0.1, 0.10000000000000002), (np.nextafter(1, 0), 1.0)])
def test_a_range_that_is_empty_up_to_rounding_is_refused(fpr_range, ties):
    """Times 3 negatives both ends of the first were one number, and the area was 1 whatever the scores."""
    y, score = [0, 0, 0, 1], [1.0, 2.0, 3.0, 0.0]
    with pytest.raises(ValueError, match="fpr_range=.* is too narrow"):
        partial_auc(y, score, fpr_range, ties=ties)
    assert partial_auc(y, score, (0.1, 0.100000000000001), ties=ties) == 0.0


# --- the curve ----------------------------------------------------------------------------------------------


@WEIGHTED
@TIES
@pytest.mark.parametrize("n", [2, 5, 300])
def test_curve_is_that_of_scikit_learn(weighted, ties, n, pair_problem):
    p = pair_problem(6, n, weighted, ties)
    found = roc_curve(p.y, p.scores, sample_weight=p.weights, drop_intermediate=False)
    expected = sklearn_metrics.roc_curve(p.y, p.scores, sample_weight=p.weights, drop_intermediate=False)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-16)


def test_corners_are_those_of_scikit_learn_where_scores_are_distinct(pair_problem):
    p = pair_problem(7, 500)
    for one, other in zip(roc_curve(p.y, p.scores), sklearn_metrics.roc_curve(p.y, p.scores), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


@WEIGHTED
@TIES
def test_corners_draw_the_same_curve(weighted, ties, pair_problem):
    p = pair_problem(8, 300, weighted, ties)
    fpr, tpr, thresholds = roc_curve(p.y, p.scores, sample_weight=p.weights)
    all_fpr, all_tpr, all_thresholds = roc_curve(p.y, p.scores, sample_weight=p.weights, drop_intermediate=False)
    assert len(fpr) < len(all_fpr) or (ties and len(fpr) == len(all_fpr))
    assert np.isin(thresholds, all_thresholds).all()
    assert sklearn_metrics.auc(fpr, tpr) == pytest.approx(sklearn_metrics.auc(all_fpr, all_tpr), rel=1e-13)
    for curve in ((fpr, tpr, thresholds), (all_fpr, all_tpr, all_thresholds)):
        assert (curve[0][0], curve[1][0], curve[2][0]) == (0, 0, np.inf)
        assert (curve[0][-1], curve[1][-1]) == (1, 1)
        assert np.all(np.diff(curve[0]) >= 0) and np.all(np.diff(curve[1]) >= 0) and np.all(np.diff(curve[2]) < 0)


@WEIGHTED
@TIES
def test_area_under_the_curve_is_the_area(weighted, ties, pair_problem):
    p = pair_problem(9, 300, weighted, ties)
    fpr, tpr, _ = roc_curve(p.y, p.scores, sample_weight=p.weights)
    assert sklearn_metrics.auc(fpr, tpr) == pytest.approx(roc_auc(p.y, p.scores, sample_weight=p.weights), rel=1e-12)


@WEIGHTED
@TIES
def test_rates_are_those_of_the_rule_at_the_threshold(weighted, ties, pair_problem):
    p = pair_problem(10, 60, weighted, ties)
    w = np.ones(p.n) if p.weights is None else p.weights
    for x, y, threshold in zip(*roc_curve(p.y, p.scores, sample_weight=p.weights)):
        predicted = p.scores >= threshold
        for rate, members in ((x, p.y < 0), (y, p.y > 0)):
            assert rate == pytest.approx(w[members & predicted].sum() / w[members].sum(), rel=1e-12, abs=1e-15)


# --- what the functions are given ---------------------------------------------------------------------------

METRICS = pytest.mark.parametrize("metric", [roc_auc, partial_auc, roc_curve], ids=["area", "part", "curve"])


@pytest.mark.parametrize(
    "y",
    [
        [0, 0, 1, 1], [-1, -1, 1, 1], [1, 1, 2, 2], [False, False, True, True], ["a", "a", "b", "b"],
        np.array(["a", "a", "b", "b"], dtype=object), np.array([[0], [0], [1], [1]]), np.array([0, 0, 7, 7], np.uint8),
    ],
)  # fmt: skip
def test_the_larger_label_is_positive(y):
    scores = [0.1, 0.4, 0.35, 0.8]
    flat = np.ravel(y)
    assert roc_auc(y, scores) == 0.75
    assert roc_auc(y, np.array(scores, dtype=np.float32)[:, None]) == 0.75
    assert roc_auc(y, scores, pos_label=flat[-1]) == 0.75
    assert roc_auc(y, scores, pos_label=flat[0]) == 0.25


@METRICS
@pytest.mark.parametrize(
    "y, score, message",
    [
        ([1, 1], [0.0, 1.0], "only 1"),
        (["a", "a"], [0.0, 1.0], "only a"),
        ([0, 1, 2], [0.0, 1.0, 2.0], "more than two"),
        (["a", "b", "c"], [0.0, 1.0, 2.0], "more than two"),
        ([], [], "empty"),
        ([0, 1], [0.0], "equally long"),
        ([0, 1], [0.0, np.nan], "finite.* index 1"),
        ([0, 1], [np.inf, 0.0], "finite.* index 0"),
        ([0, np.nan], [0.0, 1.0], "NaN"),
        (np.array([0, np.nan], dtype=object), [0.0, 1.0], "NaN"),
        (np.array([0, "a"], dtype=object), [0.0, 1.0], "mixture"),
        ([None, "a"], [0.0, 1.0], "missing values"),
        ([[0, 1]], [0.0, 1.0], "one-dimensional"),
        ([0, 1], [[0.0, 1.0], [1.0, 0.0]], "one column"),
        ([0, 1], ["low", "high"], "numbers"),
        ([0, 1], [1j, 2j], "score must hold real numbers"),
        ([0, 1], np.array(["2020-01-01", "NaT"], dtype="M8[D]"), "score must hold real numbers"),
        ([0, 1], np.array([1, 2], dtype="m8[s]"), "score must hold real numbers"),
    ],
)
def test_bad_input_is_refused(metric, y, score, message):
    with pytest.raises(ValueError, match=message):
        metric(y, score)


@METRICS
@pytest.mark.parametrize(
    "weights, message",
    [
        ([1, 0], "no weight"),
        ([0, 1], "no weight"),
        ([1, -1], "at least 0"),
        ([1, np.nan], "finite"),
        ([1], "shape"),
        ([1, 1j], "sample_weight must hold real numbers"),
        (np.array([1, 2], dtype="m8[s]"), "sample_weight must hold real numbers"),
    ],
)
def test_bad_weights_are_refused(metric, weights, message):
    with pytest.raises(ValueError, match=message):
        metric([0, 1], [0.0, 1.0], sample_weight=weights)


@METRICS
def test_a_label_that_is_none_is_refused(metric):
    with pytest.raises(ValueError, match="pos_label='x' is not a label"):
        metric(["a", "b"], [0.0, 1.0], pos_label="x")


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_areas_of_random_rankings_are_those_of_scikit_learn(seed):
    """Whole and standardised partial areas: few or many ties, weights of several magnitudes, some of them 0."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 80))
    y = np.concatenate([[0, 0, 1, 1], rng.integers(0, 2, n - 4)])
    scores = np.round(rng.normal(size=n) + 0.5 * y, int(rng.integers(0, 4))) * 10.0 ** rng.integers(-200, 200)
    weights = None
    if rng.random() < 0.6:
        weights = rng.uniform(size=n) * 10.0 ** rng.integers(-3, 4, n) * (rng.random(n) < 0.8)
        weights[:4] = rng.uniform(0.1, 1.0, 4)
    expected = sklearn_metrics.roc_auc_score(y, scores, sample_weight=weights)
    assert roc_auc(y, scores, sample_weight=weights) == pytest.approx(expected, rel=1e-10, abs=1e-12)
    b = float(rng.uniform(0.01, 0.99))
    area = partial_auc(y, scores, (0, b), sample_weight=weights)
    expected = sklearn_metrics.roc_auc_score(y, scores, max_fpr=b, sample_weight=weights)
    assert 0.5 * (1 + (area - b / 2) / (1 - b / 2)) == pytest.approx(expected, rel=1e-9, abs=1e-12)
