"""Rows in files and in one array, and a cluster of two workers; lets the tests import the helper beside them."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from kernbench.distributed.blocks.file_blocks import FileBlocks

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def examples():
    """A function ``make(n, d, dtype="float64", sparse=False)`` that returns rows and labels of two classes."""

    def make(n, d, dtype="float64", is_sparse=False, seed=0):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d)) + rng.normal(size=d)
        y = np.where(X[:, 0] - X[:, -1] + rng.normal(size=n) > 1.0, 1, -1)
        y[:2] = [1, -1][:n]
        if is_sparse:
            X = sparse.csr_matrix(np.where(np.abs(X) > 1.0, X, 0.0))
        return X.astype(dtype), y

    return make


@pytest.fixture
def in_files(tmp_path):
    """A function ``make(X, cuts)`` that writes rows to ``.npy`` files, cut at these rows, and returns the folder."""

    def make(X, cuts):
        for k, part in enumerate(np.split(X, cuts)):
            np.save(tmp_path / f"part-{k}.npy", part)
        return tmp_path

    return make


@pytest.fixture
def blocks_of(in_files):
    """A function ``make(X, cuts)`` that returns `FileBlocks`: of dense rows in files, of sparse ones in chunks."""

    def make(X, cuts=()):
        if not sparse.issparse(X):
            return FileBlocks(in_files(X, cuts))
        bounds = [0, *cuts, X.shape[0]]
        return FileBlocks([X[a:b] for a, b in zip(bounds[:-1], bounds[1:])])

    return make


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with distributed.Client(cluster) as client:
        yield client
