"""What a certificate computes: nothing twice, and nothing that the solver has computed."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from kernbench import KernelRegressor, KernelSVC, LinearSVC
from kernbench.estimators.fit import certificate
from kernbench.kernels import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.problems.certificate import certify
from kernbench.problems.certificate.extended import LONG, Expansion
from kernbench.problems.certificate.risks import MarginRisk
from kernbench.problems.margin_problem import MarginProblem


def count_calls(monkeypatch, owner, name):
    calls, inner = [], getattr(owner, name)

    def counted(*arguments, **settings):
        calls.append(arguments)
        return inner(*arguments, **settings)

    monkeypatch.setattr(owner, name, counted)
    return calls


@pytest.mark.parametrize("dtype, n_bounds", [("float64", 1), ("float32", 2)])
def test_problem_and_bound_are_made_once(monkeypatch, dtype, n_bounds):
    X, y = make_classification(200, 10, n_informative=5, flip_y=0.1, random_state=0)
    made = count_calls(monkeypatch, MarginProblem, "__init__")
    bounds = count_calls(monkeypatch, certificate, "error_of_values")
    model = KernelSVC(max_iter=10**6, dtype=dtype).fit(X, y)  # a limit sends it to the driver
    assert model.converged_ and len(made) == 1 and len(bounds) == n_bounds


def test_rows_of_a_linear_model_are_measured_once(monkeypatch):
    X, y = make_classification(200, 10, n_informative=5, flip_y=0.1, random_state=0)
    measured = count_calls(monkeypatch, certificate, "_largest_entry")
    assert LinearSVC().fit(X, y).converged_ and len(measured) == 1


@pytest.mark.parametrize("equal_classes", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_risk_at_zero_is_that_of_the_best_intercept(weighted, equal_classes, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y = np.repeat([-1.0, 1.0], 20 if equal_classes else [13, 27])
    weights = 10.0 ** rng.uniform(-3, 3, 40) * (rng.random(40) < 0.8) if weighted else None
    if weighted:
        weights[[0, -1]] = 1.0
    problem = MarginProblem(KernelRows(rng.normal(size=(40, 2)), Gaussian()), y, alpha=1.0, weights=weights)
    risk, intercept = MarginRisk(problem).at_zero()
    b = problem.best_intercept(np.zeros(40))
    assert intercept == pytest.approx(b)
    assert risk == pytest.approx(problem.loss_sum(np.zeros(40), b) / 40, rel=1e-14)
    assert all(risk <= problem.loss_sum(np.zeros(40), other) / 40 * (1 + 1e-12) for other in np.linspace(-2, 2, 41))


@pytest.mark.parametrize("solver", ["newton", "sdca", "smo"])
@pytest.mark.parametrize("alpha", [1e-2, 1e-6])
def test_kernel_ridge_needs_no_extended_precision(monkeypatch, solver, alpha):
    """The coefficients of its dual bound are those of the model, which are far smaller than the largest possible."""
    extended = count_calls(monkeypatch, certify, "_extended")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60 if solver == "sdca" else 300, 5))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=len(X))
    model = KernelRegressor(alpha=alpha, solver=solver, gamma=0.3, max_iter=10**6, random_state=0).fit(X, y)
    assert model.converged_ and 0 <= model.duality_gap_ <= 1e-4 * model.objective_ and not extended


def test_kernel_values_in_extended_precision_are_computed_once_for_the_same_columns(monkeypatch):
    values = count_calls(monkeypatch, Expansion, "_values")
    rng = np.random.default_rng(0)
    X, u, v = rng.normal(size=(30, 2)), rng.normal(size=30), rng.normal(size=30)
    space = Expansion(Gaussian(1.0), X)
    found = [space.scores(coef) for coef in (u, v)]
    assert len(values) == 1
    v[3] = 0.0
    found.append(space.scores(v))
    assert len(values) == 2
    K = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))
    np.testing.assert_allclose(np.array(found[::2], dtype=np.float64), [K @ u, K @ v], rtol=1e-12, atol=1e-13)
    assert found[0].dtype == LONG


def test_the_largest_entry_may_be_negative():
    X = np.array([[-3.0, 1.0], [0.5, 2.0]])
    assert certificate._largest_entry(X) == certificate._largest_entry(sparse.csr_matrix(X)) == 3.0
