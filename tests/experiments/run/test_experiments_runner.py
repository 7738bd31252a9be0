"""The runner: every way in which a cell can end is a record, and finished cells are not run again."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from kernbench.experiments import Setting
from kernbench.experiments.run import Store, environment, one_run, run
from kernbench.experiments.run.cells import plan
from kernbench.experiments.run.progress import Expectations
from kernbench.experiments.run.runner import _may_succeed


def fits(log):
    """How many processes of cells wrote into a fake's log."""
    return len({line.split()[0] for line in log.read_text().splitlines()}) if log.exists() else 0


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_good_cell_becomes_a_complete_record(tmp_path, make_experiment, fake, monkeypatch):
    events = []
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    experiment = make_experiment(fake("good", params={"seconds": 0.2}, seed_param="seed"))
    summary = run(experiment, results=tmp_path, on_event=events.append)

    (record,) = Store(tmp_path).records("fake")
    assert summary.records == [record] and summary.failed == [] and summary.n_skipped == 0
    assert (record["status"], record["error"]) == ("ok", None)
    assert (record["dataset"], record["method"], record["repeat"]) == ("step", "good", 0)
    assert record["metrics"]["test_error"] == 0.0
    assert record["metrics"]["threads"] == record["environment"]["n_threads"] == 1
    assert 0.2 <= record["seconds"]["fit"] < record["seconds"]["total"]
    assert record["seconds"]["predict"] >= 0
    assert record["peak_memory_bytes"] > 2**20
    assert record["params"] == {"seconds": 0.2, "seed": record["seed"]}
    assert record["data"] == {
        "name": "step",
        "kind": "generated",
        "n_train": 20,
        "n_test": 20,
        "n_features": 1,
        "checksum": "step-20",
        "description": "a line with a step",
    }
    assert record["trace"]["test_error"] == [0.0]
    assert record["trace"]["seconds"] == [record["seconds"]["fit"]]
    assert [event.kind for event in events] == ["planned", "loading", "started", "finished"]
    assert (events[-1].done, events[-1].total, events[-1].record, events[-1].remaining) == (1, 1, record, 0.0)


def test_every_bad_end_is_a_record_and_the_run_goes_on(tmp_path, make_experiment, fake):
    kinds = ("Raises", "LacksMemory", "KillsItself", "Leaves", "Diverges", "Nonexistent")
    experiment = make_experiment(*(fake(kind.lower(), kind) for kind in kinds))
    summary = run(experiment, results=tmp_path)

    records = {record["method"]: record for record in Store(tmp_path).records("fake")}
    assert [record["method"] for record in summary.failed] == [k.lower() for k in kinds if k != "Diverges"]
    statuses = {name: record["status"] for name, record in records.items()}
    assert statuses == {
        "raises": "error",
        "lacksmemory": "memory",
        "killsitself": "error",
        "leaves": "error",
        "diverges": "ok",
        "nonexistent": "error",
    }
    assert "ArithmeticError: the step is too high (experiment_fakes.py:" in records["raises"]["error"]
    assert "killed by signal SIGKILL; its last words: about to go" in records["killsitself"]["error"]
    assert "exit code 7" in records["leaves"]["error"]
    assert "Nonexistent" in records["nonexistent"]["error"]
    assert records["diverges"]["metrics"]["worst"] is None  # JSON has no infinity


def test_what_no_record_can_hold_is_an_error_of_its_cell_and_the_run_goes_on(tmp_path, make_experiment, fake):
    loaders = ("load_from_a_folder_in_another_encoding", "load_without_text", "load")
    settings = tuple(Setting(loader, {}, loader=f"experiment_fakes:{loader}") for loader in loaders)
    methods = (
        fake("good"),
        *(
            fake(what, measure=f"experiment_fakes:{function}")
            for what, function in (("a list", "measured_as_a_list"), ("no times", "measured_without_times"))
        ),
    )
    run(make_experiment(*methods, settings=settings), results=tmp_path)
    found = {(r["dataset"], r["method"]): r for r in Store(tmp_path).records("fake")}
    no_record = "no record can hold what it measured: "
    no_times = f"{no_record}'seconds' should be an object of numbers that are not negative, got None"
    assert {place: record["error"] for place, record in found.items()} == {
        (loaders[0], "good"): "OSError: caf\ufffd/step.csv: not there",
        (loaders[0], "a list"): "OSError: caf\ufffd/step.csv: not there",
        (loaders[0], "no times"): "OSError: caf\ufffd/step.csv: not there",
        (loaders[1], "good"): f"{no_record}'checksum' should be text or null, got 12",
        (loaders[1], "a list"): f"{no_record}'metrics' should be an object, got [6]",
        (loaders[1], "no times"): no_times,
        (loaders[2], "good"): None,
        (loaders[2], "a list"): f"{no_record}'metrics' should be an object, got [6]",
        (loaders[2], "no times"): no_times,
    }


