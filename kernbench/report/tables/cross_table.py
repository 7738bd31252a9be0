"""Cross tables: a row for each data set, a column for each method, one metric."""

from itertools import product

from kernbench.report import text
from kernbench.report.records.cells import paired_values
from kernbench.report.statistics import finite_values, mean_and_error, mean_interval
from kernbench.report.tables.metric_table import explained, repeats_told, setups_told, stand_in
from kernbench.report.tables.quantities import counted, mean_entry
from kernbench.report.tables.table import Column, Table, words


def cross_table(display, results):
    """A :class:`~kernbench.experiments.declare.CrossTable`; None without records."""
    metric, datasets = results.experiment.metric(display.metric), results.chosen_datasets(display)
    names = [
        name
        for name in results.chosen_methods(display)
        if name != display.baseline and any(results.cell(dataset, name).ok for dataset in datasets)
    ]
    if not names:
        return None
    notes = [*display.notes]
    if display.baseline is not None:
        relation = "minus" if display.difference else "over"
        peer = text.possessive(results.short_label(display.baseline))
        notes.append(
            f"Each entry is the method's value {relation} {peer}, both from the same repeat on the same set-up."
        )
    rows, from_paper = [], []
    for dataset in datasets:
        row = [words(results.category_label("dataset", dataset))]
        for name in names:
            paper, elsewhere = _paper(display, results, metric, dataset, name)
            row.append(_entry(display, results, metric, dataset, name, paper))
            from_paper += [paper] if paper else []
            notes += [stand_in(dataset, elsewhere)] if paper and elsewhere else []
        rows.append(tuple(row))
    if from_paper:
        has_error = any("±" in paper for paper in from_paper)
        notes.append(f"In brackets: the paper's number{', and the ± that it prints' if has_error else ''}.")
    suffix = f"_{relation}_{display.baseline}" if display.baseline else ""
    heading = metric.label if display.baseline is not None else text.heading(metric)
    if display.difference and (unit := text.unit_of_differences(metric)):
        heading = f"{metric.label} ({unit})"
    first = Column(heading, "data", numeric=False)
    columns = [Column(results.label(name), f"{name}{suffix}_{metric.name}") for name in names]
    blocks = [("", rows)]
    if metric.varies and display.baseline is None:
        notes += setups_told((results, dataset) for dataset in datasets)
    return Table(
        results.file_name(display.name),
        display.caption,
        (first, *columns),
        blocks,
        notes=[*dict.fromkeys(notes), *explained(blocks), *repeats_told(results, product(datasets, names))],
    )


def _entry(display, results, metric, dataset, name, paper):
    cell, show = results.cell(dataset, name), _shown(display, metric)
    values = cell.values(metric)
    if display.baseline is not None:
        pairs = paired_values(metric, cell, results.cell(dataset, display.baseline))
        values = finite_values(_related(display, *pair) for pair in pairs)
    if display.difference:
        ends = mean_interval(values)
        entry = mean_entry(cell, *mean_and_error(values), lambda mean, _: show(mean, ends), paper)
    else:
        entry = mean_entry(cell, *mean_and_error(values), show, paper)
    return counted(entry, cell, values)


def _shown(display, metric):
    """How a value and its standard error, or a difference and the ends of its interval, are printed."""
    if display.baseline is None:
        return lambda *found: text.scaled(metric, *found)
    if display.difference:
        return lambda difference, ends=None: text.signed_interval(metric, difference, ends)
    return text.times


def _related(display, value, base):
    """A value relative to the baseline's; None if that is zero and a ratio is needed."""
    if display.difference:
        return value - base
    return value / base if base else None


def _paper(display, results, metric, dataset, name):
    """The paper's number as printed, relative to the baseline's like ours, and its origin."""
    entry, elsewhere = results.paper(dataset, name, metric.name)
    if entry is None:
        return "", None
    if display.baseline is not None:
        base, _ = results.paper(dataset, display.baseline, metric.name)
        value = None if base is None else _related(display, entry.value, base.value)
        shown = "" if value is None else _shown(display, metric)(value)
    elif entry.error is None:
        shown = text.printed(metric, entry.value)
    else:
        shown = text.scaled(metric, entry.value, entry.error)
    return f"{shown}{'†' if shown and elsewhere else ''}", elsewhere
