"""Provenance is complete, and never causes a failure."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kernbench.experiments import registry
from kernbench.experiments.run import environment
from kernbench.experiments.run.cells import Cell
from kernbench.experiments.run.machine import Machine


def test_environment_is_complete_and_json():
    found = environment.collect(1)
    assert set(found) == {
        "kernbench", "git_commit", "git_dirty", "code", "python", "numpy", "scipy", "scikit-learn",
        "processor", "n_cores", "n_threads", "blas", "platform",
    }  # fmt: skip
    assert json.loads(json.dumps(found)) == found
    assert found["n_threads"] == 1 and found["n_cores"] >= 1
    assert found["blas"] != "unknown" and found["processor"]


def test_a_record_tells_the_version_of_the_library_that_it_measures(monkeypatch):
    required = {"own": None, "numpy": "numpy", "absent": "no_such_module"}
    methods = [SimpleNamespace(name=name, requires=module, package=None) for name, module in required.items()]
    monkeypatch.setattr(registry, "EXPERIMENTS", (SimpleNamespace(name="toy", methods=methods),))
    peers = environment.peers()
    assert peers == {"numpy": f"numpy {np.__version__}"}
    machine = Machine({"n_cores": 1, "peers": peers}, {"toy": 1}, None, digest=lambda names: "0123")

    def found(method):
        return machine.environment(Cell("toy", "quick", "data", method, 0, 0, "", {}, "", {}, "", ""))

    assert found("own") == {"n_cores": 1, "n_threads": 1, "experiment_code": "0123"}
    assert found("numpy") == found("own") | {"peer": f"numpy {np.__version__}"}


def test_nothing_to_be_had_is_no_failure(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("threadpoolctl.threadpool_info", lambda: 1 / 0)
    environment.blas.cache_clear()
    try:
        found = environment.collect()
    finally:
        environment.blas.cache_clear()
    assert found["git_commit"] is None and found["blas"] == "unknown"
    assert found["n_threads"] == found["n_cores"]


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ("processor\t: 0\nmodel name\t: A 9 @ 2 GHz\n\nprocessor\t: 1\nmodel name\t: B\n", "A 9 @ 2 GHz"),
        ("model name\t: A EPYC\ncpu family\t: 25\nmodel\t\t: 17\n", "A EPYC (family 25, model 17)"),
        ("cpu family\t: 25\nmodel\t\t: 17\nmodel name\t: A 7R13\n", "A 7R13"),
        ("model name\t: A EPYC\n", "A EPYC"),
        ("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n", "aarch64 0x41 0xd40"),
        ("processor\t: 0\n", "aarch64"),
    ],
)
def test_processors_of_two_kinds_have_two_names(monkeypatch, tmp_path, lines, name):
    """They are a part of a record's key: what one machine has measured, another one measures too."""
    (tmp_path / "cpuinfo").write_text(lines)
    monkeypatch.setattr(environment, "CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(environment.platform, "system", lambda: "Linux")
    monkeypatch.setattr(environment.platform, "processor", lambda: "")
    monkeypatch.setattr(environment.platform, "machine", lambda: "aarch64")
    assert environment.processor.__wrapped__() == name


def test_git_state_follows_the_package_folder_only(tmp_path):
    package = tmp_path / "package"
    package.mkdir()

    def git(*words):
        identity = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", tmp_path, *identity, *words], check=True, capture_output=True)

    try:
        git("init")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs git")
    (package / "a.py").write_text("a = 1\n")
    assert environment.git_state(package) == (None, None)  # inside a checkout, but not of it
    git("add", ".")
    git("commit", "-m", "one")
    commit, dirty = environment.git_state(package)
    assert len(commit) == 40 and dirty is False
    (tmp_path / "results.jsonl").write_text("{}\n")
    assert environment.git_state(package) == (commit, False)
    (package / "a.py").write_text("a = 2\n")
    assert environment.git_state(package) == (commit, True)


def test_the_commit_is_that_of_the_whole_package():
    import kernbench

    assert environment.PACKAGE == Path(kernbench.__file__).resolve().parent


def test_show_versions_prints_what_records_say(capsys):
    import kernbench

    kernbench.show_versions()
    shown = dict(line.strip().split(": ", 1) for line in capsys.readouterr().out.splitlines())
    for name, value in environment.collect().items():
        assert shown[name] == str(value)
    assert "openmp" in shown["threads"] or "blas" in shown["threads"]
