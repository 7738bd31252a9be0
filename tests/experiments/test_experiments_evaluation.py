"""The yardstick of kernel SVMs agrees with the definition, whoever fitted the model."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from kernbench.experiments.measure import evaluation
from kernbench.experiments.measure.clock import ErrorTracer, fit_seconds, plain


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(120) > 0, "yes", "no")


def definition(model, X, y, C):
    """alpha/2 ‖f‖² + mean hinge and its dual, straight from the kernel matrix."""
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
    objective, gap = evaluation.svm_objective(model, X, y)
    primal, dual = definition(model, X, y, C)
    assert objective == pytest.approx(primal, rel=1e-9)
    assert gap == pytest.approx(primal - dual, abs=1e-9)
    assert -1e-9 < gap < 1e-6


def test_sparse_data_make_no_difference(problem):
    X, y = problem
    dense = evaluation.svm_objective(SVC(gamma=0.5, tol=1e-9).fit(X, y), X, y)
    rows = sparse.csr_matrix(X)
    found = evaluation.svm_objective(SVC(gamma=0.5, tol=1e-9).fit(rows, y), rows, y)
    assert found == pytest.approx(dense, rel=1e-6, abs=1e-8)


def test_gap_shows_who_stopped_early(problem):
    X, y = problem
    gaps = [
        evaluation.svm_objective(SVC(gamma=0.5, C=10.0, tol=tol).fit(X, y), X, y)[1]
        for tol in (1.0, 1e-2, 1e-6)
    ]
    assert gaps[0] > 10 * gaps[1] > 100 * gaps[2]


def test_no_gap_from_coefficients_outside_the_box(problem):
    X, y = problem
    model = SVC(gamma=0.5, C=1.0).fit(X, y)
    model.C = 0.5  # now some coefficients are above C
    assert evaluation.svm_objective(model, X, y)[1] is None


def test_chunks_do_not_matter(problem, monkeypatch):
    X, y = problem
    model = SVC(gamma=0.5, C=1.0).fit(X, y)
    whole = evaluation.svm_objective(model, X, y)
    monkeypatch.setattr(evaluation, "CHUNK_ROWS", 7)
    assert evaluation.svm_objective(model, X, y) == pytest.approx(whole, rel=1e-12)


def test_more_than_two_classes_are_refused(problem):
    X, _ = problem
    y = np.arange(len(X)) % 3
    with pytest.raises(ValueError, match="the model has 3 classes"):
        evaluation.svm_objective(SVC().fit(X, y), X, y)


def test_fit_time_leaves_out_the_tracing_and_nothing_else():
    tracer = ErrorTracer(data=None)
    assert fit_seconds(10.0, 15.0, tracer, own_clock=3.0) == 5.0  # never called: nothing to leave out
    tracer.first, tracer.last = 10.5, 99.75
    assert fit_seconds(10.0, 100.0, tracer, own_clock=3.0) == 0.5 + 3.0 + 0.25
    assert fit_seconds(10.0, 100.0, tracer, own_clock=None) == 90.0


def test_plain_gives_json_values():
    found = plain(
        {"a": np.float32(0.5), "b": np.array([1, 2]), "c": (np.inf, float("nan")), 3: np.bool_(True)}
    )
    assert found == {"a": 0.5, "b": [1, 2], "c": [None, None], "3": True}
    assert [type(value) for value in found["b"]] == [int, int]
