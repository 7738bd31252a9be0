"""The public condition of the closed form, against the solver that stores no matrix and the exact one."""

import numpy as np
import pytest
from scipy import sparse

from kernbench import KernelSVC
from kernbench.estimators import closed_form_limit
from kernbench.estimators.arguments.kernel import weighted_scale
from kernbench.kernels import Gaussian


def data(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.4, "b", "a")


def test_it_is_the_largest_c_at_which_both_solvers_agree():
    X, y = data()
    limit = closed_form_limit(X, y, gamma=0.4)
    assert limit.C == pytest.approx(1 / (limit.alpha * len(y)))
    for factor, same in ((0.999, True), (1.2, False)):
        options = dict(C=factor * limit.C, gamma=0.4, fit_intercept=False, tol=1e-9)
        exact = KernelSVC(**options).fit(X, y)
        if same:
            closed = KernelSVC(solver="closed-form", **options).fit(X, y)
            np.testing.assert_allclose(closed.decision_function(X), exact.decision_function(X), atol=1e-8)
            assert closed.converged_
        else:
            with pytest.warns(UserWarning, match="duality gap"):
                closed = KernelSVC(solver="closed-form", **options).fit(X, y)
            assert not closed.converged_ and closed.objective_ > exact.objective_ + 1e-6


def test_at_the_largest_c_the_largest_margin_is_one():
    X, y = data(2)
    weights = np.random.default_rng(0).integers(0, 5, len(y)).astype(float)
    limit = closed_form_limit(X, y, gamma=0.4, sample_weight=weights)
    signs = np.where(y == "b", 1.0, -1.0)
    margins = limit.C * signs * (Gaussian(0.8**-0.5)(X) @ (weights * signs))
    assert margins[weights > 0].max() == pytest.approx(1.0)
    assert limit.alpha == pytest.approx(1.0 / (limit.C * np.count_nonzero(weights)))


def test_weights_of_zero_and_sparse_rows():
    X, y = data(1)
    weights = np.where(np.arange(len(y)) < 50, 1.0, 0.0)
    limit = closed_form_limit(X, y, sample_weight=weights, gamma=1.0)
    assert limit == pytest.approx(closed_form_limit(X[:50], y[:50], gamma=1.0))
    assert limit == pytest.approx(closed_form_limit(sparse.csr_matrix(X[:50]), y[:50], gamma=1.0))


def test_an_intercept_needs_balance():
    X, y = data()
    assert closed_form_limit(X, y, fit_intercept=True) == (np.inf, 0.0)
    weights = np.where(y == "a", 1 / np.sum(y == "a"), 1 / np.sum(y == "b"))
    assert 0 < closed_form_limit(X, y, fit_intercept=True, sample_weight=weights).alpha < np.inf
    with pytest.raises(ValueError, match="fit_intercept=False"):
        KernelSVC(solver="closed-form").fit(X, y)
    with pytest.raises(ValueError, match="fit_intercept must be True or False, got 'no'"):
        closed_form_limit(X, y, fit_intercept="no")


def test_data_that_a_fit_rejects_are_rejected():
    X, y = data()
    days = np.datetime64("2020-01-01") + np.arange(len(y))
    masked = np.arange(len(y)) == 7
    for rows, labels, weights, message in (
        (np.column_stack([days, days]), y, None, "X holds datetime64"),
        (np.ma.masked_array(X, np.column_stack(3 * [masked])), y, None, "X must have no masked entries"),
        (X, np.ma.masked_array(y, masked), None, "y must have no masked entries"),
        (X, y, days, "sample_weight must hold real numbers, got datetime64"),
        (X, y, np.ma.masked_array(np.ones(len(y)), masked), "sample_weight must have no masked entries"),
        (X, y, -np.ones(len(y)), "sample_weight must be at least 0"),
    ):
        with pytest.raises(ValueError, match=message):
            closed_form_limit(rows, labels, sample_weight=weights)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="two classes"):
        closed_form_limit([[0.0], [1.0]], [1, 1])


