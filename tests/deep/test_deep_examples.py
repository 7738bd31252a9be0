"""The examples in docstrings of kernbench.deep, and its public names."""

import doctest
import pkgutil
from importlib import import_module

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from kernbench import deep  # noqa: E402

MODULES = [module.name for module in pkgutil.walk_packages(deep.__path__, "kernbench.deep.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    assert doctest.testmod(import_module(name)).failed == 0


def test_examples_are_looked_at():
    finder = doctest.DocTestFinder(exclude_empty=True)
    shown = {test.name for name in MODULES for test in finder.find(import_module(name)) if test.examples}
    assert {"AGDSBCD", "PESG", "PairBatchSampler", "PartialAUCLoss"} <= {name.rpartition(".")[2] for name in shown}


def test_public_names_are_there_and_documented():
    assert all(getattr(deep, name).__doc__ for name in deep.__all__)
