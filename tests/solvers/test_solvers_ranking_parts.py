"""What the solvers of the ROC-SVM are built from: designs, simplex programme, line search, metric, draws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from kernbench.problems.draws import seed_of, stratified_sample
from kernbench.reference.bundle.line_search import line_search
from kernbench.reference.bundle.preconditioner import Metric
from kernbench.reference.bundle.simplex_qp import simplex_qp
from kernbench.reference.ranking.closed_form import squared_loss_solution as reference_solution
from kernbench.solvers.base import Solution
from kernbench.solvers.bundle._simplex_qp import SimplexQP
from kernbench.solvers.ranking.closed_form import squared_loss_solution

FORMS = ("dense", "float32", "csr", "csr64", "kernel", "tiles")


# --- designs
# --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, d", [(1, 1), (7, 3), (50, 8), (50, 33), (5000, 9)])
@pytest.mark.parametrize("form", FORMS)
def test_a_design_maps_to_scores_and_back(form, n, d, ranking, design_of):
    if n == 5000 and form in ("kernel", "tiles") or n == 1:
        n = 300 if n == 5000 else 2
    problem = ranking(n, 0, d=d, form=form)
    design, plain = design_of(problem), design_of(problem, "reference")
    rng = np.random.default_rng(1)
    f, g = rng.normal(size=design.n_coef), rng.normal(size=n)
    assert (design.n_samples, design.n_coef, design.is_kernel) == (
        plain.n_samples,
        plain.n_coef,
        plain.is_kernel,
    )
    np.testing.assert_allclose(design.scores(f), plain.scores(f), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(design.combine(g), plain.combine(g), rtol=1e-9, atol=1e-9)
    assert design.n_passes == plain.n_passes
    some = np.arange(0, n, 2)
    part = design.take(some)
    small = rng.normal(size=part.n_coef)
    # An element found on a subset is the same function on the whole.
    np.testing.assert_allclose(
        part.scores(small), design.scores(design.embed(small, some))[some], rtol=1e-9, atol=1e-9
    )


def test_a_design_refuses_vectors_of_another_length(ranking, design_of):
    design = design_of(ranking(10, 0))
    for call, size in ((design.scores, 4), (design.combine, 3)):
        with pytest.raises(ValueError, match="must have shape"):
            call(np.zeros(size))


# --- the simplex programme
# ------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None, derandomize=True)
@given(k=st.integers(1, 12), rank=st.integers(0, 12), seed=st.integers(0, 10**6), repeated=st.booleans())
def test_the_simplex_programme_is_solved_to_its_optimality_conditions(k, rank, seed, repeated):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(k, rank))
    b = rng.normal(size=k)
    if repeated and k > 1:
        A[-1], b[-1] = A[0], b[0]
    Q = A @ A.T
    for solve in (simplex_qp, SimplexQP(k + 2).maximise):
        u = solve(Q, b, np.zeros(k))
        assert np.all(u >= 0) and u.sum() == pytest.approx(1, abs=1e-12)
        ascent = b - Q @ u
        # No corner is steeper than those that are mixed.
        assert ascent.max() <= ascent @ u + 1e-8 * (1 + np.abs(Q).max())
        # A start at a solution of a similar programme ends at the same value.
        start = rng.dirichlet(np.ones(k))
        again = solve(Q, b, start)
        assert b @ again - again @ Q @ again / 2 == pytest.approx(b @ u - u @ Q @ u / 2, rel=1e-9, abs=1e-9)


def test_the_simplex_programme_agrees_with_scipy():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(6, 3)), rng.normal(size=6)
    Q = A @ A.T
    found = minimize(lambda u: u @ Q @ u / 2 - b @ u, np.full(6, 1 / 6), jac=lambda u: Q @ u - b, bounds=[(0, 1)] * 6,
                     constraints={"type": "eq", "fun": lambda u: u.sum() - 1}, method="SLSQP",
                     options={"ftol": 1e-14})  # fmt: skip
    np.testing.assert_allclose(SimplexQP(6).maximise(Q, b, np.zeros(6)), found.x, atol=1e-6)


def test_the_simplex_programme_refuses_shapes_that_do_not_fit():
    for Q, b, u in ((np.eye(3), np.ones(3), np.zeros(2)), (np.eye(2), np.ones(3), np.zeros(3)),
                    (np.eye(9), np.ones(9), np.zeros(9))):  # fmt: skip
        with pytest.raises(ValueError, match="one programme"):
            SimplexQP(4).maximise(Q, b, u)


# --- line search and metric
# -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kink", [0.0, 1.0])
@pytest.mark.parametrize("minimiser", [1e-4, 0.3, 1.0, 7.0, 3e4])
def test_the_line_search_ends_just_beyond_the_minimiser(minimiser, kink):
    derivative = lambda t: (t - minimiser) / minimiser + kink * np.sign(t - minimiser)  # noqa: E731
    t = line_search(derivative, derivative(0.0))
    assert minimiser <= t <= 1.1 * minimiser


def test_the_line_search_ends_where_nothing_rises():
    assert line_search(lambda t: -1.0, -1.0) == 2.0**30


def test_the_line_search_accepts_a_slope_that_is_zero_up_to_rounding():
    """The full step minimises a quadratic model exactly; the sign of its slope there is a matter of rounding."""
    for rounding in (-1e-16, 0.0, 1e-16):
        assert line_search(lambda t: t - 1.0 + rounding, -1.0) == 1.0


@pytest.mark.parametrize("form", ["dense", "float32", "csr"])
def test_the_metric_is_the_sum_over_independent_pairs(form, ranking, design_of):
    problem = ranking(40, 3, d=4, form=form)
    design = design_of(problem, "reference")
    positive, h = problem.y > 0, np.random.default_rng(0).random(40)
    h[~positive] *= h[positive].sum() / h[~positive].sum()  # as many pairs on either side
    metric = Metric(design, positive, 0.1, np.arange(40))
    metric.fit(h)
    X = design.rows(np.arange(40))
    D = (X[positive][:, None] - X[~positive]).reshape(-1, 4)
    pairs = np.outer(h[positive], h[~positive]).ravel() / h[positive].sum()
    M = 0.1 * np.eye(4) + D.T @ (pairs[:, None] * D)
    np.testing.assert_allclose(metric.solve(M @ np.arange(4.0)), np.arange(4.0), atol=1e-7)
    V = np.random.default_rng(1).normal(size=(3, 4))
    Z = metric.half_solve(V)
    np.testing.assert_allclose(Z @ Z.T, V @ np.linalg.solve(M, V.T), rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", ["dense", "float32", "csr"])
def test_the_squared_loss_has_a_closed_form(form, weighted, ranking, design_of):
    problem = ranking(90, 4, form=form, weighted=weighted)
    w = squared_loss_solution(design_of(problem), problem.y, alpha=0.2, weights=problem.weights)
    plain = design_of(problem, "reference")
    np.testing.assert_allclose(
        w, reference_solution(plain, problem.y, alpha=0.2, weights=problem.weights), rtol=1e-7
    )
    X = plain.rows(np.arange(90))
    weights = np.ones(90) if problem.weights is None else problem.weights
    i, j = (
        np.ravel(k) for k in np.meshgrid(*(np.flatnonzero(problem.y == s) for s in (1, -1)), indexing="ij")
    )
    D, share = X[i] - X[j], weights[i] * weights[j]
    share = share / share.sum()
    np.testing.assert_allclose(0.2 * w - 2 * D.T @ (share * (1 - D @ w)), 0, atol=1e-8)


def test_the_closed_form_refuses_what_it_cannot_solve(ranking, design_of):
    problem = ranking(20, 5, form="kernel")
    with pytest.raises(ValueError, match="explicit features"):
        squared_loss_solution(design_of(problem), problem.y, alpha=1.0)
    problem = ranking(20, 5)
    for change, sentence in (({"alpha": -1.0}, "alpha"), ({"weights": np.zeros(20)}, "sample"),
                             ({"y": problem.y[:3]}, "one label")):  # fmt: skip
        arguments = {"y": problem.y, "alpha": 1.0} | change
        with pytest.raises(ValueError, match=sentence):
            squared_loss_solution(design_of(problem), **arguments)


# --- draws
# ----------------------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    n_positive=st.integers(1, 60),
    n_negative=st.integers(1, 60),
    seed=st.integers(0, 1000),
    weighted=st.booleans(),
)
def test_a_stratified_sample_has_both_classes_and_no_repeats(n_positive, n_negative, seed, weighted):
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.arange(n_positive + n_negative) < n_positive)
    weights = None
    if weighted:
        weights = rng.integers(0, 2, size=len(positive)).astype(float)
        weights[[np.argmax(positive), np.argmin(positive)]] = 1
    size = max(2, len(positive) // 2)
    drawn = stratified_sample(rng, positive, weights, size)
    assert np.all(np.diff(drawn) > 0) and len(drawn) <= size
    assert positive[drawn].any() and not positive[drawn].all()
    if weighted:
        assert np.all(weights[drawn] > 0)
    else:
        assert len(drawn) == size
        half = size // 2
        assert min(np.count_nonzero(positive[drawn]), half) == min(n_positive, half)


def test_a_run_that_goes_on_keeps_its_seed():
    assert seed_of(3) == seed_of(3) != seed_of(4)
    assert seed_of(4, Solution(np.zeros(2), state={"seed": np.array([17])})) == 17
    assert seed_of(4, Solution(np.zeros(2))) == seed_of(4)
