"""The table of the first screen: what the reader has, what to use for it, and how much faster that is."""

from kernbench.report import text
from kernbench.report.tables.table import Column, Entry, Table, words
from kernbench.report.verdict.advice import against_each, margins_told, most_chosen, remarks_on

MOST_ROWS = 6


def recommended(verdicts):
    """The verdicts of the first screen with the advices of their headline.

    The screen says how much faster a method is, first where that was measured in most races. Where the usual choice
    itself is recommended there is nothing to say, so such tasks come last, if there is room.

    Returns
    -------
    list of (Verdict, list of Advice)
    """
    found = [(verdict, most_chosen(verdict.advices)) for verdict in verdicts if verdict.advices]
    return sorted(found, key=lambda pair: (_is_usual(pair[1]), -len(pair[1])))[:MOST_ROWS]


def _is_usual(advices):
    """Whether the recommended method is the usual choice on all data sets."""
    return all(advice.method == advice.display.baseline for advice in advices)


def headline_table(verdicts, sections):
    """A row for each task, with a link to the first experiment of its races; None without recommendations.

    Parameters
    ----------
    verdicts : list of Verdict
    sections : list of Section
        Those of the page: links lead to them.
    """
    found = recommended(verdicts)
    if not found:
        return None
    columns = (
        Column("I have …", "task", numeric=False),
        Column("use", "method", numeric=False),
        Column("speed, at equal accuracy", "times_as_fast_as_usual", numeric=False),
        Column("measured in", "experiment", numeric=False),
    )
    anchors = {section.name for section in sections}
    rows = [_row(verdict, advices, anchors) for verdict, advices in found]
    return Table("headlines", "What to use", columns, [("", rows)], _notes([verdict for verdict, _ in found]))


def _notes(verdicts):
    """What a race and equal accuracy are, what readers should know of races, and how many were run once."""
    advices = [advice for verdict in verdicts for advice in verdict.advices]
    n_single = sum(advice.n_runs == 1 for advice in advices)
    notes = [
        "A race: all methods on one data set, in one experiment, which sets what only tunes them, such as C, steps or "
        "damping. “Use” leaves these settings out; the factors were measured with them.",
        margins_told(advices),
    ]
    if n_single:
        rest = "rests" if n_single == 1 else "rest"
        notes.append(
            f"{n_single} of these {text.plural(len(advices), 'race')} {rest} on one run of the usual choice, of the "
            "recommended method, or of both: nothing is known of the scatter there."
        )
    return [" ".join(notes), *remarks_on(advices)]


def _row(verdict, advices, anchors):
    results = advices[0].results
    link = f"#{results.name}" if results.name in anchors else ""
    return (
        words(next((advice.display.have for advice in advices if advice.display.have), verdict.task)),
        words(advices[0].spelled, mark="code"),
        words(_speed(advices, len(verdict.advices))),
        Entry(_measured_in(results.experiment, verdict.advices), results.experiment.name, link=link),
    )


def _measured_in(experiment, races):
    """The title of an experiment, and how many others have races of the same task."""
    n_others = len({advice.results.experiment.name for advice in races} - {experiment.name})
    return f"{experiment.title}; and {text.plural(n_others, 'other')}" if n_others else experiment.title


def _speed(advices, n_races):
    """How much faster than each usual choice that has a time, and in how many races the method is the one to use."""
    share = f"chosen in {len(advices)} of {text.plural(n_races, 'race')}"
    if _is_usual(advices):
        return f"is the usual choice; {share}"
    n_usual = sum(advice.method == advice.display.baseline for advice in advices)
    itself = f", in {n_usual} of them as the usual choice" if n_usual else ""
    return f"{against_each(advices, '{factor} × as fast as {peer}')}; {share}{itself}"
