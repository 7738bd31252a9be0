"""Nystroem and its landmarks agree with plain NumPy, entry by entry, and that with textbook formulas."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from kernbench.features import Nystroem
from kernbench.features.nystroem import landmarks, leverage
from kernbench.kernels import Gaussian, Laplacian, Linear, Polynomial, Precomputed
from kernbench.kernels.bandwidth import median_distance, scale
from kernbench.reference.features import landmarks as reference_landmarks
from kernbench.reference.features import nystroem as reference
from kernbench.reference.kernels import bandwidth as reference_bandwidth
from kernbench.reference.kernels.rows import evaluate

KERNELS = {
    "gaussian": Gaussian(1.7),
    "laplacian": Laplacian(2.5),
    "polynomial": Polynomial(3, 0.5, 0.2),
    "linear": Linear(),
    "precomputed": Precomputed(),
}
CHOICES = ["uniform", "stratified", "kmeans", "leverage"]
# Means of kernel values cannot be landmarks.
CASES = [(name, choice) for name in KERNELS for choice in CHOICES if (name, choice) != ("precomputed", "kmeans")]
ROWS = np.random.default_rng(0).normal(size=(260, 4))
LABELS = np.random.default_rng(1).choice(["a", "b", "c"], p=[0.7, 0.27, 0.03], size=260)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small matrices do not gain from two threads, and are slower on a busy machine."""
    with threadpool_limits(1):
        yield


def rows_for(kernel):
    return evaluate(Gaussian(1.0), ROWS) if isinstance(kernel, Precomputed) else ROWS


@pytest.mark.parametrize("root", ["cholesky", "eigen", "symmetric"])
@pytest.mark.parametrize("name, choice", CASES)
def test_twins_agree(name, choice, root):
    kernel = KERNELS[name]
    X = rows_for(kernel)
    settings = {"n_landmarks": 15, "landmarks": choice, "root": root, "random_state": 5}
    fast = Nystroem(kernel, **settings).fit(X, LABELS)
    plain = reference.Nystroem(kernel, **settings).fit(X, LABELS)
    if choice != "kmeans":
        np.testing.assert_array_equal(fast.landmark_indices_, plain.landmark_indices_)
    if not isinstance(kernel, Precomputed):
        np.testing.assert_allclose(fast.landmarks_, plain.landmarks_, rtol=1e-11, atol=1e-13)
    largest = np.abs(plain.normalization_).max()
    np.testing.assert_allclose(fast.normalization_, plain.normalization_, rtol=0, atol=1e-9 * largest)
    features = plain.transform(X)
    np.testing.assert_allclose(fast.transform(X), features, rtol=0, atol=1e-9 * np.abs(features).max())


@pytest.mark.parametrize("root", ["cholesky", "eigen", "symmetric"])
def test_twins_agree_in_single_precision(root):
    settings = {"n_landmarks": 30, "root": root, "random_state": 0}
    fast = Nystroem(Gaussian(1.0), **settings).fit_transform(ROWS.astype(np.float32))
    plain = reference.Nystroem(Gaussian(1.0), **settings).fit(ROWS.astype(np.float32))
    assert fast.dtype == np.float32
    np.testing.assert_allclose(fast, plain.transform(ROWS.astype(np.float32)), rtol=0, atol=3e-5)


@pytest.mark.parametrize("root", ["cholesky", "eigen", "symmetric"])
def test_twins_drop_the_same_directions(root):
    """Rank 4 of a linear kernel, and rows that are repeated."""
    rows = np.repeat(ROWS[:20], 3, axis=0)
    fast = Nystroem(Linear(), 60, root=root, random_state=0).fit(rows)
    plain = reference.Nystroem(Linear(), 60, root=root, random_state=0).fit(rows)
    assert np.linalg.matrix_rank(fast.normalization_) == np.linalg.matrix_rank(plain.normalization_) == 4
    assert fast.normalization_.shape == plain.normalization_.shape
    F, P = fast.transform(rows), plain.transform(rows)
    np.testing.assert_allclose(F @ F.T, P @ P.T, atol=1e-10)


@pytest.mark.parametrize("root", ["cholesky", "eigen", "symmetric"])
def test_twins_agree_on_rows_of_zeros(root):
    """A linear kernel of theirs has no direction to keep."""
    rows = np.zeros((8, 3))
    fast = Nystroem(Linear(), 5, root=root, random_state=0).fit(rows)
    plain = reference.Nystroem(Linear(), 5, root=root, random_state=0).fit(rows)
    np.testing.assert_array_equal(fast.normalization_, plain.normalization_)
    np.testing.assert_array_equal(fast.landmark_indices_, plain.landmark_indices_)
    np.testing.assert_array_equal(fast.transform(rows), plain.transform(rows))


