"""A small experiment of fake methods, cells measured here and now, and records without a run."""

from dataclasses import replace
from pathlib import Path

import pytest

from kernbench._lazy import load
from kernbench.experiments import Claim, Experiment, Method, Metric, Scale, Setting
from kernbench.experiments.run.cells import plan
from kernbench.experiments.run.storing.schema import VERSION


@pytest.fixture
def make_experiment(monkeypatch):
    """Return a function ``make(*methods, **scale)``; its cells run fakes that child processes can import."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))

    def make(*methods, settings=None, repeats=1, time_limit=60.0, threads=1, warm_up_rows=0, **scale):
        settings = settings or (Setting("step", {}, loader="experiment_fakes:load"),)
        return Experiment(
            name="fake",
            title="Fakes",
            paper="none",
            claims=(Claim("nothing is claimed", methods[0].name, methods[0].name, "test_error", 0.0),),
            methods=methods,
            scales={"quick": Scale(settings, repeats, time_limit, **scale)},
            metrics=(Metric("test_error", "test error", "lower", ("metrics", "test_error")),),
            evaluate="experiment_fakes:evaluate",
            threads=threads,
            warm_up_rows=warm_up_rows,
        )

    return make


@pytest.fixture
def fake():
    """Return a function that declares a method out of `experiment_fakes`."""
    return lambda name, kind="Sign", /, params=None, **rest: Method(
        name, name, f"experiment_fakes:{kind}", params or {}, **rest
    )


@pytest.fixture(scope="session")
def cell_of():
    """Return a function that makes a cell of the quick scale, with other arguments and parameters."""

    def make(experiment, dataset, method, *, arguments=None, **params):
        cells, _ = plan([experiment], "quick", datasets=[dataset], methods=[method], repeats=1)
        (cell,) = [cell for cell in cells if cell.method == method]
        return replace(cell, arguments=cell.arguments | (arguments or {}), params=cell.params | params, warm_up_rows=0)

    return make


@pytest.fixture(scope="session")
def outcome(cell_of):
    """Return a function that measures such a cell, in this process."""

    def measured(*place, **changes):
        cell = cell_of(*place, **changes)
        return load(cell.measure)(cell)

    return measured


@pytest.fixture
def make_record():
    """Return a function that makes a well-formed record."""

    def make(**changes):
        record = {
            "schema": VERSION,
            "key": "0" * 32,
            "experiment": "fake",
            "scale": "quick",
            "dataset": "step",
            "method": "good",
            "repeat": 0,
            "seed": 1,
            "status": "ok",
            "error": None,
            "metrics": {"test_error": 0.25},
            "seconds": {"fit": 1.0, "predict": 0.5, "total": 2.0},
            "peak_memory_bytes": 1000,
            "n_kernel_evaluations": None,
            "limits": {"seconds": 60.0, "bytes": None},
            "trace": {},
            "params": {},
            "data": {"name": "step", "checksum": "abc"},
            "environment": {},
            "started": "2025-01-01T00:00:00+00:00",
        }
        return {**record, **changes}

    return make
