"""Bad parameters and bad data: each a ValueError that says what to change, never a crash or a model of NaN."""

import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from kernbench import LinearSVC

X, Y = load_iris(return_X_y=True)
X = scale(X)
B = (Y == 2).astype(int)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"solver": "sdac"}, "unknown solver 'sdac'; did you mean 'sdca'?"),
        ({"solver": "smo"}, "unknown solver 'smo'"),
        ({"loss": "squared-hinge"}, "unknown loss 'squared-hinge'; did you mean 'squared_hinge'?"),
        ({"loss": 3}, "unknown loss 3"),
        ({"intercept_scaling": 0}, "intercept_scaling must be a positive number"),
        ({"fit_intercept": "no"}, "fit_intercept must be True or False, got 'no'"),
        ({"solver": "sdca", "solver_options": {"shrink": True}}, "did you mean 'shrinking'?"),
        ({"solver": "sdca", "solver_options": {"order": "random"}}, "unknown order 'random'"),
    ],
    ids=str,
)
def test_bad_parameter(params, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        LinearSVC(**params).fit(X, Y)


@pytest.mark.parametrize("Cs", [[], [0.0], [1.0, -1.0], "1", [[1.0]], None])
def test_bad_grid(Cs):
    with pytest.raises(ValueError, match="Cs must be a list of positive numbers"):
        LinearSVC().path(X, Y, Cs)


def test_rows_too_large():
    with pytest.raises(ValueError, match="too large"):
        LinearSVC().fit(X * 1e200, Y)


def test_a_limit_that_ends_the_run_is_told_with_the_gap():
    rows, y = np.vstack([X, X]), np.r_[B, 1 - B]  # each row with both labels, and C huge
    model = LinearSVC("hinge", C=1e9, solver="sdca", max_iter=3000, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3000 with a duality gap of .* raise max_iter, or tol"):
        model.fit(rows, y)
    assert not model.converged_ and model.status_ == "max_iter" and model.fit_status_ == 1
    assert model.duality_gap_ > model.tol * model.objective_
    assert np.all(np.isfinite(model.coef_))


def test_rows_with_both_labels_converge_at_an_ordinary_C():
    rows, y = np.vstack([X, X]), np.r_[B, 1 - B]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearSVC("hinge", random_state=0).fit(rows, y)
    assert model.objective_ == pytest.approx(1.0)  # w = 0 is the best there is
    assert np.abs(model.coef_).max() < 1e-6


def test_a_million_columns_stay_sparse():
    rng = np.random.default_rng(0)
    n, d = 400, 10**6
    rows = sparse.random_array((n, d), density=20 / d, format="csr", random_state=rng)
    rows = sparse.csr_matrix(rows + sparse.csr_matrix((np.ones(n), (np.arange(n), np.arange(n) % 2)), shape=(n, d)))
    y = np.arange(n) % 2
    model = LinearSVC(random_state=0).fit(rows, y)  # dense it would be 3 GB
    assert model.converged_ and model.coef_.shape == (1, d)
    assert model.score(rows, y) == 1.0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_integers_empty_rows_and_long_indices_are_as_good_as_floats(make):
    rows = np.round(2 * X).astype(np.int64)
    rows[5:25:5] = 0
    expected = LinearSVC().fit(rows.astype(np.float64), Y).decision_function(rows)
    given = make(rows)
    if sparse.issparse(given):
        given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
    np.testing.assert_allclose(LinearSVC().fit(given, Y).decision_function(given), expected, atol=1e-7)


def test_the_rows_given_stay_as_they_were():
    dense, csr = X.copy(), sparse.csr_matrix(X)
    before = csr.copy()
    for fit_intercept in (True, False):
        LinearSVC(fit_intercept=fit_intercept).fit(dense, Y)
        LinearSVC(fit_intercept=fit_intercept).fit(csr, Y)
    np.testing.assert_array_equal(dense, X)
    assert (csr != before).nnz == 0


def test_a_failed_fit_leaves_the_fitted_model_as_it_was():
    model = LinearSVC().fit(X, Y)
    expected = model.decision_function(X)
    with pytest.raises(ValueError, match="greater than one"):
        model.fit(X, np.zeros(150))
    np.testing.assert_array_equal(model.decision_function(X), expected)
