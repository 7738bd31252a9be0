"""What becomes of cells when workers of a cluster are lost, lack data or differ: on fake workers, without Dask."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from kernbench._version import __version__
from kernbench.experiments import Setting, plugins
from kernbench.experiments.run import runner
from kernbench.experiments.run.cells import plan
from kernbench.experiments.run.cluster import client, host, workers
from kernbench.experiments.run.cluster.workers import Lost, Worker
from kernbench.experiments.run.machine import Machine
from kernbench.experiments.run.schedule import Task

MACHINE = {"kernbench": "1", "git_commit": "a", "processor": "x", "n_cores": 1, "blas": "b"}


class FakeAnswer:
    def __init__(self, outcome):
        self.outcome = outcome

    def done(self):
        return True

    def result(self):
        if self.outcome is None:
            raise Lost("gone")
        return self.outcome


class FakeWorker:
    """A worker that measures until it has measured `lives` cells."""

    def __init__(self, cluster, address, lives=1000, processor="x", lacks=()):
        self.cluster, self.address, self.lives = cluster, address, lives
        self.machine = Machine(MACHINE | {"processor": processor, "host": address}, {"fake": 1}, self.describe)
        self.lacks = lacks

    def describe(self, cell):
        return {"name": cell.dataset, "checksum": "c"}, "no file" if cell.dataset in self.lacks else None

    def measure(self, task, cell):
        self.cluster.measured.append((self.address, cell.dataset, cell.method))
        if self.lives == 0 or cell.method == "deadly":
            self.cluster.addresses.remove(self.address)
            return FakeAnswer(None)
        self.lives -= 1
        return FakeAnswer({"status": "ok", "error": None, "seconds": {"fit": 1.0}})


class FakeCluster(client.Cluster):
    def __init__(self, **workers):
        self.measured, self.addresses = [], list(workers)
        self.workers = {address: FakeWorker(self, address, **kind) for address, kind in workers.items()}
        self.newcomers = {}

    def present(self):
        return list(self.addresses)

    def join(self, address):
        self.workers[address] = FakeWorker(self, address, **self.newcomers.get(address, {}))


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(client, "sleep", lambda seconds: None)


@pytest.fixture
def run_on(make_experiment, fake):
    """Return a function that runs two repeats of methods on two data sets and returns (records, messages)."""

    def run(cluster, *methods, may_start=lambda: True, datasets=("one", "two")):
        experiment = make_experiment(
            *(fake(name) for name in methods),
            settings=tuple(Setting(name, {"name": name}) for name in datasets),
            repeats=2,
        )
        cells, _ = plan([experiment], "quick")
        records, messages = [], []

        def make_task(cell, machine, problem=None):
            data, problem = machine.data(cell, problem)
            return Task(cell, machine.key(cell, "c"), data, machine.environment(cell), problem=problem)

        cluster.run(
            cells,
            {},
            make_task=make_task,
            take=lambda task: (True, None),
            on_start=lambda task: None,
            on_finish=lambda task, record: records.append(record),
            tell=messages.append,
            may_start=may_start,
        )
        return records, messages

    return run


def by_group(records):
    """Hosts of the successful cells, by data set and repeat."""
    groups = {}
    for r in records:
        if r["status"] == "ok":
            groups.setdefault((r["dataset"], r["repeat"]), []).append((r["method"], r["environment"]["host"]))
    return groups


def test_all_methods_of_a_repeat_run_on_one_worker_and_all_workers_work(run_on):
    cluster = FakeCluster(a={}, b={})
    records, messages = run_on(cluster, "f", "g", "h")
    groups = by_group(records)
    assert len(records) == 12 and len(groups) == 4 and not messages
    assert all(len({host for _, host in cells}) == 1 for cells in groups.values())
    assert {address for address, _, _ in cluster.measured} == {"a", "b"}


def test_another_worker_of_the_same_kind_goes_on_where_a_lost_one_stopped(run_on):
    cluster = FakeCluster(a={"lives": 1}, b={})
    records, messages = run_on(cluster, "f", "g", "h")
    assert len(records) == 12 and all(r["status"] == "ok" for r in records)
    assert len(messages) == 1 and "worker a is lost" in messages[0]
    assert [(r["method"], r["environment"]["host"]) for r in records if r["environment"]["host"] == "a"] == [("f", "a")]


def test_a_worker_of_another_kind_measures_all_methods_again(run_on):
    cluster = FakeCluster(a={"lives": 1}, b={"processor": "y"})
    records, _ = run_on(cluster, "f", "g", "h")
    begun = next(place for place, cells in by_group(records).items() if ("f", "a") in cells)
    on_b = [method for method, host in by_group(records)[begun] if host == "b"]
    assert on_b == ["f", "g", "h"] and len(records) == 13


def test_a_cell_that_costs_two_workers_is_an_error_and_the_others_go_on(run_on):
    records, _ = run_on(FakeCluster(a={}, b={}, c={}, d={}, e={}), "deadly", "f", datasets=("one",))
    found = sorted((r["method"], r["repeat"], r["error"]) for r in records if r["method"] == "deadly")
    assert found == [("deadly", repeat, "2 workers ended while it ran") for repeat in (0, 1)]
    assert sorted((r["repeat"], r["status"]) for r in records if r["method"] == "f") == [(0, "ok"), (1, "ok")]


def test_a_group_goes_to_a_worker_that_has_its_data(run_on):
    cluster = FakeCluster(a={"lacks": ("two",)}, b={})
    records, messages = run_on(cluster, "f", "g")
    assert all(r["status"] == "ok" for r in records) and len(records) == 8
    assert {r["environment"]["host"] for r in records if r["dataset"] == "two"} == {"b"}


def test_data_that_no_worker_has_are_an_error_of_their_cells(run_on):
    cluster = FakeCluster(a={"lacks": ("two",)}, b={"lacks": ("two",)})
    records, _ = run_on(cluster, "f")
    assert {(r["dataset"], r["status"], r["error"]) for r in records} == {
        ("one", "ok", None),
        ("two", "error", "no file"),
    }


def test_data_that_end_the_process_that_reads_them_are_an_error_of_their_cells(run_on, monkeypatch):
    def submit(self, function, *arguments):
        raise RuntimeError("the process that runs cells ended with exit code -9")

    worker = object.__new__(Worker)
    monkeypatch.setattr(Worker, "_submit", submit)
    monkeypatch.setattr(FakeWorker, "describe", lambda self, cell: worker._describe(cell))
    records, _ = run_on(FakeCluster(a={}), "f", datasets=("one",))
    assert {record["error"] for record in records} == {
        "RuntimeError: the process that runs cells ended with exit code -9"
    }


def test_the_host_loads_the_plug_in_that_loads_the_data(make_experiment, fake, write_plugin):
    path = write_plugin("mine")
    path.write_text(f"{path.read_text()}\nimport experiment_fakes\n\nload = lambda: experiment_fakes.load(30)\n")
    data = Setting("own", {}, loader="kernbench_plugin_mine:load")
    (cell,) = plan([make_experiment(fake("f"), settings=(data,))], "quick")[0]
    plugin = plugins.Plugin(str(path), "kernbench_plugin_mine", plugins._digest(path), (), ())
    found, problem = host._described(cell, plugin)
    assert (found["checksum"], problem) == ("step-30", None)
    path.write_text("1 / 0")
    plugins.PLUGINS.clear()
    assert "ZeroDivisionError" in host._described(cell, plugin)[1]


def test_nothing_starts_once_the_time_is_up(run_on):
    cluster = FakeCluster(a={}, b={})
    answers = iter([True, True, False])
    records, _ = run_on(cluster, "f", "g", may_start=lambda: next(answers, False))
    assert 0 < len(records) < 8


def test_a_cluster_without_workers_is_given_up(run_on, monkeypatch):
    monkeypatch.setattr(client, "SECONDS_WITHOUT_WORKERS", 0.0)
    with pytest.raises(ValueError, match="no workers left"):
        run_on(FakeCluster(a={"lives": 0}), "f")


def test_a_worker_that_is_lost_during_the_preparation_is_named(monkeypatch):
    monkeypatch.setattr(workers, "connected", nullcontext)
    monkeypatch.setattr(client, "Cluster", lambda *arguments: "a cluster")
    with pytest.raises(ValueError, match="worker tcp://a was lost"):
        with runner._where("tcp://scheduler", {}, 1, False):
            raise Lost("tcp://a")


def test_a_worker_with_too_few_threads_is_named(monkeypatch):
    found = MACHINE | {"kernbench": __version__, "pid": 1}
    monkeypatch.setattr(Worker, "_submit", lambda self, function: FakeAnswer(dict(found)))
    presence = SimpleNamespace(threads=lambda: {"tcp://a": 1})
    with pytest.raises(ValueError, match="worker tcp://a was started with --nthreads 1, and a fit takes 2 threads"):
        Worker(None, presence, "tcp://a", {"fake": 2, "other": None}, False)
    Worker(None, presence, "tcp://a", {"fake": 2}, True)
    Worker(None, presence, "tcp://a", {"fake": 1, "other": None}, False)
    with pytest.raises(Lost):  # it ended after it had answered
        Worker(None, presence, "tcp://b", {"fake": 1}, False)


def test_jobs_and_clusters_exclude_each_other(make_experiment, fake, tmp_path):
    with pytest.raises(ValueError, match="each worker runs a cell at a time"):
        runner.run(make_experiment(fake("f")), results=tmp_path, jobs=2, scheduler="tcp://127.0.0.1:1")
