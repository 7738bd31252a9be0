"""Kernel parameters at the edge of the numbers: a finite model, or a ValueError that names the parameter."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import kernbench
from kernbench.kernels import DotProduct, ExponentialSemigroup, Linear, Polynomial, Sigmoid
from kernbench.kernels.domain import check_range

MODELS = {
    "KernelSVC": {"max_iter": 20_000},
    "KernelRegressor": {"max_iter": 2000},
    "ROCSVC": {"max_iter": 50},
    "RankedRangeClassifier": {"max_iter": 50},
}


@pytest.mark.parametrize("gamma", [1e-310, 1e-40, 1e40, 1e150, 1e300, 1e308])
@pytest.mark.parametrize("kernel", ["poly", "sigmoid", "rbf", "laplacian"])
@pytest.mark.parametrize("name", MODELS)
def test_every_gamma_gives_a_finite_model_or_an_error(name, kernel, gamma):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), np.arange(40) % 2
    X[::7], X[::5, :2] = 0, 0  # inner products of 0 and rows of 0: infinity times 0 is NaN
    for rows in (X, sparse.csr_matrix(X, dtype=np.float32), 1e-30 * X):
        for dtype in ("float32", "float64"):
            model = getattr(kernbench, name)(kernel=kernel, gamma=gamma, dtype=dtype, random_state=0, **MODELS[name])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    model.fit(rows, y)
                except ValueError as error:
                    assert "too large" in str(error) or f"gamma={gamma:g} is too small" in str(error)
                    continue
            values = model.predict(rows) if name == "KernelRegressor" else model.decision_function(rows)
            for attribute in (values, model.dual_coef_, model.intercept_, model.objective_):
                assert np.isfinite(attribute).all()


def test_the_error_names_the_parameter():
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(ValueError, match=r"Sigmoid: gamma=1e\+40 is too large for float32.*dtype='float64'"):
        kernbench.KernelSVC("sigmoid", gamma=1e40, dtype="float32").fit(X, y)
    assert kernbench.KernelSVC("sigmoid", gamma=1e40, dtype="float64").fit(X, y).objective_ <= 1
    for kernel in (DotProduct((1e300, 1.0)), Linear() + 2e38 * Linear(), Linear() * Sigmoid(1.0, -1e39)):
        check_range(X, kernel, "float64")
        with pytest.raises(ValueError, match="too large for float32"):
            check_range(X, kernel, "float32")
    with pytest.raises(ValueError, match="too large for float32"):
        Sigmoid(1e40)(X.astype(np.float32))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", [Polynomial(10) * ExponentialSemigroup(), 1e-30 * Polynomial(10)], ids=repr)
def test_a_component_that_overflows_is_refused_though_the_combination_fits(kernel, form):
    X = form(np.random.default_rng(0).uniform(50, 100, size=(40, 10)))
    y = np.arange(40) % 2
    model = kernbench.KernelSVC(kernel, dtype="float32", max_iter=100)
    for fit_or_predict in (lambda: model.fit(X, y), lambda: model.fit(X / 100, y).decision_function(X)):
        with warnings.catch_warnings(), pytest.raises(ValueError, match="too large for this kernel in float32"):
            warnings.simplefilter("ignore")
            fit_or_predict()
