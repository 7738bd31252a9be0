"""Thresholds of ROCSVC: the requested rate is reached on the rows on which the threshold is set."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from kernbench import ROCSVC
from kernbench.estimators.roc.rows import Rows, hold_out
from kernbench.estimators.roc.space import Space
from kernbench.estimators.roc.threshold import intercept_for
from kernbench.kernels import Gaussian
from kernbench.metrics import threshold_for

VARIANTS = [
    {},
    {"kernel": "rbf"},
    {"kernel": "rbf", "n_landmarks": 40},
    {"kernel": "rbf", "n_landmarks": 40, "dtype": "float32"},
    {"kernel": "rbf", "features": "exact", "dtype": "float32"},
    {"kernel": "rbf", "features": "random"},
]


def problem(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.standard_normal(n) > 1.5, "ill", "fine")


def rates(model, X, y):
    found = model.predict(X) == "ill"
    return found[y == "ill"].mean(), (~found)[y == "fine"].mean()


# The sheet's example: positives (3, 2, 2, 1, 0), negatives (2.5, 2, 1, .5, 0, -1, -1, -2, -3, -4).
@pytest.mark.parametrize(
    ("asked", "threshold"),
    [
        (("sensitivity", 0.8), 1),
        (("sensitivity", 0.6), 2),
        (("sensitivity", 1.0), 0),
        (("specificity", 0.7), 0.75),
        (("specificity", 0.9), 2.25),
        (1.5, 1.5),
        ("youden", 0.75),  # 0.8 + 0.7
    ],
)
def test_worked_example(asked, threshold):
    scores = np.array([3, 2, 2, 1, 0, 2.5, 2, 1, 0.5, 0, -1, -1, -2, -3, -4])
    positive = np.arange(15) < 5
    assert intercept_for(asked, scores, positive) == -threshold
    assert intercept_for(asked, scores, positive, np.full(15, 3.0)) == -threshold


@pytest.mark.parametrize("scores", [[0.0, 1.0, 2.0, 3.0], [3.0, 0.0, 1.0, np.nextafter(3.0, 4.0)]])
def test_a_rate_is_safe_from_rounding_on_both_sides(scores):
    """The lowest positive stays positive if its score is smaller by this, the highest negative negative if larger."""
    scores, positive, rounding = np.array(scores), np.array([False, True, True, False]), 1e-3
    found = intercept_for(("sensitivity", 1.0), scores, positive, rounding=lambda: rounding)
    assert np.all(scores[positive] - 0.999 * rounding + found >= 0.0)
    found = intercept_for(("specificity", 1.0), scores, positive, rounding=lambda: rounding)
    assert np.all(scores[~positive] + 0.999 * rounding + found < 0.0)


def test_values_of_youdens_index_that_differ_by_rounding_are_equal():
    """Of two vertices with the index 0.2 the one with more hits less alarms is taken: 0.3 - 0.1 is less than 0.2."""
    positive = np.repeat([True, False, True, False, True], [4, 1, 2, 9, 14])
    assert intercept_for("youden", -np.arange(30.0), positive) == 6.5


def test_scores_without_weight_do_not_move_the_threshold():
    scores, positive, weights = np.array([4.0, 3.0, 1.0, 0.0]), np.array([1, 1, 0, 0], bool), np.array([1.0, 0, 0, 1])
    assert intercept_for("youden", scores, positive, weights) == -2.0


@pytest.mark.parametrize("settings", VARIANTS)
@pytest.mark.parametrize("level", [0.05, 0.9, 1.0])
def test_rate_is_reached_on_training_rows_in_batches_of_any_size(settings, level):
    X, y = problem()
    for k, name in enumerate(("sensitivity", "specificity")):
        model = ROCSVC(threshold=(name, level), random_state=0, **settings).fit(X, y)
        assert rates(model, X, y)[k] >= level
        batches = np.concatenate([model.predict(X[i : i + 37]) for i in range(0, len(X), 37)])
        right = (batches == y)[y == ("ill", "fine")[k]]
        assert right.mean() >= level
        n = np.sum(y == ("ill", "fine")[k])
        assert rates(model, X, y)[k] <= level + 1.5 / n  # no more than necessary: scores are not tied here


def test_intercept_is_minus_the_threshold_of_the_metrics():
    X, y = problem()
    model = ROCSVC(threshold=("sensitivity", 0.9)).fit(X, y)
    scores = model.decision_function(X) - model.intercept_
    assert -model.intercept_[0] == pytest.approx(threshold_for(y, scores, sensitivity=0.9), abs=1e-9)
    model = ROCSVC(threshold=("specificity", 0.9)).fit(X, y)
    assert -model.intercept_[0] == pytest.approx(threshold_for(y, scores, specificity=0.9), abs=1e-9)


def test_number_is_the_threshold_itself():
    X, y = problem()
    model = ROCSVC(threshold=0.25).fit(X, y)
    assert model.intercept_[0] == -0.25
    np.testing.assert_array_equal(model.predict(X) == "ill", model.decision_function(X) >= 0)


def test_youden_is_the_best_balanced_accuracy():
    X, y = problem()
    model = ROCSVC("rbf").fit(X, y)
    best = balanced_accuracy_score(y, model.predict(X))
    scores = model.decision_function(X)
    ill, are_above = y == "ill", scores >= scores[:, None]  # a row for each threshold
    balanced = (are_above[:, ill].mean(axis=1) + 1.0 - are_above[:, ~ill].mean(axis=1)) / 2
    assert balanced.max() <= best + 1e-12


def test_weights_count_in_thresholds():
    X, y = problem()
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    for threshold in (("sensitivity", 0.8), ("specificity", 0.8), "youden"):
        weighted = ROCSVC(threshold=threshold, tol=1e-9, solver="newton").fit(X, y, sample_weight=weights)
        rows = np.repeat(np.arange(len(y)), weights)
        repeated = ROCSVC(threshold=threshold, tol=1e-9, solver="newton").fit(X[rows], y[rows])
        assert weighted.intercept_[0] == pytest.approx(repeated.intercept_[0], abs=1e-4)


def test_held_out_rows_have_no_part_in_the_fit():
    X, y = problem()
    model = ROCSVC(threshold=("sensitivity", 0.9), threshold_on=0.25, random_state=0).fit(X, y)
    fits = [ROCSVC(threshold_on=0.25, threshold=t, random_state=0).fit(X, y).coef_ for t in (0.0, "youden")]
    np.testing.assert_array_equal(*fits)
    np.testing.assert_array_equal(fits[0], model.coef_)
    assert not np.allclose(model.coef_, ROCSVC().fit(X, y).coef_)


def test_held_out_threshold_is_honest_where_the_training_scores_are_not():
    # Noise, fitted almost without regularisation: every training positive scores high, new ones do not.
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 4)), np.repeat([0, 1], 300)
    X_new = rng.standard_normal((2000, 4))
    settings = {"kernel": "rbf", "gamma": 2.0, "alpha": 1e-4, "random_state": 0, "threshold": ("sensitivity", 0.9)}
    found = [ROCSVC(threshold_on=on, **settings).fit(X, y).predict(X_new).mean() for on in ("train", 0.3)]
    assert found[0] < 0.75
    assert found[1] > 0.8


def test_threshold_may_move_afterwards():
    X, y = problem()
    X_new, y_new = problem(seed=1)
    model = ROCSVC("rbf", n_landmarks=30, random_state=0).fit(X, y)
    coef = model.feature_coef_.copy()
    assert model.adjust_threshold(X_new, y_new, ("specificity", 0.95)) is model
    assert rates(model, X_new, y_new)[1] >= 0.95
    np.testing.assert_array_equal(model.feature_coef_, coef)
    assert model.threshold == "youden"
    with pytest.raises(ValueError, match="both classes"):
        model.adjust_threshold(X_new, np.full(len(X_new), "ill"), 0.0)
    with pytest.raises(ValueError, match="weight 0"):
        model.adjust_threshold(X_new, y_new, 0.0, sample_weight=(y_new == "ill").astype(float))
    with pytest.raises(ValueError, match="sensitivity"):
        model.adjust_threshold(X_new, y_new, ("sensitvity", 0.9))


@pytest.mark.filterwarnings("ignore:all scores are equal")
def test_tied_scores_are_of_the_larger_class_unless_a_rate_is_asked_for():
    X, y = np.ones((10, 2)), np.repeat([0, 1], [7, 3])
    assert not ROCSVC().fit(X, y).predict(X).any()
    assert ROCSVC(threshold=("sensitivity", 0.5)).fit(X, y).predict(X).all()
    assert not ROCSVC(threshold=("specificity", 0.5)).fit(X, y).predict(X).any()


@pytest.mark.parametrize("kind, factor", [("exact", 100.0), ("nystroem", 10.0)])
def test_rounding_is_in_the_units_of_scores(kind, factor):
    """Kernel values of 100 times the size have coefficients of a 100th, and features 10 times as long."""
    space, coef = Space(kind, Gaussian(1.0), "float32"), np.array([1.0, -2.0])
    assert space.rounding(100.0, coef / factor) == pytest.approx(space.rounding(1.0, coef))


def test_a_small_share_holds_out_a_row_of_each_class():
    rows = Rows(np.arange(20.0)[:, None], np.where(np.arange(20) < 4, 1.0, -1.0), None)
    rest, held = hold_out(rows, "threshold_on", 0.01, 0)
    assert sorted(held.y) == [-1.0, 1.0] and len(rest.y) == 18


def test_a_large_share_leaves_a_row_of_each_class():
    rows = Rows(np.arange(20.0)[:, None], np.where(np.arange(20) < 3, 1.0, -1.0), None)
    rest, held = hold_out(rows, "threshold_on", 0.99, 0)
    assert sorted(rest.y) == [-1.0, 1.0] and len(held.y) == 18


def test_support_vectors_are_counted_among_all_rows():
    """Also where rows without weight are left out first, and then those of the threshold."""
    X, y = problem(120)
    weights = np.where(np.arange(120) % 3 == 0, 0.0, 1.0)
    settings = {"kernel": "rbf", "features": "exact", "threshold_on": 0.3, "random_state": 0}
    model = ROCSVC(**settings).fit(X, y, sample_weight=weights)
    assert 2 < len(model.support_) < 80 and np.all(weights[model.support_] > 0.0)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
