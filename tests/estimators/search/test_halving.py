"""search="halving": the better cells of each round go on to more rows, and the last ones have the scores of all."""

from types import SimpleNamespace

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import load_breast_cancer, load_digits, make_classification, make_moons
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, LeaveOneOut, StratifiedKFold
from sklearn.preprocessing import scale

from kernbench import KernelSVC, KernelSVCCV, kernels
from kernbench.estimators.search import halving
from kernbench.estimators.search.folds import Examples, Fold
from kernbench.estimators.search.halving import Halving, mean_area, ranking, sizes
from kernbench.estimators.search.held_out import HeldOut
from kernbench.estimators.search.subsamples import nested_order
from kernbench.solvers import progress

CS, GAMMAS = [0.01, 0.1, 1.0, 10.0], [0.001, 0.05, 5.0]
EXTRA = {"dropped_after", "dropped_score", "dropped_against"}


def noisy(n=900, n_classes=2, **options):
    options = {"n_informative": 4, "n_redundant": 0, "flip_y": 0.1, "random_state": 0} | options
    return make_classification(n, 6, n_classes=n_classes, **options)


DATA = {
    "noisy": noisy,
    "three classes": lambda: noisy(n_classes=3),
    "moons": lambda: make_moons(900, noise=0.3, random_state=0),
    "cancer": lambda: load_breast_cancer(return_X_y=True),
    "ten classes": lambda: [part[:1000] for part in load_digits(return_X_y=True)],
    "rare class": lambda: noisy(weights=[0.9]),
}


def finalists(search):
    return np.array([after is None for after in search.cv_results_["dropped_after"]])


@pytest.mark.parametrize("name", DATA)
def test_finalists_have_the_scores_of_the_exact_search_and_hold_a_good_one(name):
    X, y = DATA[name]()
    settings = {"Cs": CS, "gammas": GAMMAS, "cv": 5, "tol": 1e-4}
    exact = KernelSVCCV(**settings).fit(scale(X), y)
    found = KernelSVCCV(**settings, search="halving", random_state=0).fit(scale(X), y)
    table, left = found.cv_results_, finalists(found)
    assert 2 <= left.sum() <= 4 and left[found.best_index_]
    for k in range(5):
        mine, theirs = (one.cv_results_[f"split{k}_test_score"] for one in (found, exact))
        assert np.array_equal(np.isnan(mine), ~left)
        assert np.abs(mine - theirs)[left].max() <= 1.01 / (len(y) // 5)
    best = exact.best_score_
    assert exact.cv_results_["mean_test_score"][found.best_index_] >= best - 2 * np.sqrt(best * (1 - best) / len(y))
    assert set(table) - set(exact.cv_results_) == EXTRA
    alone = KernelSVC(tol=1e-4, **found.best_params_).fit(scale(X), y)
    assert np.mean(found.predict(scale(X)) == alone.predict(scale(X))) >= 0.995


def test_a_dropped_cell_has_its_score_and_a_better_one_of_the_same_rows():
    X, y = noisy(5000)
    found = KernelSVCCV(CS, GAMMAS, cv=4, search="halving", random_state=0).fit(X, y)
    table, left = found.cv_results_, finalists(found)
    rows = [None if after is None else int(after.removesuffix(" rows")) for after in table["dropped_after"]]
    assert sorted({size for size in rows if size}) == [555, 1666] and [rows.count(size) for size in (555, 1666)] == [
        8,
        2,
    ]
    assert np.isfinite(table["dropped_score"][~left]).all() and np.isnan(table["dropped_score"][left]).all()
    for k in np.flatnonzero(~left):
        other = table["dropped_against"][k]
        assert rows[other] is None or rows[other] > rows[k]
    assert np.all(table["dropped_against"][left] == -1)


def test_rounds_are_those_of_the_share_of_cells_that_stay():
    assert sizes(50, 3, 10_000, 200) == [370, 1111, 3333]
    assert sizes(50, 3, 10_000, 667) == [667, 1111, 3333]  # at least so many rows
    assert sizes(50, 3, 1297, 200) == [200, 432] and sizes(50, 3, 200, 200) == []
    assert sizes(9, 3, 10_000, 200) == [3333] and sizes(3, 3, 10_000, 200) == []
    assert sizes(9, 2.0, 10_000, 200) == [1250, 2500, 5000]
    assert sizes(2, 1.5, 10_000, 200) == [6666] and len(sizes(4, np.nextafter(1.0, 2.0), 10_000, 200)) == 3


def test_subsamples_are_nested_and_hold_each_stratum_in_proportion():
    strata = np.random.default_rng(0).choice(4, 1000, p=[0.5, 0.3, 0.15, 0.05])
    order = nested_order(strata, np.random.RandomState(0))
    assert sorted(order) == list(range(1000))
    for size in (40, 200, 333):
        counts = np.bincount(strata[order[:size]], minlength=4)
        assert np.abs(counts - np.bincount(strata) * size / 1000).max() <= 1.0


@pytest.mark.parametrize(
    ("settings", "n", "least"),
    [
        ({}, 150, 500),
        ({"cv": LeaveOneOut(), "Cs": [1.0, 10.0], "gammas": [0.05, 0.2]}, 60, 20),
        ({"factor": 100}, 600, 500),
    ],
    ids=["few rows", "one row held out", "few cells"],
)
def test_where_nothing_can_be_dropped_it_is_an_exact_search(settings, n, least, monkeypatch):
    monkeypatch.setattr(halving, "LEAST_ROWS", least)
    X, y = noisy(n)
    settings = {"Cs": CS, "gammas": GAMMAS, "cv": 3, "tol": 1e-5} | settings
    exact = KernelSVCCV(**{name: value for name, value in settings.items() if name != "factor"}).fit(X, y)
    found = KernelSVCCV(**settings, search="halving").fit(X, y)
    assert finalists(found).all() and found.best_params_ == exact.best_params_
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], exact.cv_results_["mean_test_score"], atol=1e-9)


