"""KernelNuSVR in place of scikit-learn's NuSVR: the same models, certified, in every form of rows."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import NuSVR

import kernbench
from kernbench import KernelNuSVR, KernelRegressor, KernelSVR


def draw(seed, n=100):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 2)
    return X, X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * rng.normal(size=n) + 7.0, rng.uniform(0.2, 3.0, size=n)


def gaussian(A, B):
    return np.exp(-0.5 * np.square(A[:, None] - B).sum(axis=2))


def objective(coef, intercept, K, y, weights, nu, C):
    """With the best epsilon, which is 0 or the size of a residual, divided by C and the sum of the weights."""
    sizes = np.abs(K @ coef + intercept - y)
    zones = np.append(sizes, 0.0)
    sums = weights @ np.maximum(0.0, sizes[:, None] - zones) + nu * weights.sum() * zones
    return (0.5 * coef @ K @ coef / C + sums.min()) / weights.sum()


@pytest.mark.parametrize("part", range(4))
def test_it_is_nu_svr_on_random_problems(part):
    rng = np.random.default_rng(part)
    for seed in range(25 * part, 25 * part + 25):
        X, y, weights = draw(seed, n=int(rng.integers(8, 120)))
        weights = weights if seed % 2 else np.ones(len(y))
        nu, C = float(rng.uniform(0.05, 1.0)), float(rng.choice([0.05, 1.0, 20.0]))
        ours = KernelNuSVR(nu=nu, C=C, gamma=0.5, tol=1e-6).fit(X, y, sample_weight=weights)
        theirs = NuSVR(nu=nu, C=C, gamma=0.5, tol=1e-8).fit(X, y, sample_weight=weights)
        assert ours.converged_ and ours.duality_gap_ <= 1e-6 * ours.objective_
        K, coef = gaussian(X, X), np.zeros((2, len(y)))
        coef[0, ours.support_], coef[1, theirs.support_] = ours.dual_coef_[0], theirs.dual_coef_[0]
        found, other = (
            objective(c, b, K, y, weights, nu, C)
            for c, b in zip(coef, (ours.intercept_[0], theirs.intercept_[0]), strict=True)
        )
        assert ours.objective_ == pytest.approx(found, rel=1e-6)
        assert found <= other + 1e-6 * other
        values, expected = K @ coef[0], K @ coef[1]  # an intercept need not be unique
        np.testing.assert_allclose(values, expected, atol=1e-3)
        np.testing.assert_allclose(ours.predict(X), values + ours.intercept_, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_predictions_and_zone_are_those_of_both_machines(weighted):
    X, y, weights = draw(0, n=150)
    weights = weights if weighted else np.ones(150)
    ours = KernelNuSVR(nu=0.3, C=2.0, gamma=0.5, tol=1e-8).fit(X, y, sample_weight=weights)
    theirs = NuSVR(nu=0.3, C=2.0, gamma=0.5, tol=1e-8).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3)
    same = KernelSVR(epsilon=ours.epsilon_, C=2.0, gamma=0.5, tol=1e-8).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.predict(X), same.predict(X), atol=1e-4)
    outside = weights[np.abs(ours.predict(X) - y) > ours.epsilon_ + 1e-5].sum() / weights.sum()
    assert outside <= 0.3 <= weights[ours.support_].sum() / weights.sum()


def test_every_form_of_rows_gives_the_same_model():
    X, y, _ = draw(2)
    expected = KernelNuSVR(nu=0.4, gamma=0.5, tol=1e-8).fit(X, y).predict(X)
    csr, K = sparse.csr_matrix(X), gaussian(X, X)
    for settings, rows in (({"gamma": 0.5}, csr), ({"kernel": "precomputed"}, K), ({"kernel": gaussian}, X)):
        model = KernelNuSVR(nu=0.4, tol=1e-8, **settings).fit(rows, y)
        np.testing.assert_allclose(model.predict(rows), expected, atol=1e-5)
    linear = KernelNuSVR(kernel="linear", nu=0.4, tol=1e-8).fit(X + 30.0, y)
    np.testing.assert_allclose(linear.coef_, NuSVR(kernel="linear", nu=0.4, tol=1e-8).fit(X, y).coef_, atol=1e-3)


def test_weights_are_repetitions():
    X, y, _ = draw(6, n=60)
    weights = np.arange(60) % 4  # of another mean than 1
    weighted = KernelNuSVR(nu=0.35, gamma=0.5, tol=1e-9).fit(X, y, sample_weight=weights)
    repeated = KernelNuSVR(nu=0.35, gamma=0.5, tol=1e-9).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-5)


def test_a_path_ends_where_single_fits_do():
    X, y, weights = draw(3)
    models = KernelNuSVR(nu=0.4, tol=1e-6).path(X, y, [10.0, 0.1, 1.0], sample_weight=weights)
    for model in models:
        alone = KernelNuSVR(nu=0.4, C=model.C, tol=1e-6).fit(X, y, sample_weight=weights)
        assert model.objective_ == pytest.approx(alone.objective_, rel=3e-6)
        assert model.epsilon_ == pytest.approx(alone.epsilon_, rel=1e-3)


def test_a_file_and_a_pickle_keep_the_bits_and_a_warm_start_needs_few_steps(tmp_path):
    X, y, _ = draw(4)
    model = KernelNuSVR(warm_start=True, tol=1e-5).fit(X, y)
    model.save(tmp_path / "model.npz")
    for copy in (kernbench.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        assert copy.epsilon_ == model.epsilon_
    steps = model.n_iter_[0]
    assert model.fit(X, y).n_iter_[0] <= min(5, steps // 2)


def test_a_callback_sees_the_model_so_far_and_a_limit_ends_the_run():
    X, y, _ = draw(5)
    seen = []
    model = KernelNuSVR(callback=lambda now: seen.append((now.epsilon_, now.score(X, y))), tol=1e-6).fit(X, y)
    assert seen[-1] == (pytest.approx(model.epsilon_), pytest.approx(model.score(X, y)))
    with pytest.warns(match="stopped at max_iter=5"):
        short = KernelNuSVR(max_iter=5).fit(X, y)
    assert short.status_ == "max_iter" and short.duality_gap_ > 0.0


def test_constant_targets_one_row_and_equal_rows():
    X, _, _ = draw(7)
    constant = KernelNuSVR().fit(X, np.full(100, 3.0))
    assert constant.epsilon_ == 0.0 and constant.objective_ == 0.0
    np.testing.assert_allclose(constant.predict(X), 3.0)
    assert KernelNuSVR().fit(X[:1], [4.0]).predict(X[:1])[0] == pytest.approx(4.0)
    same = KernelNuSVR().fit(np.ones((4, 2)), [0.0, 1.0, 2.0, 3.0])
    assert same.converged_ and 1.0 - 1e-9 <= same.predict(np.ones((1, 2)))[0] <= 2.0 + 1e-9


@pytest.mark.parametrize("model", [KernelNuSVR(), KernelSVR(), KernelRegressor("squared_error")])
@pytest.mark.parametrize(("size", "word"), [(1e-300, "small"), (1e300, "large")])
def test_targets_whose_squares_are_no_numbers_are_refused(model, size, word):
    X, y, _ = draw(0)
    with pytest.raises(ValueError, match=f"too {word} to add up squares in float64: scale the targets"):
        model.fit(X, y * size)
    model.fit(X, np.zeros(len(y)))  # zeros need no scale
    assert np.all(model.predict(X) == 0.0)


@pytest.mark.parametrize("estimator", [KernelNuSVR, KernelSVR])
def test_a_run_without_progress_names_c(estimator):
    """Of an interpolating function the objective is as small as rounding errors of the residuals times C."""
    X, y, _ = draw(0)
    zone = {"epsilon": 0.0} if estimator is KernelSVR else {}
    with pytest.warns(ConvergenceWarning, match=r"made no further progress .*lower C=1e\+100, or raise tol"):
        estimator(C=1e100, **zone).fit(X, y)


@pytest.mark.parametrize(
    "settings, message",
    [({"nu": 0.0}, "nu must be"), ({"nu": 1.5}, "nu must be"), ({"nu": "0.1"}, "nu must be"),
     ({"C": 0.0}, "C must be a positive number"), ({"tol": 0}, "tol must be"), ({"shrinking": 2}, "shrinking")],
)  # fmt: skip
def test_bad_parameters_say_what_to_change(settings, message):
    X, y, _ = draw(8)
    with pytest.raises(ValueError, match=message):
        KernelNuSVR(**settings).fit(X, y)
    with pytest.raises(ValueError, match=r"too large.* scale the targets"):
        KernelNuSVR().fit(X, 1e300 * y)
