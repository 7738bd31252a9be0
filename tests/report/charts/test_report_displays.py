"""Declared figures: the data they take from records, and that all of them can be drawn."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from kernbench.experiments.declare import Axis, Contours, Curves, HeatMap, Marks, Profiles
from kernbench.report import text
from kernbench.report.charts.curves import _Chart, picture
from kernbench.report.charts.grid import Grid
from kernbench.report.charts.lines import finals_of, lines_of, with_steps
from kernbench.report.charts.profiles import _steps, factors_of
from kernbench.report.page.displays import pictures_of

ERROR = Axis("trace.test_error", "test error", "%", 100.0, log=True)
SECONDS = Axis("trace.seconds", "time", "s")
GRID = {"x": [0.0, 1.0], "y": [0.0, 0.5, 1.0], "values": [[0.1, 0.2], [0.4, None], [0.6, 0.9]], "point": [0, 0]}

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
    Marks("marks", "Marks", Axis("seconds.fit", "time", "s", log=True), reference=1.0, reference_label="a second"),
    HeatMap("heat", "Heat", Axis("seconds.fit", "time", "s")),
    Contours("grid", "Grid", "metrics.grid", "value"),
    Profiles("profiles", "Profiles", "fit_seconds", methods=("libsvm", "sbp", "smo")),
)


@pytest.fixture
def drawn(toy, records):
    """Draw figures from some records."""

    def drawn(rows, *displays):
        return pictures_of(records.results(replace(toy, figures=displays), rows))

    return drawn


@pytest.fixture
def rows(records):
    rows = records.race()
    for row in rows:
        row["metrics"]["grid"] = GRID
    return rows


@pytest.mark.parametrize("display", FIGURES, ids=lambda display: display.name)
def test_every_kind_of_figure_is_drawn_with_its_numbers(drawn, rows, display):
    (picture,) = drawn(rows, display)
    assert picture.name == f"toy-paper-{display.name}"
    ElementTree.fromstring(picture.svg_file)
    ElementTree.fromstring(f"<div>{picture.svg_inline}</div>")
    assert picture.csv.count("\n") > 2 and display.title in picture.caption


@pytest.mark.parametrize("display", FIGURES, ids=lambda display: display.name)
def test_without_numbers_there_is_no_figure(drawn, records, display):
    assert drawn([records.failure("smo")], display) == []


def test_lines_are_medians_with_the_range_of_repeats(toy, records):
    rows = [
        records.one(repeat=k, trace={"x": [1, 2], "y": [y, 10 * y], "kind": ["a", "b"]})
        for k, y in enumerate((1.0, 3.0, 2.0))
    ]
    display = Curves("c", "c", Axis("trace.x", "x"), Axis("trace.y", "y"), line="trace.kind")
    first, second = lines_of(display, records.results(toy, rows))[""]
    assert (first.name, first.x, first.y, first.low, first.high) == ("a", [1], [2], [1], [3])
    assert (second.name, second.y) == ("b", [20])
    (only,) = lines_of(replace(display, where=(("trace.kind", "b"),)), records.results(toy, rows))[""]
    assert only.name == "b"


def test_a_shade_over_machines_is_told(drawn, records):
    rows = [records.one(repeat=k, trace={"x": [1, 2], "y": [k, 10.0 * k]}) for k in (1, 2)]
    display = Curves("c", "C", Axis("trace.x", "x"), Axis("trace.y", "y"))
    (one,) = drawn(rows, display)
    rows[1]["environment"]["processor"] = "Fast CPU"
    (two,) = drawn(rows, display)
    assert "range over seeds and repeats." in one.caption and "over seeds, repeats and set-ups." in two.caption


def test_captions_say_that_numbers_are_medians_where_there_are_several(drawn, records):
    value = Axis("metrics.test_error", "test error", "%", 100.0)
    displays = (Marks("m", "M", value), HeatMap("h", "H", value))
    assert [p.caption for p in drawn([records.one()], *displays)] == ["M.", "H. Test error (%)."]
    rows = [records.one(repeat=k) for k in range(2)]
    assert all(picture.caption.endswith(" Medians over repeats.") for picture in drawn(rows, *displays))
    rows[1]["environment"]["processor"] = "Fast CPU"
    assert all(p.caption.endswith(" Medians over repeats and set-ups.") for p in drawn(rows, *displays))
    rows = [records.one(repeat=k, trace={"x": [1, 2], "y": [k, 10.0 * k]}) for k in (1, 2)]
    (bare,) = drawn(rows, Curves("c", "C", Axis("trace.x", "x"), Axis("trace.y", "y"), band=False))
    assert bare.caption == "C. Line: median over seeds and repeats."


def test_a_span_ends_the_axis_and_the_caption_says_so(drawn, records):
    rows = [records.one(trace={"x": [1, 2, 3], "y": [400.0, 2.0, 1.0]})]
    whole = Curves("c", "C", Axis("trace.x", "x"), Axis("trace.y", "y", log=True), panel="dataset")
    part = replace(whole, name="d", y_span=3.0, large=True)
    pictures = drawn(rows, whole, part)
    assert [">100</text>" in picture.svg_file for picture in pictures] == [True, False]
    assert [picture.shape for picture in pictures] == ["panels", "panels large"]
    remark = "Lines are cut off above 3 × the lowest value."
    assert [remark in picture.caption for picture in pictures] == [False, True]
    assert all("400.0" in picture.csv for picture in pictures)


def test_a_span_is_a_multiple_also_of_small_values(drawn, records):
    rows = [records.one(trace={"x": [1, 2, 3], "y": [0.4, 0.02, 0.01]})]
    (picture,) = drawn(rows, Curves("c", "C", Axis("trace.x", "x"), Axis("trace.y", "y"), y_span=3.0))
    assert "Lines are cut off above 3 × the lowest value." in picture.caption


def test_with_a_span_an_axis_begins_where_the_first_line_comes_into_view(drawn, records):
    x = Axis("trace.x", "x", log=True)
    rows = [records.one(trace={"x": [0.01, 10.0, 1000.0], "y": [400.0, 2.0, 1.0]})]
    far = Curves("c", "C", x, Axis("trace.y", "y"), panel="dataset", y_span=3.0, shared_x=False)
    (picture,) = drawn(rows, far)
    assert ">10</text>" in picture.svg_file and ">0.01</text>" not in picture.svg_file


def test_a_span_and_a_range_contradict_each_other():
    with pytest.raises(ValueError, match="give y_range, y_span or y_depth"):
        Curves("c", "C", SECONDS, ERROR, y_span=2.0, y_range=(0.0, 1.0))
    with pytest.raises(ValueError, match="give y_range, y_span or y_depth"):
        Curves("c", "C", SECONDS, ERROR, y_span=2.0, y_depth=0.1)


def test_a_window_shades_every_panel_and_the_caption_names_it(drawn, records):
    trace = {"x": [0.0, 0.5, 1.0], "y": [0.0, 0.7, 1.0]}
    rows = [records.one(dataset=name, trace=trace) for name in ("covtype", "adult")]
    plain = Curves("c", "C", Axis("trace.x", "rate", "%", 100.0), Axis("trace.y", "y"), panel="dataset")
    shaded = replace(plain, name="d", x_window=(5.0, 50.0))
    pictures = drawn(rows, plain, shaded)
    assert [picture.svg_file.count("opacity: 0.08") for picture in pictures] == [0, 2]
    assert ["Shaded: rate from 5 to 50 %." in picture.caption for picture in pictures] == [False, True]


def test_a_window_has_two_ends_in_order():
    with pytest.raises(ValueError, match=r"x_window must be \(low, high\)"):
        Curves("c", "C", SECONDS, ERROR, x_window=(0.5, 0.05))


def test_profiles_count_a_failure_as_never_solved(toy, records):
    rows = records.race(repeats=2) + [records.failure("sbp", repeat=2), records.one("smo", repeat=2)]
    display = Profiles("p", "P", "fit_seconds", methods=("sbp", "smo"))
    assert factors_of(display, records.results(toy, rows)) == {"sbp": [10.0, 10.0, np.inf], "smo": [1.0, 1.0, 1.0]}


def test_profiles_leave_out_repeats_that_a_method_lacks_or_that_none_has_solved(toy, records):
    rows = records.race(repeats=2) + [records.one("smo", repeat=2)]
    rows += [records.failure(name, repeat=3) for name in ("sbp", "smo")]
    display = Profiles("p", "P", "fit_seconds", methods=("sbp", "smo"))
    assert factors_of(display, records.results(toy, rows)) == {"sbp": [10.0, 10.0], "smo": [1.0, 1.0]}


def test_profiles_do_not_compare_the_times_of_two_machines(toy, records):
    fast = records.one()["environment"] | {"processor": "Fast CPU"}
    rows = [records.one("smo", seconds=2.0), records.one("sbp", seconds=1.0, environment=fast)]
    rows += [records.one("smo", repeat=1, seconds=2.0), records.one("sbp", repeat=1, seconds=4.0)]
    display = Profiles("p", "P", "fit_seconds", methods=("sbp", "smo"))
    assert factors_of(display, records.results(toy, rows)) == {"sbp": [2.0], "smo": [1.0]}


def test_shares_of_a_profile_are_of_all_problems(drawn, records):
    rows = records.race(repeats=2) + [records.failure("smo", repeat=2), records.one("sbp", repeat=2)]
    (picture,) = drawn(rows, Profiles("p", "P", "fit_seconds", methods=("sbp", "smo")))
    assert "SMO: the best on 67 % of the problems, within a factor of 1,000 on 67 %." in picture.svg_inline
    assert picture.csv.splitlines()[-1].startswith("SMO,1.0,0.666")


def test_a_profile_ends_at_its_axis_and_its_numbers_do_not():
    found = [1.0, 8.0, 5000.0, np.inf]
    x, y = _steps(found, end=9.0)
    assert list(x) == [1.0, 1.0, 8.0, 9.0] and list(y) == [0.0, 0.25, 0.5, 0.5]
    x, y = _steps(found, end=None)
    assert (x[-1], y[-1]) == (5000.0, 0.75)


def test_profiles_of_methods_without_records_are_empty(toy, records):
    display = Profiles("profile", "", "fit_seconds", methods=("smo", "sbp"))
    assert factors_of(display, records.results(toy, [records.one("libsvm")])) == {}


def test_panels_may_have_a_scale_of_their_own(toy, records):
    rows = [
        records.one(dataset=name, trace={"x": [1.0, 10.0], "y": [scale, 2 * scale]})
        for name, scale in (("a", 1.0), ("b", 1000.0))
    ]
    results = records.results(toy, rows)
    display = Curves("c", "C", Axis("trace.x", "x", log=True), Axis("trace.y", "y"), panel="dataset")
    drawn = {shared: picture(replace(display, shared_y=shared), results).svg_file for shared in (True, False)}
    assert len(lines_of(display, results)) == 2
    # A tick at 1.5 is seen only where the small panel has its own scale.
    assert [">1.5</text>" in drawn[shared] for shared in (True, False)] == [False, True]


STEPS = Curves(
    "steps",
    "Steps",
    Axis("trace.seconds", "time", "s", log=True),
    ERROR,
    panel="dataset",
    steps=True,
    final_only=("sbp-quarter",),
    baseline="libsvm",
    budget=0.25,
)


def test_step_curves_of_repeats_are_combined_and_never_mixed(toy, records):
    traces = [{"seconds": [1.0, 10.0], "test_error": [0.4, 0.1]}, {"seconds": [2.0, 100.0], "test_error": [0.2, 0.1]}]
    rows = [records.one(repeat=k, trace=trace) for k, trace in enumerate(traces)]
    ((line,),) = lines_of(STEPS, records.results(toy, rows)).values()
    assert (line.x[0], line.x[-1]) == (2.0, 100.0)
    assert set(np.round(line.y, 9)) == {30.0, 15.0, 10.0}  # medians of (40, 20), (10, 20), (10, 10)
    assert (line.high >= line.y).all() and line.high[0] == 40.0 and line.low[0] == 20.0


def test_repeats_with_few_points_in_common_are_step_curves(toy, records, drawn):
    """A line through the points of all of them, sorted by time, would jump from repeat to repeat."""
    display = Curves("c", "C", Axis("trace.x", "x"), Axis("trace.y", "y"))
    apart = [records.one(repeat=k, trace={"x": [1 + k, 11 + k], "y": [8.0, 2.0 - k]}) for k in range(2)]
    alike = [records.one(repeat=k, trace={"x": [1, 11, 12 + k], "y": [8.0, 2.0 - k, 0.0]}) for k in range(2)]
    singles = [records.one("smo", n, trace={"x": x, "y": 1.0}) for x, n in ((1.0, "adult"), (2.0, "mnist"))]
    signed = [records.one(repeat=k, trace={"x": [-5 + k, 5 + k], "y": [8.0, 2.0]}) for k in (0.0, 0.5)]
    assert with_steps(display, records.results(toy, signed)) is display  # not over time: steps have no place below 0
    assert with_steps(display, records.results(toy, alike)) is display
    assert with_steps(display, records.results(toy, singles)) is display
    results = records.results(toy, apart)
    ((line,),) = lines_of(with_steps(display, results), results).values()
    assert (line.x[0], line.x[-1]) == (2, 12) and list(dict.fromkeys(line.y)) == [8.0, 5.0, 1.5]
    (picture,) = drawn(apart, display)
    assert "Line: median; shade: range over seeds and repeats. Marks: final models" in picture.caption


@pytest.mark.parametrize(("word", "in_key"), [("short", False), ("a name as long as a panel", True)])
@pytest.mark.parametrize("ordered", [False, True])
def test_names_that_do_not_fit_into_a_small_panel_are_in_a_key(records, drawn, word, in_key, ordered):
    kinds = [f"{word} {k}" for k in range(2) for _ in range(2)]
    trace = {"x": [1, 2] * 2, "y": [1.0, 2.0, 3.0, 4.0], "kind": kinds}
    rows = [records.one(dataset=name, trace=trace) for name in ("adult", "mnist")]
    axes = Axis("trace.x", "x"), Axis("trace.y", "y")
    (picture,) = drawn(rows, Curves("c", "C", *axes, line="trace.kind", panel="dataset", ordered=ordered))
    assert ('<ul class="key">' in picture.svg_inline) == in_key
    assert picture.svg_inline.count(f"{word} 1</text>") == (0 if in_key else 2)


@pytest.mark.parametrize("marks", [True, False])
def test_the_key_has_marks_only_where_the_lines_have(records, drawn, marks):
    names = [f"a name as long as a panel {k}" for k in range(2)]
    trace = {"x": [1, 2] * 2, "y": [1.0, 2.0, 3.0, 4.0], "kind": [name for name in names for _ in range(2)]}
    rows = [records.one(dataset=name, trace=trace) for name in ("adult", "mnist")]
    axes = Axis("trace.x", "x"), Axis("trace.y", "y")
    (picture,) = drawn(rows, Curves("c", "C", *axes, line="trace.kind", panel="dataset", marks=marks))
    key = picture.svg_inline.partition("</ul>")[0]
    assert key.count("<li>") == 2 and (key.count(" z") >= 2) == marks  # a mark is a closed path


def test_many_levels_of_one_quantity_look_different(toy, records):
    trace = {"x": [1.0] * 8, "y": [1.0] * 8, "level": [f"{k}" for k in range(8)]}
    results = records.results(toy, [records.one(trace=trace)])
    display = Curves("c", "C", Axis("trace.x", "x"), Axis("trace.y", "y"), line="trace.level", ordered=True)
    panels = lines_of(display, results)
    chart = _Chart(display, results, panels)
    assert len({chart._style(panels[""], place) for place in range(8)}) == 8


def test_figures_have_the_declared_order_whichever_was_measured_first(records, drawn):
    rows = [records.one(method, name) for name in ("mnist", "adult") for method in ("smo", "sbp")]
    axis = Axis("metrics.test_error", "test error", "%", 100.0)
    (marks,) = drawn(rows, Marks("m", "M", axis))
    assert [line.split(",")[:2] for line in marks.csv.splitlines()[1:]] == [
        [name, method] for name in ("adult", "mnist") for method in ("sbp", "smo")
    ]


def test_a_method_without_a_number_on_the_first_data_keeps_its_place(toy, records):
    rows = [records.one("smo"), records.one("smo", "mnist"), records.one("libsvm", "mnist")]
    heat = HeatMap("h", "H", Axis("metrics.test_error", "test error"), row="method", column="dataset")
    grid = Grid(heat, records.results(toy, rows), heat.row, heat.column)
    assert (list(grid.rows), list(grid.columns)) == (["libsvm", "smo"], ["adult", "mnist"])


def test_lines_over_time_begin_after_the_set_up_of_a_fit(toy, records):
    """The clock of a trace begins after it; without the solver's own time the trace is that of the whole fit."""
    trace = {"seconds": [0.0, 1.0], "test_error": [0.4, 0.1]}
    for seconds, ends in (({"fit": 6.0, "solver": 1.0}, (5.0, 6.0)), ({"fit": 1.0}, (1.0, 1.0))):
        results = records.results(toy, [records.one(method="libsvm", trace=trace) | {"seconds": seconds}])
        ((line,),) = lines_of(STEPS, results).values()
        assert (line.x[0], line.x[-1]) == ends
        assert finals_of(STEPS, results)["adult"][0] == ends[1]


