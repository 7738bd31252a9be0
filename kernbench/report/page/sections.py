"""The content of the page on one experiment at one scale."""

from dataclasses import dataclass

from kernbench.report import text
from kernbench.report.charts.picture import by_heading
from kernbench.report.claims.findings import findings, standing
from kernbench.report.page.displays import pictures_of, tables_of
from kernbench.report.page.provenance import command, dates, described, environments
from kernbench.report.tables.facts import data_table, failure_table


@dataclass
class Section:
    """One experiment at one scale.

    Attributes
    ----------
    name : str
        Also the anchor in the page.
    title, paper, scale, note : str
    findings : list of Finding
    standing : str
        The findings in a few words.
    tables, facts : list of Table
        The declared tables; those of the data and of the failures.
    pictures : list of (str, list of Picture)
        By heading.
    gaps : list of str
        Methods without a record, and cells that were never run.
    generated : list of str
        Generated data sets, where the reader might expect real ones.
    environments : list of (list of (str, str), int)
    command, dates : str
    n_records, n_failed : int
    """

    name: str
    experiment: str
    title: str
    paper: str
    scale: str
    note: str
    findings: list
    standing: str
    tables: list
    facts: list
    pictures: list
    gaps: list
    generated: list
    environments: list
    command: str
    dates: str
    n_records: int
    n_failed: int


def make_section(results):
    """Compute everything the page shows of an experiment at one scale."""
    experiment, stated = results.experiment, findings(results)
    generated = [dataset for dataset in results.datasets if results.kind(dataset) == "generated"]
    facts = [data_table(results), failure_table(results)]
    return Section(
        name=results.name,
        experiment=experiment.name,
        title=experiment.title,
        paper=experiment.paper,
        scale=results.scale,
        note=experiment.note,
        findings=stated,
        standing=standing(stated),
        tables=tables_of(results),
        facts=[table for table in facts if table is not None],
        pictures=by_heading(pictures_of(results)),
        gaps=_gaps(results),
        generated=[] if experiment.own_data else generated,
        environments=[(described(found), number) for found, number in environments(results.records)],
        command=command(results),
        dates=dates(results.records),
        n_records=len(results.records),
        n_failed=sum(len(cell.failed) for cell in results.cells.values()),
    )


def _gaps(results):
    recorded, settings = set(results.methods()), results.experiment.scale(results.scale).settings
    excluded = {(s.name, m.name) for s in settings for m in results.experiment.methods if not s.takes(m.name)}
    gaps = []
    for method in results.experiment.methods:
        if method.name not in recorded:
            how = f" It needs the package {method.package or method.requires}." if method.requires else ""
            gaps.append(f"{method.label}: no records.{how}")
        else:
            pairs = [(name, method.name) for name in results.datasets]
            without = [pair[0] for pair in pairs if pair not in results.cells and pair not in excluded]
            if without:
                gaps.append(f"{method.label}: not run on {text.listed(without)}.")
    for setting in settings:
        if setting.name not in results.datasets:
            optional = f" (runs only when asked for: --dataset {setting.name})" if setting.optional else ""
            gaps.append(f"Data set {setting.name}: no records{optional}.")
    return gaps
