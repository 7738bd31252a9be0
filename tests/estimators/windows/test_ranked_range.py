"""RankedRangeClassifier and RankedRangeRegressor: what they minimise, and what they leave out."""

import numpy as np
import pytest

from kernbench import AUCMarginClassifier, LinearSVC, PartialAUCClassifier, RankedRangeClassifier, RankedRangeRegressor
from kernbench.estimators.fit.centring import centre_of, centred
from kernbench.estimators.windows.ranked_range_task import _minus_median_error


@pytest.fixture
def labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=600) > 0.3, 1, 0)


@pytest.fixture
def numbers():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = 5 + X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=400)
    y[::20] += 50
    return X, y


@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_hinge"])
def test_the_whole_range_is_the_mean_of_the_losses(labels, loss):
    X, y = labels
    model = RankedRangeClassifier((0.0, 1.0), loss=loss, alpha=1e-2, tol=1e-6).fit(X, y)
    around_zero = centred(X, centre_of(X))  # the intercept is penalised, and that of centred rows is small
    linear = LinearSVC(C=100 / len(y), loss=loss, solver="bundle", tol=1e-6).fit(around_zero, y)
    assert model.objective_ == pytest.approx(linear.objective_, rel=1e-4)


def test_wrong_labels_far_from_the_boundary_are_left_out(labels):
    X, y = labels
    wrong = np.where(X[:, 0] > 1.8, 1 - y, y)
    robust = RankedRangeClassifier((0.1, 1.0)).fit(X, wrong)
    plain = RankedRangeClassifier((0.0, 1.0)).fit(X, wrong)
    assert robust.score(X, y) > plain.score(X, y)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "epsilon_insensitive"])
def test_outliers_are_left_out(numbers, loss):
    X, y = numbers
    model = RankedRangeRegressor((0.06, 1.0), loss=loss, alpha=1e-6, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], [1.0, -2.0, 0.5], atol=0.05)
    assert model.intercept_[0] == pytest.approx(5, abs=0.1)


def test_the_unit_of_residuals_scales_the_loss(numbers):
    X, y = numbers
    settings = {"ranked_range": (0.06, 1.0), "alpha": 1e-6, "tol": 1e-6, "loss": "huber"}
    one = RankedRangeRegressor(**settings).fit(X, y)
    thousand = RankedRangeRegressor(unit=1000.0, **settings).fit(X, 1000 * y)
    np.testing.assert_allclose(thousand.predict(X), 1000 * one.predict(X), rtol=1e-3, atol=5)


def test_ranks_count_and_floats_are_shares(numbers):
    X, y = numbers
    counted = RankedRangeRegressor((24, 400)).fit(X, y)
    shares = RankedRangeRegressor((0.06, 1.0)).fit(X, y)
    np.testing.assert_allclose(counted.coef_, shares.coef_, rtol=1e-6)


def test_validation_chooses_an_iterate(labels, numbers):
    X, y = labels
    model = RankedRangeClassifier(validation=0.3, random_state=0).fit(X, y)
    assert model.validation_score_ == max(model.trace_["validation_accuracy"])
    X, y = numbers
    model = RankedRangeRegressor(validation=(X[:50], y[:50] + 9.0)).fit(X, y + 9.0)
    assert model.validation_score_ == max(model.trace_["validation_score"])
    assert model.validation_score_ == pytest.approx(-np.median(np.abs(y[:50] + 9.0 - model.predict(X[:50]))))


def test_validation_rows_count_by_their_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y, weights = np.where(X[:, 0] > 0, 1, -1), np.repeat([1.0, 1e-6], 300)
    y[300:] = rng.choice([-1, 1], 300)
    model = RankedRangeClassifier(validation=0.5, random_state=0).fit(X, y, sample_weight=weights)
    assert model.validation_score_ > 0.95
    target = X[:, 0] + 0.01 * rng.normal(size=600)
    target[300:] += 100
    model = RankedRangeRegressor(validation=0.5, random_state=0).fit(X, target, sample_weight=weights)
    assert model.validation_score_ > -0.1
    for ranking in (PartialAUCClassifier((0, 0.5)), AUCMarginClassifier()):
        ranking.set_params(validation=0.5, random_state=0)
        assert ranking.fit(X, y, sample_weight=weights).validation_score_ > 0.95


def test_one_row_cannot_be_held_out():
    """The message spoke of a class that has one row only, of a regression, too."""
    with pytest.raises(ValueError, match="cannot hold out rows where there is one row only: choose validation=None"):
        RankedRangeRegressor(validation=0.5).fit([[1.0]], [2.0])


