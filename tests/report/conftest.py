"""A small experiment and hand-made records of it."""

import json

import pytest

from kernbench.experiments import registry
from kernbench.experiments.declare import (
    Axis,
    Claim,
    Curves,
    Experiment,
    Method,
    Metric,
    MetricTable,
    PaperNumber,
    Quantity,
    Recommendation,
    Scale,
    Setting,
)
from kernbench.report.records.cells import cells_of
from kernbench.report.records.results import Results

ENVIRONMENT = {
    "kernbench": "0.1.0",
    "git_commit": "c0ffee",
    "git_dirty": False,
    "python": "3.12.1",
    "numpy": "2.1.0",
    "scipy": "1.14.0",
    "scikit-learn": "1.6.0",
    "processor": "Test CPU",
    "n_cores": 2,
    "n_threads": 1,
    "blas": "openblas 0.3",
    "platform": "Linux",
}

TOY = Experiment(
    name="toy",
    title="A toy race",
    paper="Nobody, 2000, section 0",
    claims=(Claim("SBP is as good in a quarter.", "sbp-quarter", "libsvm", "test_error", 0.002, time_fraction=0.25),),
    methods=(
        Method("libsvm", "LIBSVM (scikit-learn SVC)", "sklearn.svm:SVC"),
        Method(
            "sbp-quarter",
            "SBP, ¼ of LIBSVM's time",
            "kernbench.estimators.svm.kernel_svc:KernelSVC",
            {"solver": "sbp"},
            traced=True,
            depends_on="libsvm",
            budget_fraction=0.25,
        ),
        Method("sbp", "SBP", "kernbench.estimators.svm.kernel_svc:KernelSVC", {"solver": "sbp"}, traced=True),
        Method("smo", "SMO", "kernbench.estimators.svm.kernel_svc:KernelSVC", {"solver": "smo"}, traced=True),
        Method("other", "A peer", "nowhere:Peer", requires="no_such_module", package="no-such-package"),
    ),
    scales={
        "quick": Scale((Setting("blobs", {"name": "blobs"}, stands_for="adult"),), repeats=3, time_limit=60),
        "paper": Scale(
            (Setting("adult", {"name": "adult"}), Setting("mnist", {"name": "mnist"}, optional=True)), 3, 60
        ),
    },
    metrics=(
        Metric("test_error", "test error", "lower", ("metrics", "test_error"), "%", 100.0),
        Metric("fit_seconds", "fit time", "lower", ("seconds", "fit"), "s"),
        Metric("objective", "objective", "lower", ("metrics", "objective")),
        Metric("converged", "converged", "higher", ("metrics", "converged")),
        Metric("peak_memory", "peak memory", "lower", ("peak_memory_bytes",), "MB", 2.0**-20),
    ),
    tables=(
        MetricTable(
            "comparison",
            "The paper's numbers and ours",
            (
                Quantity("test_error", "paper"),
                "test_error",
                Quantity("test_error", "difference", baseline="libsvm"),
                Quantity("fit_seconds", "paper", label="paper: time"),
                Quantity("fit_seconds", "median"),
                Quantity("fit_seconds", "speed", baseline="libsvm"),
                Quantity("fit_seconds", "repeats"),
            ),
        ),
        Recommendation(
            "a kernel SVM", "test_error", "libsvm", 0.002, objective="objective", rough=0.01, arguments=("C=1.0",)
        ),
    ),
    figures=(
        Curves(
            "seconds",
            "Test error against time",
            Axis("trace.seconds", "training time", "s", log=True),
            Axis("trace.test_error", "test error", "%", 100.0),
            panel="dataset",
            steps=True,
            final_only=("sbp-quarter",),
            baseline="libsvm",
            budget=0.25,
        ),
    ),
    paper_numbers=(
        PaperNumber("adult", "libsvm", "test_error", 0.149),
        PaperNumber("adult", "libsvm", "fit_seconds", 195.0),
        PaperNumber("adult", "sbp-quarter", "test_error", 0.15),
    ),
    threads=1,
)