def test_the_end_of_the_baseline_is_a_level_and_a_budget(toy, records, drawn):
    rows = records.race()
    results = records.results(toy, rows)
    assert finals_of(STEPS, results) == {"adult": (9.0, pytest.approx(14.9))}
    lines = {line.name: line.x.size for line in lines_of(STEPS, results)["adult"]}
    assert lines["sbp-quarter"] == lines["libsvm"] == 1 and lines["smo"] > 1
    (picture,) = drawn(rows, STEPS)
    for words in ("Dashed: LIBSVM's final test error.", "Dotted: ¼ of LIBSVM's time.", "Hollow marks"):
        assert words in picture.caption
    assert "SMO: from 32.5 % at 0.4 to 14.9 % at 2." in picture.svg_inline


def test_a_line_of_final_models_has_the_range_of_its_repeats(toy, records):
    rows = [records.one("sbp-quarter", repeat=k, error=error) for k, error in enumerate((0.1, 0.2, 0.4))]
    ((line,),) = lines_of(STEPS, records.results(toy, rows)).values()
    assert (line.low[0], line.y[0], line.high[0]) == pytest.approx((10.0, 20.0, 40.0))


def test_the_set_up_of_a_fit_is_in_the_unit_of_the_axis(toy, records):
    rows = [records.one(trace={"seconds": [0.0, 60.0], "test_error": [0.4, 0.1]})]
    rows[0]["seconds"] = {"fit": 90.0, "solver": 60.0}
    minutes = replace(STEPS, x=Axis("trace.seconds", "time", "min", 1 / 60, log=True))
    ((line,),) = lines_of(minutes, records.results(toy, rows)).values()
    assert line.x == pytest.approx([0.5, 1.5])


