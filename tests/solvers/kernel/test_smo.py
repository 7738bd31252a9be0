"""SMO: worked numbers, an independent optimum, shrinking, caches, and a certified end."""

from functools import cache, partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from kernbench.kernels import Callable, Gaussian, Linear, Precomputed
from kernbench.kernels.rows import KernelRows
from kernbench.kernels.two_precisions import TwoPrecisionRows
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo.active_set import ActiveSet
from kernbench.solvers.kernel.smo.smo import SMO


def double_rows(X, kernel):
    return KernelRows(X, kernel, dtype=np.float64)


def test_six_points_without_bias(six_points):
    p = six_points
    solver = SMO(double_rows(np.array([[-2], [-1], [-0.5], [0.5], [1], [2.0]]), Gaussian(1.0)), p.y, alpha=1 / 6,
                 fit_intercept=False)  # fmt: skip
    result = driver.run(solver, tol=1e-3)
    np.testing.assert_allclose(p.y * result.solution.coef, p.dual, atol=1e-6)
    assert result.objective == pytest.approx(p.optimum, abs=1e-9)
    assert result.converged and result.gap < 1e-9


def test_seven_points_with_bias(seven_points):
    p = seven_points
    x = np.array([[-2], [-1], [-0.5], [0.5], [1], [2.0], [3.0]])
    result = driver.run(SMO(double_rows(x, Gaussian(1.0)), p.y, alpha=1 / 7), tol=1e-3)
    np.testing.assert_allclose(p.y * result.solution.coef, p.dual, atol=1e-6)
    assert result.solution.intercept == pytest.approx(p.intercept, abs=1e-5)
    assert result.objective == pytest.approx(p.optimum, abs=1e-9)


def test_two_points_by_hand():
    """x = +1, -1, linear kernel: the widest margin is f(x) = x, no loss, objective alpha / 2."""
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    result = driver.run(SMO(double_rows(X, Linear()), y, alpha=0.01), tol=1e-6)
    np.testing.assert_allclose(result.solution.coef, [0.5, -0.5])
    assert result.objective == pytest.approx(0.005) and result.solution.intercept == pytest.approx(0)


@pytest.fixture(scope="module")
def libsvm_dual(overlapping):
    X, y = overlapping

    @cache
    def solve(C, gamma, n):
        """The dual optimum and the intercept of the problem of the first n rows."""
        svc = SVC(C=C, gamma=gamma, tol=1e-7).fit(X[:n], y[:n])
        beta = np.zeros(n)
        beta[svc.support_] = svc.dual_coef_[0]
        return beta @ y[:n] - 0.5 * beta @ Gaussian(np.sqrt(0.5 / gamma))(X[:n]) @ beta, svc.intercept_[0]

    return solve


