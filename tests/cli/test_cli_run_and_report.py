"""``kernbench run`` and ``kernbench report``."""

import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from kernbench.cli.progress import ProgressDisplay
from kernbench.experiments import registry
from kernbench.experiments.run import runner
from kernbench.experiments.run.progress import Event, PlannedCell, RunSummary
from kernbench.experiments.run.storing.store import Store

FAST = ("sbp-libsvm", "--method", "libsvm", "--dataset", "checkerboard", "--repeats", "1")


@pytest.fixture
def asked(monkeypatch):
    """The arguments that the command passes to the runner, which does nothing."""
    calls = []

    def run(names, **options):
        calls.append((names, options))
        return RunSummary([])

    monkeypatch.setattr(runner, "run", run)
    return calls


def test_options_reach_the_runner_in_its_units(kernbench, asked, tmp_path, monkeypatch):
    monkeypatch.setitem(os.environ, "KERNBENCH_DATA", "before")
    words = "run sbp-libsvm --scale paper --jobs 2 --threads 1 --repeats 4 --dataset adult --dataset covtype"
    words += f" --method libsvm --data {tmp_path} --results r --time-limit 1.5 --memory-limit 100"
    result = kernbench(*words.split())
    assert result.exit_code == 0
    ((names, options),) = asked
    assert names == ["sbp-libsvm"]
    assert (options["scale"], options["jobs"], options["threads"], options["repeats"]) == ("paper", 2, 1, 4)
    assert (options["datasets"], options["methods"], str(options["results"])) == (["adult", "covtype"], ["libsvm"], "r")
    assert (options["time_limit"], options["memory_limit"], options["dry_run"]) == (1.5, 100 * 2**20, False)
    assert os.environ["KERNBENCH_DATA"] == str(tmp_path)


@pytest.mark.parametrize("words", [["run"], ["run", "all"]])
def test_no_name_means_all_experiments(kernbench, asked, words):
    kernbench(*words)
    assert asked[0][0] == registry.names()


