"""Certificates of kernels of the difference of rows, where some rows are thousands of length scales from the others."""

from functools import partial

import numpy as np
import pytest
from exact_objectives import LONG, kernel_values
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from kernbench import KernelRegressor, KernelSVC, KernelSVR, LinearSVC
from kernbench.estimators.fit.certificate import Examined
from kernbench.kernels.constants import EPS
from kernbench.kernels.functions import Cauchy, Gaussian, Laplacian, Matern
from kernbench.kernels.rows import KernelRows
from kernbench.problems.certificate.extended import Expansion

KERNELS = {
    "Gaussian": Gaussian,
    "Laplacian": Laplacian,
    "Cauchy": Cauchy,
    "Matern 1/2": partial(Matern, 0.5),
    "Matern 3/2": partial(Matern, 1.5),
    "Matern 5/2": partial(Matern, 2.5),
}


def draw_rows(rng, n, d, is_sparse):
    """Rows in clusters, or spread, at distances of up to 1e9, some of them with a near neighbour."""
    X, far = rng.normal(size=(n, d)), 10.0 ** rng.uniform(0, 9)
    arrangement = rng.integers(4)
    if arrangement == 0:
        X[::2] += far
    elif arrangement == 1:
        X[0] += far
    elif arrangement == 2:
        X += far * rng.integers(0, 3, size=(n, 1)) ** 3
    else:
        X *= far
        half = n // 2
        X[:half] = X[half : 2 * half] + rng.normal(size=(half, d))
    return X * (rng.random((n, d)) < 0.2) if is_sparse else X


