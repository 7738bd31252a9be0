"""A precomputed kernel matrix must be square and symmetric, for every estimator that takes one."""

import inspect
import warnings

import numpy as np
import pytest

from kernbench import KernelSVC
from kernbench._models import MODELS
from kernbench.estimators.arguments.training_data import ASYMMETRY
from kernbench.kernels.domain import COMPARED_ROWS

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + 0.3 * RNG.normal(size=N) > 0).astype(int)
K = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))


def takes_precomputed(model):
    if model.task == "transform" or "kernel" not in inspect.signature(model.load()).parameters:
        return False
    return model.load()(kernel="precomputed").__sklearn_tags__().input_tags.pairwise


TAKERS = [model for model in MODELS if takes_precomputed(model)]
WITH_LANDMARKS = [
    model for model in TAKERS if "landmarks" in model.load()().get_params() and not model.name.endswith("CV")
]


def test_the_estimators_are_found():
    names = {model.name for model in TAKERS}
    assert {"KernelSVC", "KernelRegressor", "ROCSVC", "RankedRangeClassifier"} <= names


@pytest.mark.parametrize("model", TAKERS, ids=lambda model: model.name)
def test_an_asymmetric_matrix_is_refused(model):
    other = K.copy()
    other[3, 40] += 0.25
    with pytest.raises(ValueError, match=r"symmetric matrix: X and its transpose differ by up to 0\.25"):
        model.load()(kernel="precomputed").fit(other, Y)
    with pytest.raises(ValueError, match="square"):
        model.load()(kernel="precomputed").fit(K[:, :-1], Y)


@pytest.mark.parametrize("model", TAKERS, ids=lambda model: model.name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_is_no_asymmetry(model, dtype):
    noise = 0.9 * ASYMMETRY * K.max() * np.random.default_rng(1).uniform(size=K.shape)
    few = {"cv": 2, "alphas": [0.1]} if model.name == "PartialAUCClassifierCV" else {}
    model.load()(kernel="precomputed", **few).fit((K + np.triu(noise, 1)).astype(dtype), Y)


def test_of_a_large_matrix_some_entries_are_compared():
    n = 3 * COMPARED_ROWS
    rows = np.random.default_rng(0).normal(size=(n, 3))
    matrix, y = rows @ rows.T + np.eye(n), np.arange(n) % 2
    KernelSVC(kernel="precomputed").fit(matrix, y)
    with pytest.raises(ValueError, match="symmetric"):
        KernelSVC(kernel="precomputed").fit(rows @ (rows + 0.1).T, y)
    matrix[0, n - 1] += 1.0
    with pytest.raises(ValueError, match="symmetric"):
        KernelSVC(kernel="precomputed").fit(matrix, y)


@pytest.mark.parametrize("model", WITH_LANDMARKS, ids=lambda model: model.name)
@pytest.mark.parametrize("landmarks", ["default", "uniform", "leverage"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:no function f does better")
def test_landmarks_are_rows_with_weight(model, landmarks):
    """A weight of 0 leaves a row out, but the matrix holds its kernel values all the same."""
    weights = np.where(np.arange(N) % 3 == 0, 0.0, 1.0)
    used = np.flatnonzero(weights)
    settings = {"kernel": "precomputed", "features": "nystroem", "n_landmarks": 12, "random_state": 0}
    settings |= {} if landmarks == "default" else {"landmarks": landmarks}
    weighted = model.load()(**settings).fit(K, Y, sample_weight=weights)
    plain = model.load()(**settings).fit(K[np.ix_(used, used)], Y[used])
    found, expected = weighted.feature_map_, plain.feature_map_
    np.testing.assert_array_equal(found.landmark_indices_, used[expected.landmark_indices_])
    np.testing.assert_array_equal(found.normalization_, expected.normalization_)
    np.testing.assert_allclose(found.transform(K), expected.transform(K[:, used]))
    if model.name == "ROCSVC":  # other solvers draw batches, of other rows
        np.testing.assert_allclose(weighted.decision_function(K), plain.decision_function(K[:, used]), atol=1e-6)
    assert weighted.predict(K).shape == (N,)


def by_function(A, B):
    """K with factors that differ by the order of the rows, by less than is refused."""
    return np.exp(-0.2 * ((A[:, None] - B) ** 2).sum(axis=2)) * (1.0 + 1e-4 * np.tanh(A[:, :1] - B[:, 0]))


@pytest.mark.parametrize("solver", ["smo", "sdca"])
@pytest.mark.parametrize("kernel", ["precomputed", by_function], ids=["matrix", "function"])
def test_asymmetry_is_in_the_gap(kernel, solver):
    """Solvers take rows for columns, predictions take columns."""
    matrix = K + 0.9 * ASYMMETRY * np.triu(np.ones_like(K), 1) if kernel == "precomputed" else by_function(X, X)
    rows = matrix if kernel == "precomputed" else X
    options = {"C": 10.0, "tol": 1e-8, "solver": solver, "random_state": 0, "max_iter": 10**6}
    with warnings.catch_warnings(action="ignore"):
        model = KernelSVC(kernel, **options).fit(rows, Y)
    scores, coef = model.decision_function(rows), model.dual_coef_[0]
    losses = np.maximum(0.0, 1.0 - np.where(Y == 1, 1.0, -1.0) * scores)
    norm = coef @ (scores[model.support_] - model.intercept_)
    objective = 0.5 * norm / (10.0 * N) + losses.mean()
    best = KernelSVC("precomputed", C=10.0, tol=1e-9).fit((matrix + matrix.T) / 2, Y)
    assert abs(objective - model.objective_) <= model.duality_gap_ + 1e-12
    assert model.objective_ - model.duality_gap_ <= best.objective_ + 1e-12