def test_records_of_another_experiment_in_the_file_are_none_of_this_one(tmp_path, make_experiment, fake, make_record):
    other = make_record(experiment="other", status="timeout", error="it took too long")
    (tmp_path / "fake.jsonl").write_text(json.dumps(other) + "\n")
    summary = run(make_experiment(fake("good")), results=tmp_path, retry=False, dry_run=True)
    assert [planned.stored for planned in summary.planned] == [False]


def test_time_limit_ends_a_cell(tmp_path, make_experiment, fake):
    log = tmp_path / "log"
    experiment = make_experiment(fake("hangs", "Hangs", {"log": str(log)}), time_limit=60.0)
    summary = run(experiment, results=tmp_path / "results", time_limit=3)
    (record,) = summary.failed
    assert (record["status"], record["error"]) == ("timeout", "took longer than its limit of 3 s")
    assert record["seconds"]["total"] >= 3
    assert not is_alive(int(log.read_text().split()[0]))


def test_memory_limit_ends_a_cell_while_it_grows(tmp_path, make_experiment, fake):
    experiment = make_experiment(fake("hogs", "Hogs"), memory_limit=600 * 2**20)
    (record,) = run(experiment, results=tmp_path).failed
    assert (record["status"], record["error"]) == ("memory", "used more memory than its limit of 600 MB")


def test_memory_limit_counts_a_peak_between_two_polls(tmp_path, make_experiment, fake, monkeypatch):
    monkeypatch.setattr("kernbench.experiments.run.processes.process.resident_memory", lambda pid: None)
    (record,) = run(make_experiment(fake("good")), results=tmp_path, memory_limit=2**20).failed
    assert record["status"] == "memory"
    assert "over its limit of 1 MB" in record["error"]


def test_second_run_does_only_what_is_missing(tmp_path, make_experiment, fake):
    logs = {name: tmp_path / name for name in ("good", "bad")}
    methods = [fake("good", "Sign", {"log": str(logs["good"])}), fake("bad", "Raises", {"log": str(logs["bad"])})]
    results = tmp_path / "results"
    run(make_experiment(*methods), results=results)
    assert (fits(logs["good"]), fits(logs["bad"])) == (1, 1)

    events = []
    summary = run(make_experiment(*methods), results=results, on_event=events.append)
    assert (fits(logs["good"]), fits(logs["bad"])) == (1, 2)  # a failure is tried again
    assert summary.n_skipped == 1
    kinds = ["loading", "planned", "skipped", "started", "finished"]
    assert [event.kind for event in events] == kinds
    assert events[2].cell.method == "good" and events[2].record["method"] == "good"

    listing = run(make_experiment(*methods), results=results, dry_run=True)
    assert [planned.stored for planned in listing.planned] == [True, False]

    run(make_experiment(*methods), results=results, repeats=2, methods=["good"])
    assert fits(logs["good"]) == 2  # repeat 0 was there


def test_time_to_come_is_estimated_once_for_all_stored_cells(tmp_path, make_experiment, make_record, fake, monkeypatch):
    asked = []

    def of(self, cell):
        asked.append(cell)
        return 1.0

    monkeypatch.setattr(Expectations, "of", of)
    experiment = make_experiment(fake("good"), repeats=40)
    cells, _ = plan([experiment], "quick")
    records = {cell.place: make_record(repeat=cell.repeat) for cell in cells[:30]}
    monkeypatch.setattr(one_run, "wanted_and_stored", lambda cells, *rest: (cells, records))
    events = []
    run(experiment, results=tmp_path, max_hours=1e-9, on_event=events.append)
    skipped = [event for event in events if event.kind == "skipped"]
    assert [event.done for event in skipped] == list(range(1, 31))
    assert {event.remaining for event in events if event.kind in ("planned", "skipped")} == {10.0}
    assert len(asked) < 5 * len(cells)  # not 30 times


