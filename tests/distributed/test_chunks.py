"""Chunks in memory, arrays and tables of several libraries: the same rows in one process as on workers, or refused."""

import numpy as np
import pytest
from block_rows import rows_of
from scipy import sparse

from kernbench import ROCSVC
from kernbench.datasets import chunks
from kernbench.distributed import Distributed, FileBlocks
from kernbench.distributed.cluster.held_rows import cut, describe


@pytest.mark.parametrize(
    "arrays, message",
    [
        ([np.ones((3, 2)), np.ones((3, 3))], "chunk 0 has 2 columns, others have 3"),
        ([np.ones((3, 2)), np.ones((3, 2), np.float32)], "chunk 1 has dtype float32, chunk 0 has float64"),
        ([np.ones((3, 2)), sparse.csr_matrix(np.ones((3, 2)))], "chunk 1 and chunk 0 differ: one holds sparse"),
        ([np.ones(3)], "chunk 0 must have two dimensions"),
        ([np.ones((0, 2))], "no rows"),
        ([np.ones((3, 2)) + 1j], "chunk 0 must hold real numbers, got dtype complex128"),
        ([sparse.csr_matrix(np.ones((3, 2)) + 1j)], "chunk 0 must hold real numbers"),
        ([(np.ones((3, 2)), np.ones(2))], "chunk 0 has 3 rows and labels of shape"),
        ([(np.ones((3, 2)), np.ones(3), np.ones(3))], r"chunk 0 is a tuple of length 3, not \(X, y\): give weights"),
        ([np.ones((3, 2)), ()], "chunk 1 is a tuple of length 0, not"),
        (["nowhere.npy"], "no file or folder"),
    ],
)
def test_chunks_that_do_not_belong_together_are_refused(arrays, message):
    with pytest.raises(ValueError, match=message):
        FileBlocks(arrays)


def test_data_frames_of_sparse_columns_stay_sparse():
    pandas = pytest.importorskip("pandas")
    X = sparse.random(50, 20, 0.1, format="csr", random_state=0)
    frame = pandas.DataFrame.sparse.from_spmatrix(X, columns=[f"c{j}" for j in range(20)])
    blocks = FileBlocks([frame[:30], frame[30:]])
    assert blocks.is_sparse and blocks.n_values == X.nnz and list(blocks.names) == list(frame.columns)
    assert np.array_equal(rows_of(blocks), X.toarray())
    for other in (frame.assign(c3=1.0), frame.astype(pandas.SparseDtype(float, 1.0))):  # not zero where nothing is
        blocks = FileBlocks(other)
        assert not blocks.is_sparse and np.array_equal(rows_of(blocks), other.to_numpy())


def test_data_frames_of_sparse_columns_stay_sparse_on_workers():
    pandas = pytest.importorskip("pandas")
    X = sparse.random(50, 20, 0.1, format="csr", random_state=0)
    frame = pandas.DataFrame.sparse.from_spmatrix(X, columns=[f"c{j}" for j in range(20)])
    assert describe(frame) == ((50, 20), "float64", X.nnz, list(frame.columns))
    rows = cut([frame[:30], frame[30:]], [(5, 30), (0, 10)], "float64")
    assert sparse.issparse(rows) and np.array_equal(rows.toarray(), X[5:40].toarray())
    mixed = frame.assign(c3=1.0, c4=pandas.array(range(50), dtype="Int64"))
    assert describe(mixed) == ((50, 20), "float64", None, list(frame.columns))
    assert np.array_equal(cut([mixed], [(0, 50)], "float64"), mixed.to_numpy())


def test_missing_values_of_nullable_columns_are_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 1.5]}).convert_dtypes()
    expected = np.array([[1, 0.5], [2, np.nan], [3, 1.5]])
    np.testing.assert_array_equal(rows_of(FileBlocks(frame)), expected)
    np.testing.assert_array_equal(cut([frame], [(0, 3)], "float64"), expected)
    with pytest.raises(ValueError, match="X contains NaN: column 1 of chunk 0 holds NaN, first in its row 1"):
        Distributed(ROCSVC()).fit([frame], [0, 1, 0])


@pytest.mark.parametrize("form", ["coo", "csc", "dia", "lil"])
def test_chunks_on_workers_may_be_sparse_of_any_format(form):
    X = sparse.random(50, 20, 0.1, random_state=0).asformat(form)
    expected = X.toarray()[[*range(40, 50), *range(5)]]
    assert np.array_equal(cut([X, X], [(40, 50), (0, 5)], "float64").toarray(), expected)


