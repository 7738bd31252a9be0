"""KernelNoveltyDetector in place of scikit-learn's OneClassSVM: the same models, certified, in every form of rows."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.svm import OneClassSVM

import kernbench
from kernbench import KernelNoveltyDetector


def draw(seed, n=120):
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=(n, 3)), 2), rng.uniform(0.2, 3.0, size=n)


def gaussian(A, B):
    return np.exp(-0.5 * np.square(A[:, None] - B).sum(axis=2))


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [0.03, 0.3, 0.9])
def test_it_is_the_one_class_svm(nu, weighted, twin):
    for seed in range(3):
        X, weights = draw(seed, n=60)
        weights = weights if weighted else None
        ours, theirs = KernelNoveltyDetector(gamma=0.5, nu=nu, tol=1e-6), OneClassSVM(gamma=0.5, nu=nu, tol=1e-8)
        ours._twin = twin
        ours.fit(X, sample_weight=weights)
        theirs.fit(X, sample_weight=weights)
        assert ours.converged_ and ours.duality_gap_ <= 1e-6 * -ours.objective_
        scale = theirs.offset_[0]
        np.testing.assert_allclose(ours.score_samples(X) / scale, theirs.score_samples(X) / scale, atol=1e-3)
        np.testing.assert_allclose(ours.decision_function(X) / scale, theirs.decision_function(X) / scale, atol=1e-3)
        assert ours.dual_coef_.sum() == pytest.approx(theirs.dual_coef_.sum(), rel=1e-9)
        clear = np.abs(theirs.decision_function(X)) > 1e-3 * scale
        np.testing.assert_array_equal(ours.predict(X)[clear], theirs.predict(X)[clear])
        assert ours.offset_ == -ours.intercept_[0] and ours.n_support_[0] == len(ours.support_)


@pytest.mark.parametrize("nu", [0.2, 0.7])
def test_it_is_the_optimum_of_a_quadratic_programme(nu):
    X, weights = draw(5, n=20)
    K, total = gaussian(X, X), nu * weights.sum()
    found = minimize(lambda a: 0.5 * a @ K @ a, nu * weights, jac=lambda a: K @ a, bounds=[(0, w) for w in weights],
                     constraints=[{"type": "eq", "fun": lambda a: a.sum() - total}], method="SLSQP",
                     options={"ftol": 1e-14, "maxiter": 1000})  # fmt: skip
    assert found.success
    model = KernelNoveltyDetector(gamma=0.5, nu=nu, tol=1e-9).fit(X, sample_weight=weights)
    assert model.objective_ == pytest.approx(-found.fun / 20, rel=1e-7)
    assert model.objective_ - model.duality_gap_ <= -found.fun / 20 * (1 - 1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_working_sets_end_where_one_set_does(dtype):
    """More rows than one working set takes, with shrinking and without."""
    X, _ = draw(1, n=3000)
    models = [
        KernelNoveltyDetector(gamma=0.5, nu=0.1, dtype=dtype, shrinking=shrinking, tol=1e-4).fit(X)
        for shrinking in (True, False)
    ]
    assert all(model.converged_ for model in models)
    assert models[0].objective_ == pytest.approx(models[1].objective_, rel=2e-4)
    outside = np.mean(models[0].decision_function(X) < -1e-3 * models[0].offset_)
    assert outside <= 0.1 <= models[0].n_support_[0] / 3000


def test_every_form_of_rows_gives_the_same_model():
    X, _ = draw(2)
    expected = KernelNoveltyDetector(gamma=0.5, nu=0.2, tol=1e-8).fit(X).decision_function(X)
    csr, K = sparse.csr_matrix(X), gaussian(X, X)
    for settings, rows in (({"gamma": 0.5}, csr), ({"kernel": "precomputed"}, K), ({"kernel": gaussian}, X)):
        model = KernelNoveltyDetector(nu=0.2, tol=1e-8, **settings).fit(rows)
        np.testing.assert_allclose(model.decision_function(rows), expected, atol=1e-4)
    linear = KernelNoveltyDetector(kernel="linear", nu=0.3, tol=1e-8).fit(X + 3.0)
    peer = OneClassSVM(kernel="linear", nu=0.3, tol=1e-8).fit(X + 3.0)
    np.testing.assert_allclose(linear.coef_, peer.coef_, rtol=1e-4)


def test_weights_are_repetitions():
    X, _ = draw(6, n=60)
    weights = np.arange(60) % 4  # of another mean than 1
    weighted = KernelNoveltyDetector(gamma=0.5, nu=0.3, tol=1e-9).fit(X, sample_weight=weights)
    repeated = KernelNoveltyDetector(gamma=0.5, nu=0.3, tol=1e-9).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)


def test_labels_are_ignored_and_a_file_keeps_the_bits(tmp_path):
    X, _ = draw(3)
    model, labelled = (KernelNoveltyDetector(nu=0.2).fit(X, y) for y in (None, np.sign(X[:, 0])))
    np.testing.assert_array_equal(model.dual_coef_, labelled.dual_coef_)
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(kernbench.load(tmp_path / "model.npz").score_samples(X), model.score_samples(X))
    again = KernelNoveltyDetector(nu=0.2, warm_start=True, tol=1e-5).fit(X)
    steps = again.n_iter_[0]
    assert again.fit(X).n_iter_[0] <= min(5, steps // 2)


def test_a_file_without_a_level_is_rejected(tmp_path):
    """Every row was novel to its model."""
    model = KernelNoveltyDetector().fit(draw(3)[0])
    model.offset_ = np.nan
    model.save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="offset_ must be a finite number"):
        kernbench.load(tmp_path / "model.npz")


def test_extreme_shares_one_row_and_equal_rows():
    X, _ = draw(4)
    everything = KernelNoveltyDetector(nu=1.0).fit(X)
    assert everything.converged_ and (everything.dual_coef_ == 1.0).all() and everything.n_support_[0] == len(X)
    for rows in (X[:1], np.ones((5, 2))):
        model = KernelNoveltyDetector().fit(rows)
        assert model.converged_ and np.abs(model.decision_function(rows)).max() <= 1e-9


@pytest.mark.parametrize(
    "settings, message",
    [({"nu": 0.0}, "nu must be"), ({"nu": 1.5}, "nu must be"), ({"nu": "0.1"}, "nu must be"),
     ({"tol": 0}, "tol must be"), ({"shrinking": 2}, "shrinking")],
)  # fmt: skip
def test_bad_parameters_say_what_to_change(settings, message):
    with pytest.raises(ValueError, match=message):
        KernelNoveltyDetector(**settings).fit(np.eye(4))
    with pytest.raises(ValueError, match="at least one non-zero"):
        KernelNoveltyDetector().fit(np.eye(4), sample_weight=np.zeros(4))