def test_the_kernel_is_that_of_a_fit_with_the_weights():
    """ "scale" of weighted rows is another width than that of rows of equal weight."""
    X, y = data(2)
    weights = np.where(np.arange(len(y)) < 20, 0.0, np.abs(X[:, 0]) + 0.1)
    limit = closed_form_limit(X, y, sample_weight=weights)
    width = KernelSVC(C=limit.C).fit(X, y, sample_weight=weights).kernel_.sigma
    assert limit == pytest.approx(closed_form_limit(X, y, sample_weight=weights, gamma=0.5 / width**2))
    assert limit.alpha != pytest.approx(closed_form_limit(X, y, sample_weight=weights, gamma=1 / (3 * X.var())).alpha)


def test_rows_of_weight_zero_of_a_kernel_matrix_are_left_out():
    X, y = data(3)
    K, weights = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2)), np.ones(len(y))
    weights[::3] = 0.0
    limit = closed_form_limit(K, y, kernel="precomputed", sample_weight=weights)
    assert limit == pytest.approx(closed_form_limit(X, y, sample_weight=weights, gamma=1.0))


def test_the_weighted_scale_of_sparse_rows_is_that_of_dense_ones():
    rng = np.random.default_rng(0)
    X, weights = np.where(rng.random((30, 4)) < 0.5, rng.normal(3.0, 1.0, (30, 4)), 0.0), rng.integers(0, 3, 30)
    expected = 1.0 / (4 * np.repeat(X, weights, axis=0).var())
    for rows in (X, sparse.csr_matrix(X)):
        assert weighted_scale(rows, weights.astype(float)) == pytest.approx(expected)


@pytest.mark.parametrize("distance", [1e3, 1e8, -1e8, 1e12])
def test_the_weighted_scale_of_sparse_rows_far_from_the_origin_keeps_its_digits(distance):
    rng = np.random.default_rng(0)
    X, weights = distance + rng.normal(size=(30, 4)), rng.random(30)
    X[:3] = 0.0 if distance == 1e3 else distance
    assert weighted_scale(sparse.csr_matrix(X), weights) == pytest.approx(weighted_scale(X, weights), rel=1e-9)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_the_weighted_scale_of_many_equal_entries_is_that_of_a_constant(storage):
    """Rounding of the mean grows with the number of rows."""
    X, weights = np.full((300_000, 2), 0.1), np.random.default_rng(0).random(300_000)
    assert weighted_scale(storage(X), weights) == 1.0


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("unit", [1e-160, 1e-170])
def test_a_weighted_variance_that_underflows_asks_to_scale_the_features(storage, unit):
    X, weights = np.zeros((4, 2)), np.array([1.0, 2.0, 1.0, 0.0])
    X[3] = unit
    assert weighted_scale(storage(X), weights) == 1.0  # the rows that count are equal
    X[0] = unit
    with pytest.raises(ValueError, match="variance of X is too small for gamma='scale': scale the features"):
        weighted_scale(storage(X), weights)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_a_weighted_variance_that_overflows_is_refused_with_one_sentence(storage):
    X = 1e155 * np.arange(8.0).reshape(4, 2)
    with pytest.raises(ValueError, match="variance of X is too large for gamma='scale': scale the features"):
        weighted_scale(storage(X), np.array([1.0, 2.0, 1.0, 0.0]))


def test_rows_that_a_fit_rejects_are_rejected():
    """Sums of infinite kernel values would be NaN, of which no maximum is above 0: the limit would be C = infinity."""
    X, y = data()
    for rows, kernel, message in (
        (1e160 * X, "linear", "too large for this kernel in float64"),
        (X, "precomputed", "must be a square matrix, got shape"),
        (np.triu(X @ X.T), "precomputed", "must be a symmetric matrix"),
        (sparse.csr_matrix(X @ X.T), "precomputed", "[Dd]ense data is required"),
    ):
        for attempt in (lambda r, k: closed_form_limit(r, y, kernel=k), lambda r, k: KernelSVC(k).fit(r, y)):
            with pytest.raises((ValueError, TypeError), match=message):
                attempt(rows, kernel)
