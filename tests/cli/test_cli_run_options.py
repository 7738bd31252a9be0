"""`kernbench run`: where fits run, and for how long."""

import pytest

from kernbench.experiments.run import environment, snapshot


@pytest.mark.parametrize(
    "options, message",
    [
        (["--backend", "dask"], "--backend dask and --scheduler ADDRESS go together"),
        (["--backend", "local", "--scheduler", "tcp://127.0.0.1:1"], "go together"),
        (["--scheduler", "tcp://127.0.0.1:1", "--data", "."], "set KERNBENCH_DATA where the workers are started"),
        (["--scheduler", "tcp://127.0.0.1:1", "--jobs", "2"], "each worker runs a cell at a time"),
        (["all", "sbp-libsvm"], "'all'"),
        (["--time-limit", "inf"], "time_limit must be a finite number of seconds, got inf"),
        (["--memory-limit", "inf"], "--memory-limit must be a finite number of MB, got inf"),
        (["--memory-limit", "nan"], "'nan' is not a number"),
        (["--when-idle", "--jobs", "2"], "when_idle and several jobs exclude each other"),
    ],
)
def test_options_that_exclude_each_other_or_make_no_sense_are_refused(refused, options, message):
    assert message in refused("run", *options)


def test_a_snapshot_may_be_of_some_experiments(kernbench, refused, monkeypatch, tmp_path):
    clean = environment.collect() | {"git_dirty": False}
    monkeypatch.setattr(environment, "collect", lambda: clean)
    monkeypatch.setattr(snapshot, "_REPORT", tmp_path / "absent")  # the records of the checkout take seconds to read
    planned = kernbench("snapshot", "cache", "--scale", "quick", "--dry-run").stdout
    assert "adult-like" in planned and "twins" not in planned
    assert "did you mean 'cache'" in refused("snapshot", "cach")
    assert "did you mean 'quick'" in refused("snapshot", "--scale", "quik")
