"""The content of the page on one experiment at one scale."""

import re
from dataclasses import dataclass, field

from kernbench.report import text
from kernbench.report.charts.drawing.picture import by_heading
from kernbench.report.charts.fronts import front_picture
from kernbench.report.claims.findings import standing, tone
from kernbench.report.page.commands import commands
from kernbench.report.page.displays import pictures_of, tables_of
from kernbench.report.page.gaps import gaps
from kernbench.report.page.provenance import dates, environments
from kernbench.report.tables.facts import data_table, failure_table
from kernbench.report.tables.tradeoffs import tradeoff_table

OURS = "Ours"  # the group of what is in no paper
_PLACE = re.compile(r"\b(Tables?|Figures?|section) .*")


@dataclass
class Section:
    """One experiment at one scale.

    Attributes
    ----------
    name : str
        Also the anchor in the page.
    experiment, title, paper, group, scale, note : str
    findings : list of Finding
    standing, tone : str
        The findings in a few words, and how the page marks these.
    pictures, tables : list of Picture, list of Table
        The declared ones. The first of each is open: the paper's figure and table.
    front, tradeoffs : Picture or None, Table or None
        Accuracy against time and memory, for a race.
    facts : list of Table
        The data and the failures.
    gaps : list of str
        What is missing: methods, data sets, failed fits, repeats.
    generated : list of str
        Generated data sets, where the reader might expect real ones.
    environments : list of (list of (str, str), int)
    commands : list of str
    dates : str
    n_records, n_failed : int
    """

    name: str
    experiment: str
    title: str
    paper: str
    group: str
    scale: str
    note: str
    findings: list
    standing: str
    tone: str
    pictures: list
    tables: list
    front: object
    tradeoffs: object
    facts: list
    gaps: list
    generated: list
    environments: list = field(default_factory=list)
    commands: list = field(default_factory=list)
    dates: str = ""
    n_records: int = 0
    n_failed: int = 0

    @property
    def place(self):
        """Where the paper has it: ``"Table 1, Figure 3"``; empty for ours."""
        found = _PLACE.search(self.paper)
        return found[0] if found and self.group != OURS else ""

    @property
    def folded(self):
        """The figures after the first: a list of (heading, list of Picture)."""
        return by_heading(self.pictures[1:])

    @property
    def every_picture(self):
        return [*self.pictures, *([self.front] if self.front else [])]

    @property
    def every_table(self):
        return [*self.tables, *([self.tradeoffs] if self.tradeoffs else []), *self.facts]


def _measured(results):
    """Say how many repeats were measured, where these are not as many as an experiment declares."""
    counts = [len({record["repeat"] for record in cell.records}) for cell in results.cells.values()]
    scales = results.experiment.scales
    declared = scales[results.scale].repeats if results.scale in scales else 0
    if not counts or set(counts) == {declared} or not results.experiment.differs:
        return ""
    were = "was" if max(counts) == 1 else "were"
    if max(counts) > declared:  # short fits are repeated more often, `--repeats auto`
        return f"{text.span(counts, 'repeat')} of each fit {were} measured, in place of {declared}."
    return f"Of the {declared} declared, {text.span(counts, 'repeat')} of each fit {were} measured."


def make_section(results, stated, runs=None):
    """Compute everything the page shows of an experiment at one scale, beside the findings `stated`.

    `runs` are those of the manifest of a snapshot.
    """
    experiment = results.experiment
    generated = [dataset for dataset in results.datasets if results.kind(dataset) == "generated"]
    facts = [data_table(results), failure_table(results)]
    return Section(
        name=results.name,
        experiment=experiment.name,
        title=experiment.title,
        paper=experiment.paper,
        group=experiment.group,
        scale=results.scale,
        note=" ".join(filter(None, (experiment.differs, _measured(results), experiment.note))),
        findings=stated,
        standing=standing(stated),
        tone=tone(stated),
        pictures=pictures_of(results),
        tables=tables_of(results),
        front=front_picture(results),
        tradeoffs=tradeoff_table(results),
        facts=[table for table in facts if table is not None],
        gaps=gaps(results),
        generated=[] if experiment.own_data else generated,
        environments=environments(results.records),
        commands=commands(results, runs),
        dates=dates(results.records),
        n_records=len(results.records),
        n_failed=sum(len(cell.failed) for cell in results.cells.values()),
    )
