"""Mutated text files: tables are read as pandas reads them, and a file in chunks as the whole file."""

import csv
import io
import random
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from kernbench.datasets import DataFileError, chunks, read_csv, read_svmlight
from kernbench.datasets.readers.delimited_layout import OPEN_QUOTE, detect_layout, is_number
from kernbench.distributed.sources import open_sources

N_FILES = 250  # of each law
EXOTIC = re.compile("[\v\f\x1c\x85\u00a0\u2028]")  # white space to Python, a part of the field to pandas
NOISE = ['"', ",", ";", "\t", "|", "\n", "\r\n", " ", "-", "+", "e", ".", "_", "#", "0", "１", "x", "'", "nan", "inf",
         '""', "\n\n", "NA", "True", "\v", "\f", "\x1c", "\x85", "\u00a0", "\u2028", "\ufeff", ' "', '" ']  # fmt: skip


def mutated(rng, text, noise):
    """`text` with up to three characters inserted, removed, or stretches repeated."""
    for _ in range(rng.randint(0, 3)):
        start, kind = rng.randint(0, len(text)), rng.random()
        stop = min(len(text), start + rng.randint(1, 12))
        if kind < 0.6:
            text = text[:start] + rng.choice(noise) + text[start:]
        elif kind < 0.8:
            text = text[:start] + text[start + 1 :]
        else:
            text = text[:stop] + text[start:stop] + text[stop:]
    return text


def table(rng):
    """A table of one to four columns, some fields quoted, with or without a header."""
    delimiter, quoted, text = rng.choice(",;\t| "), rng.random() < 0.4, rng.random() < 0.4

    def field(value):
        return f'"{value}"' if quoted and rng.random() < 0.6 else value

    n_features, lines = rng.randint(1, 3), []
    if rng.random() < 0.5:
        lines.append(delimiter.join(field(f"c{j}") for j in range(n_features + 1)))
    for _ in range(rng.randint(2, 4)):
        values = [field(rng.choice(["1", "2.5", "-3", "1e-3", "0"])) for _ in range(n_features)]
        lines.append(delimiter.join([*values, field(rng.choice(["yes", "no"] if text else "01"))]))
    end = rng.choice(["\n", "\n", "\r\n"])
    return end.join(lines) + rng.choice([end, ""])


def by_pandas(path, layout):
    """What pandas reads, by the rules that `read_csv` states; None if that is refused."""
    pandas = pytest.importorskip("pandas")
    blanks = layout.delimiter == " "
    how = {"sep": r"\s+", "quoting": csv.QUOTE_NONE} if blanks else {"sep": layout.delimiter}
    try:
        fields = pandas.read_csv(
            path, header=None, index_col=False, dtype=str, na_filter=False, engine="python" if blanks else "c", **how
        )
    except (ValueError, pandas.errors.ParserError):
        return None
    fields = fields.iloc[int(layout.names is not None) :]
    if fields.shape[0] == 0 or fields.shape[1] != layout.n_columns or fields.isna().any(axis=None):
        return None

    def column(position):
        lines = io.StringIO()
        csv.writer(lines).writerows([["name"], *([value] for value in fields.iloc[:, position])])
        lines.seek(0)
        options = {"skip_blank_lines": False, "keep_default_na": False}
        return pandas.read_csv(lines, na_values=["", "nan"], **options)["name"]

    columns = [column(position) for position in range(layout.n_columns)]
    y = columns.pop(layout.label)
    if any(values.dtype.kind not in "if" or not np.isfinite(values).all() for values in columns):
        return None
    if y.dtype.kind not in "if":
        y = fields.iloc[:, layout.label].str.strip()
        if any(label == "" or is_number(label) for label in y):
            return None
    elif not np.isfinite(y).all():
        return None
    return np.column_stack(columns), y.to_numpy()


def result(read, path):
    """What `read` returns, or the message of its DataFileError."""
    try:
        return read(path)
    except DataFileError as error:
        return str(error)


