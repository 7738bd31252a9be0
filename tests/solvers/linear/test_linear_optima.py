"""Solvers on explicit features: their optima, their certified gaps, and invariances."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize

from kernbench.losses.margin import SquaredHinge
from kernbench.problems.linear.block_constants import block_constants
from kernbench.problems.linear.feature_bounds import lower_bound, squared_norms
from kernbench.problems.linear_problem import LinearProblem
from kernbench.reference.design import as_design as as_reference_design
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.design import as_design
from kernbench.solvers.registry import SOLVERS, get

LINEAR_SOLVERS = [entry for entry in SOLVERS if entry.problem == "linear-svm"]
by_name = pytest.mark.parametrize("entry", LINEAR_SOLVERS, ids=lambda entry: entry.name)
COMBINATIONS = [(entry, loss) for entry in LINEAR_SOLVERS for loss in entry.losses]
with_loss = pytest.mark.parametrize("entry, loss", COMBINATIONS, ids=lambda c: getattr(c, "name", c))
STEPS = {"bundle": 60, "rbcd": 3000, "simba": 20_000}  # else 100 passes
EXCESS = {"sdca": 1e-3, "bundle": 1e-3, "rbcd": 1e-8}  # (P - P*) / P* at their end, else 2e-2


def optimum(problem, C, loss):
    """The optimal objective; for the hinge by a bounded quasi-Newton method on the dual."""
    checked = LinearProblem(
        as_reference_design(problem.X), problem.y, alpha=1 / (C * problem.n), weights=problem.weights, loss=loss
    )
    X = checked.design.X.toarray() if hasattr(checked.design.X, "toarray") else checked.design.X
    y, w, n = checked.y, checked.weights, checked.n
    if loss == "hinge":
        Z = (w * y)[:, None] * X
        found = minimize(
            lambda a: (-w @ a / n + 0.5 * np.sum((a @ Z) ** 2) / (checked.alpha * n**2),
                       -w / n + Z @ (a @ Z) / (checked.alpha * n**2)),
            np.full(n, 0.5), jac=True, bounds=[(0, 1)] * n, method="L-BFGS-B",
            options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
        )  # fmt: skip
        return -found.fun
    return minimize(
        lambda v: (checked.primal(v, X @ v),
                   checked.alpha * v + X.T @ (w * y * checked.loss.slope(y * (X @ v))) / n),
        np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-11, "maxiter": 5000},
    ).fun  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@with_loss
def test_approaches_the_optimum_and_bounds_the_distance(entry, loss, weighted, ranking, linear):
    problem = ranking(300, 1, d=6, weighted=weighted)
    best = optimum(problem, 1.0, loss)
    solver = linear(entry, "compiled", problem, C=1.0, loss=loss)
    steps = STEPS.get(entry.name, 100 * problem.n)
    for part in (steps // 20, steps - steps // 20):
        solver.advance(part)
        excess = solver.objective() - best
        assert excess >= -1e-6 * best  # L-BFGS-B is not exact either
        assert solver.gap() >= excess - 1e-6 * best
    assert solver.objective() / best - 1 < EXCESS.get(entry.name, 2e-2)
    assert not solver.converged or entry.name in ("sdca", "bundle", "newton")


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
def test_block_descent_converges_linearly(loss, ranking, linear):
    """64 features in 8 blocks: an excess near rounding after 20,000 steps."""
    problem = ranking(400, 2, d=64)
    solver = linear(get("rbcd", "linear-svm"), "compiled", problem, C=1.0, loss=loss)
    gaps = []
    for steps in (100, 400, 19_500):
        solver.advance(steps)
        gaps.append(solver.gap() / solver.objective())
    assert gaps[0] > 10 * gaps[1] > 100 * gaps[2]
    assert gaps[2] < 1e-13
    assert solver.check(1e-12) and solver.converged


def test_block_descent_never_climbs(ranking, linear):
    problem = ranking(150, 3, d=20, weighted=True, form="csr")
    for n_blocks in (1, 4, 20):
        solver = linear(get("rbcd", "linear-svm"), "reference", problem, C=3.0, n_blocks=n_blocks)
        values = []
        for _ in range(40):
            solver.advance(1)
            values.append(solver.objective())
        assert np.all(np.diff(values) <= 1e-12)


def test_block_descent_names_the_substitute_of_the_hinge(ranking, linear):
    for twin in ("compiled", "reference"):
        with pytest.raises(ValueError, match="smooth loss.*squared_hinge"):
            linear(get("rbcd", "linear-svm"), twin, ranking(20, 0), loss="hinge")


@pytest.mark.parametrize("nu", [0.02, 0.1])
def test_simba_reaches_the_level_of_a_given_budget(nu):
    """The sheet: 60 points, 5 features, 20,000 steps, within 2% of the best level."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = np.where(X[:, 0] + 0.6 * X[:, 1] + 0.4 * rng.normal(size=60) > 0, 1.0, -1.0)
    X /= np.linalg.norm(X, axis=1).max()
    best = {0.02: 0.116822, 0.1: 0.271198}[nu]  # by Nelder and Mead on the water level
    solver = get("simba", "linear-svm").load()(as_design(X), y, nu=nu, random_state=0, horizon=20_000)
    solver.advance(20_000)
    assert 0.97 * best < -solver.objective() <= best
    assert solver.gap() is None and not solver.check(1.0)
    with pytest.raises(ValueError, match="exactly one of alpha"):
        get("simba", "linear-svm").load()(as_design(X), y)


