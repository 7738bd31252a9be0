"""Bad parameters and bad data of ROCSVC: each a ValueError that says what to change."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from kernbench import ROCSVC, ROCSVCCV

X, Y = make_classification(60, 4, weights=[0.7], random_state=0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0}, "alpha must be a positive number"),
        ({"pairs": 0}, "pairs must be"),
        ({"pairs": -3}, "pairs must be"),
        ({"pairs": 2.5}, "pairs must be"),
        ({"pairs": True}, "pairs must be"),
        ({"pairs": "n_sample"}, "n_samples"),
        ({"pairs": 10, "loss": "squared"}, "pairs='all'"),
        ({"solver_options": {"balanced": True}}, "balanced=True is for drawn pairs, .*pairs= of ROCSVC"),
        ({"loss": "squared_hing"}, "squared_hinge"),
        ({"loss": "hinge", "solver": "newton"}, "smooth loss"),
        ({"loss": "squared", "kernel": "rbf", "features": "exact"}, "nystroem"),
        ({"solver": "bundel"}, "bundle"),
        ({"solver": "smo"}, "solver"),
        ({"features": "nystrom"}, "nystroem"),
        ({"landmarks": "k-means"}, "kmeans"),
        ({"n_landmarks": 0}, "n_landmarks must be"),
        ({"n_features": 1.5}, "n_features must be"),
        ({"reservoir_size": 0}, "reservoir_size must be"),
        ({"threshold": ("sensitivity", 0)}, "above 0 and at most 1"),
        ({"threshold": ("sensitivity", 1.2)}, "above 0 and at most 1"),
        ({"threshold": ("specificity", -0.1)}, "above 0 and at most 1"),
        ({"threshold": ("sensitivity", np.nan)}, "above 0 and at most 1"),
        ({"threshold": ("sensitivty", 0.9)}, "sensitivity"),
        ({"threshold": "yuden"}, "youden"),
        ({"threshold": None}, "threshold must be"),
        ({"threshold": np.inf}, "threshold must be"),
        ({"threshold_on": "test"}, "threshold_on must be"),
        ({"threshold_on": 1.0}, "threshold_on must be"),
        ({"solver_options": {"steps": 3}}, "unknown option of solver 'bundle' 'steps'"),
        ({"n_features": 100}, "choose features='random'"),
        ({"kernel": "rbf", "features": "nystroem", "n_features": 100}, "choose features='random'"),
        ({"n_landmarks": 100}, "choose features='nystroem'"),
        ({"kernel": "rbf", "features": "exact", "n_landmarks": 100}, "choose features='nystroem'"),
        ({"kernel": "rbf", "features": "random", "landmarks": "kmeans"}, "choose features='nystroem'"),
        ({"kernel": "precomputed", "features": "random"}, "kernel"),
    ],
)
def test_parameter_is_refused(parameters, message):
    rows = X @ X.T if parameters.get("kernel") == "precomputed" else X
    with pytest.raises(ValueError, match=message):
        ROCSVC(**parameters).fit(rows, Y)


@pytest.mark.parametrize("model", [ROCSVC(), ROCSVC("rbf"), ROCSVCCV()])
def test_three_classes_are_refused_with_the_wrapper_to_use(model):
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        model.fit(X, np.arange(60) % 3)


@pytest.mark.parametrize("settings", [{}, {"kernel": "rbf"}, {"solver": "newton"}, {"loss": "squared"}])
def test_rows_too_large_are_refused(settings):
    with pytest.raises(ValueError, match=r"X holds values up to .*, too large for this kernel in float64: scale the"):
        ROCSVC(**settings).fit(X * 1e200, Y)


@pytest.mark.parametrize("settings", [{}, {"kernel": "poly", "gamma": 1.0}], ids=str)
def test_rows_too_large_are_refused_on_either_side_of_the_split(settings):
    """Those whose scores set the threshold were not checked: their scores were NaN."""
    rows = X.copy()
    rows[7] *= 1e200
    for seed in range(8):
        with pytest.raises(ValueError, match="X holds values up to .*, too large for this kernel in float64"):
            ROCSVC(threshold_on=0.4, random_state=seed, **settings).fit(rows, Y)


@pytest.mark.parametrize(
    "settings", [{}, {"kernel": "rbf"}, {"kernel": "rbf", "n_landmarks": 5}, {"pairs": "n_samples"}]
)
def test_class_with_one_member_is_ranked(settings):
    y = np.zeros(60, dtype=int)
    y[X[:, 1].argmax()] = 1
    model = ROCSVC(random_state=0, **settings).fit(X, y)
    scores = model.decision_function(X)
    assert np.all(np.isfinite(scores)) and scores[y == 1] == scores.max()


def test_class_with_one_member_cannot_be_held_out_or_folded():
    y = np.zeros(60, dtype=int)
    y[7] = 1
    with pytest.raises(ValueError, match="one row only"):
        ROCSVC(threshold_on=0.2).fit(X, y)
    with pytest.raises(ValueError, match="class '1' has 1"):
        ROCSVCCV().fit(X, y)


def test_more_pairs_than_there_are_is_fine():
    model = ROCSVC(pairs=10_000, random_state=0).fit(X[:10], [0, 1] * 5)
    assert model.converged_


@pytest.mark.parametrize("settings", [{}, {"kernel": "rbf"}, {"solver": "newton"}, {"loss": "squared"}, {"pairs": 9}])
def test_constant_rows_rank_nothing_and_say_so(settings):
    with pytest.warns(UserWarning, match="all scores are equal"):
        model = ROCSVC(threshold=0.0, random_state=0, **settings).fit(np.ones((8, 2)), [0, 1] * 4)
    assert np.ptp(model.decision_function(np.ones((3, 2)))) == 0
    assert model.objective_ == pytest.approx(1.0)


def test_held_out_rows_of_a_precomputed_kernel_are_refused():
    with pytest.raises(ValueError, match="adjust_threshold"):
        ROCSVC("precomputed", threshold_on=0.2).fit(X @ X.T, Y)


def test_square_kernel_matrix_is_asked_for():
    with pytest.raises(ValueError, match="square"):
        ROCSVC("precomputed").fit(X, Y)


@pytest.mark.parametrize("alphas", [[], [0.1, 0.0], [-1.0], [np.nan], 0.5, "many", [[0.1]]])
def test_alphas_are_refused(alphas):
    with pytest.raises(ValueError, match="alphas must be"):
        ROCSVC().path(X, Y, alphas)
    with pytest.raises(ValueError, match="alphas must be"):
        ROCSVCCV(alphas=alphas).fit(X, Y)


def test_cross_validation_parameters_are_refused():
    with pytest.raises(ValueError, match="1se"):
        ROCSVCCV(selection="2se").fit(X, Y)
    with pytest.raises(ValueError, match="cv must be at least 2 folds"):
        ROCSVCCV(cv=1).fit(X, Y)
    with pytest.raises(ValueError, match="one class only"):
        order = np.argsort(Y)
        ROCSVCCV(cv=[(order[:30], order[30:])]).fit(X, Y)
