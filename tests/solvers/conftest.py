"""Problems for the solvers, and how the twins are built on them."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from kernbench.kernels import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.reference.design import as_design as as_reference_design
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers import driver, tracing
from kernbench.solvers.design import as_design

sys.path.insert(0, str(Path(__file__).parent))  # for the helpers that tests in its folders import
pytest.register_assert_rewrite("lockstep")


@pytest.fixture(scope="session")
def classification():
    """A function ``make(n, seed, d=3, weighted=False)`` that returns an overlapping, unbalanced two-class problem."""

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


@pytest.fixture(scope="session")
def ranking():
    """A function ``make(n, seed, d=3, form="dense", weighted=False, ties=False)``: a problem of two unbalanced classes.

    Forms: dense float64 or float32 features, CSR with indices of 32 or 64 bits, a kernel whose matrix is kept
    or multiplied tile by tile.
    """

    def make(n, seed, d=3, form="dense", weighted=False, ties=False):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d))
        y = np.where(X[:, 0] + X[:, -1] + 0.5 * X[:, 0] * X[:, -1] + rng.normal(size=n) > 1.0, 1, -1)
        y[:2] = 1, -1
        if ties:
            X = np.round(X)
        if form.startswith("csr"):
            X = sparse.csr_matrix(np.where(np.abs(X) > 0.4, X, 0.0))
            if form == "csr64":
                X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        elif form == "float32":
            X = X.astype(np.float32)
        weights = None
        if weighted:
            weights = rng.integers(0, 4, size=n).astype(np.float64)
            weights[:2] = 1.0, 2.0
        return SimpleNamespace(X=X, y=y, weights=weights, n=n, form=form, kernel=Gaussian(1.2))

    return make


@pytest.fixture(scope="session")
def design_of():
    """A function ``make(problem, twin="compiled")`` that returns the design of a problem."""

    def make(problem, twin="compiled"):
        compiled, X = twin == "compiled", problem.X
        if problem.form in ("kernel", "tiles"):
            room = 10**8 if problem.form == "kernel" else 4 * 8 * problem.n
            X = (KernelRows if compiled else ReferenceRows)(X, problem.kernel, dtype=np.float64, cache_bytes=room)
        return (as_design if compiled else as_reference_design)(X)

    return make


@pytest.fixture(scope="session")
def rank(design_of):
    """A function ``rank(entry, twin, problem, **options)`` that returns a solver of the ROC-SVM."""

    def make(entry, twin, problem, **options):
        options = {"alpha": 0.01, "random_state": 0, "weights": problem.weights, **options}
        return entry.load(twin)(design_of(problem, twin), problem.y, **options)

    return make


# What a problem of these kinds is made from beyond the data: a range that leaves out both ends.
RANGES = {"partial-auc": {"fpr_range": (0.1, 0.6)}, "ranked-range": {"ranked_range": (4.0, 30.0)}, "auc-margin": {}}


@pytest.fixture(scope="session")
def windowed(design_of):
    """A function ``windowed(entry, twin, problem, **options)`` that returns a solver of one of the kinds in `RANGES`.

    The problems are those of `ranking`.
    """

    def make(entry, twin, problem, **options):
        options = {"alpha": 0.01, "random_state": 0, "weights": problem.weights, **RANGES[entry.problem], **options}
        return entry.load(twin)(design_of(problem, twin), problem.y, **options)

    return make


@pytest.fixture(scope="session")
def linear():
    """A function ``linear(entry, twin, problem, **options)`` that returns a solver on explicit features.

    The problems are those of `ranking`, in the forms "dense", "float32", "csr" and "csr64".
    """

    def make(entry, twin, problem, *, C=1.0, **options):
        options = {"random_state": 0, "weights": problem.weights, **options}
        design = (as_design if twin == "compiled" else as_reference_design)(problem.X)
        return entry.load(twin)(design, problem.y, alpha=1 / (C * problem.n), **options)

    return make


@pytest.fixture(scope="session")
def regression():
    """A function ``make(n, seed, d=3, form="dense", weighted=False)``: targets with noise and a few outliers.

    Forms as in `ranking`; ``"kernel"`` stands for dense rows and a kernel.
    """

    def make(n, seed, d=3, form="dense", weighted=False):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d))
        if form.startswith("csr"):
            X = sparse.csr_matrix(np.where(np.abs(X) > 0.4, X, 0.0))
            if form == "csr64":
                X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        elif form == "float32":
            X = X.astype(np.float32)
        y = X @ np.linspace(-1.0, 1.5, d) + 0.3 * rng.normal(size=n)
        y[::9] += 4.0
        weights = None
        if weighted:
            weights = rng.integers(0, 4, size=n).astype(np.float64)
            weights[:2] = 1.0, 2.0
        return SimpleNamespace(X=X, y=y, weights=weights, n=n, form=form, kernel=Gaussian(1.2))

    return make


@pytest.fixture(scope="session")
def regress():
    """A function ``regress(entry, twin, problem, **options)`` that returns a solver of a regression.

    The problems are those of `regression`.
    """

    def make(entry, twin, problem, *, alpha=0.01, dtype=np.float64, **options):
        options = {"random_state": 0, "weights": problem.weights, **entry.kind.defaults, **options}
        kernel = problem.kernel if entry.kind.first == "rows" else None
        data = entry.kind.make_data(problem.X, kernel, twin=twin, dtype=dtype)
        return entry.load(twin)(data, problem.y, alpha=alpha, **options)

    return make


@pytest.fixture(scope="module")
def overlapping():
    X, y = make_classification(900, 12, n_informative=5, flip_y=0.15, random_state=0)
    return X, 2.0 * y - 1.0


@pytest.fixture
def clock(monkeypatch):
    """A simulated clock, which the driver reads instead of the real one."""
    from countdown import Clock

    clock = Clock()
    for module in (driver, tracing):
        monkeypatch.setattr(module, "perf_counter", clock)
    return clock
