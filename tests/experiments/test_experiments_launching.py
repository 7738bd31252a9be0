"""Cells are forked from a process that has its libraries, or started afresh: the record is the same."""

import os
import signal

import pytest

from kernbench.experiments import Store, run
from kernbench.experiments.run import launching
from kernbench.experiments.run.launching import Launcher

needs_fork = pytest.mark.skipif(not launching.CAN_FORK, reason="no nursery on this system")


@pytest.fixture
def children():
    """Process ids that the fakes told, by what they wrote."""
    return lambda log: [int(line.split()[0]) for line in log.read_text().splitlines()]


@pytest.mark.parametrize("forks", [False, pytest.param(True, marks=needs_fork)])
def test_record_does_not_tell_how_its_process_began(tmp_path, make_experiment, fake, monkeypatch, forks):
    monkeypatch.setattr(launching, "CAN_FORK", forks)
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
    assert [r["metrics"]["threads"] for r in Store(tmp_path).records("fake")] == [1, 2]


@needs_fork
def test_death_of_the_nursery_is_survived(tmp_path, make_experiment, fake, monkeypatch):
    started = []
    start = Launcher.start

    def start_and_kill_the_nursery(self, request):
        if len(started) == 1:
            for nursery in self._nurseries.values():
                os.kill(nursery._process.pid, signal.SIGKILL)
                nursery._process.wait()
        started.append(start(self, request))
        return started[-1]

    monkeypatch.setattr(Launcher, "start", start_and_kill_the_nursery)
    summary = run(make_experiment(fake("good")), results=tmp_path, repeats=3)
    assert [record["status"] for record in summary.records] == ["ok"] * 3
    assert [type(process).__name__ for process in started] == ["Fork", "FreshInterpreter", "Fork"]


@needs_fork
def test_memory_of_a_fork_is_its_own(tmp_path, make_experiment, fake):
    methods = (fake("good"), fake("grows", "Grows"))
    run(make_experiment(*methods), results=tmp_path)
    small, large = Store(tmp_path).records("fake")
    grown = large["working_memory_bytes"] - small["working_memory_bytes"]
    assert 160 * 2**20 <= grown <= 200 * 2**20
    assert small["working_memory_bytes"] < 64 * 2**20
