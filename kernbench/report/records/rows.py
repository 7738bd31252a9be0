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
    needed = [text for _, text in where]
    categories = [*categories, *(path for path, _ in where)]
    for record in records:
        names = ["" if path is None else place(record, path) for path in categories]
        values = [place(record, path) for path in numbers]
        columns = [column for column in names + values if isinstance(column, list)]
        if len({len(column) for column in columns}) > 1:
            continue  # columns of different tables: no rows
        for i in range(len(columns[0]) if columns else 1):
            row = tuple(finite(value[i] if isinstance(value, list) else value) for value in values)
            words = [_word(name[i] if isinstance(name, list) else name) for name in names]
            n_words = len(words) - len(needed)
            if None not in row and words[n_words:] == needed:
                yield tuple(words[:n_words]), row


def _word(value):
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