@pytest.mark.parametrize("options", [{}, {"classic_rows": 0, "working_set_size": 64}])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_start_with_products_is_the_start_without(overlapping, options, loss):
    X, y = overlapping
    rows, alpha = double_rows(X, Gaussian(2.0)), 1 / len(y)
    first = driver.run(SMO(rows, y, alpha=alpha, tol=1e-4, loss=loss, **options)).solution
    np.testing.assert_allclose(first.state["products"], rows.matvec(first.coef), atol=1e-10)
    beyond = first.coef.copy()
    beyond[np.flatnonzero(beyond)[:4]] *= [3.0, -1.0, 100.0, 0.0]  # some outside the box
    for coef in (first.coef, beyond):
        for C in (0.2, 1.0, 5.0):
            known = Solution(coef, state={"products": rows.matvec(coef)})
            one = SMO(rows, y, alpha=alpha / C, loss=loss, initial=known, **options)
            other = SMO(rows, y, alpha=alpha / C, loss=loss, initial=Solution(coef), **options)
            assert one.dual_objective() == pytest.approx(other.dual_objective(), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("C, gamma", [(0.1, 0.05), (1.0, 0.2), (100.0, 0.02)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [
    {}, {"classic_rows": 0}, {"classic_rows": 0, "working_set_size": 2}, {"classic_rows": 0, "shrinking": False},
])  # fmt: skip
def test_dual_objective_is_that_of_libsvm(overlapping, libsvm_dual, C, gamma, dtype, options):
    n = len(overlapping[1])
    if options.get("working_set_size") == 2:  # sets of two need many rounds
        n, C = 120, min(C, 2.0)
    X, y = overlapping[0][:n], overlapping[1][:n]
    dual, intercept = libsvm_dual(C, gamma, n)
    rows = KernelRows(X, Gaussian(np.sqrt(0.5 / gamma)), dtype=dtype, cache_bytes=10**7)
    solver = SMO(rows, y, alpha=1 / (C * len(y)), tol=1e-4, **options)
    result = driver.run(solver, tol=1e-4)
    assert result.converged
    assert solver.dual_objective() * C * len(y) == pytest.approx(dual, rel=1e-5)
    assert result.solution.intercept == pytest.approx(intercept, abs=2e-3)
    assert result.gap <= 1e-3 * result.objective
    beta = result.solution.coef
    assert abs(beta.sum()) < 1e-9 * np.abs(beta).sum()


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_shrinking_leaves_out_and_brings_back(overlapping, fit_intercept, monkeypatch):
    X, y = overlapping
    results, sizes, restricted = [], [], ActiveSet._leave_out

    def counted(active, *arguments):
        members = restricted(active, *arguments)
        sizes.append(len(active.indices))
        return members

    monkeypatch.setattr(ActiveSet, "_leave_out", counted)
    for shrinking in (True, False):
        rows = double_rows(X, Gaussian(3.0))
        solver = SMO(rows, y, alpha=1 / len(y), fit_intercept=fit_intercept, tol=1e-5, shrinking=shrinking,
                     classic_rows=0, working_set_size=16)  # fmt: skip
        results.append(driver.run(solver, tol=1e-5))
        assert rows.n_rows == len(y)
        assert len(sizes) > 1 and min(sizes) < len(y) / 2 if shrinking else sizes == []
        sizes.clear()
    assert all(result.converged for result in results)
    assert results[0].objective == pytest.approx(results[1].objective, rel=1e-6)


def test_the_end_is_tested_on_everybody(overlapping):
    """`converged` is the violation over all coordinates, recomputed here from the kernel matrix."""
    X, y = overlapping
    K = Gaussian(2.0)(X)
    for tol in (1e-1, 1e-3):
        solver = SMO(double_rows(X, Gaussian(2.0)), y, alpha=1 / (5 * len(y)), tol=tol, classic_rows=0,
                     working_set_size=32)  # fmt: skip
        beta = driver.run(solver, tol=tol).solution.coef
        e = y - K @ beta
        C = 5.0
        up = np.where(y > 0, beta < C, beta < 0)
        low = np.where(y > 0, beta > 0, beta > -C)
        assert e[up].max() - e[low].min() <= tol * (1 + 1e-6)


def test_stopped_early_is_not_called_converged(overlapping):
    X, y = overlapping
    result = driver.run(SMO(double_rows(X, Gaussian(1.0)), y, alpha=1e-5), max_iter=20, tol=1e-3)
    assert result.status == "max_iter" and not result.converged and result.gap > 0


def test_small_problems_are_solved_to_the_last_digits(overlapping):
    X, y = overlapping
    solver = SMO(double_rows(X[:60], Gaussian(1.5)), y[:60], alpha=1 / 60, tol=1e-1)
    result = driver.run(solver, tol=1e-1)
    assert result.converged and result.gap < 1e-9


def test_extra_digits_do_not_hide_that_tol_holds(overlapping):
    X, y = overlapping
    full = SMO(double_rows(X[:60], Gaussian(1.5)), y[:60], alpha=1 / 60, tol=1e-2)
    driver.run(full, tol=1e-2)
    solver = SMO(double_rows(X[:60], Gaussian(1.5)), y[:60], alpha=1 / 60, tol=1e-2)
    result = driver.run(solver, max_iter=full.n_iter - 1, tol=1e-2)
    assert result.converged


@pytest.mark.parametrize("storage", ["sparse", "precomputed", "callable"])
@pytest.mark.parametrize("classic_rows", [0, 5000])
def test_every_kind_of_rows(overlapping, storage, classic_rows):
    X, y = overlapping
    X = np.where(np.abs(X) > 1.2, X, 0.0)
    kernel = Gaussian(2.0)
    expected = driver.run(SMO(double_rows(X, kernel), y, alpha=1e-3, tol=1e-5)).objective
    rows = {
        "sparse": lambda: double_rows(sparse.csr_matrix(X), kernel),
        "precomputed": lambda: double_rows(kernel(X), Precomputed()),
        "callable": lambda: double_rows(X, Callable(lambda A, B: kernel(A, B))),
    }[storage]()
    result = driver.run(SMO(rows, y, alpha=1e-3, tol=1e-5, classic_rows=classic_rows))
    assert result.converged and result.objective == pytest.approx(expected, rel=1e-5)


def test_path_of_C_by_warm_starts(overlapping):
    X, y = overlapping
    n, previous, steps = len(y), None, []
    for C in (0.5, 1.0, 2.0):
        cold = driver.run(SMO(double_rows(X, Gaussian(2.0)), y, alpha=1 / (C * n), classic_rows=0), tol=1e-3)
        warm = driver.run(
            SMO(double_rows(X, Gaussian(2.0)), y, alpha=1 / (C * n), classic_rows=0, initial=previous), tol=1e-3
        )
        assert warm.objective == pytest.approx(cold.objective, rel=1e-4)
        previous = warm.solution
        previous = Solution(previous.coef, previous.intercept)
        steps.append((warm.n_iter, cold.n_iter))
    assert steps[-1][0] < steps[-1][1]


def test_a_run_on_an_indefinite_kernel_ends_at_a_stationary_point(overlapping):
    """The solver knows no more than this; that the kernel is indefinite, the certificate of an estimator finds."""
    X, y = overlapping
    K, alpha = np.tanh(0.5 * X @ X.T - 1.0), 1e-2
    result = driver.run(SMO(double_rows(K, Precomputed()), y, alpha=alpha), max_iter=20_000, tol=1e-3)
    beta, cost = result.solution.coef, 1.0 / (alpha * len(y))
    rise, fall = (beta < np.where(y > 0, cost, 0.0)), (beta > np.where(y > 0, 0.0, -cost))
    e = y - K @ beta
    assert result.status == "converged" and e[rise].max() - e[fall].min() <= 1e-3


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("classic_rows", [0, 5000])
def test_squared_hinge_without_an_optimum_stalls(overlapping, classic_rows, fit_intercept):
    """With an indefinite kernel its dual has no maximum: the run ends before coefficients overflow."""
    X, y = overlapping
    K = np.tanh(0.5 * X @ X.T - 1.0)
    solver = SMO(double_rows(K, Precomputed()), y, alpha=1e-2, loss="squared_hinge", classic_rows=classic_rows,
                 working_set_size=64, fit_intercept=fit_intercept)  # fmt: skip
    result = driver.run(solver, tol=1e-3)
    assert result.status == "stalled" and not solver.check(1e-3)
    assert np.all(np.isfinite(result.solution.coef)) and np.isfinite(result.objective)
    assert solver.dual_objective() <= 2.0  # twice the objective at f = 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "classic_rows, chunk", [(0, 10_000), (5000, 500), pytest.param(5000, 34_000, marks=pytest.mark.slow)]
)
def test_steps_without_progress_end(overlapping, classic_rows, chunk, dtype):
    """Inconsistent rows allow steps forever: such a run stalls, for any length of its rounds."""
    X, y = overlapping[0][:450], overlapping[1][:450]
    noise = np.random.default_rng(0)

    def contradictory(A, B):
        return Gaussian(2.0)(A, B) + 0.3 * noise.standard_normal((len(A), len(B)))

    rows = KernelRows(X, Callable(contradictory), dtype=dtype)
    solver = SMO(rows, y, alpha=1e-9, classic_rows=classic_rows, working_set_size=64, shrinking=False)
    while solver.n_iter < 2_000_000 and solver.advance(chunk):
        pass
    result = driver.run(solver, tol=1e-3, max_iter=1000)
    assert result.status == "stalled" and not result.converged
    assert solver.advance(1000) == 0
    assert np.all(np.isfinite(result.solution.coef))


@pytest.mark.parametrize("n, classic_rows", [(900, 0), (150, 5000), (400, 5000)])
def test_how_many_steps_are_asked_for_does_not_matter(overlapping, n, classic_rows):
    """The driver divides a run by the clock: the steps do not depend on the division."""
    X, y = overlapping[0][:n], overlapping[1][:n]

    def run_by(chunk):
        rows = KernelRows(X, Linear(), dtype=np.float64)
        solver = SMO(rows, y, alpha=1e-4, tol=1e-4, classic_rows=classic_rows, working_set_size=64)
        while solver.advance(chunk):
            pass
        assert solver.converged
        return solver.n_iter, solver.solution().coef

    steps, coef = run_by(10**9)
    assert steps > 30 * n  # several checks of progress
    for chunk in (777, 10_007):
        again, other = run_by(chunk)
        assert again == steps
        np.testing.assert_array_equal(other, coef)


@pytest.mark.parametrize("make_rows", [double_rows, partial(TwoPrecisionRows, cache_bytes=10**7)], ids=["one", "two"])
def test_working_sets_end_at_the_limit_of_a_run(overlapping, make_rows):
    """A set may take many more steps than a chunk of the driver, but no more than are left of the run."""
    X, y = overlapping

    def make():
        rows = make_rows(X, Gaussian(2.0))
        return SMO(rows, y, alpha=1 / len(y), classic_rows=0, working_set_size=64)

    n_steps = driver.run(make(), tol=1e-3).n_iter
    for limit in (1, n_steps - 1, n_steps // 2):
        solver, divided = make(), make()
        result = driver.run(solver, max_iter=limit, tol=1e-3)
        assert (result.n_iter, result.status) == (limit, "max_iter")
        divided.stop_after(limit)
        while divided.n_iter < limit:
            divided.advance(min(7, limit - divided.n_iter))
        assert divided.n_iter == limit
        np.testing.assert_array_equal(divided.solution().coef, result.solution.coef)
    assert driver.run(solver, tol=1e-3).converged  # the next run has a limit of its own


def test_log_loss_is_refused(overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match="hinge.*squared_hinge.*not 'log_loss'"):
        SMO(double_rows(X, Gaussian(1.0)), y, alpha=1.0, loss="log_loss")


@pytest.mark.parametrize("classic_rows", [0, 5000])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_one_support_vector_per_class(classic_rows, loss):
    """Two points and many copies of them: every split of the two coefficients over the copies is optimal."""
    X = np.repeat([[1.0], [-1.0]], 20, axis=0)
    y = np.repeat([1.0, -1.0], 20)
    solver = SMO(double_rows(X, Linear()), y, alpha=1e-3, loss=loss, classic_rows=classic_rows, working_set_size=4)
    result = driver.run(solver)
    coef = result.solution.coef
    assert result.converged and coef @ X[:, 0] == pytest.approx(1.0, abs=2e-3)
    pair = driver.run(SMO(double_rows(X[[0, 20]], Linear()), y[[0, 20]], alpha=1e-3, loss=loss))
    assert result.objective == pytest.approx(pair.objective, abs=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("classic_rows", [0, 5000])
def test_equal_rows_with_opposite_labels(overlapping, loss, classic_rows):
    """Not separable: such a pair has a hinge loss of at least 2 for every f, and the run must still end."""
    X, y = overlapping[0][:150], overlapping[1][:150]
    X, y = np.vstack([X, X]), np.concatenate([y, -y])
    options = {"loss": loss, "classic_rows": classic_rows, "working_set_size": 64}
    result = driver.run(SMO(double_rows(X, Gaussian(2.0)), y, alpha=1e-5, **options), max_iter=500_000)
    assert result.converged
    assert result.objective == pytest.approx(1.0, abs=1e-5)  # f = 0
    assert np.all(np.isfinite(result.solution.coef)) and result.gap <= 1e-2


@pytest.mark.parametrize("classic_rows", [0, 5000])
def test_C_too_large_for_max_iter_tells_the_gap(overlapping, classic_rows):
    X, y = overlapping
    solver = SMO(KernelRows(X, Gaussian(3.0)), y, alpha=1e-12, classic_rows=classic_rows, working_set_size=64)
    result = driver.run(solver, max_iter=3000, tol=1e-3)
    assert result.status == "max_iter" and not result.converged
    assert np.isfinite(result.gap) and result.gap > 0
    assert result.objective - result.gap == pytest.approx(solver.dual_objective(), abs=1e-9)


def test_what_shrinking_leaves_of_two_sets_is_one(overlapping):
    X, y = overlapping
    solver = SMO(double_rows(X, Gaussian(2.0)), y, alpha=1 / len(y), tol=1e-6, classic_rows=0, working_set_size=300)
    sizes = set()
    while not solver.converged:
        solver.advance(1)
        sizes.add(len(solver.rounds.members))
    assert 300 < max(sizes) <= 600


def test_rows_are_computed_only_for_coefficients_that_moved(overlapping):
    X, y = overlapping
    n = len(y)
    rows = double_rows(X, Gaussian(2.0))
    solver = SMO(rows, y, alpha=1 / n, classic_rows=0, working_set_size=64, shrinking=False)
    solver.advance(1)
    moved = np.count_nonzero(solver.solution().coef)
    assert 0 < moved < 64
    assert rows.n_evaluations == 64 * 64 + moved * n


@pytest.mark.parametrize("cheap", [True, False])
@pytest.mark.parametrize("kept_rows", [2, 70])
def test_a_cache_of_few_rows_changes_nothing_but_the_time(overlapping, kept_rows, cheap):
    X, y = overlapping
    if not cheap:  # the same distances, from many features
        X = np.tile(X, 50) / np.sqrt(50)
    n, objectives = len(y), []
    for cache_bytes in (kept_rows * 8 * n, 10**8):
        rows = KernelRows(X, Gaussian(2.0), dtype=np.float64, cache_bytes=cache_bytes)
        assert rows.cheap == cheap
        result = driver.run(SMO(rows, y, alpha=1e-3, tol=1e-6, classic_rows=0, working_set_size=128))
        assert result.converged
        objectives.append(result.objective)
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-9)
