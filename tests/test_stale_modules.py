"""An in-place build removes the modules of sources that are gone, and compiles all again with other options."""

import os
import shutil
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
    assert [path.name.partition(".")[0] for path in stale.remove_stale_modules(tmp_path, ("_shared",))] == ["_moved"]
    left = sorted(path.name.partition(".")[0] for path in folder.iterdir())
    assert left == ["_kept", "_kept", "_shared", "data"]


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