def test_a_budget_that_is_no_simple_fraction_is_told_in_percent(drawn, records):
    (picture,) = drawn(records.race(), replace(STEPS, budget=0.1))
    assert "Dotted: 10 % of LIBSVM's time." in picture.caption


def test_a_baseline_without_a_trace_of_x_still_gives_the_level(toy, records):
    evaluations = replace(STEPS, x=Axis("trace.n_kernel_evaluations", "kernel evaluations", log=True))
    results = records.results(toy, records.race(1))
    assert finals_of(evaluations, results) == {"adult": (None, pytest.approx(14.9))}
    assert "libsvm" not in [line.name for line in lines_of(evaluations, results)["adult"]]


def test_a_budget_needs_a_baseline():
    with pytest.raises(ValueError, match="give baseline="):
        replace(STEPS, baseline=None)


def test_an_error_of_zero_can_be_drawn(toy, records, drawn):
    rows = [records.one("libsvm", error=0.0, seconds=8.0), records.one("smo", error=0.0, seconds=1.0)]
    (picture,) = drawn(rows, replace(STEPS, y=replace(ERROR, log=False)))
    ElementTree.fromstring(picture.svg_file)


def test_repeats_that_come_to_zero_count_in_the_medians_of_a_logarithmic_axis(toy, records, drawn):
    display = Curves("c", "C", Axis("trace.x", "x"), Axis("trace.y", "y", log=True))
    rows = [records.one(repeat=k, trace={"x": [1, 2, 3], "y": [8.0, y, 0.0]}) for k, y in enumerate((0.0, 2.0, 4.0))]
    for steps in (False, True):
        shown = replace(display, steps=steps)
        ((line,),) = lines_of(shown, records.results(toy, rows)).values()
        assert list(dict.fromkeys(line.y)) == [8.0, 2.0] and line.x[-1] < 3
        assert line.low.min() == 2.0 and line.high.max() == 8.0
        (picture,) = drawn(rows, shown)
        assert picture.caption.endswith("Values of 0 or less have no place on the logarithmic axis.")
    zeros = [records.one("sbp", trace={"x": [1, 2], "y": [0.0, 0.0]})]
    assert drawn(zeros, display) == []
    (picture,) = drawn([records.one(trace={"x": [1, 2], "y": [8.0, 4.0]}), *zeros], display)
    assert "sbp" not in picture.csv and picture.caption.endswith("have no place on the logarithmic axis.")


