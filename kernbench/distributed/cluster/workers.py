"""Workers of a Dask cluster: their versions, addresses and free memory, and the errors of a lost one."""

from concurrent.futures import CancelledError
from contextlib import suppress
from importlib import import_module

from kernbench._version import __version__

POLL_SECONDS = 2.0  # between two requests for the list of workers


class WorkersLost(RuntimeError):
    """Workers of a cluster were lost, and what they held or computed cannot be made again."""


def check_workers(client, module):
    """Raise ValueError unless there are workers, and all have this version of kernbench.

    They import `module`, the name of what they will run, in the threads of tasks: in a worker's event loop an import
    may take longer than connections last.
    """
    workers = sorted(addresses(client))
    if not workers:
        raise ValueError("the scheduler has no workers: start some with `dask worker ADDRESS`")
    tasks = {worker: client.submit(_version_after_import, module, workers=[worker], pure=False) for worker in workers}
    for worker, task in tasks.items():
        while not task.done() and worker in addresses(client):  # a lost worker never answers
            _wait_for(task)
        if task.status == "error":
            raise ValueError(f"worker {worker} cannot import kernbench ({task.exception()}): install it on all workers")
        if task.status == "finished" and task.result() != __version__:
            raise ValueError(
                f"worker {worker} has kernbench {task.result()}, this process has {__version__}: install the same"
            )


def _version_after_import(module):
    import_module(module)
    return import_module("kernbench._version").__version__


def _wait_for(task):
    from distributed import wait

    with suppress(TimeoutError):
        wait(task, timeout=POLL_SECONDS)


def addresses(client):
    """Return the addresses of the workers."""
    return frozenset(_workers(client))


def free_bytes(client):
    """Return the free memory of all workers."""
    return sum(max(0, w["memory_limit"] - w["metrics"].get("memory", 0)) for w in _workers(client).values())


def _workers(client):
    """Return what the scheduler knows of each worker, by its address.

    ``client.scheduler_info()`` is not used: it returns an attribute that the client overwrites every two seconds
    without workers, so that now and then there seem to be none.
    """
    return client.sync(client.scheduler.identity)["workers"]


def gathered_parts(client, futures):
    """Return the results of futures, one for each part of rows or labels; WorkersLost if any were lost for good."""
    from distributed.scheduler import KilledWorker

    try:
        return client.gather(futures, direct=True)
    except (CancelledError, KilledWorker) as error:
        check_not_lost(futures)
        raise WorkersLost(str(error)) from error


def check_not_lost(parts):
    """Raise WorkersLost, which names the first one, if parts of the data cannot be computed again."""
    for k, part in enumerate(parts):
        if part.status in ("lost", "cancelled"):
            raise WorkersLost(
                f"part {k} of the data was lost with its worker and cannot be computed again: give Dask collections or "
                "delayed chunks, which can, in place of scattered data"
            )


def lost():
    """Return the exceptions that are raised when a worker is lost."""
    from distributed.scheduler import KilledWorker

    return CancelledError, KilledWorker, OSError  # Dask cancels what depends on scattered data that are lost
