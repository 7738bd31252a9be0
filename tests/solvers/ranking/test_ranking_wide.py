"""The bundle on many features: Newton steps on a smoothed risk, few cuts, empty columns left out."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from lockstep import Tally, Tolerance, follow
from scipy import sparse

from kernbench.kernels import Gaussian
from kernbench.reference.design import design_of
from kernbench.reference.pairs.pairs import AllPairs
from kernbench.reference.ranking.problem import SmoothedPairs
from kernbench.solvers.bundle import cutting_planes
from kernbench.solvers.design import as_design
from kernbench.solvers.registry import get

BUNDLE, NEWTON = get("bundle", "roc-svm"), get("newton", "roc-svm")
# Conjugate gradients and quadratic programs of nearly dependent cuts multiply the rounding of BLAS, which differs.
TOLERANCE = Tolerance(
    coef=1e-5, objective=1e-6, gap=1e-5, gap_floor=1e-8, counters=("n_iter", "n_passes"), state=("settings",)
)


def wide(n, d, per_row=10, seed=0, form="csr", weighted=False):
    """A problem of n sparse rows of d columns, of which a linear function tells the class but for noise."""
    rng = np.random.default_rng(seed)
    columns, starts = rng.integers(0, d, n * per_row), np.arange(0, n * per_row + 1, per_row)
    X = sparse.csr_matrix((rng.normal(size=n * per_row), columns, starts), shape=(n, d))
    X.sum_duplicates()
    scores = X @ rng.normal(size=d)
    y = np.where(scores + 0.3 * scores.std() * rng.normal(size=n) > 0, 1, -1)
    weights = rng.uniform(0.2, 3.0, size=n) if weighted else None
    if form != "csr":
        X = X.toarray().astype(form)
    return SimpleNamespace(X=X, y=y, weights=weights, n=n, form=form)


def run(solver, most=2000):
    solver.advance(most)
    return solver


def on_few_features(problem, rank, **options):
    """A run on n features with the same inner products, for which there is a preconditioner."""
    X = problem.X.toarray() if sparse.issparse(problem.X) else problem.X.astype(float)
    features = np.linalg.qr(X.T, mode="r").T
    same = SimpleNamespace(**{**vars(problem), "X": np.ascontiguousarray(features), "form": "dense"})
    return run(rank(BUNDLE, "compiled", same, **{"tol": 1e-5, **options}), 600)


def assert_same_optimum(solver, other, tol=1e-3):
    """Each objective lies above the other's lower bound, and the solver has converged."""
    assert solver.converged and solver.gap() <= tol * solver.objective()
    assert solver.objective() - solver.gap() <= other.objective() * (1 + 1e-8)
    assert other.objective() - other.gap() <= solver.objective() * (1 + 1e-8)


