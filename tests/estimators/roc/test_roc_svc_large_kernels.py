"""ROC-SVMs of kernel values so large that alpha is below their rounding: rankings do not depend on the unit of X."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from kernbench import ROCSVC
from kernbench.solvers.bundle.cutting_planes import CuttingPlanes


def separable(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 5))
    return X, X[:, 0] + 0.5 * rng.normal(size=60) > 0  # by cubic functions


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("unit, twin", [(1e2, "compiled"), (1e4, "compiled"), (1e6, "compiled"), (1e6, "reference")])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_columns_in_small_units_are_ranked_as_well(unit, loss, twin, global_random_seed):
    X, y = separable(global_random_seed)
    model = ROCSVC(kernel="poly", gamma=1.0, loss=loss)
    model._twin = twin
    model.fit(unit * X, y)
    assert roc_auc_score(y, model.decision_function(unit * X)) == 1.0
    assert 0.0 <= model.duality_gap_ and model.objective_ <= 1e-6
    assert model.converged_ == (model.duality_gap_ <= model.tol * model.objective_)


def test_the_start_from_a_larger_alpha_is_for_steep_problems_only(monkeypatch, global_random_seed):
    def refuse(*arguments):
        raise AssertionError("a fit with a larger alpha first, on an ordinary problem")

    monkeypatch.setattr(CuttingPlanes, "_start_from_flatter", refuse)
    X, y = separable(global_random_seed)
    for settings in ({"kernel": "poly", "gamma": 1.0}, {"kernel": "rbf", "alpha": 1e-4}, {"kernel": "linear"}):
        assert roc_auc_score(y, ROCSVC(**settings).fit(X, y).decision_function(X)) > 0.8
