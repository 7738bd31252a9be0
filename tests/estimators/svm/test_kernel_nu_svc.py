"""KernelNuSVC in place of scikit-learn's NuSVC: the same models, certified, in every form of rows; bad shares."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import NuSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernbench
import kernbench.estimators.svm.kernel_nu_svc
from kernbench import KernelNuSVC, KernelSVC


def draw(seed, n=100):
    """Rows, labels 3 and 5, and weights."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 2)
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.0, 5, 3)
    y[:2] = 3, 5
    return X, y, rng.uniform(0.2, 3.0, size=n)


def largest(y, weights):
    """The largest feasible nu of two classes."""
    return 2.0 * min(weights[y == 5].sum(), weights[y == 3].sum()) / weights.sum()


def gaussian(A, B):
    return np.exp(-0.5 * np.square(A[:, None] - B).sum(axis=2))


def objective(coef, intercept, K, y, weights, nu):
    """Of f with the best rho, which is one of the margins, divided by n."""
    margins = np.where(y == 5, 1.0, -1.0) * (K @ coef + intercept)
    sums = weights @ np.maximum(0.0, margins[None, :] - margins[:, None]) - nu * weights.sum() * margins
    return (0.5 * coef @ K @ coef + sums.min()) / len(y)


@pytest.mark.parametrize("part", range(4))
def test_it_is_nu_svc_on_random_problems(part):
    rng = np.random.default_rng(part)
    for seed in range(25 * part, 25 * part + 25):
        X, y, weights = draw(seed, n=int(rng.integers(8, 120)))
        weights = weights if seed % 2 else np.ones(len(y))
        # A smaller nu may have the optimum f = 0, which LIBSVM divides by.
        nu = float(rng.uniform(0.5, 1.0)) * largest(y, weights)
        ours = KernelNuSVC(nu=nu, gamma=0.5, tol=1e-6).fit(X, y, sample_weight=weights)
        theirs = NuSVC(nu=nu, gamma=0.5, tol=1e-8).fit(X, y, sample_weight=weights)
        assert ours.converged_ and ours.duality_gap_ <= 1e-6 * -ours.objective_
        values, expected = ours.decision_function(X), theirs.decision_function(X)
        np.testing.assert_allclose(values, expected, atol=1e-3 * max(1.0, np.abs(expected).max()))
        clear = np.abs(expected) > 1e-2
        np.testing.assert_array_equal(ours.predict(X)[clear], theirs.predict(X)[clear])
        K, coef = gaussian(X, X), np.zeros((2, len(y)))
        coef[0, ours.support_], coef[1, theirs.support_] = ours.dual_coef_[0], theirs.dual_coef_[0]
        scale = nu * weights.sum() / np.abs(coef).sum(axis=1)  # both divide by rho
        assert ours.rho_[0] == pytest.approx(scale[0], rel=1e-6)
        found, other = (
            objective(s * c, s * b, K, y, weights, nu)
            for s, c, b in zip(scale, coef, (ours.intercept_[0], theirs.intercept_[0]), strict=True)
        )
        assert ours.objective_ == pytest.approx(found, rel=1e-6)
        assert found <= other + 1e-6 * abs(other)


def test_it_is_the_svm_of_c_one_over_rho():
    X, y, weights = draw(0)
    ours = KernelNuSVC(nu=0.6, gamma=0.5, tol=1e-8).fit(X, y, sample_weight=weights)
    same = KernelSVC(C=1.0 / ours.rho_[0], gamma=0.5, tol=1e-8).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.decision_function(X), same.decision_function(X), atol=1e-5)
    inside = weights[np.where(y == 5, 1, -1) * ours.decision_function(X) < 1.0 - 1e-5].sum() / weights.sum()
    assert inside <= 0.6 <= weights[ours.support_].sum() / weights.sum()


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_negative_level_of_an_indefinite_kernel_changes_the_signs_as_in_nu_svc(n_classes, twin):
    X, y = make_classification(60, 4, n_informative=3, n_redundant=0, n_clusters_per_class=1, flip_y=0.3,
                               n_classes=3, random_state=4)  # fmt: skip
    X, y = X[y < n_classes], y[y < n_classes]
    settings = {"kernel": "sigmoid", "nu": 0.3, "decision_function_shape": "ovo"}
    ours, theirs = KernelNuSVC(**settings, tol=1e-6), NuSVC(**settings, tol=1e-8).fit(X, y)
    ours._twin = twin
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        ours.fit(X, y)
    assert ours.rho_.min() < 0.0
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-3, atol=1e-3)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=0.02)


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_many_classes_are_those_of_nu_svc(shape):
    X, y = load_iris(return_X_y=True)
    # Of 0.3 the half is that of 15 rows: without free support vectors rho may be anything in an interval.
    settings = {"nu": 0.31, "gamma": 0.3, "decision_function_shape": shape}
    ours, theirs = KernelNuSVC(tol=1e-7, n_jobs=2, **settings).fit(X, y), NuSVC(tol=1e-8, **settings).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.rho_.shape == ours.intercept_.shape == (3,) and ours.dual_coef_.shape[0] == 2
    assert np.all(ours.duality_gap_ <= -1e-7 * ours.objective_)
    two = KernelNuSVC(nu=0.31, gamma=0.3, tol=1e-7).fit(X[50:], y[50:])
    assert two.rho_[0] == pytest.approx(ours.rho_[2], rel=1e-5)


