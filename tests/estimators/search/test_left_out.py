"""Leave-one-out: rows without a coefficient take no work, and a fold ends once its held-out sign is settled."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import LeaveOneOut

from kernbench import KernelSVC, KernelSVCCV
from kernbench.estimators.search import left_out
from kernbench.kernels.functions import Gaussian
from kernbench.solvers.kernel.smo.joint import JointSMO

CS, N = [0.1, 10.0], 60


def examples(n=N, n_classes=2):
    return make_classification(n, 6, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=1)


def by_force(X, y, C, weights=None, **settings):
    """Return the decision values of each row by the model of all others."""
    values = []
    for k in range(len(y)):
        rest = np.arange(len(y)) != k
        own = None if weights is None else weights[rest]
        values.append(
            KernelSVC(C=C, gamma=0.2, tol=1e-6, **settings).fit(X[rest], y[rest], own).decision_function(X[[k]])
        )
    return np.concatenate(values)


@pytest.fixture
def runs(monkeypatch):
    """The joint runs of the search, after they ended."""
    ended, solutions = [], JointSMO.solutions
    monkeypatch.setattr(JointSMO, "solutions", lambda self: ended.append(self) or solutions(self))
    return ended


@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}, {"class_weight": {1: 2.0}}], ids=str)
def test_scores_and_values_are_those_by_force(runs, settings):
    X, y = examples()
    search = KernelSVCCV(CS, [0.2], cv=LeaveOneOut(), tol=1e-5, **settings).fit(X, y)
    assert any(run.settled.any() for run in runs)
    for c, C in enumerate(CS):
        values = by_force(X, y, C, **settings)
        assert search.cv_results_["mean_test_score"][c] == np.mean((values >= 0) == y)
        if C == search.best_params_["C"]:
            np.testing.assert_allclose(search.oof_decision_, values, atol=1e-3)


@pytest.mark.parametrize("end, settled", [(2e-3, True), (5e-4, False), (-5e-4, False)])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_sign_is_settled_where_the_band_is_farther_from_zero_than_the_tolerance(end, settled, side, monkeypatch):
    band = np.array([[end], [5.0]]) if side > 0 else np.array([[-5.0], [-end]])
    monkeypatch.setattr(left_out, "decision_band", lambda *arguments: band)
    kernel = SimpleNamespace(model=SimpleNamespace(tol=1e-3, fit_intercept=True))
    state = SimpleNamespace(scores=lambda: np.array([side]), intercept=lambda: side, beta=np.zeros(1))
    found = left_out._is_settled(kernel, np.array([side]), 1.0, [np.ones(1)], [0], np.ones(1), 0, state)
    assert found == settled


def test_weights_of_rows(runs):
    X, y = examples()
    weights = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    search = KernelSVCCV([1.0], [0.2], cv=LeaveOneOut(), tol=1e-5).fit(X, y, weights)
    np.testing.assert_allclose(search.oof_decision_, by_force(X, y, 1.0, weights), atol=1e-3)
    assert runs


def test_three_classes_solve_all_values(runs):
    X, y = examples(n_classes=3)
    one_vs_one = {"decision_function_shape": "ovo", "cache_size": 1e-3}  # too small a cache for fits fold by fold
    search = KernelSVCCV([1.0], [0.2], cv=LeaveOneOut(), tol=1e-5, **one_vs_one).fit(X, y)
    np.testing.assert_allclose(search.oof_decision_, by_force(X, y, 1.0, decision_function_shape="ovo"), atol=1e-3)
    assert runs and not any(run.settled.any() for run in runs)


@pytest.mark.parametrize(
    "settings",
    [{"scoring": "roc_auc_ovr"}, {"store_oof_decisions": True}, {"calibration": "sigmoid"}, {"warm_start": True}],
    ids=str,
)
def test_values_are_solved_where_more_than_signs_are_needed(runs, settings):
    if "scoring" in settings:
        settings = {"scoring": lambda model, rows, y: float(model.decision_function(rows)[0] * (2 * y[0] - 1))}
    KernelSVCCV([1.0], [0.2], cv=LeaveOneOut(), **settings).fit(*examples())
    assert runs and not any(run.settled.any() for run in runs)


def test_balanced_weights_differ_from_fold_to_fold(runs):
    X, y = examples(40)
    search = KernelSVCCV([1.0], [0.2], cv=LeaveOneOut(), class_weight="balanced", tol=1e-6).fit(X, y)
    np.testing.assert_allclose(search.oof_decision_, by_force(X, y, 1.0, class_weight="balanced"), atol=1e-3)
    assert not runs


def test_fewer_folds_and_steps(runs):
    """Only rows with a coefficient are solved, in fewer steps where only signs are needed."""
    X, y = make_classification(160, 6, n_informative=4, class_sep=1.5, random_state=0)
    n_solved, steps = {}, {}
    for tol in (1e-3, 1e-6):
        for name, settings in (("signs", {"refit": False}), ("values", {"store_oof_decisions": True})):
            runs.clear()
            search = KernelSVCCV([1.0], [0.2], cv=LeaveOneOut(), tol=tol, **settings).fit(X, y)
            own = runs[: len(runs) // 2] if name == "signs" else runs  # the other half are the values of the best cell
            steps[name, tol] = sum(run.n_iter for run in own)
            n_solved[name, tol] = sum(len(run.problems) for run in own)
        assert n_solved["signs", tol] == n_solved["values", tol] == np.count_nonzero(search.dual_coef_) < 100
    assert steps["signs", 1e-3] < 0.9 * steps["values", 1e-3] and steps["signs", 1e-6] < 0.5 * steps["values", 1e-6]


@pytest.mark.parametrize("is_definite", [True, False])
def test_a_sign_is_settled_only_where_a_band_holds(runs, is_definite):
    """That is for a positive semi-definite kernel."""
    X, y = examples()
    K = Gaussian(1.5)(X, X, dtype=np.float64) if is_definite else np.tanh(0.2 * X @ X.T)
    settings = {"kernel": "precomputed", "cv": LeaveOneOut(), "tol": 1e-5, "refit": False}
    search = KernelSVCCV([1.0], **settings).fit(K, y)
    assert any(run.settled.any() for run in runs) == is_definite
    values = KernelSVCCV([1.0], store_oof_decisions=True, **settings).fit(K, y)
    assert search.best_score_ == values.best_score_
