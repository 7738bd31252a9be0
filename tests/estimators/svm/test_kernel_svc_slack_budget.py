"""C and the slack budget nu of the batch perceptron, each from the other."""

import numpy as np
import pytest

from kernbench.estimators import KernelNuSVC, KernelSVC
from kernbench.kernels import Gaussian

SIX = np.array([[-2.0], [-1.0], [-0.5], [0.5], [1.0], [2.0]]), np.array([-1, -1, 1, -1, 1, 1])
SEVEN = np.vstack([SIX[0], [[3.0]]]), np.append(SIX[1], 1)
WORKED = [(SIX, False, 0.3787903281), (SEVEN, True, 0.3162321837)]
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize(("problem", "fit_intercept", "nu"), WORKED, ids=["six", "seven with intercept"])
def test_budget_of_the_worked_examples(problem, fit_intercept, nu):
    model = KernelSVC(Gaussian(1.0), C=1.0, fit_intercept=fit_intercept, tol=1e-10).fit(*problem)
    found, C = model.slack_budget(*problem)
    assert found == pytest.approx(nu, abs=1e-9)
    assert C == pytest.approx(1.0, abs=1e-8)


@quiet
@pytest.mark.parametrize(("problem", "fit_intercept", "nu"), WORKED, ids=["six", "seven with intercept"])
def test_budget_leads_back_to_c(problem, fit_intercept, nu):
    options = {"nu": nu}
    model = KernelSVC(
        Gaussian(1.0), solver="sbp", fit_intercept=fit_intercept, max_iter=100_000, random_state=0,
        solver_options=options,
    ).fit(*problem)  # fmt: skip
    found, C = model.slack_budget(*problem)
    assert found == pytest.approx(nu, rel=0.02)
    assert C == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize("C", [0.3, 3.0])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_c_and_budget_are_one_another_s(C, fit_intercept):
    """The weighted optimum for C gives C again, and nu is the slack of its margins."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=60) > 0, "yes", "no")
    weights = rng.integers(0, 3, 60).astype(float)
    model = KernelSVC(C=C, gamma=0.5, fit_intercept=fit_intercept, tol=1e-9).fit(X, y, sample_weight=weights)
    nu, same = model.slack_budget(X, y, sample_weight=weights)
    assert same == pytest.approx(C, rel=1e-6)
    norm = np.sqrt(model.dual_coef_[0] @ (model.decision_function(X)[model.support_] - model.intercept_[0]))
    slack = weights @ np.maximum(0, 1 - np.where(y == "yes", 1, -1) * model.decision_function(X))
    assert nu * weights.sum() * norm == pytest.approx(slack, rel=1e-9)


def test_weights_of_classes_are_weights_of_their_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=40) > 0, 1, 0)
    weights = np.where(y == 1, 3.0, 1.0)
    expected = KernelSVC(gamma=0.5, tol=1e-9).fit(X, y, sample_weight=weights).slack_budget(X, y, sample_weight=weights)
    model = KernelSVC(gamma=0.5, tol=1e-9, class_weight={1: 3.0}).fit(X, y)
    assert model.slack_budget(X, y) == pytest.approx(expected, rel=1e-6)


def test_a_share_of_support_vectors_has_the_c_and_the_budget_of_its_margin():
    rng = np.random.default_rng(1)
    X, weights = rng.normal(size=(40, 2)), rng.uniform(0.5, 2.0, size=40)
    y = X[:, 0] + 0.7 * rng.normal(size=40) > 0
    model = KernelNuSVC(nu=0.4, gamma=0.5, tol=1e-9).fit(X, y, sample_weight=weights)
    nu, C = model.slack_budget(X, y, sample_weight=weights)
    assert C == pytest.approx(1 / model.rho_[0], rel=1e-6)
    again = KernelSVC(gamma=0.5, C=C, tol=1e-9).fit(X, y, sample_weight=weights)
    assert again.slack_budget(X, y, sample_weight=weights) == pytest.approx((nu, C), rel=1e-6)


def test_separable_classes_have_no_slack_and_any_c():
    X, y = [[-1.0], [1.0]], [0, 1]
    assert KernelSVC("linear", C=100.0, tol=1e-9).fit(X, y).slack_budget(X, y) == (0.0, np.inf)


def test_budget_needs_two_classes_the_hinge_and_the_training_set():
    X, y = SIX
    with pytest.raises(ValueError, match="two classes"):
        KernelSVC().fit(X, [0, 0, 1, 1, 2, 2]).slack_budget(X, y)
    with pytest.raises(ValueError, match="loss='hinge'"):
        KernelSVC(loss="squared_hinge").fit(X, y).slack_budget(X, y)
    model = KernelSVC().fit(X, y)
    with pytest.raises(ValueError, match="training set"):
        model.slack_budget(X[:3], y[:3])
    with pytest.raises(ValueError, match="training set"):
        model.slack_budget(X, y + 1)
    with pytest.raises(ValueError, match="features"):
        model.slack_budget(np.ones((6, 2)), y)
