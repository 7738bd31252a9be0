"""The record store: nothing is lost, partially written or silently skipped."""

import json
import os
import subprocess
import sys
import threading
import time

import pytest

from kernbench.experiments.run.storing.schema import VERSION
from kernbench.experiments.run.storing.store import SkippedLine, Store


def lines(store):
    return store.path("fake").read_text().splitlines()


def test_what_is_appended_is_read_back_in_order(tmp_path, make_record):
    store = Store(tmp_path / "new" / "results")
    records = [make_record(repeat=repeat, error="Straße ≠ street\n") for repeat in range(3)]
    for record in records:
        store.append(record)
    assert store.records("fake") == records
    assert store.records() == records
    assert store.experiments() == ["fake"]
    assert len(lines(store)) == 3


def test_absent_folder_and_absent_experiment_have_no_records(tmp_path):
    assert Store(tmp_path / "none").records() == []
    assert Store(tmp_path).records("fake") == []


def test_torn_last_line_is_ignored_with_a_warning_and_repaired_by_the_next_append(tmp_path, make_record):
    store = Store(tmp_path)
    store.append(make_record(repeat=0))
    with open(store.path("fake"), "a") as file:
        file.write('{"key": "abc", "exp')
    with pytest.warns(UserWarning, match=r"fake\.jsonl, line 2 is ignored: it ends in the middle"):
        assert [record["repeat"] for record in store.records("fake")] == [0]

    store.append(make_record(repeat=1))
    with pytest.warns(UserWarning, match="line 2 is skipped"):
        assert [record["repeat"] for record in store.records("fake")] == [0, 1]
    assert lines(store)[1] == '{"key": "abc", "exp'


def test_last_line_that_lacks_only_its_newline_counts(tmp_path, make_record):
    store = Store(tmp_path)
    store.path("fake").write_text(json.dumps(make_record(repeat=0)))
    assert [record["repeat"] for record in store.records("fake")] == [0]
    store.append(make_record(repeat=1))
    assert [record["repeat"] for record in store.records("fake")] == [0, 1]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("no JSON at all", "not JSON"),
        ("[1, 2]", "not a JSON object"),
        ('{"key": "abc"}', "'experiment' should be text"),
        (b"\xff\xfe", "not JSON"),
    ],
)
def test_corrupt_middle_line_is_reported_by_number_and_skipped(tmp_path, make_record, line, problem):
    store = Store(tmp_path)
    store.append(make_record(repeat=0))
    with open(store.path("fake"), "ab") as file:
        file.write((line if isinstance(line, bytes) else line.encode()) + b"\n")
    store.append(make_record(repeat=1))
    with pytest.warns(UserWarning, match=f"line 2 is skipped: .*{problem}"):
        assert [record["repeat"] for record in store.records("fake")] == [0, 1]
    assert len(store.path("fake").read_bytes().splitlines()) == 3


WRITER = """
import sys
sys.path[:] = {path!r}
from kernbench.experiments.run.storing.store import SkippedLine, Store
store, record = Store({folder!r}), {record!r}
for repeat in range(200):
    store.append({{**record, "method": sys.argv[1], "repeat": repeat}})
"""


def test_two_processes_append_without_mixing_lines(tmp_path, make_record):
    record = make_record(error="x" * 10_000)  # longer than a pipe's or a page's atomic write
    script = WRITER.format(path=sys.path, folder=str(tmp_path), record=record)
    writers = [subprocess.Popen([sys.executable, "-P", "-c", script, name]) for name in ("one", "two")]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    found = [(record["method"], record["repeat"]) for record in Store(tmp_path).records("fake")]
    assert sorted(found) == [(name, repeat) for name in ("one", "two") for repeat in range(200)]
    assert [repeat for name, repeat in found if name == "one"] == list(range(200))


def test_latest_takes_the_newest_of_each_key_and_keeps_a_success(tmp_path, make_record):
    store = Store(tmp_path)
    ends = [("a", "error"), ("a", "ok"), ("b", "ok"), ("b", "ok"), ("b", "timeout"), ("c", "error"), ("c", "timeout")]
    for seed, (key, status) in enumerate(ends, 1):
        store.append(make_record(key=key, status=status, seed=seed))
    assert {key: record["seed"] for key, record in store.latest("fake").items()} == {"a": 2, "b": 4, "c": 7}


