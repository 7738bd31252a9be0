"""Everything the page says about one experiment at one scale, before it is laid out."""

from dataclasses import dataclass, field

from kernbench.report import text
from kernbench.report.comparison import data_table, failure_table
from kernbench.report.displays import pictures_of, tables_of
from kernbench.report.findings import findings, standing
from kernbench.report.labels import kind_of
from kernbench.report.pictures import by_heading
from kernbench.report.provenance import command, dates, described, environments


@dataclass
class Section:
    """One experiment at one scale.

    Attributes
    ----------
    name : str
        Also the anchor in the page.
    experiment : kernbench.experiments.declare.Experiment
    scale : str
    findings : list of Finding
    standing : str
        The findings in a few words.
    tables : list of Table
    pictures : list of (str, list of Picture)
        By heading.
    gaps : list of str
        Methods without a record, and cells that were never run.
    generated : list of str
        Data sets that are generated, where the reader might expect real ones.
    environments : list of (list of (str, str), int)
    command, dates : str
    """

    name: str
    experiment: object
    scale: str
    findings: list
    standing: str
    tables: list
    pictures: list
    gaps: list
    generated: list
    environments: list
    command: str
    dates: str
    n_records: int = 0
    n_failed: int = 0
    notes: list = field(default_factory=list)


def make_section(experiment, group, looks):
    """Compute everything the page says about one group of records.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group
    looks : dict of str to Look

    Returns
    -------
    Section
    """
    stated = findings(experiment, group)
    generated = [dataset for dataset in group.datasets if kind_of(group, dataset) == "generated"]
    tables = [*tables_of(experiment, group), data_table(experiment, group), failure_table(experiment, group)]
    found = environments(group.records)
    return Section(
        name=f"{group.experiment}-{group.scale}",
        experiment=experiment,
        scale=group.scale,
        findings=stated,
        standing=standing(stated),
        tables=[table for table in tables if table is not None],
        pictures=by_heading(pictures_of(experiment, group, looks)),
        gaps=_gaps(experiment, group),
        generated=[] if experiment.own_data else generated,
        environments=[(described(environment), number) for environment, number in found],
        command=command(experiment, group),
        dates=dates(group.records),
        n_records=len(group.records),
        n_failed=sum(record["status"] != "ok" for record in group.records),
        notes=_notes(found),
    )


def _gaps(experiment, group):
    recorded = set(group.methods())
    settings = experiment.scale(group.scale).settings
    pointless = {(s.name, m.name) for s in settings for m in experiment.methods if not s.takes(m.name)}
    gaps = []
    for method in experiment.methods:
        if method.name not in recorded:
            how = f" It needs the package {method.package or method.requires}." if method.requires else ""
            gaps.append(f"{method.label}: no records.{how}")
        else:
            pairs = [(name, method.name) for name in group.datasets]
            without = [pair[0] for pair in pairs if pair not in group.cells and pair not in pointless]
            if without:
                gaps.append(f"{method.label}: not run on {text.listed(without)}.")
    for setting in settings:
        if setting.name not in group.datasets:
            optional = f" (runs only when asked for: --dataset {setting.name})" if setting.optional else ""
            gaps.append(f"Data set {setting.name}: no records{optional}.")
    return gaps


def _notes(found):
    if len(found) < 2:
        return []
    return [
        f"These records were made on {len(found)} different set-ups (below). Times are divided by each other "
        "only within one; medians of times mix them."
    ]
