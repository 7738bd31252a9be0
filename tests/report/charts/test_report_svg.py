"""Figures: one style per method, valid SVG for any names, ids that are unique in a page."""

import re
from xml.etree import ElementTree

import pytest

from kernbench.report.charts.drawing.styles import INK, KNOWN, method_styles
from kernbench.report.page.displays import pictures_of


@pytest.fixture
def drawn(toy, records):
    """The toy's one figure of some records."""

    def drawn(rows):
        (picture,) = pictures_of(records.results(toy, rows))
        return picture

    return drawn


def test_a_solver_has_one_colour_everywhere():
    alone = method_styles(["smo"])
    together = method_styles(["libsvm", "sbp", "smo", "zeta", "sbp-quarter"], {"sbp-quarter"})
    assert alone["smo"].colour == together["smo"].colour == KNOWN["smo"]
    assert together["sbp-quarter"].colour == together["sbp"].colour
    assert together["sbp-quarter"].dash != together["sbp"].dash == "-"


def test_unknown_methods_get_colours_of_their_own():
    found = method_styles(["smo", "alpha", "beta"])
    assert len({style.colour for style in found.values()}) == 3


@pytest.mark.parametrize("name", ["$x^{$", "_private", "<b>&\"'", "bad\x00\x1bname", "ünïcode 数"])
def test_hostile_names_leave_svg_whole(records, drawn, name):
    picture = drawn([record | {"dataset": name} for record in records.race(1)])
    ElementTree.fromstring(picture.svg_file)
    ElementTree.fromstring(picture.svg_inline)
    assert re.fullmatch(r"[A-Za-z0-9._-]+", picture.name)


def test_inline_figures_follow_the_page_and_share_no_ids(records, drawn):
    rows = records.race(1) + records.race(1, dataset="mnist")
    _, *pieces = drawn(rows).svg_inline.partition('<div class="multiples">')[2].split("<svg")
    ids = [set(re.findall(r'\bid="([^"]+)"', piece)) for piece in pieces]
    assert len(ids) == 2 and ids[0] and not ids[0] & ids[1]
    for piece, own in zip(pieces, ids, strict=True):
        assert INK not in piece and "currentColor" in piece
        assert "<style" not in piece and "<metadata" not in piece
        assert set(re.findall(r'(?:url\(|href=")#([^)"]+)', piece)) <= own


def test_the_same_records_give_the_same_svg(records, drawn):
    assert drawn(records.race()) == drawn(records.race())


def test_coordinates_have_no_more_digits_than_a_screen_shows(records, drawn):
    picture = drawn(records.race())
    assert not re.search(r"\d\.\d{3}", re.sub(r"<(title|desc).*?</\1>", "", picture.svg_inline))
