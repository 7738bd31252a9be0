"""The experiment on kernels and features: its yardsticks are correct, its cells fill the declared metrics."""

from dataclasses import replace

import numpy as np
import pytest

from kernbench._lazy import load
from kernbench.experiments import get
from kernbench.experiments.ours.primitives import approximation, blocks, catalogue, inputs
from kernbench.experiments.ours.primitives.catalogue import CATALOGUE
from kernbench.experiments.ours.primitives.peers import PEERS
from kernbench.experiments.run.cells import plan
from kernbench.kernels import functions

EXPERIMENT = get("primitives")
SMALL = {"shapes": [[16, 64]], "seconds": 0.0, "n_seeds": 1, "n_block_rows": 32}


def outcome(dataset, method, **params):
    """The measurement of a cell of the quick scale, with smaller sizes."""
    (cell,) = plan([EXPERIMENT], "quick", datasets=[dataset], methods=[method])[0]
    rows = {"n_rows": 64} | ({} if dataset == "gaussian-large" else {"n_columns": 4})
    cell = replace(
        cell,
        arguments=cell.arguments | rows,
        params={name: (SMALL | params).get(name, value) for name, value in cell.params.items()},
    )
    return load(cell.measure)(cell)


def measured(record):
    return {metric.name for metric in EXPERIMENT.metrics if metric.of(record) is not None} - {"peak_memory"}


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_blocks_agree_with_the_peer_and_across_precisions(entry):
    found = outcome(entry.name, "block")
    assert found["metrics"]["float32_error"] < 1e-5
    assert ("peer_difference" in found["metrics"]) == (entry.name in PEERS)
    assert found["metrics"].get("peer_difference", 0.0) < 1e-7
    assert {"gemm_share_float32_64", "gemm_share_float64_64", "float32_error"} <= measured(found)


def test_every_kernel_is_in_the_catalogue():
    """Except precomputed, callable and combined kernels, the indefinite sigmoid, and the linear one of unit rows."""
    known = {type(entry.kernel(3)).__name__ for entry in CATALOGUE}
    assert known == set(functions.KERNELS) - {"Sum", "Product", "Precomputed", "Callable", "Sigmoid", "Cosine"}


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_pictures_of_a_kernel_show_it_between_their_ends(entry):
    curve, plane = blocks.curve(entry), blocks.plane(entry)
    assert len(curve["x"]) == len(curve["z"]) == len(curve["value"])
    assert np.isfinite(curve["value"]).all() and np.isfinite(plane["values"]).all()
    assert 0.3 < np.max(curve["value"]) <= 1.0 + 1e-3


def test_bare_product_is_the_product():
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        X, Z = (rng.standard_normal((n, 5)).astype(dtype) for n in (7, 3))
        np.testing.assert_allclose(blocks.bare_product(X, Z), X @ Z.T, rtol=1e-5)


def test_relative_error_on_known_values():
    features = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert approximation.relative_error(np.eye(2), features) == 0.0
    assert approximation.relative_error(2 * np.eye(2), features) == pytest.approx(0.5)


def test_ratio_of_errors_is_the_median_over_sizes():
    errors = approximation.Errors("draws")
    for size, seed, good, bad in ((1, 0, 1.0, 2.0), (1, 1, 3.0, 2.0), (2, 0, 0.5, 2.0)):
        errors.add("good", size, seed, good)
        errors.add("bad", size, seed, bad)
    assert errors.of("good") == {1: pytest.approx(5**0.5), 2: pytest.approx(0.5)}
    assert errors.ratio("good", "bad") == pytest.approx((5**0.5 / 2 + 0.25) / 2)


@pytest.mark.parametrize("entry", [e for e in CATALOGUE if e.forms], ids=lambda entry: entry.name)
def test_random_features_approach_their_kernel(entry):
    found = outcome(entry.name, "features", n_features=[64, 1024], n_seeds=7)
    assert measured(found) == {"error", "slope"}
    assert found["metrics"]["slope"] < -0.2  # a bias would stop the fall
    assert set(found["trace"]["form"]) == set(entry.forms)


def test_draws_landmarks_maps_and_threads_fill_their_metrics():
    draws = outcome("gaussian", "draws", n_features=[16])
    assert measured(draws) == {f"{way}_over_iid" for way in approximation.DRAWS[1:]}
    landmarks = outcome("clusters", "nystroem", n_landmarks=[4, 8])
    assert measured(landmarks) == {f"{way}_over_uniform" for way in approximation.LANDMARKS[1:]}
    maps = outcome("gaussian-large", "maps", n_features=32, n_landmarks=8)
    assert measured(maps) == {"cosine_share", "map_speed_up", "nystroem_speed_up", "normals_share"}
    threads = outcome("gaussian-large", "threads", n_features=32)
    assert measured(threads) == {"threads_block", "threads_product", "threads_features"}


@pytest.mark.parametrize("kind", list(inputs.KINDS))
def test_rows_are_drawn_from_their_seed(kind):
    first, again = (inputs.load(kind, 50, 6, seed=1) for _ in range(2))
    assert first.checksum == again.checksum != inputs.load(kind, 50, 6, seed=2).checksum
    assert first.X_train.shape == (50, 6) and np.isfinite(first.X_train).all()
    if kind == "histograms":
        np.testing.assert_allclose(first.X_train.sum(axis=1), 1.0, atol=1e-7)


def test_unknown_rows_and_kernels_are_named():
    with pytest.raises(ValueError, match="points"):
        inputs.rows("point", 3, 2, 0)
    with pytest.raises(ValueError, match="gaussian"):
        catalogue.get("gausian")


@pytest.mark.parametrize("scale", EXPERIMENT.scales)
def test_words_tell_on_how_many_columns_errors_of_blocks_are(scale):
    settings = [s for s in EXPERIMENT.scale(scale).settings if s.takes("block")]
    (n_columns,) = {setting.arguments["n_columns"] for setting in settings}
    (claim,) = [claim for claim in EXPERIMENT.claims if claim.metric == "float32_error"]
    (table,) = [table for table in EXPERIMENT.tables if table.name == "blocks"]
    assert f"rows of {n_columns} columns" in claim.text and f"errors on rows of {n_columns}" in table.caption
    assert f"of {n_columns} columns" in EXPERIMENT.note
