"""The exact solvers of a range of ranks: worked examples, certificates, and what may not matter."""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize

from kernbench.metrics import roc_auc
from kernbench.problems.ranking.ranked_problem import RangeProblem, WindowProblem
from kernbench.reference.design import as_design as as_reference_design
from kernbench.reference.ranking.ranked_risk import RankedRisk as ReferenceRisk
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.bundle.cutting_planes import CuttingPlanes
from kernbench.solvers.design import as_design
from kernbench.solvers.ranking.criticality import criticality
from kernbench.solvers.registry import get

DCA, RANGE_DCA = get("dca-exact", "partial-auc"), get("dca-exact", "ranked-range")
TIGHT = get("svmpauc-tight", "partial-auc")
ALL = [DCA, RANGE_DCA, TIGHT]
every_solver = pytest.mark.parametrize("entry", ALL, ids=lambda entry: f"{entry.problem}-{entry.name}")
either_dca = pytest.mark.parametrize("entry", [DCA, RANGE_DCA], ids=lambda entry: entry.problem)


@pytest.fixture(scope="module")
def sheet_example():
    """8 positives and 20 negatives in the plane; the window is that of ranks 3 to 10."""
    rng = np.random.default_rng(1)
    positives = rng.normal(size=(8, 2)) + [0.6, 0]
    return np.vstack([positives, rng.normal(size=(20, 2))]), np.repeat([1.0, -1.0], [8, 20])


def run(solver, limit=2000):
    values = [solver.objective()]
    while solver.n_iter < limit and solver.advance(1):
        values.append(solver.objective())
    return values


# --- worked examples


def test_dca_with_exact_subproblems_walks_as_computed(sheet_example):
    """By hand: linearise, minimise the subproblem to a gap of 1e-9, and so on."""
    X, y = sheet_example
    design = as_reference_design(X)
    ranked = WindowProblem(y, None, "log_loss", ranks=(2, 10))
    coef, values = np.array([0.3, 0.1]), []
    for _ in range(6):
        risk = ReferenceRisk(design, ranked, 1e-8)
        risk.linearise(X @ coef)
        planes = CuttingPlanes(risk, tol=1e-9, max_cuts=200, seed=0, initial=Solution(coef), core="reference")
        planes.advance(500)
        coef = planes.solution().coef
        values.append(risk.window(X @ coef)[0])
    np.testing.assert_allclose(values, [0.630426, 0.623878, 0.622723, 0.622548, 0.622523, 0.622520], atol=1.5e-6)


def test_it_ends_where_dca_ends(sheet_example):
    X, y = sheet_example
    solver = DCA.load()(as_design(X), y, alpha=0.0, ranks=(2, 10), tol=1e-8, initial=Solution(np.array([0.3, 0.1])))
    values = run(solver)
    assert values[-1] == pytest.approx(0.622520, abs=1e-6)
    assert solver.converged


@pytest.mark.parametrize("coef, gradient", [(-1.0, 0.22395714), (0.0, 0.31377501), (1.0, 0.11028779)])
@pytest.mark.parametrize("core", ["compiled", "reference"])
def test_criticality_of_one_positive_and_two_negatives(coef, gradient, core):
    """The table of the proximal points of w in {-1, 0, 1}, mu = 1, ranks (1, 2)."""
    X, y = np.array([[1.0], [0.0], [-1.0]]), np.array([1.0, -1.0, -1.0])
    design = (as_design if core == "compiled" else as_reference_design)(X)
    ranked = WindowProblem(y, None, "log_loss", ranks=(1, 2))
    found, error = criticality(design, ranked, [coef], mu=1.0, tol=1e-7, smoothed=True, core=core)
    assert error < 1e-6 and found == pytest.approx(gradient, abs=error + 1e-7)


# --- certificates


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
@either_dca
def test_it_never_rises(entry, loss, ranking, windowed):
    for seed, form in enumerate(("dense", "csr", "kernel")):
        for alpha in (0.0, 1e-3):
            solver = windowed(entry, "compiled", ranking(150, seed, form=form), loss=loss, alpha=alpha, tol=1e-7)
            solver.advance(1)
            values = np.array(run(solver, 150))
            assert len(values) > 3 and np.all(np.diff(values) <= 1e-13)