@pytest.mark.parametrize("options", [{}, {"loss": "squared_hinge"}, {"n_pairs": 400}], ids=str)
@pytest.mark.parametrize("alpha", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("form", ["csr", "float64"])
def test_gap_bounds_suboptimality(form, alpha, options, rank):
    problem = wide(120, 2500, form=form, weighted=form == "csr" and "n_pairs" not in options)
    options = {**options, "alpha": alpha}
    solver = run(rank(BUNDLE, "compiled", problem, **options))
    assert_same_optimum(solver, on_few_features(problem, rank, **options))


@pytest.mark.parametrize("alpha", [1e-1, 1e-3])
@pytest.mark.parametrize("n, d", [(300, 1500), (100, 300), (300, 250)])
def test_separable_rows_take_a_few_hundred_iterations(n, d, alpha, rank):
    """Labels at random of fewer rows than twice the columns; the density of the pairs at the kink tells nothing."""
    rng = np.random.default_rng(0)
    y = np.where(rng.normal(size=n) > 0, 1, -1)
    problem = SimpleNamespace(X=rng.normal(size=(n, d)), y=y, weights=None, n=n, form="float64")
    solver = run(rank(BUNDLE, "compiled", problem, alpha=alpha), 600)
    assert solver.converged and solver.gap() <= 1e-3 * solver.objective()


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_samples_of_the_line_search_are_not_separable(twin, rank):
    """Of 20,000 rows 4,096 would be: nothing would move after the fit of these alone."""
    rng = np.random.default_rng(0)
    problem = wide(20_000, 5000, per_row=20)
    weights = rng.normal(size=5000) * (rng.random(5000) < 0.05)
    problem.y = np.where(problem.X @ weights + 0.5 * rng.normal(size=20_000) > 0, 1, -1)
    solver = run(rank(BUNDLE, twin, problem, alpha=1e-3), 60)
    assert solver.converged and solver.gap() <= 1e-3 * solver.objective()


def test_few_separable_pairs_take_no_thousands_of_products(rank):
    """Conjugate gradients go on until they come near the Newton step."""
    for alpha in (1e-3, 1e-4):
        solver = run(rank(BUNDLE, "compiled", wide(120, 2500), n_pairs=400, alpha=alpha))
        assert solver.converged and solver.n_passes < 4000


def test_small_tolerances_are_reached(rank):
    problem = wide(60, 2000)
    for alpha in (1e-1, 1e-3):
        solver = run(rank(BUNDLE, "compiled", problem, tol=1e-6, alpha=alpha))
        assert_same_optimum(solver, on_few_features(problem, rank, alpha=alpha), 1e-6)


def test_rounded_cuts_do_not_lift_the_bound_above_the_optimum(rank):
    """Scores of 1e6 leave few digits of the narrow smoothings. The order of rows does not change with their origin."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 80)) + 1e6
    y = np.where(X[:, 0] + X[:, 1] - 2e6 + 2 * rng.normal(size=100) > 0, 1, -1)
    far, near = (SimpleNamespace(X=rows, y=y, weights=None, n=100, form="float64") for rows in (X, X - 1e6))
    solver = run(rank(BUNDLE, "compiled", far, alpha=0.3, tol=1e-12), 250)
    assert solver.bound <= run(rank(BUNDLE, "compiled", near, alpha=0.3, tol=1e-8), 250).objective()


def test_a_few_hundred_products_suffice(rank):
    """Plain cutting planes take more than a thousand."""
    for alpha in (1e-2, 1e-3):
        solver = run(rank(BUNDLE, "compiled", wide(2000, 100_000, 20), alpha=alpha))
        assert solver.converged and solver.n_passes < 800 and solver.n_iter < 100


def test_memory_is_about_that_of_the_data_and_of_the_coefficients(rank):
    problem = wide(60, 1_000_000, 20)
    tracemalloc.start()
    coef = run(rank(BUNDLE, "compiled", problem)).solution().coef
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * coef.nbytes


def test_cuts_take_no_more_than_a_few_times_the_data(rank):
    problem = wide(3000, 60_000, 20)
    solver = run(rank(BUNDLE, "compiled", problem, alpha=1e-4))
    columns = len(np.unique(problem.X.indices))
    assert 10 <= solver.max_cuts <= max(10, max(4 * problem.X.nnz, 2**20) / columns)
    assert solver.n_cuts <= solver.max_cuts
    assert solver.solution().state["cuts"].shape[1] == columns


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_empty_columns_weigh_nothing(twin, rank):
    problem = wide(80, 20_000)
    used = np.unique(problem.X.indices)
    narrow = SimpleNamespace(**{**vars(problem), "X": problem.X[:, used].toarray()})
    narrow.X = np.hstack([narrow.X, np.zeros((80, 2000))])  # dense, with as many features as keep it wide
    solver, other = (run(rank(BUNDLE, twin, p, tol=1e-5)) for p in (problem, narrow))
    coef = solver.solution().coef
    assert coef.shape == (20_000,)
    np.testing.assert_array_equal(np.delete(coef, used), 0.0)
    assert solver.objective() == pytest.approx(other.objective(), rel=1e-5)
    scores = as_design(problem.X).scores(coef)
    loss = AllPairs(problem.y).mean_loss(scores, "hinge")
    assert solver.objective() == pytest.approx(0.005 * coef @ coef + loss, rel=1e-10)


def test_data_without_entries_are_ranked_by_nothing(rank):
    problem = wide(10, 2000)
    problem.X = sparse.csr_matrix(problem.X.shape)
    solver = run(rank(BUNDLE, "compiled", problem))
    assert not solver.solution().coef.any() and solver.objective() == 1.0


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize("done", [1, 4, 9, 20, 31, 60])
def test_a_run_goes_on_from_its_solution(done, twin, rank):
    problem, settings = wide(100, 3000), {"alpha": 1e-3, "tol": 1e-7}
    whole = rank(BUNDLE, twin, problem, **settings)
    whole.advance(done)
    resumed = rank(BUNDLE, twin, problem, initial=whole.solution(), **settings)
    for solver in (whole, resumed):
        solver.advance(6)
    assert resumed.n_iter == whole.n_iter
    # Next to the optimum the steps solve with nearly singular matrices, which multiply the rounding of BLAS.
    rel = 1e-9 if done < 20 else 1e-5
    assert resumed.objective() == pytest.approx(whole.objective(), rel=rel)
    assert resumed.gap() == pytest.approx(whole.gap(), rel=1e-4, abs=1e-7)


def test_every_point_of_a_path_is_optimal(rank):
    problem, initial, warm = wide(150, 4000), None, 0
    for alpha in (1e-1, 1e-2, 1e-3, 1e-4):
        solver = run(rank(BUNDLE, "compiled", problem, alpha=alpha, initial=initial))
        assert_same_optimum(solver, on_few_features(problem, rank, alpha=alpha))
        initial = solver.solution()
        warm += solver.n_passes
    assert warm < 3000


def test_coefficients_of_another_solver_are_a_start(rank):
    problem = wide(150, 4000)
    other = run(rank(NEWTON, "compiled", problem, alpha=1e-3)).solution()
    solver = rank(BUNDLE, "compiled", problem, alpha=1e-3, initial=other)
    solver.advance(1)
    assert solver.objective() < 0.2
    assert_same_optimum(run(solver), on_few_features(problem, rank, alpha=1e-3))


def test_cuts_of_other_columns_are_not_taken(rank):
    first, second = wide(100, 3000, seed=0), wide(100, 3000, seed=1)
    initial = run(rank(BUNDLE, "compiled", first)).solution()
    solver = run(rank(BUNDLE, "compiled", second, initial=initial))
    assert_same_optimum(solver, on_few_features(second, rank))


@pytest.mark.parametrize("mu", [2.0, 0.3, 1e-3])
def test_smoothed_gradients_are_slopes_of_cuts(mu):
    """R(f) >= <g, f> + offset everywhere, and the smoothed risk lies below R by mu / 2 at the most."""
    rng, y = np.random.default_rng(0), np.repeat([1, -1], [15, 25])
    pairs = AllPairs(y, rng.uniform(0.2, 2.0, size=40))
    smoothed = SmoothedPairs(pairs, y > 0, loss="hinge")
    smoothed.mu = mu
    for size in (0.1, 1.0, 10.0):
        here, there = size * rng.normal(size=40), rng.normal(size=(50, 40)) * 3 * size
        value, g, offset = smoothed.evaluate(here)
        assert 0 <= pairs.mean_loss(here, "hinge") - value <= mu / 2 * (1 + 1e-9)
        assert all(pairs.mean_loss(s, "hinge") >= g @ s + offset - 1e-9 for s in there)
        v, step = rng.normal(size=40), 1e-4 * mu
        ahead = [smoothed.evaluate(here + t * v) for t in (-step, step)]
        assert (ahead[1][0] - ahead[0][0]) / (2 * step) == pytest.approx(g @ v, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("options", [{}, {"loss": "squared_hinge"}, {"n_pairs": 300}, {"max_cuts": 5}], ids=str)
def test_twin_is_in_lockstep(options, rank):
    def next_to_the_optimum(compiled, reference):
        return "next to the optimum" if reference.gap() < 1e-4 * reference.objective() else None

    tally = Tally()
    for seed, form in enumerate(("csr", "float64", "float32")):
        for n in (30, 150):
            problem = wide(n, 2000, seed=seed, form=form, weighted=seed == 1 and "n_pairs" not in options)
            twins = (rank(BUNDLE, twin, problem, alpha=1e-3, tol=1e-5, **options) for twin in ("compiled", "reference"))
            follow(*twins, tally, TOLERANCE, rounds=15, length=2, rounding=next_to_the_optimum, label=f"{form=} {n=}")
    tally.require(0.3)


def test_twins_start_from_the_same_sample_of_many(rank):
    problem, tally = wide(16_500, 30_000, 5), Tally()
    twins = (rank(BUNDLE, twin, problem, alpha=1e-3) for twin in ("compiled", "reference"))
    follow(*twins, tally, TOLERANCE, rounds=2, length=2, label="many")
    tally.require(0.5)


def test_line_search_with_a_kernel_sees_all_samples(monkeypatch):
    """A narrow kernel separates the sample of the first fit: no loss of it tells a step's effect on the others."""
    monkeypatch.setattr(cutting_planes, "SAMPLE", 100)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=500) > 0, 1, -1)
    solver = run(BUNDLE.load("reference")(design_of(X, Gaussian(1.0)), y, alpha=1e-4, random_state=0), 200)
    assert solver.converged and solver.gap() <= 1e-3 * solver.objective()
