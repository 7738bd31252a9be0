"""The thread pool of OpenMP: Python functions on its threads, and what is done before and after a fork.

GNU's OpenMP keeps a pool for each thread that ran a parallel loop, and has no fork handler: a child process would wait
for threads that only its parent has. The runtimes of LLVM and Intel restart by themselves.
"""

from cython.parallel cimport prange


cdef extern from *:
    """
    #ifdef _OPENMP
    #include <omp.h>
    #endif
    #if defined(_OPENMP) && (_OPENMP >= 201811 || (defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9))
    #define KB_HAS_PAUSE  /* of OpenMP 5.0; GCC has it since version 9 and names an older standard */
    #endif

    static int kb_release_threads(void) {
    #if defined(KB_HAS_PAUSE)
        return omp_pause_resource_all(omp_pause_hard) == 0;
    #elif defined(_OPENMP)
        return 0;
    #else
        return 1;
    #endif
    }

    static void kb_use_one_thread(void) {
    #ifdef _OPENMP
        omp_set_num_threads(1);
    #endif
    }
    """
    int kb_release_threads() nogil
    void kb_use_one_thread() nogil


def release_threads():
    """End the thread pool for the parallel loops of this thread; the next loop starts a new one.

    Return whether that was possible.
    """
    return kb_release_threads() != 0


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
