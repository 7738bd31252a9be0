"""The fitted power of a quantity, and its interval."""

import numpy as np
import pytest

from kernbench.experiments.measure.rates import rate


def test_an_exact_power_has_no_interval():
    x = [1.0, 2.0, 4.0, 8.0]
    found = rate(x, [3.0 * value**-0.5 for value in x])
    assert (found.slope, found.low, found.high) == pytest.approx((-0.5, -0.5, -0.5))
    assert found.half == pytest.approx(0.0, abs=1e-6)  # the root of what 1 - r^2 is but for rounding


def test_the_interval_holds_the_power_in_95_of_100_samples():
    rng, x = np.random.default_rng(3), 2.0 ** np.arange(8)
    found = [rate(x, x**-1.0 * np.exp(0.2 * rng.standard_normal(8))) for _ in range(400)]
    assert 360 <= sum(each.low <= -1.0 <= each.high for each in found) <= 396


@pytest.mark.parametrize(("x", "y"), [([1.0, 2.0], [1.0, 2.0]), ([2.0, 2.0, 2.0], [1.0, 2.0, 3.0])])
def test_too_few_sizes_give_no_power(x, y):
    assert rate(x, y) is None
