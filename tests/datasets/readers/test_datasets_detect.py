"""read_file: the reader for each name and content, compressed or not; no damage makes it crash."""

import bz2
import errno
import gzip
import lzma
import os
import zipfile
from codecs import BOM_UTF8

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from kernbench.datasets import DataFileError, chunks, read_file, write_npz, write_svmlight
from kernbench.datasets.readers.compressed import open_bytes
from kernbench.datasets.readers.detect import format_of

X = np.array([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0], [0.25, 0.0, -1.0]])
Y = np.array([1, -1, 1])
SVMLIGHT = b"1 1:0.5 3:2\n-1 2:1\n1 1:0.25 3:-1\n"
TABLE = b"a,b,c,y\n0.5,0,2,1\n0,1,0,-1\n0.25,0,-1,1\n"
COMPRESSIONS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def _dense(features):
    return features.toarray() if hasattr(features, "toarray") else features


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data.svm", SVMLIGHT),
        ("data.libsvm", SVMLIGHT),
        ("a9a", SVMLIGHT),
        ("a9a.t", SVMLIGHT),
        ("data.txt", SVMLIGHT),
        ("data.CSV", TABLE),
        ("data.tsv", TABLE.replace(b",", b"\t")),
        ("data.data", TABLE),
        ("data", TABLE.partition(b"\n")[2].replace(b",", b" ")),
    ],
)
def test_name_and_content_choose_the_reader(name, content, compression, write):
    features, labels = read_file(write(name + compression, COMPRESSIONS[compression](content)))
    np.testing.assert_array_equal(_dense(features), X)
    np.testing.assert_array_equal(labels, Y)


def test_one_line_without_an_end_is_told_by_its_content(write):
    features, labels = read_file(write("one-line", b"-1 2:0.5"))
    assert features.toarray().tolist() == [[0.0, 0.5]] and labels.tolist() == [-1]


@pytest.mark.parametrize("before", ["\n" * 60_000, "# LIBSVM\n", "\ufeff"])
def test_what_is_before_the_first_row_does_not_hide_the_format(before, write):
    """Nor does a search through it take a time that grows with the square of its length."""
    assert format_of(write("rows", before + "1 qid:3 1:0.5\n")) == "svmlight"
    assert format_of(write("rows", before + "1,2\n")) == "csv"


def test_a_label_and_its_features_are_on_one_line(write):
    assert format_of(write("times", "started\n10:30 1 2\n10:45 3 4\n")) == "csv"


@pytest.mark.parametrize("name", ["data.npz", "no-suffix"])
def test_archives_are_recognised(name, tmp_path):
    write_npz(tmp_path / name, X, Y)
    features, labels = read_file(str(tmp_path / name))
    np.testing.assert_array_equal(features, X)
    np.testing.assert_array_equal(labels, Y)


def test_the_content_decides_the_compression_not_the_name(write):
    np.testing.assert_array_equal(_dense(read_file(write("data.svm.gz", SVMLIGHT))[0]), X)
    np.testing.assert_array_equal(_dense(read_file(write("data.svm", gzip.compress(SVMLIGHT)))[0]), X)


@pytest.mark.parametrize("compression", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize(("name", "content"), [("data.svm", SVMLIGHT), ("data.csv", TABLE), ("data", TABLE)])
def test_a_truncated_compressed_file_is_named(name, content, compression, write):
    path = write(name + compression, COMPRESSIONS[compression](content)[:-9])
    with pytest.raises(DataFileError) as caught:
        read_file(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "data are truncated; remove the file and fetch it again" in str(caught.value)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize(("name", "content"), [("data.svm", SVMLIGHT), ("data", SVMLIGHT), ("data.csv", TABLE)])
def test_a_byte_order_mark_is_not_a_part_of_the_text(name, content, compression, write):
    path = write(name + compression, COMPRESSIONS[compression](BOM_UTF8 + content))
    features, labels = read_file(path)
    np.testing.assert_array_equal(_dense(features), X)
    np.testing.assert_array_equal(labels, Y)
    (part,) = chunks(path, 10)
    np.testing.assert_array_equal(_dense(part[0]), X)
    faulty = write(name + compression, COMPRESSIONS[compression](BOM_UTF8 + content.replace(b"0.5", b"x")))
    with pytest.raises(DataFileError, match="found '(1:)?x'"):
        read_file(faulty)


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="needs paths of descriptors")
def test_a_pipe_is_refused_with_the_remedy():
    source, sink = os.pipe()
    os.write(sink, SVMLIGHT)
    os.close(sink)
    with pytest.raises(DataFileError, match=f"/dev/fd/{source}: a pipe or a device; .*write the data to one first"):
        read_file(f"/dev/fd/{source}")
    os.close(source)


def test_a_damaged_compressed_file_is_named(write):
    packed = bytearray(gzip.compress(SVMLIGHT * 20))
    packed[-6] ^= 0xFF  # the check sum at the end
    with pytest.raises(DataFileError, match="data.svm.gz: the gzip data are damaged"):
        read_file(write("data.svm.gz", bytes(packed)))


def test_an_error_of_the_disk_is_not_one_of_the_content(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"1 1:1"))
    with pytest.raises(OSError, match="Input/output error"), open_bytes(path):
        raise OSError(errno.EIO, "Input/output error")