def test_a_long_title_over_the_names_of_rows_takes_several_lines(drawn, records):
    value, words = Axis("metrics.test_error", "test error"), "many words in a title that a figure has no room for"
    (heat,) = drawn([records.one()], HeatMap("h", f"Not so {words} and {words}", value))
    assert max(map(len, re.findall(r">([^<]*(?:words|title|room)[^<]*)</text>", heat.svg_file))) <= 62


def test_names_of_columns_are_broken_at_commas_but_not_inside_an_interval(drawn, records):
    trace = {"range": ["[0, 0.5]", "float32, wide"], "y": [1.0, 2.0]}
    heat = HeatMap("h", "H", Axis("trace.y", "y"), column="trace.range")
    (picture,) = drawn([records.one(trace=trace)], heat)
    assert ">[0, 0.5]</text>" in picture.svg_file and ">float32</text>" in picture.svg_file


def test_the_tick_of_a_single_point_is_round(drawn, records):
    display = Curves("c", "C", Axis("trace.x", "x", log=True), Axis("trace.y", "y"))
    (picture,) = drawn([records.one(trace={"x": [2.65268635], "y": [1.0]})], display)
    assert ">2.65268635<" not in picture.svg_file and ">2.6</text>" in picture.svg_file


def test_a_sentence_begins_with_a_capital_letter_but_for_names():
    assert text.sentence("test error") == "Test error." and text.sentence("pAUC on rows") == "pAUC on rows."
    assert text.sentence("n drawn pairs") == "n drawn pairs." and text.sentence("a tenth of them") == "A tenth of them."


