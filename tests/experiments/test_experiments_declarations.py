"""A declaration names only what it declares, and any measurement can stand in a cell."""

from dataclasses import replace

import pytest

from kernbench.experiments import (
    Axis,
    Bound,
    Curves,
    Experiment,
    Method,
    Metric,
    MetricTable,
    Quantity,
    Recommendation,
    Scale,
    Setting,
)
from kernbench.experiments.run import Store, run
from kernbench.experiments.run.cells import plan


def declared(**changes):
    parts = {
        "name": "own",
        "title": "A measurement of its own",
        "paper": "none",
        "methods": (
            Method("one", "One", "experiment_fakes:Sign", {"value": 3}),
            Method("two", "Two", "experiment_fakes:Sign", measure="experiment_fakes:measured_twice"),
        ),
        "scales": {
            "quick": Scale(
                (
                    Setting("step", {}, loader="experiment_fakes:load"),
                    Setting("slope", {}, loader="experiment_fakes:load", methods=("one",)),
                ),
                1,
                60.0,
            )
        },
        "metrics": (Metric("value", "value", "lower", ("metrics", "value")),),
        "claims": (Bound("It is small.", "one", "value", 4.0),),
        "measure": "experiment_fakes:measured",
        "tables": (MetricTable("all", "All", ("value",)),),
        "figures": (Curves("all", "All", Axis("trace.x", "x"), Axis("trace.y", "y")),),
    }
    return Experiment(**(parts | changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"claims": (Bound("", "uno", "value", 1.0),)}, "method 'uno'"),
        ({"claims": (Bound("", "one", "valu", 1.0),)}, "metric 'valu'"),
        ({"claims": (Bound("", "one", "value", 1.0, datasets=("stop",)),)}, "data set 'stop'"),
        ({"tables": (MetricTable("all", "", ("valu",)),)}, "metric 'valu'"),
        ({"tables": (MetricTable("all", "", ("value",)),) * 2}, "declared twice"),
        ({"figures": (Curves("a", "", Axis("a", ""), Axis("b", "")),) * 2}, "figure 'a' is declared twice"),
        ({"figures": (Curves("a", "", Axis("a", ""), Axis("b", ""), methods=("tow",)),)}, "method 'tow'"),
        ({"tables": (MetricTable("all", "", (Quantity("valu", "median"),)),)}, "metric 'valu'"),
        ({"tables": (MetricTable("all", "", (Quantity("value", "speed", baseline="tow"),)),)}, "method 'tow'"),
        ({"tables": (Recommendation("a task", "value", "one", 0.0, time="sec"),)}, "metric 'sec'"),
        ({"figures": (Curves("a", "", Axis("a", ""), Axis("b", ""), final_only=("tow",)),)}, "method 'tow'"),
    ],
)
def test_a_name_that_is_not_declared_is_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        declared(**changes)


def test_a_slope_needs_logarithmic_axes():
    for options in ({"slope": 1.0}, {"rates": True}):
        with pytest.raises(ValueError, match="two logarithmic axes"):
            Curves("a", "A", Axis("x", "x", log=True), Axis("y", "y"), **options)


def test_a_setting_takes_only_its_methods():
    cells, _ = plan([declared()], "quick")
    assert {(cell.dataset, cell.method) for cell in cells} == {("step", "one"), ("step", "two"), ("slope", "one")}


def test_a_method_may_be_measured_in_its_own_way():
    cells, _ = plan([declared()], "quick")
    assert {cell.method: cell.measure for cell in cells} == {
        "one": "experiment_fakes:measured",
        "two": "experiment_fakes:measured_twice",
    }


def test_a_measurement_of_its_own_becomes_a_record(make_experiment, tmp_path):
    experiment = replace(declared(), scales=make_experiment(declared().methods[0]).scales)
    run(experiment, results=tmp_path)
    records = {record["method"]: record for record in Store(tmp_path).records("own")}
    assert records["one"]["metrics"] == {"value": 3, "nothing": None}
    assert records["two"]["metrics"]["value"] == 6
    assert records["one"]["trace"] == {"x": [1, 2], "y": [0.5, 0.25]}
    assert records["one"]["data"]["name"] == "step" and records["one"]["peak_memory_bytes"] > 0
