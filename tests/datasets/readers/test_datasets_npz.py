"""NumPy archives: values, types, and the messages for broken files."""

import io
import zipfile

import numpy as np
import pytest
from scipy import sparse

from kernbench.datasets import DataFileError, read_file, read_npz, write_npz, write_svmlight
from kernbench.datasets.readers import npz

X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
Y = np.array([1, -1])


@pytest.fixture
def save(tmp_path):
    def put(**arrays):
        np.savez(tmp_path / "data.npz", **arrays)
        return tmp_path / "data.npz"

    return put


def _csr(**changes):
    parts = {"data": [1.0, 2.0, 3.0], "indices": [0, 2, 2], "indptr": [0, 2, 3], "shape": [2, 3], **changes}
    return {f"X_{part}": np.array(value) for part, value in parts.items()}


def test_dense_and_sparse_arrays(save):
    for arrays in ({"X": X}, _csr()):
        features, labels = read_npz(save(y=Y, **arrays))
        np.testing.assert_array_equal(features.toarray() if sparse.issparse(features) else features, X)
        np.testing.assert_array_equal(labels, Y)


def test_unsorted_csr_is_sorted(save):
    features, _ = read_npz(save(y=Y, **_csr(data=[2.0, 1.0, 3.0], indices=[2, 0, 2])))
    assert features.has_sorted_indices
    np.testing.assert_array_equal(features.toarray(), X)


def test_parts_are_chosen(save):
    path = save(X_train=X, y_train=Y, X_test=2 * X, y_test=-Y)
    for part, factor in ((None, 1), ("train", 1), ("test", 2)):
        np.testing.assert_array_equal(read_npz(path, part=part)[0], factor * X)
    np.testing.assert_array_equal(read_npz(path, part="test")[1], -Y)
    with pytest.raises(ValueError, match="part must be None, 'train' or 'test', got 'val'"):
        read_npz(path, part="val")


def test_types_of_numbers(save):
    assert read_npz(save(X=X.astype(np.float32), y=Y))[0].dtype == np.float32
    for dtype in (np.uint8, np.float16, np.longdouble):
        assert read_npz(save(X=X.astype(dtype), y=Y))[0].dtype == np.float64
    assert read_npz(save(X=X, y=Y.astype(float)))[1].dtype == np.int64
    assert read_npz(save(X=X, y=np.array(["a", "b"])))[1].tolist() == ["a", "b"]
    assert read_npz(save(X=X, y=np.array([0.5, 1.0])))[1].tolist() == [0.5, 1.0]
    assert read_npz(save(X=X, y=np.array([2.0**53 - 1, 1.0])))[1].dtype == np.int64
    assert read_npz(save(X=X, y=np.array([2.0**53, 1.0])))[1].dtype == np.float64  # of 2^53 or 2^53 + 1


def test_float64_is_not_copied(save, monkeypatch):
    arrays = {"X": X.copy(), "y": Y}
    monkeypatch.setattr(npz, "read_member", lambda archive, name: arrays[name])
    assert read_npz(save(**arrays))[0] is arrays["X"]


def test_labels_are_optional(save):
    assert read_npz(save(X=X), labelled=False)[1] is None


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"X": X}, "the array 'y' is missing; the file holds 'X'"),
        ({"y": Y}, "no array 'X' or 'X_train' .*; the file holds 'y'"),
        ({"X_train": X, "y": Y}, "the array 'y_train' is missing; the file holds 'X_train', 'y'"),
        ({"X": X, "y": np.array([1, -1, 1])}, "X has 2 rows but y has 3 labels"),
        ({"X": X, "y": Y[:1]}, "X has 2 rows but y has 1 labels"),
        ({"X": X, "y": np.array([1, "a"], dtype=object)}, "the array 'y' holds Python objects"),
        ({"X": X.astype(object), "y": Y}, "the array 'X' holds Python objects"),
        ({"X": X.astype(str), "y": Y}, "the array 'X' is of type <U32, expected numbers"),
        ({"X": X[:, :, None], "y": Y}, r"the array 'X' has shape \(2, 3, 1\), expected \(n_samples, n_features\)"),
        ({"X": X, "y": Y[:, None]}, r"the array 'y' has shape \(2, 1\), expected \(n_samples,\)"),
        ({"X": X, "y": np.array([1j, 2])}, "the array 'y' is of type complex128, expected numbers or strings"),
        ({"X": np.where(X == 3, np.nan, X), "y": Y}, r"the array 'X' holds nan at \[1, 2\]"),
        ({"X": X, "y": np.array([np.inf, 1])}, r"the array 'y' holds inf at \[0\]"),
        ({"X": np.empty((0, 3)), "y": Y[:0]}, r"'X' is empty: its shape is \(0, 3\)"),
        ({"y": Y, "X_data": X[0]}, "the array 'X_indices' is missing"),
        ({"y": Y, **_csr(indices=[0, 2, 9])}, "X is not a valid CSR matrix: row 1 has the column index 9"),
        ({"y": Y, **_csr(indptr=[0, 2, 9])}, "X is not a valid CSR matrix: indptr must have 3 entries"),
        ({"y": Y, **_csr(indptr=[0, 2**20, 0])}, "X is not a valid CSR matrix: indptr must have 3 entries"),
        ({"y": Y, **_csr(indptr=[0, 0, 0])}, "indptr ends with 0, but there are 3 indices and 3 data"),
        ({"y": Y, **_csr(shape=[2, 2**40])}, "its shape must be two sizes from 0 to 2147483647"),
        (
            {"y": Y, **_csr(indices=[0.0, 2.0, 2.0])},
            "X is not a valid CSR matrix: indices must be a one-dimensional array of integers",
        ),
        ({"y": Y, **_csr(shape=6)}, "shape must be a one-dimensional array of integers"),
        ({"y": Y, **_csr(indices=[2, 2, 2])}, "the CSR matrix 'X' has duplicate entries"),
        ({"y": Y, **_csr(data=[1.0, np.nan, 3.0])}, r"the array 'X_data' holds nan at \[1\]"),
    ],
)
def test_a_fault_is_named_by_file_and_array(arrays, said, save):
    path = save(**arrays)
    with pytest.raises(DataFileError, match=said) as caught:
        read_npz(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_pickled_objects_are_never_loaded(save):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    path = save(X=np.array([Trap()], dtype=object), y=Y)
    with pytest.raises(DataFileError, match="'X' holds Python objects"):
        read_npz(path)


def test_the_training_part_may_be_sparse(save):
    features, labels = read_npz(
        save(y_train=Y, **{name.replace("X", "X_train"): part for name, part in _csr().items()})
    )
    np.testing.assert_array_equal(features.toarray(), X)
    np.testing.assert_array_equal(labels, Y)


@pytest.mark.parametrize("content", [b"", b"not a zip at all", b"\x93NUMPY\x01\x00"])
def test_other_files_are_refused(content, write):
    with pytest.raises(DataFileError, match="fake.npz: not a complete .npz archive"):
        read_npz(write("fake.npz", content))


def test_a_truncated_archive_is_refused(save):
    path = save(X=X, y=Y)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataFileError, match="data.npz: not a complete .npz archive"):
        read_npz(path)


