"""The benchmarks of one step and of large batches run where there is PyTorch."""

import math
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

FILE = Path(__file__).parents[2] / "asv_bench" / "benchmarks" / "deep.py"


@pytest.fixture
def benchmarks(monkeypatch):
    spec = spec_from_file_location("kernbench_asv_deep", FILE)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "SCORES", 400)
    monkeypatch.setattr(module, "REPEATS", 1)
    return module


def test_a_step_of_every_method_is_measured(benchmarks):
    for method in benchmarks.PASSES:
        benchmark = benchmarks.DeepStep()
        benchmark.setup(method)
        benchmark.time_step(method)
        assert math.isfinite(benchmark.track_passes(method))


def test_every_loss_is_measured(benchmarks):
    for loss in benchmarks.DeepLoss.params[0]:
        benchmark = benchmarks.DeepLoss()
        benchmark.setup(loss)
        benchmark.time_loss(loss)
        assert benchmark.scores.grad.abs().sum() > 0
