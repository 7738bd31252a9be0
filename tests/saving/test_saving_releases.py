"""Model files of each release are read, and predict what they did."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kernbench
from kernbench import load
from kernbench._models import BY_NAME
from kernbench._version import __version__

HERE = Path(__file__).parent
spec = importlib.util.spec_from_file_location("releases_of_models", HERE / "releases.py")
releases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(releases)

FILES = sorted((HERE / "releases").glob("*/*.npz"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_model_of_a_release_predicts_what_it_did(path):
    model = load(path)
    assert type(model) is BY_NAME[path.stem].load()
    expected = np.load(path.with_suffix(".npy"))
    # The same bits on one machine; BLAS and vector instructions of another may differ in the last digits.
    accuracy = 1e-5 if expected.dtype == np.float32 or getattr(model, "dtype_", None) == "float32" else 1e-11
    answer = releases.answer(model, releases.new_rows())
    np.testing.assert_allclose(answer, expected, rtol=0, atol=accuracy * max(1, np.abs(expected).max()))


def test_a_release_keeps_a_file_of_each_model():
    """A version that is begun has no folder until ``tools/release/models`` is run."""
    kept = {}
    for path in FILES:
        kept.setdefault(path.parent.name, set()).add(path.stem)
    assert "0.1.0" in kept and kept.get(__version__, BY_NAME.keys()) == BY_NAME.keys()


def test_the_tool_adds_the_models_that_have_no_file_and_leaves_the_others(tmp_path):
    """As after a new estimator, for which the version has a folder already."""
    tool, folder = tmp_path / "tools" / "release", tmp_path / "tests" / "saving" / "releases" / __version__
    tool.mkdir(parents=True)
    folder.mkdir(parents=True)
    shutil.copy(HERE.parents[1] / "tools" / "release" / "models", tool)
    shutil.copy(HERE / "releases.py", folder.parents[1])
    others = BY_NAME.keys() - {"KernelSVC"}
    for name in others:
        for ending in ("npz", "npy"):
            (folder / f"{name}.{ending}").touch()
    environment = {**os.environ, "PYTHONPATH": str(Path(kernbench.__file__).parents[1])}
    done = subprocess.run([sys.executable, tool / "models"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    written = {path.name for path in folder.iterdir() if path.stat().st_size}
    assert written == {"KernelSVC.npz", "KernelSVC.npy"} and len(list(folder.iterdir())) == 2 * len(BY_NAME)
    assert type(load(folder / "KernelSVC.npz")).__name__ == "KernelSVC"