@either_dca
@pytest.mark.parametrize("alpha", [0.0, 0.01])
def test_the_gap_bounds_what_a_step_of_dca_gains(entry, alpha, ranking, windowed):
    """The subproblem, minimised by SciPy, is not lower than F - gap; nor does it gain more at a converged point."""
    problem = ranking(150, 3)
    solver = windowed(entry, "compiled", problem, alpha=alpha, loss="log_loss", tol=1e-7)
    ranked = solver.problem.ranked
    for _ in range(6):
        if not solver.advance(1):
            break
        coef = solver.solution().coef
        risk = ReferenceRisk(as_reference_design(problem.X), ranked, alpha)
        value = risk.linearise(problem.X @ coef)[0] + alpha / 2 * coef @ coef
        weight = alpha if alpha > 0 else 1e-4
        centre = np.zeros(3) if alpha > 0 else coef

        def subproblem(v):
            here, g = risk.risk(problem.X @ v)
            return here + weight / 2 * (v - centre) @ (v - centre), problem.X.T @ g + weight * (v - centre)

        if alpha == 0:
            value = subproblem(coef)[0]
        best = minimize(subproblem, coef, jac=True, method="BFGS", options={"gtol": 1e-10}).fun
        assert value - best <= solver.subproblem_gap + 1e-9
    assert solver.objective() == pytest.approx(value, rel=1e-6)


@either_dca
@pytest.mark.parametrize("alpha, tol, d", [(0.0, 1e-4, 3), (0.01, 1e-6, 8)])
def test_the_gap_while_cutting_is_that_of_the_point(entry, alpha, tol, d, ranking, windowed):
    """The cutting planes have a better one, and L is linearised at another one later. The subproblem is solved anew."""
    n_compared = 0
    for seed in (0, 1, 3):
        problem = ranking(100, seed, d=d)
        solver = windowed(entry, "compiled", problem, alpha=alpha, loss="hinge", tol=tol)
        weight, ranked = alpha if alpha > 0 else solver.proximal, solver.problem.ranked
        while solver.n_iter < 60 and solver.advance(1) and not solver.converged:
            if solver.bundle is None:
                continue
            coef, scores = solver.solution().coef, np.array(solver.scores)
            # Without alpha the variable is the step from the point.
            start, origin = (coef, None) if alpha > 0 else (np.zeros(d), scores)
            risk = solver.core.RankedRisk(solver.design, ranked, weight, origin)
            solver.core.linearise(risk, scores, np.empty(100))
            planes = CuttingPlanes(risk, tol=1e-9, max_cuts=200, seed=0, initial=Solution(start))
            planes.advance(300)
            found = planes.solution().coef
            by_hand = ReferenceRisk(as_reference_design(problem.X), ranked, weight, origin)
            by_hand.linearise(scores)
            best = by_hand.risk(problem.X @ found)[0] + weight / 2 * found @ found
            assert solver.objective() - best <= solver.subproblem_gap + 1e-9
            n_compared += 1
    assert n_compared > 20


def test_a_small_gap_is_not_enough_where_the_last_step_lowered_the_objective(ranking, windowed):
    solver = windowed(DCA, "compiled", ranking(60, 5), alpha=0.1, tol=1e-12)
    n_compared = 0
    for _ in range(20):
        solver.advance(1)
        if solver.subproblem_gap < 0.5 * solver.decrease:
            assert not solver.check(0.75 * solver.decrease / solver.objective())
            assert solver.check(1.25 * solver.decrease / solver.objective())
            solver.converged = False
            n_compared += 1
    assert n_compared > 0


@pytest.mark.parametrize("entry, loss", [(DCA, "hinge"), (DCA, "log_loss"), (RANGE_DCA, "squared_hinge")], ids=str)
def test_what_has_converged_is_nearly_critical(entry, loss, ranking, windowed):
    """And the start is not."""
    problem = ranking(45 if entry is RANGE_DCA else 300, 5)
    solver = windowed(entry, "compiled", problem, loss=loss, tol=1e-9)
    solver.advance(1)
    begun = solver.criticality()
    run(solver)
    assert solver.converged
    assert solver.criticality() < 0.02 * begun


