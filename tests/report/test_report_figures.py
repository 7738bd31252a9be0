"""Figures: one look per method, whole SVG whatever the names, ids that do not clash in a page."""

import re
from xml.etree import ElementTree

import pytest

from kernbench.report import figures
from kernbench.report.aggregate import group_records
from kernbench.report.charts import layout
from kernbench.report.drawings import curve_rows, description, drawings
from kernbench.report.figures import draw
from kernbench.report.style import INK, KNOWN, looks
from kernbench.report.svg import inline, standalone


def drawn(toy, rows, dataset="adult"):
    (group,) = group_records(rows)
    return drawings(toy, group, dataset, looks(group.methods(), {"sbp-quarter"}))


def test_a_solver_has_one_colour_everywhere():
    alone, together = looks(["smo"]), looks(["libsvm", "sbp", "smo", "zeta", "sbp-quarter"], {"sbp-quarter"})
    assert alone["smo"].colour == together["smo"].colour == KNOWN["smo"]
    assert together["sbp-quarter"].colour == together["sbp"].colour
    assert together["sbp-quarter"].dash != together["sbp"].dash == "-"


def test_unknown_methods_get_colours_of_their_own():
    found = looks(["smo", "alpha", "beta"])
    assert len({look.colour for look in found.values()}) == 3


def test_both_figures_with_level_budget_and_curves(toy, records):
    time, evaluations = drawn(toy, records.race())
    assert time.level == pytest.approx(14.9) and evaluations.level == pytest.approx(14.9)
    assert time.budget == pytest.approx(9.0 / 4) and evaluations.budget is None
    assert [line.label for line in time.lines if line.curves] == ["SBP", "SMO"]
    hollow = {line.label: line.hollow for line in time.lines}
    assert hollow["SBP, ¼ of LIBSVM's time"] and not hollow["SBP"]
    assert "LIBSVM (scikit-learn SVC)" not in [line.label for line in evaluations.lines]  # it does not count


def test_a_budgeted_run_is_drawn_in_full_when_there_is_no_free_one(toy, records):
    rows = [record for record in records.race() if record["method"] != "sbp"]
    time, _ = drawn(toy, rows)
    assert "SBP, ¼ of LIBSVM's time" in [line.label for line in time.lines if line.curves]


def test_nothing_to_draw_gives_no_figure(toy, records):
    assert drawn(toy, [records.failure("smo")]) == []


def test_words_and_csv_say_what_the_picture_shows(toy, records):
    time, _ = drawn(toy, records.race())
    words = description(time, "%")
    assert "SMO ends at 14.9 % after 2 s." in words and "LIBSVM 14.90 %" in words
    rows = list(curve_rows(time))
    assert rows[0] == ("method", "training time (seconds)", "test error (%)")
    assert {row[0] for row in rows[1:]} == {line.label for line in time.lines}


@pytest.mark.parametrize("name", ["$x^{$", "_private", "<b>&\"'", "bad\x00\x1bname", "ünïcode 数"])
def test_hostile_names_leave_svg_whole(toy, records, name):
    time, _ = drawn(toy, [record | {"dataset": name} for record in records.race(1)], name)
    canvas = draw(time)
    ElementTree.fromstring(standalone(canvas))
    ElementTree.fromstring(inline(canvas, time.name, time.title, "words"))
    assert re.fullmatch(r"[A-Za-z0-9._-]+", time.name)


def test_inline_figures_follow_the_page_and_share_no_ids(toy, records):
    pieces = [
        inline(draw(drawing), drawing.name, drawing.title, "words") for drawing in drawn(toy, records.race())
    ]
    ids = [set(re.findall(r'\bid="([^"]+)"', piece)) for piece in pieces]
    assert ids[0] and not ids[0] & ids[1]
    for piece, own in zip(pieces, ids, strict=True):
        assert INK not in piece and "currentColor" in piece
        assert "<style" not in piece and "<metadata" not in piece
        assert set(re.findall(r'(?:url\(|href=")#([^)"]+)', piece)) <= own


def test_the_same_records_give_the_same_svg(toy, records):
    first, second = (standalone(draw(drawn(toy, records.race())[0])) for _ in range(2))
    assert first == second


def test_an_error_of_zero_can_be_drawn(toy, records):
    rows = [records.one("libsvm", error=0.0, seconds=8.0), records.one("smo", error=0.0, seconds=1.0)]
    for drawing in drawn(toy, rows):
        ElementTree.fromstring(standalone(draw(drawing)))


@pytest.mark.parametrize("label", [layout.tick, figures.tick_count])
@pytest.mark.parametrize(
    ("value", "words"),
    [(1e6, "10⁶"), (2e6, "2·10⁶"), (3.5e6, "3.5·10⁶"), (5e-5, "5·10⁻⁵"), (4.04e7, "4·10⁷")],
)
def test_ticks_say_the_number_itself(label, value, words):
    assert label(value) == words
