"""``dsg-losses``: exact solutions of losses without an experiment in the paper, and how near the methods come."""

import numpy as np
import pytest
from sklearn.svm import OneClassSVM

from kernbench.experiments import get
from kernbench.experiments.papers.dsg import data
from kernbench.experiments.papers.dsg.runs import losses as loss_runs
from kernbench.experiments.papers.dsg.runs.exact_ratio import ExactDensityRatio

LOSSES = get("dsg-losses")

pytestmark = pytest.mark.filterwarnings("ignore:.*did not reach")


@pytest.mark.parametrize("settings", [{}, {"target": "ratio", "floor": 0.05}, {"target": "ratio", "floor": 0.7}])
def test_the_exact_density_ratio_is_the_minimiser(settings):
    """No small change of the function lowers the objective, written out here once more."""
    found = data.shifted_normals(120, 1)
    P, Q = found.X_train[found.y_train > 0], found.X_train[found.y_train < 0]
    model = ExactDensityRatio(gamma=0.5, alpha=0.05, **settings).fit(P, Q)
    K = np.exp(-0.5 * (model.rows_ - model.rows_.T) ** 2)

    def objective(a):
        f, floor = K @ a, settings.get("floor")
        if floor is None:
            losses = np.exp(f[len(P) :]).mean() - f[: len(P)].mean()
        else:
            tangent = np.log(floor) + (f[: len(P)] - floor) / floor
            phi = np.where(f[: len(P)] > floor, np.log(np.maximum(f[: len(P)], floor)), tangent)
            losses = np.maximum(0, f[len(P) :]).mean() - phi.mean()
        return 0.025 * a @ f + losses

    least = objective(model.coef_)
    np.testing.assert_allclose(model.function(Q), (K @ model.coef_)[len(P) :], atol=1e-10)
    for change in np.random.default_rng(0).standard_normal((20, len(K))):
        assert objective(model.coef_ + 1e-3 * change) > least


def test_the_exact_novelty_detector_is_in_the_scale_of_the_other_one():
    found = data.two_clusters(200, 50)
    model = loss_runs.exact_novelty_detector(nu=0.2, gamma=0.5).fit(found.X_train)
    oracle = OneClassSVM(nu=0.2, gamma=0.5, tol=1e-8).fit(found.X_train)
    expected = oracle.score_samples(found.X_test) / (0.2 * 200)
    np.testing.assert_allclose(loss_runs.outputs(model, found.X_test), expected, atol=1e-6)


def test_the_quantiles_that_are_known_are_those_of_the_rows():
    found = data.noisy_waves(20_000, 1)
    for quantile in (0.1, 0.5, 0.9):  # six standard deviations: a probability of failure of 2e-9
        below = np.mean(found.y_train <= data.wave_quantile(found.X_train, quantile))
        assert abs(below - quantile) < 6 * np.sqrt(quantile * (1 - quantile) / 20_000)


@pytest.mark.parametrize(
    ("dataset", "method"),
    [
        ("svr", "plain-regression"),
        ("quantile-90", "plain-regression"),
        ("density-ratio", "plain-ratio"),
        ("density-ratio", "cycled-ratio"),
        ("ratio-itself", "cycled-ratio"),
        ("relative-novelty", "plain-ratio"),
    ],
)
def test_every_loss_comes_near_its_exact_solution(outcome, dataset, method):
    found = outcome(LOSSES, dataset, method, arguments={"n_train": 200, "n_test": 100}, max_iter=400)
    assert found["metrics"]["distance"] < 0.25 and found["metrics"]["certificate"] < 1e-6
    assert found["trace"]["distance"][-1] == pytest.approx(found["metrics"]["distance"])
    if dataset == "quantile-90":
        assert found["metrics"]["share"] == pytest.approx(0.9, abs=0.03)


def test_an_exact_solution_is_at_no_distance_from_itself(outcome):
    found = outcome(LOSSES, "novelty", "exact-novelty", arguments={"n_train": 200, "n_test": 100})
    assert found["metrics"]["distance"] == found["metrics"]["share_off"] == 0.0
    assert found["metrics"]["share"] <= 0.1 and found["metrics"]["n_iter"] is None


def test_the_nearest_of_the_regularisations_tried_is_not_called_close():
    (table,) = LOSSES.tables
    alphas = LOSSES.method("preconditioned-ratio").params["other_alphas"]
    (note,) = [note for note in table.notes if f"{len(alphas)} down to {min(alphas):g}" in note]
    assert "still off by the distance" in note and "close to" not in note and "{" not in note