@with_loss
def test_splitting_the_run_changes_nothing(entry, loss, ranking, linear):
    problem = ranking(120, 4, d=7, form="csr")
    whole, parts = (linear(entry, "compiled", problem, loss=loss) for _ in range(2))
    whole.advance(400)
    for count in (1, 3, 150, 246):
        parts.advance(count)
    np.testing.assert_array_equal(whole.solution().coef, parts.solution().coef)
    assert whole.gap() == parts.gap()


RESUMED = {"pegasos": {"project": True, "batch_size": 2}, "simba": {"horizon": 64}}


@pytest.mark.parametrize("entry", [e for e in LINEAR_SOLVERS if e.name != "sdca"], ids=lambda entry: entry.name)
def test_resumed_is_one_long_run(entry, ranking, linear):
    problem = ranking(120, 5, d=7, weighted=True)
    options = RESUMED.get(entry.name, {})
    step = 2 if entry.name == "bundle" else 150
    whole, begun = (linear(entry, "compiled", problem, **options) for _ in range(2))
    whole.advance(2 * step)
    begun.advance(step)
    state = pickle.loads(pickle.dumps(begun.solution()))
    rest = linear(entry, "compiled", problem, initial=state, **{"random_state": 99, **options})
    assert rest.objective() == pytest.approx(begun.objective(), rel=1e-12)
    rest.advance(step)
    assert rest.n_iter == whole.n_iter
    scale = np.abs(whole.solution().coef).max()
    tol = 1e-4 if entry.name == "bundle" else 0.0
    np.testing.assert_allclose(rest.solution().coef, whole.solution().coef, rtol=0, atol=tol * scale)


@pytest.mark.parametrize(
    "entry, loss", [c for c in COMBINATIONS if c[0].name != "sdca"], ids=lambda c: getattr(c, "name", c)
)
def test_any_coefficients_are_a_start(entry, loss, ranking, linear):
    """A run that begins at the optimum is there at first; the noise of steps moves it no farther than a run from 0."""
    problem = ranking(200, 6, d=5)
    best = linear(get("sdca", "linear-svm"), "compiled", problem, loss=loss, tol=1e-9)
    best.advance(10**6)
    solver = linear(entry, "compiled", problem, loss=loss, initial=Solution(best.solution().coef))
    assert solver.objective() == pytest.approx(best.objective(), rel=1e-6)
    cold = linear(entry, "compiled", problem, loss=loss)
    for run in (solver, cold):
        run.advance(400)
    assert solver.objective() <= cold.objective() * 1.05
    with pytest.raises(ValueError, match="coefficients"):
        linear(entry, "compiled", problem, loss=loss, initial=Solution(np.zeros(7)))


@pytest.mark.parametrize("name", ["pegasos", "rbcd", "sbmd"])
def test_other_weights_begin_at_the_coefficients(name, ranking, linear):
    """The coefficients of the first solution are those given, not a multiple of them."""
    entry, problem = get(name, "linear-svm"), ranking(120, 5, d=7, weighted=True)
    begun = linear(entry, "compiled", problem)
    begun.advance(1200)
    rest = linear(entry, "compiled", problem, weights=0.5 * problem.weights, initial=begun.solution())
    np.testing.assert_allclose(rest.solution().coef, begun.solution().coef, rtol=1e-12)