def assert_same(found, expected, text):
    for ours, other in zip(found, expected, strict=True):
        ours, other = np.asarray(ours), np.asarray(other)
        if other.dtype.kind == "f":  # older pandas rounds the last digit
            np.testing.assert_allclose(ours, other, rtol=1e-15, err_msg=repr(text))
        else:
            np.testing.assert_array_equal(ours, other, err_msg=repr(text))


def test_tables_are_read_as_pandas_reads_them(tmp_path):
    """Both read the same numbers, or one refuses for a reason that `read_csv` states."""
    path, rng = tmp_path / "table.csv", random.Random(0)
    n_read = 0
    for _ in range(N_FILES):
        text = mutated(rng, table(rng), NOISE)
        path.write_text(text, encoding="utf-8", newline="")
        ours = result(read_csv, path)
        try:
            layout = detect_layout(path, -1, None, "auto")
        except DataFileError:
            continue
        pandas = by_pandas(path, layout)
        if isinstance(ours, str):
            assert pandas is None or OPEN_QUOTE in ours or EXOTIC.search(text), (text, ours)
            continue
        n_read += 1
        if pandas is None:  # blanks of other scripts are blanks to Python
            assert EXOTIC.search(text), text
            path.write_text(EXOTIC.sub(" ", text), encoding="utf-8", newline="")
            pandas = by_pandas(path, layout)
            assert pandas is not None, text
        assert_same(ours, pandas, text)
    assert n_read > N_FILES // 4


def joined(parts):
    X, y = zip(*parts, strict=True)
    return (sparse.vstack(X) if sparse.issparse(X[0]) else np.concatenate(X)), np.concatenate(y)


def test_a_table_in_chunks_is_the_whole_table(tmp_path):
    path, rng = tmp_path / "table.csv", random.Random(1)
    for _ in range(N_FILES):
        text = mutated(rng, table(rng), NOISE)
        path.write_text(text, encoding="utf-8", newline="")
        whole = result(read_csv, path)
        parts = result(lambda path: joined(chunks(path, rng.randint(1, 3))), path)
        if isinstance(whole, str):
            assert parts == whole, text
        else:
            assert_same(parts, whole, text)


def test_a_table_by_byte_ranges_is_the_whole_table(tmp_path):
    """`Distributed` reads tables by the same rule, with the same messages; only ends of lines are found in bytes."""
    path, rng = tmp_path / "table.csv", random.Random(3)
    n_read = 0

    def ranges(path):
        (source,) = open_sources(path, label=-1)
        X = np.empty((source.n_rows, source.n_columns))
        source.read_into(0, X)
        return X, source.labels()

    for _ in range(N_FILES):
        text = mutated(rng, table(rng), NOISE)
        path.write_text(text, encoding="utf-8", newline="")
        whole, by_bytes = result(read_csv, path), result(ranges, path)
        if "\r" in text and "carriage return alone" in str(by_bytes):
            continue
        if isinstance(whole, str):
            assert by_bytes == whole, text
            continue
        n_read += 1
        assert_same(by_bytes, whole, text)
    assert n_read > N_FILES // 4


@pytest.mark.parametrize("header", ["", "a,b\n"])
def test_a_byte_order_mark_belongs_to_the_start_of_a_file_alone(header, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"\ufeff{header}1,2\n3,4\n")
    (source,) = open_sources(path, label=-1)
    X = np.empty((2, 1))
    source.read_into(0, X)
    assert_same((X, source.labels()), read_csv(path), header)
    path.write_text(f"{header or '5,6'}\n\ufeff1,2\n3,4\n")
    for read in (read_csv, lambda path: open_sources(path, label=-1)):
        with pytest.raises(DataFileError, match=r"found '\\ufeff1', expected a number"):
            read(path)


def svmlight(rng):
    lines = []
    for _ in range(rng.randint(1, 4)):
        indices = sorted(rng.sample(range(1, 6), rng.randint(0, 3)))
        lines.append(" ".join([rng.choice(["1", "-1", "0.5"]), *(f"{i}:{rng.choice('123')}" for i in indices)]))
    return "\n".join(lines) + rng.choice(["\n", ""])


