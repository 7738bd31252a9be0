"""The sigmoid kernel: tanh to the last digits, and models with an indefinite kernel as in SVC."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernbench import KernelSVC
from kernbench.kernels import Sigmoid
from kernbench.solvers.registry import SOLVERS


def test_tanh_is_accurate_everywhere(dtype):
    rng = np.random.default_rng(0)
    sizes = np.concatenate([10.0 ** rng.uniform(-30, 30, 20_000), rng.uniform(0, 20, 40_000), [0.0, 0.625]])
    t = np.concatenate([sizes, -sizes]).astype(dtype)
    values = Sigmoid(1.0)(np.ones((1, 1)), t[:, None], dtype=dtype)[0]
    error = 2e-7 if dtype is np.float32 else 4e-16
    np.testing.assert_allclose(values.astype(np.float64), np.tanh(t.astype(np.float64)), rtol=error, atol=0)


@pytest.mark.parametrize(
    "parameters", [{"scale": 0.0}, {"scale": -1.0}, {"c": np.nan}, {"c": np.inf}, {"c": "1"}, {"c": True}]
)
def test_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(ValueError, match="Sigmoid"):
        Sigmoid(**parameters)


@pytest.mark.parametrize("gamma, coef0", [("scale", 0.0), (0.01, 0.0), (0.005, -1.0)])
def test_predictions_are_those_of_svc(gamma, coef0):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = KernelSVC("sigmoid", gamma=gamma, coef0=coef0).fit(X, y)
    theirs = SVC(kernel="sigmoid", gamma=gamma, coef0=coef0).fit(X, y)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.98
    assert ours.score(X, y) > theirs.score(X, y) - 0.01
    assert np.abs(ours.dual_coef_).max() <= 1 + 1e-9 and abs(ours.dual_coef_.sum()) < 1e-6


@pytest.mark.parametrize("gamma, coef0", [(0.5, 1.0), (0.5, 0.0), (1.0, -1.0)])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_strongly_indefinite_kernels_find_a_stationary_point(gamma, coef0, C):
    """The dual is not concave then: which of its stationary points is found depends on the path."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = KernelSVC("sigmoid", gamma=gamma, coef0=coef0, C=C).fit(X, y)
    theirs = SVC(kernel="sigmoid", gamma=gamma, coef0=coef0, C=C).fit(X, y)
    assert ours.score(X, y) > theirs.score(X, y) - 0.03
    assert np.abs(ours.dual_coef_).max() <= C * (1 + 1e-9) and abs(ours.dual_coef_.sum()) < 1e-6 * C


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "solver", [entry.name for entry in SOLVERS if entry.problem == "kernel-svm" and "hinge" in entry.losses]
)
def test_every_solver_ends_with_a_model(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=120) > 0, 1, -1)
    model = KernelSVC("sigmoid", gamma=0.3, coef0=-0.5, solver=solver, random_state=0, fit_intercept=False)
    assert np.all(np.isfinite(model.fit(X, y).decision_function(X)))


def test_coef0_may_have_either_sign_and_must_be_a_number():
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    KernelSVC("sigmoid", coef0=-0.5).fit(X, y)
    with pytest.raises(ValueError, match="coef0 must be a finite number"):
        KernelSVC("sigmoid", coef0=np.inf).fit(X, y)
