"""Targets with several columns: each is an output, as in Ridge; losses, certificates and files by output."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

import kernbench
from kernbench import KernelRegressor, LinearRegressor
from kernbench.losses.regression import EXAMPLE_LOSSES
from kernbench.solvers.registry import get

LOSSES = [loss for loss in get("newton", "linear-regression").losses]


def problem(n=80, d=5, k=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    return X, X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k)) + 10.0 * rng.normal(size=k)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True])
def test_ridge(weighted, form):
    X, Y = problem()
    given = sparse.csr_matrix(X) if form == "csr" else X
    weights = np.random.default_rng(1).uniform(0.1, 2.0, len(Y)) if weighted else None
    alpha, n = 0.03, len(Y) if weights is None else weights.sum()
    model = LinearRegressor(alpha=alpha, tol=1e-12).fit(given, Y, weights)
    ridge = Ridge(alpha=alpha * n).fit(X, Y, weights)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.intercept_, ridge.intercept_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.predict(given), ridge.predict(X), rtol=1e-6, atol=1e-8)
    assert model.score(given, Y, weights) == pytest.approx(ridge.score(X, Y, weights))
    assert model.coef_.shape == (3, 5) and model.objective_.shape == model.duality_gap_.shape == (3,)


@pytest.mark.parametrize("loss", LOSSES)
def test_each_output_is_the_model_of_its_column(loss):
    X, Y = problem()
    assert loss in EXAMPLE_LOSSES
    model = LinearRegressor(loss).fit(X, Y)
    for k, y in enumerate(Y.T):
        alone = LinearRegressor(loss).fit(X, y)
        np.testing.assert_array_equal(model.coef_[k], alone.coef_)
        assert (model.intercept_[k], model.objective_[k]) == (alone.intercept_, alone.objective_)
        assert model.status_[k] == alone.status_ == "converged"


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_kernel_ridge(kernel):
    X, Y = problem()
    alpha, n = 0.01, len(Y)
    given, settings = X, {"kernel": kernel, "gamma": 0.2}
    if kernel == "precomputed":
        given = X @ X.T
    model = KernelRegressor(**settings, alpha=alpha, tol=1e-12).fit(given, Y)
    centre = X.mean(axis=0) if kernel == "linear" else 0.0
    theirs = X - centre if kernel != "precomputed" else given
    ridge = KernelRidge(alpha=alpha * n, **settings).fit(theirs, Y - Y.mean(axis=0))
    np.testing.assert_allclose(model.predict(given), ridge.predict(theirs) + Y.mean(axis=0), rtol=1e-6, atol=1e-7)
    assert model.dual_coef_.shape == (3, n) and model.intercept_.shape == model.objective_.shape == (3,)
    if kernel == "linear":
        np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.predict(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_each_output_of_a_kernel_regressor_is_the_model_of_its_column(loss):
    X, Y = problem(n=40)
    model = KernelRegressor(loss, tol=1e-10, random_state=0).fit(X, Y)
    for k, y in enumerate(Y.T):
        alone = KernelRegressor(loss, tol=1e-10, random_state=0).fit(X, y)
        np.testing.assert_allclose(model.predict(X)[:, k], alone.predict(X), rtol=1e-3, atol=1e-3)
        assert model.objective_[k] == pytest.approx(alone.objective_, rel=1e-8)
        assert model.status_[k] == alone.status_


def test_a_function_or_a_matrix_has_no_columns_to_centre():
    """The same kernel by its name is that of centred columns; both say so in `fit_intercept`."""
    X, Y = problem()
    y, given = Y[:, 0], X @ X.T
    matrix = KernelRegressor(kernel="precomputed", tol=1e-12).fit(given, y)
    function = KernelRegressor(kernel=lambda A, B: A @ B.T, tol=1e-12).fit(X, y)
    named = KernelRegressor(kernel="linear", tol=1e-12)
    np.testing.assert_allclose(function.predict(X), matrix.predict(given), rtol=1e-6, atol=1e-8)
    assert function.intercept_ == matrix.intercept_ == pytest.approx(y.mean())
    moved = X - X.mean(axis=0)
    centred = KernelRegressor(kernel=lambda A, B: A @ B.T, tol=1e-12).fit(moved, y)
    np.testing.assert_allclose(named.fit(X, y).predict(X), centred.predict(moved), rtol=1e-6, atol=1e-8)


def test_shapes_are_those_of_ridge():
    X, Y = problem()
    for y in (Y[:, 0], Y[:, :1], Y):
        model, ridge = LinearRegressor().fit(X, y), Ridge().fit(X, y)
        assert model.coef_.shape == ridge.coef_.shape
        assert model.predict(X).shape == ridge.predict(X).shape


@pytest.mark.parametrize("Regressor", [LinearRegressor, KernelRegressor])
def test_files_paths_and_warm_starts_keep_the_outputs(Regressor, tmp_path):
    X, Y = problem()
    model = Regressor(warm_start=True).fit(X, Y).fit(X, Y)
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(kernbench.load(tmp_path / "model.npz").predict(X), model.predict(X))
    for one in Regressor().path(X, Y, [0.1, 0.01]):
        assert one.predict(X).shape == Y.shape and one.score(X, Y) > 0.2
    one = model.fit(X, Y[:, 0])  # another number of outputs is a cold start
    np.testing.assert_allclose(one.predict(X), Regressor().fit(X, Y[:, 0]).predict(X), rtol=1e-6)


@pytest.mark.parametrize("Regressor", [LinearRegressor, KernelRegressor])
def test_one_column_is_one_output_without_a_warning_as_in_ridge(Regressor):
    X, Y = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        column = Regressor().fit(X, Y[:, :1])
    np.testing.assert_array_equal(column.predict(X), Regressor().fit(X, Y[:, 0]).predict(X))


@pytest.mark.parametrize(
    "Y",
    [np.full((80, 2), np.nan), np.full((80, 2), "a"), np.zeros((79, 2)), np.zeros((80, 2, 2)), np.ones((80, 2)) + 1j],
)
def test_bad_targets(Y):
    X, _ = problem()
    for model in (LinearRegressor(), KernelRegressor()):
        with pytest.raises(ValueError):
            model.fit(X, Y)


def test_sparse_targets_are_refused():
    X, Y = problem()
    for model in (LinearRegressor(), KernelRegressor()):
        for targets in (Y, Y[:, :1]):
            with pytest.raises(ValueError, match=r"pass y\.toarray"):
                model.fit(X, sparse.csr_array(targets))
