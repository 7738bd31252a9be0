"""Verdicts, sections and solvers, laid out as HTML and as Markdown."""

import re
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from kernbench.report.charts.svg import share_styles
from kernbench.report.page.sections import Section
from kernbench.report.tables.table import Column, Table, markdown_text, words
from kernbench.report.text import unbroken
from kernbench.report.verdict.verdict import Verdict
from kernbench.solvers.registry import SOLVERS

_PAPER = re.compile("[^:;]*(: [^,;]*)?")  # authors and title, without the year and the place in the paper


@dataclass
class Page:
    """The data of the templates.

    Attributes
    ----------
    verdicts : list of Verdict
        One for each task.
    sections : list of Section
    solvers : Table
    overall : list of Picture
        Over all experiments.
    notes : list of str
        About records that could not be used.
    version, date : str
    n_records : int
    """

    verdicts: list[Verdict]
    sections: list[Section]
    solvers: Table
    overall: list
    notes: list
    version: str
    date: str
    n_records: int

    @property
    def menu(self):
        """The sections by paper: a list of (paper, list of Section)."""
        groups = {}
        for section in self.sections:
            groups.setdefault(_PAPER.match(section.paper)[0], []).append(section)
        return list(groups.items())


def solver_table():
    """The registry as a table."""
    columns = tuple(
        Column(label, name, numeric=False)
        for label, name in (
            ("solver", "name"),
            ("paper", "paper"),
            ("cost", "complexity"),
            ("tol is compared with", "stopping"),
        )
    )
    rows = [tuple(words(text) for text in (s.name, s.paper, s.complexity, s.stopping)) for s in SOLVERS]
    return Table("solvers", "What can be typed for solver=", columns, [("", rows)])


def _environment(escape):
    # What comes from records (names, messages) is text, never markup.
    return Environment(
        loader=PackageLoader("kernbench.report.page"),
        autoescape=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render_html(page):
    """The page as one self-contained HTML document."""
    environment = _environment(True)
    environment.filters["unbroken"] = unbroken
    html, css = share_styles(environment.get_template("index.html.j2").render(page=page).lstrip())
    return html.replace("</style>", f"{css}\n</style>", 1)


def render_markdown(page):
    """The short form in Markdown."""
    environment = _environment(False)
    environment.filters["md"] = markdown_text
    text = environment.get_template("summary.md.j2").render(page=page)
    lines = [line.rstrip() for line in text.splitlines()]
    # At most one empty line between two others.
    kept = [line for i, line in enumerate(lines) if line or (i and lines[i - 1])]
    return "\n".join(kept).strip() + "\n"
