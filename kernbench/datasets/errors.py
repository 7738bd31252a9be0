"""Exceptions about data, and the form of their messages."""

from contextlib import contextmanager


class DataFileError(ValueError):
    """A data file violates its format; the message names file, line and column."""


class EmptyFile(DataFileError):
    """A data file holds no examples."""


class ChecksumMismatch(DataFileError):
    """A file of a known data set has other content than the published one."""


class DatasetUnavailable(OSError):
    """A published data set is not on this computer and could not be downloaded."""


def malformed(path, problem, *, line=None, column=None, kind=DataFileError):
    """Return a `DataFileError` that locates the problem.

    Parameters
    ----------
    path : str or Path
    problem : str
        The fault: what was found and what was expected.
    line : int, optional
        Counted from 1.
    column : int or str, optional
        Counted from 1, or text such as ``"2 ('age')"``.
    kind : type, default=DataFileError
        The class of the error.
    """
    place = "" if line is None else f"line {line}"
    if column is not None:
        place += f"{', ' if place else ''}column {column}"
    return kind(f"{path}: {place}{': ' if place else ''}{problem}")


def shown(token, limit=40):
    """Quote a token of a file for a message: printable, at most `limit` characters."""
    if isinstance(token, bytes):
        token = token.decode("utf-8", "backslashreplace")
    return repr(token if len(token) <= limit else token[: limit - 1] + "…")


@contextmanager
def arrow_faults(path):
    """Turn what pyarrow raises for a damaged file into a `DataFileError`; errors of the disk pass."""
    from pyarrow import ArrowInvalid

    try:
        yield
    except ArrowInvalid as error:
        raise malformed(path, f"not readable as a Parquet, Arrow or Feather file ({error})") from None
    except OSError as error:
        if type(error) is not OSError or error.errno is not None:
            raise
        raise malformed(path, f"the data are damaged ({error})") from None
