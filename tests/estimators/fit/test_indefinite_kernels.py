"""Kernels that are not positive semi-definite get no certificate, and a warning; rounding alone raises no alarm."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from kernbench import (
    ROCSVC,
    KernelNoveltyDetector,
    KernelNuSVC,
    KernelNuSVR,
    KernelRegressor,
    KernelSVC,
    KernelSVR,
    PartialAUCClassifier,
    RankedRangeClassifier,
    RankedRangeRegressor,
)
from kernbench.kernels import Gaussian, Linear, Polynomial
from kernbench.kernels.functions import Precomputed
from kernbench.problems.certificate.curvature import ROUNDING, ROWS, shows_negative_curvature
from kernbench.solvers import registry

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
BY_GAP = [entry for entry in registry.SOLVERS if entry.problem.startswith("kernel-") and entry.stops_by_gap]
Y = (X[:, 0] + 0.3 * RNG.normal(size=N) > 0).astype(int)


def distances(X):
    return np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("solver", ["smo", "sdca"])
def test_the_negative_identity_certifies_nothing(solver, fit_intercept):
    model = KernelSVC("precomputed", solver=solver, fit_intercept=fit_intercept, random_state=0)
    with pytest.warns(UserWarning, match="not positive semi-definite on the training rows.*duality_gap_ is None"):
        model.fit(-np.eye(4), [0, 0, 1, 1])
    assert model.duality_gap_ is None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "kernel", [lambda A, B: -(A @ B.T), lambda A, B: np.tanh(A @ B.T - 1.0)], ids=["minus", "tanh"]
)
def test_functions_are_looked_at(kernel):
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model = KernelSVC(kernel).fit(X, Y)
    assert model.duality_gap_ is None


@pytest.mark.parametrize("entry", BY_GAP, ids=lambda entry: f"{entry.problem}-{entry.name}")
def test_who_stops_by_the_gap_does_not_converge(entry):
    model = {"kernel-svm": KernelSVC, "kernel-regression": KernelRegressor}[entry.problem]
    matrices = (-np.eye(N), (lambda A: (A + A.T) / 2)(np.random.default_rng(1).normal(size=(N, N))))
    for loss, K in itertools.product(entry.losses, matrices):
        fitted = model(loss=loss, kernel="precomputed", solver=entry.name, max_iter=2000, random_state=0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                fitted.fit(K, np.arange(N) % 2)
            except ValueError as error:  # steps without bound
                assert "numbers leave the range" in str(error)
                continue
        assert any("not positive semi-definite" in str(warning.message) for warning in caught)
        assert fitted.duality_gap_ is None and not fitted.converged_, (loss, fitted.status_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [KernelNuSVC(), KernelSVR(), KernelNuSVR(), KernelNoveltyDetector(), ROCSVC()],
    ids=lambda model: type(model).__name__,
)
def test_no_estimator_has_a_gap(model):
    fitted = clone(model).set_params(kernel="precomputed", max_iter=2000)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        fitted.fit(np.tanh(X @ X.T - 1.0), Y)
    assert fitted.duality_gap_ is None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [PartialAUCClassifier((0.0, 0.5)), RankedRangeClassifier(), RankedRangeRegressor()],
    ids=lambda model: type(model).__name__,
)
def test_subproblems_of_a_range_certify_nothing(model):
    y = X[:, 0] if isinstance(model, RankedRangeRegressor) else Y
    indefinite = np.tanh(X @ X.T - 1.0)
    of_pairs = isinstance(model, PartialAUCClassifier)  # their coefficients sum to zero
    for K, is_certified in ((X @ X.T, True), (-distances(X), of_pairs), (indefinite, False), (-np.eye(N), False)):
        fitted = clone(model).set_params(kernel="precomputed", max_iter=2000)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                fitted.fit(K, y)
            except ValueError as error:  # steps without bound
                assert "numbers leave the range" in str(error) and not is_certified
                continue
        assert any("not positive semi-definite" in str(warning.message) for warning in caught) != is_certified
        assert np.isfinite(fitted.subproblem_gap_) == is_certified
        assert fitted.converged_ == is_certified and fitted.duality_gap_ is None


SIGMOIDS = list(itertools.product([1e-4, 0.01, 0.1, 1.0, 10.0], [-1.0, 0.0, 1.0], [True, False]))


def least_curvature(gamma, coef0, fit_intercept):
    """Return the least eigenvalue of a sigmoid's matrix, centred if an intercept is free, in units of its rounding."""
    K = np.tanh(gamma * X @ X.T + coef0)
    largest = np.abs(K).max()
    if fit_intercept:
        K = K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()
    return np.linalg.eigvalsh(K)[0] / (ROUNDING * N * largest)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("gamma, coef0, fit_intercept", SIGMOIDS)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_a_sigmoid_is_certified_where_it_is_positive_semi_definite(gamma, coef0, fit_intercept, C):
    assert N <= ROWS  # no row is left out, so that no negative curvature beyond rounding goes unseen
    curvature = least_curvature(gamma, coef0, fit_intercept)
    assert not -1.5 < curvature < -1 / N  # in between both answers are right
    model = KernelSVC("sigmoid", gamma=gamma, coef0=coef0, fit_intercept=fit_intercept, C=C).fit(X, Y)
    assert (model.duality_gap_ is None) == (curvature < -1)


