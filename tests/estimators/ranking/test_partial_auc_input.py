"""Classifiers of a part of the ROC curve: steps that diverge, parameters out of range."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernbench import AUCMarginClassifier, PartialAUCClassifier


@pytest.mark.parametrize("solver", ["agd-sbcd", "dca", "proximal-dca"])
def test_steps_that_are_too_long_leave_the_last_finite_model_and_name_the_parameter(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = (X[:, 0] + rng.normal(size=200) > 1).astype(int)
    model = PartialAUCClassifier(
        (0.05, 0.5), loss="squared_hinge", solver=solver, solver_options={"step": 1e200}, random_state=0
    )
    with pytest.warns(
        ConvergenceWarning, match="lower step, or scale the features. The model is the last iterate"
    ):
        model.fit(1e150 * X, y)
    assert model.status_ == "diverged" and not model.converged_
    assert np.isfinite(model.coef_).all() and model.predict(X).shape == y.shape


@pytest.mark.parametrize("margin", [0.0, 1e300, "wide"])
def test_margins_whose_square_is_no_number_are_refused(margin):
    with pytest.raises(ValueError, match="margin must be"):
        AUCMarginClassifier(margin=margin).fit([[0.0], [1.0]], [0, 1])
