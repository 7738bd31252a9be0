"""A snapshot: one state of the code, one cell at a time on an idle machine, as many repeats as its time allows.

The slow tests run many cells, each in a process of its own, to look at what is decided before and after a cell.
"""

import json
from dataclasses import replace

import pytest

from kernbench._lazy import load
from kernbench.experiments import Setting, registry
from kernbench.experiments.run import Store, environment, run
from kernbench.experiments.run import idle as idle_module
from kernbench.experiments.run import outdated as outdated_module
from kernbench.experiments.run import snapshot as snapshot_module
from kernbench.experiments.run.cells import cell_key, plan
from kernbench.experiments.run.code import experiment_digest, names_in
from kernbench.experiments.run.outdated import drop_outdated, outdated
from kernbench.experiments.run.progress import Expectations, RunSummary, total_expected
from kernbench.experiments.run.repeats import AutoRepeats, repeats_for
from kernbench.experiments.run.schedule import Task
from kernbench.experiments.run.snapshot import snapshot
from kernbench.experiments.run.storing.manifest import MANIFEST, description
from kernbench.experiments.run.storing.packing import packed

SECONDS = {"long": 90.0, "short": 30.0}  # of a fit in earlier records; one without a record counts as 60


@pytest.fixture
def clean(monkeypatch, tmp_path_factory):
    """A checkout without changes and without records, of which thousands would be read, on an idle machine."""
    monkeypatch.setattr(snapshot_module, "_REPORT", tmp_path_factory.mktemp("reports") / "records.jsonl.xz")
    found = environment.collect() | {"git_commit": "c" * 40, "git_dirty": False}
    monkeypatch.setattr(environment, "collect", lambda: dict(found))
    monkeypatch.setattr(idle_module, "_cores_in_use", lambda seconds: 0.0)
    return found


@pytest.fixture
def minutes(monkeypatch):
    """Cells of methods that tell, in "minutes" of their parameters, how long they are to count."""
    make_record = Task.record

    def pretend(self, outcome, cell, started):
        record, minutes = make_record(self, outcome, cell, started), cell.params.get("minutes")
        seconds = record["seconds"] | ({} if minutes is None else {"total": 60.0 * minutes})
        return record | {"seconds": seconds}

    monkeypatch.setattr(Task, "record", pretend)


@pytest.mark.parametrize(
    ("seconds", "declared", "repeats"),
    [
        (1, 1, 10),
        (9.9, 20, 20),
        (10, 3, 5),
        (59, 3, 5),
        (59, 20, 20),
        (60, 20, 3),
        (599, 1, 3),
        (600, 50, 1),
        (None, 10, 1),
    ],
)
def test_repeats_by_the_time_of_a_cell(seconds, declared, repeats):
    assert repeats_for(seconds, declared) == repeats


def test_a_run_repeats_cells_by_their_time_and_failures_once(tmp_path, make_experiment, fake, minutes):
    times = {"instant": 0.1, "short": 0.5, "medium": 2.0, "long": 11.0}
    methods = [fake(name, params={"minutes": time}) for name, time in times.items()]
    experiment = make_experiment(*methods, fake("raises", "Raises"))
    events = []
    summary = run(experiment, results=tmp_path, repeats="auto", on_event=events.append)
    made = [record["method"] for record in Store(tmp_path).records("fake")]
    assert {name: made.count(name) for name in made} == {"instant": 10, "short": 5, "medium": 3, "long": 1, "raises": 1}
    assert made[:5] == ["instant", "short", "medium", "long", "raises"]  # one repeat of everything, then the second
    assert summary.n_left == 0 and (events[-1].done, events[-1].total) == (20, 20)
    again = run(experiment, results=tmp_path, repeats="auto", on_event=events.append)
    assert [record["method"] for record in again.records] == ["raises"]


def test_the_first_repeat_decides_whatever_records_of_other_code_took(
    tmp_path, make_experiment, fake, make_record, minutes
):
    store = Store(tmp_path)
    for method, seconds in (("raises", 3.0), ("medium", 700.0)):
        store.append(make_record(method=method, seconds={"total": seconds}, environment={"code": "earlier"}))
    experiment = make_experiment(fake("raises", "Raises"), fake("medium", params={"minutes": 2.0}))
    made = [record["method"] for record in run(experiment, results=tmp_path, repeats="auto").records]
    assert made == ["raises", "medium", "medium", "medium"]


