"""Rankings with a closed form or a structural bound are examined as all others are: the returned model, afresh."""

import numpy as np
import pytest
from exact_objectives import LONG, exact_objective
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel

from kernbench import ROCSVC, PartialAUCClassifier, RankedRangeClassifier
from kernbench.estimators.fit.certificate import ExaminedKernel, certified
from kernbench.estimators.roc.roc_task import SquaredLoss
from kernbench.estimators.roc.space_task import SpaceTask
from kernbench.kernels.functions import Precomputed
from kernbench.problems.certificate import certify
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.design import as_design

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:all scores are equal", "ignore:no function f does better"
)


def labelled(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


def squared_objective(model, X, y, alpha):
    """The objective of the squared loss of pairs, in extended precision."""
    coef = model.coef_[0].astype(LONG)
    scores = X.astype(LONG) @ coef
    parts = scores[y == 1], scores[y == 0]
    risk = (1 - (parts[0].mean() - parts[1].mean())) ** 2 + sum(((s - s.mean()) ** 2).mean() for s in parts)
    return float(alpha / 2 * (coef @ coef) + risk)


@pytest.mark.parametrize("scale, shift", [(1.0, 0.0), (1.0, 1e6), (1.0, 1e12), (1e9, 0.0), (1e-9, 0.0), (1e12, 1e3)])
def test_the_closed_form_is_certified(scale, shift):
    X, y = labelled(100, 5, 0)
    best = squared_objective(ROCSVC(loss="squared", alpha=1e-3 / scale**2).fit(X, y), X, y, 1e-3 / scale**2)
    Z = X * scale + shift
    model = ROCSVC(loss="squared", alpha=1e-3).fit(Z, y)
    exact = squared_objective(model, Z, y, 1e-3)
    assert abs(exact - model.objective_) <= model.duality_gap_ + 1e-9 * model.objective_
    assert model.objective_ - model.duality_gap_ <= best * (1 + 1e-6) and model.objective_ <= 1.0 + 1e-12
    assert not model.converged_ or model.duality_gap_ <= model.tol * model.objective_


def test_the_gap_of_a_closed_form_is_rounding():
    X, y = labelled(200, 10, 1)
    model = ROCSVC(loss="squared", alpha=0.1).fit(X, y)
    assert model.converged_ and model.duality_gap_ <= 1e-9 * model.objective_
    assert roc_auc_score(y, model.decision_function(X)) > 0.7


@pytest.mark.parametrize("features", ["auto", "exact"])
def test_the_structural_bound_is_examined_once_more(monkeypatch, features):
    examined = []
    original = certify.certify

    def noted(risk, *arguments, **settings):
        examined.append(risk)
        return original(risk, *arguments, **settings)

    monkeypatch.setattr("kernbench.estimators.fit.certificate.certify", noted)
    X, y = labelled(80, 3, 2)
    kernel = "linear" if features == "auto" else "rbf"
    options = {"kernel": kernel, "features": features, "fpr_range": (0.2, 0.6), "random_state": 0}
    model = PartialAUCClassifier(solver="svmpauc-tight", alpha=0.01, **options).fit(X, y)
    (risk,) = examined
    rng = np.random.default_rng(0)
    for _ in range(20):  # slopes and changes are bounded as the certificate assumes
        scores, error = rng.normal(size=80), 1e-3 * rng.uniform(-1, 1, 80)
        value, slopes = risk.evaluate(scores)
        assert np.abs(slopes).sum() <= risk.reach * (1 + 1e-12)
        assert abs(risk.evaluate(scores + error)[0] - value) <= risk.change(value, 1e-3) + 1e-12
    assert risk.at_zero()[0] == pytest.approx(1.0)
    tighter = PartialAUCClassifier(solver="svmpauc-tight", alpha=0.01, tol=1e-8, **options).fit(X, y)
    assert model.objective_ - model.duality_gap_ <= tighter.objective_ <= model.objective_ * (1 + 1e-9)


@pytest.mark.parametrize("far", [1e9, 1.76e13, 1e15])
def test_one_score_far_away_leaves_the_objective_exact(far):
    X, y = np.repeat([0.0, 1.0, far], [50, 50, 1])[:, None], np.repeat([0, 1], [50, 51])
    model = ROCSVC(alpha=1.0).fit(X, y)
    exact = float(exact_objective(model, X, y, None, 1.0).value)
    share = 50 / 51  # of the pairs whose loss is 1 - w for the weight w, which is the share at the optimum
    assert abs(exact - model.objective_) <= 1e-12
    assert model.objective_ - model.duality_gap_ <= share - 0.5 * share**2


def test_the_gap_of_the_squared_loss_bounds_the_optimum():
    X, y = labelled(60, 4, 3)
    solver = SquaredLoss(as_design(X), np.where(y == 1, 1.0, -1.0), alpha=100.0, weights=None)
    objective, gap = solver.objective(), solver.gap()
    solver.advance(1)
    assert 0.0 < objective - solver.objective() <= gap


@pytest.mark.parametrize("n", [64, 2048])  # of which all rows are examined, and some
@pytest.mark.parametrize("tol, status", [(1e-3, "converged"), (1e-9, "stagnated")])
def test_the_gap_of_a_subproblem_counts_what_float32_leaves_out(n, tol, status):
    """float32 holds no number between 1 and 1 + 1e-7: the root of the gap has no norm by its values."""
    coef = np.repeat([1.0, -1.0], n // 2) / n
    K = 1.0 + 3e-8 * np.eye(n)
    root = coef, K.astype(np.float32) @ coef
    assert root[0] @ root[1] == 0.0
    solution = Solution(coef, n_iter=1)
    result = driver.FitResult(solution, "converged", 1, 0.0, 0, objective=1e-3, gap=None, subproblem_gap=0.0)
    found = certified(ExaminedKernel(Precomputed(), K, True, "float32", root), result, tol)
    assert coef @ K @ coef <= found.subproblem_gap and found.status == status


@pytest.mark.parametrize(
    "model, n",
    [
        (PartialAUCClassifier((0.0, 1.0), alpha=1e-3, dtype="float32", tol=1e-5), 400),
        (RankedRangeClassifier((0.0, 1.0), alpha=1e-3, tol=1e-5), 2100),  # more rows than float64 is the default for
    ],
    ids=lambda case: type(case).__name__,
)
def test_the_gap_of_a_subproblem_bounds_that_of_float64_values(model, n, monkeypatch):
    make, solvers = SpaceTask.make_solver, []

    def noted(task, *arguments):
        solvers.append(make(task, *arguments))
        return solvers[-1]

    monkeypatch.setattr(SpaceTask, "make_solver", noted)
    X, y = labelled(n, 3, 4)
    model = clone(model).set_params(kernel="rbf", gamma=0.1, features="exact", random_state=0).fit(X, y)
    coef, _ = solvers[-1].root_of_gap()
    exact = coef @ rbf_kernel(X, gamma=0.1) @ coef
    assert model.dtype_ == "float32" and model.converged_
    assert exact <= model.subproblem_gap_ <= 1.1 * exact
