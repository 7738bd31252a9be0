"""The thread pool of OpenMP, before and after a fork.

GNU's OpenMP keeps a pool for each thread that ran a parallel loop, and has no fork handler: a child process would wait
for threads that only its parent has. The runtimes of LLVM and Intel restart by themselves.
"""


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
