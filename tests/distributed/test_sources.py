"""Files of rows: each format gives the rows and labels that were written, in stretches of any bounds."""

import gzip
import os
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest
from block_rows import rows_of
from scipy import sparse

from kernbench.datasets import DataFileError, chunks
from kernbench.datasets.readers.svmlight import write_svmlight
from kernbench.distributed import FileBlocks
from kernbench.distributed.blocks import local_blocks
from kernbench.distributed.sources import read_whole, text


@pytest.fixture(params=[1 << 22, 3_000])
def block_bytes(request, monkeypatch):
    monkeypatch.setattr(local_blocks, "BLOCK_BYTES", request.param)


@pytest.mark.usefixtures("block_bytes")
@pytest.mark.parametrize("keep_bytes", [0, 1 << 30])
def test_svmlight_text_is_read_by_byte_ranges(tmp_path, examples, keep_bytes):
    X, y = examples(5_000, 6, is_sparse=True)
    X = sparse.csr_matrix(np.round(X.toarray(), 3))
    for k, rows in enumerate((slice(0, 700), slice(700, 5_000))):
        write_svmlight(tmp_path / f"part{k}.svm", X[rows], y[rows])
    lines = (tmp_path / "part1.svm").read_text().splitlines()
    lines[3:3] = ["# a comment", "", "   "]
    lines[900] += "  # of this row"
    (tmp_path / "part1.svm").write_text("\n".join(lines), encoding="utf-8-sig")  # no line feed at the end
    blocks = FileBlocks(tmp_path, keep_bytes=keep_bytes)
    assert blocks.shape == X.shape and blocks.n_values == X.nnz
    assert np.array_equal(blocks.y, y)
    for _ in range(2):
        assert np.array_equal(rows_of(blocks), X.toarray())
    start, stop = np.sort(np.random.default_rng(0).choice(5_001, (2, 9), replace=False), axis=0)
    for a, b in zip(start, stop):
        assert np.array_equal(blocks.read(a, b).toarray(), X[a:b].toarray())
    some = np.random.default_rng(0).integers(5_000, size=40)
    assert np.array_equal(blocks.rows(some).toarray(), X[some].toarray())


@pytest.mark.usefixtures("block_bytes")
@pytest.mark.parametrize("header", [True, False])
def test_csv_text_is_read_by_byte_ranges(tmp_path, examples, header):
    X, y = examples(3_000, 4)
    table = np.column_stack([X[:, :2], y, X[:, 2:]])
    for k, part in enumerate(np.split(table, [1_100])):
        path = tmp_path / f"t{k}.csv"
        np.savetxt(path, part, delimiter=",", header="a,b,label,c,d" if header else "", comments="", fmt="%.17g")
        path.write_text(path.read_text(), encoding=("utf-8", "utf-8-sig")[k])
    blocks = FileBlocks(tmp_path, label="label" if header else 2)
    assert blocks.shape == X.shape
    assert np.array_equal(blocks.y, y) and np.array_equal(rows_of(blocks), X)
    assert blocks.names is None if not header else list(blocks.names) == ["a", "b", "c", "d"]
    some = np.random.default_rng(0).integers(3_000, size=40)
    assert np.array_equal(blocks.rows(some), X[some])


@pytest.mark.usefixtures("block_bytes")
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_columns_are_read_by_row_groups(tmp_path, examples, suffix, dtype):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import ipc, parquet

    X, y = examples(3_000, 4, dtype)
    table = pyarrow.table({**{name: X[:, k] for k, name in enumerate("abcd")}, "label": y})
    for k, part in enumerate((table.slice(0, 1_100), table.slice(1_100))):
        path = tmp_path / f"t{k}.{suffix}"
        if suffix == "parquet":
            parquet.write_table(part, path, row_group_size=512)
        else:
            with ipc.new_file(path, part.schema) as writer:
                writer.write_table(part, max_chunksize=512)
    blocks = FileBlocks(tmp_path, label="label")
    assert blocks.dtype == dtype and blocks.shape == X.shape
    assert np.array_equal(blocks.y, y) and np.array_equal(rows_of(blocks), X)
    assert list(blocks.names) == list("abcd")


