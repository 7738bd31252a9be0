"""Objectives and optima of kernel SVMs agree with their definitions, for every library's model."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from kernbench.experiments.measure import objectives
from kernbench.experiments.measure.optimum import certified_optimum


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(120) > 0, "yes", "no")


def definition(model, X, y, C):
    """alpha/2 ‖f‖² + mean hinge and its dual, computed from the kernel matrix."""
    K = rbf_kernel(X, gamma=0.5)
    coef = np.zeros(len(X))
    coef[model.support_] = np.ravel(model.dual_coef_)
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    alpha = 1 / (C * len(X))
    norm = coef @ K @ coef
    primal = alpha / 2 * norm + np.mean(np.maximum(0, 1 - signs * (K @ coef + model.intercept_)))
    return primal, alpha * (np.abs(coef).sum() - norm / 2)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_objective_and_gap_agree_with_the_definition(problem, C):
    X, y = problem
    model = SVC(gamma=0.5, C=C, tol=1e-8).fit(X, y)
    objective, gap = objectives.svm_objective(model, X, y)
    primal, dual = definition(model, X, y, C)
    assert objective == pytest.approx(primal, rel=1e-9)
    assert gap == pytest.approx(primal - dual, abs=1e-9)
    assert -1e-9 < gap < 1e-6


def test_sparse_data_make_no_difference(problem):
    X, y = problem
    dense = objectives.svm_objective(SVC(gamma=0.5, tol=1e-9).fit(X, y), X, y)
    rows = sparse.csr_matrix(X)
    found = objectives.svm_objective(SVC(gamma=0.5, tol=1e-9).fit(rows, y), rows, y)
    assert found == pytest.approx(dense, rel=1e-6, abs=1e-8)


def test_gap_shows_who_stopped_early(problem):
    X, y = problem
    gaps = [objectives.svm_objective(SVC(gamma=0.5, C=10.0, tol=tol).fit(X, y), X, y)[1] for tol in (1.0, 1e-2, 1e-6)]
    assert gaps[0] > 10 * gaps[1] > 100 * gaps[2]


def test_no_gap_from_coefficients_outside_the_box(problem):
    X, y = problem
    model = SVC(gamma=0.5, C=1.0).fit(X, y)
    model.C = 0.5  # now some coefficients are above C
    assert objectives.svm_objective(model, X, y)[1] is None


def test_chunks_do_not_matter(problem, monkeypatch):
    X, y = problem
    model = SVC(gamma=0.5, C=1.0).fit(X, y)
    whole = objectives.svm_objective(model, X, y)
    monkeypatch.setattr(objectives, "CHUNK_ROWS", 7)
    assert objectives.svm_objective(model, X, y) == pytest.approx(whole, rel=1e-12)


def test_more_than_two_classes_are_refused(problem):
    X, _ = problem
    y = np.arange(len(X)) % 3
    with pytest.raises(ValueError, match="the model has 3 classes"):
        objectives.svm_objective(SVC().fit(X, y), X, y)


def test_expansion_and_optimum_against_brute_force():
    rng = np.random.default_rng(0)
    X, gamma = rng.normal(size=(60, 3)), 0.4
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    K = rbf_kernel(X, gamma=gamma)
    coef = rng.normal(size=60)
    for alpha in (1.0, 0.01):
        expected = 0.5 * alpha * coef @ K @ coef + np.maximum(0, 1 - y * (K @ coef)).mean()
        found = objectives.expansion_objective(X, y, gamma, alpha, np.arange(60), coef)
        assert found == pytest.approx(expected, rel=1e-12)
    none = np.empty(0, dtype=np.intp)
    assert objectives.expansion_objective(X, y, gamma, 1.0, none, np.empty(0)) == 1.0
    # At alpha = 1 the minimiser is y/n and the optimum 1 - y'Ky/(2 n²).
    data = SimpleNamespace(X_train=X, y_train=y, X_test=X, y_test=y)
    tight = {"fit_intercept": False, "tol": 1e-5, "dtype": "float64"}
    optimum = certified_optimum(data, gamma=gamma, C=1.0 / 60, **tight)
    assert optimum.lower == pytest.approx(1 - y @ K @ y / (2 * 60**2), abs=1e-9)
