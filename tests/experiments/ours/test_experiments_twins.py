"""The experiment on twins: every entry of the registry is measured, and both twins do the same work."""

from dataclasses import replace

import numpy as np
import pytest

from kernbench.experiments import get
from kernbench.experiments.ours.twins import runs
from kernbench.experiments.run.cells import plan
from kernbench.solvers.kinds import TWINS
from kernbench.solvers.registry import SOLVERS

EXPERIMENT = get("twins")
DATA = runs.load_rows(96, 4)


@pytest.fixture(scope="module")
def record():
    cell = plan([EXPERIMENT], "quick")[0][0]
    arguments = {"n_rows": 64, "n_columns": 4}
    return runs.measure(replace(cell, arguments=arguments, params={"seconds": 0.0}))


def test_every_entry_of_the_registry_has_a_row(record):
    expected = [f"{entry.name}, {entry.problem}" for entry in SOLVERS if entry.has_two_twins]
    assert record["trace"]["solver"] == expected
    assert record["metrics"]["n_solvers"] == len(expected)
    speed_ups = np.divide(record["trace"]["reference"], record["trace"]["compiled"])
    np.testing.assert_allclose(record["trace"]["speed_up"], speed_ups)
    assert record["metrics"]["least"] == pytest.approx(min(speed_ups))


def test_a_cell_fills_the_metrics(record):
    assert all(metric.of(record) is not None for metric in EXPERIMENT.metrics)


@pytest.mark.parametrize("entry", SOLVERS, ids=lambda entry: f"{entry.problem}-{entry.name}")
def test_both_twins_take_equally_many_iterations_to_the_same_objective(entry):
    found = []
    for twin in TWINS:
        solver = runs.new_solver(entry, DATA, twin)
        found.append((solver.advance(4), solver.objective()))
    (ours, objective), (theirs, expected) = found
    assert ours == theirs > 0
    assert objective == pytest.approx(expected, rel=1e-6)


def test_the_reference_runs_until_it_took_the_time_that_is_asked_for(monkeypatch):
    of_a_step = {"compiled": 1e-6, "reference": 1e-4}
    monkeypatch.setattr(runs, "_advance", lambda entry, data, twin, steps: (steps, steps * of_a_step[twin]))
    few, _ = runs.compare_twins(None, DATA, 0.0)
    more, seconds = runs.compare_twins(None, DATA, 0.002)
    assert few == {"compiled": 2, "reference": 2} and more == {"compiled": 32, "reference": 32}
    assert seconds == pytest.approx({"compiled": 32e-6, "reference": 32e-4})
