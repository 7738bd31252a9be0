"""Rows outside a kernel's domain, and parameters out of range: a ValueError that names the column or the parameter."""

import re

import numpy as np
import pytest
from scipy import sparse

from kernbench.kernels import (
    ArcCosine,
    Cauchy,
    ChiSquared,
    DotProduct,
    ExponentialChiSquared,
    ExponentialSemigroup,
    Gaussian,
    Hellinger,
    Intersection,
    JensenShannon,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    Product,
    ReciprocalSemigroup,
    SkewedChiSquared,
    SkewedIntersection,
    Sum,
)
from kernbench.kernels.blocks import matmul
from kernbench.kernels.constants import check_constants
from kernbench.kernels.domain import check_range, takes_no_negative
from kernbench.kernels.functions import CentredLinear
from kernbench.kernels.names import NAMES, resolve_kernel
from kernbench.kernels.rows import KernelRows
from kernbench.reference.kernels.rows import evaluate

FROM_ZERO = [
    Hellinger(),
    ChiSquared(),
    ExponentialChiSquared(),
    Intersection(),
    JensenShannon(),
    ExponentialSemigroup(),
    ReciprocalSemigroup(),
    Gaussian() + Intersection(),
    2.0 * (Linear() * ChiSquared()),
]
SKEWED = [SkewedChiSquared(0.5), SkewedIntersection(0.5)]
ASKS = {
    "block": lambda kernel, good, bad: kernel(bad),
    "columns": lambda kernel, good, bad: kernel(good, bad),
    "queries": lambda kernel, good, bad: kernel(bad, good),
    "product": lambda kernel, good, bad: matmul(kernel, bad, good, np.ones(9)),
    "rows": lambda kernel, good, bad: KernelRows(bad, kernel),
    "reference": lambda kernel, good, bad: evaluate(kernel, good, bad),
}


@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_an_entry_outside_the_domain_is_named(ask, storage):
    X = np.random.default_rng(0).uniform(0.1, 1.0, size=(9, 6))
    bad = X.copy()
    bad[7, 3] = -0.5
    for kernel in FROM_ZERO:
        with pytest.raises(ValueError, match=re.escape(">= 0, but column 3 holds -0.5 (row 7)")):
            ask(kernel, storage(X), storage(bad))
    for kernel in SKEWED:
        with pytest.raises(ValueError, match=re.escape("> -0.5, but column 3 holds -0.5 (row 7)")):
            ask(kernel, storage(X), storage(bad))


def test_entries_just_inside_the_domain_are_taken():
    edge = np.array([[0.0, 1.0], [2.0, 0.0]])
    for kernel in FROM_ZERO:
        assert np.all(np.isfinite(kernel(edge)))
    for kernel in SKEWED:
        assert np.all(np.isfinite(kernel(edge - 0.5 + 1e-12)))


def test_names_and_objects_say_whether_they_take_negative_entries():
    X = np.ones((2, 3))
    assert all(map(takes_no_negative, FROM_ZERO)) and not any(map(takes_no_negative, SKEWED))
    assert {name for name in NAMES if takes_no_negative(name)} == {"chi2", "additive_chi2"}
    for name in NAMES:
        assert takes_no_negative(resolve_kernel(name, X)) == takes_no_negative(name)


def test_features_are_called_by_their_names():
    with pytest.raises(ValueError, match="column 'petal width' holds -1"):
        ChiSquared().check_domain(np.array([[1.0, -1.0]]), ["petal length", "petal width"])


NOT_POSITIVE = [0, -1.0, float("nan"), float("inf"), "1", None]


