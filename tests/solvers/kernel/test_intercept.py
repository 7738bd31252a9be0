"""The compiled search for the best intercept, against the one that sorts everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.problems.intercept import best_intercept
from kernbench.solvers.kernel.online._intercept import InterceptFinder


def two_classes(rng, n):
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return y


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 400), weighted=st.booleans(), tied=st.booleans())
def test_a_wandering_function_keeps_the_answer_exact(seed, n, weighted, tied):
    rng = np.random.default_rng(seed)
    y = two_classes(rng, n)
    weights = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    if weighted:
        weights[2:][rng.random(n - 2) < 0.2] = 0.0
    finder, responses = InterceptFinder(y, weights), np.zeros(n)
    for step in (0.0, 1.0, 1e-3, 1e-2, 1e-3, 10.0, 1e-3, 0.0):  # small moves, and leaps out of the window
        responses = responses + step * rng.normal(size=n) + step * rng.normal()
        if tied:
            responses = np.round(responses)
        assert finder.find(responses) == best_intercept(responses, y, weights)


def test_a_flat_piece_gives_its_middle_wherever_the_window_ends():
    y, responses = np.array([1.0, 1.0, -1.0, -1.0]), np.array([2.0, 3.0, -2.0, -3.0])
    finder = InterceptFinder(y, np.ones(4))
    for shift in (0.0, 0.1, 0.2, 5.0):
        assert finder.find(responses + shift) == best_intercept(responses + shift, y, np.ones(4))


@pytest.mark.parametrize("value", [0.0, 1.0, -1.0])
def test_equal_responses(value):
    y, responses = np.array([1.0, -1.0, 1.0]), np.full(3, value)
    finder = InterceptFinder(y, np.ones(3))
    for _ in range(3):
        assert finder.find(responses) == best_intercept(responses, y, np.ones(3))


@pytest.mark.parametrize("separated", [False, True])
def test_negatives_that_weigh_less_than_rounding_change_no_loss(separated):
    y, weights = np.array([1.0, -1.0, -1.0]), np.array([1.0, 1e-13, 1e-13])
    responses = np.array([3.0, -2.0, -4.0]) if separated else np.zeros(3)

    def loss(b):
        return weights @ np.maximum(0.0, 1.0 - y * (responses + b))

    finder = InterceptFinder(y, weights)
    least = loss(best_intercept(responses, y, weights))
    for _ in range(2):
        assert loss(finder.find(responses)) == pytest.approx(least, abs=1e-12)