@pytest.mark.parametrize("C", [3.0, 1e8])
@pytest.mark.parametrize("begun_elsewhere", [False, True])
@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_the_average_of_projected_iterates_is_their_average(twin, begun_elsewhere, C, ranking, linear):
    """At a large C each projection leaves little of what was before, of the start as good as nothing."""
    entry, problem = get("pegasos", "linear-svm"), ranking(60, 5, d=5)
    start = np.linspace(-0.4, 0.6, 5)
    options = {"C": C, "project": True, "initial": Solution(start) if begun_elsewhere else None}
    averaged, last = (linear(entry, twin, problem, average=average, **options) for average in (True, False))
    before = 60.0 if begun_elsewhere else 0.0  # steps that a start stands for
    total, expected = before, before * np.array(last.solution().coef)
    for t in range(1, 401):
        last.advance(1)
        total += before + t
        expected += (before + t) * last.solution().coef
    averaged.advance(400)
    np.testing.assert_allclose(
        averaged.solution().coef, expected / total, rtol=0, atol=1e-7 * np.abs(expected).max() / total
    )
    assert np.isfinite(averaged.gap())


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_as_many_rows_of_weight_zero_but_others_are_a_start(twin, ranking, linear):
    """The order of the rows that an SDCA continues is not that of the rows that have a weight now."""
    entry, problem = get("sdca", "linear-svm"), ranking(90, 6, d=5)
    first, last = np.ones((2, 90))
    first[:30], last[-30:] = 0.0, 0.0
    problem.weights = first
    begun = linear(entry, twin, problem, tol=1e-6)
    begun.advance(10**4)
    problem.weights = last
    cold, warm = (linear(entry, twin, problem, tol=1e-6, initial=start) for start in (None, begun.solution()))
    for run in (cold, warm):
        run.advance(10**4)
        assert run.converged
    assert warm.objective() == pytest.approx(cold.objective(), rel=1e-5)


@pytest.mark.parametrize("change", ["labels", "rows"])
@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_the_bound_of_newton_for_other_data_is_not_kept(loss, twin, change, ranking, linear):
    """The optimum of separable labels is near 0, that of random ones is not, and the other way round."""
    entry, problem = get("newton", "linear-svm"), ranking(90, 6, d=5)
    rng, y = np.random.default_rng(0), np.where(problem.X[:, 0] > 0, 1, -1)
    problem.y = rng.permutation(y)
    begun = linear(entry, twin, problem, loss=loss, tol=1e-6)
    driver.run(begun, tol=1e-6, max_iter=200)
    if change == "labels":
        problem.y = y
    else:
        problem.X = problem.X[np.lexsort((problem.X[:, 0], problem.y))][np.argsort(np.argsort(problem.y))]
    cold, warm = (
        linear(entry, twin, problem, loss=loss, tol=1e-6, initial=start) for start in (None, begun.solution())
    )
    for run in (cold, warm):
        driver.run(run, tol=1e-6, max_iter=200)
    assert warm.objective() == pytest.approx(cold.objective(), rel=1e-5)
    assert warm.objective() - warm.gap() <= cold.objective() * (1 + 1e-9)


@pytest.mark.parametrize("free_last", [False, True])
@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_nor_is_its_bound_for_other_rows_at_zero(twin, free_last, ranking, linear):
    """There the objective does not depend on the rows. That of tiny rows is near its minimum, as no other one is."""
    entry, problem = get("newton", "linear-svm"), ranking(90, 6, d=5)
    options = {"C": 1 / 90, "loss": "hinge", "free_last": free_last, "tol": 1e-6}
    rows, ones = problem.X, np.ones((90, int(free_last)))
    problem.X = np.hstack([1e-6 * rows, ones])
    begun = linear(entry, twin, problem, **options)
    begun.advance(4 if free_last else 1)  # these only narrow the smoothing
    start = begun.solution()
    assert not start.coef[:5].any() and begun.gap() < 0.01 * begun.objective()
    problem.X = np.hstack([rows, ones])
    cold, warm = (linear(entry, twin, problem, initial=initial, **options) for initial in (None, start))
    for run in (cold, warm):
        driver.run(run, tol=1e-6, max_iter=200)
        assert run.converged
    assert cold.objective() < begun.objective() - begun.gap()
    assert warm.objective() == pytest.approx(cold.objective(), rel=1e-5)
    assert warm.objective() - warm.gap() <= cold.objective() * (1 + 1e-9)


