"""Text files, one row a line, read by byte ranges."""

import io

import numpy as np

from kernbench.datasets.readers.conventions import integers_if_whole, with_small_indices
from kernbench.datasets.readers.svmlight import check_is_not_empty, parse_svmlight

STRIDE = 256  # lines from one known offset to the next
SCAN_BYTES = 8 << 20


class TextSource:
    """Base: an index of the bytes where every `STRIDE`-th row begins. A subclass parses stretches of lines.

    One pass over the file makes the index and reads the labels.
    """

    in_memory, is_slow, names = False, True, None
    dtype = np.dtype(np.float64)

    def __init__(self, path, label=None):
        self.title, self._path, self._label = str(path), path, label
        self.n_rows, offsets, labels = 0, [], []
        with open(path, "rb") as file:
            self._skip_header(file)
            while True:
                begin = file.tell()
                lines = file.readlines(SCAN_BYTES)
                if not lines:
                    break
                lengths = np.fromiter(map(len, lines), dtype=np.int64, count=len(lines))
                starts = begin + np.concatenate([[0], np.cumsum(lengths)[:-1]])
                starts = starts[[self._is_row(line) for line in lines]]
                labels.append(self._survey(b"".join(lines)))
                offsets.append(starts[(-self.n_rows) % STRIDE :: STRIDE])
                self.n_rows += len(starts)
            offsets.append([file.tell()])
        self._offsets = np.concatenate(offsets)
        kept = [part for part in labels if part is not None]
        self._labels = integers_if_whole(np.concatenate(kept)) if kept else None

    def _text(self, start, stop):
        """Return the lines that hold rows start to stop - 1, and how many rows are before them."""
        first, last = start // STRIDE, -(-stop // STRIDE)
        with open(self._path, "rb") as file:
            file.seek(self._offsets[first])
            return file.read(
                int(self._offsets[min(last, len(self._offsets) - 1)] - self._offsets[first])
            ), start % STRIDE

    def labels(self):
        """Return the labels, None without them."""
        return self._labels

    def _skip_header(self, file):
        pass


class SvmlightSource(TextSource):
    """Sparse rows ``label index:value …``, indices from 1."""

    is_sparse = True

    def __init__(self, path, label=None):
        self.n_columns = self.n_stored = 0
        super().__init__(path, label)
        check_is_not_empty(path, self.n_rows, self.n_stored, None)

    def read(self, start, stop):
        """Return rows start to stop - 1."""
        text, skip = self._text(start, stop)
        X, _ = self._parse(text, self.n_columns)
        return with_small_indices(X[skip : skip + stop - start])

    def _survey(self, text):
        X, y = self._parse(text, None)
        self.n_columns, self.n_stored = max(self.n_columns, X.shape[1]), self.n_stored + X.nnz
        return y

    def _parse(self, text, n_columns):
        return parse_svmlight(io.BytesIO(text), self._path, n_columns)

    @staticmethod
    def _is_row(line):
        return bool(line.split(b"#", 1)[0].strip())


class CsvSource(TextSource):
    """Numbers with commas between them; a first line that holds other text names the columns."""

    is_sparse = False

    def read_into(self, start, out):
        """Fill `out` with the rows from `start` on."""
        text, skip = self._text(start, start + len(out))
        out[:] = np.delete(self._parse(text)[skip : skip + len(out)], self._dropped, axis=1)

    def _skip_header(self, file):
        fields = [field.strip().strip('"') for field in file.readline().decode("utf-8-sig").strip().split(",")]
        names = None if all(map(_is_number, fields)) else fields
        if names is None:
            file.seek(0)
        self._dropped = [] if self._label is None else [_place_of(self._label, names, fields, self.title)]
        self.n_columns = len(fields) - len(self._dropped)
        if names is not None:
            self.names = np.array([name for k, name in enumerate(names) if k not in self._dropped], dtype=object)

    def _survey(self, text):
        rows = self._parse(text)
        return rows[:, self._dropped[0]] if self._dropped else None

    def _parse(self, text):
        try:
            rows = np.loadtxt(io.BytesIO(text), delimiter=",", ndmin=2, comments=None)
        except ValueError as error:
            raise ValueError(
                f"{self.title} is not a table of numbers ({error}): encode text as numbers first"
            ) from None
        if rows.shape[1] != self.n_columns + len(self._dropped):
            raise ValueError(f"{self.title} has lines of {rows.shape[1]} values after one of "
                             f"{self.n_columns + len(self._dropped)}")  # fmt: skip
        return rows

    @staticmethod
    def _is_row(line):
        return bool(line.strip())


def _is_number(field):
    try:
        float(field)
    except ValueError:
        return False
    return True


def _place_of(label, names, fields, title):
    if isinstance(label, str):
        if names is None or label not in names:
            raise ValueError(f"{title} has no column {label!r} for the labels: its columns are {names}")
        return names.index(label)
    if not -len(fields) <= label < len(fields):
        raise ValueError(f"{title} has no column {label} for the labels: it has {len(fields)} columns")
    return label % len(fields)
