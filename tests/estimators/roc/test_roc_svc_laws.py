"""Laws of ROCSVC for any data: weights, order, units, paths."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from kernbench import ROCSVC

exact_variants = pytest.mark.parametrize(
    "settings",
    [
        {"solver": "bundle"},
        {"solver": "newton"},
        {"loss": "squared"},
        {"kernel": "rbf", "features": "exact", "solver": "newton"},
        {"kernel": "rbf", "features": "random", "n_features": 16, "solver": "newton"},
    ],
)


def problem(n=120, seed=0):
    return make_classification(n, 5, weights=[0.75], flip_y=0.1, random_state=seed)


@exact_variants
def test_weight_k_equals_repeat_k(settings):
    X, y = problem()
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    repeated = ROCSVC(alpha=1e-2, tol=1e-9, random_state=0, **settings).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    weighted = ROCSVC(alpha=1e-2, tol=1e-9, random_state=0, **settings).fit(X, y, sample_weight=weights)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-7)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=2e-3)


@exact_variants
def test_order_of_the_rows_does_not_matter(settings):
    X, y = problem()
    order = np.random.default_rng(1).permutation(len(y))
    model = ROCSVC(alpha=1e-2, tol=1e-9, random_state=0, **settings).fit(X, y)
    other = ROCSVC(alpha=1e-2, tol=1e-9, random_state=0, **settings).fit(X[order], y[order])
    assert other.objective_ == pytest.approx(model.objective_, rel=1e-7)
    np.testing.assert_allclose(other.decision_function(X), model.decision_function(X), atol=2e-3)


@exact_variants
def test_factors_of_the_weights_change_nothing(settings):
    # Of all weights, and of those of a class: there is no class_weight because it would have no effect.
    X, y = problem()
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = ROCSVC(tol=1e-9, random_state=0, threshold=0.0, gamma=0.5, **settings)
    expected = model.fit(X, y, sample_weight=weights).decision_function(X)
    for factors in (np.full(len(y), 1e-3), np.where(y == 1, 8.0, 1.0)):
        scaled = model.fit(X, y, sample_weight=weights * factors).decision_function(X)
        np.testing.assert_allclose(scaled, expected, atol=2e-3)


def test_swapped_classes_swap_the_sign():
    X, y = problem()
    model, other = (ROCSVC(tol=1e-9, threshold=0.0).fit(X, labels) for labels in (y, 1 - y))
    np.testing.assert_allclose(other.coef_, -model.coef_, atol=1e-4)


def test_units_of_the_features_are_a_matter_of_alpha():
    X, y = problem()
    model = ROCSVC(alpha=1e-2, tol=1e-9, threshold=0.0).fit(X, y)
    other = ROCSVC(alpha=1e-2 * 16, tol=1e-9, threshold=0.0).fit(4 * X, y)
    np.testing.assert_allclose(other.decision_function(4 * X), model.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("solver", ["bundle", "newton"])
def test_shifted_rows_have_shifted_scores(solver):
    X, y = problem()
    model = ROCSVC(tol=1e-9, solver=solver).fit(X, y)
    other = ROCSVC(tol=1e-9, solver=solver).fit(X + 5.0, y)
    np.testing.assert_allclose(other.coef_, model.coef_, atol=1e-4)
    np.testing.assert_array_equal(other.predict(X + 5.0), model.predict(X))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"solver": "newton"},
        {"loss": "squared"},
        {"pairs": "n_samples"},
        {"kernel": "rbf"},
        {"kernel": "rbf", "n_landmarks": 30},
        {"kernel": "rbf", "features": "random"},
    ],
)
def test_path_is_single_fits(settings):
    X, y = problem(200)
    alphas = [1e-3, 10.0, 1e-1, 1e-2]
    model = ROCSVC(tol=1e-5, random_state=0, **settings)
    path = model.path(X, y, alphas)
    assert [fitted.alpha for fitted in path] == alphas
    for fitted in path:
        single = ROCSVC(alpha=fitted.alpha, tol=1e-5, random_state=0, **settings).fit(X, y)
        assert fitted.converged_
        assert fitted.objective_ == pytest.approx(single.objective_, rel=2e-5)
        np.testing.assert_allclose(fitted.decision_function(X), single.decision_function(X), atol=0.1)
    assert not hasattr(model, "intercept_")


def test_path_takes_fewer_iterations_than_cold_fits():
    X, y = problem(500)
    alphas = np.geomspace(10, 1e-4, 20)
    path = ROCSVC("rbf", n_landmarks=60, random_state=0).path(X, y, alphas)
    assert len({id(model.feature_map_) for model in path}) == 1
    cold = [ROCSVC("rbf", n_landmarks=60, random_state=0, alpha=alpha).fit(X, y) for alpha in alphas]
    assert sum(m.n_iter_[0] for m in path) < 0.7 * sum(m.n_iter_[0] for m in cold)


def test_stronger_regularisation_means_smaller_functions():
    X, y = problem(200)
    norms = [np.linalg.norm(m.coef_) for m in ROCSVC(tol=1e-6).path(X, y, [1e-3, 1e-2, 1e-1, 1, 10])]
    assert np.all(np.diff(norms) < 0)
