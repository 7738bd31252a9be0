from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from kernbench.pairs import AllPairs
from kernbench.reference.pairs import pairs as reference

TWINS = pytest.mark.parametrize("Pairs", [AllPairs, reference.AllPairs], ids=["compiled", "reference"])
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
TIES = pytest.mark.parametrize("ties", [False, True], ids=["distinct", "tied"])


def everything(pairs, scores, v):
    hinge, subgradient = pairs.value_and_subgradient(scores, "hinge")
    squared, gradient = pairs.value_and_subgradient(scores, "squared_hinge")
    log_loss, log_gradient = pairs.value_and_subgradient(scores, "log_loss")
    return {
        "hinge": hinge,
        "subgradient": subgradient,
        "squared_hinge": squared,
        "gradient": gradient,
        "hessian_product": pairs.hessian_product(scores, v, "squared_hinge"),
        "log_loss": log_loss,
        "log_gradient": log_gradient,
        "log_hessian_product": pairs.hessian_product(scores, v, "log_loss"),
    }


@TWINS
@WEIGHTED
@TIES
@pytest.mark.parametrize("n", [2, 3, 17, 60])
def test_losses_and_derivatives_are_the_double_sums(Pairs, weighted, ties, n, pair_problem, brute_force):
    for seed in range(10):
        p = pair_problem(seed, n, weighted, ties)
        found = everything(Pairs(p.y, p.weights), p.scores, p.v)
        expected = brute_force(p.y, p.scores, p.weights, p.v)
        for what, value in found.items():
            np.testing.assert_allclose(value, getattr(expected, what), rtol=1e-12, atol=1e-14, err_msg=what)


@WEIGHTED
@TIES
@pytest.mark.parametrize("n", [100, 5000, pytest.param(9001, marks=pytest.mark.slow)])
def test_twins_agree(weighted, ties, n, pair_problem):
    p = pair_problem(3, n, weighted, ties)
    found = everything(AllPairs(p.y, p.weights), p.scores, p.v)
    expected = everything(reference.AllPairs(p.y, p.weights), p.scores, p.v)
    for what in expected:
        np.testing.assert_allclose(found[what], expected[what], rtol=1e-10, atol=1e-15, err_msg=what)


def few_values():
    return st.integers(-6, 6).map(lambda k: k / 2)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(few_values(), st.booleans(), st.integers(0, 3)), min_size=2, max_size=25))
def test_tied_scores_and_integer_weights_are_summed_exactly(brute_force, samples):
    scores, mask, weights = (np.array(column) for column in zip(*samples))
    scores, mask = np.append(scores, [0.0, 1.0]), np.append(mask, [True, False])
    weights = np.append(weights, [1, 2])
    loss, subgradient = AllPairs(mask, weights).value_and_subgradient(scores, "hinge")
    expected = brute_force(np.where(mask, 1, -1), scores, weights)
    assert loss == pytest.approx(expected.hinge, rel=1e-14)
    np.testing.assert_allclose(subgradient, expected.subgradient, rtol=1e-14, atol=1e-300)


# --- worked numbers -----------------------------------------------------------------------------------------


@TWINS
def test_worked_scores(Pairs):
    loss, subgradient = Pairs([1, 1, -1, -1, -1]).value_and_subgradient([2, 0.5, 0, 1, 1], "hinge")
    assert loss * 6 == pytest.approx(3.5, rel=1e-15)
    np.testing.assert_allclose(subgradient * 6, [0, -3, 1, 1, 1], rtol=1e-15)


@TWINS
@pytest.mark.parametrize(
    "w, objective, gradient", [((0, 0), 1.0, (-1, -1 / 6)), ((0.5, 0.25), 0.557291667, (-0.116666667, -0.141666667))]
)
def test_worked_problem(Pairs, w, objective, gradient):
    X = np.array([[2, 0], [0, 1], [0, 0], [1, 1], [-1, 0]], dtype=float)
    w, alpha = np.array(w, dtype=float), 0.1
    loss, slopes = Pairs([1, 1, -1, -1, -1]).value_and_subgradient(X @ w, "hinge")
    assert loss + alpha / 2 * w @ w == pytest.approx(objective, abs=1e-9)
    np.testing.assert_allclose(X.T @ slopes + alpha * w, gradient, atol=1e-9)


@TWINS
def test_pairs_exactly_at_the_margin_are_not_active(Pairs):
    pairs = Pairs([1, -1])
    assert pairs.value_and_subgradient([1.5, 0.5], "hinge")[1].tolist() == [0, 0]
    assert pairs.value_and_subgradient([np.nextafter(1.5, 0), 0.5], "hinge")[1].tolist() == [-1, 1]
    assert pairs.hessian_product([1.5, 0.5], [1, 0], "squared_hinge").tolist() == [0, 0]