@pytest.mark.usefixtures("block_bytes")
@pytest.mark.parametrize("stored", ["float32", "float64", ">f8", "int8", "bool"])
def test_npy_files_hold_numbers_of_any_kind(tmp_path, stored):
    X = (np.random.default_rng(0).normal(size=(2_500, 3)) * 3).astype(stored)
    np.save(tmp_path / "x.npy", X)
    blocks = FileBlocks(tmp_path / "x.npy")
    assert blocks.dtype == ("float32" if stored == "float32" else "float64")
    assert np.array_equal(rows_of(blocks), X.astype(blocks.dtype))


@pytest.mark.parametrize("stored", ["float32", ">f8"])
def test_some_rows_of_npy_files_are_read_without_mapping_them(tmp_path, stored, monkeypatch):
    """Pages of a map count as memory of the process, and near a row many more than its own are mapped."""
    X = np.random.default_rng(0).normal(size=(100, 3)).astype(stored)
    np.save(tmp_path / "0.npy", X[:40]), np.save(tmp_path / "1.npy", X[40:])
    blocks = FileBlocks(tmp_path)
    monkeypatch.setattr(np, "memmap", None)
    for some in ([], [99], [0, 1, 2], range(35, 45), [3, 3, 2, 70, 71, 41, 40, 0]):
        some = np.array(some, dtype=np.intp)
        assert np.array_equal(blocks.rows(some), X[some])


def test_a_file_without_rows_is_read_whole(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((0, 3)))
    rows, labels = read_whole(tmp_path / "x.npy", None)
    assert rows.shape == (0, 3) and labels is None


def test_one_row_or_column_has_no_order(tmp_path):
    """Other programs may call it Fortran's."""
    for shape in ((3, 1), (1, 3)):
        with open(tmp_path / "x.npy", "wb") as file:
            header = {"descr": "<f8", "fortran_order": True, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            file.write(np.arange(3.0).tobytes())
        assert np.array_equal(rows_of(FileBlocks(tmp_path / "x.npy")), np.arange(3.0).reshape(shape))


def test_columns_of_two_precisions_are_read_in_the_wider_one(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    third = np.array([1 / 3])
    parquet.write_table(pyarrow.table({"a": third.astype("float32"), "b": third}), tmp_path / "x.parquet")
    rows = rows_of(FileBlocks(tmp_path / "x.parquet"))
    assert rows.dtype == "float64" and rows[0, 1] == 1 / 3


@pytest.mark.parametrize(
    "suffix, content, empty",
    [
        ("csv", "a,b,y\n1,2,0\n3,4,1\n", "a,b,y\n"),
        ("csv", "1,2,0\n3,4,1\n", ""),
        ("svm", "0 1:1 2:2\n1 1:3 2:4\n", "# no rows\n"),
    ],
    ids=["header", "empty", "svmlight"],
)
def test_a_part_without_rows_is_skipped(suffix, content, empty, tmp_path):
    for name, lines in (("0", empty), ("1", content), ("2", empty)):
        (tmp_path / f"{name}.{suffix}").write_text(lines)
    blocks = FileBlocks(tmp_path, label=None if suffix == "svm" else -1)
    assert np.array_equal(rows_of(blocks), [[1, 2], [3, 4]]) and list(blocks.y) == [0, 1]
    rows, labels = read_whole(tmp_path / f"0.{suffix}", None)
    assert rows.shape[0] == 0 and labels is None
    (tmp_path / f"1.{suffix}").unlink()
    with pytest.raises(ValueError, match="the data hold no rows: .*2.(csv|svm): "):
        FileBlocks(tmp_path)


def test_a_table_without_rows_is_skipped_whatever_its_types(tmp_path):
    """Data frames without rows have columns of objects, which Parquet stores as null."""
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"a": pyarrow.nulls(0), "y": pyarrow.nulls(0)}), tmp_path / "0.parquet")
    parquet.write_table(pyarrow.table({"a": [1.0, 2.0], "y": [0, 1]}), tmp_path / "1.parquet")
    blocks = FileBlocks(tmp_path, label="y")
    assert rows_of(blocks).ravel().tolist() == [1, 2] and blocks.y.tolist() == [0, 1]


