"""Run commands in this process; let the tests import the helper beside them."""

import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kernbench.cli import main
from kernbench.datasets import load, write_svmlight

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def kernbench(tmp_path, monkeypatch):
    """``kernbench("fit", "x.csv")`` runs a command in an empty folder; click's result comes back."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KERNBENCH_DEBUG_TRACEBACK", raising=False)
    monkeypatch.delenv("KERNBENCH_DATA", raising=False)
    monkeypatch.setenv("KERNBENCH_CACHE", str(tmp_path / "cache"))

    def run(*arguments):
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture
def refused(kernbench):
    """Run a command that must fail: exit code 2 and one line on standard error, which is returned."""

    def run(*arguments):
        result = kernbench(*arguments)
        assert result.exit_code == 2, result.output
        lines = result.stderr.splitlines()
        assert len(lines) == 1 and lines[0].startswith("kernbench: error: "), result.stderr
        return lines[0]

    return run


@pytest.fixture
def moons(tmp_path):
    """Training and test files of the same data: LIBSVM text, and a table with and without labels."""
    data = load("moons", n_train=200, n_test=100, seed=3)
    write_svmlight(tmp_path / "train.svm", data.X_train, data.y_train)
    write_svmlight(tmp_path / "test.svm", data.X_test, data.y_test)
    table = np.column_stack([data.X_train, data.y_train])
    np.savetxt(tmp_path / "table.csv", table, delimiter=",", header="left,right,colour", comments="")
    np.savetxt(tmp_path / "bare.csv", data.X_test, delimiter=",", header="left,right", comments="")
    return data
