"""The workers of a cluster, seen from the process that plans."""

from contextlib import contextmanager, suppress
from time import monotonic, sleep

from kernbench._version import __version__
from kernbench.experiments import plugins
from kernbench.experiments.run.cluster import remote
from kernbench.experiments.run.machine import Machine
from kernbench.experiments.run.schedule import POLL_SECONDS

CONNECT_SECONDS = 10.0
PRESENCE_SECONDS = 0.5


@contextmanager
def connected(address):
    """Connect to the scheduler at `address`; the cells that run are ended when the context ends.

    Raises
    ------
    ValueError
        If Dask is not installed, the scheduler does not answer, or there are no workers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ValueError('a cluster needs Dask: pip install "kernbench[dask]"') from None
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ValueError(
            f"no Dask scheduler answers at {address!r} ({type(error).__name__}): start one with `dask scheduler`, "
            "and workers with `dask worker ADDRESS --nthreads 1`"
        ) from None
    try:
        if not client.nthreads():
            raise ValueError(f"the scheduler at {address} has no workers: start some with `dask worker {address}`")
        yield client
    finally:
        with suppress(Exception):  # a scheduler that has gone has no cells
            client.run(remote.stop, on_error="ignore")
        client.close()


class Lost(Exception):
    """The worker ended before it answered."""


class Presence:
    """Which workers there are: asked of the scheduler, at most twice a second."""

    def __init__(self, client):
        self._client, self._asked, self._threads = client, None, {}

    def threads(self):
        """Threads of each worker, by address."""
        if self._asked is None or monotonic() - self._asked > PRESENCE_SECONDS:
            self._threads, self._asked = dict(self._client.nthreads()), monotonic()
        return self._threads


class _Answer:
    """A future that notices that its worker has gone; Dask would wait for it to come back."""

    def __init__(self, presence, address, future):
        self._presence, self._address, self._future = presence, address, future

    def done(self):
        """Whether there is an answer, or never will be."""
        return self._future.done() or self._address not in self._presence.threads()

    def result(self):
        """Wait for the answer; `Lost` when there is none."""
        while not self.done():
            sleep(POLL_SECONDS)
        is_there = self._address in self._presence.threads()
        if self._future.status == "finished" or (self._future.status == "error" and is_there):
            return self._future.result()  # or raises its error
        self._future.cancel()
        raise Lost(self._address)


class Worker:
    """One worker of the cluster, as a machine that runs cells.

    Parameters
    ----------
    client : distributed.Client
    presence : Presence
    address : str
    declared : dict of str to (int or None)
        Threads of a cell, by experiment; None for those of the worker.
    force : bool
        Run cells with more threads than the worker has.

    Raises
    ------
    ValueError
        If it has no kernbench, or another version, or too few threads.
    """

    def __init__(self, client, presence, address, declared, force):
        self._client, self._presence, self.address = client, presence, address
        try:
            found = self._submit(remote.describe).result()
        except Lost:
            raise
        except Exception as error:
            raise ValueError(
                f"worker {address} cannot run cells ({type(error).__name__}: {error}): install kernbench "
                f"{__version__} there"
            ) from None
        if found["kernbench"] != __version__:
            raise ValueError(
                f"worker {address} has kernbench {found['kernbench']}, this process has {__version__}: install the same"
            )
        n_threads = presence.threads().get(address)
        if n_threads is None:
            raise Lost(address)
        most = max(filter(None, declared.values()), default=1)
        if most > n_threads and not force:
            raise ValueError(
                f"worker {address} was started with --nthreads {n_threads}, and a fit takes {most} threads, so that "
                f"times would mean nothing: start it with --nthreads {most}, or run with fewer --threads, or --force"
            )
        del found["pid"]
        threads = {name: count or n_threads for name, count in declared.items()}
        self.machine = Machine(
            found, threads, self._describe, digest=lambda names: self._submit(remote.digest, names).result()
        )

    def _describe(self, cell):
        """As `machine.description`, on the worker: data that end the process that reads them cannot be loaded."""
        try:
            return self._submit(remote.ask, "describe", cell, plugins.of(cell)).result()
        except Lost:
            raise
        except Exception as error:
            return {"name": cell.dataset, "checksum": None}, f"{type(error).__name__}: {error}"

    def measure(self, task, cell):
        """Start a cell; return a future with its outcome."""
        limits = {
            "threads": task.environment["n_threads"],
            "time_limit": task.time_limit,
            "memory_limit": task.memory_limit,
        }
        return self._submit(remote.ask, "measure", cell, task.plugin, limits)

    def _submit(self, function, *arguments):
        future = self._client.submit(
            function, *arguments, workers=[self.address], allow_other_workers=False, pure=False, retries=0
        )
        return _Answer(self._presence, self.address, future)
