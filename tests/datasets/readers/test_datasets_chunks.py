"""Files in chunks: the same rows as read whole, whatever the size of the chunks."""

import gzip

import numpy as np
import pytest
from scipy import sparse

from kernbench import DoublyStochasticClassifier, DoublyStochasticNoveltyDetector
from kernbench.datasets import DataFileError, chunks, write_svmlight


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((25, 5)) < 0.5, rng.standard_normal((25, 5)).round(3), 0.0)
    X[:22, 4] = 0.0  # the last column appears in the last rows only
    X[24, 4] = 1.5
    X[3] = 0.0  # a row without entries
    return X, rng.choice([-1, 1], 25)


def _dense(parts):
    return np.vstack([X.toarray() if sparse.issparse(X) else X for X, _ in parts])


@pytest.mark.parametrize("size", [1, 7, 25, 100])
@pytest.mark.parametrize("kind", ["a.svm", "a.svm.gz", "a.csv", "a.npy", "words.csv"])
def test_chunks_hold_the_rows_of_the_file(kind, size, rows, tmp_path):
    X, y = rows
    path = tmp_path / kind
    if "svm" in kind:
        write_svmlight(tmp_path / "plain.svm", X, y)
        content = (tmp_path / "plain.svm").read_bytes()
        path.write_bytes(gzip.compress(content) if kind.endswith("gz") else content)
    elif kind == "a.npy":
        np.save(path, np.column_stack([X, y]))
    else:
        y = np.where(y > 0, "yes", "no") if kind == "words.csv" else y
        lines = ["a,b,c,d,e,label", *(",".join([*map(str, row), str(label)]) for row, label in zip(X, y))]
        path.write_text("\n\n".join(lines) + "\n")
    source = chunks(path, size)
    found = list(source)
    assert all(len(labels) <= size for _, labels in found) and source.n_rows == 25
    np.testing.assert_allclose(_dense(found), X)
    assert np.concatenate([labels for _, labels in found]).tolist() == y.tolist()
    assert np.array_equal(_dense(list(source)), _dense(found))  # and again from the beginning


def test_the_rows_given_are_counted_anew_in_each_pass(write):
    source = chunks(write("a.csv", "1,2\n3,4\n5,6\n"), 2)
    for _ in range(2):
        assert [source.n_rows for _ in source] == [2, 3]


def test_the_widest_row_may_be_in_any_chunk(write):
    found = list(chunks(write("a.svm", "1 1:1\n1 3:1\n-1 2:1\n"), 1))
    assert [X.shape for X, _ in found] == [(1, 3)] * 3


def test_a_file_without_rows_is_refused_also_where_its_width_is_given(write):
    with pytest.raises(DataFileError, match="holds no examples"):
        list(chunks(write("a.svm", "# nothing\n"), 10, n_features=3))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["float16", ">f4", "float64"])
def test_whole_labels_of_an_array_are_integers_in_any_precision(dtype, tmp_path):
    np.save(tmp_path / "a.npy", np.array([[0.5, 1], [0.25, -1], [0, 2]], dtype=dtype))
    y = np.concatenate([y for _, y in chunks(tmp_path / "a.npy", 2)])
    assert y.dtype == np.int64 and y.tolist() == [1, -1, 2]


def test_a_label_column_may_be_named(rows, tmp_path, write):
    path = write("t.csv", "income,age,height\n1,30,1.5\n-1,40,1.25\n")
    ((X, y),) = chunks(path, 10, label="income")
    assert X.tolist() == [[30, 1.5], [40, 1.25]] and y.tolist() == [1, -1]
    np.save(tmp_path / "first.npy", np.array([[1.0, 5.0], [-1.0, 6.0]]))
    ((X, y),) = chunks(tmp_path / "first.npy", 10, label=0)
    assert X.tolist() == [[5.0], [6.0]] and y.tolist() == [1, -1]
    with pytest.raises(ValueError, match="columns of an array have no names"):
        list(chunks(tmp_path / "first.npy", 10, label="income"))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.svm", "1 1:2\n1 2:x\n", "line 2, column 3"),
        ("a.csv", "1,2,1\n3,oops,1\n", "line 2, column 2"),
        ("a.csv", "1,2,1\n3,1\n", "line 2"),
    ],
)
def test_a_fault_is_located_in_the_file(name, content, said, write):
    with pytest.raises(DataFileError, match=said):
        list(chunks(write(name, content), 1))


