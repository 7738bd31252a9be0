"""A cell: growth of the time and memory of a fit with the number of rows, for a capped sample."""

import tempfile
import tracemalloc
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

from kernbench._lazy import load
from kernbench.experiments.measure.clock import timed
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.measure.record import columns, result

REPEATS = 3
COLUMNS = ("n_rows", "seconds", "accuracy")


def measure(cell):
    """Fit to increasing numbers of rows of one file, mapped into memory.

    The cell's `params` are those of the estimator, whose ``fit_chunks`` is called, and ``sizes``: numbers of
    rows, ascending.

    Returns
    -------
    dict
        ``metrics``: ``growth``, the median time of the fit to the most rows over that to the fewest;
        ``accuracy`` of the former, and ``fit_memory``, what it allocates at its peak, in bytes. ``seconds``:
        ``fit``, the former. ``trace``: ``n_rows``, ``seconds``, ``accuracy``.

    Notes
    -----
    The peak memory of the process includes the making of the data, and pages of the mapped file once they are
    read, which the system may reclaim. So the memory is that of one more fit, off the clock, under
    ``tracemalloc``, which counts every allocated array and no page of the file.
    """
    params = dict(cell.params)
    sizes = params.pop("sizes")
    data = load(cell.loader)(**{**cell.arguments, "n_train": max(sizes)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, data.X_train)
        mapped = np.load(path, mmap_mode="r")
        data = replace(data, X_train=mapped)

        def fitted(size):
            # A list of one chunk, of which only the drawn rows are read.
            return load(cell.estimator)(**params).fit_chunks([(mapped[:size], data.y_train[:size])])

        fitted(sizes[0])  # off the clock: the first fit of a process also loads libraries
        rows = []
        for _ in range(REPEATS):  # sizes alternate, so that other work on the machine affects them alike
            for size in sizes:
                model, seconds = timed(lambda size=size: fitted(size))
                rows.append((size, seconds, float(np.mean(model.predict(data.X_test) == data.y_test))))
        memory = peak_memory()
        tracemalloc.start()
        try:
            fitted(sizes[-1])
            fit_memory = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        times = {size: median(s for n, s, _ in rows if n == size) for size in sizes}
        metrics = {"growth": times[sizes[-1]] / times[sizes[0]], "accuracy": rows[-1][2], "fit_memory": fit_memory}
        return result(data, metrics, seconds={"fit": times[sizes[-1]]}, trace=columns(COLUMNS, rows), memory=memory)