def test_a_depth_begins_the_axis_and_the_caption_says_so(drawn, records):
    rows = [records.one(trace={"x": [1, 2, 3], "y": [0.1, 0.95, 0.96]})]
    whole = Curves("c", "C", Axis("trace.x", "x"), Axis("trace.y", "y"), panel="dataset")
    pictures = drawn(rows, whole, replace(whole, name="d", y_depth=0.02))
    assert [">0.5</text>" in picture.svg_file for picture in pictures] == [True, False]
    remark = "Lines are cut off 0.02 below the highest value."
    assert [remark in picture.caption for picture in pictures] == [False, True]


def test_the_caption_tells_measured_and_published_rates_panel_by_panel(drawn, records):
    x = [1.0, 2.0, 4.0, 8.0]
    trace = {"x": x * 2, "y": [4.0 / t for t in x] + [t**-0.5 for t in x], "kind": ["measured"] * 4 + ["bound"] * 4}
    rows = [records.one(dataset=name, trace=trace) for name in ("covtype", "adult")]
    axes = Axis("trace.x", "x", log=True), Axis("trace.y", "y", log=True)
    display = Curves("c", "C", *axes, line="trace.kind", panel="dataset", rates=True)
    (picture,) = drawn(rows, display)
    assert picture.caption.count("measured −1.00 ± 0.00, bound −0.50 ± 0.00") == 2
    with pytest.raises(ValueError, match="two logarithmic axes"):
        replace(display, x=Axis("trace.x", "x"))