def test_a_damaged_member_is_refused(save):
    path = save(X=X, y=Y)
    content = bytearray(path.read_bytes())
    content[content.index(X[1].tobytes())] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(DataFileError, match="the array 'X' is damaged"):
        read_npz(path)


def test_another_zip_archive_is_refused_with_its_members(write):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("letter.xml", "<xml/>")
    with pytest.raises(DataFileError, match="the file holds 'letter.xml'"):
        read_npz(write("letter.npz", buffer.getvalue()))


@pytest.mark.parametrize("sparse_input", [False, True])
def test_what_is_written_is_read_bit_for_bit(sparse_input, tmp_path):
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((30, 8)) < 0.4, rng.standard_normal((30, 8)), 0.0)
    labels = rng.choice(["yes", "no"], 30)
    write_npz(tmp_path / "data.npz", sparse.csr_array(dense) if sparse_input else dense, labels)
    features, y = read_npz(tmp_path / "data.npz")
    np.testing.assert_array_equal(features.toarray() if sparse_input else features, dense)
    np.testing.assert_array_equal(y, labels)


@pytest.mark.parametrize("suffix, write", [("npz", write_npz), ("svm", write_svmlight)])
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array])
def test_entries_at_one_place_are_written_as_their_sum(suffix, write, make, tmp_path):
    """Both readers refuse an index that occurs twice in a row."""
    features = make((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    path = tmp_path / f"data.{suffix}"
    write(path, features, [1, -1])
    np.testing.assert_array_equal(read_file(path)[0].toarray(), features.toarray())
    assert features.nnz == 3  # as it was


@pytest.mark.parametrize(("features", "labels"), [(X, Y[:1]), (X, Y[:, None]), (X[0], Y[:1])])
def test_what_could_not_be_read_is_not_written(features, labels, tmp_path):
    with pytest.raises(ValueError, match="X must have two dimensions, and y a label for each row; got shapes"):
        write_npz(tmp_path / "data.npz", features, labels)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("features", "labels", "said"),
    [
        (np.where(X == 3, np.nan, X), Y, r"the array 'X' holds nan at \[1, 2\]"),
        (sparse.csr_matrix(np.where(X == 3, np.inf, X)), Y, r"the array 'X_data' holds inf at \[2\]"),
        (X, np.array([0.5, np.nan]), r"the array 'y' holds nan at \[1\]"),
        (X.astype(str), Y, "the array 'X' is of type <U32, expected numbers"),
        (X + 1j, Y, "the array 'X' is of type complex128, expected numbers"),
        (X, np.array([b"a", b"b"]), r"the array 'y' is of type \|S1, expected numbers or strings"),
        (X[:0], Y[:0], r"X is empty: its shape is \(0, 3\)"),
    ],
)
def test_values_that_could_not_be_read_are_not_written(features, labels, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        write_npz(tmp_path / "data.npz", features, labels)
    assert list(tmp_path.iterdir()) == []


def test_objects_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="y holds Python objects"):
        write_npz(tmp_path / "data.npz", X, np.array([1, "a"], dtype=object))
    assert list(tmp_path.iterdir()) == []
