"""A kernel's blocks: their values, precision and speed."""

import numpy as np
from scipy.linalg import blas
from threadpoolctl import threadpool_limits

from kernbench._lazy import load
from kernbench.experiments.measure.alternation import alternate
from kernbench.experiments.measure.record import columns, result
from kernbench.experiments.ours.primitives import catalogue
from kernbench.experiments.ours.primitives.errors import float32_error
from kernbench.experiments.ours.primitives.inputs import rows
from kernbench.experiments.ours.primitives.peers import PEERS
from kernbench.kernels.blocks import block

OURS, PRODUCT = "kernbench", "matrix product"
DTYPES = ("float32", "float64")
DIGITS = 4  # of values for figures

# For figures, by `Entry.view`: the range of an axis, the x of three curves, and the x of the plane.
VIEWS = {
    "points": ((-3.0, 3.0), (-1.5, 0.0, 1.5), (0.0, 0.0)),
    "ball": ((-1.0, 1.0), (0.25, 0.5, 1.0), (0.8, 0.5)),
    "sums": ((0.0, 0.6), (0.1, 0.3, 0.6), (0.5, 0.3)),
    "ratios": ((0.0, 1.0), (0.1, 0.4, 0.9), (0.4, 0.3)),
    "corner": ((0.0, 1.0), (0.0, 0.2, 0.8), (0.0, 0.0)),
}
N_CURVE, N_PLANE = 121, 41


def bare_product(X, Z):
    """X @ Z.T by the BLAS that the compiled engine calls, without a copy."""
    gemm = blas.sgemm if X.dtype == np.float32 else blas.dgemm
    return gemm(1.0, X.T, Z.T, trans_a=True)


def measure(cell):
    """Evaluate a kernel for figures, measure its precision and time its blocks, with one thread.

    The cell's `params` are ``kernel`` (a name of the catalogue), ``shapes`` (pairs of rows and columns: n × d
    against n × d) and ``seconds`` for each shape and precision.

    Returns
    -------
    dict
        ``metrics``: ``float32_error``, ``peer_difference``, and for each shape and precision, under
        ``"float32-64"``, ``gemm_share`` and ``speed_up`` (over the peer). ``trace``: a table of timings
        (``shape``, ``routine``, ``seconds``, ``gemm_times``: time over that of the bare product), one of the
        kernel in one dimension (``x``, ``z``, ``value``), and its values on a ``plane``.
    """
    data = load(cell.loader)(**cell.arguments)
    entry = catalogue.get(cell.params["kernel"])
    metrics = _precision(entry, data.X_train)
    trace = {**curve(entry), "plane": plane(entry)}
    table = []
    with threadpool_limits(1):
        for n_rows, n_columns in cell.params["shapes"]:
            for dtype in DTYPES:
                timings = _timings(entry, n_rows, n_columns, dtype, cell)
                found = metrics[f"{dtype}-{n_columns}"] = {"gemm_share": timings.ratio(PRODUCT, OURS)}
                for name in timings.seconds:
                    ratio = None if name == PRODUCT else timings.ratio(name, PRODUCT)
                    table.append((f"{dtype}, {n_columns} columns", name, timings.of(name), ratio))
                    if name not in (OURS, PRODUCT):
                        found["speed_up"] = timings.ratio(name, OURS)
    return result(data, metrics, trace=trace | columns(("shape", "routine", "seconds", "gemm_times"), table))


def _timings(entry, n_rows, n_columns, dtype, cell):
    kernel, peer = entry.kernel(n_columns), PEERS.get(entry.name)
    X, Z = (rows(entry.rows, n_rows, n_columns, cell.seed + side, dtype) for side in (0, 1))
    routines = {PRODUCT: lambda: bare_product(X, Z), OURS: lambda: block(kernel, X, Z)}
    if peer is not None:
        routines[peer.library] = lambda: peer.call(kernel, X, Z)
    return alternate(routines, cell.params["seconds"])


def _precision(entry, X):
    """Differences of float32 from float64, and of float64 from the peer: largest difference over largest value."""
    kernel, half = entry.kernel(X.shape[1]), len(X) // 2
    X, Z = X[:half], X[half:]
    found = {"float32_error": float32_error(block, kernel, X, Z)}
    peer = PEERS.get(entry.name)
    if peer is not None:
        exact = block(kernel, X, Z)
        values = peer.values(peer.call(kernel, X, Z), X, Z)
        found["peer_difference"] = np.abs(values - exact).max() / np.abs(exact).max()
    return found


def curve(entry):
    """The kernel of one column: k(x, z) over z for some x, as columns of a table."""
    (low, high), points, _ = VIEWS[entry.view]
    z = np.linspace(low, high, N_CURVE)
    values = block(entry.kernel(1), np.array(points)[:, None], z[:, None])
    return {
        "x": [f"{x:g}".replace("-", "−") for x in points for _ in z],
        "z": np.tile(z.round(DIGITS), len(points)),
        "value": values.round(DIGITS).ravel(),
    }


def plane(entry):
    """The kernel of two columns, k(x, z) over z for one x: a grid as `Contours` takes it."""
    (low, high), _, point = VIEWS[entry.view]
    line = np.linspace(low, high, N_PLANE)
    z = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    values = block(entry.kernel(2), np.array([point]), z)
    return {
        "x": line.round(DIGITS),
        "y": line.round(DIGITS),
        "values": values.round(DIGITS).reshape(N_PLANE, N_PLANE),
        "point": point,
    }
