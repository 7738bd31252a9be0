"""Model files of Nystroem: they are restored bit for bit, and errors name files that were tampered with."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import kernbench
from kernbench.features import Nystroem
from kernbench.kernels import Gaussian, Laplacian, Polynomial

X = np.random.default_rng(0).normal(size=(60, 4))
Y = np.arange(60) % 3


@pytest.mark.parametrize(
    "model, rows",
    [
        (Nystroem(random_state=0, n_landmarks=10), X),
        (Nystroem(random_state=0, n_landmarks=10), X.astype(np.float32)),
        (Nystroem(Laplacian(1.5), 10, root="eigen", rank_tol=1e-6), X),
        (Nystroem("poly", 10, landmarks="kmeans", gamma="median", random_state=np.random.RandomState(1)), X),
        (Nystroem(Polynomial(2, 1.0), 10, landmarks="stratified", random_state=np.random.default_rng(1)), X),
        (Nystroem("linear", 10, landmarks="leverage"), sparse.csr_array(X)),
        (Nystroem("rbf", 10, landmarks="kmeans"), sparse.csr_matrix(X)),
        (Nystroem("precomputed", 10), Gaussian(1.0)(X)),
    ],
    ids=["plain", "single", "eigen", "kmeans", "stratified", "csr_array", "csr_matrix", "precomputed"],
)
def test_saved_map_comes_back(tmp_path, model, rows):
    model.fit(rows, Y).save(tmp_path / "map.npz")
    loaded = kernbench.load(tmp_path / "map.npz")
    assert type(loaded) is Nystroem
    np.testing.assert_array_equal(loaded.transform(rows), model.transform(rows))
    assert loaded.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    fitted = {name for name in vars(model) if name.endswith("_")}
    assert fitted == {name for name in vars(loaded) if name.endswith("_")}
    for name in fitted:
        assert type(getattr(loaded, name)) is type(getattr(model, name)), name
    kept = {name: value for name, value in model.get_params().items() if name != "random_state"}
    assert {name: loaded.get_params()[name] for name in kept} == kept


def test_a_loaded_map_can_be_fitted_again(tmp_path):
    Nystroem(n_landmarks=10, random_state=0).fit(X).save(tmp_path / "map.npz")
    again = kernbench.load(tmp_path / "map.npz").fit(X[:30])
    np.testing.assert_array_equal(again.transform(X), Nystroem(n_landmarks=10, random_state=0).fit(X[:30]).transform(X))


def test_unfitted_map_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        Nystroem().save(tmp_path / "map.npz")
    assert not list(tmp_path.iterdir())


def test_python_function_as_kernel_is_not_saved(tmp_path):
    model = Nystroem(lambda A, B: A @ B.T, 5).fit(X)
    with pytest.raises(ValueError, match="this Nystroem cannot be saved.*Python function"):
        model.save(tmp_path / "map.npz")
    assert not list(tmp_path.iterdir())


# --- files that were tampered with ---------------------------------------------------------------------------


def replaced(**arrays):
    return lambda held, header: held.update(arrays)


def attributes(**values):
    return lambda held, header: header["attributes"].update(values)


DAMAGE = {
    "no root": lambda held, header: held.pop("normalization_"),
    "a root of another size": replaced(normalization_=np.eye(4)),
    "a root that is not square": replaced(normalization_=np.ones((10, 9))),
    "a root of float32": replaced(normalization_=np.eye(10, dtype=np.float32)),
    "a root of NaN": replaced(normalization_=np.full((10, 10), np.nan)),
    "no columns": replaced(normalization_=np.ones((10, 0))),
    "landmarks of another width": replaced(landmarks_=np.ones((10, 3))),
    "landmarks of infinity": replaced(landmarks_=np.full((10, 4), np.inf)),
    "landmarks of integers": replaced(landmarks_=np.ones((10, 4), dtype=int)),
    "indices of another length": replaced(landmark_indices_=np.arange(9)),
    "indices of floats": replaced(landmark_indices_=np.arange(10.0)),
    "negative indices": replaced(landmark_indices_=np.arange(10) - 1),
    "another number of columns": attributes(n_features_in_=5),
    "no kernel": attributes(kernel_="rbf"),
    "a kernel without sense": lambda held, header: header["attributes"]["kernel_"].update(sigma=-1.0),
    "a parameter without sense": lambda held, header: header["params"].update(rank_tol=3.0),
    "an unknown parameter": lambda held, header: header["params"].update(n_components=3),
    "names of another length": attributes(feature_names_in_=["a"]),
    "a method": attributes(transform=1),
}


@pytest.mark.parametrize("change", DAMAGE.values(), ids=DAMAGE)
def test_inconsistent_content_is_refused(tmp_path, change):
    path = tmp_path / "map.npz"
    Nystroem(n_landmarks=10, random_state=0).fit(X).save(path)
    with np.load(path, allow_pickle=False) as archive:
        held = dict(archive)
    header = json.loads(str(held.pop("header")))
    change(held, header)
    np.savez(path, header=np.array(json.dumps(header)), **held)
    with pytest.raises(ValueError, match=r"map\.npz"):
        kernbench.load(path)


def test_precomputed_map_with_an_index_past_the_end_is_refused(tmp_path):
    path = tmp_path / "map.npz"
    Nystroem("precomputed", 10, random_state=0).fit(Gaussian(1.0)(X)).save(path)
    with np.load(path, allow_pickle=False) as archive:
        held = dict(archive)
    held["landmark_indices_"] = held["landmark_indices_"] + 55
    np.savez(path, **held)
    with pytest.raises(ValueError, match="indices past the end"):
        kernbench.load(path)
