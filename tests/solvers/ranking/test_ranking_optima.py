"""Solvers of the ROC-SVM against SciPy, closed forms and the numbers worked out by hand; no certificate is false."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from kernbench.reference.design import as_design as as_reference_design
from kernbench.solvers import driver
from kernbench.solvers.design import as_design
from kernbench.solvers.registry import SOLVERS

RANKING_SOLVERS = [entry for entry in SOLVERS if entry.problem == "roc-svm"]
CERTIFIED = [entry for entry in RANKING_SOLVERS if entry.name in ("bundle", "newton")]
COMBINATIONS = [(entry, loss) for entry in RANKING_SOLVERS for loss in entry.losses]
with_loss = pytest.mark.parametrize("entry, loss", COMBINATIONS, ids=lambda c: getattr(c, "name", c))


def differences(problem, pairs=None):
    """x_i - x_j of all pairs, or of some, in features that the kernel is the inner product of; and their weights."""
    V = problem.X.toarray() if sparse.issparse(problem.X) else np.asarray(problem.X, dtype=np.float64)
    if problem.form == "kernel":
        size, U = np.linalg.eigh(problem.kernel(V, V))
        V = U * np.sqrt(np.maximum(size, 0))
    i, j = pairs or np.meshgrid(*(np.flatnonzero(problem.y == label) for label in (1, -1)), indexing="ij")
    i, j = np.ravel(i), np.ravel(j)
    w = np.ones(problem.n) if problem.weights is None or pairs else problem.weights
    return V[i] - V[j], w[i] * w[j] / (w[i] @ w[j])


def written_out(problem, alpha, loss, pairs=None):
    """The objective, a sum over the pairs, as a function of the weights of the features."""
    D, share = differences(problem, pairs)

    def objective(f):
        if loss == "log_loss":
            return 0.5 * alpha * f @ f + share @ np.logaddexp(0, -D @ f)
        excess = np.maximum(0, 1 - D @ f)
        return 0.5 * alpha * f @ f + share @ (excess if loss == "hinge" else excess**2)

    return objective


def optimum(problem, alpha, loss, pairs=None):
    """A lower and an upper bound on the optimal objective, by SciPy.

    Hinge: the dual over all pairs, max sum(u) - |D'u|^2 / (2 alpha) with 0 <= u_k <= the weight of the pair.
    """
    D, share = differences(problem, pairs)
    objective = written_out(problem, alpha, loss, pairs)
    if loss == "hinge":
        found = minimize(
            lambda u: ((s := D.T @ u) @ s / (2 * alpha) - u.sum(), D @ s / alpha - 1), 0 * share, jac=True,
            method="L-BFGS-B", bounds=[(0, s) for s in share], options={"maxiter": 20_000, "maxfun": 50_000,
                                                                       "ftol": 1e-15, "gtol": 1e-10},
        )  # fmt: skip
        return -found.fun, objective(D.T @ found.x / alpha)
    pull = (lambda t: expit(-t)) if loss == "log_loss" else (lambda t: 2 * np.maximum(0, 1 - t))
    slope = lambda f: alpha * f - D.T @ (share * pull(D @ f))  # noqa: E731
    found = minimize(objective, np.zeros(D.shape[1]), jac=slope, method="L-BFGS-B",
                     options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 5000})  # fmt: skip
    return found.fun - slope(found.x) @ slope(found.x) / (2 * alpha), found.fun


@pytest.mark.parametrize("pairs", ["all", "drawn"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("form", ["dense", "csr", "kernel"])
@with_loss
def test_gap_bounds_suboptimality(entry, loss, form, weighted, pairs, ranking, rank):
    problem = ranking(36, 2, form=form, weighted=weighted)
    for alpha in (0.3, 0.01):
        options = {} if entry.name in ("gradient", "adamax") else {"tol": 1e-7}
        if pairs == "drawn":
            options |= {"n_pairs": 60}
        solver = rank(entry, "compiled", problem, alpha=alpha, loss=loss, **options)
        drawn = solver.problem.pairwise.drawn
        lowest, best = optimum(problem, alpha, loss, drawn)
        assert best - lowest < 1e-4 * best
        for _ in range(12):
            solver.advance(4)
            assert solver.objective() >= lowest - 1e-10
            assert solver.objective() - solver.gap() <= best + 1e-10
        if entry in CERTIFIED:
            solver.advance(300)
            assert solver.converged and solver.gap() <= 1e-7 * solver.objective()
            assert solver.objective() <= best * (1 + 2e-7)


@with_loss
def test_objective_is_that_of_the_solution(entry, loss, ranking, rank):
    for average in (False, True) if entry not in CERTIFIED else (None,):
        problem = ranking(50, 3, weighted=True)
        solver = rank(entry, "compiled", problem, loss=loss, **({} if average is None else {"average": average}))
        written = written_out(problem, 0.01, loss)
        for _ in range(4):
            solver.advance(3)
            assert solver.objective() == pytest.approx(written(solver.solution().coef), rel=1e-12)


@pytest.mark.parametrize("name, tol", [("adamax", 0.02), ("gradient", 0.02)])
@pytest.mark.parametrize("n_pairs", [None, 400])
def test_descent_approaches_the_optimum(name, tol, n_pairs, ranking, rank):
    problem = ranking(200, 4)
    bundle, other = (next(e for e in RANKING_SOLVERS if e.name == n) for n in ("bundle", name))
    best = driver.run(rank(bundle, "compiled", problem, alpha=0.1, n_pairs=n_pairs), tol=1e-4)
    assert best.converged
    for average in (False, True):
        solver = rank(other, "compiled", problem, alpha=0.1, n_pairs=n_pairs, average=average)
        result = driver.run(solver, max_iter=3000, tol=None)
        assert best.objective - best.gap <= result.objective <= best.objective * (1 + tol)


@pytest.mark.parametrize("name", ["gradient", "adamax"])
def test_descent_stops_when_it_stagnates(name, ranking, rank):
    problem = ranking(100, 5)
    entry = next(e for e in RANKING_SOLVERS if e.name == name)
    rough, fine = (
        driver.run(rank(entry, "compiled", problem, alpha=0.1, step_size=0.01), max_iter=5000, tol=tol)
        for tol in (0.03, 1e-6)
    )
    assert rough.status == fine.status == "stagnated"
    assert rough.n_iter < fine.n_iter and fine.objective <= rough.objective


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1.0, 1e4, 1e8, 1e12])
@with_loss
def test_no_scale_makes_a_false_certificate(entry, loss, scale, ranking, rank):
    """At any scale of the features, and for any rounding, the bound stays below the attained objective."""
    problem = ranking(100, 20)
    good = rank(RANKING_SOLVERS[0], "compiled", problem, loss=loss, alpha=1e-6, tol=1e-6)
    good.advance(300)
    problem.X = problem.X * scale
    options = {"step_size": 0.01 / max(1, scale) ** 2} if entry.name == "gradient" else {}
    solver = rank(entry, "compiled", problem, loss=loss, alpha=1e-3, **options)
    solver.advance(200)
    written = written_out(problem, 1e-3, loss)
    attained = min(written(good.solution().coef / scale), written(0 * good.solution().coef))
    assert solver.objective() - solver.gap() <= attained * (1 + 1e-12)
    assert np.isfinite(solver.solution().coef).all() and 0 <= solver.gap() <= solver.objective() <= 1


# --- the sheet's numbers
# --------------------------------------------------------------------------------------------

SHEET_X, SHEET_Y = np.array([[2.0, 0], [0, 1], [0, 0], [1, 1], [-1, 0]]), [1, 1, -1, -1, -1]


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize(
    "alpha, w, value", [(0.1, (0.5, 0.5), 0.525), (1.0, (0.5, 1 / 6), 0.694444), (10.0, (0.1, 1 / 60), 0.948611)]
)
def test_bundle_finds_the_minimisers_of_the_sheet(twin, alpha, w, value):
    solver = _on_the_sheet("bundle", twin, alpha=alpha, tol=1e-10)
    solver.advance(100)
    assert solver.converged
    np.testing.assert_allclose(solver.solution().coef, w, atol=3e-5)  # the root of the gap
    assert solver.objective() == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_first_steps_are_those_of_the_sheet(twin):
    for steps, w in ((1, (0.002, 0.002)), (2, (0.00400019, 0.00400074)), (3, (0.00600056, 0.00600217))):
        solver = _on_the_sheet("adamax", twin, alpha=0.1)
        solver.advance(steps)
        np.testing.assert_allclose(solver.iterate, w, atol=6e-9)
    for steps, w in ((1, (0.01, 0.00166667)), (2, (0.01999, 0.00333167))):
        solver = _on_the_sheet("gradient", twin, alpha=0.1)
        solver.advance(steps)
        np.testing.assert_allclose(solver.iterate, w, atol=6e-9)


@pytest.mark.parametrize(
    "name, steps, value",
    [("adamax", 100, 0.770446), ("adamax", 1000, 0.525019), ("adamax", 5000, 0.525032),
     ("gradient", 1000, 0.525615), ("gradient", 10_000, 0.525061)],
)  # fmt: skip
def test_iterates_reach_the_objectives_of_the_sheet(name, steps, value):
    solver = _on_the_sheet(name, "compiled", alpha=0.1)
    solver.advance(steps)
    w = solver.iterate
    margins = SHEET_X[:2] @ w - (SHEET_X[2:] @ w)[:, None]
    assert np.maximum(0, 1 - margins).mean() + 0.05 * w @ w == pytest.approx(value, abs=2e-6)
    assert solver.objective() <= value + 3e-3  # the best one, of all but the last


def _on_the_sheet(name, twin, **options):
    entry = next(entry for entry in RANKING_SOLVERS if entry.name == name)
    design = (as_design if twin == "compiled" else as_reference_design)(SHEET_X)
    return entry.load(twin)(design, SHEET_Y, **options)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_strong_regularisation_has_a_closed_form(twin, ranking, rank):
    """Where every hinge is active the minimiser is the mean difference over alpha."""
    problem = ranking(80, 6)
    difference = problem.X[problem.y == 1].mean(axis=0) - problem.X[problem.y == -1].mean(axis=0)
    alpha = 1.01 * np.ptp(problem.X @ difference)
    solver = rank(RANKING_SOLVERS[0], twin, problem, alpha=alpha, tol=1e-10)
    solver.advance(50)
    np.testing.assert_allclose(solver.solution().coef, difference / alpha, rtol=0, atol=1e-5)
    assert solver.objective() == pytest.approx(1 - difference @ difference / (2 * alpha), rel=1e-10)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_a_function_that_ranks_nothing_is_no_solution(twin, ranking, rank):
    """For a large alpha the objective of f = 0 is within `tol` of the optimum from the start."""
    solver = rank(RANKING_SOLVERS[0], twin, ranking(80, 6), alpha=1e4, tol=1e-2)
    solver.advance(50)
    assert solver.converged and solver.solution().coef.any()
