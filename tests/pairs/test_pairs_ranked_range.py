"""The sum of ranked range: the losses ranked m + 1 to n, the largest first."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.metrics import ranked_range


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 5).map(float), min_size=1, max_size=30), st.data())
def test_it_is_a_slice_of_the_sorted_losses(losses, data):
    n = data.draw(st.integers(1, len(losses)))
    m = data.draw(st.integers(0, n - 1))
    assert ranked_range(losses, m, n) == sum(sorted(losses, reverse=True)[m:n])


def test_it_is_the_difference_of_two_sums_of_largest_losses():
    losses = np.random.default_rng(0).exponential(size=1000)
    whole = ranked_range(losses, 0, 300)
    assert ranked_range(losses, 40, 300) == pytest.approx(whole - ranked_range(losses, 0, 40), rel=1e-13)
    assert ranked_range(losses, 0, 1000) == pytest.approx(losses.sum(), rel=1e-14)
    assert ranked_range(losses, 0, 1) == losses.max() and ranked_range(losses, 999, 1000) == losses.min()


def test_losses_are_left_as_they_are():
    losses = np.array([1.0, 3.0, 2.0])
    ranked_range(losses, 0, 2)
    assert losses.tolist() == [1, 3, 2]


@pytest.mark.parametrize("m, n", [(-1, 2), (2, 2), (2, 1), (0, 4), (0.0, 2), (0, None)])
def test_ranges_that_are_none_are_refused(m, n):
    with pytest.raises(ValueError, match="0 <= m < n <= 3"):
        ranked_range([1.0, 2.0, 3.0], m, n)


@pytest.mark.parametrize("losses", [[], [[1.0, 2.0]], [1.0, np.nan], [np.inf, 1.0], [1j, 2.0]])
def test_bad_losses_are_refused(losses):
    with pytest.raises(ValueError, match="losses|<= 0"):
        ranked_range(losses, 0, 1)
