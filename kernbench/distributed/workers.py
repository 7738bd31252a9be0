"""The workers of a Dask cluster: checked, counted, lost."""

from importlib import import_module

from kernbench._version import __version__


def check_workers(client):
    """Raise ValueError unless there are workers, and all have this version of kernbench.

    Its modules are imported in the threads of tasks: in a worker's event loop that may take longer than connections
    last.
    """
    workers = sorted(addresses(client))
    if not workers:
        raise ValueError("the scheduler has no workers: start some with `dask worker ADDRESS`")
    found = []
    for worker in workers:
        module = client.submit(import_module, "kernbench._version", workers=[worker], pure=False)
        found.append(client.submit(getattr, module, "__version__", workers=[worker], pure=False))
    for worker, version in zip(workers, found):
        if version.exception() is not None:
            raise ValueError(
                f"worker {worker} cannot import kernbench ({version.exception()}): install it on all workers"
            )
        if version.result() != __version__:
            raise ValueError(
                f"worker {worker} has kernbench {version.result()}, this process has {__version__}: install the same"
            )
    from distributed import wait

    module = "kernbench.distributed.held_rows"
    wait([client.submit(import_module, module, workers=[worker], pure=False) for worker in workers])


def addresses(client):
    """Return the addresses of the workers."""
    return frozenset(client.scheduler_info(n_workers=-1)["workers"])


def free_bytes(client):
    """Return the memory that the workers have left."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return sum(max(0, w["memory_limit"] - w["metrics"].get("memory", 0)) for w in workers)


def lost():
    """Return the exceptions that tell that a worker was lost."""
    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker

    return FutureCancelledError, KilledWorker, OSError
