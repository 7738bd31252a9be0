"""The experiment on memory: its ratios are those of known times, and every solver fills the metrics."""

from dataclasses import replace

import numpy as np
import pytest

from kernbench._lazy import load
from kernbench.experiments import get
from kernbench.experiments.ours.cache import runs
from kernbench.experiments.run.cells import plan

EXPERIMENT = get("cache")


def test_a_later_rise_is_measured_from_the_least_before():
    assert runs.slower_with_more(np.array([4.0, 2.0, 1.0, 1.5, 1.25])) == 1.5
    assert runs.slower_with_more(np.array([4.0, 3.0, 2.0])) == 0.75


@pytest.mark.parametrize("method", [method.name for method in EXPERIMENT.methods])
def test_a_cell_of_every_solver_fills_the_metrics(method):
    (cell,) = plan([EXPERIMENT], "quick", methods=[method])[0]
    cell = replace(cell, arguments={**cell.arguments, "n_train": 120}, params={**cell.params, "sizes": [1, 2, 4]})
    record = load(cell.measure)(cell)
    for metric in EXPERIMENT.metrics:
        counted = metric.name != "evaluations_ratio" or method != "libsvm"
        assert (metric.of(record) is not None) == counted or metric.name == "peak_memory"
    assert len(record["trace"]["fit_seconds"]) == 3
    if method != "libsvm":
        assert record["metrics"]["evaluations_ratio"] == 1.0  # so few rows are kept in any case
