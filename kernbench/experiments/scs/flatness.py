"""A cell: does the time of a fit grow with the number of rows, the sample being capped?"""

import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from kernbench.experiments.base import resolve
from kernbench.experiments.measure import peak_memory, result

REPEATS = 3
COLUMNS = ("n_rows", "seconds", "accuracy")


def measure(cell):
    """Fit to more and more rows of one file, mapped into memory.

    The cell's `params` are those of the estimator, and ``lam``, and ``sizes``: numbers of rows, ascending.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict
        ``metrics``: ``growth``, the median time of the fit to the most rows over that to the fewest;
        ``accuracy`` of the former. ``seconds``: ``fit``, the former. ``trace``: ``n_rows``, ``seconds``,
        ``accuracy``.
    """
    params = dict(cell.params)
    sizes, lam = params.pop("sizes"), params.pop("lam")
    data = resolve(cell.loader)(**{**cell.arguments, "n_train": max(sizes)})
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, data.X_train)
        mapped = np.load(path, mmap_mode="r")
        data = replace(data, X_train=mapped)
        for turn in range(REPEATS):  # sizes alternate, so that a busy moment is nobody's alone
            for size in sizes:
                # The paper's λ is that of a mean, so C falls with the number of rows.
                model = resolve(cell.estimator)(**params, C=1.0 / (lam * size))
                start = perf_counter()
                model.fit(mapped[:size], data.y_train[:size])
                seconds = perf_counter() - start
                rows.append((size, seconds, float(np.mean(model.predict(data.X_test) == data.y_test))))
        memory = peak_memory()
        times = {size: median(s for n, s, _ in rows if n == size) for size in sizes}
        metrics = {"growth": times[sizes[-1]] / times[sizes[0]], "accuracy": rows[-1][2]}
        return result(
            data, metrics, seconds={"fit": times[sizes[-1]]}, trace=dict(zip(COLUMNS, zip(*rows))), memory=memory
        )