def test_the_whole_range_is_the_convex_problem(ranking, windowed, rank):
    """Its gap is a gap of the objective."""
    problem = ranking(400, 1, weighted=True)
    for loss in ("hinge", "squared_hinge"):
        convex = rank(get("bundle", "roc-svm"), "compiled", problem, loss=loss, tol=1e-8)
        convex.advance(2000)
        solver = windowed(DCA, "compiled", problem, loss=loss, tol=1e-8, fpr_range=(0.0, 1.0))
        run(solver)
        assert solver.converged
        assert solver.objective() == pytest.approx(convex.objective(), rel=1e-7)
        assert solver.objective() - solver.subproblem_gap <= convex.objective() * (1 + 1e-12)


def test_the_whole_list_is_the_mean(ranking, windowed):
    """Ridge regression in closed form."""
    problem = ranking(200, 2)
    solver = windowed(RANGE_DCA, "compiled", problem, loss="squared_error", ranked_range=(0, 200), alpha=0.1, tol=1e-12)
    run(solver)
    X, y = problem.X, problem.y
    expected = np.linalg.solve(X.T @ X / 200 + 0.1 * np.eye(3), X.T @ y / 200)
    np.testing.assert_allclose(solver.solution().coef, expected, atol=1e-6)


def test_a_window_that_only_zero_minimises_is_said_to_be_one(windowed, ranking):
    """Positives that lie among the highest negatives: no scale of w beats f = 0."""
    rng = np.random.default_rng(0)
    problem = ranking(300, 0)
    problem.X = np.hstack([rng.normal(size=(300, 1))] * 2)
    problem.y = np.where(np.arange(300) % 2, 1, -1)
    solver = windowed(DCA, "compiled", problem, loss="hinge", fpr_range=(0.0, 0.05), alpha=0.1)
    run(solver)
    assert solver.vanishes
    plain = windowed(DCA, "compiled", ranking(300, 0), loss="hinge", alpha=1e-4)
    run(plain)
    assert not plain.vanishes


# --- SVMpAUC-tight


def test_the_bound_is_above_one_minus_the_partial_auc(ranking, windowed):
    problem = ranking(300, 4)
    solver = windowed(TIGHT, "compiled", problem, fpr_range=(0.0, 1.0), alpha=1e-4)
    solver.advance(500)
    coef = solver.solution().coef
    bound = solver.objective() - 0.5e-4 * coef @ coef
    assert solver.converged and bound >= 1 - roc_auc(problem.y, problem.X @ coef)


@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.3), (0.05, 0.5)])
def test_the_published_method_ends_near_the_optimum(fpr_range, ranking, windowed):
    problem = ranking(200, 5)
    options = {"alpha": 1e-2, "fpr_range": fpr_range, "rounding": "integer"}
    best = windowed(TIGHT, "compiled", problem, tol=1e-9, **options)
    best.advance(3000)
    for eps in (1e-2, 1e-4):
        plain = windowed(TIGHT, "compiled", problem, plain=True, eps=eps, **options)
        plain.advance(3000)
        assert plain.converged
        assert -1e-12 <= plain.objective() - (best.objective() - best.gap()) <= eps + 1e-12


def test_the_whole_range_of_the_bound_is_the_mean_hinge(ranking, windowed, rank):
    problem = ranking(300, 6)
    hinge = rank(get("bundle", "roc-svm"), "compiled", problem, tol=1e-8)
    solver = windowed(TIGHT, "compiled", problem, tol=1e-8, fpr_range=(0.0, 1.0))
    for each in (hinge, solver):
        each.advance(2000)
    assert solver.objective() == pytest.approx(hinge.objective(), rel=1e-7)


# --- what may not matter


