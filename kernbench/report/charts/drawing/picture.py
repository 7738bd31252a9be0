"""A figure for the page and as files."""

from dataclasses import dataclass

from kernbench.report import text
from kernbench.report.tables.table import csv_text


@dataclass(frozen=True)
class Picture:
    """A figure of the page, and its files.

    Attributes
    ----------
    name : str
        File name without its ending.
    caption : str
    svg_inline, svg_file : str
        The picture for the page (safe HTML; small multiples are several elements) and for a separate file.
    csv : str
        The data of the figure.
    heading : str
        Heading in the section; consecutive figures of the same heading share it.
    shape : {"", "wide", "panels", "panels large", "panels choices"}
        Its layout: beside others, alone in its row, or as small multiples over the whole width.
    lead : str
        Description of the axes, above small multiples.
    """

    name: str
    caption: str
    svg_inline: str
    svg_file: str
    csv: str
    heading: str = ""
    shape: str = ""
    lead: str = ""


def picture_of(display, results, drawn, rows, remarks=(), **layout):
    """The picture of a display.

    Parameters
    ----------
    display : one of kernbench.experiments.declare.figures
    results : Results
    drawn : (str, str)
        The SVG of the page, and that of its file.
    rows : iterable of tuple
        The data of the figure, with a heading.
    remarks : iterable of str
        Sentences of the caption after the title.
    **layout
        `shape` and `lead` of the picture.
    """
    caption = [text.sentence(display.title), *remarks, *([display.note] if display.note else [])]
    name = results.file_name(display.name)
    return Picture(name, " ".join(caption), *drawn, csv_text(rows), display.heading, **layout)


def by_heading(pictures):
    """Group consecutive pictures of the same heading: a list of (heading, list of Picture)."""
    groups = []
    for picture in pictures:
        if not groups or groups[-1][0] != picture.heading:
            groups.append((picture.heading, []))
        groups[-1][1].append(picture)
    return groups