@pytest.mark.parametrize(
    "types",
    [
        ["float32", "float32"],
        ["float32", "int8"],
        ["float32", "bool"],
        ["float32", "boolean"],
        ["float32", "category"],
        ["float32", "Float32"],
        ["Float32"],
        ["Float32", "Float32"],
        ["Float32", "bool"],
    ],
    ids="-".join,
)
def test_a_data_frame_on_workers_has_the_precision_of_one_process(types):
    """pandas makes objects of some types together, which become float64."""
    pandas = pytest.importorskip("pandas")
    column = pandas.Series([0.0, 1.0], dtype="float32")
    frame = pandas.DataFrame({name: column.astype(kind) for name, kind in zip(["dtype", "b"], types)})
    rows = FileBlocks([frame]).read(0, 2)
    assert describe(frame)[1] == rows.dtype
    assert np.array_equal(cut([frame], [(0, 2)], describe(frame)[1]), rows)


def test_columns_that_are_no_plain_numbers_are_held_or_refused_as_in_one_process():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [3, 4]})
    for column in (pandas.Categorical([5, 6]), np.array([5, 6.0], dtype=object), [True, False], [5, 6]):
        one = frame.assign(b=column)
        rows = FileBlocks([one]).read(0, 2)
        assert np.array_equal(cut([one], [(0, 2)], describe(one)[1]), rows)
        assert describe(one)[1] == describe(frame)[1] == rows.dtype == np.float64
    assert describe(frame[["b"]])[1] == describe(frame[["a"]])[1]  # integers in one partition only
    for column, message in (
        (pandas.Categorical(["x", "y"]), "could not convert string to float"),
        (pandas.array(["x", "y"], dtype="string"), "could not convert string to float"),
        (pandas.to_datetime(["2020-01-01", "2021-01-01"]), "column 'b' holds datetime64"),
        (pandas.to_timedelta([1, 2], unit="s"), "column 'b' holds timedelta64"),
    ):
        one = frame.assign(b=column)
        with pytest.raises(ValueError, match=message):
            FileBlocks([one]).read(0, 2)
        with pytest.raises(ValueError, match=message):
            cut([one], [(0, 2)], describe(one)[1])


def test_iterators_are_refused_since_passes_are_many(tmp_path):
    np.savetxt(tmp_path / "x.csv", np.eye(4), delimiter=",")
    for data, kind in ((chunks(tmp_path / "x.csv", 2), "FileChunks"), ((np.eye(3) for _ in range(2)), "generator")):
        with pytest.raises(ValueError, match=f"chunk 0 is a {kind}, not rows: give files, arrays, or a list"):
            Distributed(ROCSVC()).fit(data, np.arange(4) % 2)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_chunks_may_be_tables_of_other_libraries(library, examples):
    module = pytest.importorskip(library)
    X, y = examples(60, 3)
    make = module.DataFrame if library == "polars" else module.table
    table = make(dict(zip("abc", X.T)))
    blocks = FileBlocks([table, X])
    assert blocks.names.tolist() == ["a", "b", "c"] and np.array_equal(rows_of(blocks), np.concatenate([X, X]))
    assert describe(table) == ((60, 3), "float64", None, ["a", "b", "c"])
    single = make(dict(zip("abc", X.T.astype(np.float32))))
    assert describe(single)[1] == FileBlocks([single]).dtype == np.float32
    assert np.array_equal(cut([table, table], [(5, 60), (0, 10)], "float64"), np.concatenate([X[5:], X[:10]]))
    labels = module.Series(y) if library == "polars" else module.chunked_array([y[:9], y[9:]])
    model, plain = Distributed(ROCSVC()).fit([table[:20], table[20:]], labels), Distributed(ROCSVC()).fit([X], y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    for rows in (table, [table]):
        assert np.array_equal(model.decision_function(rows), plain.decision_function([X]))
    with pytest.raises(ValueError, match="should be those of fit, in their order"):
        model.predict(make(dict(zip("bac", X.T))))


def test_a_column_may_be_called_as_an_attribute_of_other_tables():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"column_names": [1.0, 2.0], "b": [3.0, 4.0]})
    assert FileBlocks([frame]).names.tolist() == describe(frame)[3] == ["column_names", "b"]


def test_tensors_that_numpy_cannot_read_are_refused_with_what_to_do():
    torch = pytest.importorskip("torch")
    rows = torch.ones(4, 2)
    assert np.array_equal(rows_of(FileBlocks([rows])), rows.numpy())
    assert np.array_equal(cut([rows], [(0, 3)], "float32"), rows[:3].numpy())
    with_gradients, fit = rows.clone().requires_grad_(), Distributed(ROCSVC()).fit
    for call in (FileBlocks, describe, lambda tensor: cut([tensor], [(0, 4)], "float32")):
        with pytest.raises(ValueError, match=r"chunk .*a torch.Tensor, cannot be read as an array: .*detach\(\)"):
            call(with_gradients)
    for data, labels in (([rows], with_gradients[:, 0]), ([(rows, with_gradients[:, 0])], None)):
        with pytest.raises(ValueError, match=r"(labels or weights|y of chunk 0), a torch.Tensor, cannot be read"):
            fit(data, labels)
