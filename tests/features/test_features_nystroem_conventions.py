"""Nystroem follows scikit-learn's conventions, and its errors say what is invalid."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernbench import load
from kernbench.features import Nystroem, RandomFeatures
from kernbench.kernels import Gaussian

X, Y = load_iris(return_X_y=True)
NO_KERNEL = np.array([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.filterwarnings("ignore:n_landmarks=")
@pytest.mark.filterwarnings("ignore:the kernel matrix of the landmarks is not positive")
@parametrize_with_checks(
    [
        Nystroem(),
        Nystroem(n_landmarks=5, root="eigen"),
        Nystroem(n_landmarks=5, root="symmetric"),
        Nystroem(n_landmarks=5, landmarks="stratified"),
        Nystroem(n_landmarks=5, landmarks="kmeans"),
        Nystroem(n_landmarks=5, landmarks="leverage"),
        Nystroem("laplacian", 5, gamma="median"),
        Nystroem("linear", 5),
        Nystroem("chi2", 5),
        Nystroem("precomputed", 5),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_names_of_the_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = Nystroem(n_landmarks=3, random_state=0).set_output(transform="pandas").fit(frame)
    features = model.transform(frame)
    names = ["nystroem0", "nystroem1", "nystroem2"]
    assert features.columns.tolist() == model.get_feature_names_out().tolist() == names
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[["b", "a", "c", "d"]])


def test_names_without_pandas():
    assert Nystroem(n_landmarks=2).fit(X).get_feature_names_out().tolist() == ["nystroem0", "nystroem1"]


def test_clone_and_pickle():
    model = Nystroem(Gaussian(1.2), 7, landmarks="leverage", root="eigen", random_state=0).fit(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))
    copy = clone(model)
    assert copy.get_params() == model.get_params() and not hasattr(copy, "kernel_")
    np.testing.assert_array_equal(copy.fit(X).transform(X), model.transform(X))


def test_in_a_grid_search():
    pipeline = make_pipeline(Nystroem(landmarks="stratified", random_state=0), LinearSVC())
    grid = {"nystroem__n_landmarks": [5, 40], "nystroem__gamma": ["scale", "median"], "nystroem__kernel": ["rbf"]}
    assert GridSearchCV(pipeline, grid, cv=3).fit(X, Y).best_score_ > 0.9


def test_a_second_fit_forgets_the_first():
    model = Nystroem(n_landmarks=5, root="eigen", random_state=0).fit(X)
    model.set_params(root="cholesky", landmarks="kmeans").fit(X)
    assert not hasattr(model, "eigenvalues_") and not hasattr(model, "landmark_indices_")


@pytest.mark.parametrize(
    ("maps", "bad"),
    [
        (Nystroem(gamma=0.1, n_landmarks=5, random_state=0), {"gamma": 9.0, "landmarks": np.ones((3, 2))}),
        (RandomFeatures(gamma=0.1, n_features=16, random_state=0), {"gamma": 9.0, "n_features": 7, "form": "pair"}),
    ],
    ids=["nystroem", "random"],
)
def test_a_fit_that_is_refused_leaves_the_map(maps, bad):
    before = maps.fit(X).transform(X)
    params = maps.get_params()
    with pytest.raises(ValueError):
        maps.set_params(**bad).fit(X)
    np.testing.assert_array_equal(maps.set_params(**params).transform(X), before)


def test_rows_of_transform_are_of_their_own_precision():
    model = Nystroem(n_landmarks=5, random_state=0).fit(X)
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    assert model.transform(X.astype(int)).dtype == np.float64
    np.testing.assert_allclose(model.transform(X.astype(np.float32)), model.transform(X), atol=1e-4)


# --- clipped, with a warning ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("landmarks", ["uniform", "stratified", "kmeans", "leverage"])
def test_more_landmarks_than_rows_are_clipped_with_a_warning(landmarks):
    with pytest.warns(UserWarning, match="n_landmarks=151 is more than the 150 rows of X") as caught:
        model = Nystroem(n_landmarks=151, landmarks=landmarks, random_state=0).fit(X, Y)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = clone(model).set_params(n_landmarks=150).fit(X, Y)
    np.testing.assert_array_equal(model.transform(X), same.transform(X))


@pytest.mark.parametrize("root", ["cholesky", "eigen", "symmetric"])
def test_what_is_no_kernel_is_warned_of(root):
    with pytest.warns(UserWarning, match="not positive semi-definite") as caught:
        model = Nystroem("precomputed", 2, root=root).fit(NO_KERNEL)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        Nystroem("precomputed", 2, root=root).fit(-np.eye(2))
    assert np.all(np.isfinite(model.transform(NO_KERNEL)))


@pytest.mark.parametrize("root", ["cholesky", "eigen", "symmetric"])
def test_what_is_no_kernel_is_warned_of_though_its_diagonal_is_positive(root):
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        Nystroem("precomputed", 2, root=root).fit(np.array([[1.0, 2.0], [2.0, 1.0]]))


def sigmoid(A, B):
    """It is not positive semi-definite."""
    return np.tanh(A @ B.T - 3.0)


@pytest.mark.parametrize("landmarks", ["uniform", "leverage"])
@pytest.mark.parametrize("kernel", [sigmoid, "precomputed"])
def test_what_is_no_kernel_is_warned_of_however_landmarks_are_drawn(landmarks, kernel):
    """Leverage scores ended in an error about a leading minor."""
    rows = np.random.default_rng(1).normal(size=(600, 2))
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model = Nystroem(kernel, 20, landmarks=landmarks, random_state=0)
        features = model.fit_transform(sigmoid(rows, rows) if kernel == "precomputed" else rows)
    assert np.all(np.isfinite(features))


@pytest.mark.filterwarnings("error")
def test_leverage_scores_of_a_kernel_up_to_rounding():
    """Of a float32 matrix of rank 4 the smallest eigenvalue is below -1e-10 times the largest."""
    rows = np.random.default_rng(1).normal(size=(500, 4))
    K = (rows @ rows.T).astype(np.float32)
    features = Nystroem("precomputed", 100, landmarks="leverage", random_state=0).fit_transform(K)
    np.testing.assert_allclose(features @ features.T, K, atol=1e-3)


def test_a_kernel_up_to_rounding_is_not_warned_of():
    for dtype in (np.float32, np.float64):
        K = (X @ X.T).astype(dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for root in ("cholesky", "eigen"):
                assert Nystroem("precomputed", 100, root=root).fit_transform(K).shape[1] in range(3, 9)
            assert len(Nystroem("precomputed", 100, root="symmetric").fit(K).eigenvalues_) in range(3, 9)


def test_one_class_is_fine_for_stratified():
    model = Nystroem(n_landmarks=5, landmarks="stratified", random_state=0).fit(X, np.zeros(150))
    assert len(model.landmark_indices_) == 5


def test_one_row():
    np.testing.assert_allclose(Nystroem(n_landmarks=1).fit_transform([[1.0, 2.0]]), [[1.0]])


# --- errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"n_landmarks": 0}, "n_landmarks must be a positive integer, got 0"),
        ({"n_landmarks": -3}, "n_landmarks must be a positive integer, got -3"),
        ({"n_landmarks": 2.5}, "n_landmarks must be a positive integer, got 2.5"),
        ({"n_landmarks": True}, "n_landmarks must be a positive integer, got True"),
        ({"n_landmarks": None}, "n_landmarks must be a positive integer, got None"),
        ({"landmarks": "k-means"}, "unknown landmarks 'k-means'; did you mean 'kmeans'"),
        ({"landmarks": None}, "unknown landmarks None"),
        ({"root": "choleski"}, "unknown root 'choleski'; did you mean 'cholesky'"),
        ({"rank_tol": -1e-9}, "rank_tol must be a (finite )?number of at least 0 and below 1"),
        ({"rank_tol": 1.0}, "rank_tol must be a (finite )?number of at least 0 and below 1"),
        ({"rank_tol": "small"}, "rank_tol must be a (finite )?number of at least 0 and below 1"),
        ({"rank_tol": float("nan")}, "rank_tol must be a (finite )?number of at least 0 and below 1"),
        ({"kernel": "rbff"}, "unknown kernel 'rbff'; did you mean 'rbf'"),
        ({"kernel": 3}, "kernel must be a name, a kernel object or a function"),
        ({"gamma": "medium"}, "unknown gamma 'medium'; did you mean 'median'"),
        ({"gamma": 0.0}, "gamma must be 'scale', 'auto', 'median' or a positive number"),
        ({"kernel": "poly", "degree": 0}, "degree"),
        ({"kernel": "poly", "coef0": -1.0}, "coef0 must be at least 0"),
        ({"random_state": "seed"}, "random_state must be None, an integer"),
        ({"kernel": "precomputed", "landmarks": "kmeans"}, "choose 'uniform', 'stratified' or 'leverage'"),
        ({"kernel": "precomputed"}, r"must be a square matrix, got shape \(150, 4\)"),
        ({"kernel": lambda A, B: np.ones((2, 2))}, "shape"),
        ({"kernel": lambda A, B: A[:, :1] - B[:, :1].T}, "is not symmetric"),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, "NaN|not finite"),
    ],
)
def test_parameters_that_make_no_sense(settings, message):
    with pytest.raises(ValueError, match=message):
        Nystroem(**{"n_landmarks": 10, "random_state": 0, **settings}).fit(X, Y)


@pytest.mark.parametrize(
    "rows, message",
    [
        (np.where(X == X[5, 2], np.nan, X), "contains NaN: column .* holds NaN"),
        (np.where(X == X[5, 2], np.inf, X), "contains infinity: column .* holds infinity"),
        (X[:0], "0 sample"),
        (X[:, :0], "0 feature"),
        (X[0], "Expected 2D array"),
        ([["a", "b"], ["c", "d"]], "X holds text"),
        (X * 1e200, "too large"),
        (sparse.csr_array(X * 1e200), "too large"),
        (1j * X, "[Cc]omplex"),
    ],
    ids=["NaN", "infinity", "no rows", "no columns", "one dimension", "text", "large", "large sparse", "complex"],
)
def test_rows_that_make_no_sense(rows, message):
    with pytest.raises(ValueError, match=message):
        Nystroem(n_landmarks=1).fit(rows)


@pytest.mark.parametrize(
    "y, message",
    [
        (None, "requires y"),
        (Y[:-1], "inconsistent numbers of samples"),
        (X[:, 0] * np.pi, "landmarks='stratified' needs class labels"),
        (np.where(Y == 0, np.nan, Y), "NaN"),
    ],
    ids=["no", "short", "continuous", "NaN"],
)
def test_labels_that_make_no_sense_for_stratified(y, message):
    with pytest.raises(ValueError, match=message):
        Nystroem(n_landmarks=5, landmarks="stratified").fit(X, y)


def test_sparse_precomputed_kernel_is_refused():
    with pytest.raises(TypeError, match="Sparse data was passed"):
        Nystroem("precomputed", 2).fit(sparse.csr_array(np.eye(4)))


def test_rows_of_transform_are_checked():
    model = Nystroem(n_landmarks=5, random_state=0).fit(X)
    with pytest.raises(NotFittedError):
        Nystroem().transform(X)
    with pytest.raises(ValueError, match="X has 3 features, but Nystroem is expecting 4"):
        model.transform(X[:, :3])
    with pytest.raises(ValueError, match="too large"):
        model.transform(X * 1e200)


@pytest.mark.parametrize("root", ["cholesky", "eigen", "symmetric"])
def test_parameters_set_after_fit_do_not_change_the_map(root, tmp_path):
    model = Nystroem(n_landmarks=30, landmarks="kmeans", root=root, random_state=0).fit(X)
    expected = model.transform(X)
    for change in ({"root": "cholesky"}, {"root": "eigen"}, {"landmarks": "uniform"}, {"kernel": "precomputed"}):
        np.testing.assert_array_equal(model.set_params(**change).transform(X), expected)
        model.save(tmp_path / "map.npz")
        np.testing.assert_array_equal(load(tmp_path / "map.npz").transform(X), expected)
