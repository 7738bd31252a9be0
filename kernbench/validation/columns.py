"""Columns of Arrow tables, as Parquet, Arrow and Feather files hold them."""

from collections import Counter


def data_columns(schema, label, what):
    """Return the names of the columns, without those of the index of a data frame unless it is the `label`.

    Parameters
    ----------
    schema : pyarrow.Schema
    label : str, int or None
        The column of labels; one that is named may belong to the index.
    what : str or Path
        Names the file.

    Raises
    ------
    ValueError
        If a name occurs more than once: columns are read by their names.
    """
    index = _index_columns(schema)
    names = [name for name in schema.names if name == label or name not in index]
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"{what}: the column {name!r} occurs {count} times: give each column a name of its own")
    return names


def _index_columns(schema):
    """Return the names of the columns that hold an index, which pandas and Dask list in the metadata.

    pandas stores an index among the columns unless it is a range, which is listed as a dict; Dask stores any. Without
    metadata, or with damaged metadata, there is none.
    """
    try:
        index = schema.pandas_metadata["index_columns"]
    except (TypeError, KeyError, ValueError):
        return set()
    return {name for name in index if isinstance(name, str)} if isinstance(index, list) else set()


def check_numeric(schema, names, what):
    """Raise ValueError, which names the first such column, if one of `names` holds anything but numbers.

    Dates, times, decimals, text and categories are refused: there are several ways to make numbers of them.

    Parameters
    ----------
    schema : pyarrow.Schema
    names : list of str
    what : str or Path
        Names the file.
    """
    from pyarrow import types

    for name in names:
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise ValueError(f"{what}: the column {name!r} holds {kind}, not numbers: encode it first, or leave it out")


def label_values(column):
    """Return a column of labels as a NumPy array, see `decoded`."""
    return decoded(column).to_numpy(zero_copy_only=False)


def decoded(column):
    """Return a column of labels as one pyarrow.Array in which categories are their values.

    Parameters
    ----------
    column : pyarrow.Array or ChunkedArray
        Categories are stored as numbers, and a dictionary that may differ from part to part.
    """
    from pyarrow import types

    column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    return column.dictionary_decode() if types.is_dictionary(column.type) else column
