"""``kernbench doctor``."""

import json
import shutil
from importlib import metadata
from pathlib import Path

import pytest

from kernbench.cli import diagnosis
from kernbench.cli.diagnosis import installation, machine, surroundings
from kernbench.cli.diagnosis.finding import BROKEN, LACK, OK, Finding
from kernbench.validation import container


def test_every_subject_is_looked_at_and_every_lack_has_a_remedy(kernbench):
    done = kernbench("doctor", "--json")
    report = json.loads(done.stdout)
    assert done.exit_code == 0 and report["ok"] is True
    subjects = " ".join(finding["what"] for finding in report["findings"])
    for subject in ("compiled modules", "compiler", "OpenMP", "SIMD", "BLAS", "cores", "memory", "peer scikit-learn",
                    "peer scikit-learn-intelex", "data", "asv", "Dask", "store", "disk: results"):  # fmt: skip
        assert subject in subjects
    for finding in report["findings"]:
        assert finding["found"] and (finding["status"] == OK or finding["remedy"]), finding


def test_what_is_printed_is_what_was_found(kernbench):
    shown = kernbench("doctor").stdout
    assert "✓ compiled modules" in shown and "→" in shown
    assert Path("results").exists() is False  # it writes nothing


def test_something_broken_is_exit_code_1(kernbench, monkeypatch):
    monkeypatch.setenv("KERNBENCH_DATA", "/nowhere/at/all")
    done = kernbench("doctor")
    assert done.exit_code == 1
    assert "✗ data" in done.stdout and "set KERNBENCH_DATA to a folder" in done.stdout


def test_json_is_json_whatever_the_terminal_can_show(kernbench, monkeypatch):
    finding = Finding("data", OK, "/home/zoë")
    monkeypatch.setattr(diagnosis, "examine", lambda results: [finding])
    shown = kernbench("doctor", "--json").stdout
    assert shown.isascii() and json.loads(shown)["findings"][0]["found"] == finding.found


def test_a_data_folder_below_the_home_folder_is_found_as_the_readers_find_it(monkeypatch, tmp_path):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KERNBENCH_DATA", "~/data")
    (found,) = surroundings.data_sets()
    assert found.status != BROKEN


def test_an_examination_that_fails_is_a_finding(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "cores", lambda: 1 / 0)
    monkeypatch.setattr(installation, "compiler", lambda: [])
    (found,) = [finding for finding in diagnosis.examine(tmp_path) if finding.status == BROKEN]
    assert found.what == "cores" and "ZeroDivisionError" in found.found


def test_a_package_that_is_missing_is_named(monkeypatch):
    def version(name):
        if name == "rich":
            raise metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(metadata, "version", version)
    (found,) = installation.packages()
    assert found.status == BROKEN and found.remedy == "python -m pip install rich"


def test_git_is_not_to_be_installed_by_pip(monkeypatch):
    monkeypatch.setattr(surroundings, "version", lambda package: "0.6")
    monkeypatch.setattr(surroundings, "find_spec", lambda module: None if module == "virtualenv" else module)
    monkeypatch.setattr(shutil, "which", lambda program: None)
    (found,) = surroundings.asv()
    assert found.status == LACK and found.found == "asv 0.6 lacks virtualenv, git"
    pip, git = found.remedy.split("; ")
    assert pip == "python -m pip install virtualenv" and "pip" not in git


def test_the_packages_of_dask_are_those_of_the_extra(monkeypatch):
    monkeypatch.setattr(surroundings, "find_spec", lambda module: None)
    (found,) = surroundings.dask()
    assert found.remedy == "python -m pip install 'dask[array,dataframe]' distributed"


def test_a_module_that_cannot_be_imported_is_broken(monkeypatch):
    def fail(name):
        raise ImportError("undefined symbol")

    monkeypatch.setattr(installation, "import_module", fail)
    (found,) = installation.compiled_modules()
    assert found.status == BROKEN and "undefined symbol" in found.found and "pip install ." in found.remedy