def test_a_rare_class_stays_in_each_held_out_part():
    """Of 3,000 rows 30 are positive, 6 in each of 5 parts: no round has fewer than a third of the rows."""
    X, y = noisy(3000)
    y = np.zeros(3000, dtype=int)
    y[np.argsort(-X[:, 0])[:30]] = 1
    found = KernelSVCCV(CS, GAMMAS, cv=5, scoring="roc_auc", search="halving", random_state=0).fit(X, y)
    rows = {int(after.removesuffix(" rows")) for after in found.cv_results_["dropped_after"] if after is not None}
    assert rows == {1000} and np.isfinite(found.cv_results_["dropped_score"][~finalists(found)]).all()


def test_a_stratum_is_of_one_class_in_one_held_out_part_with_or_without_weight():
    codes, part, used = np.repeat([0, 1], 12), np.arange(24) % 3, np.arange(24) % 4 > 0
    folds = [Fold(np.flatnonzero(part != j), np.flatnonzero(part == j)) for j in range(3)]
    strata = Halving._strata(SimpleNamespace(examples=SimpleNamespace(codes=codes, used=used), folds=folds))
    assert len(set(strata)) == len(set(zip(strata, codes, part, used))) == 12


def test_cells_without_a_score_are_dropped_before_others():
    def of_both_classes(model, X, y):
        labels = model.predict(X)
        return float(np.mean(labels == y)) if len(np.unique(labels)) == 2 else np.nan

    X, y = noisy(weights=[0.7])
    settings = {"cv": 3, "factor": 2, "search": "halving", "random_state": 0, "scoring": of_both_classes}
    found = KernelSVCCV([1e-6, 1e-5, 1.0, 10.0], [0.05], **settings).fit(X, y)
    assert np.isnan(found.cv_results_["dropped_score"]).all()
    assert finalists(found).tolist() == [False, False, True, True]


def test_ties_are_decided_only_where_some_of_equal_cells_stay_and_others_do_not():
    scores = {0: 0.9, 1: 0.7, 2: np.nan, 3: 0.9, 4: 0.7, 5: 0.7}
    areas = {1: 0.5, 4: 0.8, 5: 0.8}
    assert ranking(scores, 3, areas.__getitem__) == [0, 3, 4, 5, 1, 2]
    for n_kept in (2, 5, 6):
        assert ranking(scores, n_kept, None) == [0, 3, 1, 4, 5, 2]
    assert ranking(dict.fromkeys(range(3), np.nan), 1, [0.1, 0.3, 0.2].__getitem__) == [1, 2, 0]


