"""Crafted and damaged files end in a message that names them, never in a crash, and never beyond the free memory."""

import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib import format as npy
from scipy import sparse

from kernbench import KernelSVC, load
from kernbench.datasets import DataFileError, chunks
from kernbench.datasets.readers.npz import read_npz
from kernbench.saving.plain_data import decode
from kernbench.validation import archives, container

HOSTILE = {
    "X_data": np.ones(4),
    "X_indices": np.array([0, 1, 0, 1], "i4"),
    "X_indptr": np.array([0, 2**20, 2**20, 0], "i4"),
    "X_shape": np.array([3, 2]),
    "y": np.array([0, 1, 0]),
}


def test_row_starts_that_decrease_are_refused(tmp_path):
    path = tmp_path / "bad.npz"
    np.savez(path, **HOSTILE)
    # In a process of its own: it used to write out of bounds.
    run = subprocess.run(
        [sys.executable, "-P", "-c", "from kernbench.cli import main; main()", "fit", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 2, run.stderr
    assert "X is not a valid CSR matrix: indptr must have 4 entries" in " ".join(run.stderr.split())
    with pytest.raises(DataFileError, match="indptr"):
        read_npz(path)


def test_model_files_check_row_starts():
    arrays = {f"rows.{part}": HOSTILE[f"X_{part}"] for part in ("data", "indices", "indptr")}
    with pytest.raises(ValueError, match="indptr must have 4 entries"):
        decode({"$csr": "rows", "shape": [3, 2], "array": False}, arrays)


small = st.integers(-3, 9)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sparse")


@settings(max_examples=200, deadline=None)
@given(indices=st.lists(small, max_size=6), starts=st.lists(small, min_size=1, max_size=6), n_data=st.integers(0, 6),
       shape=st.tuples(st.integers(0, 5), st.integers(0, 5)), wide=st.booleans())  # fmt: skip
def test_any_sparse_arrays_are_a_matrix_or_refused(indices, starts, n_data, shape, wide, folder):
    kind = "i8" if wide else "i4"
    parts = {"data": np.arange(1.0, 1 + n_data), "indices": np.array(indices, kind), "indptr": np.array(starts, kind)}
    path = folder / "any.npz"
    stored = {f"X_{name}": value for name, value in parts.items()}
    np.savez(path, y=np.zeros(max(shape[0], 0)), X_shape=np.array(shape), **stored)
    try:
        X, _ = read_npz(path)
    except DataFileError:
        return
    valid = starts[0] == 0 and len(starts) == shape[0] + 1 and sorted(starts) == starts
    assert valid and starts[-1] <= min(len(indices), n_data)
    assert all(0 <= index < shape[1] for index in indices[: starts[-1]])
    dense = np.zeros(shape)
    for row, (start, stop) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
        dense[row, indices[start:stop]] = parts["data"][start:stop]
    assert np.array_equal(X.toarray(), dense)


def _archive(path, name, header, content):
    """An archive with one array, whose header says what it likes."""
    file = io.BytesIO()
    npy.write_array_header_1_0(file, header)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.npy", file.getvalue() + content)


def test_a_header_that_asks_for_more_than_the_file_holds_is_refused(tmp_path):
    path = tmp_path / "bomb.npz"
    _archive(path, "X", {"descr": "<f8", "fortran_order": False, "shape": (2**40, 2**20)}, b"\0" * 64)
    with pytest.raises(DataFileError, match="the array 'X' is damaged .its header asks for 9223372036854775808 bytes"):
        read_npz(path)
    with pytest.raises(ValueError, match="bomb.npz is not a model file, or is damaged: its header"):
        load(path)


def test_a_header_that_asks_for_less_than_the_file_holds_is_refused(tmp_path):
    path = tmp_path / "longer.npz"
    _archive(path, "X", {"descr": "<f8", "fortran_order": False, "shape": (2, 2)}, b"\0" * 40)
    with pytest.raises(DataFileError, match="its header asks for 32 bytes, and 40 follow"):
        read_npz(path)


def test_an_archive_in_place_of_labels_is_refused(tmp_path):
    np.savez(tmp_path / "y.npz", y=np.zeros(3))
    (tmp_path / "y.npz").rename(tmp_path / "y.npy")
    with pytest.raises(ValueError, match="y.npy is not an array as numpy.save writes them"):
        archives.load_vector(tmp_path / "y.npy")


def _leave(n_bytes, folder, monkeypatch):
    """Let the limit of a container leave this much memory."""
    group = container.CGROUPS[0]._replace(folder=folder)
    (folder / group.limit).write_text(str(n_bytes))
    (folder / group.usage).write_text("0")
    monkeypatch.setattr(container, "CGROUPS", [group])


def test_an_archive_that_does_not_fit_the_free_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "large.npz"
    np.savez_compressed(path, X=np.zeros((2**17, 8)), y=np.zeros(2**17))
    assert read_npz(path)[0].shape == (2**17, 8)
    _leave(2**22, tmp_path, monkeypatch)
    with pytest.raises(
        DataFileError, match="unpacks to 0.0 GB, and 0.0 GB of memory are free: read larger data in chunks"
    ):
        read_npz(path)


def test_an_archive_that_does_not_fit_as_float64_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "bytes.npz"
    np.savez_compressed(path, X=np.zeros((2**17, 8), dtype=np.uint8), y=np.zeros(2**17, dtype=np.uint8))
    _leave(2**22, tmp_path, monkeypatch)
    with pytest.raises(DataFileError, match="bytes.npz: the array 'X' is too large as float64: it unpacks to"):
        read_npz(path)
    _leave(2**24, tmp_path, monkeypatch)
    assert read_npz(path)[0].dtype == np.float64


HEADERS = [
    b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8',",
    b"\x93NUMPY\x01\x00\x08\x00((((((((",
    b"\x93NUMPY\x07\x00\x10\x00" + b" " * 16,
    b"\x93NUMPY\x01\x00\x40\x00{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3), }    \n",
    b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}",
    b"\x93NUMP",
]


@pytest.mark.parametrize("content", HEADERS)
def test_a_damaged_npy_header_is_refused_in_a_line(content, tmp_path):
    path = tmp_path / "rows.npy"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not an array as numpy.save writes them"):
        list(chunks(path, 10))
    from kernbench.distributed.sources import open_sources

    with pytest.raises(ValueError, match="is not an array as numpy.save writes them"):
        open_sources(path)


def test_columns_that_are_not_numbers_are_named(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    from kernbench.distributed.sources import open_sources

    dates = pandas.DataFrame({"when": pandas.date_range("2020-01-01", periods=4), "x": range(4), "y": [0, 1, 0, 1]})
    kinds = pandas.DataFrame({"colour": pandas.Categorical(list("abab")), "x": range(4), "y": [0, 1, 0, 1]})
    for frame, name in ((dates, "when"), (kinds, "colour")):
        frame.to_parquet(tmp_path / "table.parquet")
        for read in (lambda: list(chunks(tmp_path / "table.parquet", 10, label="y")),
                     lambda: open_sources(tmp_path / "table.parquet", label="y")):  # fmt: skip
            with pytest.raises(ValueError, match=f"the column '{name}' holds .*, not numbers"):
                read()
    labelled = kinds[["x", "colour"]]
    labelled.to_parquet(tmp_path / "labelled.parquet")
    ((_, y),) = chunks(tmp_path / "labelled.parquet", 10, label="colour")
    (source,) = open_sources(tmp_path / "labelled.parquet", label="colour")
    assert list(y) == list(source.labels()) == list("abab")


def test_a_corrupt_sparse_matrix_is_refused_by_fit_and_predict():
    bad = sparse.csr_matrix((3, 2))
    bad.data, bad.indices, bad.indptr = (HOSTILE[f"X_{part}"] for part in ("data", "indices", "indptr"))
    y = np.array([0, 1, 0])
    with pytest.raises(ValueError, match="X is not a valid CSR matrix"):
        KernelSVC().fit(bad, y)
    model = KernelSVC(gamma=1.0).fit(np.eye(3)[:, :2], y)
    with pytest.raises(ValueError, match="X is not a valid CSR matrix"):
        model.predict(bad)


def test_a_model_file_with_a_crafted_matrix_is_refused(tmp_path):
    path = tmp_path / "model.npz"
    X = sparse.csr_matrix(np.eye(4))
    KernelSVC(gamma=1.0, C=10.0).fit(X, [0, 1, 0, 1]).save(path)
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    (starts,) = [name for name in arrays if name.endswith(".indptr")]
    assert json.loads(str(arrays["header"]))["class"] == "KernelSVC"
    arrays[starts] = np.array([0, 2**20, 2**20, 2**20, 0], dtype=arrays[starts].dtype)
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="is damaged: .*indptr"):
        load(path)
