"""Problems of any loss for the streaming solvers, and their twins on them."""

import numpy as np

from kernbench.kernels import Gaussian
from kernbench.problems.streaming.batches import ArrayBatches, StreamBatches
from kernbench.solvers.registry import get

OF_LABELS = ("hinge", "squared_hinge", "log_loss", "density_ratio", "truncated_ratio")


def rows_and_labels(loss="squared_error", n=60, d=3, seed=0, n_outputs=1):
    """Rows, and labels or targets that fit the loss."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    f = np.sin(2 * X[:, 0]) + X[:, -1] * X[:, 0]
    if loss == "novelty":
        return X, None
    if loss == "softmax":
        return X, np.digitize(f, np.linspace(-1, 1, n_outputs - 1)).astype(np.float64)
    if loss in OF_LABELS:
        return X, np.where(f + 0.2 * rng.normal(size=n) > 0, 1.0, -1.0)
    y = f[:, None] * np.arange(1, n_outputs + 1) + 0.1 * rng.normal(size=(n, n_outputs))
    return X, y[:, 0] if n_outputs == 1 else y


def solver_on(batches, twin="compiled", kernel=None, **options):
    """A solver of ``doubly-sgd`` on a source of batches."""
    settings = {"alpha": 0.05, "block_size": 8, "random_state": 3, "step_size": 0.5, **options}
    return get("doubly-sgd").load(twin)(batches, kernel or Gaussian(1.2), **settings)


def solver_of(X, y, twin="compiled", *, weights=None, batch_size=16, shuffle=True, n_passes=None, seed=5, **options):
    """A solver on arrays."""
    batches = ArrayBatches(X, y, weights, batch_size=batch_size, seed=seed, shuffle=shuffle, n_passes=n_passes)
    return solver_on(batches, twin, **options)


def stream_of(X, y, weights=None, *, batch_size=16, cuts=()):
    """A stream of the rows in their order, cut into chunks."""
    n, edges = len(X), [0, *cuts, len(X)]
    chunks = [list(range(a, b)) for a, b in zip(edges[:-1], edges[1:])]

    def take(count):
        while chunks and not chunks[0]:
            chunks.pop(0)
        rows = chunks[0][:count] if chunks else []
        if chunks:
            del chunks[0][:count]
        return X[rows], None if y is None else y[rows], None if weights is None else weights[rows]

    assert n == len(X)
    return StreamBatches(take, batch_size=batch_size, n_features=X.shape[1], dtype=X.dtype)
