"""The entries of a metric table: what a :class:`~kernbench.experiments.declare.Quantity` is on a data set."""

from dataclasses import replace

from kernbench.report import text
from kernbench.report.records.cells import column, paired, paired_values, relative_excess, speed
from kernbench.report.records.steps import seconds_until_final
from kernbench.report.statistics import finite, finite_values, is_noisy, mean_and_error, mean_interval, median_or_none
from kernbench.report.tables.table import NOTHING, Column, Entry, words

# The form of a quantity -> its heading and its heading in the CSV, if they are not the metric's own.
HEADINGS = {
    "paper": ("paper: {own}", "paper_{metric}"),
    "difference": ("difference", "{metric}_minus_{baseline}"),
    "speed": ("speed ({peer} = 1)", "speed_relative_to_{baseline}"),
    "reached": ("time to {peer}'s {label}", "seconds_to_{metric}_of_{baseline}"),
    "excess": ("{label} above the best here", "relative_excess_{metric}"),
    "repeats": ("repeats", "repeats"),
}


def column_of(results, quantity):
    """The heading of a quantity's column."""
    metric = results.experiment.metric(quantity.metric)
    own = metric.label if quantity.form in ("median", "largest", "all") else text.heading(metric)
    peer = "" if quantity.baseline is None else results.short_label(quantity.baseline)
    label, csv_label = HEADINGS.get(quantity.form, ("{own}", "{metric}"))
    names = {"metric": metric.name, "baseline": quantity.baseline, "label": metric.label, "own": own, "peer": peer}
    return Column(quantity.label or label.format(**names), csv_label.format(**names), numeric=quantity.form != "all")


def entry_of(results, quantity, dataset, method):
    """The entry of a method on a data set."""
    metric, cell = results.experiment.metric(quantity.metric), results.cell(dataset, method)
    base = None if quantity.baseline is None else results.cell(dataset, quantity.baseline)
    values = cell.values(metric)
    match quantity.form:
        case "mean":
            found = mean_entry(cell, *mean_and_error(values), lambda *found: text.scaled(metric, *found))
            return counted(_noted(found, metric, values), cell, values)
        case "median":
            found = _one(median_or_none(values), lambda value: text.fitting(metric, value, quantity.digits))
            return counted(_noted(found, metric, values), cell, values)
        case "largest":
            found = _one(max(values, default=None), lambda value: text.fitting(metric, value, quantity.digits))
            return counted(found, cell, values)
        case "all":
            return _all(values)
        case "repeats":
            n_ok, total = len(cell.ok), len(cell.records)
            return Entry(f"{n_ok} of {total}" if cell.failed else str(n_ok), n_ok)
        case "paper":
            return _paper(results, metric, dataset, method)
        case "difference":
            pairs = [] if method == quantity.baseline else paired_values(metric, cell, base)
            found = [own - other for own, other in pairs]
            mean, error = mean_and_error(found)
            shown = text.signed_interval(metric, mean, mean_interval(found))
            return NOTHING if mean is None else counted(Entry(shown, mean, error), cell, found)
        case "speed":
            ratio = None if method == quantity.baseline else speed(metric, cell, base)
            found = _one(ratio, lambda value: f"{text.significant(value, 2)} ×")
            return counted(found, cell, paired_values(metric, cell, base))
        case "reached":
            found = None if method == quantity.baseline else seconds_to(metric, cell, base, quantity.margin)
            return counted(_one(found, text.seconds), cell, _with_level(metric, cell, base))
        case "excess":
            return _excess(results, metric, dataset, cell)


def _one(value, show):
    return NOTHING if value is None else Entry(show(value), value)


def counted(entry, cell, values):
    """An entry, with the number of repeats that it is of where others succeeded, too, but have no such value."""
    if entry.value is None or not 0 < len(values) < len(cell.ok):
        return entry
    return replace(entry, text=f"{entry.text} ({len(values)} of {len(cell.ok)})")


def _noted(entry, metric, values):
    """An entry, with a word where a measured time or memory scatters too much."""
    if not metric.varies or not is_noisy(values):
        return entry
    return replace(entry, text=f"{entry.text}, noisy")


def mean_entry(cell, mean, error, show, paper=""):
    """Our mean, or the reason why there is none, and the paper's number in brackets."""
    paper = f" ({paper})" if paper else ""
    if mean is not None:
        return Entry(f"{show(mean, error)}{paper}", mean, error)
    if cell.failed:
        return words(f"{text.listed(cell.statuses)}{paper}", mark="bad")
    return Entry(f"{text.DASH}{paper}") if paper else NOTHING


def _all(values):
    if not values:
        return NOTHING
    if all(values):
        return words("yes", mark="good")
    return words(f"{sum(map(bool, values))} of {len(values)}" if any(values) else "no")


def _paper(results, metric, dataset, method):
    number, elsewhere = results.paper(dataset, method, metric.name)
    if number is None:
        return NOTHING
    shown = text.seconds(number.value) if metric.unit == "s" else text.printed(metric, number.value)
    return Entry(f"{shown}{'†' if elsewhere else ''}", number.value)


def _excess(results, metric, dataset, cell):
    """How far a method is above the best: above that other method which it is furthest above in the repeats of both."""
    cells = [results.cell(dataset, name) for name in results.methods(dataset)]
    medians = [found for other in cells if (found := other.median(metric)) is not None]
    if cell.median(metric) is None or not min(medians):  # nothing is relative to zero
        return NOTHING
    excess = max([0.0, *finite_values(relative_excess(metric, cell, other) for other in cells)])
    return Entry("best" if excess == 0 else f"{text.significant(100 * excess, 2)} %", excess)


def seconds_to(metric, cell, baseline, margin):
    """Seconds of a fit after which the trace of a metric stays within `margin` of the baseline's value, or is better.

    The value is that of the same repeat, which may have drawn its data anew.

    Returns
    -------
    float or None
        Median over the repeats of both. None if one of them did not reach it, or has no trace.
    """
    pairs = _with_level(metric, cell, baseline)
    columns = [[column(own, name) for name in ("seconds", metric.name)] for own, _ in pairs]
    if not all(1 < len(seconds) == len(values) for seconds, values in columns):
        return None
    found = [seconds_until_final(own, base, metric, margin) for own, base in pairs]
    return None if None in found else median_or_none(found)


def _with_level(metric, cell, baseline):
    """The pairs of records in which the baseline has a value to be reached."""
    return [(own, base) for own, base in paired(cell, baseline) if finite(metric.of(base)) is not None]
