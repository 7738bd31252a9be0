from types import SimpleNamespace

import numpy as np
import pytest

from kernbench.pairs import AllPairs, DrawnPairs, draw_pairs
from kernbench.reference.pairs import pairs as reference

TWINS = pytest.mark.parametrize("Pairs", [DrawnPairs, reference.DrawnPairs], ids=["compiled", "reference"])
TIES = pytest.mark.parametrize("ties", [False, True], ids=["distinct", "tied"])
X = np.array([[2, 0], [0, 1], [0, 0], [1, 1], [-1, 0]], dtype=float)


def everything(pairs, scores, v):
    return [
        *pairs.value_and_subgradient(scores, "hinge"),
        *pairs.value_and_subgradient(scores, "squared_hinge"),
        pairs.hessian_product(scores, v, "squared_hinge"),
        *pairs.value_and_subgradient(scores, "log_loss"),
        pairs.hessian_product(scores, v, "log_loss"),
    ]


@TWINS
def test_worked_problem(Pairs):
    """The pairs (0, 0), (1, 1), (1, 1), (0, 2) of the classes' own numbering."""
    pairs = Pairs([0, 1, 1, 0], [2, 3, 3, 4], 5)
    w, alpha = np.array([0.5, 0.25]), 0.1
    loss, slopes = pairs.value_and_subgradient(X @ w, "hinge")
    assert loss + alpha / 2 * w @ w == pytest.approx(0.765625, rel=1e-15)
    np.testing.assert_allclose(X.T @ slopes + alpha * w, [0.55, 0.025], rtol=1e-14)


@TWINS
@TIES
def test_every_pair_once_is_all_pairs(Pairs, ties, pair_problem):
    p = pair_problem(0, 40, False, ties)
    first, second = np.meshgrid(np.flatnonzero(p.y > 0), np.flatnonzero(p.y < 0))
    found = everything(Pairs(first.ravel(), second.ravel(), p.n), p.scores, p.v)
    for one, other in zip(found, everything(AllPairs(p.y), p.scores, p.v)):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)


@TIES
def test_twins_agree_and_the_order_of_pairs_is_immaterial(ties, pair_problem):
    p = pair_problem(1, 200, False, ties)
    first, second = draw_pairs(p.rng, p.y, 500)
    expected = everything(reference.DrawnPairs(first, second, p.n), p.scores, p.v)
    shuffled = p.rng.permutation(500)
    for order in (slice(None), shuffled):
        found = everything(DrawnPairs(first[order], second[order], p.n), p.scores, p.v)
        for one, other in zip(found, expected):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-16)


@TWINS
def test_a_repeated_pair_counts_twice(Pairs):
    once, twice = Pairs([0, 1], [2, 3], 4), Pairs([0, 1, 1], [2, 3, 3], 4)
    scores = np.array([0.1, 0.2, 0.3, 0.4])
    assert once.mean_loss(scores, "hinge") == pytest.approx((1.2 + 1.2) / 2)
    assert twice.mean_loss(scores, "hinge") == pytest.approx((1.2 + 2 * 1.2) / 3)
    np.testing.assert_allclose(twice.value_and_subgradient(scores, "hinge")[1], np.array([-1, -2, 1, 2]) / 3)


@TWINS
def test_pairs_exactly_at_the_margin_are_not_active(Pairs):
    assert Pairs([0], [1], 2).value_and_subgradient([1.5, 0.5], "hinge")[1].tolist() == [0, 0]


@TWINS
def test_bad_scores_are_refused(Pairs):
    pairs = Pairs([0], [1], 3)
    with pytest.raises(ValueError, match="finite.* index 1"):
        pairs.mean_loss([0.0, np.nan, 0.0], "hinge")
    with pytest.raises(ValueError, match="shape"):
        pairs.mean_loss([0.0, 1.0], "squared_hinge")
    with pytest.raises(ValueError, match="finite.* index 2"):
        pairs.value_and_subgradient([0.0, 1.0, np.inf], "hinge")  # which is in no pair


@TWINS
@pytest.mark.parametrize(
    "first, second, message",
    [
        ([], [], "0 and 0"),
        ([0, 1], [2], "one length"),
        ([0], [3], "0 to 2"),
        ([-1], [2], "0 to 2"),
        ([0.5], [2.0], "integer"),
        ([[0]], [[1]], "one-dimensional"),
    ],
)
def test_lists_that_are_no_pairs_are_refused(Pairs, first, second, message):
    with pytest.raises(ValueError, match=message):
        Pairs(first, second, 3)


# --- drawing ------------------------------------------------------------------------------------------------

