"""Text files, one row a line, read by byte ranges."""

import io
from codecs import BOM_UTF8

import numpy as np
from scipy import sparse

from kernbench.datasets.errors import malformed
from kernbench.datasets.readers.compressed import compression_of
from kernbench.datasets.readers.conventions import integers_if_whole, with_small_indices
from kernbench.datasets.readers.delimited import parse_lines
from kernbench.datasets.readers.delimited_layout import detect_layout
from kernbench.datasets.readers.svmlight import check_is_not_empty, parse_svmlight

STRIDE = 256  # lines from one known offset to the next
SCAN_BYTES = 8 << 20
CARRIAGE_RETURN = (
    "some lines end in a carriage return alone; parts of a file are found by line feeds: convert the line ends"
)


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
            if (name := compression_of(file)) is not None:
                raise malformed(path, f"{name} data; parts of a file are found by bytes: unpack it first")
            self._skip_header(file)
            while True:
                begin = file.tell()
                lines = file.readlines(SCAN_BYTES)
                if not lines:
                    break
                lengths = np.fromiter(map(len, lines), dtype=np.int64, count=len(lines))
                starts = begin + np.concatenate([[0], np.cumsum(lengths)[:-1]])
                starts = starts[[self._is_row(line) for line in lines]]
                labels.append(self._scan(b"".join(lines)))
                offsets.append(starts[(-self.n_rows) % STRIDE :: STRIDE])
                self.n_rows += len(starts)
            offsets.append([file.tell()])
        self._offsets = np.concatenate(offsets)
        kept = [part for part in labels if part is not None]
        labels = np.concatenate(kept) if kept else None
        self._labels = labels if labels is None or labels.dtype.kind == "U" else integers_if_whole(labels)

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
        if file.read(len(BOM_UTF8)) != BOM_UTF8:
            file.seek(0)


class SvmlightSource(TextSource):
    """Sparse rows ``label index:value …``, indices from 1."""

    is_sparse = True

    def __init__(self, path, label=None):
        self.n_columns = self.n_stored = 0
        super().__init__(path, label)
        check_is_not_empty(path, self.n_rows, self.n_stored, self.n_columns)

    def check_has_columns(self):
        """Raise `DataFileError` if no row has an entry, and so no column: other files, or a fit, may know of some."""
        check_is_not_empty(self._path, self.n_rows, self.n_stored, self.n_columns or None)

    def read(self, start, stop):
        """Return rows start to stop - 1."""
        if not self.n_stored:  # there may be no column, which the parser refuses
            return sparse.csr_matrix((stop - start, self.n_columns))
        text, skip = self._text(start, stop)
        X, _ = self._parse(text, self.n_columns)
        return with_small_indices(X[skip : skip + stop - start])

    def _scan(self, text):
        X, y = self._parse(text, None)
        if X.nnz:  # else the parser makes up one column
            self.n_columns, self.n_stored = max(self.n_columns, X.shape[1]), self.n_stored + X.nnz
        return y

    def _parse(self, text, n_columns):
        return parse_svmlight(io.BytesIO(text), self._path, n_columns, again=lambda: io.BytesIO(text))

    @staticmethod
    def _is_row(line):
        return bool(line.split(b"#", 1)[0].strip())


class CsvSource(TextSource):
    """Tables of numbers as `read_csv` reads them: the delimiter and a header are found from the first two lines."""

    is_sparse = False

    def read_into(self, start, out):
        """Fill `out` with the rows from `start` on."""
        text, skip = self._text(start, start + len(out))
        X, _ = self._parse(text)
        out[:] = X[skip : skip + len(out)]

    def _skip_header(self, file):
        self._layout = detect_layout(self._path, self._label, None, "auto")
        super()._skip_header(file)
        for _ in range(self._layout.n_skipped):
            if b"\r" in file.readline().removesuffix(b"\n").removesuffix(b"\r"):
                raise malformed(self._path, CARRIAGE_RETURN)
        self.n_columns = self._layout.n_columns - (self._layout.label is not None)
        if self._layout.names is not None:
            features = [name for k, name in enumerate(self._layout.names) if k != self._layout.label]
            self.names = np.array(features, dtype=object)

    def _scan(self, text):
        n_rows = sum(map(self._is_row, text.split(b"\n")))
        if n_rows == 0:
            return None
        X, y = self._parse(text)
        if len(X) != n_rows:
            raise malformed(self._path, CARRIAGE_RETURN)
        return y

    def _parse(self, text):
        def lines():
            return io.TextIOWrapper(io.BytesIO(text), encoding="utf-8")

        return parse_lines(lines(), self._path, self._layout, again=lines)

    @staticmethod
    def _is_row(line):
        text = line.decode(errors="replace")
        return bool(text) and not text.isspace()