def test_the_newest_record_is_the_one_begun_last_wherever_a_merge_has_put_it(tmp_path, make_record):
    ours, theirs = Store(tmp_path / "ours"), Store(tmp_path / "theirs")
    ours.append(make_record(seed=3, started="2025-02-03T00:00:00+00:00"))
    theirs.append(make_record(seed=1, started="2025-02-01T00:00:00+00:00"))
    ours.merge(theirs)
    assert [record["seed"] for record in ours.records("fake")] == [1, 3]
    assert [record["seed"] for record in ours.latest("fake").values()] == [3]
    assert ours.clean("fake")[0] == 1
    assert [record["seed"] for record in ours.records("fake")] == [3]


def test_merge_brings_over_what_is_missing_and_nothing_twice(tmp_path, make_record):
    ours, theirs = Store(tmp_path / "ours"), Store(tmp_path / "theirs")
    shared = make_record(repeat=0)
    ours.append(shared)
    theirs.append(shared)
    for _ in range(2):
        theirs.append(make_record(repeat=1))
    theirs.append(make_record(repeat=0, experiment="other"))
    assert ours.merge(theirs) == 2
    assert ours.merge(theirs) == 0
    assert [record["repeat"] for record in ours.records("fake")] == [0, 1]
    assert ours.experiments() == ["fake", "other"]


def test_a_file_with_records_of_several_experiments_is_merged_once_and_kept_by_cleaning(tmp_path, make_record):
    """As a packed file is that was unpacked by another program."""
    records = [make_record(key=name, experiment=name) for name in ("one", "two")]
    theirs, ours = Store(tmp_path / "theirs"), Store(tmp_path / "ours")
    theirs.folder.mkdir()
    theirs.path("records").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert theirs.clean("records") == (0, None)
    assert [ours.merge(theirs), ours.merge(theirs)] == [2, 0]
    assert ours.records() == records


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"status": "fine"}, "'status' should be one of ok, error, timeout, memory"),
        ({"repeat": "0"}, "'repeat' should be a whole number"),
        ({"metrics": None}, "'metrics' should be an object"),
        ({"experiment": "../elsewhere"}, "plain file name"),
        ({"metrics": {"objective": float("nan")}}, "JSON"),
        ({"params": {"kernel": print}}, "JSON"),
    ],
)
def test_malformed_record_is_refused_and_nothing_is_written(tmp_path, make_record, changes, problem):
    store = Store(tmp_path)
    with pytest.raises(ValueError, match=problem):
        store.append(make_record(**changes))
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_a_file_is_refused(tmp_path):
    path = tmp_path / "results"
    path.write_text("")
    with pytest.raises(ValueError, match="is a file; name a folder"):
        Store(path)


def test_folder_inside_a_file_is_refused_when_written(tmp_path, make_record):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="cannot write results"):
        Store(tmp_path / "file" / "results").append(make_record())


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind the superuser")
def test_read_only_folder_is_refused(tmp_path, make_record):
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match="cannot write results.*Permission denied"):
        Store(tmp_path).check_writable("fake")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder nobody can write: /proc")
def test_folder_nobody_can_write_is_refused():
    with pytest.raises(ValueError, match="cannot write results to '/proc/self/results"):
        Store("/proc/self/results").check_writable("fake")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device without space: /dev/full")
def test_full_disk_is_reported(tmp_path, make_record):
    store = Store(tmp_path)
    store.path("fake").symlink_to("/dev/full")
    with pytest.raises(ValueError, match="cannot write results.*No space left"):
        store.append(make_record())


def test_short_write_leaves_the_file_as_it_was(tmp_path, make_record, monkeypatch):
    store = Store(tmp_path)
    store.append(make_record(repeat=0))
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:10]))
    with pytest.raises(ValueError, match="No space left|fitted on the disk"):
        store.append(make_record(repeat=1))
    monkeypatch.undo()
    assert [record["repeat"] for record in store.records("fake")] == [0]
    assert len(lines(store)) == 1


def test_records_of_the_first_version_are_read_in_the_present_form(tmp_path, make_record):
    record = make_record(repeat=0)
    del record["schema"]
    Store(tmp_path).path("fake").write_text(json.dumps(record) + "\n")
    assert Store(tmp_path).records("fake") == [make_record(repeat=0)]
    assert "schema" not in Store(tmp_path).path("fake").read_text()


