"""Two runs on one folder, killed again and again: every line is whole, and the records are those of a quiet run."""

import random
import signal
import subprocess
import sys

import pytest

from kernbench.experiments.run import Store

EXPERIMENT, N_KILLS = "rocsvm-linear", 10
SLOW = "*/*/full-naive"  # may reach its time limit on a busy machine
TIMED = "*/equal/*"  # its metrics are ratios of times
COMMAND = (sys.executable, "-m", "kernbench", "run", EXPERIMENT, "--skip", SLOW, "--skip", TIMED, "--results")


def without_times(value):
    """A record without what differs from run to run: times, memory, and the points of a trace, which a clock sets."""
    if not isinstance(value, dict):
        return value
    varying = ("seconds", "started", "peak_memory_bytes", "working_memory_bytes", "trace", "environment", "key")
    return {name: without_times(entry) for name, entry in value.items() if name not in varying}


def comparable(store):
    """The last record of each cell, by its place, and the number of all records."""
    records = list(store.records(EXPERIMENT))
    places = [(record["dataset"], record["method"], record["repeat"]) for record in records]
    return {place: without_times(record) for place, record in zip(places, records)}, len(places)


@pytest.mark.slow
@pytest.mark.filterwarnings("error::kernbench.experiments.run.storing.store.SkippedLine")
def test_ten_kills_of_two_runs_on_one_folder_lose_nothing(tmp_path):
    subprocess.run([*COMMAND, tmp_path / "whole"], check=True, capture_output=True)
    expected, n_cells = comparable(Store(tmp_path / "whole"))
    rng, store, n_before = random.Random(0), Store(tmp_path / "killed"), []
    for _ in range(N_KILLS):
        runs = [subprocess.Popen([*COMMAND, store.folder], stdout=subprocess.DEVNULL) for _ in range(2)]
        for process in runs:
            try:
                process.wait(rng.uniform(0.5, 6.0))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        for process in runs:
            process.kill()
            process.wait()
        n_before.append(comparable(store)[1])  # a torn line warns, which is an error here
    done = subprocess.run([*COMMAND, store.folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found, _ = comparable(store)
    assert n_before == sorted(n_before)  # no line is lost
    assert found == expected and len(found) == n_cells
    print(f"records after each kill: {n_before} of {n_cells}")
