"""A run that is interrupted or killed: only its records remain, and the next run continues."""

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from kernbench.experiments.run import Store


def fits(log):
    """How many processes of cells wrote into a fake's log."""
    return len({line.split()[0] for line in log.read_text().splitlines()}) if log.exists() else 0


def wait_until(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


# The interrupted run: a script without a __main__ guard, as is common.
SCRIPT = """
import sys
sys.path[:] = {path!r}
from kernbench.experiments import Claim, Experiment, Method, Metric, Scale, Setting
from kernbench.experiments.run import run
methods = (Method("good", "good", "experiment_fakes:Sign", {{"log": {good!r}}}),
           Method("late", "late", "experiment_fakes:{late}", {{"log": {hanging!r}}}))
experiment = Experiment(
    name="fake", title="", paper="", claims=(Claim("", "good", "good", "test_error", 0.0),), methods=methods,
    scales={{"quick": Scale((Setting("step", {{}}, loader="experiment_fakes:load"),), 1, 60.0)}},
    metrics=(Metric("test_error", "", "lower", ("metrics", "test_error")),),
    evaluate="experiment_fakes:evaluate",
)
run(experiment, results={results!r})
"""


@pytest.mark.parametrize(
    "how", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGKILL], ids=lambda how: how.name
)
def test_ended_run_leaves_nothing_behind_but_its_records_and_goes_on(tmp_path, monkeypatch, how):
    if not Path("/proc/self").exists():
        pytest.skip("looks for processes in /proc")
    good, hanging, results = tmp_path / "good", tmp_path / "hanging", tmp_path / "results"
    path = [str(Path(__file__).parents[1]), *sys.path]
    temporary = Path(tempfile.mkdtemp(prefix="kb"))  # a socket's path must be short, and that of tmp_path is not
    monkeypatch.setenv("TMPDIR", str(temporary))

    def script(late):
        return SCRIPT.format(path=path, good=str(good), hanging=str(hanging), results=str(results), late=late)

    command = [sys.executable, "-P", "-c", script("Hangs")]
    first = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: fits(hanging) == 1 or first.poll() is not None)
    assert first.poll() is None, first.stderr.read()
    first.send_signal(how)
    _, words = first.communicate(timeout=120)
    wait_until(lambda: not is_alive(int(hanging.read_text().split()[0])))
    wait_until(lambda: list(temporary.iterdir()) == [])
    assert "Warning" not in words
    assert [record["method"] for record in Store(results).records("fake")] == ["good"]
    if how == signal.SIGINT:
        assert "interrupted after 1 of 2 cells" in words and "the same command again does the rest" in words

    monkeypatch.setattr(sys, "path", path)
    exec(script("Sign"), {})
    assert [record["method"] for record in Store(results).records("fake")] == ["good", "late"]
    assert (fits(good), fits(hanging)) == (1, 2)
    temporary.rmdir()
