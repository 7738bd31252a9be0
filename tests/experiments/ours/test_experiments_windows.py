"""The map of windows: its rows, its intervals, and that both models of a pair see the same rows."""

from dataclasses import replace

import numpy as np
import pytest

from kernbench.experiments import get
from kernbench.experiments.ours.windows import data, runs
from kernbench.experiments.run.cells import plan

EXPERIMENT = get("pauc-map")


@pytest.fixture(scope="module")
def record():
    cell = plan([EXPERIMENT], "quick")[0][0]
    params = {"positives": [30, 40], "ends": [0.3, 1.0], "alphas": [1e-2], "n_seeds": 2}
    return runs.measure(replace(cell, arguments={**cell.arguments, "n_test": 1100}, params=params))


def test_every_place_of_the_map_has_a_row_with_its_interval(record):
    trace = record["trace"]
    assert list(zip(trace["positives"], trace["range"])) == [
        (n, r) for n in ("30", "40") for r in ("[0, 0.3]", "[0, 1]")
    ]
    low, mean, high = (np.array(trace[name]) for name in ("low", "difference", "high"))
    np.testing.assert_allclose(mean, (low + high) / 2, atol=1e-12)
    assert record["metrics"]["wins"] == np.sum(low > 0) and record["metrics"]["losses"] == np.sum(high < 0)
    assert all(metric.of(record) is not None for metric in EXPERIMENT.metrics)


@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_negatives_lie_on_both_sides_of_the_positives(shift):
    X, y = data.draw(4000, 40_000, shift, np.random.default_rng(0))
    column = X[y < 0, 1]
    assert (y > 0).sum() == 4000 and abs(X[y > 0, 1].mean()) < 0.1
    assert column.mean() == pytest.approx(shift * (2 * data.HARD - 1), abs=0.1)
    assert column.var() == pytest.approx(1 + 4 * shift**2 * data.HARD * (1 - data.HARD), abs=0.2)


def test_the_interval_is_that_of_student():
    assert runs._half_interval([1.0, 3.0]) == pytest.approx(12.7062047)  # t(1) at .975, and a standard error of 1
