"""Columns far from the origin: models with an intercept do not depend on a shift of the rows."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

import kernbench
from kernbench.estimators.fit.centring import centre_of, centred, combined, left_over, mean_of, shift_of

SHIFTS = (100.0, 1e4, 1e6)
FORMATS = {"dense": np.asarray, "csr": sparse.csr_matrix}
SHIFTED = {
    "KernelSVC": {"kernel": "linear"},
    "KernelRegressor": {"kernel": "linear"},
    "AUCMarginClassifier": {},
    "RankedRangeClassifier": {},
    "RankedRangeRegressor": {},
    "ROCSVC": {},
    "PartialAUCClassifier": {},
}
OF_A_DTYPE = [
    (name, dtype)
    for name in SHIFTED
    for dtype in ("auto", "float32", "float64")
    if dtype == "auto" or name == "KernelSVC"
]


def problem(name, n=None, d=6):
    """Rows around the origin and targets, for `KernelSVC` as many as take float32 by ``dtype="auto"``."""
    n = n or (2200 if name == "KernelSVC" else 800)
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, d))
    targets = X @ np.linspace(-1.0, 1.0, d) + 0.7 * rng.normal(size=n)
    return X, targets if name.endswith("Regressor") else (targets > 0).astype(int)


def fitted(name, X, y, **parameters):
    model = getattr(kernbench, name)(random_state=0, **{**SHIFTED[name], **parameters})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model.fit(X, y)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name, dtype", OF_A_DTYPE)
def test_a_shift_of_the_rows_changes_nothing(name, dtype, form):
    X, y = problem(name)
    plain = fitted(name, X, y, dtype=dtype)
    values = plain.predict(X) if name.endswith("Regressor") else plain.decision_function(X)
    for shift in SHIFTS:
        rows = FORMATS[form](X + shift)
        model = fitted(name, rows, y, dtype=dtype)
        moved = model.predict(rows) if name.endswith("Regressor") else model.decision_function(rows)
        tol = 0.1 * model.tol if name.startswith("Kernel") else 10 * model.tol
        assert model.objective_ == pytest.approx(plain.objective_, rel=tol)
        assert abs(model.score(rows, y) - plain.score(X, y)) < 0.01
        np.testing.assert_allclose(moved - moved.mean(), values - values.mean(), atol=0.02 * values.std())


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shift", SHIFTS)
def test_the_fitted_attributes_are_those_of_scikit_learn(shift, form):
    X, y = problem("KernelSVC", n=300)
    y = y + 2 * (X[:, 0] > 0.5)
    rows = X + shift
    ours = kernbench.KernelSVC("linear", tol=1e-6, decision_function_shape="ovo").fit(FORMATS[form](rows), y)
    theirs = SVC(kernel="linear", tol=1e-6, decision_function_shape="ovo").fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(
        ours.intercept_, theirs.intercept_ - shift * theirs.coef_.sum(axis=1), atol=1e-4 * (1 + shift)
    )
    np.testing.assert_array_equal(dense(ours.support_vectors_), rows[ours.support_])
    np.testing.assert_allclose(ours.decision_function(FORMATS[form](rows)), theirs.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(ours.decision_function(rows), rows @ ours.coef_.T + ours.intercept_, atol=1e-6)


def test_the_dual_coefficients_belong_to_the_rows_as_they_are():
    X, y = problem("KernelSVC", n=200)
    X = X + 10.0
    model = kernbench.KernelSVC("linear", tol=1e-6).fit(X, y)
    assert abs(model.dual_coef_.sum()) < 1e-10
    expansion = X @ model.support_vectors_.T @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), expansion, atol=1e-8)


@pytest.mark.parametrize("solver", ["sdca", "pegasos", "wolfe", "sbp", "norma"])
def test_every_solver_takes_centred_rows(solver):
    X, y = problem("KernelSVC", n=300)
    models = [kernbench.KernelSVC("linear", solver=solver, tol=0.05, random_state=0, max_iter=2000) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, far = models[0].fit(X, y), models[1].fit(X + 1e5, y)
    np.testing.assert_allclose(far.decision_function(X + 1e5), plain.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(far.objective_, plain.objective_, rtol=1e-6)


def test_without_an_intercept_rows_are_taken_as_they_are():
    X, y = problem("KernelSVC", n=200)
    model = kernbench.KernelSVC("linear", fit_intercept=False).fit(X + 5.0, y)
    assert model.centre_ is None
    assert model.intercept_ == 0


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_a_linear_kernel_regressor_is_ridge_regression(form, weighted, shift):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 5)) + shift
    X[:, :2] *= rng.random((150, 2)) < 0.3  # columns with zeros, which sparse rows must not fill
    y = X[:, 2] - shift + rng.normal(size=150)
    weights = rng.integers(0, 3, size=150).astype(float) if weighted else None
    total = 150 if weights is None else weights.sum()
    X[:, :2] /= max(1.0, shift)
    model = kernbench.KernelRegressor(kernel="linear", alpha=0.1, tol=1e-10, random_state=0)
    model.fit(FORMATS[form](X), y, weights)
    ridge = Ridge(alpha=0.1 * total).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, ridge.coef_, atol=1e-4)
    np.testing.assert_allclose(model.predict(FORMATS[form](X)), ridge.predict(X), atol=1e-4)


def test_models_far_from_the_origin_survive_a_file(tmp_path):
    X, y = problem("KernelSVC", n=100)
    model = kernbench.KernelSVC("linear").fit(X + 1e5, y)
    model.save(tmp_path / "model.npz")
    again = kernbench.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.decision_function(X + 1e5), model.decision_function(X + 1e5))
    np.testing.assert_array_equal(again.centre_, model.centre_)


def test_the_centre_leaves_columns_with_zeros():
    X = np.array([[1e6, 0.0, 3.0], [1e6 + 1, 5.0, 3.0], [1e6 + 2, 5.0, 3.0]])
    for form in FORMATS.values():
        np.testing.assert_array_equal(centre_of(form(X)), [1e6 + 1, 0.0, 3.0])
        assert centre_of(form(X[:, 1:2])) is None
        moved = centred(form(X), centre_of(X))
        np.testing.assert_array_equal(dense(moved), X - centre_of(X))
    assert centred(X, None) is X
    assert centred(X.astype(np.float32), centre_of(X)).dtype == np.float32


def test_sums_of_centred_rows_are_those_of_dense_ones():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3)) + [1e6, 0.0, 0.0]
    X[::2, 1] = 0
    coef, centre = rng.normal(size=(2, 40)), np.array([1e6, 0.5, -2.0])
    expected = coef @ (X - centre)
    for form in FORMATS.values():
        np.testing.assert_allclose(combined(coef, form(X), centre), expected, rtol=1e-9)
        np.testing.assert_allclose(combined(coef[0], form(X), centre), expected[0], rtol=1e-9)
        np.testing.assert_allclose(mean_of(form(X)), X.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(mean_of(form(X), np.arange(40.0)), np.average(X, axis=0, weights=range(40)))
    np.testing.assert_array_equal(left_over(sparse.csr_matrix(X), centre), [0.0, 0.5, 0.0])
    np.testing.assert_allclose(shift_of(expected, centre), expected @ centre)


def dense(X):
    return X.toarray() if sparse.issparse(X) else X