def test_an_interrupted_run_does_not_count_repeats_that_were_dropped(tmp_path, make_experiment, fake):
    def stop(event):
        if event.kind == "started" and event.cell.repeat == 1:
            raise KeyboardInterrupt

    experiment = make_experiment(fake("raises", "Raises"), fake("good"))
    with pytest.raises(KeyboardInterrupt, match="interrupted after 2 of 19 cells"):  # 20, without one of "raises"
        run(experiment, results=tmp_path, repeats="auto", on_event=stop)


def test_what_depends_on_a_cell_that_is_not_repeated_is_not_repeated_either(make_experiment, fake):
    methods = [fake("slow"), fake("after", depends_on="slow", budget_fraction=0.5, budget_param="max_seconds")]
    cells, _ = plan([make_experiment(*methods)], "quick", repeats="auto")
    record = {"status": "ok", "seconds": {"total": 1200.0}}
    choice = AutoRepeats({"fake": 1}).wants
    outcomes = {cells[0].place: record, cells[1].place: record}
    slow, after = (cell for cell in cells if cell.repeat == 1)
    assert choice(slow, {}) is None  # not known yet
    assert choice(slow, outcomes) is False
    assert choice(after, outcomes | {slow.place: None}) is False
    # A later run leaves both out before it begins: it would wait for the first one.
    both = [cell for cell in cells if cell.repeat < 2]
    found = AutoRepeats({"fake": 1}).wanted(both, {cell.place: record for cell in both[:2]})
    assert [(cell.method, cell.repeat) for cell in found] == [("slow", 0), ("after", 0)]


def test_a_snapshot_writes_what_was_measured_and_what_was_cut(tmp_path, make_experiment, fake, clean):
    missing = fake("missing", requires="no_such_package_here")
    settings = (Setting("step", {}, loader="experiment_fakes:load"),)
    experiment = make_experiment(fake("good"), fake("hangs", "Hangs"), missing, settings=settings, time_limit=3)
    snapshot(tmp_path, experiments=[experiment], scale="quick")
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert manifest["commit"] == "c" * 40 and manifest["code"] == clean["code"]
    assert manifest["commits"] == ["c" * 40] and len(manifest["experiment_code"]["fake"]) == 1
    (machine,) = manifest["machines"]
    assert machine == {name: clean[name] for name in machine if name != "records"} | {"records": 11}
    assert (manifest["records"], manifest["records_ok"]) == (11, 10)
    (run_,) = manifest["runs"]
    assert run_["fits"] == 11 and not run_["interrupted"] and manifest["hours"] == run_["hours"]
    assert 0 < manifest["measured_hours"] <= manifest["hours"] + 5e-4  # rounded
    whys = {cut["method"]: cut["why"] for cut in manifest["cut"]}
    assert whys["hangs"] == "timeout: took longer than its limit of 3 s"
    assert whys["missing"] == "no_such_package_here is not installed" and len(manifest["cut"]) == 2

    again = snapshot(tmp_path, experiments=[experiment], scale="quick")
    assert again.records == []  # nor is the cell that ran out of time tried again
    assert len(json.loads((tmp_path / MANIFEST).read_text())["runs"]) == 2


def test_the_machines_of_a_manifest_are_those_of_its_records(make_record):
    """Not the one on which the manifest is written, whose BLAS may have chosen other kernels."""
    here = environment.collect()
    rows = [make_record(environment=here | {"blas": blas}) for blas in ("openblas A", "openblas B", "openblas B")]
    machines = description(rows, here, [], RunSummary([]))["machines"]
    assert [(machine["blas"], machine["records"]) for machine in machines] == [("openblas B", 2), ("openblas A", 1)]


@pytest.mark.parametrize("error", [{}, {"error": None}])
def test_a_failure_without_a_message_is_told_by_its_status(make_record, error):
    failed = {name: value for name, value in make_record(status="error").items() if name != "error"} | error
    (cut,) = description([failed], environment.collect(), [], RunSummary([]))["cut"]
    assert (cut["why"], cut["fits"]) == ("error", 1)


def test_a_snapshot_cut_short_says_what_is_left_and_continues(tmp_path, make_experiment, fake, clean):
    experiment = make_experiment(fake("first"), fake("second"))
    snapshot(tmp_path, experiments=[experiment], scale="quick", max_hours=1e-9)
    cut = json.loads((tmp_path / MANIFEST).read_text())["cut"]
    # No method of the data set has a record: one line stands for all.
    assert [(one["method"], one["fits"], one["why"]) for one in cut] == [(None, 2, "not measured yet")]
    snapshot(tmp_path, experiments=[experiment], scale="quick")
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert manifest["cut"] == [] and manifest["records_ok"] == 20