def test_the_caption_tells_the_ends_of_the_slopes_of_several_panels_with_an_interval_each(drawn, records):
    x = [1.0, 2.0, 4.0, 8.0]
    rows = [
        records.one(dataset=name, trace={"x": x, "y": [c * t**power for c, t in zip((1.0, 1.1, 1.0, 1.1), x)]})
        for name, power in (("covtype", -1.0), ("adult", -0.5), ("mnist", -0.7))
    ]
    axes = Axis("trace.x", "x", log=True), Axis("trace.y", "y", log=True)
    (picture,) = drawn(rows, Curves("c", "C", *axes, panel="dataset", slope=-0.5))
    assert "with 95 % intervals: −0.97 ± 0.17 to −0.47 ± 0.17." in picture.caption


def test_a_unit_keeps_its_capitals_below_a_heat_map(drawn, rows):
    (picture,) = drawn(rows, HeatMap("heat", "Heat", Axis("seconds.fit", "pAUC time", "GB")))
    assert "pAUC time (GB)." in picture.caption


def test_hollow_marks_are_budgets_only_of_methods_that_have_one(records, drawn):
    both = replace(STEPS, final_only=("sbp-quarter", "smo"))
    captions = [drawn(records.race(n), d)[0].caption for n, d in ((1, STEPS), (3, STEPS), (3, both))]
    assert "Marks: final models. Hollow marks: final models, stopped at their time budget." in captions[0]
    assert "Marks: final models, where the last repeat ends. Hollow marks: medians of final models, stop" in captions[1]
    assert "Hollow marks: medians of final models, of methods without a curve. " in captions[2]
    assert "“SBP, ¼ of LIBSVM's time” stopped at its time budget." in captions[2]


