"""``coef_`` belongs to the columns of X, ``feature_coef_`` to landmarks and random features."""

import numpy as np
import pytest
from sklearn.feature_selection import RFE, SelectFromModel

from kernbench import ROCSVC, ROCSVCCV

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4))
Y = (X[:, 0] + 0.3 * rng.normal(size=80) > 0).astype(int)


@pytest.mark.parametrize("features, sizes", [("nystroem", {"n_landmarks": 15}), ("random", {"n_features": 12})])
def test_weights_of_features_are_not_coef_(features, sizes):
    model = ROCSVC("rbf", features=features, random_state=0, **sizes).fit(X, Y)
    assert not hasattr(model, "coef_")
    scores = model.feature_map_.transform(X) @ model.feature_coef_[0] + model.intercept_
    np.testing.assert_allclose(scores, model.decision_function(X), rtol=1e-9, atol=1e-12)
    model.set_params(kernel="linear", features="auto", n_landmarks=None, n_features=None).fit(X, Y)
    assert model.coef_.shape == (1, 4) and not hasattr(model, "feature_coef_")


def test_selection_of_columns_takes_the_linear_model_and_refuses_the_others():
    assert RFE(ROCSVC(), n_features_to_select=1).fit(X, Y).support_[0]
    for model in (ROCSVC("rbf", n_landmarks=15), ROCSVC("rbf")):
        with pytest.raises((AttributeError, ValueError), match="coef_"):
            RFE(model, n_features_to_select=1).fit(X, Y)
        with pytest.raises((AttributeError, ValueError), match="coef_"):
            SelectFromModel(model).fit(X, Y).get_support()


def test_the_search_for_alpha_has_the_same_attributes():
    model = ROCSVCCV("rbf", n_landmarks=15, alphas=[0.1, 0.01], cv=2, random_state=0).fit(X, Y)
    assert model.feature_coef_.shape[0] == 1 and not hasattr(model, "coef_")


def test_a_choice_of_landmarks_asks_for_landmarks():
    assert ROCSVC("rbf", landmarks="uniform", random_state=0).fit(X, Y).features_ == "nystroem"
    assert ROCSVC("rbf").fit(X, Y).features_ == "exact"
