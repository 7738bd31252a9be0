"""The thread pool of OpenMP: Python functions on its threads, and loops on one thread after a fork."""

from cython.parallel cimport prange


cdef extern from *:
    """
    #ifdef _OPENMP
    #include <omp.h>
    #endif

    static void kb_use_one_thread(void) {
    #ifdef _OPENMP
        omp_set_num_threads(1);
    #endif
    }
    """
    void kb_use_one_thread() nogil


def use_one_thread():
    """Make the parallel loops that this thread starts use one thread only."""
    kb_use_one_thread()


def call_each(function, items, Py_ssize_t n_threads):
    """Call a function for each item, on `n_threads` threads of the pool.

    This pays where most of a call runs without the interpreter lock. Threads of another pool would share the cores with
    those of this one, which after a loop wait for the next one without giving way.

    Parameters
    ----------
    function : callable
    items : sequence
    n_threads : int

    Raises
    ------
    BaseException
        The first one that a call raised. Calls that were not yet begun are left out.
    """
    cdef list whole = list(items)
    cdef Py_ssize_t n = len(whole), q
    if n == 1 or n_threads == 1:
        for item in whole:
            function(item)
        return
    for q in prange(n, schedule="dynamic", chunksize=1, num_threads=n_threads, nogil=True):
        _call(function, whole, q)


cdef int _call(function, list items, Py_ssize_t q) except -1 with gil:
    function(items[q])
    return 0
