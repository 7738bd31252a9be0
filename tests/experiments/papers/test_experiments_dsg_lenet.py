"""Networks of dsg-multiclass: LeNet, its features, and what is trained on them."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="the network needs PyTorch")

from kernbench import datasets
from kernbench._lazy import load
from kernbench.experiments import get
from kernbench.experiments.papers.dsg.lenet import features, runs
from kernbench.experiments.papers.dsg.lenet.classifier import NetworkClassifier
from kernbench.kernels.bandwidth import median_distance

MULTICLASS = get("dsg-multiclass")


@pytest.fixture(autouse=True)
def networks(tmp_path, monkeypatch):
    """Weights are kept in a folder of this test."""
    monkeypatch.setenv("KERNBENCH_CACHE", str(tmp_path))
    return tmp_path / "networks"


def test_a_network_is_trained_once_and_its_features_serve_all_others(outcome, monkeypatch, networks):
    found = {"lenet": outcome(MULTICLASS, "digits-lenet", "lenet")}
    assert len(list(networks.iterdir())) == 1
    monkeypatch.setattr(features, "train", None)  # the weights come from the file
    for name in ("lenet-top", "lenet-doubly", "lenet-doubly-alpha", "lenet-doubly-median", "lenet-kernel-svc"):
        found[name] = outcome(MULTICLASS, "digits-lenet", name)
    errors = {name: record["metrics"]["test_error"] for name, record in found.items()}
    assert max(errors.values()) < 0.12, errors
    assert len({record["data"]["checksum"] for record in found.values()}) == 1
    assert found["lenet"]["data"]["n_features"] == 128
    for name in ("lenet", "lenet-top"):
        trace = found[name]["trace"]
        assert trace["test_error"][-1] == errors[name] < trace["test_error"][0]
        assert trace["n_iter"][:3] == [1, 2, 4] and trace["n_iter"][-1] == found[name]["metrics"]["n_iter"]


def test_features_are_those_of_the_network_and_have_distances_near_1(networks):
    data = features.features("digits", epochs=1)
    images = datasets.load("digits", split_seed=0)
    network = features.trained("digits", 1, None, 0, 64)
    ratio = network.features(images.X_test) / np.maximum(data.X_test, 1e-12)
    assert np.ptp(ratio[data.X_test > 1e-3]) < 1e-3 * ratio.max()  # one unit for all
    assert median_distance(data.X_train, random_state=0) == pytest.approx(1, rel=0.05)
    assert not np.array_equal(features.features("digits", epochs=2).X_test, data.X_test)
    assert len(list(networks.iterdir())) == 2


def test_a_run_that_reads_the_data_of_its_cells_trains_nothing(networks):
    setting = MULTICLASS.scale("quick").setting("digits-lenet")
    data = load(setting.loader)(**setting.arguments_of(0))
    assert data.X_train.shape[1] == 64 and not networks.exists()
    assert data.checksum == features.features(**setting.arguments_of(0)).checksum  # records are found again by it


def test_a_stream_is_seen_through_the_network_that_was_trained_on_it(cell_of, monkeypatch):
    images = datasets.load("digits")

    class Digits:
        def rows(self, start, stop):
            return images.X_train[start:stop], images.y_train[start:stop]

        def chunks(self, rows, n_rows):
            for start in range(0, n_rows, 400):
                yield self.rows(start, min(start + 400, n_rows))

    monkeypatch.setattr(features, "opened", lambda seed: (Digits(), images.X_test, images.y_test))
    monkeypatch.setattr(features, "load", lambda name, **sizes: images)
    found = {}
    for name in ("lenet", "lenet-top", "lenet-doubly"):
        batch = {"batch_size": 128} if name == "lenet-doubly" else {}
        cell = cell_of(MULTICLASS, "digits-lenet", name, **batch)
        found[name] = load(cell.measure)(replace(cell, arguments={"name": "mnist-deformed", "rows": 1200, "seed": 0}))
    assert {record["metrics"]["n_rows"] for record in found.values()} == {1200}
    errors = [record["metrics"]["test_error"] for record in found.values()]
    assert errors == [record["trace"]["test_error"][-1] for record in found.values()] and max(errors) < 0.8


def test_fits_are_determined_by_the_seed():
    images = datasets.load("digits")
    X, y = images.X_train[:200], images.y_train[:200]
    first, same, other = (NetworkClassifier(max_epochs=1, random_state=seed).fit(X, y) for seed in (3, 3, 4))
    assert np.array_equal(first.features(X), same.features(X)) and not np.array_equal(
        first.features(X), other.features(X)
    )
    assert first.n_iter_.tolist() == [2]


def test_runs_in_memory_are_races(cell_of):
    cell = cell_of(MULTICLASS, "digits-lenet", "lenet-kernel-svc")
    assert cell.measure.endswith("lenet.runs:measure") and "rows" not in cell.arguments
    assert "fit_cpu" in runs.measure(cell)["seconds"]