def test_a_cell_that_fails_again_is_one_record_of_the_manifest(tmp_path, make_experiment, fake, clean):
    settings = (Setting("absent", {}, loader="experiment_fakes:load_nothing"),)
    for _ in range(2):
        snapshot(tmp_path, experiments=[make_experiment(fake("good"), settings=settings)], scale="quick")
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert len(Store(tmp_path).records("fake")) == 2
    assert (manifest["records"], manifest["records_ok"], manifest["machines"][0]["records"]) == (1, 0, 1)


def test_a_part_may_have_more_repeats_than_the_rule_gives_and_keeps_them(tmp_path, make_experiment, fake, clean):
    experiment = make_experiment(fake("first"), fake("second"), repeats=1)
    options = {"experiments": [experiment], "scale": "quick"}
    snapshot(tmp_path, **options, repeats=11, only=["*/*/first"])
    assert [run_.get("repeats") for run_ in json.loads((tmp_path / MANIFEST).read_text())["runs"]] == [11]
    snapshot(tmp_path, **options)
    made = [(record["method"], record["repeat"]) for record in Store(tmp_path).records("fake")]
    assert sorted(made) == [("first", k) for k in range(11)] + [("second", k) for k in range(10)]
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert manifest["cut"] == [] and "repeats" not in manifest["runs"][1]
    with pytest.raises(ValueError, match="repeats must be a positive integer"):
        snapshot(tmp_path, **options, repeats=0)


@pytest.mark.slow
def test_optional_data_sets_come_after_everything_else(tmp_path, make_experiment, fake, clean):
    settings = [Setting(name, {}, loader="experiment_fakes:load", optional=name == "late") for name in ("late", "step")]
    experiment = make_experiment(fake("first"), fake("second"), settings=tuple(settings))
    snapshot(tmp_path, experiments=[experiment], scale="quick")
    made = [(record["dataset"], record["repeat"]) for record in Store(tmp_path).records("fake")]
    once = [(name, repeat) for name in ("step", "late") for repeat in range(10)]
    assert made == [place for place in once for _ in range(2)]


@pytest.mark.slow
def test_within_a_repeat_what_takes_less_comes_first(tmp_path, make_experiment, fake, clean):
    settings = [Setting(name, {}, loader="experiment_fakes:load") for name in ("long", "new", "short")]
    experiment = make_experiment(fake("first"), fake("second"), settings=tuple(settings))
    run(experiment, results=tmp_path / "before", datasets=["long", "short"])
    store = Store(tmp_path / "before")
    records = [record | {"seconds": {"total": SECONDS[record["dataset"]]}} for record in store.records("fake")]
    packed_file = tmp_path / "before.jsonl.xz"
    packed_file.write_bytes(packed(records))
    snapshot(tmp_path / "now", experiments=[experiment], scale="quick", earlier=packed_file)
    made = [(record["dataset"], record["method"]) for record in Store(tmp_path / "now").records("fake")]
    once = [(name, method) for name in ("short", "new", "long") for method in ("first", "second")]
    assert made == 10 * once  # a race stays together
    with pytest.raises(ValueError, match="no records of earlier runs in .*nowhere"):
        snapshot(tmp_path / "now", experiments=[experiment], scale="quick", earlier=tmp_path / "nowhere")


def test_times_are_those_of_the_records_of_the_checkout_unless_others_are_named(
    tmp_path, make_experiment, fake, clean, make_record
):
    settings = [Setting(name, {}, loader="experiment_fakes:load") for name in SECONDS]
    experiment = make_experiment(fake("good"), settings=tuple(settings))
    of = {"experiment": "fake", "scale": "quick", "method": "good"}
    before = [make_record(**of, dataset=name, seconds={"total": seconds}) for name, seconds in SECONDS.items()]
    options = {"experiments": [experiment], "scale": "quick", "dry_run": True}
    for file, order in ((None, ["long", "short"]), (snapshot_module._REPORT, ["short", "long"])):
        if file is not None:
            file.write_bytes(packed(before))
        planned = snapshot(tmp_path, **options).planned
        assert [one.cell.dataset for one in planned[:2]] == order
    (tmp_path / "other").mkdir()
    planned = snapshot(tmp_path, **options, earlier=tmp_path / "other").planned
    assert [one.cell.dataset for one in planned[:2]] == ["long", "short"]