@pytest.mark.parametrize("form", ["dense", "kernel"])
@every_solver
def test_resumed_is_one_long_run(entry, form, ranking, windowed):
    problem = ranking(45 if entry is RANGE_DCA else 150, 7, form=form, weighted=True)
    for options in ({}, {"alpha": 0.0, "tol": 0.3}, {"tol": 0.3}):
        if entry is TIGHT:
            options = {"plain": "alpha" in options}
        options = {"loss": "hinge", "tol": 1e-6, **options}
        for first in (0, 1, 3, 6):
            whole, begun = (windowed(entry, "compiled", problem, **options) for _ in range(2))
            whole.advance(first)
            whole.advance(2)
            begun.advance(first)
            state = pickle.loads(pickle.dumps(begun.solution()))
            rest = windowed(entry, "compiled", problem, **{**options, "random_state": 99}, initial=state)
            assert rest.n_iter == begun.n_iter and rest.converged == begun.converged
            assert rest.objective() == pytest.approx(begun.objective(), rel=1e-10)
            rest.advance(2)
            assert (rest.n_iter, rest.converged) == (whole.n_iter, whole.converged)
            assert rest.objective() == pytest.approx(whole.objective(), rel=1e-6)
            scale = np.abs(whole.solution().coef).max()
            np.testing.assert_allclose(rest.solution().coef, whole.solution().coef, rtol=0, atol=1e-4 * scale)


@every_solver
def test_splitting_the_run_changes_nothing(entry, ranking, windowed):
    problem = ranking(150, 8)
    whole, parts = (windowed(entry, "compiled", problem, loss="hinge", tol=1e-8) for _ in range(2))
    whole.advance(9)
    for count in (1, 3, 5):
        parts.advance(count)
    np.testing.assert_array_equal(whole.solution().coef, parts.solution().coef)


@every_solver
def test_any_coefficients_are_a_start(entry, ranking, windowed):
    problem = ranking(120, 9)
    start = Solution(np.array([1.0, 0.0, 1.0]))
    solver = windowed(entry, "compiled", problem, loss="hinge", initial=start)
    first = solver.objective()
    run(solver)
    assert solver.converged and solver.objective() <= first
    with pytest.raises(ValueError, match="coefficients"):
        windowed(entry, "compiled", problem, loss="hinge", initial=Solution(np.zeros(7)))


@every_solver
def test_what_was_learnt_from_other_data_is_not_believed(entry, ranking, windowed):
    known = windowed(entry, "compiled", ranking(100, 22), loss="hinge", tol=1e-6)
    run(known)
    assert known.converged
    other = ranking(100, 23)
    solver = windowed(entry, "compiled", other, loss="hinge", tol=1e-6, initial=known.solution())
    assert not solver.converged and solver.n_cuts == 0


@every_solver
@pytest.mark.parametrize("unit", [1e-10, 1.0, 1e10])
def test_data_are_recognised_whatever_the_unit_of_the_weights(entry, unit, ranking, windowed):
    problem = ranking(100, 22, weighted=True)
    problem.weights = unit * problem.weights
    options = {"loss": "hinge", "tol": 1e-6}
    if entry.problem == "ranked-range":
        options["ranked_range"] = (4.0 * unit, 30.0 * unit)
    known = windowed(entry, "compiled", problem, **options)
    run(known)
    assert known.converged
    assert windowed(entry, "compiled", problem, initial=known.solution(), **options).converged
    problem.X = ranking(100, 23).X
    solver = windowed(entry, "compiled", problem, initial=known.solution(), **options)
    assert not solver.converged and solver.n_cuts == 0


@pytest.mark.parametrize("change", [lambda y: 3 * y, lambda y: y[::-1]], ids=["scaled", "turned"])
@pytest.mark.parametrize("alpha", [0.0, 1e-3])
def test_what_was_learnt_from_other_targets_is_not_believed(change, alpha, ranking, windowed):
    """They have the same signs, so that scores of the same rows look alike."""
    problem = ranking(45, 22)
    options = {"loss": "squared_error", "alpha": alpha, "tol": 1e-6, "ranked_range": (0, 45)}
    problem.y = 20 + problem.X @ [1.0, 2.0, -1.0]
    known = windowed(RANGE_DCA, "compiled", problem, **options)
    run(known)
    assert known.converged
    problem.y = change(problem.y)
    solver, fresh = (
        windowed(RANGE_DCA, "compiled", problem, initial=start, **options) for start in (known.solution(), None)
    )
    assert not solver.converged
    for each in (solver, fresh):
        run(each)
    assert solver.objective() == pytest.approx(fresh.objective(), rel=1e-4)


