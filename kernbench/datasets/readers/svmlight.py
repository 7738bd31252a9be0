"""The svmlight / LIBSVM text format: ``label index:value index:value … # comment``, with indices from 1."""

import io
import re
from codecs import BOM_UTF8
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from kernbench._files import written_whole
from kernbench._typing import Rows
from kernbench.datasets.errors import DataFileError, EmptyFile, malformed, shown
from kernbench.datasets.readers.compressed import open_bytes
from kernbench.datasets.readers.conventions import MAX_INDEX, exact_labels, with_small_indices
from kernbench.validation.arrays import check_indices, without_duplicates
from kernbench.validation.numbers import check_number

_TOKEN = re.compile(rb"\S+")
_INDEX = re.compile(rb"[0-9]+")
WRITTEN = (np.int32, np.int64, np.float32, np.float64)  # what scikit-learn's dump_svmlight_file takes


def read_svmlight(path: str | Path, n_features: int | None = None) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Read a file in svmlight / LIBSVM format, plain or compressed with gzip, bzip2 or xz.

    Parameters
    ----------
    path : str or Path
    n_features : int, optional
        Number of columns. By default the largest index in the file; set it when a test file must have as many
        columns as its training file.

    Returns
    -------
    X : CSR matrix of shape (n_samples, n_features), float64 with 32-bit indices
    y : ndarray of shape (n_samples,)
        int64 if all labels are integers of 64 bits, or other whole numbers below 2^53; else float64, which rounds
        larger numbers.

    Raises
    ------
    DataFileError
        A ValueError naming file, line and column (counted in characters) of the first fault: a missing or
        non-numeric label; an index that is not a whole number, is 0, repeats, decreases or exceeds `n_features`;
        a value that is not finite; labels that are integers and the same number in float64, where that is needed; an
        empty or truncated file.
    """
    if n_features is not None:
        check_number("n_features", n_features, at_least=1, whole=True)
    with _opened(path) as file:
        X, y = parse_svmlight(file, path, n_features, again=lambda: _lines_of(path))
    check_is_not_empty(path, len(y), X.nnz, n_features)
    return with_small_indices(X), y


@contextmanager
def _opened(path):
    """Open a file as `open_bytes` does, after its byte order mark, which tables may have, too."""
    with open_bytes(path) as file:
        if file.read(len(BOM_UTF8)) != BOM_UTF8:
            file.seek(0)
        yield file


def _lines_of(path):
    with _opened(path) as file:
        yield from file


def svmlight_chunks(path, rows, n_features):
    """Read a file as `read_svmlight` does, `rows` lines at a time.

    Yields
    ------
    X, y
        As of `read_svmlight`; `y` is integral where that of the whole file may not be.
    """
    n_samples = 0
    for X, y in _parsed(path, rows, n_features):
        n_samples += len(y)
        yield with_small_indices(X), y
    check_is_not_empty(path, n_samples, 0, n_features)


def count_columns(path, rows):
    """Return the largest index in a file, which is read `rows` lines at a time."""
    n_samples = n_stored = n_columns = 0
    for X, y in _parsed(path, rows, None):
        n_samples, n_stored, n_columns = n_samples + len(y), n_stored + X.nnz, max(n_columns, X.shape[1])
    check_is_not_empty(path, n_samples, n_stored, None)
    return n_columns


def _parsed(path, rows, n_features):
    with _opened(path) as file:
        while lines := list(islice(file, rows)):
            X, y = parse_svmlight(io.BytesIO(b"".join(lines)), path, n_features, again=lines.__iter__)
            if len(y):
                yield X, y


def parse_svmlight(file, path, n_features=None, *, again):
    """Read lines of the file at `path`, all or some of them, from an open file; return X and labels.

    `again` returns the lines once more, for labels beyond 2^53. There may be no rows; without `n_features`, X has
    as many columns as the largest index among these lines, or one.
    """
    from sklearn.datasets import load_svmlight_file  # slow to import; most data sets need none of it

    fault = None
    try:
        X, y = load_svmlight_file(_Lines(file), n_features=n_features, zero_based=False)
    except DataFileError:
        raise  # damaged compression: the message is complete
    except (ValueError, OverflowError) as error:
        fault = error
    # The parser is fast, but accepts NaN and reports no line numbers: on failure a slow second pass finds the fault.
    if fault is not None or not _is_sound(X, y):
        _raise_first_fault(path, n_features)
        raise malformed(path, f"not readable as svmlight / LIBSVM text ({fault})")
    return X, exact_labels(y, lambda: _label_fields(again()), path)


class _Lines:
    """The lines of an open file for scikit-learn's parser, which asks for `read` but iterates.

    Iteration raises ValueError for an underscore in a label, an index or a value: the parser reads 1_0 as 10.
    """

    def __init__(self, file):
        self._file, self.read = file, file.read

    def __iter__(self):
        for line in self._file:
            if b"_" in line:
                tokens = line.split(b"#", 1)[0].split()
                if len(tokens) > 1 and tokens[1].startswith(b"qid"):  # the parser skips it there only
                    del tokens[1]
                if any(b"_" in token for token in tokens):
                    raise ValueError("an underscore in a number")
            yield line


def _label_fields(lines):
    contents = (line.split(b"#", 1)[0].split(None, 1) for line in lines)
    return [fields[0].decode() for fields in contents if fields]


def check_is_not_empty(path, n_samples, n_stored, n_features):
    """Raise `DataFileError` for a file without rows, or without features where `n_features` does not say how many."""
    if n_samples == 0:
        expected = "expected lines of the form 'label index:value …'"
        raise malformed(path, f"the file holds no examples; {expected}", kind=EmptyFile)
    if n_features is None and n_stored == 0:
        raise malformed(path, "the file holds labels but no features; expected 'label index:value …'")


def write_svmlight(path: str | Path, X: Rows, y: ArrayLike) -> None:
    """Write examples in svmlight / LIBSVM format, indices from 1, 16 significant digits.

    Parameters
    ----------
    path : str or Path
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Of any type of real numbers.
    y : array-like of shape (n_samples,)
        Numbers.

    Notes
    -----
    Entries of a sparse matrix at the same place are added up.
    """
    from sklearn.datasets import dump_svmlight_file  # slow to import; most data sets need none of it

    check_indices(X)
    X = without_duplicates(sparse.csr_matrix(X)) if sparse.issparse(X) else np.asarray(X)
    if X.dtype.kind in "biuf" and X.dtype not in WRITTEN:
        X = X.astype(np.float64)
    with written_whole(path, "wb") as file:
        dump_svmlight_file(X, y, file, zero_based=False)


def _is_sound(X, y):
    return X.shape[1] <= MAX_INDEX and np.isfinite(X.data).all() and np.isfinite(y).all()


def _raise_first_fault(path, n_features):
    limit = MAX_INDEX if n_features is None else n_features
    with _opened(path) as file:
        for number, line in enumerate(file, 1):
            tokens = [(m.start() + 1, m.group()) for m in _TOKEN.finditer(line.split(b"#", 1)[0])]
            if not tokens:
                continue
            problem = _label_problem(tokens[0][1])
            if problem:
                raise malformed(path, problem, line=number, column=tokens[0][0])
            previous = 0
            for place, (column, token) in enumerate(tokens[1:]):
                if place == 0 and token.startswith(b"qid"):  # the parser skips it there only
                    continue
                problem = _feature_problem(token, previous, limit)
                if problem:
                    raise malformed(path, problem, line=number, column=column)
                previous = int(token.split(b":", 1)[0])


def _label_problem(token):
    if b":" in token:
        return f"the label is missing: found {shown(token)} where the line should start with a number"
    return _number_problem(token, "the label", token)


def _feature_problem(token, previous, limit):
    index, colon, value = token.partition(b":")
    if not colon:
        return f"found {shown(token)}, expected 'index:value'"
    if not _INDEX.fullmatch(index):
        return f"found {shown(token)}: the index {shown(index)} is not a whole number from 1 up"
    if len(index) > 18 or int(index) > limit:
        return f"found {shown(token)}: the index is above the limit, {limit} features"
    if int(index) == 0:
        return (
            f"found {shown(token)}: indices count from 1; in a file that counts from 0 add 1 to each, as "
            "scikit-learn's dump_svmlight_file does with zero_based=False"
        )
    if int(index) == previous:
        return f"found {shown(token)}: index {previous} occurs twice on this line"
    if int(index) < previous:
        return f"found {shown(token)} after index {previous}: indices must increase along a line"
    return _number_problem(value, "the value", token)


def _number_problem(token, what, whole):
    try:
        number = float(token)
    except ValueError:
        number = None
    if number is None or b"_" in token:  # Python takes 1_000 for a number
        return f"found {shown(whole)}: {what} {shown(token)} is not a number"
    if not np.isfinite(number):
        return f"found {shown(whole)}: {what} must be finite; remove or impute such values first"
    return None