# --- laws ---------------------------------------------------------------------------------------------------


@WEIGHTED
@TIES
def test_subgradient_inequality_and_convexity(weighted, ties, pair_problem):
    p = pair_problem(0, 30, weighted, ties)
    pairs = AllPairs(p.y, p.weights)
    for evaluate in (partial(pairs.value_and_subgradient, loss=loss) for loss in ("hinge", "squared_hinge")):
        for _ in range(50):
            here = p.scores + np.round(p.rng.normal(size=p.n))
            there = here + np.round(2 * p.rng.normal(size=p.n)) / 2
            loss, slopes = evaluate(here)
            assert evaluate(there)[0] >= loss + slopes @ (there - here) - 1e-12
            assert evaluate(0.5 * (here + there))[0] <= 0.5 * (loss + evaluate(there)[0]) + 1e-12


@WEIGHTED
def test_derivatives_match_finite_differences(weighted, pair_problem):
    step = 1e-6
    p = pair_problem(5, 25, weighted)
    pairs = AllPairs(p.y, p.weights)
    excess = p.scores[p.y < 0] - p.scores[p.y > 0][:, None] + 1
    assert np.abs(excess).min() > 10 * step  # no kink nearby
    ahead, behind = p.scores + step * p.v, p.scores - step * p.v
    for loss in ("hinge", "squared_hinge"):
        slope = (pairs.mean_loss(ahead, loss) - pairs.mean_loss(behind, loss)) / (2 * step)
        assert slope == pytest.approx(pairs.value_and_subgradient(p.scores, loss)[1] @ p.v, rel=1e-6)
    change = (
        pairs.value_and_subgradient(ahead, "squared_hinge")[1] - pairs.value_and_subgradient(behind, "squared_hinge")[1]
    )
    product = pairs.hessian_product(p.scores, p.v, "squared_hinge")
    np.testing.assert_allclose(change / (2 * step), product, rtol=1e-6, atol=1e-8)


@WEIGHTED
@TIES
def test_hessian_is_symmetric_and_positive_semidefinite(weighted, ties, pair_problem):
    p = pair_problem(1, 20, weighted, ties)
    pairs = AllPairs(p.y, p.weights)
    H = np.array([pairs.hessian_product(p.scores, e, "squared_hinge") for e in np.eye(p.n)])
    np.testing.assert_allclose(H, H.T, atol=1e-16)
    assert np.linalg.eigvalsh(H).min() > -1e-15
    np.testing.assert_allclose(H @ np.ones(p.n), 0, atol=1e-15)


@TIES
def test_weight_k_equals_repeat_k(ties, pair_problem):
    p = pair_problem(2, 50, False, ties)
    weights = p.rng.integers(0, 4, size=p.n)
    weights[:2] = 1, 2
    repeats = np.repeat(np.arange(p.n), weights)
    weighted = everything(AllPairs(p.y, weights), p.scores, p.v)
    repeated = everything(AllPairs(p.y[repeats]), p.scores[repeats], p.v[repeats])
    for what in weighted:
        if np.ndim(weighted[what]):
            repeated[what] = np.bincount(repeats, weights=repeated[what], minlength=p.n)
        np.testing.assert_allclose(weighted[what], repeated[what], rtol=1e-13, atol=1e-16, err_msg=what)


def test_samples_of_weight_zero_do_not_count(pair_problem):
    p = pair_problem(4, 50, True)
    kept = p.weights > 0
    assert 0 < kept.sum() < p.n
    whole = everything(AllPairs(p.y, p.weights), p.scores, p.v)
    part = everything(AllPairs(p.y[kept], p.weights[kept]), p.scores[kept], p.v[kept])
    for what in whole:
        if np.ndim(whole[what]):
            assert not whole[what][~kept].any()
            whole[what] = whole[what][kept]
        np.testing.assert_allclose(whole[what], part[what], rtol=1e-13, atol=1e-16, err_msg=what)


@pytest.mark.parametrize("factor", [1e-200, 1e-3, 7.0, 1e200])
def test_unit_of_weights_is_immaterial(factor, pair_problem):
    p = pair_problem(6, 50, True)
    found, expected = (everything(AllPairs(p.y, w), p.scores, p.v) for w in (p.weights * factor, p.weights))
    for what in found:
        np.testing.assert_allclose(found[what], expected[what], rtol=1e-13, atol=1e-16, err_msg=what)


