"""The layout of a table from its first two lines: delimiter, header, label column."""

import csv
from dataclasses import dataclass
from itertools import islice

from kernbench._names import unknown_name
from kernbench.datasets.errors import EmptyFile, malformed, shown
from kernbench.datasets.readers.compressed import open_text
from kernbench.validation.numbers import is_integer

# Tried in this order: decimal commas may occur between semicolons, blanks between commas.
DELIMITERS = ("\t", ";", "|", ",")
BLANKS = " "  # any run of white space
OPEN_QUOTE = "the quote is not closed on its line"


@dataclass(frozen=True)
class Layout:
    """The layout of one table.

    Attributes
    ----------
    delimiter : str
        One character; a blank stands for any run of blanks and tabs.
    n_columns : int
    first : list of str
        The fields of the first line.
    names : list of str or None
        The same if it is a header; None without a header.
    label : int or None
        Position of the label column, from 0; None without labels.
    text_labels : bool
        Whether the first label is text.
    n_skipped : int
        Number of lines before the first example: blank lines and the header.
    """

    delimiter: str
    n_columns: int
    first: list
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
        raise ValueError(f"delimiter must be None or one character, not a quote or a line end, got {delimiter!r}")
    if header not in ("auto", True, False):
        raise ValueError(f"header must be 'auto', True or False, got {header!r}")
    with open_text(path) as file:
        lines = list(islice(((n, line) for n, line in enumerate(file) if line.strip()), 2))
    if not lines:
        raise malformed(path, "the file is empty; expected a table with one example per line", kind=EmptyFile)
    line, text = lines[0][0] + 1, lines[0][1]
    if "\0" in text:
        raise malformed(path, "a binary file; expected text", line=line, column=text.index("\0") + 1)
    delimiter = delimiter or _sniffed([text for _, text in lines], label)
    if has_open_quote(text, delimiter):
        raise malformed(path, OPEN_QUOTE, line=line)
    first = split(text, delimiter)
    position = _label_position(path, label, first, header)
    if len(first) == (position is not None):
        raise malformed(
            path,
            f"found one column, {shown(text.strip())}; expected features beside the label"
            " (set delimiter=… unless it is a tab, ';', '|', ',' or a blank)",
            line=line,
        )
    if header == "auto":
        named = isinstance(label, str) or _are_names(first, position) or _are_quoted_names(lines, delimiter, position)
    else:
        named = header
    if named and len(lines) == 1:
        raise malformed(path, "found a header but no examples", line=line, kind=EmptyFile)
    example = split(lines[-1][1], delimiter) if named else first
    return Layout(
        delimiter=delimiter,
        n_columns=len(first),
        first=first,
        names=first if named else None,
        label=position,
        text_labels=position is not None and position < len(example) and not is_number(example[position]),
        n_skipped=lines[1][0] if named else lines[0][0],
    )


def _is_delimiter(text):
    return isinstance(text, str) and len(text) == 1 and text not in '"\r\n'


def _are_names(first, label):
    """Whether no feature of the first line is a number."""
    features = _without(first, label)
    return any(features) and not any(map(is_number, features))


def _are_quoted_names(lines, delimiter, label):
    """Whether all features of the first line are quoted and none of the second, as R writes names and numbers."""
    if len(lines) < 2 or delimiter == BLANKS:
        return False
    first, second = (_without(line.split(delimiter), label) for _, line in lines)
    quoted = [field.lstrip().startswith('"') for field in (*first, *second)]
    return len(first) == len(second) and all(quoted[: len(first)]) and not any(quoted[len(first) :])


def _without(fields, position):
    return [field for i, field in enumerate(fields) if i != position]


def _sniffed(lines, label):
    """Return the delimiter of the first line; a comma for a table of one column, which has none."""
    first = lines[0].strip()
    unquoted = "".join(first.split('"')[::2])
    for delimiter in DELIMITERS:
        if delimiter in unquoted:
            return delimiter
    one_quoted = first.startswith('"') and not unquoted.strip()
    name_of_words = label is None and len(lines) == 2 and len(lines[1].split()) == 1
    return "," if one_quoted or (name_of_words and not is_number(first.split()[0])) else BLANKS


def _label_position(path, label, first, header):
    position = name_or_position(label)
    if position is None:
        return None
    if isinstance(position, str):
        if label in first and header is not False:
            if first.count(label) > 1:  # each might hold the labels, and the others would be features
                raise ValueError(f"{path}: column {label!r} occurs {first.count(label)} times: give its position")
            return first.index(label)
        raise ValueError(f"{path}: " + unknown_name("column", label, first))
    if not -len(first) <= position < len(first):
        raise ValueError(f"{path}: there is no column {position}; the first line has {len(first)} columns")
    return position % len(first)


def name_or_position(label):
    """Return the name of a label column, its position as an int, or None; raise ValueError for anything else."""
    if label is None or isinstance(label, str):
        return label
    if not is_integer(label):
        raise ValueError(f"label must be a column's position or name, or None, got {label!r}")
    return int(label)


def split(line, delimiter):
    """Split a line into its fields, without quotes and surrounding blanks."""
    if delimiter == BLANKS:
        return line.split()
    try:  # the csv module is needed for quotes only
        fields = next(csv.reader([line], delimiter=delimiter)) if '"' in line else line.split(delimiter)
    except csv.Error:  # a field above its limit of 128 KiB: the rest of a line with an open quote, see `has_open_quote`
        start = line.rindex('"')
        fields = [*line[:start].split(delimiter)[:-1], line[start + 1 :]]
    return [field.strip() for field in fields]


def has_open_quote(line, delimiter):
    """Whether a quoted field of the line continues on the next line, or to the end of the file."""
    if '"' not in line or delimiter == BLANKS:
        return False
    reader = csv.reader((line, "\n"), delimiter=delimiter)
    try:
        next(reader)
    except csv.Error:  # a field above the limit of 128 KiB
        return True
    return reader.line_num > 1


def is_number(field):
    """Return whether NumPy's text parser reads `field` as a number, which may be NaN or infinity."""
    try:
        float(field)
    except ValueError:
        return False
    # float() accepts 1_000 and digits of other scripts, NumPy's parser does not.
    return "_" not in field and field.strip().isascii()
