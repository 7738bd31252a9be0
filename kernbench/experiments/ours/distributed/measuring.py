"""A cell: one fit over an array, over files, or over partitions on workers of this machine."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import numpy as np

from kernbench._lazy import load
from kernbench.distributed import Distributed
from kernbench.distributed.cluster import held_rows
from kernbench.distributed.cluster.workers import check_workers
from kernbench.experiments.measure.race import in_precision, laid_out
from kernbench.experiments.measure.record import result
from kernbench.metrics import roc_auc

PARTS = 8  # files, or partitions
COUNTS = ("n_passes", "n_bytes_sent", "n_bytes_received")


def measure(cell):
    """Fit the cell's estimator where ``params["where"]`` says: "array", "files" or "workers", of which `workers`.

    Returns
    -------
    dict
        ``seconds``: ``fit``, with rows written or sent beforehand. ``metrics``: ``auc`` on the test rows,
        ``objective``, ``passes``, ``bytes_sent`` and ``bytes_received``.
    """
    data, params, place = _data_of(cell)
    where = place.pop("where")
    estimator = load(cell.estimator)(**params)
    with PLACES[where](data, **place) as (client, X, y):
        model = estimator if where == "array" else Distributed(estimator, client)
        start = perf_counter()
        model.fit(X, y)
        seconds = perf_counter() - start
    fitted = getattr(model, "estimator_", model)
    counts = {name[2:]: getattr(model, f"{name}_", None) for name in COUNTS}
    metrics = {
        "auc": roc_auc(data.y_test, fitted.decision_function(data.X_test)),
        "objective": float(fitted.objective_),
        "n_iter": int(np.sum(fitted.n_iter_)),
        **counts,
    }
    return result(data, metrics, seconds={"fit": seconds})


def measure_peer(cell):
    """Fit an estimator of another library to Dask arrays on workers."""
    data, params, place = _data_of(cell)
    place.pop("where")
    with on_workers(data, **place) as (_, X, y):
        model = load(cell.estimator)(**params)
        start = perf_counter()
        model.fit(X, y)
        seconds = perf_counter() - start
        scores = np.asarray(model.decision_function(data.X_test))
    return result(data, {"auc": roc_auc(data.y_test, scores)}, seconds={"fit": seconds})


def _data_of(cell):
    """Return the data, the estimator's parameters, and where it is fitted."""
    data, params = in_precision(cell, laid_out(cell, load(cell.loader)(**cell.arguments))), dict(cell.params)
    place = params.pop("place")
    return data, params, dict(place)


@contextmanager
def in_array(data):
    """Yield the rows as they are."""
    yield None, data.X_train, data.y_train


@contextmanager
def in_files(data):
    """Yield a folder of files with the rows."""
    with tempfile.TemporaryDirectory() as folder:
        for k, part in enumerate(np.array_split(data.X_train, PARTS)):
            np.save(Path(folder) / f"part-{k}.npy", part)
        yield None, folder, data.y_train


@contextmanager
def on_workers(data, workers):
    """Yield a client and the rows as a Dask array on this many processes of one thread each."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    # Modules are found where this process finds them.
    environment = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[4]), os.environ.get("PYTHONPATH", "")])}
    with (
        dask.config.set({"distributed.worker.daemon": False}),
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, env=environment) as cluster,
        Client(cluster) as client,
    ):
        rows = -(-len(data.y_train) // PARTS)
        X = client.persist(da.from_array(data.X_train, chunks=(rows, -1)))
        y = client.persist(da.from_array(data.y_train, chunks=rows))
        wait([X, y])
        check_workers(client, held_rows.__name__)  # they import what they need before the clock starts
        yield client, X, y


PLACES = {"array": in_array, "files": in_files, "workers": on_workers}