def test_a_missing_file_is_an_ordinary_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing.svm"):
        read_file(tmp_path / "nothing.svm")


def test_a_binary_file_is_refused(write):
    with pytest.raises(DataFileError, match="picture: a binary file; expected"):
        read_file(write("picture", b"\x89PNG\r\n\x00\x01"))


def test_a_workbook_is_no_archive_of_arrays(tmp_path):
    path = tmp_path / "table.xlsx"
    with zipfile.ZipFile(path, "w") as workbook:
        workbook.writestr("[Content_Types].xml", "<Types/>")
        workbook.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(DataFileError, match=r"table.xlsx: a binary file; expected LIBSVM text, a table \(.csv"):
        read_file(path)


def test_labels_can_be_skipped(write, tmp_path):
    write_npz(tmp_path / "data.npz", X, Y)
    for path in (write("data.svm", SVMLIGHT), write("data.csv", "1,2\n3,4\n"), tmp_path / "data.npz"):
        assert read_file(path, label=None)[1] is None


def test_a_label_column_is_refused_outside_tables(write):
    with pytest.raises(ValueError, match="label='y' names a column of a table, but .* svmlight format"):
        read_file(write("data.svm", SVMLIGHT), label="y")


def test_n_features_is_checked_in_every_format(write, tmp_path):
    assert read_file(write("data.svm", SVMLIGHT), n_features=9)[0].shape == (3, 9)
    assert read_file(write("data.csv", TABLE), n_features=3)[0].shape == (3, 3)
    with pytest.raises(DataFileError, match="data.csv: found 3 feature columns beside the labels, expected 9"):
        read_file(write("data.csv", TABLE), n_features=9)


@pytest.mark.parametrize("n_features", [0, 2.0, "3"])
@pytest.mark.parametrize("read", [read_file, lambda path, n_features: chunks(path, 2, n_features=n_features)])
def test_n_features_is_a_count_in_every_format(read, n_features, write):
    for path in (write("data.svm", SVMLIGHT), write("data.csv", TABLE)):
        with pytest.raises(ValueError, match="n_features must be a positive integer"):
            read(path, n_features=n_features)


@pytest.mark.parametrize("label", [True, False])
def test_a_boolean_is_no_position_of_a_label_column(label, write):
    """``label=False`` does not mean the first column, nor that there are no labels: that is None."""
    path = write("data.csv", TABLE)
    for read in (read_file, lambda path, label: chunks(path, 2, label=label)):
        with pytest.raises(ValueError, match="label must be a column's position or name, or None, got"):
            read(path, label=label)


def test_what_is_written_as_svmlight_is_read(tmp_path):
    write_svmlight(tmp_path / "data.svm", X, Y)
    features, labels = read_file(tmp_path / "data.svm")
    np.testing.assert_array_equal(features.toarray(), X)
    np.testing.assert_array_equal(labels, Y)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int32", "uint64", "int64", "float16", "float32", ">f8", "longdouble"]
)
def test_real_numbers_of_any_type_are_written_as_svmlight(dtype, tmp_path):
    rows = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 0]], dtype=dtype)
    forms = [rows, rows.tolist()]
    if dtype not in ("float16", ">f8"):  # SciPy has no such matrices
        forms.append(sparse.csr_matrix(rows))
    for form in forms:
        write_svmlight(tmp_path / "data.svm", form, Y)
        np.testing.assert_array_equal(read_file(tmp_path / "data.svm")[0].toarray(), rows)
    with pytest.raises(ValueError, match="Complex data not supported"):
        write_svmlight(tmp_path / "data.svm", rows.astype(complex), Y)


def test_a_write_that_fails_leaves_nothing_behind(tmp_path):
    with pytest.raises(ValueError):
        write_svmlight(tmp_path / "data.svm", X, Y[:2])
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damage_makes_it_crash(data, tmp_path):
    """If any bytes are lost, changed or added, the file is read or the error names it."""
    write_npz(tmp_path / "good.npz", X, Y)
    archive = (tmp_path / "good.npz").read_bytes()
    name, content = data.draw(st.sampled_from([("f.svm", SVMLIGHT), ("f.csv", TABLE), ("f.npz", archive)]))
    content = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        stop = data.draw(st.integers(start, min(start + 5, len(content))))
        text = data.draw(st.binary(max_size=3) | st.sampled_from([b",", b":", b"\n", b'"', b"nan", b" ", b"9" * 20]))
        content[start:stop] = text
    compression = data.draw(st.sampled_from(sorted(COMPRESSIONS)))
    path = tmp_path / (name + compression)
    path.write_bytes(COMPRESSIONS[compression](bytes(content)))
    try:
        features, labels = read_file(path)
    except DataFileError as error:
        assert str(error).startswith(str(path))
    else:
        assert features.shape[0] == len(labels)
        assert np.isfinite(_dense(features) if features.shape[1] < 100 else features.data).all()