def test_hours_and_the_scheduler_reach_the_runner(kernbench, asked):
    kernbench("run", "--max-hours", "8", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:1")
    assert (asked[0][1]["max_hours"], asked[0][1]["scheduler"]) == (8.0, "tcp://127.0.0.1:1")


def test_a_data_folder_that_is_not_there_is_refused(refused, asked):
    assert "--data nowhere" in refused("run", "--data", "nowhere")
    assert not asked


def test_results_below_a_file_are_refused_before_anything_runs(refused, tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert "file/results" in refused("run", *FAST, "--results", "file/results")


def test_dry_run_writes_nothing(kernbench, tmp_path):
    result = kernbench("run", "--dry-run", "--repeats", 2)
    assert result.exit_code == 0 and "to run" in result.stdout and "checkerboard" in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_plan_counts_what_is_stored(kernbench, monkeypatch):
    cell = SimpleNamespace(experiment="toy", dataset="adult", method="smo")
    planned = [PlannedCell(cell, stored, 90.0) for stored in (True, False, False)]
    monkeypatch.setattr(runner, "run", lambda *_, **__: RunSummary(planned, dry_run=True))
    shown = kernbench("run", "--dry-run").stdout
    (line,) = (line.split() for line in shown.splitlines() if "adult" in line)
    assert line == ["toy", "adult", "smo", "3", "1", "90", "s"] and "2 fits to run, about 3 min" in shown


def test_fits_that_did_not_end_well_are_counted_by_how_they_ended(kernbench, monkeypatch):
    records = [{"status": status} for status in ("timeout", "error", "timeout", "ok")]
    monkeypatch.setattr(runner, "run", lambda *_, **__: RunSummary([], records))
    result = kernbench("run")
    assert result.exit_code == 1 and "3 fits did not end well (2 timeout and 1 error)" in result.stdout


def test_the_report_of_a_checkout_is_not_replaced(kernbench, refused, asked, tmp_path):
    assert kernbench("run").stdout.endswith("Next: kernbench report\n")
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "records.jsonl.xz").touch()
    assert kernbench("run").stdout.endswith("Next: kernbench report --out results/report\n")
    elsewhere = kernbench("run", "--results", "week").stdout
    assert elsewhere.endswith("Next: kernbench report --results week --out week/report\n")
    assert "reports holds a compact report" in refused("report")


def test_fits_out_of_time_are_tried_again_by_a_run_without_a_limit_only(kernbench, asked):
    kernbench("run")
    kernbench("run", "--max-hours", "8")
    assert [options["retry"] for _, options in asked] == [True, False]


def test_run_then_resume_then_report(kernbench, tmp_path):
    first = kernbench("run", *FAST)
    assert first.exit_code == 0 and "1 fit run" in first.stdout and "Next: kernbench report" in first.stdout
    assert "✓ checkerboard / libsvm / repeat 0: test error" in first.stderr
    again = kernbench("run", *FAST)
    assert "0 fits run" in again.stdout and "1 found in results" in again.stdout
    assert "Nothing is missing" in kernbench("run", *FAST, "--dry-run").stdout

    with (tmp_path / "results" / "sbp-libsvm.jsonl").open("a") as file:
        file.write('{"key": "torn')
    report = kernbench("report")
    assert report.exit_code == 0 and "reports/index.html" in report.stdout
    assert "kernbench: note: " in report.stderr and "line 2" in report.stderr
    assert (tmp_path / "reports" / "index.html").stat().st_size > 10_000


def test_a_fit_that_takes_too_long_is_a_record_and_no_crash(kernbench, tmp_path):
    result = kernbench("run", *FAST, "--time-limit", "0.01")
    assert result.exit_code == 0 and "✗" in result.stderr and "1 timeout" in result.stdout
    (record,) = Store(tmp_path / "results").records()
    assert record["status"] == "timeout"


def test_ctrl_c_says_how_to_go_on(kernbench, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt("interrupted after 3 of 9 cells; the same command again does the rest")

    monkeypatch.setattr(runner, "run", interrupted)
    result = kernbench("run")
    assert result.exit_code == 130
    assert result.stderr.strip() == "kernbench: interrupted after 3 of 9 cells; the same command again does the rest"


@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)], ids=lambda how: how.name
)
def test_a_real_interrupt_loses_no_finished_fit(tmp_path, how):
    command = [sys.executable, "-P", "-m", "kernbench", "run", *FAST[:-1], "50"]
    utf8 = {"env": {**os.environ, "PYTHONUTF8": "1"}, "encoding": "utf-8"}  # other locales may have no ✓
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, **utf8)
    try:
        line = process.stderr.readline()
        assert line.startswith("✓ checkerboard / libsvm / repeat 0")
        time.sleep(0.2)  # into the next fit
        process.send_signal(how)
        _, message = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in message and "same command" in message
    assert {record["status"] for record in Store(tmp_path / "results").records()} == {"ok"}


def test_the_bar_shows_cells_without_markup_accidents(capsys):
    cell = SimpleNamespace(place=1, dataset="[red]x[/]", method="m", repeat=0, experiment="sbp-libsvm")
    failed = {"status": "error", "error": "[bold", "seconds": {}}
    with ProgressDisplay(registry) as display:
        display(Event("planned", total=2))
        display(Event("started", total=2, cell=cell))
        display(Event("finished", done=1, total=2, cell=cell, record=failed, remaining=3.0))
        display(Event("gap", message="a [peer] is missing"))
        display(Event("some later kind of event"))
    shown = capsys.readouterr().err
    assert "[red]x[/] / m / repeat 0: error: [bold" in shown and "a [peer] is missing" in shown


def test_a_fit_that_takes_longer_than_estimated_is_not_nearly_done(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("kernbench.cli.progress.monotonic", lambda: clock[0])
    with ProgressDisplay(registry) as display:
        display(Event("note", remaining=30.0))
        shown = []
        for now in (110.0, 129.5, 139.0, 3730.0):
            clock[0] = now
            shown.append(display._remaining.render(None).plain)
    assert shown == ["about 20 s to go", "nearly done", "nearly done", "60 min more than estimated"]


def test_report_without_records_says_what_to_run(refused, tmp_path):
    assert "kernbench run --scale quick" in refused("report")
    assert not (tmp_path / "reports").exists()


def test_report_below_a_file_is_refused(kernbench, refused, tmp_path):
    kernbench("run", *FAST)
    (tmp_path / "file").write_text("in the way")
    assert "choose another folder" in refused("report", "--out", "file/reports")
