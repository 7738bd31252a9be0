"""Zip archives: members of a download, and checksums of the content alone."""

import hashlib
import io
import os
import zipfile

import numpy as np
import pytest

from kernbench.datasets import DatasetUnavailable
from kernbench.datasets.files import checksums
from kernbench.datasets.files.locate import locate
from kernbench.datasets.files.remote import RemoteFile

CONTENT = b"1 1:1\n-1 2:1\n" * 50
CHECKSUM = hashlib.sha256(CONTENT).hexdigest()
PAGE = "https://page.test"


def _zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("url", "answer"),
    [
        ("https://one.test/all.zip#folder/tiny", _zipped(**{"folder/tiny": CONTENT, "other": b"1"})),
        (
            "https://one.test/all.zip#inner.zip#folder/tiny",
            _zipped(**{"inner.zip": _zipped(**{"folder/tiny": CONTENT})}),
        ),
    ],
)
def test_a_member_of_an_archive_is_kept_alone(url, answer, cache, server):
    server["https://one.test/all.zip"] = answer
    file = RemoteFile("tiny", CHECKSUM, (url,))
    assert locate("tiny set", [file], PAGE) == {"tiny": cache / "tiny"}
    assert (cache / "tiny").read_bytes() == CONTENT
    assert [path.name for path in cache.iterdir()] == ["tiny"]


@pytest.mark.parametrize(
    "answer",
    [_zipped(**{"another": CONTENT}), _zipped(**{"folder/tiny": CONTENT})[:-30], b"<html>Please log in</html>"],
    ids=["no such member", "truncated", "a login page"],
)
def test_a_bad_archive_leaves_nothing(answer, cache, server):
    server["https://one.test/all.zip"] = answer
    file = RemoteFile("tiny", CHECKSUM, ("https://one.test/all.zip#folder/tiny",))
    with pytest.raises(DatasetUnavailable, match=r"all\.zip#folder/tiny \(the download is damaged\)"):
        locate("tiny set", [file], PAGE)
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("member", ["../escaped", "folder/../../../escaped", "/tmp/../escaped"])
@pytest.mark.parametrize("asked_for", [True, False], ids=["asked for", "beside"])
def test_no_member_leaves_the_folder(member, asked_for, cache, server, tmp_path):
    server["https://one.test/all.zip"] = _zipped(**{member: CONTENT, "folder/tiny": CONTENT})
    file = RemoteFile("tiny", CHECKSUM, (f"https://one.test/all.zip#{member if asked_for else 'folder/tiny'}",))
    if asked_for:
        with pytest.raises(DatasetUnavailable, match=r"\(the download is damaged\)"):
            locate("tiny set", [file], PAGE)
    else:
        locate("tiny set", [file], PAGE)
    kept = [path.relative_to(cache) for path in cache.rglob("*")]
    assert [str(path) for path in kept if path.name != checksums.STORE] == ([] if asked_for else ["tiny"])
    assert list(tmp_path.iterdir()) == [cache] and not os.path.exists("/escaped")


def test_the_checksum_of_an_archive_is_that_of_its_arrays(tmp_path):
    X, y = np.arange(6.0).reshape(3, 2), np.array([1, -1, 1])
    np.savez(tmp_path / "a.npz", X=X, y=y)
    np.savez_compressed(tmp_path / "b.npz", y=y, X=X)
    np.savez(tmp_path / "c.npz", X=X, y=-y)
    first, again, other = (checksums.content_checksum(tmp_path / f"{name}.npz") for name in "abc")
    assert first == again != other
    (tmp_path / "a.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:-40])
    with pytest.raises(ValueError, match="a.npz: the zip archive is damaged"):
        checksums.content_checksum(tmp_path / "a.npz")