def test_warm_up_is_a_small_fit_before_the_clock(tmp_path, make_experiment, fake):
    log = tmp_path / "log"
    run(make_experiment(fake("good", params={"log": str(log)}), warm_up_rows=6), results=tmp_path / "results")
    first, *timed = [line.split(maxsplit=1)[1] for line in log.read_text().splitlines()]
    assert first == "6 [-1, 1]" and set(timed) == {"20 [-1, 1]"}


def test_budget_is_a_fraction_of_the_other_methods_time(tmp_path, make_experiment, fake):
    quarter = fake("quarter", depends_on="slow", budget_fraction=0.25)
    experiment = make_experiment(quarter, fake("slow", params={"seconds": 0.2}))
    run(experiment, results=tmp_path, methods=["quarter"])
    slow, budgeted = Store(tmp_path).records("fake")
    assert slow["method"] == "slow"  # added, and first
    assert budgeted["params"]["max_seconds"] == budgeted["metrics"]["budget"] == 0.25 * slow["seconds"]["fit"]
    assert run(experiment, results=tmp_path).n_skipped == 2


def test_budget_without_a_time_is_an_error_that_says_so(tmp_path, make_experiment, fake):
    quarter = fake("quarter", depends_on="slow", budget_fraction=0.25)
    run(make_experiment(fake("slow", "Raises"), quarter), results=tmp_path)
    _, budgeted = Store(tmp_path).records("fake")
    assert budgeted["status"] == "error"
    assert budgeted["error"].startswith("its budget is a part of the fit time of 'slow', which has none")


@pytest.mark.parametrize("repeats", [None, "auto"])
def test_a_budget_that_is_a_part_of_no_time_is_tried_again_with_that_time_only(
    tmp_path, make_experiment, fake, repeats
):
    """So that a call with `retry=False` that is repeated comes to an end."""
    experiment = make_experiment(fake("slow", "Hangs"), fake("quarter", depends_on="slow", budget_fraction=0.25))
    again = {"results": tmp_path, "repeats": repeats, "retry": False}

    def stored(limit, **changes):
        summary = run(experiment, **again | changes, time_limit=limit, dry_run=True)
        return [planned.stored for planned in summary.planned if planned.cell.repeat == 0]

    assert [record["status"] for record in run(experiment, **again, time_limit=1).records] == ["timeout", "error"]
    assert stored(1) == [True, True] and run(experiment, **again, time_limit=1).records == []
    assert stored(2) == stored(1, retry=True) == [False, False]


def test_a_budgeted_cell_that_fails_by_itself_is_tried_again(tmp_path, make_experiment, fake):
    experiment = make_experiment(fake("slow"), fake("quarter", "Raises", depends_on="slow", budget_fraction=0.25))
    run(experiment, results=tmp_path)
    summary = run(experiment, results=tmp_path, retry=False, dry_run=True)
    assert [planned.stored for planned in summary.planned] == [True, False]


def test_absent_data_is_an_error_of_each_cell_and_starts_no_process(tmp_path, make_experiment, fake):
    settings = (Setting("absent", {}, loader="experiment_fakes:load_nothing"),)
    log = tmp_path / "log"
    experiment = make_experiment(fake("a", params={"log": str(log)}), fake("b"), settings=settings)
    summary = run(experiment, results=tmp_path / "results")
    assert [record["error"] for record in summary.failed] == [
        "OSError: step.csv is not there; place it in the data folder"
    ] * 2
    assert not log.exists()


def test_dry_run_runs_nothing_and_writes_nothing(tmp_path, make_experiment, fake):
    log = tmp_path / "log"
    settings = (Setting("absent", {}, loader="experiment_fakes:load_nothing"),)
    experiment = make_experiment(fake("good", params={"log": str(log)}), settings=settings, repeats=3)
    summary = run(experiment, results=tmp_path / "results", dry_run=True)
    assert [planned.cell.repeat for planned in summary.planned] == [0, 1, 2]
    assert summary.expected_seconds is None
    assert list(tmp_path.iterdir()) == []