def test_what_ran_out_of_time_counts_as_its_limit(make_experiment, fake):
    settings = [Setting(name, {}, loader="experiment_fakes:load") for name in ("cut", "new", "short")]
    experiment = make_experiment(fake("good"), settings=tuple(settings))
    records = [
        {"experiment": "fake", "scale": "quick", "dataset": name, "method": "good", **how}
        for name, how in (
            ("cut", {"status": "timeout", "seconds": {}, "limits": {"seconds": 90.0}}),
            ("cut", {"status": "timeout", "seconds": {}, "limits": {"seconds": 9.0}}),
            ("short", {"status": "ok", "seconds": {"total": 30.0}, "limits": {}}),
        )
    ]
    expectations = Expectations(records)
    cells, _ = plan([experiment], "quick", repeats=1, seconds_of=expectations.of_all)
    assert [cell.dataset for cell in cells] == ["short", "new", "cut"]
    assert [expectations.of(cell) for cell in cells] == [30.0, None, None]  # a failed cell is not repeated


def test_a_cell_of_unknown_time_counts_as_the_mean_of_the_others():
    assert total_expected([10.0, None, 20.0]) == 45.0
    assert total_expected([]) == 0.0 and total_expected([None]) is None


@pytest.mark.slow
def test_records_of_an_experiment_that_has_changed_are_dropped(tmp_path, make_experiment, fake, clean, monkeypatch):
    events = []

    def again(*methods, **options):
        snapshot(tmp_path, experiments=[make_experiment(*methods)], scale="quick", on_event=events.append, **options)
        notes = [event.message for event in events if event.kind == "note"]
        events.clear()
        return [(record["method"], record["params"]) for record in Store(tmp_path).records("fake")], notes

    kept, changed = fake("kept"), fake("changed", params={"shift": 1.0})
    found, notes = again(kept, changed, fake("gone"))
    assert len(found) == 30 and notes == []
    found, notes = again(kept, replace(changed, params={"shift": 2.0}))
    assert sorted(map(str, found)) == sorted(map(str, [("kept", {})] * 10 + [("changed", {"shift": 2.0})] * 10))
    assert len(notes) == 1 and "fake: 20 records are of code or cells that have changed since" in notes[0]
    assert len((tmp_path / "fake.jsonl.before-1").read_text().splitlines()) == 30
    found, notes = again(replace(kept, requires="no_such_package_here"), max_hours=1e-9)
    assert [name for name, _ in found] == ["kept"] * 10  # a package that is missing here is no change

    # A new digest of what the cells run, in all that computes it.
    monkeypatch.setattr("kernbench.experiments.run.outdated.experiment_digest", lambda names: "another")
    assert again(kept, max_hours=1e-9)[0] == []


def test_nothing_but_outdated_records_is_dropped_and_counted(tmp_path, make_experiment, fake, clean, make_record):
    """A failure that a later call has mended is neither, nor is a torn line."""
    experiment = make_experiment(fake("good"))
    (cell,) = plan([experiment], "quick")[0]
    found = {**clean, "experiment_code": experiment_digest(names_in(cell))}
    now = make_record(environment=found, key=cell_key(cell, "abc", found))
    store, events = Store(tmp_path), []
    for status in ("error", "ok"):
        store.append(now | {"status": status})
    with open(store.path("fake"), "a") as file:
        file.write('{"key": "torn\n')
    before = store.path("fake").read_bytes()
    drop_outdated(tmp_path, [experiment], "quick", events.append)
    assert not events and [path.name for path in tmp_path.iterdir()] == ["fake.jsonl"]
    store.append(now | {"key": "of other code"})
    drop_outdated(tmp_path, [experiment], "quick", events.append)
    assert [event.message.partition(" code")[0] for event in events] == ["fake: 1 record is of"]
    assert store.path("fake").read_bytes() == before


