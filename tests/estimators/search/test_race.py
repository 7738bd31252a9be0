"""search="race": a finalist has the scores of an exact search, a cell is dropped only where it is worse."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification, make_moons
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import scale

from kernbench import KernelSVCCV
from kernbench.estimators.search import halving, race
from kernbench.estimators.search.race import p_values

CS = [0.01, 0.1, 1.0, 10.0, 100.0]


def noisy(n=600, seed=0, n_classes=2):
    return make_classification(n, 6, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=seed)


def rings(n=600):
    X = np.random.default_rng(0).standard_normal((n, 3))
    return X, np.linalg.norm(X, axis=1) > 1.5


DATA = {
    "noisy": lambda: noisy(),
    "noise alone": lambda: (noisy()[0], np.random.default_rng(0).integers(0, 2, 600)),
    "three classes": lambda: noisy(450, n_classes=3),
    "moons": lambda: make_moons(500, noise=0.3, random_state=0),
    "rings": rings,
    "iris": lambda: load_iris(return_X_y=True),
    "cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: tuple(part[:600] for part in load_digits(n_class=3, return_X_y=True)),
    "rare class": lambda: make_classification(600, 6, n_informative=4, weights=[0.9], random_state=0),
    "linear": lambda: make_classification(500, 10, n_informative=10, n_redundant=0, class_sep=0.7, random_state=1),
}


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(race, "LEAST_ROWS", 50)


# Of sets that lead to the same kinds of races as others.
ALIKE = ("moons", "rings", "linear")


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in ALIKE else n for n in DATA])
def test_the_choice_is_within_one_standard_error_of_the_best(name):
    X, y = DATA[name]()
    X, gammas = scale(X), [0.001, 0.05, 5.0]
    exact = KernelSVCCV(CS, gammas, cv=5, tol=1e-4).fit(X, y)
    found = KernelSVCCV(CS, gammas, cv=5, tol=1e-4, search="race", random_state=0).fit(X, y)
    table, best = found.cv_results_, exact.best_score_
    assert exact.cv_results_["mean_test_score"][found.best_index_] >= best - np.sqrt(best * (1 - best) / len(y)) - 1e-9
    # Finalists have the scores of the exact search, and cells that were dropped those of the folds that were solved.
    dropped = table["dropped_after"] != None  # noqa: E711  of each entry
    assert np.array_equal(dropped, np.isnan(table["mean_test_score"])) and not dropped[found.best_index_]
    for k in range(5):
        mine, theirs = (one.cv_results_[f"split{k}_test_score"] for one in (found, exact))
        known = ~np.isnan(mine)
        assert known[~dropped].all() and np.abs(mine - theirs)[known].max() <= 1.01 / (len(y) // 5)
    # Who led was better in each case, at the level that the risk allows.
    assert np.all(table["dropped_p_value"][dropped] <= 0.05 / (len(CS) * len(gammas)))
    assert np.all(table["dropped_against"][dropped] >= 0) and np.all(table["dropped_against"][~dropped] == -1)
    assert np.isnan(table["dropped_p_value"][~dropped]).all()
    assert set(table) - set(exact.cv_results_) == {"dropped_after", "dropped_p_value", "dropped_against"}


@pytest.mark.usefixtures("small_samples")
def test_a_bad_gamma_is_dropped_on_few_rows_and_a_bad_C_after_few_folds():
    X, y = DATA["cancer"]()
    settings = {"Cs": [1e-4, 1.0, 10.0], "gammas": [0.01, 30.0], "cv": 10}
    exact = KernelSVCCV(**settings).fit(scale(X), y)
    found = KernelSVCCV(**settings, search="race", random_state=0).fit(scale(X), y)
    after = dict(zip(map(str, found.cv_results_["params"]), found.cv_results_["dropped_after"], strict=True))
    assert all(after[str({"C": C, "gamma": 30.0})] == "71 rows" for C in settings["Cs"])
    assert after[str({"C": 1e-4, "gamma": 0.01})] in ("fold 0", "fold 1", "fold 3")
    assert found.n_kernel_evaluations_ < exact.n_kernel_evaluations_
    assert found.best_score_ == pytest.approx(exact.best_score_, abs=1e-9)


def test_without_risk_a_race_is_an_exact_search():
    X, y = noisy(300)
    exact = KernelSVCCV([0.1, 1.0, 10.0], [0.05, 0.2], cv=4, tol=1e-5).fit(X, y)
    found = KernelSVCCV([0.1, 1.0, 10.0], [0.05, 0.2], cv=4, tol=1e-5, search="race", risk=1e-100).fit(X, y)
    difference = found.cv_results_["mean_test_score"] - exact.cv_results_["mean_test_score"]
    assert np.abs(difference).max() <= 1.01 / 75 / 4
    np.testing.assert_allclose(found.decision_function(X), exact.decision_function(X), atol=1e-3)


def test_p_values_are_those_of_the_exact_test_of_mcnemar():
    rng = np.random.default_rng(0)
    losses = rng.random((20, 60)) < rng.uniform(0.1, 0.6, (20, 1))
    for found, own in zip(p_values(losses, 3), losses, strict=True):
        worse, better = np.sum(own & ~losses[3]), np.sum(~own & losses[3])
        if worse + better:
            assert found == pytest.approx(binomtest(worse, worse + better, alternative="greater").pvalue, rel=1e-9)
    assert p_values(losses, 3)[3] == 1.0


@pytest.mark.parametrize("share", [0.999, 1.001])
def test_the_risk_is_divided_by_the_cells_and_the_tests(share, monkeypatch):
    """Of five folds in four batches, after the last of which nothing is tested."""

    def p_values_of_others(losses, leader):
        return np.where(np.arange(len(losses)) == leader, 1.0, share * 0.3 / (3 * 3))

    monkeypatch.setattr(race, "p_values", p_values_of_others)
    search = KernelSVCCV([0.1, 1.0, 10.0], [0.1], cv=5, search="race", risk=0.3, random_state=0).fit(*noisy(200))
    assert np.sum(search.cv_results_["dropped_against"] >= 0) == (2 if share < 1.0 else 0)


def test_a_dropped_cell_has_the_scores_of_the_folds_that_were_solved():
    X, y = noisy(400)
    settings = {"Cs": [1e-6, 1.0], "gammas": [0.05], "cv": 5, "random_state": 0}
    weights = np.where(np.arange(400) % 10 == 0, 0.0, 2.0)
    exact, found = (KernelSVCCV(**settings, search=search).fit(X, y, weights) for search in ("exact", "race"))
    assert found.cv_results_["dropped_against"].tolist() == [1, -1]
    assert found.cv_results_["split0_test_score"][0] == exact.cv_results_["split0_test_score"][0]


def test_rows_of_different_weights_are_refused():
    """A cell with fewer wrong rows may have the lower weighted accuracy: the race would drop the better one."""
    X, y = noisy(60)
    with pytest.raises(ValueError, match="different weights.*search='exact' or 'halving'"):
        KernelSVCCV([0.1, 1.0], [0.05], cv=2, search="race").fit(X, y, np.where(y == 1, 9.0, 1.0))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"search": "fast"}, "search.*exact"),
        ({"search": "race", "risk": 0.0}, "risk must be"),
        ({"search": "race", "risk": 1.0}, "risk must be"),
        ({"search": "race", "scoring": "roc_auc"}, "search='exact'"),
    ],
)
def test_bad_input_is_rejected_with_what_to_change(parameters, message):
    X, y = noisy(60)
    with pytest.raises(ValueError, match=message):
        KernelSVCCV([1.0], [0.1], cv=2, **parameters).fit(X, y)


def test_rows_of_weight_zero_do_not_vote():
    X, y = noisy(600)
    rng = np.random.default_rng(0)
    more, wrong = rng.standard_normal((600, 6)) * 0.1, rng.integers(0, 2, 600)
    folds = list(StratifiedKFold(5).split(X, y))
    parts = np.array_split(600 + np.arange(600), 5)
    wide = [(train, np.concatenate([test, part])) for (train, test), part in zip(folds, parts, strict=True)]
    settings = {"Cs": CS, "gammas": [0.05, 20.0], "tol": 1e-5, "search": "race", "random_state": 0}
    alone = KernelSVCCV(**settings, cv=folds).fit(X, y)
    weights = np.repeat([1.0, 0.0], 600)
    both = np.concatenate([X, more]), np.concatenate([y, wrong])
    masked = KernelSVCCV(**settings, cv=wide).fit(*both, sample_weight=weights)
    assert any(after is not None for after in alone.cv_results_["dropped_after"])
    for column in ("dropped_after", "dropped_against"):
        assert list(masked.cv_results_[column]) == list(alone.cv_results_[column])
    for column in ("dropped_p_value", *(f"split{k}_test_score" for k in range(5))):
        np.testing.assert_allclose(masked.cv_results_[column], alone.cv_results_[column], atol=1e-12)


@pytest.mark.parametrize("search", ["race", "halving"])
@pytest.mark.parametrize("seed", [np.random.default_rng, lambda k: 2**40 + k, np.random.RandomState, lambda k: None])
def test_any_random_state_orders_the_rows(search, seed):
    X, y = noisy(1200)
    settings = {"Cs": CS[1:4], "gammas": [0.05, 20.0], "cv": 3, "search": search}
    one, same = (KernelSVCCV(**settings, random_state=seed(3)).fit(X, y) for _ in range(2))
    if seed(0) is not None:
        assert list(one.cv_results_["dropped_after"]) == list(same.cv_results_["dropped_after"])
    with pytest.raises(ValueError, match="random_state must be"):
        KernelSVCCV(**settings, random_state="three").fit(X, y)


@pytest.mark.parametrize("search, module", [("race", race), ("halving", halving)])
def test_the_subsamples_depend_on_the_random_state(search, module, monkeypatch):
    orders, nested_order = [], module.nested_order

    def recorded(*arguments):
        orders.append(nested_order(*arguments))
        return orders[-1]

    monkeypatch.setattr(module, "nested_order", recorded)
    X, y = noisy(300)
    for seed in (0, 1, 0):
        KernelSVCCV([1.0], [0.05, 0.2], cv=3, search=search, random_state=seed).fit(X, y)
    first, other, again = orders
    assert np.array_equal(first, again) and not np.array_equal(first, other)


@pytest.mark.usefixtures("small_samples")
def test_folds_that_hold_out_few_rows_need_not_hold_out_some_of_a_subsample():
    X, y = noisy(400)
    fold = np.arange(2, 400), np.arange(2)
    for seed in range(3):
        found = KernelSVCCV([1.0], [0.05, 0.2], cv=[fold], search="race", random_state=seed).fit(X, y)
        assert not np.isnan(found.cv_results_["mean_test_score"]).any()
