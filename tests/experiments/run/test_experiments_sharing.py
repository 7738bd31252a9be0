"""Runs that share a results folder share the cells; what a killed run leaves behind binds nobody."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kernbench.experiments.run import run
from kernbench.experiments.run.storing.claims import Claims, Others
from kernbench.experiments.run.storing.store import Store


def test_one_run_at_a_time_has_a_claim(tmp_path):
    first, second = Claims(tmp_path), Claims(tmp_path)
    assert first.take("a") and first.take("a") and not second.take("a") and second.take("b")
    first.release("a")
    first.release("a")
    assert second.take("a") and not first.take("a")
    second.release_all()
    assert list(tmp_path.iterdir()) == []


def test_the_claim_of_a_killed_run_binds_nobody(tmp_path):
    script = (
        f"import os, sys; sys.path[:] = {sys.path!r}\n"
        "from kernbench.experiments.run.storing.claims import Claims\n"
        f"claims = Claims({str(tmp_path)!r}); claims.take('a'); print('taken', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-P", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "taken\n"
        assert not Claims(tmp_path).take("a")
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert [path.name for path in tmp_path.iterdir()] == [".a.claim"]
    assert Claims(tmp_path).take("a")


def test_a_cell_that_another_run_finishes_meanwhile_is_not_measured_again(tmp_path, make_experiment, fake):
    log = tmp_path / "log"
    experiment = make_experiment(fake("first"), fake("second", "Sign", {"log": str(log)}))
    store, events = Store(tmp_path / "results"), []
    run(experiment, results=store.folder)
    (made,) = [record for record in store.records() if record["method"] == "second"]
    store.path("fake").unlink()

    def another_run(event):
        events.append(event)
        if event.kind == "started" and event.cell.method == "first":
            store.append(made)

    log.unlink()
    summary = run(experiment, results=store.folder, on_event=another_run)
    assert [record["method"] for record in summary.records] == ["first"] and not log.exists()
    assert summary.n_shared == 1 and summary.n_skipped == 0 and summary.n_left == 0
    assert [event.kind for event in events][-3:] == ["finished", "note", "skipped"]
    assert "another run measures in" in events[-2].message and events[-1].record == made
    assert (events[-1].done, events[-1].total) == (2, 2)


def test_records_of_this_run_are_not_those_of_another(tmp_path, make_record):
    store = Store(tmp_path)
    others, tasks = Others(store, {"fake": None}), {}
    for key in "ab":
        store.append(make_record(key=key))
        tasks[key] = SimpleNamespace(key=key, cell=SimpleNamespace(experiment="fake"))
    others.ignore(make_record(key="a"))
    assert others.record(tasks["a"]) is None and others.record(tasks["b"])["key"] == "b"


def test_a_failure_of_before_is_tried_again_though_its_file_is_cleaned_meanwhile(tmp_path, make_record):
    store, failed = Store(tmp_path), make_record(key="a", status="error", error="no luck")
    for _ in range(2):
        store.append(failed)
    position = store.since("fake", None)[1]
    others = Others(store, {"fake": position}, store.records("fake"))
    task = SimpleNamespace(key="a", cell=SimpleNamespace(experiment="fake"))
    assert store.clean("fake")[0] == 1 and others.record(task) is None
    again = failed | {"started": "2025-01-02T00:00:00+00:00"}
    store.append(again)
    assert others.record(task) == again


SCRIPT = """
import json, sys
sys.path[:] = {path!r}
from kernbench.experiments import Experiment, Method, Metric, Scale, Setting
from kernbench.experiments.run import run
methods = tuple(Method(name, name, "experiment_fakes:Sign", {{"log": {log!r}, "seconds": 0.1}}) for name in "abc")
experiment = Experiment(
    name="fake", title="", paper="", methods=methods,
    scales={{"quick": Scale((Setting("step", {{}}, loader="experiment_fakes:load"),), 3, 60.0)}},
    metrics=(Metric("test_error", "", "lower", ("metrics", "test_error")),),
    evaluate="experiment_fakes:evaluate", threads=1,
)
summary = run(experiment, results={results!r}, on_event=lambda event: None)
print(json.dumps([len(summary.records), summary.n_shared, summary.n_skipped]))
"""


@pytest.mark.slow
def test_two_runs_at_the_same_time_measure_each_cell_once(tmp_path):
    path = [str(Path(__file__).parents[1]), *sys.path]
    log, results = tmp_path / "log", tmp_path / "results"
    script = SCRIPT.format(path=path, log=str(log), results=str(results))
    runs = [subprocess.Popen([sys.executable, "-P", "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    counts = [json.loads(process.communicate(timeout=120)[0]) for process in runs]
    records = Store(results).records()
    places = {(record["method"], record["repeat"]) for record in records}
    assert len(records) == len(places) == 9
    assert len({line.split()[0] for line in log.read_text().splitlines()}) == 9  # processes of cells
    assert [sum(found) for found in counts] == [9, 9] and sum(found[0] for found in counts) == 9
    assert [path.name for path in results.iterdir()] == ["fake.jsonl"]
