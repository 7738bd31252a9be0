"""Files of published sets: where they are looked for, verified and downloaded."""

import bz2
import gzip
import hashlib
import json
import lzma
import os
import pickle
import stat

import pooch
import pytest

from kernbench.datasets import (
    ChecksumMismatch,
    DatasetUnavailable,
    available,
    cache_folder,
    describe,
    fetch,
    load,
    verify,
)
from kernbench.datasets.files import checksums
from kernbench.datasets.files.checksums import fresh_checksum
from kernbench.datasets.files.locate import check_files, locate
from kernbench.datasets.files.remote import RemoteFile, combined_checksum

CONTENT = b"1 1:1\n-1 2:1\n" * 50
TINY = RemoteFile("tiny", hashlib.sha256(CONTENT).hexdigest(), ("https://one.test/tiny", "https://two.test/tiny.gz"))
PAGE = "https://page.test"


def test_cache_folder_is_chosen_by_the_environment(cache, monkeypatch):
    assert cache_folder() == cache
    monkeypatch.delenv("KERNBENCH_CACHE")
    assert cache_folder() == type(cache)(pooch.os_cache("kernbench"))


@pytest.mark.skipif(os.name != "posix", reason="HOME is POSIX's")
def test_a_tilde_stands_for_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, folder in (("DATA", "my data"), ("CACHE", "kept")):
        monkeypatch.setenv(f"KERNBENCH_{name}", f"~/{folder}")
    assert cache_folder() == tmp_path / "kept"
    (tmp_path / "my data").mkdir()
    (tmp_path / "my data" / "tiny").write_bytes(CONTENT)
    assert locate("tiny set", [TINY], PAGE) == {"tiny": tmp_path / "my data" / "tiny"}


