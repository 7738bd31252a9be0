"""The number of threads, a context in which BLAS uses only one, and forks.

The compiled loops call BLAS from inside their own parallel regions. BLAS must then be single-threaded, or two cores run
four threads (threadpoolctl sets the limit; scanning the loaded libraries takes milliseconds, so it is done once).

A process that is forked (``multiprocessing`` on Linux before Python 3.14, joblib's "multiprocessing", servers that load
a model and then fork) inherits the state of OpenMP, but none of its threads. GNU's OpenMP would wait for them forever.
Each fork therefore ends the threads first; a loop that needs them starts them again, in the parent and in the child.
The limit of BLAS is lifted in the child unless the forking thread is one of those that need it.
"""

import ctypes
import os
from functools import cache

from threadpoolctl import ThreadpoolController

from kernbench.kernels import _thread_pool
from kernbench.kernels._nested_limit import NestedLimit

HARD = 2  # omp_pause_hard: nothing of the threads is kept
# Looked up, since a compiled call would be an ImportError where OpenMP is older than 5.0: a process has one libgomp,
# the first that is loaded, and PyTorch 2.3 brings one of OpenMP 4.5.
_pause_openmp = getattr(ctypes.PyDLL(_thread_pool.__file__), "omp_pause_resource_all", None)


class _Forks:
    """What is done around a fork of this process."""

    released = True

    def before(self):
        self.released = _pause_openmp is not None and _pause_openmp(HARD) == 0

    def in_child(self):
        _single_threaded_blas.forget_other_threads()
        # An OpenMP older than 5.0 keeps its pool: without threads the child computes the same numbers.
        if not self.released:
            _thread_pool.use_one_thread()


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


def _n_blas_threads():
    return [library.get_num_threads() for library in _blas().lib_controllers]


def _set_blas_threads(numbers):
    """Set the number of threads of each BLAS; threadpoolctl 3.8 then ignores other threads that set one."""
    _let_any_thread_set()
    for library, number in zip(_blas().lib_controllers, numbers, strict=True):
        if number is not None:  # it has none
            library.set_num_threads(number)


def _let_any_thread_set():
    for library in _blas().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


def _limit_blas():
    """Let BLAS use one thread and return the numbers before; None if it does already."""
    before = _n_blas_threads()
    if all(number in (1, None) for number in before):
        return None
    try:
        _set_blas_threads([number and 1 for number in before])
    except KeyboardInterrupt:
        _restore_blas(before)
        raise
    return before


def _restore_blas(before):
    _set_blas_threads(before)
    _let_any_thread_set()


# The limit is one of the process. If each thread set and lifted its own, products of the others would change their
# number of threads on the way, and the limit could remain.
_single_threaded_blas = NestedLimit(_limit_blas, _restore_blas)


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
