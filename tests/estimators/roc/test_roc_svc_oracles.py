"""ROCSVC finds optima that are known: worked numbers, closed forms, brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel

from kernbench import ROCSVC
from kernbench.estimators.roc.scores import weights_of
from kernbench.kernels import Gaussian
from kernbench.metrics import roc_auc

TINY_X = np.array([[2.0, 0], [0, 1], [0, 0], [1, 1], [-1, 0]])
TINY_Y = np.array([1, 1, 0, 0, 0])
exact_solvers = pytest.mark.parametrize("solver", ["bundle", "newton"])
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def radial(n=300, seed=0, d=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (np.square(X[:, :2]).sum(axis=1) + rng.standard_normal(n) > 3.5).astype(int)


def objective(scores, y, alpha, norm2, power=1):
    margins = 1 - np.subtract.outer(scores[y == 1], scores[y == 0])
    return 0.5 * alpha * norm2 + np.mean(np.maximum(margins, 0) ** power)


@pytest.mark.parametrize(
    ("alpha", "coef", "optimum"),
    [(0.1, (0.5, 0.5), 0.525), (1, (0.5, 1 / 6), 0.694444444), (10, (0.1, 1 / 60), 0.948611111)],
)
@pytest.mark.parametrize("solver", ["bundle", "adamax", "gradient"])
@quiet
def test_worked_example(alpha, coef, optimum, solver):
    exact = solver == "bundle"
    model = ROCSVC(alpha=alpha, solver=solver, tol=1e-9, max_iter=-1 if exact else 20_000).fit(TINY_X, TINY_Y)
    assert model.objective_ == pytest.approx(optimum, abs=1e-7 if exact else 1e-3)
    np.testing.assert_allclose(model.coef_, [coef], atol=1e-3 if exact else 0.03)
    assert model.objective_ - model.duality_gap_ <= optimum + 1e-9


@pytest.mark.parametrize("settings", [{}, {"features": "nystroem"}, {"features": "random"}, {"features": "exact"}])
def test_strong_regularisation_gives_the_difference_of_the_means(settings):
    # From alpha = max over pairs of <D, x_i - x_j> on, every pair is short of the margin and w = D / alpha.
    X, y = radial(60)
    alpha = 10.0
    model = ROCSVC("rbf", alpha=alpha, tol=1e-10, random_state=0, **settings).fit(X, y)
    if model.feature_map_ is None:
        f = np.zeros(len(X))
        f[model.support_] = model.dual_coef_[0]
        np.testing.assert_allclose(f, np.where(y == 1, 1 / y.sum(), -1 / (1 - y).sum()) / alpha, rtol=1e-4)
        return
    V = model.feature_map_.transform(X)
    difference = V[y == 1].mean(axis=0) - V[y == 0].mean(axis=0)
    np.testing.assert_allclose(model.feature_coef_[0], difference / alpha, rtol=1e-6, atol=1e-12)
    assert model.objective_ == pytest.approx(1 - difference @ difference / (2 * alpha), rel=1e-9)


def test_all_rows_as_landmarks_give_the_exact_kernel():
    X, y = radial(150)
    exact = ROCSVC(Gaussian(0.8), features="exact", alpha=1e-2, tol=1e-9, solver="newton").fit(X, y)
    landmarks = ROCSVC(Gaussian(0.8), n_landmarks=150, alpha=1e-2, tol=1e-9, solver="newton").fit(X, y)
    X_new, _ = radial(50, seed=1)
    np.testing.assert_allclose(landmarks.decision_function(X_new), exact.decision_function(X_new), atol=1e-3)
    assert landmarks.objective_ == pytest.approx(exact.objective_, rel=1e-6)


def test_precomputed_kernel_is_the_kernel():
    X, y = radial(150)
    X_new, _ = radial(50, seed=1)
    model = ROCSVC(Gaussian(0.8), features="exact", alpha=1e-2).fit(X, y)
    given = ROCSVC("precomputed", alpha=1e-2).fit(rbf_kernel(X, gamma=0.5 / 0.64), y)
    expected = model.decision_function(X_new)
    np.testing.assert_allclose(given.decision_function(rbf_kernel(X_new, X, gamma=0.5 / 0.64)), expected, atol=1e-4)


@exact_solvers
@pytest.mark.parametrize("settings", [{}, {"kernel": "rbf", "n_landmarks": 20}, {"kernel": "rbf", "features": "exact"}])
def test_objective_is_that_of_the_model_and_the_gap_bounds_it(solver, settings):
    X, y = radial(200, d=4)
    model = ROCSVC(alpha=1e-2, solver=solver, random_state=0, **settings).fit(X, y)
    scores = model.decision_function(X)
    if model.features_ == "exact":
        own = model.decision_function(model.support_vectors_) - model.intercept_
        norm2 = model.dual_coef_[0] @ own
    else:
        norm2 = np.sum(weights_of(model) ** 2)
    power = 2 if model.loss_ == "squared_hinge" else 1
    assert model.objective_ == pytest.approx(objective(scores, y, 1e-2, norm2, power), rel=1e-6)
    assert 0 <= model.duality_gap_ <= 1e-3 * model.objective_
    best = ROCSVC(alpha=1e-2, solver=solver, random_state=0, tol=1e-8, **settings).fit(X, y)
    assert model.objective_ - model.duality_gap_ <= best.objective_ <= model.objective_ + 1e-12


@pytest.mark.parametrize("pairs", ["all", 500])
def test_solvers_of_the_logistic_loss_find_one_minimiser(pairs):
    X, y = radial(200, d=4)
    settings = {"loss": "log_loss", "alpha": 1e-2, "pairs": pairs, "random_state": 0, "tol": 1e-8}
    bundle, newton = (ROCSVC(solver=solver, **settings).fit(X, y) for solver in ("bundle", "newton"))
    assert newton.loss_ == "log_loss"
    np.testing.assert_allclose(bundle.coef_, newton.coef_, rtol=1e-3, atol=1e-5)
    if pairs == "all":
        scores, positive = newton.decision_function(X), y == 1
        losses = np.logaddexp(0, scores[~positive] - scores[positive][:, None])
        assert newton.objective_ == pytest.approx(losses.mean() + 0.005 * np.sum(newton.coef_**2), rel=1e-10)


@pytest.mark.parametrize("settings", [{}, {"kernel": "rbf"}, {"kernel": "rbf", "features": "random", "n_features": 20}])
def test_squared_loss_is_minimised_in_closed_form(settings):
    X, y = radial(80, d=3)
    w = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = ROCSVC(loss="squared", alpha=0.05, random_state=0, **settings).fit(X, y, sample_weight=w)
    V = X if model.feature_map_ is None else model.feature_map_.transform(X)
    pairs = np.outer(w[y == 1], w[y == 0])

    def brute_force(coef):
        s = V @ coef
        u = 1 - np.subtract.outer(s[y == 1], s[y == 0])
        return 0.025 * coef @ coef + np.sum(pairs * u**2) / pairs.sum()

    best = minimize(brute_force, np.zeros(V.shape[1]), method="BFGS", options={"gtol": 1e-9})
    assert model.objective_ == pytest.approx(best.fun, rel=1e-6)
    assert model.objective_ == pytest.approx(brute_force(weights_of(model)), rel=1e-9)
    assert model.converged_ and 0 <= model.duality_gap_ <= 1e-9 * model.objective_ and model.n_iter_ == 1


def test_roc_auc_agrees_with_scikit_learn():
    X, y = radial(400)
    scores = ROCSVC("rbf", random_state=0).fit(X, y).decision_function(X)
    assert roc_auc(y, scores) == pytest.approx(roc_auc_score(y, scores), abs=1e-12)
    assert roc_auc(y, scores) > 0.9


def test_ranks_better_than_chance_where_no_line_does():
    X, y = radial(2000)
    X_new, y_new = radial(2000, seed=1)
    assert abs(roc_auc(y_new, ROCSVC().fit(X, y).decision_function(X_new)) - 0.5) < 0.1
    for settings in ({}, {"n_landmarks": 30}, {"features": "random"}, {"n_landmarks": 30, "landmarks": "kmeans"}):
        model = ROCSVC("rbf", random_state=0, **settings).fit(X, y)
        assert roc_auc(y_new, model.decision_function(X_new)) > 0.94


def test_drawn_pairs_approach_all_pairs():
    X, y = radial(400, d=5)
    whole = ROCSVC(alpha=0.1, tol=1e-6).fit(X, y).coef_
    errors = [
        np.mean([np.linalg.norm(ROCSVC(alpha=0.1, tol=1e-6, pairs=n, random_state=s).fit(X, y).coef_ - whole)
                 for s in range(5)])
        for n in (100, 100_000)
    ]  # fmt: skip
    assert errors[1] < 0.2 * errors[0]


@pytest.mark.parametrize(
    "solver, loss",
    [
        ("bundle", "hinge"),
        ("bundle", "squared_hinge"),
        ("newton", "squared_hinge"),
        ("bundle", "log_loss"),
        ("newton", "log_loss"),
    ],
)
@pytest.mark.parametrize("n", [300, 30_000])
def test_a_large_alpha_still_ranks_along_the_difference_of_the_means(solver, loss, n):
    # The objective at 0 is within tol of the optimum there, but 0 ranks nothing.
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) % 5 == 0)
    X = rng.standard_normal((n, 4)) + 0.5 * y[:, None]
    w = ROCSVC(alpha=1e6, solver=solver, loss=loss, random_state=0).fit(X, y).coef_.ravel()
    difference = X[y].mean(axis=0) - X[~y].mean(axis=0)
    assert w @ difference > 0.99 * np.linalg.norm(w) * np.linalg.norm(difference) > 0