@pytest.mark.parametrize("value", NOT_POSITIVE, ids=repr)
@pytest.mark.parametrize(
    "make, name",
    [
        (Cauchy, "sigma"),
        (Matern, "nu"),
        (Matern, "length_scale"),
        (ExponentialChiSquared, "gamma"),
        (SkewedChiSquared, "c"),
        (SkewedIntersection, "c"),
        (ExponentialSemigroup, "beta"),
        (ReciprocalSemigroup, "lam"),
    ],
)
def test_parameters_are_positive_numbers(make, name, value):
    with pytest.raises(ValueError, match=f"{make.__name__}: {name} must be a positive (finite )?number"):
        make(**{name: value})


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Matern(501), "nu must be at most 500.*Gaussian"),
        (lambda: ArcCosine(3), "order must be 0, 1 or 2"),
        (lambda: ArcCosine(0.5), "order must be an integer"),
        (lambda: ArcCosine(-1), "order must be an integer of at least 0"),
        (lambda: DotProduct((1.0, -0.5)), r"coefficients\[1\] must be a number of at least 0"),
        (lambda: DotProduct((0.0, 0.0)), "at least one of the coefficients must be positive"),
        (lambda: DotProduct(()), "at least one of the coefficients must be positive"),
        (lambda: DotProduct(3.0), "coefficients must be a sequence"),
        (lambda: DotProduct("abc"), "coefficients must be a sequence"),
        (lambda: Sum(()), "Sum: at least one kernel"),
        (lambda: Product(()), "Product: at least one kernel"),
        (lambda: Sum((Gaussian(), "rbf")), "every component must be a kernel object, got 'rbf'"),
        (lambda: Sum((Gaussian(), Linear()), (1.0,)), "2 kernels need as many weights"),
        (lambda: Sum((Gaussian(),), (-1.0,)), r"weights\[0\] must be a positive"),
        (lambda: -2.0 * Gaussian(), r"weights\[0\] must be a positive"),
        (lambda: Gaussian() + Precomputed(), "precomputed kernel cannot be a component"),
    ],
)
def test_other_parameters_out_of_range(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_equal_rows_give_equal_values(kernel_and_rows, dtype):
    kernel, draw = kernel_and_rows
    K = kernel(np.repeat(draw(1, 5, 1), 70, axis=0), dtype=dtype)
    np.testing.assert_allclose(K, K[0, 0], rtol=1e-6 if dtype is np.float32 else 1e-14)
    assert np.isfinite(K[0, 0]) and K[0, 0] > 0


def test_power_zero_has_no_coefficient_for_an_infinite_inner_product():
    """0 times infinity would be NaN."""
    assert Polynomial(1, 0.0)([[1e200]], [[1e200]]).item() == np.inf
    assert DotProduct((0.0, 1.0, 0.0))([[1e200]], [[1e200]]).item() == np.inf


def test_a_constant_of_a_component_is_too_large_in_a_sum_too():
    large = Linear() + Polynomial(2, 1e39)
    check_constants(large, "float64")
    with pytest.raises(ValueError, match="Polynomial: coef0=1e.39 is too large for float32"):
        check_constants(large, "float32")


def test_a_component_that_overflows_is_refused_though_the_product_does_not():
    X = np.full((2, 1), 1e12)
    with pytest.raises(ValueError, match="too large for this kernel in float32"):
        check_range(X, Polynomial(4) * ExponentialSemigroup(), "float32")


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_the_largest_value_counts_whatever_its_sign_and_the_rows_as_they_are(storage):
    for sign in (1.0, -1.0):
        with pytest.raises(ValueError, match="X holds values up to 1e.20, too large for this kernel in float32"):
            check_range(storage(np.array([[sign * 1e20, 0.0]])), Linear(), "float32")
    few = np.zeros((2, 1000))
    few[:, 0] = 1e18  # squared, times 1000 columns, it would be out of range
    check_range(storage(few), Linear(), "float32")
    check_range(storage(few), Polynomial(1), "float32")
    check_range(storage(few[:0]), Linear(), "float32")


def test_the_columns_of_a_precomputed_kernel_are_its_training_rows():
    with pytest.raises(ValueError, match="has 3 columns for 2 training rows"):
        Precomputed()(np.ones((4, 3)), np.ones((2, 2)))


def test_a_kernel_of_given_columns_is_checked_on_the_rows_themselves():
    """It has no value for a row of one entry, which bounds the values of other kernels."""
    rows, kernel = sparse.csr_matrix([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), CentredLinear((0.5, 1.0, 1.0))
    check_range(rows, kernel, "float32")
    with pytest.raises(ValueError, match="X holds values up to 3e.20, too large for this kernel in float32"):
        check_range(1e20 * rows, kernel, "float32")