@pytest.fixture
def undrawn(monkeypatch):
    """Leave the figures empty, most of the work of a small report: for tests of what stands around them."""
    empty = '<svg xmlns="http://www.w3.org/2000/svg"></svg>'
    for name in ("one", "multiples"):
        monkeypatch.setattr(f"kernbench.report.charts.drawing.layout.{name}", lambda *_, **__: (empty, empty))


@pytest.fixture
def toy(monkeypatch):
    """The experiment, and no other in the registry."""
    monkeypatch.setattr(registry, "EXPERIMENTS", (TOY,))
    return TOY


def a_trace(error, seconds, start=0.5, n=1000):
    """A curve that halves its distance to `error` four times and arrives."""
    errors = [start] + [error + (start - error) / 2**k for k in range(1, 5)] + [error]
    return {
        "seconds": [seconds * k / 5 for k in range(6)],
        "n_iter": [k * n for k in range(6)],
        "n_kernel_evaluations": [k * n * n for k in range(6)],
        "objective": [1.0 / (k + 1) for k in range(6)],
        "test_error": errors,
    }


def a_record(
    method="smo", dataset="adult", repeat=0, *, error=0.15, seconds=1.0, scale="paper", kind="full", **changes
):
    """One record of the toy experiment; `changes` replace its fields."""
    traced = method != "libsvm"
    record = {
        "key": f"{scale}/{dataset}/{method}/{repeat}",
        "experiment": "toy",
        "scale": scale,
        "dataset": dataset,
        "method": method,
        "repeat": repeat,
        "seed": 10 + repeat,
        "status": "ok",
        "error": None,
        "metrics": {"test_error": error, "objective": 0.3, "gap": 1e-4, "n_support": 100, "converged": True},
        "seconds": {"fit": seconds, "predict": 0.1},
        "peak_memory_bytes": 200_000_000,
        "n_kernel_evaluations": 5_000_000 if traced else None,
        "trace": a_trace(error, seconds) if traced else {"seconds": [seconds], "test_error": [error]},
        "params": {"C": 1.0},
        "data": {
            "name": dataset,
            "kind": kind,
            "n_train": 1000,
            "n_test": 500,
            "n_features": 20,
            "checksum": "ab" * 32,
            "description": "Data for a test.",
        },
        "environment": dict(ENVIRONMENT),
        "started": "2024-05-01T10:00:00+00:00",
    }
    return record | changes


def a_failure(method, status="timeout", repeat=0, **changes):
    """A record of a failed fit."""
    empty = {"metrics": {}, "seconds": {"total": 60.0}, "trace": {}, "n_kernel_evaluations": None}
    outcome = {"status": status, "error": "took too long", "peak_memory_bytes": None, **empty}
    return a_record(method, repeat=repeat) | outcome | changes


def a_race(repeats=3, **changes):
    """All methods that need no extra package: SMO is the fastest of the good ones, SBP satisfies the claim."""
    return [
        record
        for k in range(repeats)
        for record in (
            a_record("libsvm", repeat=k, error=0.149, seconds=8.0 + k, **changes),
            a_record("sbp-quarter", repeat=k, error=0.150, seconds=(8.0 + k) / 4, **changes),
            a_record("sbp", repeat=k, error=0.1492, seconds=20.0, **changes),
            a_record("smo", repeat=k, error=0.149, seconds=2.0, **changes),
        )
    ]


@pytest.fixture(scope="module")
def race_records():
    """Records of a race, with the toy experiment in the registry for a whole module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "EXPERIMENTS", (TOY,))
        yield a_race()


def the_results(experiment, rows):
    """Records as the results of an experiment at the one scale they have."""
    ((_, scale),) = found = cells_of(rows)
    return Results(experiment, scale, *found.values())


@pytest.fixture(scope="session")
def records():
    """Makers: ``records.one``, ``records.failure``, ``records.race``, ``records.results`` of them; ``records.toy``."""
    from types import SimpleNamespace

    return SimpleNamespace(one=a_record, failure=a_failure, race=a_race, results=the_results, toy=TOY)


@pytest.fixture
def write(tmp_path, toy):
    """Write records (and raw text after them) as a results folder; returns the folder."""

    def write(records, tail="", name="results"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / "toy.jsonl").write_text(lines + tail, encoding="utf-8")
        return folder

    return write
