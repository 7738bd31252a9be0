"""Stochastic conjugate subgradients: the kernel matrix of a sample, and the rows that are watched beside it."""

import numpy as np
import pytest

from kernbench.kernels import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.problems.kernel.conjugate import watches_all
from kernbench.solvers.kernel.conjugate._sample_matrix import SampleMatrix
from kernbench.solvers.registry import get

SCS = get("scs").load()


def problem(n):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_held", [0, 3])
def test_a_product_with_the_sample_is_that_of_its_matrix(dtype, n_held):
    rng = np.random.default_rng(0)
    for size in (1, 3, 4, 5, 8, 10, 21, 64):
        X, held = rng.normal(size=(size, 2)), rng.normal(size=(n_held, 2))
        columns = Gaussian(1.0)(X, np.concatenate([held, X])).astype(dtype)
        matrix = SampleMatrix(size, n_held, dtype)
        first = (size + 1) // 2
        matrix.append(columns[:first, : n_held + first])
        matrix.append(columns[first:])
        a = rng.normal(size=size)
        np.testing.assert_allclose(matrix.matvec(a), columns[:, n_held:].astype(np.float64) @ a, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("geometry", ["rkhs", "euclidean"])
def test_rows_that_are_few_are_evaluated_once(geometry):
    X, y = problem(300)
    solver = SCS(KernelRows(X, Gaussian(1.0)), y, alpha=0.01, random_state=0, sample_cap=100, geometry=geometry)
    solver.advance(60)
    assert len(solver.sample) == 100 and solver.n_kernel_evaluations == 100 * 300


def test_rows_are_watched_only_as_far_as_the_memory_promised_goes():
    assert watches_all(5000, 500, 8) and not watches_all(5001, 500, 8)  # ten validation samples are cheaper
    assert watches_all(20_000, 2000, 4) and not watches_all(20_000, 2000, 8)
    assert watches_all(50_000, 10_000, 4) and not watches_all(70_000, 10_000, 4)


def test_watching_changes_no_step(monkeypatch):
    X, y = problem(300)
    runs = []
    for watched in (True, False):
        monkeypatch.setattr("kernbench.solvers.kernel.conjugate.scs.watches_all", lambda *_, watched=watched: watched)
        rows = KernelRows(X, Gaussian(1.0), dtype=np.float64)
        solver = SCS(rows, y, alpha=0.01, random_state=0, sample_cap=100)
        solver.advance(60)
        runs.append((solver.solution().coef, solver.n_accepted, rows.n_evaluations))
    np.testing.assert_allclose(runs[0][0], runs[1][0], rtol=0, atol=1e-10)
    assert runs[0][1] == runs[1][1] and runs[0][2] < runs[1][2] / 10


def test_the_columns_of_the_sample_count_where_rows_are_watched():
    """(n + 10,000) 10,000 values of 8 bytes: at most 2.5 GB."""
    assert watches_all(21_000, 10_000, 8) and not watches_all(22_000, 10_000, 8)
