"""Random choices do not depend on how they are requested, and have the right distribution."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from kernbench.problems.draws import (
    UniformStream,
    as_generator,
    cumulative_weights,
    draw_indices,
    open_streams,
    seed_of,
    stratified_sample,
)
from kernbench.solvers.base import Solution

WEIGHTS = np.array([0.0, 3.0, 1.0, 0.0, 2.0, 0.5, 0.0])


class Scripted:
    """A generator that returns the numbers it was given."""

    def __init__(self, *numbers):
        self.numbers = np.array(numbers)

    def random(self, size):
        return self.numbers[:size]


# --- indices --------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(parts=st.lists(st.integers(0, 50), max_size=8), n=st.integers(1, 1000), weighted=st.booleans())
def test_draws_do_not_depend_on_how_they_are_split(parts, n, weighted):
    cumulative = cumulative_weights(np.arange(1.0, n + 1)) if weighted else None
    whole, split = np.random.default_rng(7), np.random.default_rng(7)
    expected = draw_indices(whole, sum(parts), n, cumulative)
    drawn = [draw_indices(split, part, n, cumulative) for part in parts]
    np.testing.assert_array_equal(np.concatenate([*drawn, np.empty(0, dtype=np.intp)]), expected)
    assert expected.dtype == np.intp and expected.shape == (sum(parts),)
    assert whole.random() == split.random()


RARE = 1e-7  # uniform draws give a smaller p-value as often as that


def test_uniform_draws_are_uniform(global_random_seed):
    counts = np.bincount(draw_indices(np.random.default_rng(global_random_seed), 50_000, 10), minlength=10)
    assert len(counts) == 10 and chisquare(counts).pvalue > RARE


def test_weighted_draws_are_proportional_to_the_weights(global_random_seed):
    drawn = draw_indices(np.random.default_rng(global_random_seed), 50_000, len(WEIGHTS), cumulative_weights(WEIGHTS))
    counts = np.bincount(drawn, minlength=len(WEIGHTS))
    assert np.all(counts[WEIGHTS == 0] == 0)
    heavy = WEIGHTS > 0
    assert chisquare(counts[heavy], WEIGHTS[heavy] / WEIGHTS.sum() * 50_000).pvalue > RARE


@pytest.mark.parametrize("weights", [None, np.ones(7), np.full(7, 0.1)], ids=["none", "ones", "equal"])
def test_equal_weights_draw_as_no_weights_do(weights):
    assert cumulative_weights(weights) is None


def test_cumulative_weights_are_sums_in_double():
    cumulative = cumulative_weights(WEIGHTS.astype(np.float32))
    assert cumulative.dtype == np.float64
    np.testing.assert_array_equal(cumulative, np.cumsum(WEIGHTS))


def test_each_number_has_its_index():
    """Interval i of [0, 1) belongs to index i, its left end included."""
    numbers = Scripted(0.0, 0.24, 0.25, 0.5, 0.75, 1 - 2**-53)
    np.testing.assert_array_equal(draw_indices(numbers, 6, 4), [0, 0, 1, 2, 3, 3])
    numbers = Scripted(0.0, 0.49, 0.5, 0.74, 0.75, 1 - 2**-53)
    cumulative = cumulative_weights(np.array([0.0, 2.0, 0.0, 1.0, 1.0]))
    np.testing.assert_array_equal(draw_indices(numbers, 6, 5, cumulative), [1, 1, 3, 3, 4, 4])


@pytest.mark.parametrize("n", [1, 3, 10**6 + 3, 2**31 + 11])
def test_the_largest_number_below_one_draws_the_last_index(n):
    assert draw_indices(Scripted(1 - 2**-53), 1, n).item() == n - 1


# --- generators -----------------------------------------------------------------------------------


def test_generators_pass_through_and_seeds_repeat():
    rng = np.random.default_rng(3)
    assert as_generator(rng) is rng
    for make in (lambda: 3, lambda: np.random.SeedSequence(3), lambda: np.random.RandomState(3), lambda: np.int64(3)):
        assert as_generator(make()).random() == as_generator(make()).random()
    assert as_generator(None).random() != as_generator(None).random()


def test_a_random_state_moves_on():
    """Two fits with one RandomState differ, as everywhere in scikit-learn."""
    state = np.random.RandomState(0)
    assert as_generator(state).random() != as_generator(state).random()


# --- streams --------------------------------------------------------------------------------------

READS = st.lists(st.tuples(st.sampled_from(["next", "ahead", "skip"]), st.integers(0, 6000)), max_size=15)


@settings(max_examples=40, deadline=None)
@given(reads=READS, width=st.integers(1, 3), start=st.sampled_from([0, 1, 100, 5000]))
def test_a_stream_says_the_same_however_it_is_read(reads, width, start):
    """Read one by one, ahead, with skips, or from the middle: draw number t is always the same."""
    script = np.random.Generator(np.random.Philox(key=[11, 2])).random((100_000, width))
    stream, position = UniformStream(11, 2, width, start), start
    for kind, count in reads:
        if kind == "next":
            np.testing.assert_array_equal(stream.next(), script[position])
            position += 1
        elif kind == "ahead":
            seen = stream.ahead(count)
            assert len(seen) >= count and seen.shape[1] == width
            np.testing.assert_array_equal(seen, script[position : position + len(seen)])
        else:
            stream.ahead(count)
            stream.position += count
            position += count
        assert stream.position == position
    resumed = UniformStream(stream.seed, 2, width, stream.position)
    np.testing.assert_array_equal(resumed.next(), stream.next())


def test_looking_ahead_does_not_move():
    stream = UniformStream(0, 0)
    first = stream.ahead(10)[0].copy()
    stream.ahead(10_000)
    assert stream.position == 0
    np.testing.assert_array_equal(stream.next(), first)


def test_seeds_and_numbers_tell_streams_apart():
    firsts = [UniformStream(seed, number).next().item() for seed in (0, 1, 2**53 - 1) for number in (0, 1, 2)]
    assert len(set(firsts)) == 9
    assert all(0 <= first < 1 for first in firsts)


def test_streams_of_one_run_do_not_disturb_each_other():
    coins, first, second = open_streams(5)
    expected = [UniformStream(5, number, width).ahead(3)[:3] for number, width in ((0, 1), (1, 2), (2, 2))]
    first.ahead(5000)
    first.position += 4999
    second.next()
    np.testing.assert_array_equal(coins.ahead(3)[:3], expected[0])
    np.testing.assert_array_equal(second.ahead(2)[:2], expected[2][1:])
    resumed = open_streams(5, tuple(stream.position for stream in (coins, first, second)))
    for old, new in zip((coins, first, second), resumed, strict=True):
        assert new.position == old.position
        np.testing.assert_array_equal(new.next(), old.next())


@settings(max_examples=50, deadline=None)
@given(n_positive=st.integers(1, 60), n_negative=st.integers(1, 60), seed=st.integers(0, 1000), weighted=st.booleans())
def test_a_stratified_sample_has_both_classes_and_no_repeats(n_positive, n_negative, seed, weighted):
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.arange(n_positive + n_negative) < n_positive)
    weights = None
    if weighted:
        weights = rng.integers(0, 2, size=len(positive)).astype(float)
        weights[[np.argmax(positive), np.argmin(positive)]] = 1
    size = max(2, len(positive) // 2)
    drawn = stratified_sample(rng, positive, weights, size)
    assert np.all(np.diff(drawn) > 0) and len(drawn) <= size
    assert positive[drawn].any() and not positive[drawn].all()
    if weighted:
        assert np.all(weights[drawn] > 0)
    else:
        assert len(drawn) == size
        half = size // 2
        assert min(np.count_nonzero(positive[drawn]), half) == min(n_positive, half)


def test_a_run_that_goes_on_keeps_its_seed():
    assert seed_of(3) == seed_of(3) != seed_of(4)
    assert seed_of(4, Solution(np.zeros(2), state={"seed": np.array([17])})) == 17
    assert seed_of(4, Solution(np.zeros(2))) == seed_of(4)