def test_every_form_of_rows_gives_the_same_model():
    X, y, _ = draw(2)
    expected = KernelNuSVC(nu=0.6, gamma=0.5, tol=1e-8).fit(X, y).decision_function(X)
    csr, K = sparse.csr_matrix(X), gaussian(X, X)
    for settings, rows in (({"gamma": 0.5}, csr), ({"kernel": "precomputed"}, K), ({"kernel": gaussian}, X)):
        model = KernelNuSVC(nu=0.6, tol=1e-8, **settings).fit(rows, y)
        np.testing.assert_allclose(model.decision_function(rows), expected, atol=1e-4)
    linear = KernelNuSVC(kernel="linear", nu=0.81, tol=1e-8).fit(X + 30.0, y)
    peer = NuSVC(kernel="linear", nu=0.81, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(linear.coef_, peer.coef_, atol=1e-3)
    np.testing.assert_allclose(linear.decision_function(X + 30.0), peer.decision_function(X), atol=2e-3)


def test_weights_are_repetitions():
    X, y, _ = draw(6, n=60)
    weights = np.arange(60) % 4  # of another mean than 1
    weighted = KernelNuSVC(nu=0.5, gamma=0.5, tol=1e-9).fit(X, y, sample_weight=weights)
    repeated = KernelNuSVC(nu=0.5, gamma=0.5, tol=1e-9).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)
    by_class = KernelNuSVC(nu=0.5, gamma=0.5, tol=1e-9, class_weight={3: 2.0, 5: 1.0}).fit(X, y)
    by_row = KernelNuSVC(nu=0.5, gamma=0.5, tol=1e-9).fit(X, y, sample_weight=np.where(y == 3, 2.0, 1.0))
    np.testing.assert_array_equal(by_class.decision_function(X), by_row.decision_function(X))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_working_sets_end_where_one_set_does(dtype):
    """More rows than one working set takes, with shrinking and without."""
    X, y, _ = draw(1, n=3000)
    models = [
        KernelNuSVC(gamma=0.5, nu=0.4, dtype=dtype, shrinking=shrinking, tol=1e-3).fit(X, y)
        for shrinking in (True, False)
    ]
    assert all(model.converged_ for model in models)
    assert models[0].objective_ == pytest.approx(models[1].objective_, rel=2e-3)