def test_dry_run_finds_the_records_of_a_measurement_that_draws_data_of_its_own(tmp_path, make_experiment, fake):
    def of(rows):
        setting = Setting("own", {"n": rows}, loader="experiment_fakes:load")
        method = fake("value", params={"value": 3}, measure="experiment_fakes:measured")
        return make_experiment(method, settings=(setting,))

    run(of(30), results=tmp_path)
    (record,) = Store(tmp_path).records("fake")
    assert record["data"]["checksum"] == "step-20"  # the key is of the 30 rows
    for rows, is_stored in ((30, True), (40, False)):
        assert [planned.stored for planned in run(of(rows), results=tmp_path, dry_run=True).planned] == [is_stored]
    assert run(of(30), results=tmp_path).records == []


def test_two_jobs_overlap_and_keep_the_order_of_budgets(tmp_path, make_experiment, fake, monkeypatch):
    monkeypatch.setattr(environment, "n_cores", lambda: 2)
    slow = fake("slow", params={"seconds": 1.0})
    quarter = fake("quarter", depends_on="slow", budget_fraction=0.25)
    events = []
    run(make_experiment(slow, quarter, fake("free")), results=tmp_path, jobs=2, on_event=events.append)
    order = [(event.kind, event.cell.method) for event in events if event.cell is not None]
    assert order[:2] == [("started", "slow"), ("started", "free")]
    assert order.index(("finished", "slow")) < order.index(("started", "quarter"))
    assert all(record["status"] == "ok" for record in Store(tmp_path).records("fake"))


def test_more_threads_than_cores_are_refused(tmp_path, make_experiment, fake, monkeypatch):
    monkeypatch.setattr(environment, "n_cores", lambda: 4)
    experiment = make_experiment(fake("good"), threads=None)
    with pytest.raises(ValueError, match="3 jobs × 2 threads need more than the 4 cores.*at most 2 jobs"):
        run(experiment, results=tmp_path, jobs=3, threads=2, dry_run=True)
    with pytest.raises(ValueError, match="5 jobs × 1 threads"):
        run(experiment, results=tmp_path, jobs=5, dry_run=True)
    run(experiment, results=tmp_path, jobs=2, threads=2, dry_run=True)
    run(experiment, results=tmp_path, jobs=3, dry_run=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"names": "sbp-libsmv"}, "unknown experiment 'sbp-libsmv'; did you mean 'sbp-libsvm'"),
        ({"scale": "quik"}, "unknown scale 'quik'; did you mean 'quick'"),
        ({"datasets": ["stap"]}, "unknown data set 'stap'; did you mean 'step'"),
        ({"methods": ["god"]}, "unknown method 'god'; did you mean 'good'"),
        ({"names": []}, "name at least one experiment"),
        ({"repeats": 0}, "repeats must be a positive integer"),
        ({"jobs": 1.5}, "jobs must be a positive integer"),
        ({"repeats": True}, "repeats must be a positive integer"),
        ({"threads": -1}, "threads must be a positive integer"),
        ({"time_limit": 0.0}, "time_limit must be a positive number of seconds"),
        ({"time_limit": "60"}, "time_limit must be a positive number of seconds, got '60'"),
        ({"time_limit": float("inf")}, "time_limit must be a finite number of seconds, got inf"),
        ({"memory_limit": float("nan")}, "memory_limit must be a positive integer"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, make_experiment, fake, changes, message):
    arguments = {"names": make_experiment(fake("good")), **changes}
    with pytest.raises(ValueError, match=message):
        run(arguments.pop("names"), results=tmp_path / "results", **arguments)
    assert not (tmp_path / "results").exists()


def test_missing_package_is_a_named_gap(tmp_path, make_experiment, fake):
    events = []
    peer = fake("peer", requires="no_such_module", package="no-such-package")
    summary = run(make_experiment(peer), results=tmp_path, on_event=events.append)
    assert [(gap.method, gap.reason) for gap in summary.gaps] == [("peer", "no-such-package is not installed")]
    assert events[0].kind == "gap" and "no-such-package" in events[0].message
    assert summary.records == []


