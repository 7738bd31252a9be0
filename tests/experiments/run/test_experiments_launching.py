"""Cells are forked from a server with loaded libraries, or started in a new interpreter: the records are the same."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing import forkserver

import pytest

from kernbench.experiments.run import Store, run
from kernbench.experiments.run.processes import launching
from kernbench.experiments.run.processes.wording import sentence

needs_fork = pytest.mark.skipif(launching.START_METHOD != "forkserver", reason="no fork server on this system")


@pytest.fixture
def children():
    """Process ids of the fakes, from the lines they wrote."""
    return lambda log: [int(line.split()[0]) for line in log.read_text().splitlines()]


@pytest.mark.parametrize("method", ["spawn", pytest.param("forkserver", marks=needs_fork)])
def test_record_does_not_depend_on_how_its_process_began(tmp_path, make_experiment, fake, monkeypatch, method):
    monkeypatch.setattr(launching, "START_METHOD", method)
    methods = (fake("good"), fake("raises", "Raises"), fake("killsitself", "KillsItself"))
    run(make_experiment(*methods), results=tmp_path)
    good, raised, killed = Store(tmp_path).records("fake")
    assert good["status"] == "ok" and good["metrics"]["test_error"] == 0.0 and good["metrics"]["threads"] == 1
    assert good["peak_memory_bytes"] > good["working_memory_bytes"] >= 0
    assert "the step is too high" in raised["error"]
    assert killed["error"] == "killed by signal SIGKILL; its last words: about to go"


@needs_fork
def test_every_cell_is_a_process_and_a_group_of_its_own(tmp_path, make_experiment, fake, children):
    log = tmp_path / "log"
    run(make_experiment(fake("good", params={"log": str(log)})), results=tmp_path / "results", repeats=3)
    pids = children(log)
    assert len(set(pids)) == 3 and os.getpid() not in pids


@needs_fork
def test_threads_are_pinned_for_each_number_of_them(tmp_path, make_experiment, fake, monkeypatch):
    monkeypatch.setattr("kernbench.experiments.run.environment.n_cores", lambda: 2)
    for threads in (1, 2):
        run(make_experiment(fake("good"), threads=None), results=tmp_path, threads=threads)
    found = [record["metrics"] for record in Store(tmp_path).records("fake")]
    assert [metrics["threads"] for metrics in found] == [1, 2]
    assert [metrics["openmp_threads"] for metrics in found] == [1, 2]


@pytest.mark.slow
@needs_fork
def test_death_of_the_fork_server_is_survived(tmp_path, make_experiment, fake, monkeypatch):
    servers = []
    start = launching.start

    def start_without_a_server(*args):
        launching.prepare()
        servers.append(forkserver._forkserver._forkserver_pid)
        os.kill(servers[-1], signal.SIGKILL)
        os.waitid(os.P_PID, servers[-1], os.WEXITED | os.WNOWAIT)
        return start(*args)

    monkeypatch.setattr(launching, "start", start_without_a_server)
    summary = run(make_experiment(fake("good")), results=tmp_path, repeats=2)
    assert [record["status"] for record in summary.records] == ["ok"] * 2
    assert len(set(servers)) == 2


@needs_fork
@pytest.mark.parametrize("end", [EOFError("unexpected EOF"), BrokenPipeError(32, "Broken pipe")])
def test_a_process_that_cannot_be_started_is_told_as_such(tmp_path, make_experiment, fake, monkeypatch, end):
    """What multiprocessing raises where the server has ended, as it does if the system refuses it another process."""

    def connect(descriptors):
        raise end

    monkeypatch.setattr(forkserver, "connect_to_new_process", connect)
    with pytest.raises(ValueError, match="could not be started: the system may lack memory"):
        run(make_experiment(fake("good")), results=tmp_path)


@needs_fork
def test_memory_of_a_fork_is_its_own(tmp_path, make_experiment, fake):
    methods = (fake("good"), fake("grows", "Grows"))
    run(make_experiment(*methods), results=tmp_path)
    small, large = Store(tmp_path).records("fake")
    grown = large["working_memory_bytes"] - small["working_memory_bytes"]
    # It takes 160 MiB; the other fork may have touched some pages more or fewer besides.
    assert 140 * 2**20 <= grown <= 200 * 2**20
    assert small["working_memory_bytes"] < 64 * 2**20


@needs_fork
def test_variables_set_after_the_server_was_started_reach_the_cell(tmp_path, make_experiment, fake, monkeypatch):
    for word in ("one", "two"):
        monkeypatch.setenv("A_VARIABLE", word)
        run(make_experiment(fake("good")), results=tmp_path / word)
        (record,) = Store(tmp_path / word).records("fake")
        assert record["metrics"]["variable"] == word


@needs_fork
def test_ctrl_c_while_the_server_imports_shows_no_traceback_of_it():
    script = (
        "import os, signal, time\n"
        "from kernbench.experiments.run.processes import launching\n"
        "signal.signal(signal.SIGINT, lambda *_: os._exit(0))\n"
        "launching.prepare()\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)  # into the imports
    os.killpg(process.pid, signal.SIGINT)  # what a terminal does
    assert process.communicate(timeout=60) == ("", "")


def test_cells_import_nothing_from_the_working_directory(tmp_path):
    """A checkout holds sources that are not compiled: a run started there uses the installed package."""
    checkout, elsewhere = tmp_path / "checkout", tmp_path / "elsewhere"
    (checkout / "kernbench").mkdir(parents=True)
    (checkout / "kernbench" / "__init__.py").write_text("")  # imports, but has no modules
    elsewhere.mkdir()
    script = (
        "from kernbench.experiments.run import run\n"
        "summary = run('peers-auc', results='results', datasets=['linear'], methods=['logistic'])\n"
        "print([(record['status'], record.get('error')) for record in summary.records])\n"
    )
    path = os.pathsep.join(str(folder) for folder in sys.path if folder)
    (elsewhere / "script.py").write_text(script)  # its folder, not the working directory, is in sys.path
    done = subprocess.run(
        [sys.executable, str(elsewhere / "script.py")],
        cwd=checkout, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[('ok', None)]", done.stderr


def test_a_temporary_folder_with_a_long_path_is_refused_with_the_remedy(tmp_path):
    folder = tmp_path / ("long" * 20)
    folder.mkdir()
    code = "from kernbench.experiments.run.processes import launching; launching.prepare()"
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True)
    assert ended.returncode != 0 and "shorter one" in ended.stderr


def test_an_exception_is_one_line_with_its_last_step():
    def inner():
        raise ValueError("two\nlines")

    with pytest.raises(ValueError) as caught:
        inner()
    line = inner.__code__.co_firstlineno + 1
    assert sentence(caught.value) == f"ValueError: two lines (test_experiments_launching.py:{line}, in inner)"