@pytest.mark.parametrize("n_landmarks", [3, 40, 220])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_leverage_scores_of_twins_agree(kernel, n_landmarks):
    """Samples of 200 of the 260 rows, and of 220.

    The ridge of low ranks is as small as possible; the remaining diagonal is then known to few digits.
    """
    X = rows_for(kernel)
    fast, ridge = leverage.ridge_leverage_scores(kernel, X, n_landmarks, np.random.default_rng(3))
    draws = np.random.default_rng(3)
    plain, same_ridge = reference_landmarks.ridge_leverage_scores(kernel, X, n_landmarks, draws)
    assert ridge == pytest.approx(same_ridge, rel=1e-6)
    np.testing.assert_allclose(fast, plain, rtol=1e-5, atol=2e-4 * plain.mean())


def test_leverage_scores_of_a_deep_recursion_agree(monkeypatch):
    for module in (leverage, reference_landmarks):
        monkeypatch.setattr(module, "MIN_SAMPLE", 20)
    draws = [np.random.default_rng(0) for _ in range(2)]
    fast, _ = leverage.ridge_leverage_scores(Gaussian(1.0), ROWS, 20, draws[0])
    plain, _ = reference_landmarks.ridge_leverage_scores(Gaussian(1.0), ROWS, 20, draws[1])
    np.testing.assert_allclose(fast, plain, rtol=1e-6)
    assert draws[0].random() == draws[1].random()  # as many numbers drawn


@pytest.mark.parametrize("sizes", [[1], [5, 1], [1, 5], [3, 3, 3], [100, 1, 1, 2], [7, 0, 4], [40, 30, 20, 10]])
def test_shares_of_twins_agree(sizes):
    for total in range(1, sum(sizes) + 1):
        if all(sizes) or total >= len(sizes):
            assert landmarks.shares(sizes, total) == reference_landmarks.shares(sizes, total)


@pytest.mark.parametrize("metric", ["euclidean", "l1"])
@pytest.mark.parametrize("n_features", [3, 201])
@pytest.mark.parametrize("n_rows", [1, 2, 30, 2000])
def test_median_of_twins_agree(metric, n_features, n_rows):
    X = np.random.default_rng(0).normal(size=(60, n_features))
    settings = {"n_rows": n_rows, "metric": metric, "random_state": 4}
    assert median_distance(X, **settings) == pytest.approx(
        reference_bandwidth.median_distance(X, **settings), rel=1e-12
    )


@pytest.mark.parametrize("X", [ROWS + 1e4, np.full((5, 3), 2.5), ROWS.astype(np.float32)])
def test_scale_of_twins_agree(X):
    assert scale(X) == pytest.approx(reference_bandwidth.scale(X), rel=1e-9)


# --- the reference itself -----------------------------------------------------------------------------------


@pytest.mark.parametrize("root", [reference.cholesky_root, reference.eigen_root, reference.symmetric_root])
def test_root_of_the_reference_is_a_root_of_the_pseudo_inverse(root):
    A = np.random.default_rng(0).normal(size=(12, 5))
    K = A @ A.T
    R, kept = root(K, 1e-10)
    assert R.shape[1] == (12 if root is reference.symmetric_root else 5)
    values = np.linalg.eigvalsh(R.T @ K[np.ix_(kept, kept)] @ R)[-5:]
    np.testing.assert_allclose(values, 1.0, atol=1e-9)
    if len(kept) == 12:
        np.testing.assert_allclose(R @ R.T, np.linalg.pinv(K), atol=1e-9)


def test_reference_scores_of_all_rows_are_exact():
    """A sample of all rows needs no approximation: l = diag(K (K + ridge I)^(-1)), which sum to the dimension."""
    X, kernel = ROWS[:150], Gaussian(1.0)
    scores, ridge = reference_landmarks.ridge_leverage_scores(kernel, X, 60, np.random.default_rng(0))
    K = evaluate(kernel, X)
    np.testing.assert_allclose(scores, reference_landmarks.exact_ridge_leverage_scores(K, ridge), rtol=1e-7)
    assert scores.sum() == pytest.approx(0.25 * 60, rel=1e-9)


def test_reference_k_means_ends_where_another_step_moves_little():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 0.1, size=(40, 2)) for c in (0.0, 5.0, 10.0)])
    centres = reference_landmarks.kmeans(X, 3, np.random.default_rng(2))
    nearest = np.argmin(((X[:, None] - centres) ** 2).sum(axis=2), axis=1)
    step = centres - [X[nearest == c].mean(axis=0) for c in range(3)]
    assert np.square(step).sum() <= reference_landmarks.KMEANS_TOL * X.var(axis=0).mean()