def test_limits_of_records_of_the_second_version_come_from_their_errors(tmp_path, make_record):
    old = make_record(schema=2, status="timeout", error="took longer than its limit of 1.5 s")
    del old["limits"]
    full = {**old, "key": "b", "status": "memory", "error": "used more memory than its limit of 1,024 MB"}
    lines = [json.dumps(record) + "\n" for record in (old, full, {**old, "key": "c", "error": None})]
    Store(tmp_path).path("fake").write_text("".join(lines))
    found = [record["limits"] for record in Store(tmp_path).records("fake")]
    assert found == [{"seconds": 1.5}, {"bytes": 2.0**30}, {}]


def test_records_of_a_later_version_are_named_skipped_and_kept(tmp_path, make_record):
    store = Store(tmp_path)
    store.append(make_record())
    later = store.path("fake").read_text().replace(f'"schema": {VERSION}', '"schema": 99')
    store.append(make_record(repeat=1, key="b"))
    with open(store.path("fake"), "a") as file:
        file.write(later + "no JSON\n")
    with pytest.warns(SkippedLine, match=f"schema 99, and this kernbench reads up to {VERSION}: update"):
        assert [record["repeat"] for record in store.records()] == [0, 1]
    assert store.clean("fake")[0] == 1
    assert lines(store)[2] + "\n" == later


@pytest.mark.parametrize("version", ["2", 0, True, 1.5])
def test_a_version_that_is_no_count_is_a_fault(tmp_path, make_record, version):
    with pytest.raises(ValueError, match="'schema' should be the number"):
        Store(tmp_path).append(make_record(schema=version))


def test_cleaning_drops_what_is_superseded_or_torn_and_keeps_a_copy(tmp_path, make_record):
    store = Store(tmp_path)
    for key, status, seed in [("a", "error", 1), ("a", "ok", 2), ("b", "ok", 3), ("b", "timeout", 4)]:
        store.append(make_record(key=key, status=status, seed=seed))
    with open(store.path("fake"), "a") as file:
        file.write("no JSON\n" + json.dumps(make_record(key="c", experiment="other")) + '\n{"key": "d')
    before = store.path("fake").read_bytes()
    dropped, copy = store.clean("fake")
    assert dropped == 4 and copy.read_bytes() == before
    assert {record["key"]: record["seed"] for record in store.records("fake")} == {"a": 2, "b": 3, "c": 1}
    assert store.clean("fake") == (0, None)
    assert store.experiments() == ["fake"]  # the copy is no experiment


def test_no_copy_is_ever_overwritten(tmp_path, make_record):
    store = Store(tmp_path)
    copies = []
    for k in range(3):
        store.append(make_record(seed=k))
        with open(store.path("fake"), "a") as file:
            file.write(f"damage {k}\n")
        copies.append(store.clean("fake")[1])
        if k == 1:
            copies[0].unlink()  # one copy is left, and its number is two
    assert [copy.name for copy in copies] == [f"fake.jsonl.before-{k}" for k in (1, 2, 3)]
    assert "damage 1" in copies[1].read_text() and "damage 2" in copies[2].read_text()


def test_a_kill_while_cleaning_leaves_the_file_whole(tmp_path, make_record, monkeypatch):
    store = Store(tmp_path)
    store.append(make_record())
    with open(store.path("fake"), "a") as file:
        file.write("damage\n")
    before = store.path("fake").read_bytes()

    def killed(*_):
        assert store.path("fake").read_bytes() == before
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        store.clean("fake")
    assert store.path("fake").read_bytes() == before


def test_a_record_that_waits_for_cleaning_is_appended_to_the_new_file(tmp_path, make_record):
    store = Store(tmp_path)
    store.append(make_record(repeat=0))
    with store._locked_for_append("fake"):
        waiting = threading.Thread(target=store.append, args=(make_record(repeat=1),))
        waiting.start()
        time.sleep(0.1)
        new = tmp_path / "new"
        new.write_text(json.dumps(make_record(repeat=5)) + "\n")
        os.replace(new, store.path("fake"))
    waiting.join()
    assert [record["repeat"] for record in store.records("fake")] == [5, 1]


def test_only_what_is_added_is_read_again(tmp_path, make_record):
    store = Store(tmp_path)
    assert store.since("fake", None) == ([], None)
    store.append(make_record(repeat=0))
    _, end = store.since("fake", None)
    assert store.since("fake", end) == ([], end)
    store.append(make_record(repeat=1))
    added, end = store.since("fake", end)
    assert [record["repeat"] for record in added] == [1]
    store.append(make_record(repeat=2, key="b"))
    store.clean("fake")
    assert [record["repeat"] for record in store.since("fake", end)[0]] == [1, 2]  # another file
