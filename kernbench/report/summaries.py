"""Declared tables: metrics by method, and methods by data set."""

from functools import partial

from kernbench.experiments.declare import PaperNumber
from kernbench.report import text
from kernbench.report.claims import paired
from kernbench.report.labels import (
    category_label,
    label_of,
    ordered,
    paper_entry,
    printed,
    scaled,
    short_label,
    signed,
)
from kernbench.report.statistics import finite, finite_values, mean_and_error
from kernbench.report.tables import NOTHING, Column, Entry, Table, words


def metric_table(display, experiment, group):
    """A :class:`~kernbench.experiments.declare.MetricTable`; None without records.

    With one method, data sets are the rows; with several, each data set has a block of them.

    Parameters
    ----------
    display : kernbench.experiments.declare.MetricTable
    experiment : kernbench.experiments.declare.Experiment
    group : Group

    Returns
    -------
    Table or None
    """
    metrics = [experiment.metric(name) for name in display.metrics]
    blocks = []
    for dataset in _datasets(display, group):
        names = _methods(display, experiment, group, dataset)
        cells = [(name, group.cell(dataset, name)) for name in names]
        rows = [
            (words(label_of(experiment, name)), *(_entry(metric, cell) for metric in metrics))
            for name, cell in cells
            if cell.ok or cell.failed
        ]
        if rows:
            blocks.append((dataset, rows))
    if not blocks:
        return None
    first = Column("method", "method", numeric=False)
    if display.methods is not None and len(display.methods) == 1:
        named = [
            (words(category_label(experiment, group, "dataset", dataset)), *row[1:])
            for dataset, rows in blocks
            for row in rows
        ]
        blocks = [("", named)]
        first = Column("data", "data", numeric=False)
    columns = [Column(_heading(metric), metric.name) for metric in metrics]
    return Table(
        f"{group.experiment}-{group.scale}-{display.name}",
        display.caption,
        (first, *columns),
        blocks,
        notes=[*display.notes, *_errors(blocks)],
    )


def cross_table(display, experiment, group):
    """A :class:`~kernbench.experiments.declare.CrossTable`; None without records.

    Parameters
    ----------
    display : kernbench.experiments.declare.CrossTable
    experiment : kernbench.experiments.declare.Experiment
    group : Group

    Returns
    -------
    Table or None
    """
    metric = experiment.metric(display.metric)
    datasets = _datasets(display, group)
    names = [
        name
        for name in ordered(experiment, group)
        if (display.methods is None or name in display.methods)
        and name != display.baseline
        and any(group.cell(dataset, name).ok for dataset in datasets)
    ]
    if not names:
        return None
    rows, notes, has_paper = [], [*display.notes, *_relation(display, experiment)], False
    for dataset in datasets:
        row = [words(category_label(experiment, group, "dataset", dataset))]
        for name in names:
            number, elsewhere = _paper(display, experiment, group, dataset, name)
            row.append(_cross_entry(display, experiment, group, dataset, name, number, elsewhere))
            if elsewhere is not None and number is not None:
                notes.append(f"† {dataset} here stands for {elsewhere}, where the paper's numbers are from.")
            has_paper = has_paper or number is not None
        rows.append(tuple(row))
    if has_paper:
        notes.append("In brackets: the paper's number.")
    blocks = [("", rows)]
    relation = "minus" if display.difference else "over"
    suffix = f"_{relation}_{display.baseline}" if display.baseline else ""
    columns = [Column(label_of(experiment, name), f"{name}{suffix}_{metric.name}") for name in names]
    heading = metric.label if display.baseline and not display.difference else _heading(metric)
    return Table(
        f"{group.experiment}-{group.scale}-{display.name}",
        display.caption,
        (Column(heading, "data", numeric=False), *columns),
        blocks,
        notes=[*dict.fromkeys(notes), *_errors(blocks)],
    )


def _relation(display, experiment):
    """What the entries of a table with a baseline are."""
    if display.baseline is None:
        return []
    base = short_label(experiment, display.baseline)
    what = f"minus {base}'s" if display.difference else f"over {base}'s"
    return [f"Each entry is the method's value {what}, both from the same repeat of the same run."]


def _related(display, value, base):
    """A value beside the baseline's; None where there is nothing to divide by."""
    if display.difference:
        return value - base
    return value / base if base else None


def _cross_entry(display, experiment, group, dataset, name, number, elsewhere):
    metric, cell = experiment.metric(display.metric), group.cell(dataset, name)
    if display.baseline is None:
        return _entry(metric, cell, number, elsewhere)
    pairs = [
        tuple(finite(metric.of(record)) for record in pair)
        for pair in paired(cell, group.cell(dataset, display.baseline))
    ]
    values = [_related(display, *pair) for pair in pairs if None not in pair]
    show = partial(_shown_relation, display, metric)
    paper = "" if number is None else show(number.value)
    return _printed(cell, *mean_and_error(values), show, paper, elsewhere)


def _shown_relation(display, metric, value, error=None):
    if display.difference:
        shown = signed(metric, value)
        return shown if error is None else f"{shown} ± {text.significant(metric.factor * error, 2)}"
    spread = "" if error is None else f" ± {text.significant(error, 2)}"
    return f"{text.significant(value)}{spread} ×"


def _paper(display, experiment, group, dataset, name):
    """The paper's number for an entry, put in relation to the baseline's like ours, and where it is from."""
    metric = display.metric
    entry, elsewhere = paper_entry(experiment, group, dataset, name, metric)
    if entry is None or display.baseline is None:
        return entry, elsewhere
    base, _ = paper_entry(experiment, group, dataset, display.baseline, metric)
    value = None if base is None else _related(display, entry.value, base.value)
    return (None if value is None else PaperNumber(dataset, name, metric, value)), elsewhere


def _datasets(display, group):
    return [name for name in group.datasets if display.datasets is None or name in display.datasets]


def _methods(display, experiment, group, dataset):
    names = ordered(experiment, group, dataset)
    return [name for name in names if display.methods is None or name in display.methods]


def _heading(metric):
    return f"{metric.label}{f' ({metric.unit})' if metric.unit else ''}"


def _entry(metric, cell, number=None, elsewhere=None):
    """Mean and standard error over repeats, with the paper's number where there is one."""
    mean, error = mean_and_error(finite_values(metric.of(record) for record in cell.ok))
    show = partial(scaled, metric)
    paper = ""
    if number is not None:
        paper = printed(metric, number.value) if number.error is None else show(number.value, number.error)
    return _printed(cell, mean, error, show, paper, elsewhere)


def _printed(cell, mean, error, show, paper, elsewhere):
    """Our number, or why there is none, and the paper's in brackets."""
    paper = f" ({paper}{'†' if elsewhere else ''})" if paper else ""
    if mean is not None:
        return Entry(f"{show(mean, error)}{paper}", mean, error)
    if cell.failed:
        statuses = dict.fromkeys(record["status"] for record in cell.failed)
        return words(f"{text.listed(statuses)}{paper}", mark="bad")
    return Entry(f"{text.DASH}{paper}") if paper else NOTHING


def _errors(blocks):
    """What ± means, where it is seen."""
    entries = (entry for _, rows in blocks for row in rows for entry in row)
    return (
        ["±: standard error of the mean over repeats."] if any(e.error is not None for e in entries) else []
    )