def test_svmlight_in_chunks_and_by_byte_ranges_is_the_whole_file(tmp_path):
    """One rule for rows without features, files without rows, and every fault."""
    path, rng = tmp_path / "rows.svm", random.Random(2)
    n_refused = 0
    for _ in range(N_FILES):
        text = mutated(rng, svmlight(rng), [" ", "\n", ":", "#", "1", "0", "-", "x", ".", "nan", " 2:1", "qid:1 "])
        path.write_text(text)
        whole = result(read_svmlight, path)
        parts = result(lambda path: joined(chunks(path, rng.randint(1, 3))), path)

        def ranges(path):
            (source,) = open_sources(path, label=None)
            return source.read(0, source.n_rows), source.labels()

        by_bytes = result(ranges, path)
        if isinstance(whole, str):
            n_refused += 1
            assert parts == by_bytes == whole, text
            continue
        for found in (parts, by_bytes):
            assert_same((found[0].toarray(), found[1]), (whole[0].toarray(), whole[1]), text)
    assert N_FILES // 10 < n_refused < N_FILES * 9 // 10


def test_svmlight_is_read_as_scikit_learn_reads_it(tmp_path):
    """Both read the same numbers, or this reader alone refuses: infinity and NaN, files without rows or features."""
    path, rng = tmp_path / "rows.svm", random.Random(4)
    n_read = 0
    for _ in range(N_FILES):
        text = mutated(
            rng, svmlight(rng), [" ", "\n", ":", "#", "1", "0", "-", "x", ".", "nan", " 2:1", "e400", "\r\n", "\v"]
        )
        path.write_text(text, newline="")
        ours = result(read_svmlight, path)
        try:
            X, y = load_svmlight_file(str(path), zero_based=False)
        except (ValueError, OverflowError):
            assert isinstance(ours, str), text
            continue
        if isinstance(ours, str):
            assert X.nnz == 0 or not np.isfinite([*X.data, *y]).all(), (text, ours)
            continue
        n_read += 1
        assert_same((ours[0].toarray(), ours[1]), (X.toarray(), y), text)
    assert n_read > N_FILES // 4


@pytest.mark.parametrize("content", ["1\n-1\n", "# nothing\n", "\n\n"])
def test_files_without_features_or_rows_are_refused_alike(content, tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text(content)
    said = "labels but no features" if "1" in content else "no examples"
    for read in (read_svmlight, lambda path: list(chunks(path, 1)), open_sources):
        with pytest.raises(DataFileError, match=said):
            read(path)
    if "1" in content:
        whole, (part, *_) = read_svmlight(path, n_features=3), chunks(path, 5, n_features=3)
        assert whole[0].shape == part[0].shape == (2, 3)


@pytest.mark.parametrize(
    ("content", "label", "names", "n_rows"),
    [
        ('"2019","2020","y"\n1,2,0\n3,4,1\n', -1, ["2019", "2020", "y"], 2),  # as R writes it
        ('"1","2","a"\n"3","4","b"\n', -1, None, 2),
        ('"my column"\n1\n2\n', None, ["my column"], 2),
        ("my column\n1\n2\n", None, ["my column"], 2),
        ("1\n2\n", None, None, 2),
        ("x\n1\n", None, ["x"], 1),
        ('"1"\n"2"\n', None, None, 2),
    ],
)
def test_quoted_headers_and_tables_of_one_column(content, label, names, n_rows, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(content)
    assert detect_layout(path, label, None, "auto").names == names
    assert len(read_csv(path, label=label)[0]) == n_rows


@pytest.mark.parametrize("content", ['a,b\n1,2\n3,"4\n', 'a,b\n1,2\n"3,4\n5,6\n', '"a\nb",c\n1,2\n'])
def test_an_open_quote_is_refused(content, tmp_path):
    """NumPy closes it at the end of the file, with the lines between in one field."""
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(DataFileError, match=OPEN_QUOTE):
        read_csv(path)
