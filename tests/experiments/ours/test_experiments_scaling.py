"""The experiment on growth: every public model states its order, and slopes are those of known times."""

from dataclasses import replace

import numpy as np
import pytest

from kernbench._lazy import load
from kernbench._models import BY_NAME, MODELS
from kernbench.experiments import get
from kernbench.experiments.ours.scaling import orders, runs
from kernbench.experiments.run.cells import plan

EXPERIMENT = get("scaling")


def test_every_public_model_states_its_order_and_is_measured():
    assert {model.work for model in MODELS} == set(orders.ORDERS)
    for scale in EXPERIMENT.scales.values():
        assert [setting.name for setting in scale.settings] == [model.name for model in MODELS]


def test_the_fitted_slope_is_that_of_a_power_and_its_interval_holds_it():
    exact = {n: [3e-7 * n**1.5] * 2 for n in (100, 200, 400)}
    assert runs.fitted_slope(exact) == pytest.approx((1.5, 1.5, 1.5))
    rng, inside = np.random.default_rng(0), 0
    for _ in range(200):
        noisy = {n: list(n**2.0 * np.exp(0.1 * rng.standard_normal(3))) for n in (100, 200, 400, 800)}
        slope, low, high = runs.fitted_slope(noisy)
        assert low < slope < high
        inside += low <= 2.0 <= high
    assert 180 <= inside <= 198  # of 200, 95 %


@pytest.mark.parametrize("model", [model.name for model in MODELS])
def test_a_cell_of_every_model_fills_the_metrics(model, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    (cell,) = plan([EXPERIMENT], "quick", datasets=[model])[0]
    cell = replace(cell, params={**cell.params, "sizes": [64, 96, 128], "widths": [4, 8, 12], "rounds": 1})
    record = load(cell.measure)(cell)
    for metric in EXPERIMENT.metrics:
        assert metric.of(record) is not None, metric.name
    trace = record["trace"]
    assert len(trace["by_rows"]) == len(trace["by_columns"]) == 3 and trace["threads"] == [1, 2]
    beyond = record["metrics"]["slope_n_low"] - orders.ORDERS[BY_NAME[model].work].rows
    assert record["metrics"]["beyond_n"] == pytest.approx(beyond)


def test_every_model_has_a_claim_of_its_own_stated_order():
    names = [model.name for model in MODELS]
    claimed = sorted(
        (claim.metric, name, round(claim.bound - 0.1, 6))
        for claim in EXPERIMENT.claims
        for name in claim.datasets or names
    )
    assert claimed == sorted(
        (f"slope_{letter}", model.name, order)
        for model in MODELS
        for letter, order in zip("nd", (orders.ORDERS[model.work].rows, orders.ORDERS[model.work].columns))
    )


def test_the_note_tells_which_models_take_two_passes():
    two = [model.name for model, order in orders.STATED if order.passes == 2]
    told = EXPERIMENT.note.partition("5 passes of linear ones, 2 of ")[2].partition(", 10 on")[0]
    assert sorted(told.replace(" and ", ", ").split(", ")) == sorted(two)
