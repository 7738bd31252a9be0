"""Metric tables: a row for each method on each data set, a column for each quantity."""

from kernbench.experiments.declare import Quantity
from kernbench.report.tables.quantities import column_of, entry_of
from kernbench.report.tables.table import Column, Table, words

PLUS_MINUS = "±: standard error of the mean over repeats."


def metric_table(display, results):
    """A :class:`~kernbench.experiments.declare.MetricTable`; None without records.

    With one method, data sets are the rows; with several, each data set has a block of them.
    """
    quantities = [Quantity(metric) if isinstance(metric, str) else metric for metric in display.metrics]
    is_of_one_method = display.methods is not None and len(display.methods) == 1
    blocks = []
    for dataset in results.chosen_datasets(display):
        rows = []
        for name in results.chosen_methods(display, dataset):
            head = results.category_label("dataset", dataset) if is_of_one_method else results.label(name)
            entries = (entry_of(results, quantity, dataset, name) for quantity in quantities)
            rows.append((words(head), *entries))
        blocks.append((dataset, rows))
    if is_of_one_method:
        blocks = [("", [row for _, rows in blocks for row in rows])]
    if not any(rows for _, rows in blocks):
        return None
    first = "data" if is_of_one_method else "method"
    return Table(
        results.file_name(display.name),
        display.caption,
        (Column(first, first, numeric=False), *(column_of(results, quantity) for quantity in quantities)),
        [(dataset, rows) for dataset, rows in blocks if rows],
        notes=[*display.notes, *_stand_ins(results, quantities, blocks), *plus_minus(blocks)],
    )


def _stand_ins(results, quantities, blocks):
    """Notes on the data sets of the paper's numbers, if they are different."""
    asked = [quantity.metric for quantity in quantities if quantity.form == "paper"]
    pairs = ((dataset, name) for dataset, _ in blocks for name in results.methods(dataset))
    found = ((pair[0], results.paper(*pair, metric)[1]) for pair in pairs for metric in asked)
    return dict.fromkeys(stand_in(dataset, elsewhere) for dataset, elsewhere in found if elsewhere)


def stand_in(dataset, elsewhere):
    """The note on a paper's number for different data."""
    return f"† {dataset}: the paper's numbers are from {elsewhere}."


def plus_minus(blocks):
    """The meaning of ±, if it is used."""
    entries = (entry for _, rows in blocks for row in rows for entry in row)
    return [PLUS_MINUS] if any(entry.error is not None for entry in entries) else []