@pytest.mark.parametrize("free_last", [False, True])
@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "log_loss"])
def test_newton_leaves_zero_however_large_alpha_is(loss, twin, free_last, ranking, linear):
    """The objective of w = 0 is within the tolerance, but it separates nothing."""
    entry, problem = get("newton", "linear-svm"), ranking(90, 6, d=5)
    if free_last:
        problem.X = np.column_stack([problem.X, np.ones(90)])
    for C in (1e-6, 1e-9, 1e-12):
        result = driver.run(linear(entry, twin, problem, C=C, loss=loss, free_last=free_last), tol=1e-3, max_iter=50)
        coef, descent = result.solution.coef, problem.y @ problem.X
        assert result.converged and coef[:5].any()
        if not free_last:  # no margin is reached, so that w is in the direction of steepest descent from 0
            assert coef @ descent >= 0.999 * np.linalg.norm(coef) * np.linalg.norm(descent)


@by_name
def test_the_driver_stops_at_the_certified_gap(entry, ranking, linear):
    problem = ranking(200, 7, d=4)
    tol = 0.1
    solver = linear(entry, "compiled", problem, C=0.1)
    result = driver.run(solver, max_iter=200_000, tol=tol)
    assert result.converged and solver.converged
    assert result.gap <= tol * result.objective


@pytest.mark.parametrize("loss", get("sdca", "linear-svm").losses)
@pytest.mark.parametrize("order", ["permutation", "uniform"])
def test_batches_of_dual_coordinates_never_descend(order, loss, ranking, linear):
    problem = ranking(120, 14, d=6, form="csr", weighted=True)
    for batch_size in (2, 500, 16):
        options = {"loss": loss, "batch_size": batch_size, "order": order, "tol": 1e-2}
        solver = linear(get("sdca", "linear-svm"), "compiled", problem, **options)
        values = [0.0]
        for _ in range(20):
            solver.advance(batch_size)
            values.append(solver.dual_objective())
        assert np.all(np.diff(values) >= -1e-13)
    solver.advance(60_000)
    assert solver.converged
    assert solver.objective() == pytest.approx(optimum(problem, 1.0, loss), rel=1e-2)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_splitting_a_run_of_batches_of_dual_coordinates_changes_nothing(twin, ranking, linear):
    """Also where an epoch, of 57 rows, is no whole number of batches."""
    problem = ranking(57, 15, d=6)
    whole, parts = (
        linear(get("sdca", "linear-svm"), twin, problem, batch_size=8, tol=1e-12, random_state=0) for _ in range(2)
    )
    whole.advance(2048)
    for _ in range(256):
        parts.advance(8)
    assert whole.n_iter == parts.n_iter == 2048
    np.testing.assert_array_equal(whole.solution().coef, parts.solution().coef)


def test_each_step_of_pegasos_counts_its_rows(ranking, linear):
    """One inner product per margin and one per example added: all are added while every margin is below 1."""
    problem = ranking(50, 8)
    solver = linear(get("pegasos", "linear-svm"), "compiled", problem, C=1e-6)
    solver.advance(30)
    assert solver.n_inner_products == 60
    solver = linear(get("pegasos", "linear-svm"), "compiled", problem, C=1e-6, batch_size=4)
    solver.advance(10)
    assert solver.n_inner_products == 80


