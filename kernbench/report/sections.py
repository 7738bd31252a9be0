"""Everything the page says about one experiment at one scale, before it is laid out."""

from dataclasses import dataclass, field

from kernbench.report import text
from kernbench.report.claims import interval_sentence, judge, overall
from kernbench.report.comparison import comparison_table, data_table, failure_table, optimality_table
from kernbench.report.drawings import SECONDS, curve_rows, description, drawings
from kernbench.report.figures import draw
from kernbench.report.labels import KINDS, kind_of, label_of
from kernbench.report.provenance import command, dates, described, environments
from kernbench.report.svg import inline, standalone
from kernbench.report.tables import csv_text


@dataclass(frozen=True)
class Picture:
    """A figure in its three forms.

    Attributes
    ----------
    name : str
        File name without its ending.
    caption, alternative : str
        What everybody reads, and what a screen reader says.
    svg_inline, svg_file : str
    csv : str
        The curves.
    """

    name: str
    caption: str
    alternative: str
    svg_inline: str
    svg_file: str
    csv: str


@dataclass
class Section:
    """One experiment at one scale.

    Attributes
    ----------
    name : str
        Also the anchor in the page.
    experiment : kernbench.experiments.base.Experiment
    scale : str
    verdict, verdict_sentence : str
        On the claim.
    judgements : list of (Judgement, str)
        With the sentence on the interval.
    tables : list of Table
    pictures : list of (str, list of Picture)
        By data set.
    gaps : list of str
        Methods without a record, and cells that were never run.
    generated : list of str
        Data sets that are generated, not real.
    environments : list of (list of (str, str), int)
    command, dates : str
    """

    name: str
    experiment: object
    scale: str
    verdict: str
    verdict_sentence: str
    judgements: list
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
    experiment : kernbench.experiments.base.Experiment
    group : Group
    looks : dict of str to Look

    Returns
    -------
    Section
    """
    judgements = [judge(experiment, group, dataset) for dataset in group.datasets]
    verdict, sentence = overall(judgements)
    generated = [dataset for dataset in group.datasets if kind_of(group, dataset) == "generated"]
    tables = [
        comparison_table(experiment, group),
        optimality_table(experiment, group),
        data_table(experiment, group),
    ]
    failures = failure_table(experiment, group)
    found = environments(group.records)
    return Section(
        name=f"{group.experiment}-{group.scale}",
        experiment=experiment,
        scale=group.scale,
        verdict=verdict,
        verdict_sentence=sentence,
        judgements=[(j, interval_sentence(experiment, group, j.dataset)) for j in judgements],
        tables=tables + ([failures] if failures else []),
        pictures=[(dataset, _pictures(experiment, group, dataset, looks)) for dataset in group.datasets],
        gaps=_gaps(experiment, group),
        generated=generated,
        environments=[(described(environment), number) for environment, number in found],
        command=command(experiment, group),
        dates=dates(group.records),
        n_records=len(group.records),
        n_failed=sum(record["status"] != "ok" for record in group.records),
        notes=_notes(found),
    )


def _pictures(experiment, group, dataset, looks):
    pictures = []
    for drawing in drawings(experiment, group, dataset, looks):
        canvas = draw(drawing)
        words = description(drawing, experiment.metrics[0].unit)
        pictures.append(
            Picture(
                name=drawing.name,
                caption=_caption(experiment, group, dataset, drawing),
                alternative=words,
                svg_inline=inline(canvas, drawing.name, drawing.title, words),
                svg_file=standalone(canvas),
                csv=csv_text(curve_rows(drawing)),
            )
        )
    return pictures


def _caption(experiment, group, dataset, drawing):
    kind = kind_of(group, dataset)
    parts = [f"{drawing.title} ({KINDS.get(kind, f'{kind} data')})."]
    if max((len(line.curves) for line in drawing.lines), default=0) > 1:
        parts.append("Thick: mean over repeats; thin: the repeats. Marks: final models.")
    else:
        parts.append("Marks: final models. One repeat only.")
    if any(line.hollow for line in drawing.lines):
        parts.append("Hollow marks: stopped at their time budget.")
    if drawing.column == SECONDS:
        parts.append("Curves run on the solver's own clock, without reading data and measuring the error.")
    else:
        drawn = {line.label for line in drawing.lines}
        ended = [name for name in group.methods(dataset) if group.cell(dataset, name).ok]
        missing = [label for label in (label_of(experiment, name) for name in ended) if label not in drawn]
        parts += [f"Not counted by {text.listed(missing)}."] if missing else []
    return " ".join(parts)


def _gaps(experiment, group):
    recorded = set(group.methods())
    gaps = []
    for method in experiment.methods:
        if method.name not in recorded:
            how = f" It needs the package {method.package or method.requires}." if method.requires else ""
            gaps.append(f"{method.label}: no records.{how}")
        else:
            without = [name for name in group.datasets if (name, method.name) not in group.cells]
            if without:
                gaps.append(f"{method.label}: not run on {text.listed(without)}.")
    for setting in experiment.scale(group.scale).settings:
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
