"""An in-place build removes the compiled modules of sources that were moved or deleted."""

from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

FILE = Path(__file__).parents[1] / "build_tools" / "stale.py"


@pytest.mark.skipif(not FILE.exists(), reason="installed without the sources of the build")
def test_modules_without_a_source_are_removed_and_no_others(tmp_path):
    spec = spec_from_file_location("kernbench_build_stale", FILE)
    stale = module_from_spec(spec)
    spec.loader.exec_module(stale)
    folder = tmp_path / "rooms"
    folder.mkdir()
    for name in ("_kept", "_moved", "_shared"):
        (folder / f"{name}{EXTENSION_SUFFIXES[0]}").touch()
    (folder / "_kept.pyx").touch()
    (folder / "data.so").touch()
    assert [path.name.partition(".")[0] for path in stale.remove_stale_modules(tmp_path, ("_shared",))] == ["_moved"]
    left = sorted(path.name.partition(".")[0] for path in folder.iterdir())
    assert left == ["_kept", "_kept", "_shared", "data"]
