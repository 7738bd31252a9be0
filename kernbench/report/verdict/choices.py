"""The table of all races: which method for which task, size, kind of data and budget, and what a
wrong choice costs."""

from dataclasses import dataclass

from kernbench.report import text
from kernbench.report.records.cells import column, outside_trace, paired
from kernbench.report.statistics import finite, finite_values, is_noisy, mean_and_error, median_or_none
from kernbench.report.tables.metric_table import NOISY, setups_told
from kernbench.report.tables.table import Column, Entry, Table, words
from kernbench.report.verdict.advice import against_each, excess_of, margins_told

HURRY = 0.1  # of the usual choice's time: the small budget


@dataclass
class Choice:
    """One method that is recommended for a task on some data sets.

    Attributes
    ----------
    task : str
    advices : list of Advice
    n_races : int
        All data sets of the task.
    """

    task: str
    advices: list
    n_races: int

    @property
    def spelled(self):
        """How to write it in code, without the arguments that only tune it."""
        return self.advices[0].spelled

    def data(self, key):
        """The finite numbers of the data sets at a place of their description."""
        return finite_values(advice.results.data(advice.dataset).get(key) for advice in self.advices)


def choices(verdicts):
    """The recommended methods of all tasks, those of one task by the number of their data sets.

    Returns
    -------
    list of Choice
    """
    found = []
    for verdict in verdicts:
        by_code = {}
        for advice in verdict.advices:
            by_code.setdefault(advice.spelled, []).append(advice)
        found += sorted(
            (Choice(verdict.task, advices, len(verdict.advices)) for advices in by_code.values()),
            key=lambda choice: -len(choice.advices),
        )
    return found


def choice_table(found):
    """The choices as a table, a block for each task; None without any."""
    if not found:
        return None
    columns = (
        Column("use", "method", numeric=False),
        Column("where it won", "data_sets", numeric=False),
        Column("training time", "seconds", numeric=False),
        Column("the usual choice", "times_as_long_as_usual", numeric=False),
        Column("a wrong choice costs up to", "cost_of_wrong_choice", numeric=False),
        Column(f"with {100 * HURRY:g} % of the usual time", "in_a_hurry", numeric=False),
        Column("records", "n_records"),
    )
    blocks = {}
    for choice in found:
        blocks.setdefault(text.capitalised(choice.task), []).append(_row(choice))
    notes = [
        "The fastest method whose accuracy is no worse than that of the usual choice, on each data set. Rows × columns "
        "are those of the training data; stand-ins are generated, not the data they are named after.",
        "A wrong choice: the slowest of the other methods that ended every fit, against the one to use, and the least "
        f"accurate, in the worst of these races. With {100 * HURRY:g} % of the usual time: the most accurate method "
        "after so much of the time of the usual choice (in how many of these races it is that method), and how "
        "accurate it is on one data set.",
        margins_told([advice for choice in found for advice in choice.advices]),
        *([NOISY] if any(row[2].text.endswith("noisy") for rows in blocks.values() for row in rows) else []),
        *setups_told((advice.results, advice.dataset) for choice in found for advice in choice.advices),
    ]
    return Table("choices", "Which method, over all races", columns, list(blocks.items()), notes, heading="task")


def _row(choice):
    n_records = sum(
        len(advice.results.cell(advice.dataset, name).records)
        for advice in choice.advices
        for name in advice.results.chosen_methods(advice.display, advice.dataset)
    )
    seconds, *others = (_seconds(choice), _where(choice), _usual(choice), _wrong(choice), _hurried(choice))
    where, usual, wrong, hurried = (words(text.unbroken(shown)) for shown in others)
    code = words(choice.spelled, mark="use")
    return (code, where, seconds, usual, wrong, hurried, Entry(f"{n_records:,}", n_records))


def _where(choice):
    kinds = {advice.results.kind(advice.dataset) for advice in choice.advices}
    generated = {"generated"} == kinds
    shapes = [_range(choice.data(key), text.count) for key in ("n_train", "n_features")]
    shape = f": {shapes[0]} × {shapes[1]}" if all(shapes) else ""
    kind = ", generated" if generated else (", some generated" if "generated" in kinds else "")
    n_own = len(choice.advices)
    count = f"{n_own} of {text.plural(choice.n_races, 'race')}"
    n_useless = sum(not advice.beats_zero for advice in choice.advices)
    weak = f", no better than a constant in {n_useless}" if n_useless else ""
    return f"{count}{weak}{shape}{kind}"


def _range(values, show):
    if not values:
        return ""
    return "–".join(dict.fromkeys(show(end(values)) for end in (min, max)))


