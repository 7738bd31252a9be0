"""LinearSVC(intercept_scaling=inf): an intercept without a penalty, against optima of scipy, on columns anywhere."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import LinearConstraint, minimize

from kernbench import LinearSVC
from kernbench.distributed import Distributed
from kernbench.solvers.registry import names

LOSSES = ("squared_hinge", "hinge", "log_loss")


def problem(n=60, d=4, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 3.0, 0.1, 1.0][:d]
    scores = X[:, 0] + 0.5 * rng.normal(size=n) + 0.3
    return X, np.digitize(scores, np.linspace(-0.5, 0.7, n_classes - 1) if n_classes > 2 else [0.0])


def optimum(X, s, C, loss, weights):
    """The smallest 1/2 |w|^2 + C sum_i w_i l(s_i (<w, x_i> + b)), by methods that know nothing of ours."""
    n, d = X.shape

    def smooth(v):
        m = s * (X @ v[:d] + v[d])
        if loss == "log_loss":
            losses, slopes = np.logaddexp(0.0, -m), -1.0 / (1.0 + np.exp(m))
        else:
            losses, slopes = np.maximum(0.0, 1.0 - m) ** 2, -2.0 * np.maximum(0.0, 1.0 - m)
        g = C * weights * slopes * s
        return 0.5 * v[:d] @ v[:d] + C * weights @ losses, np.append(v[:d] + g @ X, g.sum())

    if loss != "hinge":
        return minimize(smooth, np.zeros(d + 1), jac=True, method="BFGS", options={"gtol": 1e-9}).fun

    def value(v):  # with slack variables
        return 0.5 * v[:d] @ v[:d] + C * weights @ v[d + 1 :], np.concatenate([v[:d], [0.0], C * weights])

    A = np.hstack([s[:, None] * X, s[:, None], np.eye(n)])
    bounds = [(None, None)] * (d + 1) + [(0.0, None)] * n
    start = np.concatenate([np.zeros(d + 1), np.ones(n)])
    options = {"maxiter": 500, "ftol": 1e-12}
    constraint = LinearConstraint(A, lb=1.0)
    found = minimize(value, start, jac=True, bounds=bounds, constraints=constraint, method="SLSQP", options=options)
    return found.fun


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_optimum_and_certificate(loss, weighted):
    X, y = problem()
    weights = np.random.default_rng(1).uniform(0.2, 2.0, len(y)) if weighted else np.ones(len(y))
    for C in (0.01, 1.0, 10.0):
        model = LinearSVC(loss, C=C, intercept_scaling=np.inf, tol=1e-8).fit(X, y, weights if weighted else None)
        best = optimum(X, np.where(y == 1, 1.0, -1.0), C, loss, weights) / (C * len(y))
        assert model.converged_ and model.solver_ == "newton"
        assert model.objective_ == pytest.approx(best, rel=2e-6)
        assert model.objective_ - model.duality_gap_ <= best * (1 + 1e-9)


@pytest.mark.parametrize("form", ["dense", "csr", "float32"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_model_moves_with_the_columns(loss, form):
    X, y = problem(n_classes=3)
    X = X.astype(np.float32).astype(np.float64)
    here = LinearSVC(loss, intercept_scaling=np.inf, tol=1e-10).fit(X, y)
    for shift in (100.0, -1000.0):
        moved = X + shift
        if form == "float32":
            moved = moved.astype(np.float32)
        given = sparse.csr_matrix(moved) if form == "csr" else moved
        there = LinearSVC(loss, intercept_scaling=np.inf, tol=1e-10).fit(given, y)
        rtol = 1e-2 if form == "float32" else 1e-5  # float32 rounds the rows
        np.testing.assert_allclose(there.objective_, here.objective_, rtol=rtol)
        np.testing.assert_array_equal(there.predict(given), np.argmax(moved @ there.coef_.T + there.intercept_, axis=1))
        if form != "float32":
            np.testing.assert_allclose(there.decision_function(given), here.decision_function(X), rtol=1e-3, atol=1e-3)


def test_a_penalty_moves_the_model_with_the_origin():
    X, y = problem(400)
    for scaling, least, most in ((1.0, 0.1, np.inf), (np.inf, 0.0, 1e-3)):
        here, there = (LinearSVC(intercept_scaling=scaling, tol=1e-8).fit(X + shift, y) for shift in (0.0, 10.0))
        change = np.abs(there.decision_function(X + 10.0) - here.decision_function(X)).max()
        assert least <= change <= most


def test_a_path_and_a_warm_start():
    X, y = problem()
    models = LinearSVC(intercept_scaling=np.inf, tol=1e-8).path(X + 10.0, y, [0.1, 1.0])
    alone = LinearSVC(intercept_scaling=np.inf, tol=1e-8, warm_start=True).fit(X + 10.0, y).fit(X + 10.0, y)
    np.testing.assert_allclose(models[1].coef_, alone.coef_, rtol=1e-3)
    np.testing.assert_allclose(models[1].intercept_, alone.intercept_, rtol=1e-3)


def test_without_an_intercept_there_is_nothing_to_scale():
    X, y = problem()
    models = [LinearSVC(fit_intercept=False, intercept_scaling=scaling).fit(X, y) for scaling in (1.0, np.inf)]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


@pytest.mark.parametrize("solver", [name for name in names("linear-svm") if name != "newton"])
def test_other_solvers_refuse(solver):
    X, y = problem()
    with pytest.raises(ValueError, match=f"solver='newton' alone can do; got solver='{solver}'"):
        LinearSVC(solver=solver, intercept_scaling=np.inf).fit(X, y)


def test_blocks_of_rows():
    X, y = problem(200)
    model = Distributed(LinearSVC(intercept_scaling=np.inf, tol=1e-8)).fit(X, y)
    whole = LinearSVC(intercept_scaling=np.inf, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("scaling", [0, -1.0, np.nan, -np.inf, "inf", None])
def test_bad_scaling(scaling):
    X, y = problem()
    with pytest.raises(ValueError, match="intercept_scaling must be a positive"):
        LinearSVC(intercept_scaling=scaling).fit(X, y)
