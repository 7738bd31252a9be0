"""Cells on the workers of a Dask cluster: the records of a local run, also when a worker is killed."""

import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from kernbench.experiments import Setting
from kernbench.experiments.run import Store, run


def test_without_dask_the_error_says_what_to_install(make_experiment, fake, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r'pip install "kernbench\[dask\]"'):
        run(make_experiment(fake("good")), results=tmp_path, scheduler="tcp://127.0.0.1:1")


class TestOnACluster:
    @pytest.fixture(scope="class")
    @classmethod
    def scheduler(cls):
        distributed = pytest.importorskip("distributed", reason="distributed is not installed: kernbench[dask]")
        before = os.environ.get("PYTHONPATH")
        # No empty part, which would stand for the checkout: its sources are not compiled.
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), before]))
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster:
            if before is None:
                del os.environ["PYTHONPATH"]
            else:
                os.environ["PYTHONPATH"] = before
            yield cluster

    @staticmethod
    def places(records):
        return sorted((r["dataset"], r["method"], r["repeat"], r["status"]) for r in records)

    def test_records_are_those_of_a_local_run(self, scheduler, make_experiment, fake, tmp_path):
        experiment = make_experiment(fake("good"), fake("raises", "Raises"), fake("fatal", "KillsItself"), repeats=2)
        local = run(experiment, results=tmp_path / "local")
        remote = run(experiment, results=tmp_path / "remote", scheduler=scheduler.scheduler_address)
        assert self.places(remote.records) == self.places(local.records)
        by_place = {(r["method"], r["repeat"]): r for r in local.records}
        for record in remote.records:
            same = by_place[record["method"], record["repeat"]]
            assert record["environment"] == {**same["environment"], "host": socket.gethostname()}
            assert (record["metrics"], record["error"], record["key"]) == (same["metrics"], same["error"], same["key"])
        again = run(experiment, results=tmp_path / "remote", scheduler=scheduler.scheduler_address, dry_run=True)
        assert again.n_skipped == 2  # the good ones
        here = run(experiment, results=tmp_path / "remote", dry_run=True)
        assert here.n_skipped == 2

    @pytest.mark.slow
    def test_a_worker_that_is_killed_costs_no_record(self, scheduler, make_experiment, fake, tmp_path):
        settings = tuple(Setting(name, {}, loader="experiment_fakes:load") for name in ("one", "two", "three"))
        methods = [fake(name, params={"seconds": 0.5}) for name in ("f", "g")]
        experiment = make_experiment(*methods, settings=settings)
        killed = threading.Event()

        def kill_one(event):
            if event.kind == "finished" and not killed.is_set():
                killed.set()
                with_pid = scheduler.workers[0]
                os.kill(with_pid.process.pid, signal.SIGKILL)

        summary = run(experiment, results=tmp_path, scheduler=scheduler.scheduler_address, on_event=kill_one)
        assert killed.is_set() and not summary.failed
        assert len(Store(tmp_path).records("fake")) == len(summary.records) == 6

    @pytest.mark.slow
    def test_an_interrupt_ends_the_cells(self, scheduler, make_experiment, fake, tmp_path):
        log = tmp_path / "log"
        experiment = make_experiment(fake("hangs", "Hangs", params={"log": str(log)}))

        def interrupt():
            while not log.exists():
                time.sleep(0.05)
            signal.raise_signal(signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt, match="the same command again"):
            run(experiment, results=tmp_path / "r", scheduler=scheduler.scheduler_address)
        thread.join()
        pid = int(log.read_text().split()[0])
        for _ in range(100):
            if not Path(f"/proc/{pid}").exists():
                return
            time.sleep(0.1)
        raise AssertionError("the cell is still running")

    def test_a_scheduler_that_does_not_answer_is_named(self, make_experiment, fake, tmp_path, monkeypatch):
        pytest.importorskip("distributed", reason="distributed is not installed: kernbench[dask]")
        from kernbench.experiments.run.cluster import workers

        monkeypatch.setattr(workers, "CONNECT_SECONDS", 0.5)
        with pytest.raises(ValueError, match="no Dask scheduler answers at 'tcp://127.0.0.1:1'"):
            run(make_experiment(fake("good")), results=tmp_path, scheduler="tcp://127.0.0.1:1")