def test_a_record_is_outdated_by_whatever_its_cell_is_made_of(make_experiment, fake, clean):
    def cell(rows=20, loader="load", **scale):
        setting = Setting("step", {"n": rows}, loader=f"experiment_fakes:{loader}")
        (made,) = plan([make_experiment(fake("good"), settings=(setting,), **scale)], "quick")[0]
        return made

    def record(cell, checksum, **changes):
        found = {**clean, "experiment_code": experiment_digest(names_in(cell)), **changes}
        place = dict(zip(("experiment", "scale", "dataset", "method", "repeat"), cell.place))
        key = cell_key(cell, checksum, found)
        return {**place, "key": key, "params": cell.params, "data": {"checksum": checksum}, "environment": found}

    now = cell()
    is_outdated = outdated({now.place: now})
    assert not is_outdated(record(now, "of any data"))
    assert not is_outdated(record(now, "of any data", processor="another", code="earlier", n_threads=7))
    changed = (cell(rows=30), cell(warm_up_rows=5), replace(now, seed=now.seed + 1), replace(now, evaluate="another"))
    assert all(is_outdated(record(other, "of any data")) for other in changed)
    assert not is_outdated(record(cell(time_limit=5.0), "of any data"))  # a fit that ended is the same
    assert is_outdated(record(now, "of any data", experiment_code="earlier"))
    gone = record(replace(now, method="gone"), "of any data")
    assert is_outdated(gone) and not outdated({now.place: now}, {"gone"})(gone)  # its package is missing here
    # A measurement that draws data of its own describes these; its key has the checksum of the cell's data.
    own = record(now, load(now.loader)(**now.arguments).checksum)
    assert not is_outdated(own | {"data": {"checksum": "of its own data"}})


def test_data_are_not_read_to_see_that_the_code_has_changed(make_experiment, fake, clean, monkeypatch):
    (now,) = plan([make_experiment(fake("good"))], "quick")[0]
    place = dict(zip(("experiment", "scale", "dataset", "method", "repeat"), now.place))
    found = {**clean, "experiment_code": "earlier"}
    monkeypatch.setattr(outdated_module, "description", lambda cell: pytest.fail("the data are read"))
    record = {**place, "key": cell_key(now, "of data", found), "data": {"checksum": "of data"}, "environment": found}
    assert outdated({now.place: now})(record)


@pytest.mark.slow
def test_a_snapshot_may_continue_on_another_machine(tmp_path, make_experiment, fake, clean, monkeypatch):
    settings = tuple(Setting(name, {}, loader="experiment_fakes:load") for name in ("whole", "begun"))
    experiment = make_experiment(fake("first"), fake("second"), settings=settings)
    snapshot(tmp_path, experiments=[experiment], scale="quick", skip=["*/begun/second"])
    other = clean | {"processor": "another"}
    monkeypatch.setattr(environment, "collect", lambda: dict(other))
    again = {"experiments": [experiment], "scale": "quick"}
    planned = snapshot(tmp_path, **again, any_machine=True, dry_run=True).planned
    assert {one.cell.dataset: one.stored for one in planned} == {"whole": True, "begun": False}
    made = snapshot(tmp_path, **again, any_machine=True).records
    # A race that was begun elsewhere begins again: no race mixes machines.
    assert sorted({(record["dataset"], record["method"]) for record in made}) == [
        ("begun", "first"),
        ("begun", "second"),
    ]
    assert len(made) == 20
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    measured = {machine["processor"]: machine["records"] for machine in manifest["machines"]}
    assert manifest["cut"] == [] and measured == {clean["processor"]: 30, "another": 20}
    monkeypatch.setattr(environment, "collect", lambda: dict(clean))
    assert snapshot(tmp_path, **again, any_machine=True).records == []
    # Else only this machine's own records count. A race whose last records are of two machines begins again.
    assert len(snapshot(tmp_path, **again, only=["*/begun/second"]).records) == 10
    monkeypatch.setattr(environment, "collect", lambda: clean | {"processor": "a third"})
    assert {record["dataset"] for record in snapshot(tmp_path, **again, any_machine=True).records} == {"begun"}


def test_what_another_machine_has_measured_is_not_missing(tmp_path, make_experiment, fake, clean, monkeypatch):
    experiment = make_experiment(fake("first"), fake("second"))
    snapshot(tmp_path, experiments=[experiment], scale="quick", skip=["*/second"])
    monkeypatch.setattr(environment, "collect", lambda: clean | {"processor": "another"})
    snapshot(tmp_path, experiments=[experiment], scale="quick", max_hours=1e-9)
    (cut,) = json.loads((tmp_path / MANIFEST).read_text())["cut"]
    assert (cut["method"], cut["why"]) == ("second", "not measured yet")


