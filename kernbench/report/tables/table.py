"""Tables, whose entries have a value and a text, and their forms as CSV and Markdown."""

import csv
import io
import re
from dataclasses import dataclass, field

from kernbench._names import printable
from kernbench.report.text import DASH

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # text that a spreadsheet would take for a formula begins with one of these

_INLINE = re.compile(r"[\\`*_\[\]<>|&~$]")  # what means something anywhere in a line of Markdown
# … and what does at its beginning: a number of a list, a heading, a bullet, a rule.
_BLOCK = re.compile(r"^(?:([0-9]{1,9})(?=[.)](?: |$))|(?=(?:#{1,6}|[-+])(?: |$)|[-=][-= ]*$))")


@dataclass(frozen=True)
class Entry:
    """One entry of a table.

    Attributes
    ----------
    text : str
        The printed text.
    value : object
        The value in the CSV: a number, a word, or None.
    error : float or None
        Standard error of `value`, a column of its own in the CSV.
    mark : str
        ``"good"``, ``"bad"``, ``"code"`` or ``""``: how the page highlights it. The text must express it too, for
        readers who do not see colours.
    link : str
        Where the text leads on the page: ``"#anchor"``; empty for nowhere.
    """

    text: str
    value: object = None
    error: float | None = None
    mark: str = ""
    link: str = ""


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
    heading : str
        What the headings of blocks are, for the forms in which they are a column.
    """

    name: str
    caption: str
    columns: tuple
    blocks: list
    notes: list = field(default_factory=list)
    heading: str = "data"

    def to_csv(self):
        """The table as CSV text: full precision, and an additional column for each standard error."""
        headed, rows = self._flat()
        with_error = [any(row[i].error is not None for _, row in rows) for i in range(len(self.columns))]
        header = [self.heading] if headed else []
        for column, doubled in zip(self.columns, with_error):
            header += [column.csv_label] + ([f"{column.csv_label}_standard_error"] if doubled else [])
        lines = [header]
        for heading, row in rows:
            fields = [heading] if headed else []
            for entry, doubled in zip(row, with_error):
                fields += [entry.value] + ([entry.error] if doubled else [])
            lines.append(fields)
        return csv_text(lines)

    def to_markdown(self, folder=None):
        """The table in Markdown; blocks become a first column.

        Entries that lead to an anchor of the page lead to the file of this name in `folder`; without, nowhere.
        """
        headed, rows = self._flat()
        labels = ([self.heading] if headed else []) + [column.label for column in self.columns]
        rules = (["---"] if headed else []) + ["---:" if column.numeric else "---" for column in self.columns]
        fields = [
            ([markdown_text(heading)] if headed else []) + [_markdown_entry(entry, folder) for entry in row]
            for heading, row in rows
        ]
        return "\n".join(_piped([list(map(markdown_text, labels)), rules, *fields]))

    def _flat(self):
        """Whether blocks have headings, and a list of (heading, row)."""
        headed = any(heading for heading, _ in self.blocks)
        return headed, [(heading, row) for heading, rows in self.blocks for row in rows]


def _field(value):
    """A field of a CSV: a number, or text that a spreadsheet does not interpret as a formula."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(float(value))  # NumPy's own numbers print their type
    text = str(value)
    return f"'{text}" if text.startswith(FORMULA) and not _is_number(text) else text


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def markdown_text(text):
    """Any text as Markdown that shows it, on one line: in a cell, after a marker, or at the beginning of a line."""
    text = printable(" ".join(str(text).split()))
    return _BLOCK.sub(r"\1\\", _INLINE.sub(r"\\\g<0>", text))


def markdown_rows(labels, rules, rows):
    """The lines of a table in Markdown; labels and fields are any text."""
    return _piped([list(map(markdown_text, labels)), rules, *(map(markdown_text, fields) for fields in rows)])


def _piped(rows):
    return ["| " + " | ".join(fields) + " |" for fields in rows]


def _markdown_entry(entry, folder):
    shown = markdown_text(entry.text)
    return f"[{shown}]({folder}/{entry.link.removeprefix('#')}.md)" if entry.link and folder else shown


def csv_text(rows):
    """Rows of numbers and text as CSV."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([_field(value) for value in row] for row in rows)
    return buffer.getvalue()