def test_few_row_groups_are_held(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"a": np.arange(50.0)}), tmp_path / "x.parquet", row_group_size=5)
    (source,) = FileBlocks(tmp_path / "x.parquet").sources
    out = np.empty((50, 1))
    source.read_into(0, out)
    assert out.ravel().tolist() == list(range(50)) and len(source._groups) == source.KEPT


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are listed by Linux only")
@pytest.mark.parametrize("suffix", ["npy", "parquet", "arrow", "svm"])
def test_no_file_stays_open(tmp_path, suffix):
    """A folder may hold more files than a process may have open."""
    X = np.arange(12.0).reshape(4, 3) + 1
    for k in range(5):
        _write(tmp_path / f"x{k}.{suffix}", X)
    blocks = FileBlocks(tmp_path)
    for _ in range(2):
        assert np.array_equal(rows_of(blocks), np.tile(X, (5, 1)))
    end = monotonic() + 10.0
    while _open_files_in(tmp_path) and monotonic() < end:  # a thread of pyarrow may let go of a file a moment later
        sleep(0.01)
    assert not _open_files_in(tmp_path)
    with open(tmp_path / f"x0.{suffix}", "rb") as file:
        assert _open_files_in(tmp_path) == [os.path.realpath(file.name)]


def _open_files_in(folder):
    """Return the files of a folder that this process has open; other threads may open others meanwhile."""
    paths = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
    return [path for path in paths if path.startswith(f"{os.path.realpath(folder)}{os.sep}")]


def _write(path, X):
    if path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".svm":
        write_svmlight(path, X, np.zeros(len(X)))
    else:
        pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        _write_table(path, pyarrow.table({name: X[:, k] for k, name in enumerate("abc")}))


def _write_table(path, table):
    from pyarrow import ipc, parquet

    if path.suffix.lower() == ".parquet":
        parquet.write_table(table, path)
    else:
        with ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_the_index_of_a_data_frame_is_left_out_unless_it_is_named(tmp_path, suffix):
    """pandas stores it as the last column."""
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    rows = {"a": [1.0, 2.0, 3.0, 4.0], "b": [5.0, 6.0, 7.0, 8.0], "y": [0, 1, 1, 0]}
    frame, path = pandas.DataFrame(rows, index=[7, 3, 4, 9]), tmp_path / f"x.{suffix}"
    table = pyarrow.Table.from_pandas(frame)
    _write_table(path, table)
    assert table.column_names == ["a", "b", "y", "__index_level_0__"]
    for label in (-1, 2, "y"):
        blocks = FileBlocks(path, label=label)
        assert blocks.names.tolist() == ["a", "b"] and blocks.y.tolist() == rows["y"]
        assert np.array_equal(rows_of(blocks), frame[["a", "b"]])
    assert FileBlocks(path).names.tolist() == ["a", "b", "y"]
    with pytest.raises(ValueError, match="there is no column 3; it has 3 columns"):
        FileBlocks(path, label=3)
    _write_table(path, pyarrow.Table.from_pandas(frame.rename_axis("id")))
    blocks = FileBlocks(path, label="id")
    assert blocks.names.tolist() == ["a", "b", "y"] and blocks.y.tolist() == [7, 3, 4, 9]
    assert FileBlocks(path, label="y").names.tolist() == ["a", "b"]
    for damaged in (None, {b"pandas": b"{"}, {b"pandas": b"[]"}, {b"pandas": b'{"index_columns": "ab"}'}):
        _write_table(path, table.replace_schema_metadata(damaged))
        assert FileBlocks(path).names.tolist() == table.column_names


def test_the_index_of_a_dask_data_frame_is_left_out(tmp_path):
    """Dask stores it even if it is a range."""
    dataframe = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    pandas, parquet = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "y": [0, 1, 1, 0]})
    dataframe.from_pandas(frame, npartitions=2).to_parquet(str(tmp_path / "parts"))
    first, *_ = sorted((tmp_path / "parts").glob("*.parquet"))
    assert "__null_dask_index__" in parquet.read_schema(first).names
    blocks = FileBlocks(tmp_path / "parts", label=-1)
    assert blocks.names.tolist() == ["a"] and blocks.y.tolist() == [0, 1, 1, 0]
    ((X, y),) = chunks(first, 10)
    assert X.tolist() == [[1], [2]] and y.tolist() == [0, 1]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("label", [None, -1, "a", "y"])