def test_sigmoids_are_indefinite_or_semi_definite_by_their_parameters():
    curvatures = {fit_intercept: [] for fit_intercept in (True, False)}
    for gamma, coef0, fit_intercept in SIGMOIDS:
        curvatures[fit_intercept].append(least_curvature(gamma, coef0, fit_intercept))
    assert all(min(values) < -1.5 and max(values) > -1 / N for values in curvatures.values())


def test_a_kernel_that_is_conditionally_definite_is_fine_with_an_intercept():
    K = -distances(X)
    assert not shows_negative_curvature(Precomputed(), K, np.zeros(N), balanced=True)
    assert shows_negative_curvature(Precomputed(), K, np.zeros(N), balanced=False)


def test_the_rows_of_the_largest_coefficients_are_looked_at():
    n = 3 * ROWS
    K, coef = np.eye(n), np.linspace(0.1, 0.2, n)
    K[7, 300] = K[300, 7] = 2.0
    coef[[7, 300]] = -3.0, 3.0
    assert shows_negative_curvature(Precomputed(), K, coef, balanced=False)
    assert not shows_negative_curvature(Precomputed(), np.eye(n), coef, balanced=False)


@pytest.mark.parametrize("seed", range(60))
def test_rounding_is_no_curvature(seed):
    """Positive semi-definite matrices of low rank, of nearly equal rows, on any scale, in either precision."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 3 * ROWS)), int(rng.integers(1, 5))
    rows = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4)
    if seed % 3 == 0:
        rows = rows[rng.integers(n, size=n)] * (1.0 + 1e-9 * rng.normal(size=(n, d)))
    kernel = (Linear(), Gaussian(float(np.abs(rows).max())), Polynomial(2))[seed % 3]
    K = kernel(rows, dtype=(np.float32, np.float64)[seed % 2])
    coef = rng.normal(size=n) * (rng.random(n) < 0.3)
    for balanced in (False, True):
        assert not shows_negative_curvature(Precomputed(), K, coef, balanced=balanced)


def test_values_beyond_float32_raise_no_warning():
    K = 1e90 * Gaussian(1.0)(X, X, dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not shows_negative_curvature(Precomputed(), K, np.zeros(N), balanced=False)
        assert shows_negative_curvature(Precomputed(), -K, np.zeros(N), balanced=False)
        KernelSVC("precomputed", C=1e-90).fit(K, Y)


def test_kernels_semi_definite_by_construction_are_not_looked_at(monkeypatch):
    def fails(*args, **kwargs):
        raise AssertionError("looked at")

    monkeypatch.setattr("kernbench.problems.certificate.curvature.block", fails)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert KernelSVC(Gaussian(1.0) + Linear()).fit(X, Y).duality_gap_ is not None


@pytest.mark.parametrize(("size", "dtype"), [(1e-3, float), (1e-4, float), (1e-2, np.float32)])
def test_a_small_negative_eigenvalue_of_a_matrix_is_seen(size, dtype):
    A, v = np.random.default_rng(0).normal(size=(ROWS, 8)), np.zeros(ROWS)
    v[:9] = np.linalg.svd(A[:9].T)[2][-1]  # orthogonal to the columns of A
    K = A @ A.T
    K /= np.abs(K).max()
    y = np.arange(ROWS) % 2
    certified = KernelSVC("precomputed", fit_intercept=False).fit(K.astype(dtype), y)
    assert certified.duality_gap_ is not None
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model = KernelSVC("precomputed", fit_intercept=False).fit((K - size * np.outer(v, v)).astype(dtype), y)
    assert model.duality_gap_ is None


def test_rounding_of_distances_is_no_negative_eigenvalue():
    squares = (X**2).sum(axis=1)
    K = np.exp(-np.sqrt(np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0.0)))
    assert KernelSVC("precomputed").fit(K, Y).duality_gap_ is not None
