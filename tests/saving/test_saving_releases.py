"""Model files of each release are read, and predict what they did."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

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