@every_solver
def test_weights_of_k_are_k_copies(entry, ranking, windowed):
    problem = ranking(120, 12, weighted=True)
    copies = ranking(120, 12)
    times = problem.weights.astype(int)
    copies.X, copies.y = np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times)
    start = Solution(np.array([1.0, 0.2, 1.0]))
    ends = [windowed(entry, "compiled", p, loss="hinge", tol=1e-8, initial=start) for p in (problem, copies)]
    for solver in ends:
        run(solver)
    assert ends[0].objective() == pytest.approx(ends[1].objective(), rel=1e-5)


def test_the_driver_runs_it(ranking, windowed):
    found = driver.run(windowed(DCA, "compiled", ranking(200, 1), loss="hinge", tol=1e-4), max_iter=500)
    assert found.status == "converged" and found.gap is None


# --- bad input


@pytest.mark.parametrize(
    "options, message",
    [
        ({"fpr_range": (0.5, 0.5)}, "fpr_range must be"),
        ({"fpr_range": (-0.1, 0.5)}, "fpr_range must be"),
        ({"fpr_range": (0.0, 0.5), "ranks": (1, 2)}, "either fpr_range or ranks"),
        ({"fpr_range": (0.0, 1.0), "ranks": (3, 2)}, "ranks must be"),
        ({"alpha": -1.0}, "alpha"),
        ({"loss": "squared_error"}, "only, not 'squared_error'"),
        ({"loss": "hinges"}, "did you mean 'hinge'"),
    ],
)
@pytest.mark.parametrize("entry", [DCA, TIGHT], ids=lambda entry: entry.name)
def test_bad_settings_are_refused(entry, options, message, ranking, windowed):
    options = {"loss": "hinge", **options}
    for twin in ("compiled", "reference"):
        with pytest.raises(ValueError, match=message):
            windowed(entry, twin, ranking(60, 0), **options)


@pytest.mark.parametrize("ranked_range", [(5, 5), (-1, 3), (0, 61), (3,), "ab"])
def test_bad_ranges_are_refused(ranked_range, ranking, windowed):
    with pytest.raises(ValueError, match="ranked_range"):
        windowed(RANGE_DCA, "compiled", ranking(60, 0), ranked_range=ranked_range)


@pytest.mark.parametrize("n_labels", [59, 61])
@pytest.mark.parametrize("twin", ["compiled", "reference"])
@every_solver
def test_labels_of_another_number_of_samples_are_refused(entry, twin, n_labels, ranking, windowed):
    problem = ranking(60, 0)
    problem.y = np.append(problem.y, 1.0)[:n_labels]
    with pytest.raises(ValueError, match=f"one label per sample, 60, got {n_labels}"):
        windowed(entry, twin, problem)


@pytest.mark.parametrize("smoothed", [False, True])
def test_criticality_refuses_labels_of_another_number_of_samples(smoothed):
    ranked = WindowProblem(np.repeat([1.0, -1.0], [2, 8]), None, "log_loss", (0.1, 0.6))
    with pytest.raises(ValueError, match="one label per sample, 9, got 10"):
        criticality(as_design(np.ones((9, 2))), ranked, np.ones(2), smoothed=smoothed)


def test_settings_that_are_not_for_the_bound(ranking, windowed):
    for options, message in (({"alpha": 0.0}, "alpha"), ({"plain": "no"}, "plain must be True or False")):
        with pytest.raises(ValueError, match=message):
            windowed(TIGHT, "compiled", ranking(60, 0), **options)


def test_parts_of_a_problem_keep_its_shares():
    y = np.repeat([1.0, -1.0], [20, 80])
    ranked = WindowProblem(y, None, "hinge", (0.25, 0.75))
    part = ranked.take(np.arange(10, 60))
    assert (part.low, part.high, part.n) == (10.0, 30.0, 50)
    lengths = RangeProblem(y, None, "hinge", (10, 50)).take(np.arange(50))
    assert (lengths.low, lengths.high) == (5.0, 25.0)
