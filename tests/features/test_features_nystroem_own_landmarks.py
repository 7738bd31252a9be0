"""Landmarks that the user gives, as rows or as indices (scikit-learn #4982)."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import kernbench
from kernbench import ROCSVC, ROCSVCCV
from kernbench.features import Nystroem
from kernbench.kernels import Gaussian
from kernbench.reference.features.nystroem import Nystroem as Reference

KERNEL = Gaussian(1.5)
RNG = np.random.default_rng(26)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)
INDICES = np.array([7, 3, 41, 20, 55])
LANDMARKS = {"rows": X[INDICES], "indices": INDICES, "list": INDICES.tolist(), "CSR": sparse.csr_array(X[INDICES])}


@pytest.mark.parametrize("given", LANDMARKS)
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("root", ["cholesky", "eigen", "symmetric"])
def test_own_landmarks(given, rows, root):
    model = Nystroem(KERNEL, landmarks=LANDMARKS[given], root=root).fit(rows(X))
    exact = KERNEL(X, X[INDICES]) @ np.linalg.solve(KERNEL(X[INDICES], X[INDICES]), KERNEL(X[INDICES], X))
    features = model.transform(rows(X))
    np.testing.assert_allclose(features @ features.T, exact, atol=1e-10)
    twin = Reference(KERNEL, landmarks=X[INDICES] if given == "CSR" else LANDMARKS[given], root=root).fit(X)
    np.testing.assert_allclose(features, twin.transform(X), atol=1e-8)
    kept = model.landmarks_.toarray() if sparse.issparse(model.landmarks_) else model.landmarks_
    assert sparse.issparse(model.landmarks_) == sparse.issparse(rows(X))
    assert sorted(map(tuple, kept)) == sorted(map(tuple, X[INDICES]))
    if given in ("indices", "list"):
        np.testing.assert_array_equal(X[model.landmark_indices_], kept)
    else:
        assert not hasattr(model, "landmark_indices_")


def test_own_landmarks_need_not_be_training_rows_nor_distinct():
    inducing = RNG.normal(size=(3, 4))
    few = Nystroem(KERNEL, landmarks=inducing).fit(X[:2])
    assert few.transform(X).shape == (60, 3)
    twice = Nystroem(KERNEL, landmarks=np.vstack([inducing, inducing])).fit(X[:2])
    np.testing.assert_allclose(twice.transform(X), few.transform(X), atol=1e-10)
    assert Nystroem(KERNEL, landmarks=inducing).fit_transform(X.astype(np.float32)).dtype == np.float32


def test_own_landmarks_with_an_entry_twice_stay_as_they_are():
    twice = sparse.csr_matrix((np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 4))
    model = Nystroem(KERNEL, landmarks=twice).fit(sparse.csr_matrix(X))
    expected = Nystroem(KERNEL, landmarks=np.array([[0, 3.0, 0, 0], [3.0, 0, 0, 0]])).fit(X)
    np.testing.assert_allclose(model.transform(X), expected.transform(X), atol=1e-12)
    assert twice.data.tolist() == [1.0, 2.0, 3.0] and twice.indptr.tolist() == [0, 2, 3]


def test_own_landmarks_of_a_precomputed_kernel_are_indices():
    K = KERNEL(X, X)
    model = Nystroem("precomputed", landmarks=INDICES).fit(K)
    rows = Nystroem(KERNEL, landmarks=INDICES).fit(X)
    np.testing.assert_allclose(model.transform(K), rows.transform(X), atol=1e-10)
    with pytest.raises(ValueError, match="landmarks are rows, but with kernel='precomputed'.* give indices"):
        Nystroem("precomputed", landmarks=X[INDICES]).fit(K)


@pytest.mark.parametrize("given", LANDMARKS)
def test_own_landmarks_are_saved_cloned_and_shown(given, tmp_path):
    model = Nystroem(KERNEL, landmarks=LANDMARKS[given]).fit(X)
    model.save(tmp_path / "map.npz")
    loaded = kernbench.load(tmp_path / "map.npz")
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    np.testing.assert_array_equal(clone(model).fit_transform(X), model.transform(X))
    assert "landmarks=" in repr(model)


@pytest.mark.parametrize("given", ["rows", "CSR"])
def test_estimators_pass_own_landmarks_on(given, tmp_path):
    model = ROCSVC("rbf", gamma=0.2, landmarks=LANDMARKS[given], random_state=0).fit(X, Y)
    assert model.features_ == "nystroem" and model.feature_map_.landmarks_.shape == (5, 4)
    same = ROCSVC("rbf", gamma=0.2, landmarks=X[INDICES], random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-8)
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(
        kernbench.load(tmp_path / "model.npz").decision_function(X), model.decision_function(X)
    )


def test_a_warm_start_sees_that_own_landmarks_changed():
    wide = np.random.default_rng(0).normal(size=(300, 4))  # NumPy abbreviates the text of arrays of this size
    model = ROCSVC("rbf", gamma=0.2, landmarks=wide, warm_start=True, random_state=0).fit(X, Y)
    kept = model.fit(X, Y).feature_map_
    assert model.fit(X, Y).feature_map_ is kept
    changed = wide.copy()
    changed[150] += 1
    assert model.set_params(landmarks=changed).fit(X, Y).feature_map_ is not kept


@pytest.mark.parametrize(
    "landmarks, message",
    [
        (X[:3, :2], "landmarks has 2 columns, but X has 4"),
        (np.where(X[:3] == X[0, 0], np.nan, X[:3]), "landmarks contains NaN"),
        ([0, 60], "landmarks must be indices from 0 to 59"),
        ([-1, 3], "landmarks must be indices from 0 to 59"),
        (np.array([], dtype=int), "landmarks must be indices from 0 to 59, at least one"),
        (X[:0], "0 sample"),
        ([0.5, 1.5], "landmarks must be a name, rows .* or a vector of m integers"),
        (Y == 1, "landmarks must be a name, rows .* dtype bool"),
        (X[None], "landmarks must be a name, rows"),
        (X[:3] * 1e200, "^invalid landmarks: .* too large"),
    ],
)
def test_own_landmarks_that_are_invalid(landmarks, message):
    with pytest.raises(ValueError, match=message):
        Nystroem(KERNEL, landmarks=landmarks).fit(X)


def test_own_landmarks_outside_the_domain_of_the_kernel_are_named():
    """The message was that of rows of X, which are inside."""
    with pytest.raises(ValueError, match=r"^invalid landmarks: Negative values.* column 1 holds -0.5 \(row 2\)"):
        Nystroem("chi2", landmarks=[[1.0, 2.0], [0.0, 1.0], [1.0, -0.5]]).fit(np.abs(X[:, :2]))


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"kernel": "rbf", "landmarks": INDICES}, r"give the rows, landmarks=X\[indices\]"),
        ({"kernel": "precomputed", "landmarks": X[INDICES]}, "X holds kernel values: name a choice"),
        ({"kernel": "linear", "landmarks": X[INDICES]}, "landmarks='own' is for the Nyström method"),
    ],
)
def test_own_landmarks_that_an_estimator_cannot_use(settings, message):
    with pytest.raises(ValueError, match=message):
        ROCSVC(**settings).fit(X, Y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_own_landmarks_with_columns_in_another_order_are_refused(library):
    """They were taken by position."""
    make = pytest.importorskip(library).DataFrame
    rows = np.random.default_rng(0).normal(size=(30, 2)) * [1.0, 10.0]
    table, y = make({"a": rows[:, 0], "b": rows[:, 1]}), rows[:, 0] > 0
    same, other = make({"a": rows[:5, 0], "b": rows[:5, 1]}), make({"b": rows[:5, 1], "a": rows[:5, 0]})
    settings = {"kernel": "rbf", "features": "nystroem", "random_state": 0}
    for model in (Nystroem(), ROCSVC(**settings), ROCSVCCV(alphas=[0.1], cv=2, **settings)):
        for landmarks in (same, rows[:5]):
            model.set_params(landmarks=landmarks).fit(table, y)
        with pytest.raises(ValueError, match=r"landmarks has the columns \['b', 'a'\], which should be those of X"):
            model.set_params(landmarks=other).fit(table, y)
