"""The layout of a table from its first two lines: delimiter, header, label column."""

import csv
import operator
from dataclasses import dataclass
from itertools import islice

from kernbench._names import unknown_name
from kernbench.datasets.errors import malformed, shown
from kernbench.datasets.readers.compressed import open_text

# Tried in this order: decimal commas may occur between semicolons, blanks between commas.
DELIMITERS = ("\t", ";", "|", ",")
BLANKS = " "  # any run of blanks and tabs


@dataclass(frozen=True)
class Layout:
    """The layout of one table.

    Attributes
    ----------
    delimiter : str
        One character; a blank stands for any run of blanks and tabs.
    n_columns : int
    names : list of str or None
        The fields of the header; None without a header.
    label : int or None
        Position of the label column, from 0; None without labels.
    text_labels : bool
        Whether the first label is text.
    n_skipped : int
        Number of lines before the first example: blank lines and the header.
    """

    delimiter: str
    n_columns: int
    names: list | None
    label: int | None
    text_labels: bool
    n_skipped: int

    def column(self, position):
        """Describe a column for a message: its number from 1, and its name if there is a header."""
        name = f" ({self.names[position]!r})" if self.names and position < len(self.names) else ""
        return f"{position + 1}{name}"


def detect_layout(path, label, delimiter, header):
    """Return the `Layout` of the table at `path`; the arguments are those of `read_csv`."""
    if delimiter is not None and not _is_delimiter(delimiter):
        raise ValueError(
            f"delimiter must be None or one character, not a quote or a line end, got {delimiter!r}"
        )
    if header not in ("auto", True, False):
        raise ValueError(f"header must be 'auto', True or False, got {header!r}")
    with open_text(path) as file:
        lines = list(islice(((n, line) for n, line in enumerate(file) if line.strip()), 2))
    if not lines:
        raise malformed(path, "the file is empty; expected a table with one example per line")
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
            " (set delimiter=… unless it is a tab, ';', '|', ',' or a blank)",
            line=line,
        )
    features = [field for i, field in enumerate(first) if i != position]
    named = header if header != "auto" else isinstance(label, str) or _are_names(features)
    if named and len(lines) == 1:
        raise malformed(path, "found a header but no examples", line=line)
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
    """Split a line into its fields, without quotes and surrounding blanks."""
    if delimiter == BLANKS:
        return line.split()
    return [field.strip() for field in next(csv.reader([line], delimiter=delimiter))]


def is_number(field):
    """Return whether NumPy's text parser reads `field` as a number, which may be NaN or infinity."""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field  # float() accepts 1_000, NumPy's parser does not