@pytest.mark.parametrize(
    ("suffix", "compress"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_a_file_is_found_plain_or_compressed(suffix, compress, data_folder, server):
    path = data_folder / f"tiny{suffix}"
    path.write_bytes(compress(CONTENT))
    assert locate("tiny set", [TINY], PAGE) == {"tiny": path}
    assert server["asked"] == []


def test_the_data_folder_comes_before_the_cache(data_folder, cache, server):
    cache.mkdir()
    (cache / "tiny").write_bytes(CONTENT)
    assert locate("tiny set", [TINY], PAGE) == {"tiny": cache / "tiny"}
    (data_folder / "tiny").write_bytes(CONTENT)
    assert locate("tiny set", [TINY], PAGE) == {"tiny": data_folder / "tiny"}


def test_a_download_is_kept_in_the_cache_and_not_repeated(cache, server):
    server["https://one.test/tiny"] = CONTENT
    path = locate("tiny set", [TINY], PAGE)["tiny"]
    assert path == cache / "tiny"
    assert path.read_bytes() == CONTENT
    locate("tiny set", [TINY], PAGE)
    assert server["asked"] == ["https://one.test/tiny"]


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_a_download_can_be_read_by_those_who_share_the_cache_folder(cache, server):
    server["https://one.test/tiny"] = CONTENT
    before = os.umask(0o022)
    try:
        path = locate("tiny set", [TINY], PAGE)["tiny"]
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(cache.glob(".*")) == []


def test_a_download_logs_nothing_and_leaves_the_level_of_poochs_log(cache, server, caplog, monkeypatch):
    logger = pooch.get_logger()
    monkeypatch.setattr(logger, "handlers", [caplog.handler])  # its own prints to the standard error
    before = logger.level
    server["https://one.test/tiny"] = CONTENT
    locate("tiny set", [TINY], PAGE)
    assert caplog.records == []
    assert logger.level == before


@pytest.mark.parametrize(
    "first",
    [ConnectionError("refused"), b"<html>Please log in</html>", gzip.compress(CONTENT)[:-9]],
    ids=["no connection", "a login page", "truncated"],
)
def test_a_bad_origin_is_followed_by_the_next(first, cache, server):
    server["https://one.test/tiny"] = first
    server["https://two.test/tiny.gz"] = gzip.compress(CONTENT)
    assert locate("tiny set", [TINY], PAGE) == {"tiny": cache / "tiny.gz"}


def test_a_download_decompressed_in_transfer_is_accepted(cache, server):
    server["https://two.test/tiny.gz"] = CONTENT  # as with "Content-Encoding: gzip"
    assert locate("tiny set", [TINY], PAGE) == {"tiny": cache / "tiny.gz"}
    assert verify_tiny() == "ok"


def verify_tiny():
    (status,) = check_files([("tiny set", [TINY])])
    return status.status


@pytest.mark.parametrize(
    "answer",
    [OSError("broken pipe"), KeyboardInterrupt(), b"other content", CONTENT[:-1]],
    ids=["failure", "interrupt", "other content", "truncated"],
)
def test_a_download_arrives_whole_or_not_at_all(answer, cache, server):
    server["https://one.test/tiny"] = answer
    with pytest.raises((DatasetUnavailable, KeyboardInterrupt)):
        locate("tiny set", [TINY], PAGE)
    assert list(cache.iterdir()) == []


def test_a_file_is_found_under_its_other_names(data_folder, server):
    file = RemoteFile(TINY.name, TINY.checksum, (), aliases=("Tiny-1.0.txt",))
    path = data_folder / "Tiny-1.0.txt.gz"
    path.write_bytes(gzip.compress(CONTENT))
    assert locate("tiny set", [file], PAGE) == {"tiny": path}


def test_other_line_ends_are_accepted_if_their_checksum_is_listed(data_folder, server):
    content = CONTENT.replace(b"\n", b"\r\n")
    (data_folder / "tiny").write_bytes(content)
    with pytest.raises(ChecksumMismatch):
        locate("tiny set", [TINY], PAGE)
    other = hashlib.sha256(content).hexdigest()
    file = RemoteFile(TINY.name, TINY.checksum, (), same_examples=(other,))
    assert locate("tiny set", [file], PAGE) == {"tiny": data_folder / "tiny"}
    (status,) = check_files([("tiny set", [file])])
    assert (status.status, status.found, status.expected) == ("ok", other, TINY.checksum)


def test_a_missing_file_without_address_is_reported_with_its_recipe(server):
    file = RemoteFile("made.npz", "ab" * 32, (), recipe="the first rows")
    with pytest.raises(DatasetUnavailable) as caught:
        locate("made set", [file], PAGE)
    assert "no download, since no address offers one" in str(caught.value)
    assert f"make made.npz from what {PAGE} offers (the first rows) and place it in" in str(caught.value)


def test_without_network_the_message_says_what_to_do(data_folder, cache, server):
    with pytest.raises(DatasetUnavailable) as caught:
        load("adult")
    message = str(caught.value)
    assert isinstance(caught.value, OSError)
    assert "\n" not in message
    for fact in ("'adult'", "a9a, a9a.t", str(data_folder), str(cache), "no route to host", "KERNBENCH_DATA"):
        assert fact in message
    assert "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/a9a " in message  # what was tried
    assert "get a9a, a9a.t from https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html" in message
    assert str(pickle.loads(pickle.dumps(caught.value))) == message


@pytest.mark.parametrize("name", [name for name in available() if describe(name).files])
def test_a_missing_set_is_named_with_its_page_and_files(name, server):
    entry = describe(name)
    with pytest.raises(DatasetUnavailable) as caught:
        load(name)
    for fact in (entry.source, *(file.name for file in entry.files), *(file.recipe for file in entry.files)):
        assert fact in str(caught.value)
    addresses = [url.partition("#")[0] for url in entry.files[0].urls]
    assert server["asked"] == addresses


@pytest.mark.parametrize("variable", ["KERNBENCH_DATA", "KERNBENCH_CACHE"])
def test_the_home_of_an_unknown_user_is_a_folder_that_does_not_exist(variable, data_folder, monkeypatch, server):
    monkeypatch.setenv(variable, "~no-such-user/data")
    assert "adult" not in available(offline=True)
    with pytest.raises(DatasetUnavailable, match=r"~no-such-user/data \(no such folder\)"):
        locate("tiny set", [RemoteFile(TINY.name, TINY.checksum, ())], PAGE)


def test_the_message_says_when_a_folder_does_not_exist(cache, server, monkeypatch, tmp_path):
    with pytest.raises(DatasetUnavailable, match=r"KERNBENCH_DATA \(not set\)"):
        fetch("covtype")
    monkeypatch.setenv("KERNBENCH_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetUnavailable, match=r"nowhere \(no such folder\)"):
        fetch("covtype")


def test_a_failed_connection_is_reported_by_its_type(server):
    server["https://one.test/tiny"] = ConnectionError("HTTPSConnectionPool" * 50)
    with pytest.raises(DatasetUnavailable, match=r"https://one.test/tiny \(ConnectionError\)"):
        locate("tiny set", [TINY], PAGE)


def test_a_full_disk_is_reported_as_such(server):
    server["https://one.test/tiny"] = OSError(28, "No space left on device", "/a/folder" * 20)
    with pytest.raises(DatasetUnavailable, match=r"https://one.test/tiny \(No space left on device\)"):
        locate("tiny set", [TINY], PAGE)


def test_a_wrong_file_is_refused_by_name_and_not_replaced(data_folder, server):
    path = data_folder / "a9a"
    path.write_bytes(b"-1 1:1\n")
    found = hashlib.sha256(b"-1 1:1\n").hexdigest()
    with pytest.raises(ChecksumMismatch) as caught:
        load("adult")
    assert isinstance(caught.value, ValueError)
    for fact in (str(path), found, "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906", "Remove"):
        assert fact in str(caught.value)
    assert path.read_bytes() == b"-1 1:1\n"
    assert server["asked"] == []


def test_a_truncated_file_is_refused_by_name(data_folder, server):
    path = data_folder / "a9a.gz"
    path.write_bytes(gzip.compress(os.urandom(5000))[:-100])
    with pytest.raises(ValueError, match=r"a9a\.gz: the gzip data are truncated"):
        load("adult")


def test_a_file_is_hashed_once_and_again_when_it_changes(data_folder, monkeypatch):
    hashed = []
    original = checksums.content_checksum
    monkeypatch.setattr(checksums, "content_checksum", lambda path: hashed.append(path) or original(path))
    path = data_folder / "tiny"
    path.write_bytes(CONTENT)
    for _ in range(3):
        locate("tiny set", [TINY], PAGE)
    assert len(hashed) == 1
    path.write_bytes(CONTENT.replace(b"-1", b"+1"))  # same size
    os.utime(path, ns=(0, 123_456_789))
    with pytest.raises(ChecksumMismatch):
        locate("tiny set", [TINY], PAGE)
    assert len(hashed) == 2


def test_the_checksums_of_several_files_are_stored(data_folder, cache):
    paths = [data_folder / name for name in ("one", "two")]
    for path in paths:
        path.write_bytes(CONTENT)
        checksums.stored_checksum(path)
    assert set(json.loads((cache / checksums.STORE).read_text())) == set(map(str, paths))


def test_a_file_that_changes_while_it_is_hashed_is_hashed_again(data_folder, monkeypatch):
    path, original = data_folder / "tiny", checksums.content_checksum
    path.write_bytes(CONTENT)

    def changing(path):
        found = original(path)
        path.write_bytes(CONTENT + CONTENT)
        return found

    with monkeypatch.context() as during:
        during.setattr(checksums, "content_checksum", changing)
        assert checksums.stored_checksum(path) == TINY.checksum
    assert checksums.stored_checksum(path) == hashlib.sha256(CONTENT + CONTENT).hexdigest()


def test_a_message_names_only_what_is_still_missing(cache, server):
    other = RemoteFile("other", "0" * 64, ("https://three.test/other",))
    server["https://one.test/tiny"] = CONTENT
    with pytest.raises(DatasetUnavailable, match="the data set 'two files' needs other, not found"):
        locate("two files", [TINY, other], PAGE)


@pytest.mark.parametrize("store", ["", "[1, 2]", "{", '{"KEY": 3}', '{"KEY": [1, 2, 3, 4]}'])
def test_a_damaged_store_is_ignored(store, data_folder, cache):
    path = data_folder / "tiny"
    path.write_bytes(CONTENT)
    cache.mkdir()
    (cache / checksums.STORE).write_text(store.replace("KEY", str(path)))
    assert locate("tiny set", [TINY], PAGE) == {"tiny": path}


def test_an_unwritable_cache_is_ignored(data_folder, tmp_path, monkeypatch):
    (tmp_path / "occupied").touch()
    monkeypatch.setenv("KERNBENCH_CACHE", str(tmp_path / "occupied"))
    (data_folder / "tiny").write_bytes(CONTENT)
    assert locate("tiny set", [TINY], PAGE) == {"tiny": data_folder / "tiny"}


def test_verify_ignores_stored_checksums(data_folder):
    path = data_folder / "tiny"
    path.write_bytes(CONTENT)
    locate("tiny set", [TINY], PAGE)
    stamp = path.stat().st_mtime_ns
    path.write_bytes(CONTENT.replace(b"-1", b"+1"))
    os.utime(path, ns=(stamp, stamp))
    assert verify_tiny() == "wrong checksum"
    path.write_bytes(gzip.compress(os.urandom(1000))[:-50])
    assert verify_tiny() == "damaged"
    path.unlink()
    assert verify_tiny() == "missing"


def test_verify_reports_every_file_of_every_real_set():
    assert {status.dataset for status in verify()} == {name for name in available() if describe(name).files}
    assert [status.name for status in verify("adult")] == ["a9a", "a9a.t"]
    assert all(status.status == "missing" and status.path is None for status in verify())
    assert verify("blobs") == []
    assert verify(["blobs", "adult"]) == verify("adult")


def test_a_file_of_several_sets_is_hashed_once(data_folder, monkeypatch):
    (data_folder / "tiny").write_bytes(CONTENT)
    (data_folder / "torn.gz").write_bytes(gzip.compress(os.urandom(1000))[:-50])
    hashed, torn = [], RemoteFile("torn", TINY.checksum, ())

    def counted(path):
        hashed.append(path.name)
        return fresh_checksum(path)

    monkeypatch.setattr("kernbench.datasets.files.locate.fresh_checksum", counted)
    statuses = check_files([("one", [TINY, torn]), ("other", [TINY, torn])])
    assert [(status.dataset, status.status) for status in statuses] == [
        *(("one", "ok"), ("one", "damaged")),
        *(("other", "ok"), ("other", "damaged")),
    ]
    assert hashed == ["tiny", "torn.gz"]


def test_sets_without_files_need_no_fetching():
    assert fetch("blobs") == fetch("breast-cancer") == []


def test_the_checksum_of_several_files_is_that_of_their_listing():
    other = RemoteFile("other", "ab" * 32, ())
    assert combined_checksum([TINY]) == TINY.checksum
    listing = f"{TINY.checksum}  tiny\n{'ab' * 32}  other\n"
    assert combined_checksum([TINY, other]) == hashlib.sha256(listing.encode()).hexdigest()
