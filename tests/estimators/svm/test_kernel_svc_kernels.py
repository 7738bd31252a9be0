"""`KernelSVC` with every kernel of the catalogue."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from kernbench import load
from kernbench.estimators import KernelSVC
from kernbench.kernels import (
    Callable,
    ChiSquared,
    DotProduct,
    Gaussian,
    Intersection,
    Linear,
    Matern,
    Precomputed,
    Sigmoid,
)
from kernbench.kernels.functions import KERNELS
from kernbench.reference.kernels.rows import evaluate

RNG = np.random.default_rng(0)
X = RNG.gamma(0.7, size=(60, 5)) * (RNG.random((60, 5)) < 0.8)
Y = (X[:, 0] + X[:, 1] > X[:, 2] + X[:, 3]).astype(int)
CHOSEN = {
    "Sum": 0.5 * Gaussian() + Intersection(),
    "Product": Matern(0.7) * ChiSquared() * Linear(),
    "Sigmoid": Sigmoid(0.01),  # nearly linear: a strongly indefinite kernel has many stationary points
}
KERNEL_OF = {name: CHOSEN.get(name) or KERNELS[name]() for name in KERNELS.keys() - {"Precomputed", "Callable"}}
NAMES = sorted(KERNEL_OF)
every_kernel = pytest.mark.parametrize("kernel", [KERNEL_OF[name] for name in NAMES], ids=NAMES)


@every_kernel
def test_fit_finds_the_optimum_of_scikit_learn(kernel):
    model = KernelSVC(kernel, C=2.0, tol=1e-4, dtype="float64").fit(X, Y)
    oracle = SVC(kernel="precomputed", C=2.0, tol=1e-5).fit(evaluate(kernel, X), Y)
    values = oracle.decision_function(evaluate(kernel, X))
    close = dict(rtol=0, atol=2e-2 * max(1.0, abs(values).max()))
    np.testing.assert_allclose(model.decision_function(X), values, **close)
    thin = KernelSVC(kernel, C=2.0, tol=1e-4, dtype="float64").fit(sparse.csr_matrix(X), Y)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_matrix(X)), values, **close)


@every_kernel
def test_saved_model_comes_back(kernel, tmp_path):
    model = KernelSVC(kernel).fit(X, Y)
    model.save(tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    assert loaded.kernel_ == kernel
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_a_function_inside_a_sum_cannot_be_saved(tmp_path):
    model = KernelSVC(Gaussian() + Callable(lambda A, B: A @ B.T)).fit(X, Y)
    with pytest.raises(ValueError, match="is a Python function"):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_chi2_by_name_is_scikit_learns():
    from sklearn.metrics.pairwise import chi2_kernel

    model = KernelSVC("chi2", gamma=0.5, tol=1e-5).fit(X, Y)
    oracle = SVC(kernel=lambda A, B: chi2_kernel(A, B, gamma=0.5), tol=1e-5).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), oracle.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("kernel", ["chi2", ChiSquared(), Gaussian() + Intersection()], ids=str)
def test_a_negative_entry_is_named_in_fit_and_in_predict(kernel):
    bad = X.copy()
    bad[7, 3] = -2.0
    model = KernelSVC(kernel).fit(X, Y)
    for wrap in (np.asarray, sparse.csr_matrix):
        message = re.escape("column 3 holds -2 (row 7)")
        with pytest.raises(ValueError, match=message):
            KernelSVC(kernel).fit(wrap(bad), Y)
        with pytest.raises(ValueError, match=message):
            model.predict(wrap(bad))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_negative_entry_is_named_by_its_feature():
    model = KernelSVC(ChiSquared()).fit(X, Y)
    model.feature_names_in_ = np.array(["red", "green", "blue", "grey", "none"], dtype=object)
    bad = X.copy()
    bad[7, 3] = -2.0
    with pytest.raises(ValueError, match=re.escape("column 'grey' holds -2 (row 7)")):
        model.predict(bad)


@pytest.mark.parametrize("combine", [lambda cube: cube, lambda cube: Gaussian() * cube], ids=["alone", "product"])
def test_values_out_of_range_are_refused(combine):
    kernel = combine(DotProduct((0.0, 0.0, 0.0, 1.0)))
    with pytest.raises(ValueError, match="too large for this kernel in float32"):
        KernelSVC(kernel, dtype="float32").fit(1e7 * X, Y)


def test_precomputed_is_any_of_them():
    kernel = Matern(0.5)
    model = KernelSVC(Precomputed(), tol=1e-5).fit(evaluate(kernel, X), Y)
    direct = KernelSVC(kernel, tol=1e-5).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(evaluate(kernel, X)), direct.decision_function(X), atol=1e-3)
