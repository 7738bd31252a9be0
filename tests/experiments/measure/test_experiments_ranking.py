"""Models that rank are judged by the true score and by one objective."""

import pytest

from kernbench import ROCSVC
from kernbench.datasets import load
from kernbench.experiments.measure import ranking


@pytest.fixture(scope="module")
def small():
    return load("roc-linear", 300, 400, seed=3)


def test_the_truth_s_auc_is_near_the_population_s():
    for name in ranking.TRUTHS:
        data = load(name, 50, 25_000)
        assert ranking.truth_auc(data) == pytest.approx(data.population_auc, abs=0.009)  # three errors
    assert ranking.truth_auc(load("moons", 50, 50)) is None


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf", "features": "exact"}, {"kernel": "rbf", "n_landmarks": 20}])
def test_the_objective_is_the_model_s_own(small, params):
    model = ROCSVC(**params, alpha=0.01, dtype="float64", random_state=0).fit(small.X_train, small.y_train)
    assert ranking.pairwise_objective(model, 0.01, small) == pytest.approx(model.objective_, rel=1e-9)