@WEIGHTED
@TIES
def test_permutation_agnosticism(weighted, ties, pair_problem):
    p = pair_problem(7, 300, weighted, ties)
    order = p.rng.permutation(p.n)
    weights = None if p.weights is None else p.weights[order]
    expected = everything(AllPairs(p.y, p.weights), p.scores, p.v)
    found = everything(AllPairs(p.y[order], weights), p.scores[order], p.v[order])
    for what in found:
        value = expected[what][order] if np.ndim(expected[what]) else expected[what]
        np.testing.assert_allclose(found[what], value, rtol=1e-12, atol=1e-16, err_msg=what)


@pytest.mark.parametrize("n_positive, n_negative", [(1, 1), (1, 30), (30, 1)])
def test_a_class_may_have_one_member(n_positive, n_negative, brute_force):
    y = np.repeat([1, -1], [n_positive, n_negative])
    scores, v = np.random.default_rng(0).normal(size=(2, len(y)))
    found, expected = everything(AllPairs(y), scores, v), brute_force(y, scores, None, v)
    for what in found:
        np.testing.assert_allclose(found[what], getattr(expected, what), rtol=1e-13, atol=1e-16, err_msg=what)


@pytest.mark.parametrize("value", [0.0, -3.0, 1e9])
def test_equal_scores_make_every_pair_fall_short_by_one(value):
    y = np.array([1, -1, -1, 1, -1])
    loss, subgradient = AllPairs(y).value_and_subgradient(np.full(5, value), "hinge")
    assert loss == 1
    np.testing.assert_allclose(subgradient, np.where(y > 0, -1 / 2, 1 / 3), rtol=1e-15)
    loss, gradient = AllPairs(y).value_and_subgradient(np.full(5, value), "squared_hinge")
    assert loss == 1
    np.testing.assert_allclose(gradient, 2 * subgradient, rtol=1e-15)


def test_both_zeros_are_one_score():
    rng = np.random.default_rng(0)
    y, v = np.array([1, -1] * 20), rng.normal(size=40)
    plain = rng.integers(0, 2, size=40).astype(float)
    signed = np.where((plain == 0) & (rng.random(40) < 0.5), -0.0, plain)
    assert 0 < np.signbit(signed).sum() < np.sum(plain == 0)
    found, expected = everything(AllPairs(y), signed, v), everything(AllPairs(y), plain, v)
    for what in found:
        np.testing.assert_array_equal(found[what], expected[what], err_msg=what)


# --- numbers ------------------------------------------------------------------------------------------------


def exactly(y, scores, squared):
    """The mean loss in rational arithmetic, from the rounded thresholds a - 1."""
    total = Fraction(0)
    positives, negatives = scores[y > 0], scores[y < 0]
    for t in positives - 1:
        for b in negatives:
            total += max(Fraction(0), Fraction(b) - Fraction(t)) ** (2 if squared else 1)
    return float(total / (len(positives) * len(negatives)))


@pytest.mark.parametrize("offset", [0, 1e4, -1e8, 1e12])
def test_a_common_offset_costs_no_digit(offset, pair_problem):
    p = pair_problem(8, 40)
    scores = p.scores + offset  # rounded to the grid at the offset, exact from here on
    pairs = AllPairs(p.y)
    assert pairs.mean_loss(scores, "hinge") == pytest.approx(exactly(p.y, scores, False), rel=1e-15)
    assert pairs.mean_loss(scores, "squared_hinge") == pytest.approx(exactly(p.y, scores, True), rel=1e-15)
    np.testing.assert_allclose(
        pairs.value_and_subgradient(scores, "squared_hinge")[1],
        pairs.value_and_subgradient(scores - offset, "squared_hinge")[1], rtol=1e-14, atol=0,
    )  # fmt: skip


@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e100, 1e300])
def test_scores_of_any_size(size, pair_problem):
    p = pair_problem(9, 40)
    scores = p.scores * size
    loss, subgradient = AllPairs(p.y).value_and_subgradient(scores, "hinge")
    assert loss == pytest.approx(exactly(p.y, scores, False), rel=1e-14)
    assert np.all(np.isfinite(subgradient))
    if size < 1e140:
        assert AllPairs(p.y).mean_loss(scores, "squared_hinge") == pytest.approx(exactly(p.y, scores, True), rel=1e-14)


def test_one_outlier_does_not_spoil_the_others(pair_problem, brute_force):
    p = pair_problem(10, 60)
    p.scores[5] = -1e300 if p.y[5] < 0 else 1e300  # on its side: no pair of it is active
    loss, subgradient = AllPairs(p.y).value_and_subgradient(p.scores, "hinge")
    others = np.delete(np.arange(p.n), 5)
    share = np.mean(p.y[others] == p.y[5]) * (p.n - 1) / np.sum(p.y == p.y[5])
    expected = brute_force(p.y[others], p.scores[others])
    assert loss == pytest.approx(share * expected.hinge, rel=1e-14)
    np.testing.assert_allclose(subgradient[others], share * expected.subgradient, rtol=1e-14)