def test_faults_of_stored_records_are_events_and_no_raw_warnings(tmp_path, make_experiment, fake, recwarn):
    run(make_experiment(fake("good")), results=tmp_path)
    with open(Store(tmp_path).path("fake"), "a") as file:
        file.write('{"key": "torn')
    for dry_run in (True, False):
        events = []
        run(make_experiment(fake("good")), results=tmp_path, on_event=events.append, dry_run=dry_run)
        assert events[0].kind == "note" and "line 2 is ignored: it ends in the middle" in events[0].message
    assert not recwarn.list
    with pytest.warns(UserWarning, match="line 2 is ignored"):
        run(make_experiment(fake("good")), results=tmp_path)


def test_a_data_set_is_read_once_and_before_its_first_cell_only(tmp_path, make_experiment, fake):
    settings = (Setting("one", {"n": 20}, loader="experiment_fakes:load"),)
    settings += (Setting("two", {"n": 30}, loader="experiment_fakes:load"),)
    events = []
    experiment = make_experiment(fake("a"), fake("b"), settings=settings)
    run(experiment, results=tmp_path, on_event=events.append)
    told = [event.message or event.cell.dataset for event in events if event.kind in ("loading", "started")]
    assert told == ["one", "one", "one", "two", "two", "two"]


def test_with_several_jobs_all_data_are_read_before_a_cell_is_timed(tmp_path, make_experiment, fake, monkeypatch):
    monkeypatch.setattr(environment, "n_cores", lambda: 2)
    settings = tuple(Setting(name, {"n": n}, loader="experiment_fakes:load") for name, n in (("one", 20), ("two", 30)))
    events = []
    run(make_experiment(fake("a"), settings=settings), results=tmp_path, jobs=2, on_event=events.append)
    assert [event.kind for event in events][:3] == ["loading", "loading", "planned"]


def test_after_max_hours_nothing_is_started_and_the_same_call_goes_on(tmp_path, make_experiment, fake, monkeypatch):
    log, seconds = tmp_path / "log", [0.0]
    experiment = make_experiment(*(fake(name, params={"log": str(log)}) for name in "abc"))
    monkeypatch.setattr(one_run, "monotonic", lambda: seconds[0])

    def take_an_hour(event):
        if event.kind == "finished":
            seconds[0] += 3600.0

    first = run(experiment, results=tmp_path / "r", max_hours=0.5, on_event=take_an_hour)
    assert (len(first.records), first.n_left) == (1, 2) and fits(log) == 1
    second = run(experiment, results=tmp_path / "r")
    assert (second.n_skipped, len(second.records), second.n_left) == (1, 2, 0)


def test_the_time_that_remains_is_shared_by_the_jobs():
    told, current = [], one_run.Run.__new__(one_run.Run)
    current.expectations, current.where = SimpleNamespace(of=lambda cell: cell), SimpleNamespace(jobs=2)
    current.unfinished, current.n_done, current.n_cells, current.on_event = {0: 10.0, 1: 20.0}, 1, 3, told.append
    current.tell("note")
    assert (told[0].remaining, told[0].done, told[0].total) == (15.0, 1, 3)


def test_max_hours_must_be_positive(tmp_path, make_experiment, fake):
    with pytest.raises(ValueError, match="max_hours must be a positive number of hours, got -1"):
        run(make_experiment(fake("a")), results=tmp_path, max_hours=-1)


@pytest.mark.parametrize(
    ("status", "before", "now", "may"),
    [
        ("timeout", 60, 60, False),
        ("timeout", 60, 61, True),
        ("timeout", 60, None, True),
        ("timeout", None, 60, True),
        ("memory", 60, 60, False),
        ("memory", 60, 61, True),
        ("memory", 60, None, True),
        ("error", 60, 60, True),
    ],
)
def test_a_cell_may_succeed_within_wider_limits_only(status, before, now, may):
    record = {"experiment": "fake", "status": status, "limits": {"seconds": before, "bytes": before}}
    assert _may_succeed(record, {"fake": (now, now)}) is may


@pytest.mark.parametrize("status", ["timeout", "memory"])
@pytest.mark.parametrize("limits", [{}, {"limits": {}}])
def test_a_cell_whose_limits_were_not_recorded_may_succeed(status, limits):
    assert _may_succeed({"experiment": "fake", "status": status, **limits}, {"fake": (60, 60)})
