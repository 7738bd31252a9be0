"""Start the process of a cell: forked from a server that has the libraries loaded.

For a small cell a new interpreter spends most of its time on importing scikit-learn and SciPy: a second, where a fork
takes 10 ms. So on Linux cells come from the standard library's fork server, which imports `preload` and computes
nothing: it has no thread pool that a fork could break. On macOS, where system libraries do not survive a fork, each
cell gets a new interpreter.

loky and ``concurrent.futures`` are less suitable. Their workers run many cells each, so that peak memory, thread pools
and the kill at a time limit concern more than one cell; and loky starts new interpreters.
"""

import multiprocessing
import os
import signal
import sys
from contextlib import contextmanager
from multiprocessing import forkserver, resource_tracker, util
from types import ModuleType

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
START_METHOD = "forkserver" if sys.platform == "linux" else "spawn"


def temporary_folder():
    """The folder of multiprocessing's own files: removed with this process, and by cells that survive it."""
    return util.get_temp_dir()


def prepare():
    """Start the fork server unless it runs; it imports its libraries while this process continues."""
    if START_METHOD != "forkserver":
        return
    multiprocessing.set_forkserver_preload(["kernbench.experiments.run.processes.preload"])
    resource_tracker.ensure_running()  # before the signals are blocked, since it unblocks them
    # The server inherits the mask, so that Ctrl-C during its imports does not print a traceback.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with _hidden_main(), _safe_path():
            forkserver.ensure_running()
    except OSError as error:
        if "too long" not in str(error):
            raise
        raise ValueError(
            f"the path of the temporary folder {temporary_folder()} is too long for a socket: set TMPDIR to a "
            "shorter one"
        ) from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start(target, request, threads):
    """Start the process of a cell.

    Parameters
    ----------
    target : callable
        ``target(request, environment)``, in the new process. The environment is this process's with threads pinned.
    request : object
    threads : int

    Returns
    -------
    multiprocessing.Process

    Raises
    ------
    ValueError
        If there is none.
    """
    prepare()
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
    process = multiprocessing.get_context(START_METHOD).Process(target=target, args=(request, environment))
    try:
        with _hidden_main(), _safe_path():
            process.start()
    except (EOFError, ConnectionError) as error:  # the fork server has ended, as it does where it cannot fork
        raise ValueError(
            "the process of a fit could not be started: the system may lack memory for it, or allow no further one"
        ) from error
    return process


@contextmanager
def _safe_path():
    """Keep the working directory out of the path of a new interpreter, which multiprocessing starts with ``python -c``.

    In a checkout it would import the sources, which are not compiled, in place of the installed package.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


@contextmanager
def _hidden_main():
    """Hide the running script from multiprocessing, which would run it again in the new process.

    Cells need nothing of it, and scripts often have no ``if __name__ == "__main__"``.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
