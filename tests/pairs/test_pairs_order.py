"""The underlying sort: for any values, any previous order and any number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from kernbench.pairs._order import ScoreOrder


def expected_order(scores, positive, margin=0.0):
    z = np.asarray(scores, dtype=np.float64) - margin * positive
    return np.lexsort((np.arange(len(z)), positive, z))


def _steps(rng, n):
    return 10.0 ** rng.integers(-250, 250, n) * (1 + 1e-3 * rng.normal(size=n))


def _outlier(rng, n):
    x = rng.normal(size=n)
    x[n // 2] = 1e300
    return x


def _nested(rng, n):
    """A normal sample, half of which is a millionth as wide, half of that again, ..."""
    return rng.normal(size=n) * 1e-6 ** np.floor(-np.log2(rng.random(n)))


VALUES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "equal": lambda rng, n: np.full(n, 2.5),
    "two values": lambda rng, n: rng.integers(0, 2, n) * 1.0,
    "tied": lambda rng, n: np.round(rng.normal(size=n)),
    "half zero": lambda rng, n: np.maximum(0, rng.normal(size=n)),
    "ascending": lambda rng, n: np.sort(rng.normal(size=n)),
    "descending": lambda rng, n: -np.sort(rng.normal(size=n)),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n),
    "outlier": _outlier,
    "logarithmic": lambda rng, n: rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-300, 300, n),
    "steps": _steps,
    "nested": _nested,
    "neighbours": lambda rng, n: 1 + rng.integers(0, 50, n) * 2.0**-52,
    "denormal": lambda rng, n: rng.integers(-1000, 1000, n) * 5e-324,
    "the whole range": lambda rng, n: rng.choice([-1.7e308, 1.7e308, 0.0, 1e-310, 1.0], n),
    "both zeros": lambda rng, n: rng.choice([0.0, -0.0, 1.0], n),
    "saturated": lambda rng, n: np.tanh(20 * rng.normal(size=n)),
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("n", [2, 16, 17, 300, 5000, 140_000])
def test_order_is_that_of_value_class_and_index(name, n):
    rng = np.random.default_rng(n)
    positive = rng.random(n) < 0.3
    scores = VALUES[name](rng, n)
    found = ScoreOrder(positive).argsort(scores)
    np.testing.assert_array_equal(found, expected_order(scores, positive))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.booleans()), min_size=1, max_size=60))
def test_any_floating_point_numbers(samples):
    scores, positive = (np.array(column) for column in zip(*samples))
    found = ScoreOrder(positive).argsort(scores)
    np.testing.assert_array_equal(found, expected_order(scores, positive))


@pytest.mark.parametrize("n", [50, 5000, 140_000])
def test_order_does_not_depend_on_earlier_calls(n):
    rng = np.random.default_rng(0)
    positive = rng.random(n) < 0.5
    order = ScoreOrder(positive)
    x = rng.normal(size=n)
    near = x + 0.1 / n * rng.normal(size=n)
    swapped = x.copy()
    swapped[:2] = swapped[1::-1]
    late = np.sort(x)
    late[-3:] = -10.0, -11.0, -12.0  # nearly sorted, but far to go
    for scores in (x, x, near, swapped, np.zeros(n), np.round(x), x, np.sort(x), late, np.sort(x)[::-1], -x, x):
        for margin in (0.0, 1.0):
            np.testing.assert_array_equal(order.argsort(scores, margin), expected_order(scores, positive, margin))
        np.testing.assert_array_equal(order.argsort(scores, 1.0), expected_order(scores, positive, 1.0))


def test_threads_agnosticism():
    rng = np.random.default_rng(1)
    n = 270_000
    scores, positive = rng.normal(size=n), rng.random(n) < 0.1
    in_turn = scores, scores + 1e-8 * rng.normal(size=n), np.round(scores, 2)
    expected = [expected_order(s, positive) for s in in_turn]
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads, user_api="openmp"):
            order = ScoreOrder(positive)
            for s, indices in zip(in_turn, expected):
                np.testing.assert_array_equal(order.argsort(s), indices)


def test_labels_changed_after_the_call_are_not_noticed():
    positive = np.array([True, False, True])
    order = ScoreOrder(positive)
    positive[:] = False
    assert order.argsort(np.zeros(3)).tolist() == [1, 0, 2]


@pytest.mark.parametrize("margin", [np.nan, np.inf, 1e308])
def test_a_margin_that_leaves_no_finite_scores_is_refused(margin):
    order = ScoreOrder(np.array([True, False, True]))
    scores = np.array([-1e308, 0.0, 1.0])
    with pytest.raises(ValueError, match="scores minus the margin must be finite"):
        order.argsort(scores, margin)
    assert order.argsort(scores).tolist() == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("name", VALUES)
def test_ten_million(name):
    n = 10_000_000
    rng = np.random.default_rng(0)
    positive = rng.random(n) < 0.3
    scores = VALUES[name](rng, n)
    found = ScoreOrder(positive).argsort(scores)
    z, tag = scores[found], found + n * positive[found].astype(np.int64)
    ties = np.diff(z) == 0
    assert np.all(np.diff(z) >= 0) and np.all(np.diff(tag)[ties] > 0)
    assert np.bincount(found, minlength=n).max() == 1