@pytest.mark.parametrize(
    ("values", "labels", "said"),
    [
        ([1.0, 2.0, np.nan], [0, 1, 0], "column 'x', row 2 .*: found nan"),
        ([1.0, 2.0, -np.inf], [0, 1, 0], "column 'x', row 2 .*: found -inf"),
        ([1, 2, None], [0, 1, 0], "column 'x', row 2 .*: found nan"),
        ([1.0, 2.0, 3.0], [0, 1, None], "column 'y', row 2 .*: found nan"),
        ([1.0, 2.0, 3.0], ["a", "b", None], "column 'y', row 2 .*: found None"),
    ],
)
def test_missing_values_of_columns_are_located_in_the_file(values, labels, said, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"x": values, "y": labels}), tmp_path / "a.parquet")
    with pytest.raises(DataFileError, match=f"a.parquet: {said}"):
        list(chunks(tmp_path / "a.parquet", 2))


@pytest.mark.parametrize("label", [-1, 0, None])
@pytest.mark.parametrize("place", [(3, 0), (3, 2)])
def test_missing_values_of_an_array_are_located_in_the_file(place, label, tmp_path):
    table = np.ones((5, 3), dtype=np.float32)
    table[place] = np.nan
    np.save(tmp_path / "a.npy", table)
    with pytest.raises(DataFileError, match=f"a.npy: column {place[1]}, row 3 .*: found nan; remove or impute"):
        list(chunks(tmp_path / "a.npy", 2, label=label))


