"""ROCSVC and ROCSVCCV in files: the same predictions bit for bit, and damage is detected."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification

from kernbench import ROCSVC, ROCSVCCV, KernelRegressorCV, PartialAUCClassifier, load
from kernbench.kernels import Gaussian

X, Y = make_classification(80, 4, random_state=0)
VARIANTS = [
    ROCSVC(threshold=("sensitivity", 0.9)),
    ROCSVC("rbf"),
    ROCSVC("rbf", n_landmarks=20, dtype="float32"),
    ROCSVC(Gaussian(2.0), n_landmarks=20, landmarks="kmeans"),
    ROCSVC("rbf", features="random", n_features=32),
    ROCSVC("rbf", loss="squared"),
    ROCSVCCV("rbf", n_landmarks=20, alphas=[0.1, 0.01], cv=2),
]


@pytest.mark.parametrize("model", VARIANTS, ids=str)
@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_matrix])
def test_saved_is_live(model, form, tmp_path):
    rows = form(X)
    labels = np.array(["no", "yes"])[Y]
    model = model.set_params(random_state=0).fit(rows, labels)
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.decision_function(rows), model.decision_function(rows))
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    for name in ("objective_", "duality_gap_", "converged_", "n_kernel_evaluations_", "features_", "loss_"):
        assert getattr(again, name) == getattr(model, name)
    assert again.get_params().keys() == model.get_params().keys()
    again.save(tmp_path / "twice.npz")
    np.testing.assert_array_equal(load(tmp_path / "twice.npz").predict(rows), model.predict(rows))


def test_precomputed_kernel(tmp_path):
    model = ROCSVC("precomputed").fit(X @ X.T, Y)
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(load(tmp_path / "model.npz").predict(X @ X.T), model.predict(X @ X.T))


def test_stream(tmp_path):
    model = ROCSVC("rbf", n_landmarks=20, random_state=0).partial_fit(X, Y)
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    "model",
    [ROCSVC(), ROCSVC("rbf", n_landmarks=20), ROCSVC("rbf", features="random", n_features=32, dtype="float32")],
    ids=str,
)
@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_matrix])
@pytest.mark.parametrize("before", ["stream", "fit", "one class"])
def test_a_stream_goes_on_from_a_file_as_it_would_have(model, form, before, tmp_path):
    model = clone(model).set_params(random_state=0, threshold=("sensitivity", 0.8), reservoir_size=30)
    if before == "fit":
        model.set_params(features="nystroem" if model.features == "auto" and model.kernel == "rbf" else model.features)
        model.fit(form(X), Y)
    first = Y == 1 if before == "one class" else np.arange(len(Y)) < 50
    model.partial_fit(form(X[first]), Y[first], classes=[0, 1])
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    again.save(tmp_path / "twice.npz")
    twice = load(tmp_path / "twice.npz")
    for rows in (X[Y == 0], X):
        labels = Y[: len(rows)] if len(rows) == len(X) else np.zeros(len(rows), dtype=int)
        expected = model.partial_fit(form(rows), labels)
        for one in (again, twice):
            one.partial_fit(form(rows), labels)
            np.testing.assert_array_equal(one.decision_function(X), expected.decision_function(X))
            assert one.intercept_ == expected.intercept_ and one.n_iter_ == expected.n_iter_


def test_a_file_without_its_stream_goes_on_from_the_coefficients(tmp_path):
    """As files of version 0.1.0 are."""
    model = ROCSVC("rbf", n_landmarks=20, random_state=0).partial_fit(X, Y)
    stream, model._stream = model._stream, None
    model.save(tmp_path / "model.npz")
    model._stream = stream
    again = load(tmp_path / "model.npz")
    change = np.linalg.norm(again.partial_fit(X, Y).feature_coef_ - model.feature_coef_)
    assert 0 < change < 0.01 * np.linalg.norm(model.feature_coef_)


@pytest.mark.parametrize("name", ["stream_.coef", "stream_.reservoirs.1.rows"])
def test_a_damaged_stream_is_noticed(name, tmp_path):
    path = tmp_path / "model.npz"
    ROCSVC(random_state=0).partial_fit(X, Y).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    for damaged in (arrays[name][:-1], np.full_like(arrays[name], np.nan)):
        np.savez(path, **{**arrays, name: damaged})
        with pytest.raises(ValueError, match="damaged"):
            load(path)


def test_function_as_kernel_is_refused(tmp_path):
    model = ROCSVC(lambda A, B: A @ B.T).fit(X, Y)
    with pytest.raises(ValueError, match="Python function"):
        model.save(tmp_path / "model.npz")
    assert not (tmp_path / "model.npz").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("feature_coef_", np.ones((1, 3))),
        ("feature_coef_", np.full((1, 20), np.nan)),
        ("intercept_", np.array([np.nan])),
        ("classes_", np.array([0, 1, 2])),
        ("feature_map_.normalization_", np.ones((3, 2))),
    ],
)
def test_damage_is_noticed(name, value, tmp_path):
    path = tmp_path / "model.npz"
    ROCSVC("rbf", n_landmarks=20, random_state=0).fit(X, Y).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    assert name in arrays
    np.savez(path, **{**arrays, name: value})
    with pytest.raises(ValueError, match="damaged"):
        load(path)


@pytest.mark.parametrize(("name", "value"), [("support_", np.array([-1])), ("dual_coef_", np.ones((2, 2)))])
def test_damage_of_an_expansion_is_noticed(name, value, tmp_path):
    path = tmp_path / "model.npz"
    ROCSVC("rbf").fit(X, Y).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **{**arrays, name: value})
    with pytest.raises(ValueError, match="damaged"):
        load(path)


def test_a_support_vector_past_the_end_of_a_kernel_matrix_is_noticed(tmp_path):
    path = tmp_path / "model.npz"
    ROCSVC("precomputed").fit(X @ X.T, Y).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["support_"][-1] = len(X)
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="past the end"):
        load(path)


def test_a_file_of_a_later_version_is_not_called_damaged_alone(tmp_path):
    path = tmp_path / "model.npz"
    ROCSVC().fit(X, Y).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays["header"]))
    header["kernbench"], header["params"]["ranks"] = "99.0", 3
    np.savez(path, **{**arrays, "header": np.array(json.dumps(header))})
    with pytest.raises(ValueError, match=r"is damaged, or needs kernbench 99\.0, which wrote it .*ranks"):
        load(path)


def test_model_within_a_model_must_be_known(tmp_path):
    path = tmp_path / "model.npz"
    ROCSVC("rbf", n_landmarks=20, random_state=0).fit(X, Y).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays["header"]))
    header["attributes"]["feature_map_"]["$model"] = "Pipeline"
    arrays["header"] = np.array(json.dumps(header))
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="damaged"):
        load(path)


@pytest.mark.parametrize(
    "make",
    [
        lambda rows, labels, series: ROCSVC("rbf", features="nystroem", landmarks=rows),
        lambda rows, labels, series: PartialAUCClassifier(validation=(rows, labels)),
        lambda rows, labels, series: ROCSVCCV(alphas=series([1.0, 0.1]), cv=2),
        lambda rows, labels, series: KernelRegressorCV(loss="epsilon_insensitive", epsilons=series([0.1, 0.2]), cv=2),
    ],
    ids=["landmarks", "validation", "alphas", "epsilons"],
)
def test_parameters_that_are_data_frames_are_left_out(make, tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = make(frame[:20], pandas.Series(Y[:20]), pandas.Series).fit(frame, Y)
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    name = "decision_function" if hasattr(model, "decision_function") else "predict"
    np.testing.assert_array_equal(getattr(again, name)(frame), getattr(model, name)(frame))
