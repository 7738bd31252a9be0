"""A build removes what earlier ones made of sources that are gone, and compiles all again with other options."""

import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILE = ROOT / "build_tools" / "stale.py"
pytestmark = pytest.mark.skipif(not FILE.exists(), reason="installed without the sources of the build")


def loaded(name, path):
    spec = spec_from_file_location(name, path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_modules_without_a_source_are_removed_and_no_others(tmp_path):
    stale = loaded("kernbench_build_stale", FILE)
    folder = tmp_path / "rooms"
    folder.mkdir()
    for name in ("_kept", "_moved", "_shared"):
        (folder / f"{name}{EXTENSION_SUFFIXES[0]}").touch()
    (folder / "_kept.pyx").touch()
    (folder / "data.so").touch()
    (moved,) = stale.remove_stale_files(tmp_path, tmp_path, ("_shared",))
    assert moved.name.partition(".")[0] == "_moved"
    left = sorted(path.name.partition(".")[0] for path in folder.iterdir())
    assert left == ["_kept", "_kept", "_shared", "data"]


def test_a_wheel_has_no_files_of_earlier_builds_whose_sources_are_gone(tmp_path):
    pytest.importorskip("Cython", reason="setup.py needs Cython")
    for name in ("setup.py", "build_tools/openmp.py", "build_tools/stale.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    sources, built = tmp_path / "kernbench" / "rooms", tmp_path / "build" / "lib.other" / "kernbench" / "rooms"
    for folder in (sources, built):
        folder.mkdir(parents=True)
        (folder / "kept.py").touch()
    (sources / "_kept.pyx").touch()
    compiled = [f"{name}{EXTENSION_SUFFIXES[0]}" for name in ("_kept", "_gone", "_cython")]
    of_another_python = [f"{name}.cpython-27-other{EXTENSION_SUFFIXES[-1]}" for name in ("_kept", "_gone")]
    for name in ("gone.py", *compiled, *of_another_python):
        (built / name).touch()
    # A command that compiles nothing.
    command = [sys.executable, "setup.py", "--name", "egg_info", "--egg-base", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name.partition(".")[0] for path in built.iterdir()) == ["_cython", "_kept", "_kept", "kept"]


def test_a_build_runs_as_many_compilers_as_it_may_use_processors(monkeypatch):
    pytest.importorskip("Cython", reason="setup.py needs Cython")
    monkeypatch.syspath_prepend(ROOT)  # build_tools
    setup = loaded("kernbench_setup", ROOT / "setup.py")
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5}, raising=False)
    assert setup.n_processors() == 2


def test_modules_are_compiled_again_if_and_only_if_options_have_changed(tmp_path, monkeypatch):
    pytest.importorskip("Cython", reason="setup.py needs Cython")
    shutil.copy(ROOT / "setup.py", tmp_path)
    (tmp_path / "kernbench").mkdir()
    (tmp_path / "kernbench" / "_a.pyx").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT)  # build_tools
    flags = {"1": (["-fopenmp"], ["-fopenmp"]), "0": ([], [])}  # without a probe of the compiler
    monkeypatch.setattr("build_tools.openmp.openmp_flags", lambda: flags[os.environ.get("KERNBENCH_OPENMP", "1")])

    def outdated(now, **options):
        """Build at the time `now`: which of the modules compiled a second before would be compiled again."""
        for name in ("KERNBENCH_DEBUG", "KERNBENCH_SANITIZE", "KERNBENCH_OPENMP"):
            monkeypatch.delenv(name, raising=False)
        for name, value in options.items():
            monkeypatch.setenv(f"KERNBENCH_{name}", value)
        file = tmp_path / "build" / "options.txt"
        before = file.stat().st_mtime_ns if file.exists() else None
        found = list(loaded("kernbench_setup", tmp_path / "setup.py").extensions())
        if file.exists() and file.stat().st_mtime_ns != before:
            os.utime(file, (now, now))
        assert len(found) == 2
        return [any(Path(path).stat().st_mtime > now - 1 for path in module.depends) for module in found]

    assert outdated(10, OPENMP="1") == [False, False] and not (tmp_path / "build").exists()
    assert outdated(20, DEBUG="1") == [True, True]
    assert outdated(30, DEBUG="1") == [False, False]
    assert outdated(40) == [True, True]
    assert outdated(50) == [False, False]
    assert outdated(60, OPENMP="0") == [True, True]
