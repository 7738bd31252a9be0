"""Parts of the bundle method: simplex programme, line search, preconditioner, cuts, limited memory."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from kernbench.problems.ranking.pairwise_problem import PairwiseProblem
from kernbench.problems.ranking.ranked_problem import WindowProblem
from kernbench.reference.bundle import limited_memory as reference_memory
from kernbench.reference.bundle.cuts import Cuts as PlainCuts
from kernbench.reference.bundle.line_search import line_search
from kernbench.reference.bundle.preconditioner import Preconditioner
from kernbench.reference.bundle.simplex_qp import simplex_qp
from kernbench.reference.ranking import problem as reference_pairs_risk
from kernbench.reference.ranking import ranked_risk as reference_ranked_risk
from kernbench.solvers.bundle._cuts import Cuts
from kernbench.solvers.bundle._cutting_planes import fit_preconditioner
from kernbench.solvers.bundle._preconditioner import preconditioner_for
from kernbench.solvers.bundle._simplex_qp import SimplexQP
from kernbench.solvers.bundle.limited_memory import LimitedMemory
from kernbench.solvers.ranking import _problem as pairs_risk
from kernbench.solvers.ranking import _ranked_risk as ranked_risk

# --- the simplex programme


@settings(max_examples=60, deadline=None)
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
        # No vertex is steeper than those of positive weight.
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


# --- line search and preconditioner


@pytest.mark.parametrize("kink", [0.0, 1.0])
@pytest.mark.parametrize("minimiser", [1e-4, 0.3, 1.0, 7.0, 3e4])
def test_the_line_search_ends_just_beyond_the_minimiser(minimiser, kink):
    derivative = lambda t: (t - minimiser) / minimiser + kink * np.sign(t - minimiser)  # noqa: E731
    t = line_search(derivative, derivative(0.0))
    assert minimiser <= t <= 1.1 * minimiser


def test_the_line_search_ends_where_nothing_rises():
    assert line_search(lambda t: -1.0, -1.0) == 2.0**30


def test_the_line_search_accepts_a_slope_that_is_zero_up_to_rounding():
    """The full step minimises a quadratic model exactly; the sign of its slope there depends on rounding."""
    for rounding in (-1e-16, 0.0, 1e-16):
        assert line_search(lambda t: t - 1.0 + rounding, -1.0) == 1.0


@pytest.mark.parametrize("form", ["dense", "float32", "csr"])
def test_the_preconditioner_is_the_sum_over_independent_pairs(form, ranking, design_of):
    problem = ranking(40, 3, d=4, form=form)
    design = design_of(problem, "reference")
    positive, h = problem.y > 0, np.random.default_rng(0).random(40)
    h[~positive] *= h[positive].sum() / h[~positive].sum()  # as many pairs on either side
    hessian = Preconditioner(design, positive, 0.1, np.arange(40))
    hessian.fit(h)
    X = design.rows(np.arange(40))
    D = (X[positive][:, None] - X[~positive]).reshape(-1, 4)
    pairs = np.outer(h[positive], h[~positive]).ravel() / h[positive].sum()
    M = 0.1 * np.eye(4) + D.T @ (pairs[:, None] * D)
    np.testing.assert_allclose(hessian.solve(M @ np.arange(4.0)), np.arange(4.0), atol=1e-7)
    V = np.random.default_rng(1).normal(size=(3, 4))
    Z = hessian.half_solve(V)
    np.testing.assert_allclose(Z @ Z.T, V @ np.linalg.solve(M, V.T), rtol=1e-6)


def densities(risks, design_of, problem, scores):
    """Return the densities of a risk at scores, compiled and of the reference."""
    found = []
    for twin, make in risks.items():
        risk, h = make(design_of(problem, twin)), np.empty(problem.n)
        if twin == "reference":
            h[:] = risk.density(scores)
        else:
            fit_preconditioner(preconditioner_for(risk.design, risk.centred_by, 0.1, None), risk, scores, h)
        found.append(h)
    return found


@pytest.mark.parametrize("ranked", [False, True], ids=["pairs", "window"])
def test_the_band_of_a_density_is_as_wide_with_weights_as_with_repeated_rows(ranked, ranking, design_of):
    problem, repeated = ranking(60, 12, weighted=True), ranking(60, 12)
    times, scores = problem.weights.astype(int), np.random.default_rng(0).normal(size=60)
    scores[times == 0] *= 1e6  # these have no influence
    repeated.X, repeated.y = np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times)
    repeated.n = len(repeated.y)

    def of(problem):
        if ranked:
            window = WindowProblem(problem.y.astype(float), problem.weights, "hinge", (0.0, 0.5))
            return {"compiled": lambda design: ranked_risk.RankedRisk(design, window, 0.1),
                    "reference": lambda design: reference_ranked_risk.RankedRisk(design, window, 0.1)}  # fmt: skip
        pairwise = PairwiseProblem(problem.n, problem.y, alpha=0.1, weights=problem.weights)
        return {"compiled": lambda design: pairs_risk.PairwiseRisk(pairwise, design),
                "reference": lambda design: reference_pairs_risk.PairwiseRisk(pairwise, design)}  # fmt: skip

    compiled, reference = densities(of(problem), design_of, problem, scores)
    np.testing.assert_allclose(compiled, reference, rtol=1e-9, atol=1e-14)
    (whole, _) = densities(of(repeated), design_of, repeated, np.repeat(scores, times))
    owners = np.repeat(np.arange(60), times)
    np.testing.assert_allclose(compiled, np.bincount(owners, whole, minlength=60), rtol=1e-9, atol=1e-14)


# --- the cuts


@pytest.mark.parametrize("capacity", [5, 100])
def test_twins_of_cuts_keep_and_drop_the_same(capacity, ranking, design_of):
    """Cuts that stay idle, those without room, and linear terms that come later: rarely all in one run of a solver."""
    problem, rng = ranking(12, 3, d=4), np.random.default_rng(0)
    twins = [make(design_of(problem, twin), capacity) for twin, make in (("compiled", Cuts), ("reference", PlainCuts))]
    most = 0
    for round_ in range(60):
        g, offset = rng.normal(size=12) / 12, float(rng.normal())
        bounds = []
        for cuts in twins:
            cuts.append(g, offset)
            if round_ % 20 == 7:
                cuts.add_linear(g[::-1].copy(), 0.3)
            cuts.kept = cuts.n_cuts - 1
            bounds.append(cuts.maximise(0.1))
            cuts.drop_idle()
        assert bounds[0] == pytest.approx(bounds[1], rel=1e-8)
        states, most = [cuts.state() for cuts in twins], max(most, twins[0].n_cuts)
        for name, values in states[0].items():
            np.testing.assert_allclose(values, states[1][name], rtol=1e-6, atol=1e-8, err_msg=name)
    assert most == 5 if capacity == 5 else twins[0].n_cuts < most


# --- the limited memory


def test_the_memory_holds_the_latest_pairs_in_their_order():
    design = SimpleNamespace(n_coef=2, is_kernel=False, inner=lambda a, b, scores: float(a @ b))
    memory, steps = LimitedMemory(reference_memory, design, 3), np.arange(1.0, 11.0).reshape(5, 2)
    for step in steps:
        memory.append(0.5, step, None, 2.0 * step, None)
    state = memory.state()
    np.testing.assert_array_equal(state["steps"], 0.5 * steps[-3:])
    np.testing.assert_array_equal(state["changes"], 2.0 * steps[-3:])
    smaller = LimitedMemory(reference_memory, design, 2)
    smaller.load(state)
    np.testing.assert_array_equal(smaller.state()["steps"], 0.5 * steps[-2:])
    np.testing.assert_allclose(smaller.curvatures, np.sum(steps[-2:] ** 2, axis=1))
    v = 2.0 * steps[-1]
    smaller.solve(v, None)
    np.testing.assert_allclose(v, 0.5 * steps[-1])  # the secant equation of the latest pair
