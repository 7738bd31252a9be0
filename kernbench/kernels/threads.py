"""The number of threads, a context in which BLAS uses only one, and forks.

The compiled loops call BLAS from inside their own parallel regions. BLAS must then be single-threaded, or two cores run
four threads (threadpoolctl sets the limit; scanning the loaded libraries takes milliseconds, so it is done once).

A process that is forked (``multiprocessing`` on Linux before Python 3.14, joblib's "multiprocessing", servers that load
a model and then fork) inherits the state of OpenMP, but none of its threads. GNU's OpenMP would wait for them for ever.
Each fork therefore ends the threads first; a loop that needs them starts them again, in the parent and in the child.
"""

import os
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController

from kernbench.kernels._thread_pool import release_threads, use_one_thread


class _Forks:
    """What is done around a fork of this process."""

    released = True

    def before(self):
        self.released = release_threads()

    def in_child(self):
        _single_threaded_blas.forget_locks()
        # An OpenMP older than 5.0 keeps its pool: without threads the child computes the same numbers.
        if not self.released:
            use_one_thread()


_forks = _Forks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_forks.before, after_in_child=_forks.in_child)


@cache
def _controller():
    import scipy.linalg.cython_blas  # noqa: F401  its BLAS must be loaded before the scan

    return ThreadpoolController()


@cache
def _blas():
    return _controller().select(user_api="blas")


class _SingleThreadedBlas:
    """The context in which BLAS uses one thread.

    The limit is one of the process, so the first thread to enter sets it and the last one to leave lifts it: products
    of the others would otherwise change their number of threads on the way, and the limit could remain.
    """

    def __init__(self):
        self.forget_locks()
        self._n_inside, self._limit = 0, None

    def forget_locks(self):
        """Make the lock anew; in a forked process another thread's may never be released."""
        self._lock = Lock()

    def __enter__(self):
        with self._lock:
            if self._n_inside == 0 and any(n not in (1, None) for n in _n_blas_threads()):
                _take_control()
                self._limit = _blas().limit(limits=1)  # takes as long as a small product
            self._n_inside += 1

    def __exit__(self, *error):
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0 and self._limit is not None:
                _take_control()
                self._limit.restore_original_limits()
                self._limit = None
                _take_control()


def _take_control():
    """Let this thread set the limit: threadpoolctl 3.8 ignores all threads but the one that set the last one."""
    for library in _blas().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


def _n_blas_threads():
    return [library.get_num_threads() for library in _blas().lib_controllers]


_single_threaded_blas = _SingleThreadedBlas()


def single_threaded_blas():
    """Return a context manager inside which BLAS uses one thread; it may be entered again and by several threads."""
    return _single_threaded_blas


def openmp_threads(n_threads):
    """Return a context manager inside which the loops that this thread starts use at most `n_threads`."""
    return _controller().limit(limits=n_threads, user_api="openmp")


def n_openmp_threads():
    """Return how many threads the loops that this thread starts may use."""
    libraries = _controller().select(user_api="openmp").info()
    return max((library["num_threads"] for library in libraries), default=1)
