"""The experiments on doubly stochastic gradients: declared as in the paper, runnable without files; orders of cost."""

import numpy as np
import pytest

from kernbench._lazy import load
from kernbench.experiments import get
from kernbench.experiments.measure.record import exponent

NAMES = ("dsg-ridge", "dsg-gp", "dsg-svm", "dsg-batches", "dsg-multiclass", "dsg-molecules", "dsg-losses", "dsg-cost")
RIDGE, GP, SVM, BATCHES, MULTICLASS, MOLECULES, LOSSES, COST = EXPERIMENTS = [get(name) for name in NAMES]

pytestmark = pytest.mark.filterwarnings("ignore:.*did not reach")


@pytest.mark.parametrize(
    ("experiment", "dataset", "method", "metric", "value"),
    [
        (SVM, "adult", "k-sdca", "test_error", 0.15),
        (SVM, "adult", "doubly-64", "test_error", 0.153),
        (SVM, "mnist8m-8-vs-6", "doubly-1024", "test_error", 0.0026),
        (SVM, "forest-median", "norma", "test_error", 0.10),
        (MULTICLASS, "mnist8m", "lenet-doubly", "test_error", 0.005),
        (MULTICLASS, "mnist8m", "lenet", "test_error", 0.006),
        (MULTICLASS, "cifar10", "doubly", "test_error", 0.11),
        (MOLECULES, "qm7", "doubly", "mae", 2.97),
        (MOLECULES, "qm7-long", "doubly-damped", "mae", 2.97),
        (COST, "gaussian-rows", "norma", "model_d", 1.0),
        (COST, "gaussian-rows", "doubly", "model_d", 0.0),
        # Table 2 has 1/ε for the memory of a prediction by n-methods, without d.
        (COST, "gaussian-rows", "n-sdca", "model_d", 0.0),
        (COST, "gaussian-rows", "n-pegasos", "model_d", 0.0),
        (COST, "gaussian-rows", "n-pegasos", "train_n", 3.0),
    ],
)
def test_numbers_are_those_of_the_paper(experiment, dataset, method, metric, value):
    assert experiment.paper_number(dataset, method, metric) == value


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_a_model_of_one_size_does_not_grow_with_the_columns(scale):
    """An exponent that is fitted to equal numbers of bytes is 0 up to rounding, on either side."""
    (claim,) = [claim for claim in COST.claims if claim.metric == "model_d"]
    (setting,) = COST.scale(scale).settings
    for model_bytes in (16_384, 262_144):
        assert exponent(setting.params["widths"], [model_bytes] * len(setting.params["widths"])) <= claim.bound < 0.01


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_quick_scale_needs_no_files(experiment, monkeypatch, tmp_path):
    monkeypatch.setenv("KERNBENCH_DATA", str(tmp_path))
    monkeypatch.setenv("KERNBENCH_CACHE", str(tmp_path))
    for setting in experiment.scale("quick").settings:
        small = {"n_train": 2000} if setting.name == "gaussian-rows" else {}
        load(setting.loader)(**setting.arguments_of(0) | small)


@pytest.mark.parametrize(("method", "model_d"), [("doubly", 0.0), ("norma", 1.0), ("r-pegasos", 0.0)])
def test_orders_are_measured(outcome, method, model_d):
    found = outcome(
        COST, "gaussian-rows", method, arguments={"n_train": 800, "n_features": 256}, sizes=[200, 400, 800],
        widths=[16, 64, 256],
    )["metrics"]  # fmt: skip
    assert found["model_d"] == pytest.approx(model_d, abs=0.15)
    assert found["model_n"] == pytest.approx(1.0, abs=0.35)
    if method == "doubly":
        blocks = np.ceil(np.array([200, 400, 800]) / 128)
        expected = np.polyfit(np.log([200, 400, 800]), np.log(blocks * (blocks + 1)), 1)[0]
        assert found["work_n"] == pytest.approx(expected, abs=0.3)
