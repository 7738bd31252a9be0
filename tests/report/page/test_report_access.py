"""The page is for everybody: figures in words, header cells, contrast in both themes, nothing told by colour alone."""

import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from kernbench.experiments.registry import EXPERIMENTS
from kernbench.report import build
from kernbench.report.charts.drawing.styles import PALETTE_NAMES, styles_of
from kernbench.report.claims.findings import FAILS, HELD, HOLDS, MISSED, OPEN, PARTLY
from kernbench.report.records.results import Results

CSS = files("kernbench.report.page").joinpath("templates/style.css").read_text(encoding="utf-8")
TEXT = ("ink", "soft", "accent", "good", "bad", "part")
GRAPHICS = tuple(PALETTE_NAMES.values())


class Outline(HTMLParser):
    """Collects tags with their attributes, and where figures and tables have their words."""

    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def of(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]


@pytest.fixture(scope="module")
def content(tmp_path_factory, race_records):
    folder = tmp_path_factory.mktemp("access")
    (folder / "toy.jsonl").write_text("".join(json.dumps(record) + "\n" for record in race_records))
    return build(folder, folder / "out").page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def outline(content):
    found = Outline()
    found.feed(content)
    return found


def themes():
    """The colours of the two themes: name -> hex."""
    light, dark = (
        dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
    )
    return {"light": light, "dark": light | dark}


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """As WCAG 2 defines it."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_black_and_white_is_21():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_letters_have_contrast(theme):
    colours = themes()[theme]
    for ground in ("paper", "box"):
        for name in TEXT:
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
    assert contrast(colours["ink"], colours["warn-box"]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lines_and_marks_have_contrast(theme):
    colours = themes()[theme]
    for name in GRAPHICS:
        assert contrast(colours[name], colours["paper"]) >= 3, name


def test_files_have_the_colours_of_the_light_theme():
    light = themes()["light"]
    assert {name: light[name] for name in GRAPHICS} == {name: hex.lower() for hex, name in PALETTE_NAMES.items()}


def test_figures_have_a_title_and_words(outline, content):
    shown = [svg for svg in outline.of("svg") if svg.get("aria-hidden") != "true"]
    assert shown and all(svg["role"] == "img" for svg in shown)
    ids = {attributes["id"] for _, attributes in outline.tags if "id" in attributes}
    assert all(set(svg["aria-labelledby"].split()) <= ids for svg in shown)
    assert all(words.strip() for words in re.findall(r"<desc[^>]*>(.*?)</desc>", content, re.DOTALL))


def test_what_scrolls_is_reached_by_the_keyboard_and_has_a_name(content):
    assert [rule.strip() for rule in re.findall(r"([^{}]*)\{[^}]*overflow-x: auto", CSS)] == [".scroll"]
    scrolling = re.findall(r'<div class="scroll[^>]*>', content)
    assert all(re.search('role="region" tabindex="0" aria-label="[^"]+"', tag) for tag in scrolling)
    figures = re.findall(r"<figure[^>]*>.*?</figure>", content, re.DOTALL)
    wide = [figure for figure in figures if not figure.startswith('<figure class="panels')]  # panels fit any window
    assert wide and all(re.search(r'<div class="scroll"[^>]*><svg ', figure) for figure in wide)


def test_ids_are_unique(outline):
    ids = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_tables_have_captions_and_header_cells(outline):
    assert len(outline.of("table")) == len(outline.of("caption")) > 3
    assert all(cell.get("scope") in ("col", "row", "rowgroup") for cell in outline.of("th"))


def test_headings_begin_with_one_h1_and_skip_no_level(outline):
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:]))


def test_no_character_is_replaced(content):
    """Between a number and its unit stands a space at which lines do not break."""
    assert "\ufffd" not in content and "\u00a0" in content


def test_figures_follow_the_theme(content):
    body = content[content.index("<body") :]
    assert not re.search(r"#[0-9a-fA-F]{6}\b", body)
    assert not re.search(r"svg \.s\d+ \{[^}]*#[0-9a-fA-F]{6}", content)


@pytest.mark.parametrize("verdict", [HOLDS, PARTLY, FAILS, HELD, MISSED, OPEN])
def test_verdicts_have_a_sign_beside_their_colour(verdict):
    name = verdict.replace(" ", "-")
    for where in ("badge", "verdict"):
        assert re.search(rf'\.{where}\.{name}::before[^{{]*\{{ content: "[^"]+"[^}}]*\}}', CSS)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_methods_differ_without_colour(experiment):
    styles = styles_of(Results(experiment, "quick", {}))
    assert len({(style.marker, str(style.dash)) for style in styles.values()}) == len(styles)
    assert len({(style.marker, style.colour) for style in styles.values()}) == len(styles)  # without lines
