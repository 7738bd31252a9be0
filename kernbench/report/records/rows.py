"""Records read as a table: a row for each record, or for each row of its trace, with the places a display
names."""

from kernbench.report.statistics import finite


def place(record, path):
    """The value of a record at a dotted place, ``"metrics.slope"``; None if it has no such place."""
    value = record
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def rows_of(records, categories, numbers, where=()):
    """Yield (categories, numbers) for every record, or for every row of its trace where a place is a column
    of it.

    Parameters
    ----------
    records : iterable of dict
    categories : sequence of str or None
        Places of the categories; None gives an empty text.
    numbers : sequence of str
        Places of numbers. Rows in which one of them is missing or not finite are left out.
    where : sequence of (str, str), optional
        Places and their required texts.

    Yields
    ------
    (tuple of str, tuple of float)
    """
    needed = tuple(text for _, text in where)
    n_words = len(categories)
    categories = [*categories, *(path for path, _ in where)]
    for record in records:
        names = ["" if path is None else place(record, path) for path in categories]
        values = [place(record, path) for path in numbers]
        columns = [column for column in names + values if isinstance(column, list)]
        if len({len(column) for column in columns}) > 1:
            continue  # columns of different tables: no rows
        n_rows = len(columns[0]) if columns else 1
        rows = zip(*(_column(value, n_rows, finite) for value in values))
        words = zip(*(_column(name, n_rows, _word) for name in names)) if names else [()] * n_rows
        for row, found in zip(rows, words):
            if None not in row and found[n_words:] == needed:
                yield found[:n_words], row


def _column(value, n_rows, convert):
    """A column of a trace converted, or one value for all rows."""
    return map(convert, value) if isinstance(value, list) else [convert(value)] * n_rows


def _word(value):
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