Y = np.where(np.arange(200) % 5 == 0, 1, -1)  # 40 positives, 160 negatives


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_positives_come_first_and_negatives_second(balanced, weighted):
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, size=200) if weighted else None
    first, second = draw_pairs(rng, Y, 1000, sample_weight=weights, balanced=balanced)
    assert first.shape == second.shape == (1000,)
    assert np.all(Y[first] == 1) and np.all(Y[second] == -1)
    if weighted:
        assert weights[first].min() > 0 and weights[second].min() > 0
    assert len(np.unique(first)) > 20 and len(np.unique(second)) > 80


@pytest.mark.parametrize("u", [0.0, 1.0])
def test_the_ends_of_the_uniform_numbers_draw_no_sample_without_weight(u):
    """1 is not among them, but u times the sum of the weights may be rounded to that sum."""
    rng = SimpleNamespace(random=lambda shape: np.full(shape, u))
    first, second = draw_pairs(rng, [1, 1, 1, -1, -1, -1], 2, sample_weight=[0.0, 1.0, 0.0, 0.0, 2.0, 0.0])
    assert first.tolist() == [1, 1] and second.tolist() == [4, 4]


def test_a_seed_gives_the_same_pairs_and_a_longer_list_begins_with_the_shorter():
    short, again, long = (draw_pairs(np.random.default_rng(7), Y, size) for size in (30, 30, 50))
    np.testing.assert_array_equal(short, again)
    np.testing.assert_array_equal(np.array(short), np.array(long)[:, :30])


def test_mask_and_labels_draw_alike():
    one, other = (draw_pairs(np.random.default_rng(7), y, 50) for y in (Y, Y > 0))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("balanced", [False, True])
def test_samples_are_drawn_in_proportion_to_their_weights(balanced):
    y, weights = np.array([1, 1, 1, -1, -1]), np.array([1.0, 0.0, 3.0, 1.0, 4.0])
    first, second = draw_pairs(np.random.default_rng(0), y, 40_000, sample_weight=weights, balanced=balanced)
    for drawn, shares in ((first, [0.25, 0, 0.75, 0, 0]), (second, [0, 0, 0, 0.2, 0.8])):
        np.testing.assert_allclose(np.bincount(drawn, minlength=5) / 40_000, shares, atol=0.01)
    joint = np.mean((first == 0) & (second == 3))
    assert joint == pytest.approx(0.05, abs=0.01)  # the two members are independent


@pytest.mark.parametrize("size", [10, 40, 200, 1001])
@pytest.mark.parametrize("weighted", [False, True])
def test_balanced_draws_use_every_sample_equally_often(size, weighted):
    weights = np.where(np.arange(200) % 3, 1.0, 2.0) if weighted else np.ones(200)
    first, second = draw_pairs(
        np.random.default_rng(1), Y, size, sample_weight=weights if weighted else None, balanced=True
    )
    for drawn, members in ((first, Y > 0), (second, Y < 0)):
        share = size * weights * members / weights[members].sum()
        counts = np.bincount(drawn, minlength=200)
        assert np.all(counts >= np.floor(share - 1e-9)) and np.all(counts <= np.ceil(share + 1e-9))


def test_mean_over_drawn_pairs_is_unbiased_and_has_the_variance_of_the_formula():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=200) + 0.5 * Y
    B, repeats = 200, 1500
    whole = AllPairs(Y).mean_loss(scores, "hinge")
    losses = {
        balanced: [
            DrawnPairs(*draw_pairs(rng, Y, B, balanced=balanced), 200).mean_loss(scores, "hinge")
            for _ in range(repeats)
        ]
        for balanced in (False, True)
    }
    h = np.maximum(0, 1 - (scores[Y > 0][:, None] - scores[Y < 0]))
    variance = h.var() / B
    for balanced in (False, True):
        assert np.mean(losses[balanced]) == pytest.approx(whole, abs=5 * np.sqrt(variance / repeats))
    assert np.var(losses[False]) == pytest.approx(variance, rel=0.2)
    assert np.var(losses[True]) < 0.5 * variance


@pytest.mark.parametrize("n_pairs", [0, -3, 2.5, None])
def test_n_pairs_must_be_a_number_of_pairs(n_pairs):
    with pytest.raises(ValueError, match="n_pairs"):
        draw_pairs(np.random.default_rng(0), Y, n_pairs)


@TWINS
def test_more_samples_than_32_bits_can_number_are_refused(Pairs):
    with pytest.raises(ValueError, match=f"at most {2**31} samples, got {2**31 + 5}"):
        Pairs([2**31 + 1], [0], 2**31 + 5)