@pytest.mark.parametrize("n_rows", [0, 2])
def test_columns_of_one_name_are_refused(tmp_path, suffix, label, n_rows):
    """They are read by their names."""
    pyarrow, path = pytest.importorskip("pyarrow"), tmp_path / f"x.{suffix}"
    column = pyarrow.array(np.arange(float(n_rows)))
    _write_table(path, pyarrow.table([column, column, column], names=["a", "y", "a"]))
    with pytest.raises(ValueError, match=f"x.{suffix}: the column 'a' occurs 2 times: give each column a name of its"):
        FileBlocks(path, label=label)
    with pytest.raises(DataFileError, match=f"x.{suffix}: not readable .*duplicate field names"):  # says pyarrow
        list(chunks(path, 2, label=label))


def test_a_suffix_may_be_in_capitals_and_a_label_out_of_range_is_refused(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    _write(tmp_path / "x.PARQUET", X)
    blocks = FileBlocks(tmp_path / "x.PARQUET", label=-1)
    assert np.array_equal(rows_of(blocks), X[:, :2]) and np.array_equal(blocks.y, X[:, 2])
    for label in (3, -4):
        with pytest.raises(ValueError, match=f"there is no column {label}; it has 3 columns"):
            FileBlocks(tmp_path / "x.PARQUET", label=label)


@pytest.mark.parametrize("kind", ["svm", "csv"])
def test_text_is_indexed_in_stretches_that_end_anywhere(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(text, "SCAN_BYTES", 3_000)
    monkeypatch.setattr(local_blocks, "BLOCK_BYTES", 1_000)  # some rows at a time, from the nearest place in the index
    y = np.arange(1_000)
    lines = [f"{k} 1:{k + 1}" if kind == "svm" else f"{k + 1},{k}" for k in y]
    (tmp_path / f"x.{kind}").write_text("\n".join(lines))
    blocks = FileBlocks(tmp_path, label=-1 if kind == "csv" else None)
    assert np.array_equal(blocks.y, y)
    some = np.array([0, 255, 256, 400, 700, 999])
    rows = blocks.rows(some)
    assert np.array_equal((rows.toarray() if kind == "svm" else rows).ravel(), some + 1)


def test_lines_that_end_in_a_carriage_return_are_refused(tmp_path):
    for name, content in (("rows", "1,2\n3,4\r5,6\n"), ("header", "a,b\r3,4\n")):
        (tmp_path / f"{name}.csv").write_bytes(content.encode())
        with pytest.raises(ValueError, match="convert the line ends"):
            FileBlocks(tmp_path / f"{name}.csv")


def test_tables_with_columns_in_another_order_are_refused(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("b,a\n1,2\n")
    with pytest.raises(ValueError, match="2.csv has other columns than .*1.csv, or in another order"):
        FileBlocks(tmp_path)
    np.save(tmp_path / "0.npy", np.ones((3, 2)))  # without names
    with pytest.raises(ValueError, match="2.csv has other columns than .*1.csv, or in another order"):
        FileBlocks(tmp_path)
    assert FileBlocks([tmp_path / "0.npy", tmp_path / "2.csv"]).names.tolist() == ["b", "a"]


def test_files_come_in_the_order_of_their_numbers(tmp_path):
    for k in (10, 9, 1):
        np.save(tmp_path / f"part-{k}.npy", np.full((2, 1), float(k)))
    assert rows_of(FileBlocks(tmp_path)).ravel().tolist() == [1, 1, 9, 9, 10, 10]


def test_files_that_cannot_be_read_in_blocks_are_refused(tmp_path):
    for name, X, message in (
        ("fortran", np.asfortranarray(np.ones((3, 2))), "Fortran order"),
        ("vector", np.ones(3), "two dimensions"),
        ("text", np.array([["a", "b"]]), "must hold numbers"),
    ):
        np.save(tmp_path / f"{name}.npy", X)
        with pytest.raises(ValueError, match=message):
            FileBlocks(tmp_path / f"{name}.npy")
    np.save(tmp_path / "cut.npy", np.ones((3, 2)))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:-8])
    with pytest.raises(ValueError, match="shorter than its header"):
        FileBlocks(tmp_path / "cut.npy")
    (tmp_path / "not.npy").write_bytes(b"hello")
    with pytest.raises(ValueError, match="not an array"):
        FileBlocks(tmp_path / "not.npy")
    (tmp_path / "x.dat").write_text("1 2")
    with pytest.raises(ValueError, match="no suffix that can be read"):
        FileBlocks(tmp_path / "x.dat")
    (tmp_path / "x.svm").write_text("1 1:2\n1 2\n")
    with pytest.raises(ValueError, match="line 2, column 3: found '2', expected 'index:value'"):
        FileBlocks(tmp_path / "x.svm")
    (tmp_path / "x.csv").write_text("1,2\n3,hello\n")
    with pytest.raises(ValueError, match="line 2, column 2: found 'hello', expected a number"):
        FileBlocks(tmp_path / "x.csv")
    (tmp_path / "y.csv").write_text("a,b\n3,4\n")
    with pytest.raises(ValueError, match="unknown column 'c'"):
        FileBlocks(tmp_path / "y.csv", label="c")


@pytest.mark.parametrize("kind", ["svm", "csv"])
def test_integer_labels_of_64_bits_stay_distinct(tmp_path, kind):
    labels = [0, 2**53, 2**53 + 1, 1, 2**53 + 1]
    lines = [f"{label} 1:{k + 1}" if kind == "svm" else f"{k},{label}" for k, label in enumerate(labels)]
    (tmp_path / f"part.{kind}").write_text("\n".join(lines))
    assert FileBlocks(tmp_path, label=-1).y.tolist() == labels


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("content", [b"", b"PAR1 ARROW1 and no more of it"])
def test_a_damaged_file_of_columns_is_named(tmp_path, suffix, content):
    pytest.importorskip("pyarrow")
    (tmp_path / f"part-7.{suffix}").write_bytes(content)
    with pytest.raises(ValueError, match=f"part-7.{suffix}: not readable as a Parquet, Arrow or Feather file"):
        FileBlocks(tmp_path)


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_damage_among_the_rows_is_named_where_they_are_read(tmp_path, suffix):
    """The schema, which is read first, is whole."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path, rows = tmp_path / f"part-7.{suffix}", np.random.default_rng(0).normal(size=(5_000, 3)).round(1)
    getattr(pandas.DataFrame(rows, columns=["a", "b", "c"]), f"to_{suffix}")(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 40] = b"\xff" * 40
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=f"part-7.{suffix}: the data are damaged"):
        rows_of(FileBlocks(path))
    with pytest.raises(DataFileError, match=f"part-7.{suffix}: the data are damaged"):
        list(chunks(path, 1_000))
    with pytest.raises(FileNotFoundError):
        list(chunks(tmp_path / f"absent.{suffix}", 10))


@pytest.mark.parametrize("kind", ["svm", "csv"])
def test_compressed_text_is_refused_whatever_its_name(tmp_path, kind):
    path = tmp_path / f"x.{kind}"
    path.write_bytes(gzip.compress(b"1 1:2\n" if kind == "svm" else b"1,2\n3,4\n"))
    with pytest.raises(ValueError, match="x.*: gzip data; parts of a file are found by bytes: unpack it first"):
        FileBlocks(path)


def test_text_in_a_folder_that_cannot_be_read_in_blocks_is_named(tmp_path):
    (tmp_path / "1.csv").write_text("1,2,0\n3,4,1\n")
    for name in ("README", "notes.txt", "_SUCCESS", "1.csv.crc", "model.npz"):
        (tmp_path / name).write_text("no rows")
    assert FileBlocks(tmp_path, label=-1).n_rows == 2
    (tmp_path / "2.csv.gz").write_bytes(gzip.compress(b"5,6,0\n"))
    (tmp_path / "3.TSV").write_text("7\t8\t1\n")
    with pytest.raises(ValueError, match=r"also holds 2\.csv\.gz, 3\.TSV, which cannot be read in blocks"):
        FileBlocks(tmp_path, label=-1)
    for k in (4, 5):
        (tmp_path / f"{k}.svm.xz").touch()
    with pytest.raises(ValueError, match=r"also holds 2\.csv\.gz, 3\.TSV, 4\.svm\.xz and 1 more"):
        FileBlocks(tmp_path, label=-1)