def test_the_mean_area_is_that_of_each_class_of_the_rows_that_are_held_out_and_have_weight():
    rng = np.random.default_rng(0)
    codes, values = rng.integers(3, size=60), rng.normal(size=(60, 3))
    weights = np.where(np.arange(60) % 5 == 0, 0.0, rng.uniform(0.5, 2.0, size=60))
    folds = [Fold(np.arange(20, 60), np.arange(10)), Fold(np.arange(20), np.arange(30, 60))]
    kept = np.setdiff1d(np.concatenate([np.arange(10), np.arange(30, 60)]), np.arange(0, 60, 5))
    examples = Examples(None, codes, weights, np.arange(3), codes, weights)
    found = mean_area(HeldOut.of_classes(values, np.arange(3), codes), folds, examples)
    areas = [roc_auc_score(codes[kept] == k, values[kept, k], sample_weight=weights[kept]) for k in range(3)]
    assert found == pytest.approx(np.mean(areas), abs=1e-12)
    two = Examples(None, codes > 0, None, np.arange(2), (codes > 0).astype(int))
    rows = np.concatenate([np.arange(10), np.arange(30, 60)])
    found = mean_area(HeldOut.of_classes(values[:, 0], np.arange(2), codes > 0), folds, two)
    assert found == pytest.approx(roc_auc_score(codes[rows] > 0, values[rows, 0]), abs=1e-12)
    alone = Examples(None, codes, None, np.arange(2), np.zeros(60, dtype=int))
    assert mean_area(HeldOut.of_classes(values[:, 0], np.arange(2), codes), folds, alone) == 0.5


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_a_rare_class_does_not_end_in_a_constant_model(seed):
    """On few rows nearly all cells predict the frequent class; on all rows, too, those that are first in the grid."""
    X, y = make_classification(5000, 12, n_informative=8, n_redundant=0, n_clusters_per_class=4, weights=[0.97],
                               flip_y=0.0, random_state=seed)  # fmt: skip
    settings = {"cv": 5, "search": "halving", "random_state": seed}
    found = KernelSVCCV([0.1, 0.3, 1.0, 3.0, 10.0], [0.001, 0.003, 0.01, 0.03, 0.1], **settings).fit(X, y)
    assert finalists(found).sum() == 3 and found.best_score_ > np.mean(y == 0) + 0.005


def test_folds_without_a_class_are_scored_on_subsamples_as_on_all_rows():
    X, y = noisy(900)
    order = np.argsort(y, kind="stable")
    X, y, groups = X[order], y[order], np.repeat(np.arange(9), 100)
    found = KernelSVCCV(CS, GAMMAS, cv=GroupKFold(3), search="halving").fit(X, y, groups=groups)
    assert not finalists(found).all() and np.isfinite(found.best_score_)


def test_rows_without_weight_are_in_no_way_part_of_it():
    X, y = noisy(1800)
    weights = np.repeat([1.0, 0.0], 900)
    folds = list(StratifiedKFold(3).split(X[:900], y[:900]))
    settings = {"Cs": CS, "gammas": [0.05, 5.0], "cv": folds, "tol": 1e-5, "search": "halving", "random_state": 0}
    weighted = KernelSVCCV(**settings).fit(X, y, sample_weight=weights)
    assert not finalists(weighted).all()
    exact = KernelSVCCV(CS, [0.05, 5.0], cv=folds, tol=1e-5).fit(X[:900], y[:900])
    left = finalists(weighted)
    mine, theirs = (one.cv_results_["mean_test_score"][left] for one in (weighted, exact))
    np.testing.assert_allclose(mine, theirs, atol=1.01 / 300)


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_brier_score", "balanced_accuracy"])
def test_any_score_decides(scoring):
    X, y = noisy(600)
    calibration = "sigmoid" if "brier" in scoring else None
    settings = {"Cs": CS, "gammas": GAMMAS, "cv": 3, "scoring": scoring, "calibration": calibration, "tol": 1e-4}
    exact = KernelSVCCV(**settings).fit(X, y)
    found = KernelSVCCV(**settings, search="halving", random_state=0).fit(X, y)
    assert found.best_score_ == pytest.approx(exact.cv_results_["mean_test_score"][found.best_index_], abs=2e-3)
    assert found.best_score_ >= exact.best_score_ - 0.02


def test_of_several_scores_refit_names_the_one_that_decides():
    X, y = noisy(600)
    settings = {"Cs": CS, "gammas": GAMMAS, "cv": 3, "scoring": ["accuracy", "roc_auc"], "search": "halving"}
    found = KernelSVCCV(**settings, refit="roc_auc", random_state=0).fit(X, y)
    assert np.isfinite(found.cv_results_["mean_test_accuracy"][finalists(found)]).all()
    for refit in (False, lambda table: 0):
        with pytest.raises(ValueError, match=r"name it by refit, or choose search='exact'.*accuracy, roc_auc"):
            KernelSVCCV(**settings, refit=refit).fit(X, y)


def test_a_function_takes_one_of_the_finalists():
    X, y = noisy(600)
    found = KernelSVCCV(CS, GAMMAS, cv=3, search="halving", random_state=0,
                        refit=lambda table: int(np.nanargmin(table["mean_test_score"]))).fit(X, y)  # fmt: skip
    assert finalists(found)[found.best_index_]
    with pytest.raises(ValueError, match="a cell that was not finished"):
        KernelSVCCV(CS, GAMMAS, cv=3, search="halving", random_state=0,
                    refit=lambda table: int(np.argmax(~np.isnan(table["dropped_score"])))).fit(X, y)  # fmt: skip


