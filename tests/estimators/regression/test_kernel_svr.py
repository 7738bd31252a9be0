"""KernelSVR in place of scikit-learn's SVR: the same models, attributes, weights, paths, bad input."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVR

import kernbench
from kernbench import KernelRegressor, KernelSVR
from kernbench.estimators.fit import solver_data
from kernbench.estimators.regression import tasks
from kernbench.kernels.functions import CentredLinear
from kernbench.kernels.rows import KernelRows
from kernbench.kernels.two_precisions import TwoPrecisionRows


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(150, 3)), 2)
    return X, X[:, 0] + np.sin(X[:, 1]) + 0.3 * rng.normal(size=150) + 7.0, rng.uniform(0.0, 3.0, size=150)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "settings",
    [
        {"gamma": 0.3},
        {"gamma": 0.3, "C": 20.0, "epsilon": 0.0},
        {"kernel": "linear"},
        {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0, "epsilon": 0.5},
    ],
    ids=str,
)
def test_it_is_svr(settings, weighted, numbers):
    X, y, weights = numbers
    weights = weights if weighted else None
    ours, theirs = (Model(tol=1e-7, **settings).fit(X, y, sample_weight=weights) for Model in (KernelSVR, SVR))
    assert ours.converged_ and ours.duality_gap_ <= 1e-7 * ours.objective_
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=2e-4)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-4)
    for name in ("intercept_", "dual_coef_", "n_support_"):
        assert np.shape(getattr(ours, name))[:1] == np.shape(getattr(theirs, name))[:1]
    assert ours.n_support_[0] == ours.dual_coef_.shape[1] == len(ours.support_)
    if settings.get("kernel") == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_it_is_the_regressor_by_another_name(loss, numbers):
    X, y, _ = numbers
    ours = KernelSVR(C=2.0, loss=loss, tol=1e-6).fit(X, y)
    same = KernelRegressor(loss, alpha=1 / (2.0 * len(y)), tol=1e-6).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), same.predict(X))
    assert ours.objective_ == same.objective_


def test_every_form_of_rows_gives_the_same_model(numbers):
    X, y, _ = numbers
    expected = KernelSVR(gamma=0.3, tol=1e-8).fit(X, y).predict(X)
    K = np.exp(-0.3 * np.square(X[:, None] - X).sum(axis=2))

    def function(A, B):
        return np.exp(-0.3 * np.square(A[:, None] - B).sum(axis=2))

    csr = sparse.csr_matrix(X)
    for settings, rows in (({"gamma": 0.3}, csr), ({"kernel": "precomputed"}, K), ({"kernel": function}, X)):
        model = KernelSVR(tol=1e-8, **settings).fit(rows, y)
        np.testing.assert_allclose(model.predict(rows), expected, atol=1e-5)


def test_a_path_ends_where_single_fits_do(numbers):
    X, y, weights = numbers
    models = KernelSVR(tol=1e-6).path(X, y, [10.0, 0.1, 1.0], sample_weight=weights)
    assert [model.C for model in models] == [10.0, 0.1, 1.0]
    for model in models:
        alone = KernelSVR(C=model.C, tol=1e-6).fit(X, y, sample_weight=weights)
        assert model.objective_ == pytest.approx(alone.objective_, rel=3e-6)


def test_a_warm_start_needs_few_steps_and_a_file_keeps_the_bits(numbers, tmp_path):
    X, y, _ = numbers
    model = KernelSVR(warm_start=True, tol=1e-5).fit(X, y)
    steps = model.n_iter_[0]
    assert model.fit(X, y).n_iter_[0] <= min(5, steps // 2)
    model.save(tmp_path / "model.npz")
    loaded = kernbench.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_constant_targets_one_row_and_equal_rows(numbers):
    X, _, _ = numbers
    np.testing.assert_allclose(KernelSVR().fit(X, np.full(150, 3.0)).predict(X), 3.0, atol=0.1 + 1e-12)
    assert KernelSVR().fit(X[:1], [4.0]).predict(X[:1])[0] == pytest.approx(4.0, abs=0.1 + 1e-12)
    same = KernelSVR().fit(np.ones((4, 2)), [0.0, 1.0, 2.0, 3.0])
    assert same.converged_ and 0.9 <= same.predict(np.ones((1, 2)))[0] <= 2.1


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"C": 0.0}, "C must be a positive number"),
        ({"epsilon": -0.1}, "epsilon must be"),
        ({"loss": "huber"}, "unknown loss 'huber'"),
        ({"shrinking": 2}, "shrinking"),
        ({"tol": 0.0}, "tol must be"),
    ],
)
def test_bad_parameters_say_what_to_change(settings, message, numbers):
    X, y, _ = numbers
    with pytest.raises(ValueError, match=message):
        KernelSVR(**settings).fit(X, y)
    with pytest.raises(ValueError, match="too large.* scale the targets"):
        KernelSVR().fit(X, 1e300 * y)


def test_a_limit_of_steps_ends_the_run(numbers):
    X, y, _ = numbers
    with pytest.warns(match="stopped at max_iter=5"):
        model = KernelSVR(max_iter=5).fit(X, y)
    assert model.status_ == "max_iter" and model.duality_gap_ > 0.0 and model.n_iter_[0] == 5


@pytest.mark.parametrize(
    "Model", [partial(KernelSVR, C=1e-3), partial(KernelRegressor, "epsilon_insensitive", alpha=0.4, solver="smo")]
)
def test_a_linear_fit_to_many_sparse_rows_begins_in_float32(Model, monkeypatch):
    """Its kernel subtracts the means of the columns, most entries of which are not stored."""
    seen, made = [], tasks.make_rows

    def make_rows(*args, **settings):
        seen.append(made(*args, **settings))
        return seen[-1]

    monkeypatch.setattr(tasks, "make_rows", make_rows)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2600, 200)) * (rng.random((2600, 200)) < 0.22)
    y = X[:, 0] + 0.3 * rng.normal(size=len(X)) + 7.0
    rows = sparse.csr_matrix(X)
    refined = Model(kernel="linear", dtype="float64", tol=1e-5).fit(rows, y)
    monkeypatch.setattr(solver_data, "TWO_PRECISIONS_ROWS", len(X))
    plain = Model(kernel="linear", dtype="float64", tol=1e-5).fit(rows, y)
    assert [type(rows) for rows in seen] == [TwoPrecisionRows, KernelRows]
    assert isinstance(seen[0].kernel, CentredLinear)
    assert refined.converged_ and refined.dtype_ == plain.dtype_ == "float64"
    np.testing.assert_allclose(refined.predict(rows), plain.predict(rows), atol=1e-3)