def test_what_cannot_be_read_in_chunks_is_refused(rows, tmp_path, write):
    np.savez(tmp_path / "a.npz", X=rows[0], y=rows[1])
    with pytest.raises(ValueError, match="cannot be read in chunks: save the array as .npy"):
        chunks(tmp_path / "a.npz", 10)
    for name, array in (("flat", rows[1]), ("label-alone", rows[0][:, :1]), ("words", np.array([["a", "b"]]))):
        np.save(tmp_path / f"{name}.npy", array)
        with pytest.raises(ValueError, match="found shape"):
            list(chunks(tmp_path / f"{name}.npy", 10))
    np.save(tmp_path / "a.npy", rows[0])
    for label in (5, -6):
        with pytest.raises(ValueError, match=f"there is no column {label}, only 5"):
            list(chunks(tmp_path / "a.npy", 10, label=label))
    for size in (0, 10**21):
        with pytest.raises(ValueError, match="rows must be"):
            chunks(tmp_path / "flat.npy", size)
    with pytest.raises(ValueError, match="names a column of a table"):
        chunks(write("a.svm", "1 1:2\n"), 10, label="income")


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_columns_of_arrow_come_in_batches(suffix, rows, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    X, y = rows
    table = pyarrow.table({**{f"x{j}": X[:, j] for j in range(5)}, "label": y})
    path, without_features = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    if suffix == "parquet":
        write = pytest.importorskip("pyarrow.parquet").write_table
    else:
        write = pytest.importorskip("pyarrow.feather").write_feather
    write(table, path)
    for label in ("label", 5, -1):
        found = list(chunks(path, 10, label=label))
        np.testing.assert_array_equal(_dense(found), X)
        assert all(len(labels) <= 10 for _, labels in found)
        assert np.concatenate([labels for _, labels in found]).tolist() == y.tolist()
    with pytest.raises(ValueError, match="there is no column 'lable', only x0, x1, x2, x3, x4, label"):
        list(chunks(path, 10, label="lable"))
    with pytest.raises(ValueError, match="there is no column 6, only 6"):
        list(chunks(path, 10, label=6))
    write(table.select(["label"]), without_features)
    with pytest.raises(DataFileError, match="expected columns of features, found 1 in all"):
        list(chunks(without_features, 10))


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_the_index_of_a_data_frame_is_left_out_unless_it_is_named(suffix, tmp_path):
    """pandas stores it as the last column."""
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    module = pytest.importorskip(f"pyarrow.{suffix}")
    write = module.write_table if suffix == "parquet" else module.write_feather
    frame = pandas.DataFrame({"x": [0.5, 1.5, 2.5], "y": [0, 1, 1]}, index=pandas.Index([7, 3, 4], name="id"))
    path, table = tmp_path / f"a.{suffix}", pyarrow.Table.from_pandas(frame)
    write(table, path)
    assert table.column_names == ["x", "y", "id"]
    for label in (-1, 1, "y"):
        ((X, y),) = chunks(path, 10, label=label)
        assert X.tolist() == [[0.5], [1.5], [2.5]] and y.tolist() == [0, 1, 1]
    ((X, y),) = chunks(path, 10, label="id")
    assert X.tolist() == [[0.5, 0], [1.5, 1], [2.5, 1]] and y.tolist() == [7, 3, 4]
    for damaged in (None, {b"pandas": b"{"}, {b"pandas": b"[]"}, {b"pandas": b'{"index_columns": "xy"}'}):
        write(table.replace_schema_metadata(damaged), path)
        ((X, _),) = chunks(path, 10, label=None)
        assert X.shape == (3, 3)


def test_record_batches_without_rows_are_passed_over_and_whole_labels_are_integers(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    schema = pyarrow.schema([("x", pyarrow.float64()), ("label", pyarrow.float64())])
    with pyarrow.ipc.new_file(tmp_path / "a.arrow", schema) as file:
        for x, label in (([0.5, 1.5], [1.0, -1.0]), ([], []), ([2.5], [2.0])):
            file.write_batch(pyarrow.RecordBatch.from_pydict({"x": x, "label": label}, schema=schema))
    found = list(chunks(tmp_path / "a.arrow", 10))
    assert [len(y) for _, y in found] == [2, 1]
    assert all(y.dtype == np.int64 for _, y in found) and _dense(found).tolist() == [[0.5], [1.5], [2.5]]


def test_a_model_learns_from_a_file(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    np.save(tmp_path / "a.npy", np.column_stack([X, y]))
    model = DoublyStochasticClassifier(batch_size=64, random_state=0)
    model.fit_chunks(chunks(tmp_path / "a.npy", 100))
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("kind", ["huge.svm", "huge.csv"])
def test_integer_labels_of_64_bits_stay_distinct(kind, tmp_path):
    labels = [0, 2**53, 2**53 + 1, 1, 2**53 + 1]
    lines = [f"{label} 1:{k + 1}" if kind == "huge.svm" else f"{k},{label}" for k, label in enumerate(labels)]
    (tmp_path / kind).write_text("\n".join(lines))
    assert np.concatenate([y for _, y in chunks(tmp_path / kind, 2)]).tolist() == labels


@pytest.mark.parametrize("kind", ["csv", "svm", "npy", "parquet"])
def test_labels_may_be_left_out(kind, tmp_path):
    X, y, path = np.arange(1.0, 16.0).reshape(5, 3), np.arange(5.0) % 2, tmp_path / f"rows.{kind}"
    if kind == "svm":
        write_svmlight(path, X, y)
    elif kind == "npy":
        np.save(path, X)
    elif kind == "csv":
        np.savetxt(path, X, delimiter=",")
    else:
        pytest.importorskip("pyarrow")
        pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"]).to_parquet(path)
    stream = chunks(path, 2, label=None)
    parts = list(stream)
    assert [y for _, y in parts] == [None] * 3 and stream.n_rows == 5
    assert np.array_equal(np.concatenate([X.toarray() if sparse.issparse(X) else X for X, _ in parts]), X)
    model = DoublyStochasticNoveltyDetector(batch_size=2, block_size=1, random_state=0)
    assert model.fit_chunks(stream).n_features_in_ == 3
    with pytest.raises(ValueError, match="label must be a column's position or name, or None, got 1.5"):
        chunks(path, 2, label=1.5)


def test_a_truncated_parquet_file_is_a_fault_of_the_file(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "cut.parquet"
    pytest.importorskip("pandas").DataFrame({"a": [1.0, 2.0], "y": [0, 1]}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataFileError, match="cut.parquet: not readable as a Parquet"):
        list(chunks(path, 2))
