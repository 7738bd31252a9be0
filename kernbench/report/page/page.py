"""Verdicts, sections and solvers, laid out as HTML and as Markdown."""

import re
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from kernbench._names import printable
from kernbench.report.charts.drawing.picture import Picture
from kernbench.report.charts.drawing.svg import share_styles
from kernbench.report.page.sections import OURS, Section
from kernbench.report.tables.table import Column, Table, markdown_text, words
from kernbench.report.text import plural, unbroken
from kernbench.report.verdict.verdict import Verdict
from kernbench.solvers.kinds import KINDS
from kernbench.solvers.registry import SOLVERS

_PAPER = re.compile("[^:;]*(: [^,;]*)?")  # authors and title, without the year and the place in the paper


@dataclass
class Page:
    """The data of the templates.

    Attributes
    ----------
    verdicts : list of Verdict
        One for each task.
    choices, choice_picture : Table or None, Picture or None
        The recommended methods of all tasks.
    headlines, speed : Table or None, Picture or None
        The first screen: what to use for what, and how much faster it is.
    sections : list of Section
    solvers : Table
    overall : list of Picture
        Over all experiments.
    notes : list of str
        About records that could not be used.
    version, date : str
    n_records : int
    has_history : bool
        Whether there is a page ``history.html`` beside.
    has_manifest : bool
        Whether the records are a snapshot, described by ``manifest.json`` beside the page.
    is_compact : bool
        Whether all records are beside the page, and not its figures and tables.
    """

    verdicts: list[Verdict]
    headlines: Table | None
    speed: Picture | None
    choices: Table | None
    choice_picture: Picture | None
    sections: list[Section]
    solvers: Table
    overall: list
    notes: list
    version: str
    date: str
    n_records: int
    has_history: bool = False
    has_manifest: bool = False
    is_compact: bool = False

    @property
    def menu(self):
        """The sections by paper, ours last: a list of (group, paper, list of Section)."""
        groups = {}
        for section in self.sections:
            groups.setdefault(section.group, []).append(section)
        last = groups.pop(OURS, None)
        menu = [(name, _PAPER.match(sections[0].paper)[0], sections) for name, sections in groups.items()]
        return [*menu, *([(OURS, "Comparisons that no paper makes", last)] if last else [])]

    @property
    def in_order(self):
        """The sections in the order of the menu."""
        return [section for _, _, sections in self.menu for section in sections]

    @property
    def n_experiments(self):
        return len({section.experiment for section in self.sections})

    @property
    def every_table(self):
        tables = [table for section in self.sections for table in section.every_table]
        tables += [verdict.table for verdict in self.verdicts]
        return [table for table in (self.headlines, self.choices, *tables, self.solvers) if table is not None]

    @property
    def every_picture(self):
        pictures = [picture for section in self.sections for picture in section.every_picture]
        pictures += [self.speed, self.choice_picture, *self.overall]
        return [picture for picture in pictures if picture is not None]


def solver_table():
    """The registry as a table, a block for each kind of problem: solvers of several have one name."""
    columns = tuple(
        Column(label, name, numeric=False)
        for label, name in (
            ("solver", "name"),
            ("paper", "paper"),
            ("cost", "complexity"),
            ("tol is compared with", "stopping"),
        )
    )
    rows = {kind.name: [] for kind in KINDS.values()}
    for s in SOLVERS:
        rows[s.problem].append(tuple(map(words, (s.name, s.paper, s.complexity, s.stopping))))
    blocks = [(f"{kind.estimator}: {kind.words}", rows[kind.name]) for kind in KINDS.values() if rows[kind.name]]
    return Table("solvers", "The solvers of each estimator", columns, blocks, heading="estimator")


@cache  # a template is compiled once, not for each section
def _environment(escape, linked=False):
    # Names and messages of records are text, never markup: jinja2 escapes them for HTML, the filter `md` for Markdown.
    # Neither removes control characters, some of which reverse the text after them.
    environment = Environment(
        loader=PackageLoader("kernbench.report.page"),
        autoescape=escape,
        finalize=_visible if escape else None,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"plural": plural, "unbroken": unbroken, "md": markdown_text}
    environment.globals["linked"] = linked
    return environment


def _visible(value):
    """A value for HTML without control characters other than line breaks."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return "\n".join(map(printable, value.split("\n")))


def render_html(page):
    """The page as one self-contained HTML document."""
    environment = _environment(True, linked=not page.is_compact)
    html, css = share_styles(environment.get_template("index.html.j2").render(page=page).lstrip())
    return html.replace("</style>", f"{css}\n</style>", 1)


def render_markdown(page):
    """The short form in Markdown: the choices, and a line for each claim."""
    return _markdown("summary.md.j2", page=page)


def render_details(section):
    """All tables of one experiment, its data and its provenance, in Markdown."""
    return _markdown("details.md.j2", section=section)


def _markdown(template, **data):
    text = _environment(False).get_template(template).render(**data)
    lines = [line.rstrip() for line in text.splitlines()]
    # At most one empty line between two others.
    kept = [line for i, line in enumerate(lines) if line or (i and lines[i - 1])]
    return "\n".join(kept).strip() + "\n"
