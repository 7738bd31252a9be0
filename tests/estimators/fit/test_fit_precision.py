"""``dtype="auto"``: float32 from 2,000 rows on, but with a rare class, or where it would round away what tells rows
apart."""

import warnings

import numpy as np
import pytest

from kernbench import KernelRegressor, KernelSVC
from kernbench.estimators.arguments.parameters import AUTO_DOUBLE_ROWS
from kernbench.estimators.regression.tasks import KernelRegressorTask
from kernbench.kernels import Gaussian, Linear


@pytest.mark.parametrize(("kernel", "settings"), [("poly", {}), ("linear", {"fit_intercept": False})])
def test_kernels_that_see_the_origin_are_computed_in_float64(kernel, settings, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(2500, 6))
    y = np.where(X @ rng.normal(size=6) + rng.normal(size=2500) > 0, 1, -1)

    def dtype_of(X, dtype="auto"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return KernelSVC(kernel=kernel, gamma=0.1, max_iter=20, dtype=dtype, **settings).fit(X, y).dtype_

    assert dtype_of(X) == "float32"
    assert dtype_of(X + 300.0) == "float64"
    assert dtype_of(X + 300.0, "float32") == "float32"


def test_equal_rows_stay_in_float32():
    X, y = np.full((2200, 3), 300.0), np.arange(2200) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert KernelSVC(kernel="poly", max_iter=20).fit(X, y).dtype_ == "float32"


@pytest.mark.parametrize(("n", "n_positive", "solver", "expected"), [
    (2300, 575, "smo", "float64"), (2300, 576, "smo", "float32"), (2501, 10, "smo", "float32"),
    (2300, 10, "sdca", "float32"),
])  # fmt: skip
def test_with_a_rare_class_more_rows_are_float64(n, n_positive, solver, expected):
    X, y = np.random.default_rng(0).normal(size=(n, 2)), np.arange(n) < n_positive
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert KernelSVC(solver=solver, max_iter=1, random_state=0).fit(X, y).dtype_ == expected


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("kernel", "dtype", "n"),
    [
        ("additive_chi2", "auto", 2100),
        (Gaussian(3.0) + Linear(), "auto", 2100),
        (Gaussian(3.0) * Linear(), "auto", 2100),
        (lambda X, Z: X @ Z.T, "auto", 2100),
        (Gaussian(3.0) + Linear(), "float64", 2600),
    ],
)
def test_sums_products_and_functions_have_no_terms_of_rows(kernel, dtype, n):
    """Whether float32 is too coarse for a Gaussian follows from them."""
    X = np.random.default_rng(0).uniform(size=(n, 12))
    model = KernelSVC(kernel, dtype=dtype, max_iter=2).fit(X, np.arange(n) % 2)
    assert model.dtype_ == ("float32" if dtype == "auto" else dtype)


@pytest.mark.parametrize("loss, dtype", [("squared_error", "float64"), ("absolute_error", "float32")])
def test_the_values_of_a_factor_are_float64_whatever_the_number_of_rows(loss, dtype):
    X = np.random.default_rng(0).normal(size=(AUTO_DOUBLE_ROWS + 1, 2))
    assert KernelRegressorTask(KernelRegressor(loss), X, X[:, 0], None).dtype == dtype
