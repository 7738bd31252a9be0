"""A cell: a lower limit of the time of any exact solver, from the rows of the kernel matrix that it must know.

To certify a solution takes f of all rows, a sum over the support vectors: their rows of the kernel matrix are
needed whatever the algorithm. Nobody computes a row faster than in a batch of many, which is a matrix product
and a pass of exponentials.
"""

import numpy as np

from kernbench.experiments.declare import resolve
from kernbench.experiments.measure.clock import result
from kernbench.experiments.ours.primitives.timing import alternate
from kernbench.experiments.ours.svm_peers.optimum import find_optimum
from kernbench.kernels import Gaussian
from kernbench.kernels.blocks import block

BATCH = 256  # rows


def measure(cell):
    """Time a row in a batch, in float32 with the threads of the cell; the cell's `params` are ``gamma`` and ``C``.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict
        ``seconds``: ``fit``, the limit. ``metrics``: ``n_support``, ``row_seconds`` and ``seconds_to_gap``,
        the limit again.
    """
    data = resolve(cell.loader)(**cell.arguments)
    optimum = find_optimum(data, cell.params)
    X = data.X_train.astype(np.float32)
    kernel = Gaussian(sigma=(0.5 / cell.params["gamma"]) ** 0.5)
    batch = X[: min(BATCH, X.shape[0])]
    timed = alternate({"block": lambda: block(kernel, batch, X)}, seconds=0.5)
    row = timed.of("block") / batch.shape[0]
    limit = row * optimum.n_support
    metrics = {"n_support": optimum.n_support, "row_seconds": row, "seconds_to_gap": limit}
    return result(data, metrics, seconds={"fit": limit})