def test_a_repeat_that_never_comes_there_counts_as_the_longest(toy, records):
    times = {"smo": (1.0, 2.0, None), "sbp": (1.0, None, None), "libsvm": (3.0, 4.0, 5.0)}
    rows = [
        records.one(method, repeat=k, metrics={} if seconds is None else {"arrival": seconds})
        for method, found in times.items()
        for k, seconds in enumerate(found)
    ]
    heat = HeatMap("h", "H", Axis("metrics.arrival", "time", "s", never=True), row="dataset", column="method")
    grid = Grid(heat, records.results(toy, rows), heat.row, heat.column)
    assert {method: value for (_, method), value in grid.values.items()} == {"smo": 2.0, "libsvm": 4.0}
    otherwise = replace(heat, value=Axis("metrics.arrival", "time", "s"))
    grid = Grid(otherwise, records.results(toy, rows), heat.row, heat.column)
    assert {method: value for (_, method), value in grid.values.items()} == {"smo": 1.5, "sbp": 1.0, "libsvm": 4.0}


def test_places_in_words_are_round_and_counts_are_exact(records, drawn):
    display = Curves("c", "c", Axis("trace.x", "x"), Axis("trace.y", "y"))
    trace = {"x": [44.9479922, 32561], "y": [1.0, 2.0]}
    (picture,) = drawn([records.one("smo", trace=trace)], display)
    assert "from 1 at 44.9 to 2 at 32561" in picture.svg_inline
