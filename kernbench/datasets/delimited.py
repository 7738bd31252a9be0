"""Comma, semicolon, tab or blank separated tables: one example a line, one column the label."""

import numpy as np

from kernbench.datasets.conventions import integers_if_whole
from kernbench.datasets.delimited_faults import raise_first_fault
from kernbench.datasets.delimited_layout import BLANKS, is_number, look_at
from kernbench.datasets.errors import DataFileError, malformed
from kernbench.datasets.packed import open_text


def read_csv(path, *, label=-1, delimiter=None, header="auto"):
    """Read a table of numbers with a label column, plain or packed with gzip, bzip2 or xz.

    Parameters
    ----------
    path : str or Path
        UTF-8 text; fields may be quoted with ``"``, unless blanks separate them.
    label : int, str or None, default=-1
        The label column, by position (from 0, negative from the end) or by its name in the header. None: the
        table holds features only.
    delimiter : str, optional
        One character; ``" "`` stands for any run of blanks and tabs. By default the first of tab, ``;``,
        ``|`` and ``,`` that the first line holds, blanks otherwise.
    header : {"auto", True, False}, default="auto"
        Whether the first line names the columns. ``"auto"``: it does when it holds the name `label`, or when
        not one of its fields, the label column aside, is a number.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        All columns but the label, in the file's order.
    y : ndarray of shape (n_samples,) or None
        int64 when all labels are whole numbers, else float64; strings when they are text.

    Raises
    ------
    DataFileError
        A ValueError naming file, line and column of the first fault: an empty field, text in a column of
        numbers (categories have to be encoded first), NaN or infinity, a line with more or fewer fields than
        the first, numbers and text mixed in the label column, an empty or truncated file.
    ValueError
        If there is no column `label`.
    """
    layout = look_at(path, label, delimiter, header)
    codes, table, fault = {}, None, None
    try:
        with open_text(path) as file:
            for _ in range(layout.n_skipped):
                next(file)
            table = np.loadtxt(
                file,
                delimiter=None if layout.delimiter == BLANKS else layout.delimiter,
                comments=None,
                quotechar=None if layout.delimiter == BLANKS else '"',
                ndmin=2,
                encoding=None,
                converters=_label_converter(layout, codes),
            )
    except DataFileError:
        raise  # the packing or the encoding is at fault, and the message says so
    except ValueError as error:
        fault = error
    # NumPy's parser is fast, but counts lines its own way and takes NaN and empty names: what it refuses or
    # does not look at is followed up by a slow second reading.
    if fault is not None or not _is_sound(table, codes, layout):
        raise_first_fault(path, layout)
        raise malformed(path, f"not readable as a table separated by {layout.delimiter!r} ({fault})")
    if layout.label is None:
        return table, None
    y = table[:, layout.label]
    X = np.delete(table, layout.label, axis=1)
    return X, np.array(list(codes))[y.astype(np.intp)] if layout.text_labels else integers_if_whole(y)


def _label_converter(layout, codes):
    if not layout.text_labels:
        return None
    return {layout.label: lambda field: codes.setdefault(field.strip(), len(codes))}


def _is_sound(table, codes, layout):
    if table.shape[1] != layout.n_columns or not np.isfinite(table).all():
        return False
    return not any(name == "" or "\n" in name or is_number(name) for name in codes)
