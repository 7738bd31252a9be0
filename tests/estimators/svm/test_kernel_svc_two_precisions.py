"""KernelSVC(dtype="float64") on many rows takes its first steps in float32 and ends in float64."""

import numpy as np
import pytest
from scipy import sparse

from kernbench.estimators import KernelSVC
from kernbench.estimators.fit import solver_data
from kernbench.estimators.svm import kernel_task
from kernbench.kernels.functions import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.kernels.two_precisions import TwoPrecisionRows


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2600, 40))
    X[:, 3:] *= 0.02
    return X, np.where(X[:, 0] * X[:, 1] + 0.7 * rng.normal(size=len(X)) > 0, 1, 0)


@pytest.fixture
def seen(monkeypatch):
    """The types of the kernel rows of fits."""
    kinds, made = [], kernel_task.make_rows

    def make_rows(*args, **settings):
        rows = made(*args, **settings)
        kinds.append(type(rows))
        return rows

    monkeypatch.setattr(kernel_task, "make_rows", make_rows)
    return kinds


def test_the_model_is_that_of_float64_rows(problem, seen, monkeypatch):
    X, y = problem
    settings = {"gamma": 0.5, "C": 3.0, "tol": 1e-5, "dtype": "float64"}
    refined = KernelSVC(**settings).fit(X, y)
    monkeypatch.setattr(solver_data, "TWO_PRECISIONS_ROWS", len(X))
    plain = KernelSVC(**settings).fit(X, y)
    assert seen == [TwoPrecisionRows, KernelRows]
    assert refined.converged_ and refined.dtype_ == plain.dtype_ == "float64"
    np.testing.assert_allclose(refined.decision_function(X), plain.decision_function(X), atol=1e-3)
    beta, K = np.zeros(len(X)), Gaussian(1.0)(X)
    beta[refined.support_] = refined.dual_coef_[0]
    e = np.where(y == 1, 1.0, -1.0) - K @ beta
    up, down = np.where(y == 1, beta < 3.0, beta < 0), np.where(y == 1, beta > 0, beta > -3.0)
    assert e[up].max() - e[down].min() <= 1e-5 * (1 + 1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_others_are_untouched(problem, seen):
    """Few or short rows, float32, precomputed or too narrow kernels, too large rows, another solver."""
    X, y = problem
    KernelSVC(dtype="float64").fit(X[:2500], y[:2500])
    KernelSVC(dtype="float32", max_iter=5).fit(X, y)
    KernelSVC(max_iter=5).fit(X, y)
    KernelSVC("precomputed", dtype="float64", max_iter=5).fit(Gaussian(1.0)(X), y)
    KernelSVC(lambda A, B: A @ B.T, dtype="float64", max_iter=5).fit(X, y)
    KernelSVC(gamma=1e6, dtype="float64", max_iter=5).fit(X, y)
    KernelSVC(dtype="float64", max_iter=5).fit(X[:, :9], y)
    KernelSVC(dtype="float64", max_iter=5).fit(sparse.csr_matrix(np.where(X > 1.5, X, 0.0)), y)
    KernelSVC("linear", dtype="float64", max_iter=5).fit(X * 1e30, y)
    KernelSVC(solver="pegasos", dtype="float64", max_iter=256).fit(X, y)
    assert set(seen) == {KernelRows}


def test_path_and_further_fits(problem, seen):
    X, y = problem
    model = KernelSVC(gamma=0.5, dtype="float64", tol=1e-4, warm_start=True)
    for C, one in zip((0.5, 2.0), model.path(X, y, [0.5, 2.0]), strict=True):
        cold = KernelSVC(gamma=0.5, C=C, dtype="float64", tol=1e-4).fit(X, y)
        assert one.converged_ and abs(one.objective_ - cold.objective_) <= max(one.duality_gap_, cold.duality_gap_)
    assert set(seen) == {TwoPrecisionRows}
    again = cold.set_params(warm_start=True).fit(X, y).fit(X, y)
    assert again.converged_ and again.n_iter_[0] == 0
    assert again.n_kernel_evaluations_ == 0  # the gradient is known, in float64


def test_callbacks_and_limits(problem):
    X, y = problem
    model = KernelSVC(gamma=0.5, C=1e6, dtype="float64", max_iter=3000, callback=lambda m: {"error": 1 - m.score(X, y)})
    with pytest.warns(Warning, match="max_iter=3000"):
        model.fit(X, y)
    assert not model.converged_ and model.duality_gap_ > 0
    assert len(model.trace_["error"]) == len(model.trace_["objective"]) > 0
    assert model.trace_["n_kernel_evaluations"][-1] == model.n_kernel_evaluations_