def test_shares_of_inner_products_are_counted(ranking, linear):
    problem = ranking(50, 9, d=8)
    counts = {}
    for name, options in (("sbmd", {"n_blocks": 4}), ("rbcd", {"n_blocks": 4}), ("simba", {})):
        loss = "squared_hinge" if name == "rbcd" else "hinge"
        solver = linear(get(name, "linear-svm"), "compiled", problem, loss=loss, **options)
        solver.advance(16)
        counts[name] = solver.n_inner_products
    # a row and a quarter; a quarter of the columns there and back; a column, and w three times
    assert counts == {"sbmd": 20, "rbcd": 400, "simba": 16 * (50 + 3 * 8) // 8}


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_dual_variables_of_any_kind_bound_the_optimum(loss, ranking):
    problem = ranking(80, 10, d=4, weighted=True)
    best = optimum(problem, 1.0, loss)
    checked = LinearProblem(as_design(problem.X), problem.y, alpha=1 / problem.n, weights=problem.weights, loss=loss)
    rng = np.random.default_rng(0)
    for a in (
        rng.uniform(-1, 3, problem.n),
        rng.uniform(0, 1, problem.n),
        np.zeros(problem.n),
        np.full(problem.n, 9.0),
    ):
        assert 0.0 <= lower_bound(checked, a) <= best * (1 + 1e-6)


@by_name
def test_bad_problems_are_refused_with_a_sentence(entry, ranking, linear):
    problem = ranking(20, 11)
    loss = entry.losses[0]
    for twin in ("compiled", "reference"):
        for change, sentence in (
            ({"weights": -np.ones(20)}, "weights"),
            ({"weights": np.where(problem.y > 0, 1.0, 0.0)}, "class -1"),
            ({"C": -1.0}, "alpha"),
            ({"loss": "squred_hinge"}, "squared_hinge|hinge"),
        ):
            with pytest.raises(ValueError, match=sentence):
                linear(entry, twin, problem, **{"loss": loss, **change})


@pytest.mark.parametrize(
    "name, option, value",
    [("pegasos", "batch_size", 0), ("sbmd", "n_blocks", 0), ("sbmd", "largest_step", -1.0), ("rbcd", "n_blocks", 1.5),
     ("simba", "horizon", 0), ("bundle", "max_cuts", 2)],
)  # fmt: skip
@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_bad_options_are_refused_by_name(name, option, value, twin, ranking, linear):
    with pytest.raises(ValueError, match=option):
        linear(
            get(name, "linear-svm"), twin, ranking(20, 12), loss=get(name, "linear-svm").losses[0], **{option: value}
        )


@pytest.mark.parametrize("name", ["pegasos", "simba", "sbmd", "rbcd", "bundle"])
def test_features_that_cannot_be_computed_with_are_refused(name, ranking, linear):
    problem = ranking(30, 13)
    problem.X = problem.X * 1e200
    entry = get(name, "linear-svm")
    with pytest.raises(ValueError, match="too large to compute with"):
        solver = linear(entry, "compiled", problem, loss=entry.losses[0])
        solver.advance(5)
        solver.gap()


@pytest.mark.parametrize("size", [3, 300])
@pytest.mark.parametrize("alpha", [0.5, 50.0])
def test_constants_of_blocks_bound_the_curvature(size, alpha):
    """Of many features by the Lanczos method."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(20, size)), rng.uniform(0.1, 4.0, 20)
    problem = SimpleNamespace(n=20, alpha=alpha, weights=weights, loss=SquaredHinge)
    (found,) = block_constants(SimpleNamespace(X=np.ascontiguousarray(X.T)), [0, size], problem)
    exact = 2.0 * np.linalg.eigvalsh((X.T * weights) @ X)[-1] / 20 + alpha
    assert exact * (1 - 1e-12) <= found <= 1.02 * exact


@pytest.mark.parametrize("n_zero", [0, 20])
def test_rows_of_many_features_may_add_up_to_zero(n_zero):
    """ARPACK refused its start, to which they were orthogonal."""
    half = np.round(10.0 * np.random.default_rng(0).normal(size=(20, 150)))
    half[:n_zero] = 0.0
    X, problem = np.hstack([half, -half]), SimpleNamespace(n=20, alpha=0.5, weights=np.ones(20), loss=SquaredHinge)
    (found,) = block_constants(SimpleNamespace(X=np.ascontiguousarray(X.T)), [0, 300], problem)
    exact = 0.1 * np.linalg.eigvalsh(X @ X.T)[-1] + 0.5
    assert exact * (1 - 1e-12) <= found <= 1.02 * exact


def test_squared_norms_of_float32_rows_are_float64():
    X = np.full((1, 2), 1e25, dtype=np.float32)
    assert squared_norms(as_design(X)) == pytest.approx([2e50], rel=1e-6)