def test_the_median_error_counts_weights():
    rng = np.random.default_rng(0)
    y, weights = rng.normal(size=41), np.arange(41) // 20
    copies = np.repeat(y, weights)
    expected = -np.median(np.abs(copies))
    assert _minus_median_error(y, np.zeros(41), weights.astype(float)) == pytest.approx(expected)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_kernels_are_regressed_with_features(kernel):
    rng = np.random.default_rng(2)
    X = rng.uniform(-3, 3, size=(300, 1))
    y = np.sin(X[:, 0]) if kernel == "rbf" else X[:, 0]
    model = RankedRangeRegressor(kernel=kernel, gamma=1.0, features="nystroem", n_landmarks=20, alpha=1e-6).fit(X, y)
    assert np.abs(model.predict(X) - y).max() < 0.1


@pytest.mark.parametrize(
    ("ranked_range", "words"),
    [((5, 5), "ranked_range must be"), ((0.5, 1.5), "ranked_range must be"), ((0, 10**6), "ends beyond"),
     (3, "must be a pair"), ((0, 0.5, 1), "must be a pair")],
)  # fmt: skip
def test_ranges_that_make_no_sense_are_refused(labels, ranked_range, words):
    with pytest.raises(ValueError, match=words):
        RankedRangeClassifier(ranked_range).fit(*labels)


def test_a_classifier_takes_losses_of_margins_and_a_regressor_those_of_residuals(labels):
    X, y = labels
    with pytest.raises(ValueError, match="'absolute_error'. Known: auto, hinge,"):
        RankedRangeClassifier(loss="absolute_error").fit(X, y)
    with pytest.raises(ValueError, match="'hinge'. Known: absolute_error, auto, epsilon_insensitive, huber"):
        RankedRangeRegressor(loss="hinge").fit(X, X[:, 0])


@pytest.mark.parametrize("solver", ["dca-exact", "agd"])
@pytest.mark.parametrize("factor", [2.0, 2.0**990, 2.0**-1060])
def test_a_factor_of_all_weights_changes_nothing(labels, numbers, solver, factor):
    weights = np.random.default_rng(2).integers(1, 3, size=100).astype(float)
    for model, (X, y) in (
        (RankedRangeClassifier(solver=solver, max_iter=50, random_state=0), labels),
        (RankedRangeRegressor((0.1, 1.0), solver=solver, max_iter=50, random_state=0), numbers),
    ):
        X, y = X[:100], y[:100]
        expected = model.fit(X, y, weights).objective_
        assert model.fit(X, y, factor * weights).objective_ == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("Model", [RankedRangeClassifier, RankedRangeRegressor])
@pytest.mark.parametrize("name", ["fit_intercept", "warm_start"])
def test_flags_are_flags(Model, name, labels):
    with pytest.raises(ValueError, match=f"{name} must be True or False"):
        Model(**{name: "False"}).fit(*labels)


def test_targets_that_cannot_be_computed_with_are_refused(numbers):
    X, y = numbers
    with pytest.raises(ValueError, match="y must be numbers"):
        RankedRangeRegressor().fit(X, np.full(len(y), "tall", dtype=object))
    with pytest.raises(ValueError, match="scale the targets"):
        RankedRangeRegressor().fit(X, 1e150 * y)


def test_validation_targets_are_checked_as_training_targets(numbers):
    X, y = numbers
    with pytest.raises(ValueError, match="y must be numbers, the targets of a regression"):
        RankedRangeRegressor(validation=(X, np.full(len(y), "far"))).fit(X, y)
    with pytest.raises(ValueError, match="too large to add up squares"):
        RankedRangeRegressor(validation=(X, 1e200 * y)).fit(X, y)


def test_a_second_fit_leaves_nothing_of_the_first(numbers):
    X, y = numbers
    model = RankedRangeRegressor(validation=0.2).fit(X, y)
    assert hasattr(model, "validation_score_") and hasattr(model, "subproblem_gap_")
    model.set_params(validation=None, solver="agd", tol=0.5).fit(X, y)
    assert not {"validation_score_", "best_n_iter_", "subproblem_gap_"} & vars(model).keys()


def test_more_classes_than_two_are_refused_with_a_remedy(labels):
    X, _ = labels
    message = r"RankedRangeClassifier takes two classes, and y has 3. Use sklearn.multiclass.OneVsRestClassifier\("
    with pytest.raises(ValueError, match=message):
        RankedRangeClassifier().fit(X, np.arange(len(X)) % 3)