def thin(X):
    """The same distances in sparse rows of 100 times as many columns."""
    return sparse.csr_matrix(np.kron(X, np.eye(1, 100)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("form", "mostly_zero"), [(np.asarray, False), (np.asarray, True), (sparse.csr_matrix, True), (thin, True)]
)
@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_bound_of_values_covers_their_rounding(kernel, form, mostly_zero, dtype, seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 40)), int(rng.choice([1, 3, 10, 30]))
    X = draw_rows(rng, n, d, mostly_zero)
    kernel = KERNELS[kernel](float(10.0 ** rng.uniform(-1, 1) * d**0.5))
    exact = kernel_values(kernel, X)
    rows = KernelRows(form(X), kernel, dtype=np.dtype(dtype))
    bound = Examined(None, form(X), kernel, rows, dtype, own_dual=True).value_error[0]
    # A block of near rows alone may take inner products where the whole matrix squares differences.
    near = np.argsort(np.abs(X).max(axis=1))[: n // 2 + 1]
    assert np.abs(rows.batch(np.arange(n)) - exact).max() <= bound
    assert np.abs(rows.block(near, near) - exact[np.ix_(near, near)]).max() <= bound


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", Cauchy(3.0), Matern(1.5, 3.0)])
def test_an_array_that_is_mostly_zero_is_fitted_as_its_sparse_form(kernel, dtype, global_random_seed):
    X = sparse.random(300, 40, density=0.1, random_state=global_random_seed).toarray()
    y = X @ np.sin(np.arange(40)) > 0
    of_array, of_sparse = (KernelSVC(kernel, dtype=dtype).fit(form(X), y) for form in (np.asarray, sparse.csr_matrix))
    assert of_array.converged_ and of_array.duality_gap_ <= of_array.tol * of_array.objective_
    assert of_array.decision_function(X) == pytest.approx(of_sparse.decision_function(X), abs=1e-9)


@pytest.mark.parametrize("far", [1e4, 1e6])
@pytest.mark.parametrize("arrangement", ["shifted", "one outlier", "two clusters"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_exact_values_of_far_rows_have_a_small_gap(kernel, form, arrangement, far, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(2200, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=2200) > 0
    X += (
        far
        * {"shifted": 1.0, "one outlier": np.eye(2200, 1), "two clusters": np.arange(2200)[:, None] % 2}[arrangement]
    )
    model = KernelSVC(kernel, gamma=0.2).fit(form(X), y)
    assert model.converged_ and model.duality_gap_ <= model.tol * model.objective_


@pytest.mark.parametrize("far", [1e4, 1e6])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, thin])
@pytest.mark.parametrize("density", [0.02, 0.1, 1.0])
def test_an_outlier_among_rows_of_few_entries_leaves_the_gap_small(density, form, far, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = sparse.random(2200, 50, density=density, random_state=rng).toarray()
    y = X @ rng.normal(size=50) > 0
    X[0, 0] = far
    model = KernelSVC(gamma=0.5).fit(form(X), y)
    assert model.converged_ and model.duality_gap_ <= model.tol * model.objective_


def test_near_rows_do_not_depend_on_rows_afar(global_random_seed):
    X = np.random.default_rng(global_random_seed).normal(size=(50, 4))
    exact = kernel_values(Gaussian(), X)
    X[7] += 1e5
    values = Gaussian()(X)
    others = np.arange(50) != 7
    assert values[np.ix_(others, others)] == pytest.approx(exact[np.ix_(others, others)].astype(float), abs=1e-11)


def test_extended_values_of_a_product_kernel_do_not_lose_digits():
    X = np.random.default_rng(0).normal(size=(20, 3)) + 1e7 * (np.arange(20)[:, None] % 2)
    space = Expansion(Cauchy(2.0), X)
    coef = np.linspace(-1, 1, 20)
    exact = kernel_values(Cauchy(2.0), X) @ coef.astype(LONG)
    assert np.abs(space.scores(coef) - exact).max() <= 20 * space.value_error < 1e-13


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("nu", [0.1, 0.3, 0.45])
def test_nearly_equal_rows_of_a_steep_matern_kernel_are_within_the_bound(nu, form, dtype, global_random_seed):
    """Its slope at 0 is infinite. Of rows at ordinary distances in float64 the bound stays small."""
    rng = np.random.default_rng(global_random_seed)
    X, dtype, kernel = rng.normal(size=(60, 12)).astype(np.float32), np.dtype(dtype), Matern(nu, 2.0)
    if form is not np.asarray:
        X *= np.arange(12) % 4 == 0
    for step in (0.0, *10.0 ** np.arange(-7, 0)):
        Z = X.copy()
        Z[1::2] = Z[::2] * np.float32(1 + step)
        rows = KernelRows(form(Z), kernel, dtype=dtype)
        error = np.abs(rows.batch(np.arange(60)) - kernel_values(kernel, Z)).max()
        bound = Examined(None, form(Z), kernel, rows, dtype.name, own_dual=True).value_error[0]
        assert error <= bound, step
        if dtype == np.float64 and step in (0.0, 0.1):
            assert bound <= 1e-9


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_nearly_equal_rows_of_a_matern_kernel_are_within_a_small_bound(nu, form, dtype, global_random_seed):
    X = np.random.default_rng(global_random_seed).normal(size=(60, 12)).astype(np.float32)
    if form is not np.asarray:
        X *= np.arange(12) % 4 == 0
    dtype, kernel = np.dtype(dtype), Matern(nu, 2.0)
    for scale in 10.0 ** np.arange(0, 6):
        for step in 10.0 ** np.arange(-7, 0):
            Z = (X * scale).astype(np.float32)
            Z[1::2] = Z[::2] * np.float32(1 + step)
            rows = KernelRows(form(Z), kernel, dtype=dtype)
            error = np.abs(rows.batch(np.arange(60)) - kernel_values(kernel, Z)).max()
            bound = Examined(None, form(Z), kernel, rows, dtype.name, own_dual=True).value_error[0]
            assert error <= bound <= 2e-12 + EPS[dtype] * (300 + 60 * scale), (scale, step)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    "model",
    [
        KernelRegressor(kernel="linear", solver="sdca", random_state=0),
        KernelRegressor(kernel="poly", degree=2, solver="newton"),
        KernelRegressor(kernel="poly", degree=2, solver="newton", dtype="float32", tol=1e-2),
        KernelSVR(kernel="linear"),
        LinearSVC(loss="squared_hinge"),
    ],
    ids=lambda model: f"{type(model).__name__}-{getattr(model, 'kernel', '')}-{getattr(model, 'dtype', '')}",
)
def test_a_far_row_of_weight_zero_does_not_count(model, form):
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((120, 3)), np.ones(120)
    y = X[:, 0] + 0.1 * rng.standard_normal(120)
    y = np.sign(y) if isinstance(model, LinearSVC) else y
    X[0], weights[0] = 1e9, 0.0
    fitted = model.fit(form(X), y, sample_weight=weights)
    assert fitted.status_ == "converged"
    assert fitted.duality_gap_ <= fitted.tol * fitted.objective_
