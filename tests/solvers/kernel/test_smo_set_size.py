"""The size of SMO's working sets follows the number of free coefficients."""

import numpy as np
import pytest

from kernbench.kernels import Gaussian
from kernbench.kernels._rows import KernelRows
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers import driver
from kernbench.solvers.kernel.smo.set_size import SetSize, checked_sizes
from kernbench.solvers.kernel.smo.smo import SMO


def problem(n, seed=0):
    """Overlapping classes under a narrow kernel: at a large C most support vectors are free."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)


def run(sizes, n=600, C=100.0, core="compiled"):
    X, y = problem(n)
    make = ReferenceRows if core == "reference" else KernelRows
    rows = make(X, Gaussian(1.0), dtype=np.float64)
    solver = SMO(rows, y, alpha=1 / (C * n), classic_rows=0, working_set_size=sizes, core=core)
    result = driver.run(solver, tol=1e-3, max_iter=10**7)
    assert result.converged
    return solver, result


@pytest.mark.parametrize("core", ["compiled", "reference"])
def test_sets_that_follow_the_free_coefficients_compute_fewer_kernel_values(core):
    n = 600 if core == "compiled" else 300
    fixed, few = run(n // 10, n, core=core)
    growing, fewer = run((n // 10, n), n, core=core)
    assert growing.rounds.set_size.now > n // 10 == fixed.rounds.set_size.now
    assert growing.n_kernel_evaluations < 0.7 * fixed.n_kernel_evaluations
    assert fewer.objective == pytest.approx(few.objective, rel=2e-3)


def test_sets_have_room_for_all_free_coefficients_and_others():
    solver, _ = run((60, 600))
    n_free = np.count_nonzero(solver.rounds.active.state.free())
    assert n_free <= solver.rounds.set_size.now <= 600


def test_where_few_coefficients_are_free_nothing_changes():
    fixed, growing = (run(sizes, C=0.01) for sizes in (100, (100, 600)))
    np.testing.assert_array_equal(fixed[1].solution.coef, growing[1].solution.coef)
    assert fixed[0].n_kernel_evaluations == growing[0].n_kernel_evaluations


@pytest.mark.parametrize(("cache_rows", "largest"), [(10_000, 5000), (2500, 2500), (2, 100)])
def test_the_kernel_between_members_takes_at_most_a_quarter_of_the_cache(cache_rows, largest):
    class Rows:
        n_rows, capacity = 10_000, cache_rows

    size = SetSize(100, 8000, Rows)
    size.grow_for(10**6)
    assert size.now == largest
    assert not size.should_keep(10**6)


def test_after_stagnation_sets_stay_small():
    X, y = problem(100)
    size = SetSize(16, 100, KernelRows(X, Gaussian(1.0)))
    size.fix(4)
    size.grow_for(80)
    assert size.now == 4
    assert not size.should_keep(3)


@pytest.mark.parametrize("sizes", [(64, 32), (1, 32), (16, 32, 64), (16,), (16, 32.5), "large", ()])
def test_sizes_that_are_no_pair_are_refused(sizes):
    with pytest.raises(ValueError, match="working_set_size"):
        checked_sizes(sizes, 100)
