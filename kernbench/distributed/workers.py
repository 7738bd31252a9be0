"""The workers of a Dask cluster: checked, counted, lost."""

from contextlib import suppress
from importlib import import_module

from kernbench._version import __version__

LOOK_SECONDS = 2.0  # between two looks at which workers there are


def check_workers(client):
    """Raise ValueError unless there are workers, and all have this version of kernbench.

    Its modules are imported in the threads of tasks: in a worker's event loop that may take longer than connections
    last.
    """
    workers = sorted(addresses(client))
    if not workers:
        raise ValueError("the scheduler has no workers: start some with `dask worker ADDRESS`")
    tasks = {worker: client.submit(_version, workers=[worker], pure=False) for worker in workers}
    for worker, task in tasks.items():
        while not task.done() and worker in addresses(client):  # one that is gone never answers
            _wait_for(task)
        if task.status == "error":
            raise ValueError(f"worker {worker} cannot import kernbench ({task.exception()}): install it on all workers")
        if task.status == "finished" and task.result() != __version__:
            raise ValueError(
                f"worker {worker} has kernbench {task.result()}, this process has {__version__}: install the same"
            )


def _version():
    import_module("kernbench.distributed.held_rows")
    return import_module("kernbench._version").__version__


def _wait_for(task):
    from distributed import wait

    with suppress(TimeoutError):
        wait(task, timeout=LOOK_SECONDS)


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
