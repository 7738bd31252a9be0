"""Metric tables: a row for each method on each data set, a column for each quantity."""

import re
from collections import Counter

from kernbench.experiments.declare import Quantity
from kernbench.report import text
from kernbench.report.tables.quantities import column_of, entry_of
from kernbench.report.tables.table import Column, Table, words

PLUS_MINUS = "±: standard error of the mean over repeats."
BRACKETS = "[ , ]: 95 % interval of the mean of the differences within repeats."
COUNTED = "(n of m): over n of m repeats; the others have no value here, or none to compare it with."
NOISY = "Noisy: the quartiles of the repeats are a quarter of the median apart, or more."
# What the form of a quantity makes of the repeats.
SUMMARIES = dict.fromkeys(("median", "speed", "reached", "excess"), "Medians") | {"largest": "Largest"}
MOST_NAMED = 4  # cells with another number of repeats that are named
MOST_DATASETS = 12  # with repeats from several set-ups that are named


def metric_table(display, results):
    """A :class:`~kernbench.experiments.declare.MetricTable`; None without records.

    With one method, data sets are the rows; with several, each data set has a block of them.
    """
    quantities = [Quantity(metric) if isinstance(metric, str) else metric for metric in display.metrics]
    is_of_one_method = len(display.methods or results.experiment.methods) == 1
    blocks, cells = [], []
    for dataset in results.chosen_datasets(display):
        rows = []
        for name in results.chosen_methods(display, dataset):
            cells.append((dataset, name))
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
        notes=[
            *display.notes,
            *_stand_ins(results, quantities, cells),
            *over_repeats(results, quantities, cells),
            *explained(blocks),
            *(setups_told((results, name) for name, _ in cells) if _has_times(results, quantities) else ()),
            *(() if any(quantity.form == "repeats" for quantity in quantities) else repeats_told(results, cells)),
        ],
    )


def _has_times(results, quantities):
    return any(results.experiment.metric(quantity.metric).varies for quantity in quantities)


def _stand_ins(results, quantities, cells):
    """Notes on the data sets of the paper's numbers, if they are different."""
    asked = [quantity.metric for quantity in quantities if quantity.form == "paper"]
    found = ((cell[0], results.paper(*cell, metric)[1]) for cell in cells for metric in asked)
    return dict.fromkeys(stand_in(dataset, elsewhere) for dataset, elsewhere in found if elsewhere)


def stand_in(dataset, elsewhere):
    """The note on a paper's number for different data."""
    return f"† {dataset}: the paper's numbers are from {elsewhere}."


def explained(blocks):
    """The meaning of ±, of brackets, of "noisy" and of numbers of repeats, where they are used."""
    texts = [entry.text for _, rows in blocks for row in rows for entry in row[1:]]
    notes = (("±", PLUS_MINUS), (r"\[", BRACKETS), (", noisy", NOISY), (r"\(\d+ of \d+\)$", COUNTED))
    return [note for sign, note in notes if any(re.search(sign, shown) for shown in texts)]


def over_repeats(results, quantities, cells):
    """Which columns are no means, where there are several repeats: the others have a standard error or an interval."""
    if all(len(results.cell(*cell).ok) < 2 for cell in cells):
        return []
    found = {}
    for quantity in quantities:
        if quantity.form in SUMMARIES:
            found.setdefault(SUMMARIES[quantity.form], []).append(column_of(results, quantity).label)
    return [f"{summary} over repeats: {text.names(dict.fromkeys(labels))}." for summary, labels in found.items()]


def setups_told(races):
    """On which data sets the repeats of a table with times are from several set-ups, or of how many.

    Many are counted if they are all, or if other tables name them: those of their experiments.

    Parameters
    ----------
    races : iterable of (Results, str)
        Experiments and their data sets; one may come again.

    Returns
    -------
    list of str
        One note, or none.
    """
    each = {(results.name, name): (results, name) for results, name in races}.values()
    counts = Counter(name for _, name in each)
    mixed = [
        results.category_label("dataset", name) + (f" of {results.experiment.name}" if counts[name] > 1 else "")
        for results, name in each
        if results.has_several_setups(name)
    ]
    if not mixed:
        return []
    places = text.listed(dict.fromkeys(mixed))
    if len(mixed) > MOST_DATASETS:
        if len(mixed) == len(each):
            places = f"all {len(mixed)} data sets"
        elif len({results.name for results, _ in each}) > 1:
            places = f"{len(mixed)} of {len(each)} data sets, which the tables of their experiments name,"
    return [
        f"Repeats on {places} are from several set-ups (processor, threads, BLAS or code): "
        "times are means or medians over all of them, ratios and differences are within a repeat on one."
    ]


def repeats_told(results, cells):
    """How many repeats succeeded: of most cells, and of the others, which are named if they are few.

    Parameters
    ----------
    results : Results
    cells : iterable of (str, str)
        Data sets and methods that a table shows.

    Returns
    -------
    list of str
        One note, or none without successful records.
    """
    by_number = {}
    for dataset, method in cells:
        number = len(results.cell(dataset, method).ok)
        if number:
            by_number.setdefault(number, []).append((dataset, method))
    if not by_number:
        return []
    is_of_one_method = len({method for own in by_number.values() for _, method in own}) == 1
    usual = max(by_number, key=lambda number: len(by_number[number]))
    n_usual = len(by_number[usual])
    some = "" if len(by_number) == 1 else f" in {n_usual} {'entry' if n_usual == 1 else 'entries'}"
    told = [f"{text.plural(usual, 'repeat')}{some}"]
    for number, own in sorted(by_number.items()):
        if number != usual and len(own) > MOST_NAMED:
            told.append(f"{number} in {len(own)} entries")
        elif number != usual and is_of_one_method:  # whose rows are the data sets
            told.append(f"{number} on {text.names([results.category_label('dataset', d) for d, _ in own])}")
        elif number != usual:
            named = (
                f"{text.names([results.label(method)])} on {results.category_label('dataset', d)}" for d, method in own
            )
            told.append(f"{number} of {text.listed(list(named))}")
    note = "; ".join(told)
    return [f"{note}: no interval." if list(by_number) == [1] else f"{note}."]
