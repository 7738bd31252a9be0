"""ROCSVCCV: folds, the curve of AUCs, the alpha chosen."""

import warnings

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold

from kernbench import ROCSVC, ROCSVCCV
from kernbench.metrics import roc_auc

ALPHAS = [1e-4, 1e-2, 1.0]
VARIANTS = [
    {},
    {"kernel": "rbf"},
    {"kernel": "rbf", "n_landmarks": 20},
    {"kernel": "rbf", "features": "random", "n_features": 32},
    {"loss": "squared"},
    {"pairs": "n_samples", "solver": "newton"},
]


def problem(n=200):
    return make_classification(n, 6, n_informative=3, weights=[0.75], flip_y=0.05, random_state=0)


@pytest.mark.parametrize("settings", VARIANTS)
def test_curve_is_that_of_fits_to_the_folds(settings):
    X, y = problem()
    model = ROCSVCCV(alphas=ALPHAS, cv=3, tol=1e-6, random_state=0, **settings).fit(X, y)
    expected = [
        [
            roc_auc(y[test], ROCSVC(alpha=alpha, tol=1e-6, random_state=0, **settings).fit(X[train], y[train])
                    .decision_function(X[test]))
            for alpha in sorted(ALPHAS, reverse=True)
        ]
        for train, test in StratifiedKFold(3).split(X, y)
    ]  # fmt: skip
    np.testing.assert_array_equal(model.alphas_, sorted(ALPHAS, reverse=True))
    np.testing.assert_allclose(model.auc_path_, expected, atol=2e-3)
    np.testing.assert_allclose(model.mean_auc_, model.auc_path_.mean(axis=0))
    np.testing.assert_allclose(model.standard_error_, model.auc_path_.std(axis=0, ddof=1) / np.sqrt(3))
    assert model.alpha_ == model.alphas_[model.mean_auc_.argmax()]


@pytest.mark.parametrize("settings", VARIANTS)
def test_model_is_the_fit_to_all_rows(settings):
    X, y = problem()
    model = ROCSVCCV(alphas=ALPHAS, cv=3, random_state=0, threshold=("sensitivity", 0.9), **settings).fit(X, y)
    single = ROCSVC(alpha=model.alpha_, random_state=0, threshold=("sensitivity", 0.9), **settings).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), single.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), single.predict(X))
    assert model.objective_ == single.objective_ and model.trace_.keys() == single.trace_.keys()


def test_of_equal_means_the_largest_alpha_and_with_one_standard_error_a_larger():
    X = np.repeat([[-1.0], [1.0]], 20, axis=0)
    model = ROCSVCCV(alphas=ALPHAS).fit(X, np.repeat([0, 1], 20))
    assert np.all(model.mean_auc_ == 1) and model.alpha_ == 1.0
    X, y = problem()
    best, cautious = (ROCSVCCV("rbf", selection=rule, random_state=0).fit(X, y) for rule in ("best", "1se"))
    k, best_k = (np.flatnonzero(best.alphas_ == m.alpha_)[0] for m in (cautious, best))
    assert k <= best_k
    assert best.mean_auc_[k] >= best.mean_auc_[best_k] - best.standard_error_[best_k]
    assert np.all(best.mean_auc_[:k] < best.mean_auc_[best_k] - best.standard_error_[best_k])


def test_one_standard_error_is_that_of_the_score_that_decides_alone():
    X, y = problem()
    settings = {"alphas": ALPHAS, "cv": 3, "selection": "1se", "random_state": 0}
    alone = ROCSVCCV(scoring="roc_auc", **settings).fit(X, y)
    # The columns of the other end with the name of this one; it is largest for the smallest alpha.
    other = {"last_test_auc": lambda model, X, y: float(np.ptp(model.decision_function(X))) ** 4}
    both = ROCSVCCV(scoring={"auc": "roc_auc", **other}, refit="auc", **settings).fit(X, y)
    assert both.cv_results_["mean_test_last_test_auc"].argmax() == 2 != alone.best_index_
    assert both.alpha_ == alone.alpha_


def test_one_standard_error_needs_a_score_that_is_finite():
    X, y = problem(60)
    search = ROCSVCCV(alphas=ALPHAS, cv=2, selection="1se", scoring=lambda model, X, y: np.nan)
    with pytest.raises(ValueError, match="selection='1se' needs a cell with a finite score"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y)


@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.slow), "threading"])
def test_jobs_do_not_matter(backend):
    X, y = problem()
    with parallel_config(backend=backend):
        curves = [ROCSVCCV("rbf", alphas=ALPHAS, cv=3, n_jobs=n).fit(X, y).auc_path_ for n in (None, 2)]
    np.testing.assert_array_equal(*curves)


def test_default_alphas_are_half_decades():
    X, y = problem(100)
    np.testing.assert_allclose(ROCSVCCV(cv=2).fit(X, y).alphas_, 10.0 ** np.arange(1, -4.5, -0.5))


def test_precomputed_kernel_is_cut_by_rows_and_columns():
    X, y = problem()
    K = X @ X.T
    given = ROCSVCCV("precomputed", alphas=ALPHAS, cv=3, solver="newton", tol=1e-9).fit(K, y)
    linear = ROCSVCCV(alphas=ALPHAS, cv=3, solver="newton", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(given.auc_path_, linear.auc_path_, atol=2e-3)


def test_weights_of_rows_count_in_the_curve():
    X, y = problem()
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    plain = ROCSVCCV(alphas=ALPHAS, cv=3).fit(X, y)
    weighted = ROCSVCCV(alphas=ALPHAS, cv=3).fit(X, y, sample_weight=weights)
    assert not np.allclose(plain.auc_path_, weighted.auc_path_)
    ones = ROCSVCCV(alphas=ALPHAS, cv=3).fit(X, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_allclose(ones.auc_path_, plain.auc_path_, atol=1e-9)


def test_second_fit_forgets_the_first():
    X, y = problem()
    model = ROCSVCCV("rbf", alphas=ALPHAS, cv=3).fit(X, y)
    assert hasattr(model, "dual_coef_")
    model.set_params(kernel="linear").fit(X, y)
    assert not hasattr(model, "dual_coef_") and model.coef_.shape == (1, 6)


@pytest.mark.parametrize("settings", [{}, {"kernel": "rbf"}])
@pytest.mark.parametrize("as_list", [True, False], ids=["indices", "splitter"])
def test_folds_count_the_rows_given_to_fit_also_those_of_weight_0(settings, as_list):
    X, y = problem()
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    folds = list(splitter.split(X, y))
    model = ROCSVCCV(alphas=ALPHAS, cv=folds if as_list else splitter, tol=1e-8, **settings)
    model.fit(X, y, sample_weight=weights)

    def auc(train, test, alpha):
        single = ROCSVC(alpha=alpha, tol=1e-8, **settings).fit(X[train], y[train], sample_weight=weights[train])
        return roc_auc(y[test], single.decision_function(X[test]), sample_weight=weights[test])

    expected = [[auc(*fold, alpha) for alpha in sorted(ALPHAS, reverse=True)] for fold in folds]
    np.testing.assert_allclose(model.auc_path_, expected, atol=2e-3)


def test_a_fold_of_one_class_among_rows_of_positive_weight_is_refused():
    X, y = problem(60)
    folds = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    weights = np.where((np.arange(60) < 30) & (y == 1), 0.0, 1.0)
    with pytest.raises(ValueError, match="fold 0 of cv has a part whose rows of positive weight"):
        ROCSVCCV(cv=folds).fit(X, y, sample_weight=weights)
