"""How a table is laid out, told from its first lines: delimiter, header, label column."""

import csv
import operator
from dataclasses import dataclass
from itertools import islice

from kernbench._names import unknown_name
from kernbench.datasets.errors import malformed, shown
from kernbench.datasets.packed import open_text

# In this order: a semicolon file may have decimal commas, a comma file may have blanks inside its fields.
DELIMITERS = ("\t", ";", "|", ",")
BLANKS = " "  # any run of blanks and tabs


@dataclass(frozen=True)
class Layout:
    """The layout of one table.

    Attributes
    ----------
    delimiter : str
        One character; a blank stands for any run of blanks.
    n_columns : int
    names : list of str or None
        The header's fields, None without a header.
    label : int or None
        Position of the label column from 0, None without labels.
    text_labels : bool
        The first example's label is no number.
    n_skipped : int
        Lines before the first example: empty ones and the header.
    """

    delimiter: str
    n_columns: int
    names: list | None
    label: int | None
    text_labels: bool
    n_skipped: int

    def column(self, position):
        """A column for a message: its number, counted from 1, and its name where it has one."""
        name = f" ({self.names[position]!r})" if self.names and position < len(self.names) else ""
        return f"{position + 1}{name}"


def look_at(path, label, delimiter, header):
    """Return the `Layout` of the table at `path`; the arguments are those of `read_csv`."""
    if delimiter is not None and not _is_delimiter(delimiter):
        raise ValueError(
            f"delimiter must be None or one character, no quote and no line end, got {delimiter!r}"
        )
    if header not in ("auto", True, False):
        raise ValueError(f"header must be 'auto', True or False, got {header!r}")
    with open_text(path) as file:
        lines = list(islice(((n, line) for n, line in enumerate(file) if line.strip()), 2))
    if not lines:
        raise malformed(path, "the file is empty; expected a table with one example a line")
    line, text = lines[0][0] + 1, lines[0][1]
    if "\0" in text:
        raise malformed(path, "a binary file; expected text", line=line, column=text.index("\0") + 1)
    delimiter = delimiter or _sniffed(text)
    first = split(text, delimiter)
    position = _label_position(path, label, first, header)
    if len(first) == (position is not None):
        raise malformed(
            path,
            f"found one column, {shown(text.strip())}; expected features beside the label"
            " (if the delimiter is an unusual one, say delimiter=…)",
            line=line,
        )
    features = [field for i, field in enumerate(first) if i != position]
    named = header if header != "auto" else isinstance(label, str) or _are_names(features)
    if named and len(lines) == 1:
        raise malformed(path, "found no example, only a header", line=line)
    example = split(lines[-1][1], delimiter) if named else first
    return Layout(
        delimiter=delimiter,
        n_columns=len(first),
        names=first if named else None,
        label=position,
        text_labels=position is not None and position < len(example) and not is_number(example[position]),
        n_skipped=lines[1][0] if named else lines[0][0],
    )


def _is_delimiter(text):
    return isinstance(text, str) and len(text) == 1 and text not in '"\r\n'


def _are_names(fields):
    return any(fields) and not any(map(is_number, fields))


def _sniffed(line):
    unquoted = "".join(line.split('"')[::2])
    return next((delimiter for delimiter in DELIMITERS if delimiter in unquoted), BLANKS)


def _label_position(path, label, first, header):
    if label is None:
        return None
    if isinstance(label, str):
        if label in first and header is not False:
            return first.index(label)
        raise ValueError(f"{path}: " + unknown_name("column", label, first))
    try:
        position = operator.index(label)
    except TypeError:
        raise ValueError(f"label must be a column's position or name, or None, got {label!r}") from None
    if not -len(first) <= position < len(first):
        raise ValueError(f"{path}: there is no column {position}; the first line has {len(first)} columns")
    return position % len(first)


def split(line, delimiter):
    """The fields of one line, without quotes and surrounding blanks."""
    if delimiter == BLANKS:
        return line.split()
    return [field.strip() for field in next(csv.reader([line], delimiter=delimiter))]


def is_number(field):
    """Whether NumPy's text parser takes `field` for a number; NaN and infinity are numbers here."""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field  # Python reads 1_000, NumPy does not