def test_float32_scores_and_lists_are_taken_as_they_are(pair_problem):
    p = pair_problem(11)
    single = p.scores.astype(np.float32)
    pairs = AllPairs(p.y.tolist())
    expected = pairs.value_and_subgradient(single.astype(np.float64), "hinge")
    for scores in (single, single.tolist(), np.repeat(single, 2)[::2]):
        loss, subgradient = pairs.value_and_subgradient(scores, "hinge")
        assert loss == expected[0]
        np.testing.assert_array_equal(subgradient, expected[1])


@WEIGHTED
def test_threads_agnosticism(weighted, pair_problem):
    p = pair_problem(12, 270_000, weighted)
    answers = []
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads, user_api="openmp"):
            answers.append(everything(AllPairs(p.y, p.weights), p.scores, p.v))
    for what in answers[0]:
        np.testing.assert_array_equal(answers[0][what], answers[1][what], err_msg=what)
        np.testing.assert_array_equal(answers[0][what], answers[2][what], err_msg=what)


@WEIGHTED
def test_what_was_asked_before_is_immaterial(weighted, pair_problem):
    p = pair_problem(13, 6000, weighted)
    pairs = AllPairs(p.y, p.weights)
    for scores in (p.scores, p.scores + 1e-9 * p.v, np.zeros(p.n), np.round(p.scores), p.scores, p.scores):
        found = everything(pairs, scores, p.v)
        expected = everything(AllPairs(p.y, p.weights), scores, p.v)
        for what in found:
            np.testing.assert_array_equal(found[what], expected[what], err_msg=what)


def test_many_pairs_are_counted_exactly():
    """4e10 pairs, all active: counts beyond 32 bits."""
    n = 400_000
    y = np.where(np.arange(n) % 2, 1, -1)
    loss, subgradient = AllPairs(y).value_and_subgradient(np.where(y > 0, 0.0, 3.0), "hinge")
    assert loss == pytest.approx(4, rel=1e-15)
    np.testing.assert_allclose(subgradient, np.where(y > 0, -2 / n, 2 / n), rtol=1e-15)


# --- bad input ----------------------------------------------------------------------------------------------


@TWINS
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [5, 5000])
def test_scores_that_are_not_finite_are_refused(Pairs, wrong, n):
    scores = np.zeros(n)
    scores[3] = wrong
    pairs = Pairs(np.arange(n) % 2 == 0)
    with pytest.raises(ValueError, match="finite.* index 3"):
        pairs.mean_loss(scores, "hinge")
    with pytest.raises(ValueError, match="finite.* index 3"):
        pairs.value_and_subgradient(scores, "squared_hinge")
    with pytest.raises(ValueError, match="v must be finite"):
        pairs.hessian_product(np.zeros(n), scores, "squared_hinge")
    assert pairs.mean_loss(np.zeros(n), "hinge") == 1  # and no harm is done


def test_scores_too_far_apart_are_refused():
    pairs = AllPairs([1, -1])
    with pytest.raises(ValueError, match="too far apart"):
        pairs.mean_loss([-1.7e308, 1.7e308], "hinge")
    with pytest.raises(ValueError, match="too far apart"):
        pairs.mean_loss([-1e200, 1e200], "squared_hinge")


@TWINS
@pytest.mark.parametrize(
    "y, weights, message",
    [
        ([1, 1, 1], None, "no negative sample"),
        ([-1, -1], None, "no positive sample"),
        ([True, True], None, "no negative sample"),
        ([], None, "no positive sample"),
        ([1, -1, 0], None, "labels -1 and \\+1"),
        ([1.0, np.nan], None, "labels -1 and \\+1"),
        ([[1, -1]], None, "one-dimensional"),
        ([1, -1], [0, 1], "no positive sample"),
        ([1, -1], [1, -1], "at least 0"),
        ([1, -1], [1, np.nan], "finite"),
        ([1, -1], [1, 1, 1], "shape"),
    ],
)
def test_problems_without_pairs_are_refused(Pairs, y, weights, message):
    with pytest.raises(ValueError, match=message):
        Pairs(y, weights)


@TWINS
@pytest.mark.parametrize("scores", [[1.0], [[1.0, 2.0]], [1.0, 2.0, 3.0], []])
def test_scores_of_another_length_are_refused(Pairs, scores):
    with pytest.raises(ValueError, match="shape"):
        Pairs([1, -1]).mean_loss(scores, "hinge")
