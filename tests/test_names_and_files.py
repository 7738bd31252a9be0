"""Suggestions for misspelled names, and files written whole or not at all."""

import os
import queue
import secrets
import stat
import tempfile
import threading

import pytest

from kernbench._files import check_writable_file, written_whole
from kernbench._names import unknown_name

# --- unknown_name ---------------------------------------------------------------------------------


def test_sentence_says_what_was_typed_what_was_meant_and_what_there_is():
    assert unknown_name("solver", "smoo", {"smo", "sbp", "pegasos"}) == (
        "unknown solver 'smoo'; did you mean 'smo'? Known: pegasos, sbp, smo."
    )


def test_nothing_near_is_not_guessed_at():
    assert unknown_name("solver", "zzz", ["smo", "sbp"]) == "unknown solver 'zzz'. Known: sbp, smo."
    assert unknown_name("option", "zzz", []) == "unknown option 'zzz'. There are none."


@pytest.mark.parametrize("typed", ["RBF", "Rbf", "rBf"])
def test_capitals_do_not_hide_what_was_meant(typed):
    assert f"unknown kernel {typed!r}; did you mean 'rbf'?" in unknown_name("kernel", typed, ["rbf", "linear"])


@pytest.mark.parametrize("given", [None, 3, 1.5, ["smo"], b"smo"])
def test_anything_can_be_typed(given):
    assert unknown_name("solver", given, ["smo"]).startswith(f"unknown solver {given!r}")


def test_known_names_may_come_from_anywhere():
    for known in ({"a": 1, "b": 2}, {"a", "b"}, iter("ba"), ("b", "a")):
        assert unknown_name("thing", "zzz", known).endswith("Known: a, b.")


# --- written_whole --------------------------------------------------------------------------------


@pytest.fixture
def target(tmp_path):
    return tmp_path / "results.txt"


def test_text_is_utf8_and_bytes_are_bytes(target):
    with written_whole(target) as file:
        file.write("α = 1\n")
    assert target.read_bytes() == "α = 1\n".encode()
    with written_whole(str(target), "wb") as file:
        file.write(b"\x00\xff\r\n")
    assert target.read_bytes() == b"\x00\xff\r\n"


def test_nothing_is_seen_before_the_end(target):
    target.write_text("old")
    with written_whole(target) as file:
        file.write("new" * 10_000)
        file.flush()
        assert target.read_text() == "old"
    assert target.read_text() == "new" * 10_000
    assert os.listdir(target.parent) == [target.name]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, MemoryError, SystemExit])
@pytest.mark.parametrize("old", ["old", None], ids=["over a file", "new file"])
def test_a_failure_leaves_what_was_there(target, failure, old):
    if old is not None:
        target.write_text(old)
    with pytest.raises(failure), written_whole(target) as file:
        file.write("half of the new")
        file.flush()
        raise failure
    assert os.listdir(target.parent) == ([target.name] if old else [])
    assert old is None or target.read_text() == old


@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
def test_a_full_disk_leaves_what_was_there(target, monkeypatch, call):
    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    target.write_text("old")
    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="No space left") as caught, written_whole(target) as file:
        file.write("new")
    assert os.listdir(target.parent) == [target.name] and target.read_text() == "old"
    assert caught.value.filename == str(target)


