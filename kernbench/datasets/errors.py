"""What can be wrong with data: the exceptions, and the one form of their sentences."""


class DataFileError(ValueError):
    """A data file does not hold what its format promises; the message names file, line and column."""


class ChecksumMismatch(DataFileError):
    """A file of a known data set holds other bytes than the published ones."""


class DatasetUnavailable(OSError):
    """A real data set is neither on this computer nor could it be downloaded."""


def malformed(path, problem, *, line=None, column=None):
    """Return a `DataFileError` that says where the problem is.

    Parameters
    ----------
    path : str or Path
    problem : str
        What was found and what was expected.
    line : int, optional
        Counted from 1.
    column : int or str, optional
        Counted from 1; a string is taken as it is, such as ``"2 ('age')"``.
    """
    place = "" if line is None else f"line {line}"
    if column is not None:
        place += f"{', ' if place else ''}column {column}"
    return DataFileError(f"{path}: {place}{': ' if place else ''}{problem}")


def shown(token, limit=40):
    """Quote a token of a file for a message: printable, and not longer than `limit` characters."""
    if isinstance(token, bytes):
        token = token.decode("utf-8", "backslashreplace")
    return repr(token if len(token) <= limit else token[: limit - 1] + "…")
