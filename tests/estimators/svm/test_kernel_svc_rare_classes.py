"""Small problems with a rare class: kernel rows on demand, and the same model."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from kernbench import KernelSVC


def rare(n, share, seed=0, d=8):
    """Rows of which a share is positive: the largest scores of a noisy linear function."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=d) + rng.normal(size=n)
    return X, (np.argsort(np.argsort(-scores)) < max(1, round(share * n))).astype(int)


@pytest.mark.parametrize("n", [50, 300, 1000, 1600, 2300])
@pytest.mark.parametrize("share", [0.01, 0.1])
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_few_rows_are_computed(n, share, C):
    X, y = rare(n, share)
    model = KernelSVC(C=C, tol=1e-5, dtype="float64").fit(X, y)
    assert model.converged_
    assert model.n_kernel_evaluations_ % n == 0
    assert model.n_kernel_evaluations_ <= n * min(n, 2 * len(model.support_) + 100)
    if n >= 1000:
        assert model.n_kernel_evaluations_ < n * n / 2


@pytest.mark.parametrize(
    "params", [{}, {"fit_intercept": False}, {"kernel": "laplacian"}, {"dtype": "float32"}], ids=str
)
@pytest.mark.parametrize("share, C", [(0.02, 1.0), (0.02, 100.0), (0.5, 100.0)])
@pytest.mark.filterwarnings("ignore:.*which does not certify tol")  # of values in float32, at this tolerance
def test_the_model_is_that_of_the_whole_kernel_matrix(params, share, C):
    X, y = rare(500, share, seed=1)
    settings = {"C": C, "tol": 1e-6, **params}
    model = KernelSVC(**settings).fit(X, y)
    matrix = model.kernel_(X, X)
    other = KernelSVC(**{**settings, "kernel": "precomputed", "dtype": "float64"}, shrinking=False).fit(matrix, y)
    atol = 2e-2 if params.get("dtype") == "float32" else 1e-5
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(matrix), atol=atol)
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-4)


def test_the_model_is_that_of_svc():
    X, y = rare(1200, 0.02)
    model, other = KernelSVC(tol=1e-6).fit(X, y), SVC(tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-5)
    as_sparse = KernelSVC(tol=1e-6).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(model.decision_function(X), as_sparse.decision_function(sparse.csr_matrix(X)), atol=1e-5)


@pytest.mark.parametrize("n, share", [(300, 0.02), (2300, 0.02), (700, 0.5)])
def test_the_driver_takes_the_same_steps(n, share):
    X, y = rare(n, share)
    model = KernelSVC(C=10.0).fit(X, y)
    other = KernelSVC(C=10.0, max_iter=10**9).fit(X, y)
    np.testing.assert_allclose(model.intercept_, other.intercept_, rtol=1e-12)
    for name in ("support_", "dual_coef_", "n_iter_", "n_kernel_evaluations_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name))
    assert model.trace_["n_kernel_evaluations"][-1] == model.n_kernel_evaluations_
