"""A cell: a lower limit of the time of any exact solver, from the rows of the kernel matrix that it must know.

To certify a solution takes f of all rows, a sum over the support vectors: their rows of the kernel matrix are
needed whatever the algorithm. Rows are computed fastest in a batch of many: a matrix product and a pass of
exponentials.
"""

import numpy as np

from kernbench._lazy import load
from kernbench.experiments.measure.alternation import alternate
from kernbench.experiments.measure.objectives import gaussian
from kernbench.experiments.measure.optimum import certified_optimum
from kernbench.experiments.measure.record import result
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
    data = load(cell.loader)(**cell.arguments)
    gamma = cell.params["gamma"]
    optimum = certified_optimum(data, gamma=gamma, C=cell.params["C"], cache_size=1000)
    X = data.X_train.astype(np.float32)
    kernel = gaussian(gamma)
    batch = X[: min(BATCH, X.shape[0])]
    timed = alternate({"block": lambda: block(kernel, batch, X)}, seconds=0.5)
    row = timed.of("block") / batch.shape[0]
    limit = row * optimum.n_support
    metrics = {"n_support": optimum.n_support, "row_seconds": row, "seconds_to_gap": limit}
    return result(data, metrics, seconds={"fit": limit})