def test_no_compiler_is_a_lack(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    (found,) = installation.compiler()
    assert found.status == LACK and "install GCC" in found.remedy


def test_a_compiler_behind_another_program_is_called_as_it_is_set(monkeypatch):
    called = []
    monkeypatch.setenv("CC", "ccache gcc -pipe")
    monkeypatch.setattr(installation, "output", lambda *command: called.append(command) or "gcc 14")
    (found,) = installation.compiler()
    assert found.status == OK and [command[:3] for command in called[:2]] == [("ccache", "gcc", "-pipe")] * 2


@pytest.mark.parametrize(
    "flags, level, status",
    [
        (set.union(*installation.LEVELS.values()), "x86-64-v4", OK),
        (installation.LEVELS["x86-64-v3"], "x86-64-v3", OK),
        ({"sse2"}, "x86-64,", LACK),
    ],
)
def test_the_level_of_the_loops_is_that_of_the_processor(monkeypatch, flags, level, status):
    monkeypatch.setattr(installation.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(installation, "_processor_flags", lambda: flags)
    (found,) = installation.simd()
    if "in this build" not in found.found:  # a compiler without function clones
        assert found.found.startswith(level) and found.status == status


def test_a_container_that_allows_less_than_the_cores_is_told(monkeypatch):
    monkeypatch.setattr(machine, "_container_cores", lambda: 0.5)
    (found,) = machine.cores()
    assert found.status == LACK and "0.5" in found.found and "--threads 1" in found.remedy


def test_a_container_that_allows_less_than_the_memory_is_told(monkeypatch, tmp_path):
    groups = container.CGROUPS
    for own in groups:
        (tmp_path / own.limit).write_text(f"{2**26}\n")
        folders = [tmp_path if group is own else tmp_path / "absent" for group in groups]
        elsewhere = tuple(group._replace(folder=folder) for group, folder in zip(groups, folders))
        monkeypatch.setattr(container, "CGROUPS", elsewhere)
        (found,) = machine.memory()
        assert found.status == LACK and found.found.endswith("the container may use 0.1 GB")


@pytest.mark.parametrize("free, status", [(10**6, BROKEN), (10**8, LACK), (10**11, OK)])
def test_room_on_the_disk(monkeypatch, tmp_path, free, status):
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**12, 0, free))
    (found,) = machine.room("results", tmp_path / "not" / "yet")
    assert found.status == status and str(tmp_path) in found.found


def test_a_folder_that_cannot_be_looked_at_is_another_folders_matter(monkeypatch, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (found,) = machine.room("results", tmp_path / "loop")
    assert (found.what, found.status, found.remedy) == ("disk: results", BROKEN, "choose another folder")

    def denied(self, **how):
        raise PermissionError(13, "Permission denied", str(self))

    for asked in ("exists", "stat"):
        monkeypatch.setattr(Path, asked, denied)
    for found in (*machine.room("results", tmp_path), *surroundings.store(tmp_path)):
        assert found.status == BROKEN and "Permission denied" in found.found and "another folder" in found.remedy


def test_an_experiment_without_records_is_not_counted(tmp_path):
    (tmp_path / "peers-svm.jsonl").touch()  # as a run makes it before its first fit
    (found,) = surroundings.store(tmp_path)
    assert found.status == OK and found.found.startswith("0 records of 0 experiments in")


def test_a_torn_line_is_a_lack_and_a_newer_schema_is_broken(tmp_path):
    (tmp_path / "peers-svm.jsonl").write_text('{"key": "torn\n')
    (found,) = surroundings.store(tmp_path)
    assert found.status == LACK and "; 1 line is not a record: " in found.found and "results clean" in found.remedy
    record = dict.fromkeys(("key", "experiment", "scale", "dataset", "method", "started"), "x")
    record |= dict.fromkeys(("metrics", "seconds", "trace", "params", "data", "environment"), {})
    (tmp_path / "x.jsonl").write_text(json.dumps({**record, "status": "ok", "repeat": 0, "seed": 0, "schema": 99}))
    (found,) = surroundings.store(tmp_path)
    assert found.status == BROKEN and "99" in found.found
