"""Declared tables and figures: what they take from records, and that all of them can be drawn."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from kernbench.experiments.declare import (
    Axis,
    Contours,
    CrossTable,
    Curves,
    HeatMap,
    Marks,
    MetricTable,
    PaperNumber,
    Profiles,
)
from kernbench.report.aggregate import group_records
from kernbench.report.charts.curves import lines_of
from kernbench.report.charts.layout import apart
from kernbench.report.charts.profiles import factors_of
from kernbench.report.charts.scales import ticks
from kernbench.report.displays import pictures_of, tables_of
from kernbench.report.style import category_looks, looks

ERROR = Axis("trace.test_error", "test error", "%", 100.0, log=True)
SECONDS = Axis("trace.seconds", "time", "s")
GRID = {
    "x": [0.0, 1.0],
    "y": [0.0, 0.5, 1.0],
    "values": [[0.1, 0.2], [0.4, None], [0.6, 0.9]],
    "point": [0, 0],
}

FIGURES = (
    Curves("lines", "Lines", SECONDS, ERROR, heading="Some"),
    Curves(
        "panels",
        "Panels",
        replace(SECONDS, log=True),
        ERROR,
        panel="method",
        line="dataset",
        slope=-0.5,
        slope_label="slope −½",
    ),
    Marks(
        "marks",
        "Marks",
        Axis("seconds.fit", "time", "s", log=True),
        reference=1.0,
        reference_label="a second",
    ),
    HeatMap("heat", "Heat", Axis("seconds.fit", "time", "s")),
    Contours("grid", "Grid", "metrics.grid", "value"),
    Profiles("profiles", "Profiles", "fit_seconds", methods=("libsvm", "sbp", "smo")),
)


def grouped(rows):
    (group,) = group_records(rows)
    return group


@pytest.fixture
def group(records):
    rows = records.race()
    for row in rows:
        row["metrics"]["grid"] = GRID
    return grouped(rows)


@pytest.mark.parametrize("display", FIGURES, ids=lambda display: display.name)
def test_every_kind_of_figure_is_drawn_with_its_numbers(toy, group, display):
    experiment = replace(toy, figures=(display,))
    (picture,) = pictures_of(experiment, group, looks(group.methods()))
    assert picture.name == f"toy-paper-{display.name}"
    ElementTree.fromstring(picture.svg_file)
    ElementTree.fromstring(f"<div>{picture.svg_inline}</div>")
    assert picture.csv.count("\n") > 2 and display.title in picture.caption


@pytest.mark.parametrize("display", FIGURES, ids=lambda display: display.name)
def test_without_numbers_there_is_no_figure(toy, records, display):
    group = grouped([records.failure("smo")])
    assert pictures_of(replace(toy, figures=(display,)), group, looks(group.methods())) == []


def test_lines_are_medians_with_the_range_of_repeats(records):
    rows = [
        records.one(repeat=k, trace={"x": [1, 2], "y": [y, 10 * y], "kind": ["a", "b"]})
        for k, y in enumerate((1.0, 3.0, 2.0))
    ]
    display = Curves("c", "c", Axis("trace.x", "x"), Axis("trace.y", "y"), line="trace.kind")
    first, second = lines_of(display, grouped(rows))[""]
    assert (first.name, first.x, first.y, first.low, first.high) == ("a", [1], [2], [1], [3])
    assert (second.name, second.y) == ("b", [20])
    (only,) = lines_of(replace(display, where=(("trace.kind", "b"),)), grouped(rows))[""]
    assert only.name == "b"


def test_a_span_ends_the_axis_and_the_caption_says_so(toy, records):
    rows = [records.one(trace={"x": [1, 2, 3], "y": [400.0, 2.0, 1.0]})]
    whole = Curves("c", "C", Axis("trace.x", "x"), Axis("trace.y", "y", log=True), panel="dataset")
    part = replace(whole, y_span=3.0, large=True)
    drawn = [pictures_of(replace(toy, figures=(d,)), grouped(rows), looks(["smo"]))[0] for d in (whole, part)]
    assert [">100</text>" in picture.svg_file for picture in drawn] == [True, False]
    assert [picture.shape for picture in drawn] == ["panels", "panels large"]
    remark = "Lines leave the picture above 3 × the lowest value."
    assert [remark in picture.caption for picture in drawn] == [False, True]
    assert all("400.0" in picture.csv for picture in drawn)


def test_with_a_span_an_axis_begins_where_the_first_line_comes_into_view(toy, records):
    x = Axis("trace.x", "x", log=True)
    rows = [records.one(trace={"x": [0.01, 10.0, 1000.0], "y": [400.0, 2.0, 1.0]})]
    far = Curves("c", "C", x, Axis("trace.y", "y"), panel="dataset", y_span=3.0, shared_x=False)
    (picture,) = pictures_of(replace(toy, figures=(far,)), grouped(rows), looks(["smo"]))
    assert ">10</text>" in picture.svg_file and ">0.01</text>" not in picture.svg_file


def test_a_span_and_a_range_contradict_each_other():
    with pytest.raises(ValueError, match="y_range or y_span"):
        Curves("c", "C", SECONDS, ERROR, y_span=2.0, y_range=(0.0, 1.0))


def test_cross_table_puts_the_papers_number_beside_ours(toy, records):
    paper = (PaperNumber("adult", "smo", "test_error", 0.15, 0.002), *toy.paper_numbers)
    experiment = replace(toy, paper_numbers=paper, tables=(CrossTable("t", "T", "test_error"),))
    (table,) = tables_of(experiment, grouped(records.race()))
    entries = dict(zip((column.csv_label for column in table.columns), table.blocks[0][1][0]))
    assert entries["libsvm_test_error"].text == "14.90 ± 0.00 (14.9)"
    assert entries["smo_test_error"].text == "14.90 ± 0.00 (15.00 ± 0.20)"
    assert entries["sbp_test_error"].text == "14.92 ± 0.00"


def test_cross_table_with_a_baseline_divides_within_a_repeat(toy, records):
    display = CrossTable("t", "T", "fit_seconds", baseline="libsvm", methods=("smo", "sbp-quarter"))
    rows = [records.one("libsvm", repeat=k, seconds=s) for k, s in enumerate((8.0, 4.0))]
    rows += [records.one("smo", repeat=k, seconds=s) for k, s in enumerate((2.0, 2.0))]
    elsewhere = records.one("sbp-quarter", seconds=1.0)
    elsewhere["environment"]["processor"] = "Another CPU"
    (table,) = tables_of(replace(toy, tables=(display,)), grouped([*rows, elsewhere]))
    _, other, ours = table.blocks[0][1][0]
    assert ours.value == pytest.approx((2 / 8 + 2 / 4) / 2) and ours.text.endswith(" ×")
    assert other.value is None  # a time on another machine means something else


def test_cross_table_of_differences_carries_its_sign(toy, records):
    display = CrossTable("t", "T", "test_error", baseline="libsvm", difference=True)
    (table,) = tables_of(replace(toy, tables=(display,)), grouped(records.race()))
    entries = dict(zip((column.csv_label for column in table.columns), table.blocks[0][1][0]))
    assert entries["sbp-quarter_minus_libsvm_test_error"].text == "+0.10 ± 0 (+0.10)"
    assert "libsvm_minus_libsvm_test_error" not in entries


def test_metric_table_of_one_method_has_a_row_for_each_data_set(toy, records):
    display = MetricTable("m", "M", ("test_error", "fit_seconds"), methods=("smo",))
    rows = [records.one(dataset=name, seconds=2.0) for name in ("adult", "mnist")]
    (table,) = tables_of(replace(toy, tables=(display,)), grouped(rows))
    assert [[entry.text for entry in row] for row in table.blocks[0][1]] == [
        ["adult", "15.00", "2"],
        ["mnist", "15.00", "2"],
    ]


def test_profiles_count_a_failure_as_never_solved(toy, records):
    rows = records.race(repeats=2) + [records.failure("sbp", repeat=2), records.one("smo", repeat=2)]
    display = Profiles("p", "P", "fit_seconds", methods=("sbp", "smo"))
    assert factors_of(display, toy, grouped(rows)) == {"sbp": [10.0, 10.0, np.inf], "smo": [1.0, 1.0, 1.0]}


def test_names_at_the_ends_of_lines_keep_apart():
    levels = apart([0.5, 0.51, 0.52, 0.9], 0.1)
    assert (np.diff(levels) >= 0.1 - 1e-12).all() and levels[-1] == pytest.approx(0.9)
    assert apart([0.97, 0.98, 0.99], 0.1)[-1] <= 1.0


def test_a_short_logarithmic_axis_has_even_ticks():
    assert ticks(0.45, 1.25, True) == pytest.approx([0.6, 0.8, 1.0, 1.2])
    assert ticks(0.4, 2.5, True) == pytest.approx([0.5, 1.0, 2.0])


@pytest.mark.parametrize("ends", [(0.013, 0.9), (0.9, 1.1), (30.0, 40.0), (0.0, 1e4)])
@pytest.mark.parametrize("log", [False, True])
def test_ticks_lie_within_their_axis(ends, log):
    found = ticks(*(end + 1e-3 * log for end in ends), log)
    assert found and all(ends[0] <= tick <= ends[1] + 1e-3 for tick in found)


def test_more_methods_than_colours_still_look_different():
    found = looks([f"method-{letter}" for letter in "abcdefghijkl"])
    assert len(set(found.values())) == 12


def test_categories_seen_together_differ_and_keep_their_look():
    found = category_looks([["a", "b"], ["c", "b"], ["a", "d"]])
    assert found["a"].colour == found["c"].colour != found["b"].colour == found["d"].colour
