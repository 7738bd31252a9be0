"""Waiting for an idle machine: which programs count, and what a run says of its pauses."""

from types import SimpleNamespace

import psutil
import pytest

from kernbench.experiments.run import idle as idle_module
from kernbench.experiments.run import run
from kernbench.experiments.run.idle import IdleMachine


def test_cells_wait_while_other_programs_compute(tmp_path, make_experiment, fake, monkeypatch):
    used, events = iter([1.4, 1.4, 0.0]), []
    monkeypatch.setattr(idle_module, "_cores_in_use", lambda seconds: next(used, 0.0))
    summary = run(make_experiment(fake("good")), results=tmp_path, when_idle=True, on_event=events.append)
    notes = [(k, event.message) for k, event in enumerate(events) if event.kind == "note"]
    started = next(k for k, event in enumerate(events) if event.kind == "started")
    assert [message.partition(" of")[0].partition(":")[0] for _, message in notes] == [
        "paused while other programs use 1.4 cores",
        "continued after a pause",
    ]
    assert all(k < started for k, _ in notes) and len(summary.records) == 1


def test_a_pause_is_measured(monkeypatch):
    machine = IdleMachine(lambda message: None, cores_in_use=lambda seconds: 0.1)
    assert not machine.is_busy() and machine.paused_seconds == 0.0
    used, clock = iter([2.0, 2.0, 0.0]), iter([1.0, 4.0, 9.0])
    monkeypatch.setattr(idle_module, "monotonic", lambda: next(clock))
    machine = IdleMachine(lambda message: None, cores_in_use=lambda seconds: next(used))
    assert [machine.is_busy() for _ in range(3)] == [True, True, False] and machine.paused_seconds == 8.0


@pytest.mark.parametrize(("busy", "own", "cores"), [(3.0, 1.0, 2.0), (1.0, 1.0, 0.0)])
def test_a_program_beside_counts_and_this_one_does_not(monkeypatch, busy, own, cores):
    now = {"monotonic": 10.0, "_busy_seconds": 100.0, "_own_seconds": 50.0}

    def sleep(seconds):
        passed = {"monotonic": seconds, "_busy_seconds": busy, "_own_seconds": own}
        now.update({name: now[name] + passed[name] for name in now})

    for name in now:
        monkeypatch.setattr(idle_module, name, lambda name=name: now[name])
    monkeypatch.setattr(idle_module, "sleep", sleep)
    assert idle_module._cores_in_use(1.0) == cores


def test_children_of_this_program_are_its_own(monkeypatch):
    def ended():
        raise psutil.NoSuchProcess(1)

    children = [SimpleNamespace(cpu_times=lambda: (5.0, 6.0, 7.0, 8.0, 100.0)), SimpleNamespace(cpu_times=ended)]
    this = SimpleNamespace(cpu_times=lambda: (1.0, 2.0, 3.0, 4.0, 100.0), children=lambda recursive: children)
    monkeypatch.setattr(psutil, "Process", lambda: this)
    assert idle_module._own_seconds() == 36.0


def test_no_cell_runs_beside_another_where_cells_wait(make_experiment, fake, tmp_path):
    """Others are looked for while none runs: with two jobs, at the beginning alone."""
    with pytest.raises(ValueError, match="when_idle and several jobs exclude each other"):
        run(make_experiment(fake("good")), results=tmp_path, when_idle=True, jobs=2)


def test_only_this_machine_can_wait(make_experiment, fake, tmp_path):
    for options in ({"repeats": "auto"}, {"when_idle": True}):
        with pytest.raises(ValueError, match="for this machine, not for a cluster"):
            run(make_experiment(fake("good")), results=tmp_path, scheduler="tcp://127.0.0.1:1", **options)
