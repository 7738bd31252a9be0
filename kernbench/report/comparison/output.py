"""A comparison as tables, as Markdown and as plain data."""

from dataclasses import asdict

from kernbench.report import text
from kernbench.report.comparison.comparing import BETTER, DATA, FEW, MACHINES, NOISY, SAME, UNDECIDED, VERDICTS, WORSE
from kernbench.report.tables.table import markdown_rows

HEADINGS = ("cell", "metric", "before", "after", "ratio", "interval of the difference", "p (Holm)", "verdict")
SHOWN = (WORSE, BETTER, UNDECIDED, NOISY)
_WORDS = {
    SAME: "no change",
    FEW: "not judged: fewer than five repeats, where counters alone are compared",
    UNDECIDED: "not decided: more than the tolerance, but among so many tests it takes more repeats",
    MACHINES: "not judged: times, memory and counters of two machines are not compared",
    DATA: "not judged: the data have changed under one name",
    NOISY: "not judged: quartiles a quarter of the median apart",
    WORSE: "worse",
    BETTER: "better",
}


def as_tables(outcome):
    """The comparison as tables.

    Returns
    -------
    list of (str, tuple of str, list of tuple of str)
        Title, headings and rows; first the environment, then what changed, then what one side only has, then counts.
    """
    tables = []
    if outcome.environment:
        names = outcome.first.name, outcome.second.name
        tables.append(("Differences of the environment", ("", *names), outcome.environment))
    changes = sorted(outcome.having(*SHOWN), key=lambda change: SHOWN.index(change.verdict))
    if changes:
        tables.append(("Changes", HEADINGS, [_row(change) for change in changes]))
    if outcome.alone:
        headings = ("only in", "experiment", "scale", "data set", "method")
        tables.append(("Cells of one side only", headings, outcome.alone))
    counts = [(_WORDS[verdict], str(len(outcome.having(verdict)))) for verdict in VERDICTS]
    tables.append(("Metrics of cells", ("", "number"), [row for row in counts if row[1] != "0"]))
    return tables


def _row(change):
    unit = f" {change.unit}" if change.unit else ""
    digits = 12 if change.exact else 4
    values = (f"{text.significant(value, digits)}{unit}" for value in (change.first, change.second))
    ratio = "" if change.ratio is None else text.significant(change.ratio)
    interval = p_value = ""
    if change.test is not None:  # the test's difference is first - second
        low, high = -change.test.high, -change.test.low
        interval = f"{text.significant(low)} to {text.significant(high)}{unit}"
        p_value = text.significant(change.p_value, 2)
    cell = f"{change.experiment} [{change.scale}] {change.dataset} / {change.method}"
    return (
        cell,
        f"{change.metric} ({change.clock} time)" if change.clock else change.metric,
        *values,
        ratio,
        interval,
        "exact" if change.exact else p_value,
        change.verdict,
    )


def as_markdown(outcome):
    """The same tables in Markdown, as text."""
    parts = []
    for title, headings, rows in as_tables(outcome):
        lines = markdown_rows(headings, ("---",) * len(headings), rows)
        parts.append("\n".join([f"### {title}", "", *lines]))
    return "\n\n".join(parts) + "\n"


def as_data(outcome):
    """The comparison as data for JSON: every change with its verdict."""
    changes = [asdict(change) | {"ratio": change.ratio} for change in outcome.changes]
    keys = ("side", "experiment", "scale", "dataset", "method")
    return {
        "first": outcome.first.name,
        "second": outcome.second.name,
        "environment": {name: [before, after] for name, before, after in outcome.environment},
        "changes": changes,
        "alone": [dict(zip(keys, cell)) for cell in outcome.alone],
        "counts": {verdict: len(outcome.having(verdict)) for verdict in VERDICTS},
        "notes": [*outcome.first.notes, *outcome.second.notes],
    }