def _seconds(choice):
    values = [advice.seconds for advice in choice.advices]
    noisy = any(
        is_noisy(advice.cell(advice.method).values(advice.results.experiment.metric(advice.display.time)))
        for advice in choice.advices
    )
    shown = " to ".join(dict.fromkeys(text.seconds(end(values)) for end in (min, max)))
    return Entry(text.unbroken(f"{shown}{', noisy' if noisy else ''}"), median_or_none(values))


def _usual(choice):
    """The time of each baseline over the method's."""
    if all(advice.method == advice.display.baseline for advice in choice.advices):
        return "is this one"
    return against_each(choice.advices, "{peer} takes {factor} × as long")


def _wrong(choice):
    """What the slowest and the least accurate of the methods cost, and which failed."""
    slow, bad = [], []
    for advice in choice.advices:
        others = [name for name in advice.times if name != advice.method]
        times = {name: ratio for name in others if (ratio := advice.times_as_long(name)) is not None}
        if times:
            name = max(times, key=times.get)
            once = ", one run" if len(advice.runs_with(name)) == 1 else ""
            slow.append((times[name], f"{advice.results.short_label(name)}{once}"))
        losses = {name: advice.loss(name) for name in others}
        if losses and max(losses.values()) > advice.display.margin:
            name = max(losses, key=losses.get)
            bad.append((losses[name], advice, advice.results.short_label(name)))
    parts = []
    if slow and max(slow)[0] > 1:
        ratio, name = max(slow)
        parts.append(f"{text.significant(ratio, 2)} × the time ({name})")
    if bad:
        loss, advice, name = max(bad, key=lambda entry: entry[0])
        parts.append(f"{text.amount(advice.metric, loss)} of {advice.metric.label} ({name})")
    failed = dict.fromkeys(advice.results.short_label(name) for advice in choice.advices for name in advice.failed)
    if failed:
        parts.append(f"some failed: {text.names(failed)}")
    return "; ".join(parts) or text.DASH


def _hurried(choice):
    """The best within the small budget, by data set."""
    wins = {}
    for advice in choice.advices:
        found = best_within(advice, HURRY)
        if found is not None:
            wins.setdefault(advice.results.short_label(found[0]), []).append((found[1], advice))
    if not wins:
        is_known = any(advice.has_baseline for advice in choice.advices)
        return "no method finished in time in every repeat" if is_known else text.DASH
    name, places = max(wins.items(), key=lambda item: len(item[1]))
    value, advice = places[0]
    shown = text.with_unit(advice.metric, value)
    where = f" ({len(places)} of {len(choice.advices)})" if len(choice.advices) > 1 else ""
    return f"{name}{where}, {advice.metric.label} {shown} on {advice.results.category_label('dataset', advice.dataset)}"


def best_within(advice, share):
    """The method with the best value of the metric that is there after a share of the baseline's time in the same run.

    Traced methods count as far as they have come; others, if they are done. Those with a time budget, which is another
    share, and those that fail now and then are no choice, nor is the zero model.

    Returns
    -------
    (str, float) or None
        Method and value, the mean over repeats; None if no method has a value so early. The best is that to which the
        fewest others are superior in the repeats of both.
    """
    results, metric = advice.results, advice.metric
    time, found = results.experiment.metric(advice.display.time), {}
    sign, usual = 1.0 if metric.direction == "lower" else -1.0, advice.cell(advice.display.baseline)
    for name in results.chosen_methods(advice.display, advice.dataset):
        cell = advice.cell(name)
        if name == advice.display.zero or results.has_budget(name) or cell.failed:
            continue
        runs = [(own, finite(time.of(base))) for own, base in paired(cell, usual)]
        values = {own["repeat"]: _value_at(own, metric, time, share * base) for own, base in runs if base is not None}
        if values and None not in values.values():
            found[name] = {repeat: sign * value for repeat, value in values.items()}
    if not found:
        return None
    means = {name: mean_and_error(values.values())[0] for name, values in found.items()}

    def rank(name):
        return sum(excess_of(found[name], values)[0] > 0 for values in found.values()), means[name]

    best = min(found, key=rank)
    return best, sign * means[best]


def _value_at(record, metric, time, seconds):
    taken = finite(time.of(record))
    if taken is not None and taken <= seconds:
        return finite(metric.of(record))
    clock, values = column(record, "seconds"), column(record, metric.name)
    if not len(clock) == len(values) > 1:
        return None
    left = seconds - outside_trace(record, taken)  # what set-up takes is spent before the trace begins
    early = [value for t, value in zip(clock, values) if t is not None and 0 < t <= left]
    return next((value for value in reversed(early) if value is not None), None)