def test_a_part_by_patterns_is_told_and_the_rest_is_listed(tmp_path, make_experiment, fake, clean):
    experiment = make_experiment(fake("first"), fake("second"), fake("third"))
    parts = {"only": ["fake/*/[fs]*"], "skip": ["*/second"]}
    snapshot(tmp_path, experiments=[experiment], scale="quick", **parts)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert {record["method"] for record in Store(tmp_path).records("fake")} == {"first"}
    assert [cut["method"] for cut in manifest["cut"]] == ["second", "third"]
    assert {name: manifest["runs"][0][name] for name in parts} == parts


def test_a_snapshot_that_is_interrupted_is_described(tmp_path, make_experiment, fake, clean):
    def stop(event):
        if event.kind == "finished":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        snapshot(tmp_path, experiments=[make_experiment(fake("good"))], scale="quick", on_event=stop)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    (this,) = manifest["runs"]
    assert this["interrupted"] and this["fits"] == manifest["records_ok"] == 1 and this["paused_hours"] == 0
    assert [cut["why"] for cut in manifest["cut"]] == ["not measured yet"]


def test_a_call_that_ends_during_another_one_stays_in_the_manifest(tmp_path, make_experiment, fake, clean):
    experiment = make_experiment(fake("good"))

    def call_beside(event):
        if event.kind == "started" and event.cell.repeat == 0:
            snapshot(tmp_path, experiments=[experiment], scale="quick", max_hours=1e-9)

    snapshot(tmp_path, experiments=[experiment], scale="quick", on_event=call_beside)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert [call["fits"] for call in manifest["runs"]] == [0, 10]
    assert manifest["records_ok"] == 10 and not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_a_manifest_is_about_the_experiments_of_all_calls(tmp_path, make_experiment, fake, clean, monkeypatch):
    first, second = (replace(make_experiment(fake("good")), name=name) for name in ("one", "two"))
    monkeypatch.setattr(registry, "EXPERIMENTS", [first, second])
    snapshot(tmp_path, scale="quick", max_hours=1e-9)
    snapshot(tmp_path, experiments=["two"], scale="quick")
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert [one.get("experiments") for one in manifest["runs"]] == [None, ["two"]]  # None: all
    assert manifest["records_ok"] == 10
    assert [(cut["experiment"], cut["why"]) for cut in manifest["cut"]] == [("one", "not measured yet")]


def test_another_scale_and_an_unknown_name_are_refused(tmp_path, make_experiment, fake, clean):
    snapshot(tmp_path, experiments=[make_experiment(fake("good"))], scale="quick")
    with pytest.raises(ValueError, match="a snapshot at quick scale"):
        snapshot(tmp_path, experiments=["cache"], scale="paper")
    (tmp_path / MANIFEST).unlink()  # as of records of `kernbench run`
    with pytest.raises(ValueError, match="records at quick scale"):
        snapshot(tmp_path, experiments=["cache"], scale="paper")
    with pytest.raises(ValueError, match="did you mean 'cache'"):
        snapshot(tmp_path, experiments=["cach"], scale="quick")


def test_a_call_that_is_refused_changes_nothing(tmp_path, make_experiment, fake, clean, make_record):
    options = {"experiments": [make_experiment(fake("good"))], "scale": "quick", "max_hours": 1e-9, "earlier": tmp_path}
    snapshot(tmp_path, **options)
    Store(tmp_path).append(make_record(environment={"code": clean["code"]}))  # outdated: of no experiment's code
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for wrong, message in (({"repeats": 0}, "positive integer"), ({"only": ["typo"]}, "matches nothing")):
        with pytest.raises(ValueError, match=message):
            snapshot(tmp_path, **options, **wrong)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_changes_that_are_not_committed_are_refused(tmp_path, make_experiment, fake, clean, monkeypatch):
    monkeypatch.setattr(environment, "collect", lambda: clean | {"git_dirty": True})
    with pytest.raises(ValueError, match="changes that are not committed"):
        snapshot(tmp_path, experiments=[make_experiment(fake("good"))], scale="quick")


def test_records_of_other_code_are_refused(tmp_path, make_experiment, fake, clean, monkeypatch):
    experiment = make_experiment(fake("good"))
    snapshot(tmp_path, experiments=[experiment], scale="quick")
    monkeypatch.setattr(environment, "collect", lambda: clean | {"code": "another"})
    with pytest.raises(ValueError, match=f"records of other code .digest {clean['code']}"):
        snapshot(tmp_path, experiments=[experiment], scale="quick")
