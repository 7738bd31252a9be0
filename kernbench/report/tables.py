"""A table: entries that hold a number and the way it is printed, and its three forms."""

import csv
import io
from dataclasses import dataclass, field

from kernbench.report.text import DASH


@dataclass(frozen=True)
class Entry:
    """One entry of a table.

    Attributes
    ----------
    text : str
        What people read.
    value : object
        What the CSV holds: a number, a word, or None.
    error : float or None
        Standard error of `value`, a column of its own in the CSV.
    mark : str
        ``"good"``, ``"bad"``, ``"code"`` or ``""``: how the page sets it off. The text must say it too, since
        not everybody sees colours.
    """

    text: str
    value: object = None
    error: float | None = None
    mark: str = ""


NOTHING = Entry(DASH)


def words(value, mark=""):
    """An entry that is text."""
    return Entry(str(value), str(value), mark=mark)


@dataclass(frozen=True)
class Column:
    """A column's heading, its heading in the CSV with the unit of the values there, and its alignment."""

    label: str
    csv_label: str
    numeric: bool = True


@dataclass
class Table:
    """Rows in blocks under a heading each.

    Attributes
    ----------
    name : str
        File name without its ending.
    caption : str
    columns : tuple of Column
        The first names the row.
    blocks : list of (str, list of tuple of Entry)
        Heading (a data set; empty for none) and rows.
    notes : list of str
    """

    name: str
    caption: str
    columns: tuple
    blocks: list
    notes: list = field(default_factory=list)
    block_label: str = "data"

    @property
    def n_rows(self):
        return sum(len(rows) for _, rows in self.blocks)

    def to_csv(self):
        """The table as CSV text: full precision, and a column more for each standard error."""
        with_error = [
            any(row[i].error is not None for _, rows in self.blocks for row in rows)
            for i in range(len(self.columns))
        ]
        headed = any(heading for heading, _ in self.blocks)
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        header = [self.block_label] if headed else []
        for column, doubled in zip(self.columns, with_error):
            header += [column.csv_label] + ([f"{column.csv_label}_standard_error"] if doubled else [])
        writer.writerow(header)
        for heading, rows in self.blocks:
            for row in rows:
                fields = [heading] if headed else []
                for entry, doubled in zip(row, with_error):
                    fields += [_field(entry.value)] + ([_field(entry.error)] if doubled else [])
                writer.writerow(fields)
        return buffer.getvalue()

    def to_markdown(self):
        """The table in Markdown; blocks become a first column."""
        headed = any(heading for heading, _ in self.blocks)
        labels = ([self.block_label] if headed else []) + [column.label for column in self.columns]
        rules = (["---"] if headed else []) + ["---:" if column.numeric else "---" for column in self.columns]
        lines = [_markdown_row(labels), _markdown_row(rules)]
        for heading, rows in self.blocks:
            for row in rows:
                lines.append(_markdown_row(([heading] if headed else []) + [entry.text for entry in row]))
        return "\n".join(lines)


def _field(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    text = str(value)
    # A spreadsheet runs a field that begins like a formula.
    return "'" + text if text[:1] in "=+-@\t\r" and not isinstance(value, int) else text


def markdown_text(text):
    """Text that Markdown prints as it is, on one line."""
    text = " ".join(str(text).split())
    for character in "\\`*_[]<>|":
        text = text.replace(character, "\\" + character)
    return text


def _markdown_row(fields):
    return (
        "| " + " | ".join(text if set(text) <= set("-:") else markdown_text(text) for text in fields) + " |"
    )


def csv_text(rows):
    """Rows of text as CSV."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([_field(value) for value in row] for row in rows)
    return buffer.getvalue()
