"""Tables separated by commas, semicolons, tabs, bars or blanks: one example per line, one column of labels."""

from pathlib import Path
from typing import Any

import numpy as np

from kernbench.datasets.errors import DataFileError, malformed
from kernbench.datasets.readers.compressed import open_text
from kernbench.datasets.readers.conventions import exact_labels
from kernbench.datasets.readers.delimited_faults import raise_first_fault
from kernbench.datasets.readers.delimited_layout import (
    BLANKS,
    OPEN_QUOTE,
    detect_layout,
    has_open_quote,
    is_number,
    split,
)


def read_csv(
    path: str | Path, *, label: int | str | None = -1, delimiter: str | None = None, header: Any = "auto"
) -> tuple[np.ndarray, np.ndarray | Any]:
    """Read a table of numbers with a label column, plain or compressed with gzip, bzip2 or xz.

    Parameters
    ----------
    path : str or Path
        UTF-8 text, one example a line; lines of white space are skipped. Fields may be quoted with ``"``, unless
        blanks separate them; a quoted field ends on its line. White space around a field is not part of it.
    label : int, str or None, default=-1
        The label column, by position (from 0, negative from the end) or by its name in the header. None: the
        table has no labels.
    delimiter : str, optional
        One character; ``" "`` stands for any run of blanks and tabs. By default the first of tab, ``;``, ``|`` and
        ``,`` that occurs in the first line outside quotes, else blanks.
    header : {"auto", True, False}, default="auto"
        Whether the first line names the columns. ``"auto"``: it does if `label` is a name; or if, the label column
        aside, none of its fields is a number, or all of them are quoted and none of the second line.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        All columns but the label, in the file's order.
    y : ndarray of shape (n_samples,) or None
        int64 if all labels are integers of 64 bits, or other whole numbers below 2^53; strings if they are text; else
        float64, which rounds larger numbers.

    Raises
    ------
    DataFileError
        A ValueError naming file, line and column of the first fault: an empty field, text in a column of
        numbers (categories have to be encoded first), NaN or infinity, a line with more or fewer fields than
        the first, numbers and text mixed in the label column, integers that are the same number in float64 among
        labels that need it, an empty or truncated file.
    ValueError
        If there is no such column, or several have the name.

    Notes
    -----
    Where files are well-formed the numbers are those of ``pandas.read_csv``. The differences: a first line of unquoted
    numbers is an example, not a header; missing values are refused, and only an empty field is one (``NA`` is a label
    like any other); so are booleans, categories and other text among the features. In place of a line end in a quoted
    field, and of a quote that is never closed, pandas reads on.
    """
    layout = detect_layout(path, label, delimiter, header)
    return parse_lines(_lines_of(path, layout), path, layout, again=lambda: _lines_of(path, layout))


def _lines_of(path, layout):
    """Yield the lines of a file below its header."""
    with open_text(path) as file:
        for _ in range(layout.n_skipped):
            next(file)
        yield from file


def parse_lines(lines, path, layout, again=None):
    """Read lines of the table at `path`, all or some of them.

    Parameters
    ----------
    lines : iterable of str
    path : str or Path
    layout : Layout
    again : callable, optional
        Returns the lines once more, for labels beyond 2^53; without it `lines` is a list.

    Returns
    -------
    X, y
        As `read_csv`.
    """
    table, fault, codes = None, None, {}  # labels that are text, each with its number
    try:
        table = np.loadtxt(
            _examples(lines, layout),
            delimiter=None if layout.delimiter == BLANKS else layout.delimiter,
            comments=None,
            quotechar=None if layout.delimiter == BLANKS else '"',
            ndmin=2,
            encoding=None,
            converters=_label_converter(layout, codes),
        )
    except DataFileError:
        raise  # damaged compression or wrong encoding: the message is complete
    except ValueError as error:
        fault = error
    # The parser is fast, but accepts NaN and empty labels and does not name the column: on failure a slow second
    # pass finds the fault.
    if fault is not None or not _is_sound(table, codes, layout):
        raise_first_fault(path, layout)
        raise malformed(path, f"not readable as a table separated by {layout.delimiter!r} ({fault})")
    if layout.label is None:
        return table, None
    y = table[:, layout.label]
    X = np.delete(table, layout.label, axis=1)
    if layout.text_labels:
        return X, np.array(list(codes))[y.astype(np.intp)]

    def fields():
        rows = _examples(lines if again is None else again(), layout)
        return [split(line, layout.delimiter)[layout.label] for line in rows]

    return X, exact_labels(y, fields, path)


def _examples(lines, layout):
    """Yield the lines that hold examples; raise ValueError for an open quote, which NumPy closes at the end."""
    for line in lines:
        if '"' in line and has_open_quote(line, layout.delimiter):
            raise ValueError(OPEN_QUOTE)
        if not line.isspace():
            yield line


def _label_converter(layout, codes):
    if not layout.text_labels:
        return None
    return {layout.label: lambda field: codes.setdefault(field.strip(), len(codes))}


def _is_sound(table, codes, layout):
    if table.shape[1] != layout.n_columns or not np.isfinite(table).all():
        return False
    return not any(name == "" or is_number(name) for name in codes)
