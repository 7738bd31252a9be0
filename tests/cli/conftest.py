"""Run commands in this process."""

import pytest
from click.testing import CliRunner

from kernbench.cli import main


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
