"""Problems for the solvers, and how the twins are built on them."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernbench.kernels import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.reference.kernels import ReferenceRows


@pytest.fixture(scope="session")
def classification():
    """A function ``make(n, seed, d=3, kind="plain")`` that returns an overlapping, unbalanced two-class problem."""

    def make(n, seed, d=3, weighted=False):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d))
        y = np.where(X[:, 0] * X[:, -1] + X[:, 0] + 0.5 * rng.normal(size=n) > 0.3, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        weights = rng.uniform(0.2, 3.0, size=n) if weighted else None
        return SimpleNamespace(X=X, y=y, weights=weights, n=n, kernel=Gaussian(1.2))

    return make


@pytest.fixture(scope="session")
def build():
    """A function ``build(entry, twin, problem, **options)`` that returns a solver in double precision."""

    def make(entry, twin, problem, *, C=1.0, dtype=np.float64, cache_bytes=10**8, **options):
        rows = KernelRows if twin == "compiled" else ReferenceRows
        options = {"random_state": 0, "weights": problem.weights, **options}
        return entry.load(twin)(
            rows(problem.X, problem.kernel, dtype=dtype, cache_bytes=cache_bytes),
            problem.y, alpha=1 / (C * problem.n), **options,
        )  # fmt: skip

    return make
