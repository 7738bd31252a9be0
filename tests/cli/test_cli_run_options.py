"""`kernbench run`: where fits run, and for how long."""

import pytest


@pytest.mark.parametrize(
    "options, message",
    [
        (["--backend", "dask"], "--backend dask and --scheduler ADDRESS go together"),
        (["--backend", "local", "--scheduler", "tcp://127.0.0.1:1"], "go together"),
        (["--scheduler", "tcp://127.0.0.1:1", "--data", "."], "set KERNBENCH_DATA where the workers are started"),
        (["--scheduler", "tcp://127.0.0.1:1", "--jobs", "2"], "each worker runs a cell at a time"),
        (["all", "sbp-libsvm"], "'all'"),
    ],
)
def test_options_that_exclude_each_other_are_refused(refused, options, message):
    assert message in refused("run", *options)