def test_text_that_cannot_be_encoded_leaves_what_was_there(target):
    target.write_text("old")
    with pytest.raises(UnicodeEncodeError), written_whole(target) as file:
        file.write("\udc80")
    assert os.listdir(target.parent) == [target.name] and target.read_text() == "old"


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
@pytest.mark.parametrize("umask, mode", [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_gets_the_permissions_open_would_give(target, umask, mode):
    before = os.umask(umask)
    try:
        with written_whole(target) as file:
            file.write("x")
        assert os.umask(umask) == umask  # and the process keeps its own
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.stat().st_mode) == mode


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_an_old_file_keeps_its_permissions(target, mode):
    """Who made a file private does not find it readable by all after the next run."""
    target.write_text("old")
    target.chmod(mode)
    with written_whole(target) as file:
        file.write("new")
    assert stat.S_IMODE(target.stat().st_mode) == mode and target.read_text() == "new"


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_what_replaces_a_private_file_is_private_from_the_start(target):
    target.write_text("old")
    target.chmod(0o600)
    before = os.umask(0o022)
    try:
        with written_whole(target):
            (temporary,) = {*os.listdir(target.parent)} - {target.name}
            assert stat.S_IMODE((target.parent / temporary).stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_a_temporary_file_of_another_process_is_left_alone(target, monkeypatch):
    words = iter(["taken", "free"])
    monkeypatch.setattr(secrets, "token_hex", lambda n_bytes: next(words))
    other = target.parent / f".{target.name}.taken"
    other.write_text("theirs")
    with written_whole(target) as file:
        file.write("ours")
    assert (other.read_text(), target.read_text()) == ("theirs", "ours")


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_a_link_is_written_through(target, tmp_path):
    """A results file that was moved to a larger disk and linked back stays there."""
    elsewhere = tmp_path / "large disk"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("old")
    target.symlink_to(elsewhere / "file")
    with written_whole(target) as file:
        file.write("new")
    assert target.is_symlink() and (elsewhere / "file").read_text() == "new"
    assert os.listdir(elsewhere) == ["file"]


def test_a_missing_folder_is_named(target):
    missing = target.parent / "no such folder" / "results.txt"
    with pytest.raises(FileNotFoundError, match="no such folder"), written_whole(missing):
        pytest.fail("there is nowhere to write to")


def test_a_folder_is_not_overwritten(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    with pytest.raises(OSError), written_whole(folder) as file:
        file.write("x")
    assert folder.is_dir() and os.listdir(tmp_path) == ["results"]


def test_a_bare_name_goes_to_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with written_whole("bare.txt") as file:
        file.write("x")
    assert (tmp_path / "bare.txt").read_text() == "x"


@pytest.mark.parametrize("mode", ["w", "wb"])
def test_an_error_names_the_file_asked_for(tmp_path, mode):
    with pytest.raises(FileNotFoundError) as caught, written_whole(tmp_path / "nowhere" / "x.npz", mode):
        pass
    assert caught.value.filename == str(tmp_path / "nowhere" / "x.npz")


def test_an_error_of_another_file_stays_as_it_is(target):
    with pytest.raises(FileNotFoundError) as caught, written_whole(target):
        open(target.parent / "absent.csv")
    assert caught.value.filename == str(target.parent / "absent.csv")
    with pytest.raises(OSError, match="^no route to host$"), written_whole(target):
        raise OSError("no route to host")


def test_a_name_of_full_length_can_be_written(tmp_path):
    target = tmp_path / ("x" * 250 + ".csv")
    with written_whole(target) as file:
        file.write("x")
    assert target.read_text() == "x"


def in_background(function):
    """Start a thread that calls `function`; return one that waits for the result."""
    answers = queue.Queue()
    threading.Thread(target=lambda: answers.put(function()), daemon=True).start()
    return lambda: answers.get(timeout=30)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = in_background(pipe.read_bytes)
    with written_whole(pipe) as file:
        file.write("α\n")
    assert received() == "α\n".encode()
    assert stat.S_ISFIFO(pipe.stat().st_mode) and os.listdir(tmp_path) == ["pipe"]


@pytest.mark.skipif(not hasattr(os, "mknod"), reason="needs device files")
def test_a_device_is_written_to_and_stays_a_device(tmp_path):
    device, link = tmp_path / "null", tmp_path / "link"
    try:
        # A /dev/null of our own: a fault must not hit the real one.
        os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        device.write_text("x")
    except PermissionError as error:
        pytest.skip(f"device files need privileges: {error}")
    link.symlink_to(device)
    for path in (device, link):
        with written_whole(path) as file:
            file.write("x")
    assert stat.S_ISCHR(device.stat().st_mode) and link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link", "null"]


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="needs /dev/fd")
def test_an_open_descriptor_is_written_to():
    """As ``/dev/stdout`` is, whose resolved name does not exist."""
    reading, writing = os.pipe()
    try:
        with written_whole(f"/dev/fd/{writing}") as file:
            file.write("x")
    finally:
        os.close(writing)
    with open(reading) as file:
        assert file.read() == "x"


# --- check_writable_file --------------------------------------------------------------------------


def test_what_cannot_be_written_is_said_before_and_nothing_is_created(target, monkeypatch):
    folder = target.parent
    check_writable_file(target)
    with pytest.raises(ValueError, match="it is a folder; name a file"):
        check_writable_file(folder)
    with pytest.raises(ValueError, match="the folder .*nowhere does not exist"):
        check_writable_file(folder / "nowhere" / "x.csv")

    def refuse(**options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", refuse)
    with pytest.raises(ValueError, match="cannot write .*results.txt: Permission denied"):
        check_writable_file(target)
    assert os.listdir(folder) == []
    target.write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ValueError, match="the file is write-protected"):
        check_writable_file(target)


def test_the_folder_that_counts_is_that_of_the_file_behind_a_link(target, tmp_path):
    target.symlink_to(tmp_path / "nowhere" / "x.npz")
    with pytest.raises(ValueError, match="results.txt: the folder .*nowhere does not exist"):
        check_writable_file(target)
    (tmp_path / "nowhere").mkdir()
    check_writable_file(target)
    with written_whole(target) as file:
        file.write("x")
    assert target.is_symlink() and (tmp_path / "nowhere" / "x.npz").read_text() == "x"


def test_a_link_to_itself_is_replaced(target):
    target.symlink_to(target)
    check_writable_file(target)
    with written_whole(target) as file:
        file.write("x")
    assert target.read_text() == "x"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_can_be_written_to_whatever_its_folder_allows(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(tempfile, "NamedTemporaryFile", lambda **options: pytest.fail("a pipe is not replaced"))
    check_writable_file(tmp_path / "pipe")