def test_a_file_and_a_pickle_keep_the_bits_and_a_warm_start_needs_few_steps(tmp_path):
    X, y, _ = draw(3)
    model = KernelNuSVC(nu=0.4, warm_start=True, tol=1e-5).fit(X, y)
    model.save(tmp_path / "model.npz")
    for copy in (kernbench.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(copy.rho_, model.rho_)
    steps, before = model.n_iter_[0], model.decision_function(X)
    assert model.fit(X, y).n_iter_[0] <= min(5, steps // 2)
    np.testing.assert_allclose(model.decision_function(X), before, atol=1e-3)
    model.set_params(nu=0.6).fit(X, y)
    expected = KernelNuSVC(nu=0.6, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-3)


def test_a_callback_sees_the_model_so_far_and_a_limit_ends_the_run():
    X, y, _ = draw(4)
    seen = []
    model = KernelNuSVC(nu=0.5, gamma=0.5, tol=1e-6, callback=lambda now: seen.append((now.rho_[0], now.score(X, y))))
    model.fit(X, y)
    assert seen[-1] == (pytest.approx(model.rho_[0]), pytest.approx(model.score(X, y)))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        short = KernelNuSVC(nu=0.5, gamma=0.5, max_iter=5).fit(X, y)
    assert "stopped at max_iter=5" in str(seen[0].message)
    assert short.status_ == "max_iter" and np.isfinite(short.decision_function(X)).all()


def test_an_infeasible_nu_is_refused_with_the_largest_and_the_classes():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.repeat(["a", "b", "c"], [30, 20, 10])
    message = "specified nu is infeasible: nu=0.6.* classes a and c, 30 and 10, it can be at most 0.5,"
    with pytest.raises(ValueError, match=message):
        KernelNuSVC(nu=0.6).fit(X, y)
    assert KernelNuSVC(nu=0.5).fit(X, y).converged_
    weights = np.where(y == "c", 0.5, 1.0)
    with pytest.raises(ValueError, match="classes a and c, 30 and 5, it can be at most 0.285714,"):
        KernelNuSVC(nu=0.5).fit(X, y, sample_weight=weights)
    KernelNuSVC(nu=0.5, class_weight={"c": 2.0}).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n, d", [(200, 2), (3000, 5)])
def test_hulls_that_intersect_give_the_zero_function_and_say_so(n, d, dtype):
    """No direction separates the classes: LIBSVM's model is NaN, or rounding errors divided by each other."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(n, d)), rng.integers(2, size=n)
    with pytest.warns(
        ConvergenceWarning, match=r"no function with a smaller objective than f = 0.*raise nu=0.2"
    ) as seen:
        model = KernelNuSVC(nu=0.2, kernel="linear", dtype=dtype).fit(X, y)
    assert len(seen) == 1
    assert (model.decision_function(X) == 0.0).all() and (model.rho_ == 0.0).all() and len(model.support_) == 0
    # The squared distance of the hulls, against that of rows: the certificate of f = 0.
    assert model.objective_ == 0.0 and 0.0 <= model.duality_gap_ <= 1e-9
    assert model.converged_ and model.status_ == "converged" and model.fit_status_ == 0
    assert model.n_iter_[0] <= 10_000


@pytest.mark.parametrize("n", [60, 400])
def test_pairs_of_equal_rows_give_the_zero_function_too(n):
    """Coefficients that cancel give an f whose values are rounding: it is no better than f = 0."""
    X = np.repeat(np.random.default_rng(n).normal(size=(n // 2, 3)), 2, axis=0)
    with pytest.warns(ConvergenceWarning, match="it is the optimum. To get another function, raise nu=0.5"):
        model = KernelNuSVC().fit(X, np.arange(n) % 2)
    assert model.converged_ and model.objective_ == 0.0 and (model.decision_function(X) == 0.0).all()


def test_zero_is_not_converged_where_the_gap_is_not_negligible():
    """Far from the optimum no better function than f = 0 is known, and the gap says how much better one may be."""
    X = np.repeat(np.random.default_rng(0).normal(size=(200, 3)), 2, axis=0)
    X[::2] += 1e-3
    with pytest.warns(ConvergenceWarning):
        model = KernelNuSVC(nu=0.1, max_iter=1).fit(X, np.arange(400) % 2)
    assert not model.converged_ and model.duality_gap_ > 1e-3 * model.tol * model.nu**2 / 2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_many_equal_rows_end_although_their_gap_is_rounding():
    _, y, weights = draw(0)
    model = KernelNuSVC(nu=0.5 * largest(y, weights)).fit(np.ones((100, 2)), y, sample_weight=weights)
    assert model.converged_ and model.objective_ == 0.0


def test_equal_rows_are_no_error():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KernelNuSVC().fit(np.ones((4, 2)), [0, 1, 0, 1])
    assert np.isfinite(model.decision_function(np.ones((2, 2)))).all()


@pytest.mark.parametrize(
    "settings, message",
    [({"nu": 0.0}, "nu must be"), ({"nu": 1.5}, "nu must be"), ({"nu": "0.1"}, "nu must be"),
     ({"nu": True}, "nu must be"), ({"tol": 0}, "tol must be"), ({"shrinking": 2}, "shrinking"),
     ({"probability": True}, r"CalibratedClassifierCV\(KernelNuSVC\(\)"),
     ({"break_ties": True, "decision_function_shape": "ovo"}, "break_ties=True")],
)  # fmt: skip
def test_bad_parameters_say_what_to_change(settings, message):
    with pytest.raises(ValueError, match=message):
        KernelNuSVC(**settings).fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    # The checks' labels are noise: a Gaussian kernel has its optimum near f = 0 there, millions of steps away.
    [KernelNuSVC(nu=0.2, kernel="laplacian")],
    expected_failed_checks=lambda model: {
        "check_class_weight_classifiers": "a class whose weight is a ten-millionth of the other's makes nu infeasible"
    },
)
def test_scikit_learn_check(estimator, check):
    if "sample_weight_equivalence" in check.func.__name__:
        estimator.set_params(tol=1e-9)  # two fits are compared at 1e-7
    check(estimator)