def test_a_precomputed_matrix_and_sparse_rows_are_cut_as_dense_rows_are():
    from scipy.sparse import csr_array

    X, y = noisy(900)
    settings = {"cv": 4, "tol": 1e-6, "search": "halving", "random_state": 0, "dtype": "float64"}
    of_rows = KernelSVCCV(CS, [0.05], factor=2, **settings).fit(X, y)
    K = kernels.Gaussian(sigma=np.sqrt(0.5 / 0.05))
    matrix = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * K.sigma**2))
    of_matrix = KernelSVCCV(CS, factor=2, kernel="precomputed", **settings).fit(matrix, y)
    sparse = KernelSVCCV(CS, [0.05], factor=2, **settings).fit(csr_array(X), y)
    assert not finalists(of_rows).all()
    for other in (of_matrix, sparse):
        assert np.array_equal(finalists(other), finalists(of_rows))
        assert other.best_params_["C"] == of_rows.best_params_["C"]
        np.testing.assert_allclose(other.oof_decision_, of_rows.oof_decision_, atol=1e-3)


def test_the_kernel_of_a_subsample_is_that_of_all_rows():
    """ "scale" of a subsample would be another width."""
    X, y = noisy(900)
    resolved = 1.0 / (X.shape[1] * X.var())
    by_name, by_value = (
        KernelSVCCV(CS, [gamma], cv=3, factor=2, search="halving", random_state=0).fit(X, y)
        for gamma in ("scale", resolved)
    )
    np.testing.assert_allclose(by_name.cv_results_["dropped_score"], by_value.cv_results_["dropped_score"], atol=1e-12)


@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.slow), "threading"])
def test_the_same_seed_gives_the_same_table_and_workers_change_nothing(backend):
    X, y = noisy(900)
    settings = {"Cs": CS, "gammas": GAMMAS, "cv": 3, "search": "halving", "random_state": 5}
    with parallel_config(backend=backend):
        one, same = (KernelSVCCV(**settings, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 2))
    for name in ("mean_test_score", "dropped_score", "dropped_against"):
        np.testing.assert_array_equal(one.cv_results_[name], same.cv_results_[name])
    np.testing.assert_allclose(one.decision_function(X), same.decision_function(X), atol=1e-3)


def test_finalists_are_found_again(tmp_path):
    X, y = noisy(900)
    settings = {"Cs": CS, "gammas": GAMMAS, "cv": 3, "search": "halving", "random_state": 0, "memory": tmp_path}
    first = KernelSVCCV(**settings).fit(X, y)
    n_stored = len(list(tmp_path.iterdir()))
    again = KernelSVCCV(**settings).fit(X, y)
    assert n_stored == finalists(first).sum() == len(list(tmp_path.iterdir()))
    np.testing.assert_array_equal(again.oof_decision_, first.oof_decision_)
    np.testing.assert_array_equal(again.cv_results_["mean_fit_time"], first.cv_results_["mean_fit_time"])


def test_without_a_seed_a_search_that_keeps_cells_draws_the_same_subsamples_again():
    X, y = noisy(1200)
    settings = {"Cs": CS, "gammas": GAMMAS, "cv": 2, "search": "halving", "warm_start": True}
    one, same = (KernelSVCCV(**settings).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.cv_results_["dropped_score"], same.cv_results_["dropped_score"])


def test_a_search_out_of_time_before_its_last_round_says_what_to_change():
    X, y = noisy(3000)
    with pytest.raises(ValueError, match="max_seconds=1e-06 ended the search before its first cell"):
        KernelSVCCV(CS, GAMMAS, search="halving", max_seconds=1e-6).fit(X, y)


def test_the_progress_bar_counts_dropped_cells_and_names_the_leader_of_a_round(monkeypatch):
    texts, ticks = [], []
    monkeypatch.setattr(progress._Bar, "describe", lambda self, text: texts.append(text))
    monkeypatch.setattr(progress._Bar, "tick", lambda self, done: ticks.append(done))
    X, y = noisy(900)
    found = KernelSVCCV(CS, GAMMAS, cv=3, search="halving", random_state=0, verbose=1).fit(X, y)
    assert texts[0].startswith("500 rows, best 0.") and texts[1].startswith("best 0.")
    C, gamma = found.best_params_["C"], found.best_params_["gamma"]
    assert texts[-1] == f"best {found.best_score_:.4g} at C={C:g}, gamma={gamma}"
    assert ticks[:5] == [8, 9, 10, 11, 12]


@pytest.mark.parametrize("factor", [1.0, 0.5, np.inf, "three", None])
def test_bad_factors_are_refused(factor):
    with pytest.raises(ValueError, match="factor must be a"):
        KernelSVCCV([1.0], [0.1], cv=2, search="halving", factor=factor).fit(*noisy(60))
