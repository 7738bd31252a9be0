"""Steps of SMO inside a working set, and the update of the gradient: the core of `smo`.

Kernel rows for data with few features or stored entries are cheap: they are not kept, but added to the gradient tile by
tile as they are computed.
"""

from cython.parallel cimport prange
from libc.stdlib cimport free

from kernbench.kernels.engine._engine cimport allocate
from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float
from kernbench.solvers.kernel.smo._working_set cimport WorkingSet as Set

import numpy as np

from kernbench.solvers.kernel.smo._working_set import WorkingSet

__all__ = ["WorkingSet", "load", "solve", "subtract_rows"]

cdef enum:
    BATCH_ROWS = 64     # a cache of fewer rows than this does not help: steps bypass it
    STRETCH = 2048      # columns of the gradient that a thread updates at a time


def load(Set inner, KernelRows rows, const Py_ssize_t[::1] members, state):
    """Take the coordinates `members` of a :class:`~kernbench.solvers.kernel.smo.dual_state.State`."""
    inner.load(rows, members, state)


def solve(Set inner, double goal, Py_ssize_t budget, double most_gain):
    """Step until the violation inside the set is at most `goal`; return the number of steps, at most `budget`.

    -1 if the dual objective grows by more than `most_gain`.
    """
    cdef Py_ssize_t steps
    inner.most_gain = inner.dual_gain + most_gain
    with nogil:
        steps = inner.solve(goal, budget)
    return steps if inner.dual_gain <= inner.most_gain else -1


def subtract_rows(KernelRows rows, const Py_ssize_t[::1] moved, const double[::1] changes, double[::1] e):
    """e -= K[:, moved] changes."""
    cdef Py_ssize_t first, height = rows.capacity
    if rows.cheap or height < min(moved.shape[0], <Py_ssize_t> BATCH_ROWS):
        values = np.asarray(e)
        values -= rows.step(np.asarray(moved), np.asarray(changes))
        return
    steps = -np.asarray(changes)
    for first in range(0, moved.shape[0], height):
        _add_rows(rows, moved[first : first + height], steps[first : first + height], e)


cdef int _add_rows(KernelRows rows, const Py_ssize_t[::1] moved, const double[::1] steps, double[::1] e) except -1:
    """e += K[:, moved] steps, through the cache."""
    cdef:
        Py_ssize_t n = e.shape[0], m = moved.shape[0], t, n_tasks = (n + STRETCH - 1) // STRETCH
        bint single = rows.single
        void **pointers = <void **> allocate(m * sizeof(void *))
    try:
        with nogil:
            rows.fetch(&moved[0], m, pointers)
            for t in prange(n_tasks, schedule="static", use_threads_if=n * m > 200000):
                if single:
                    add_rows_float(<float **> pointers, &steps[0], m, t * STRETCH, min(n, (t + 1) * STRETCH), &e[0])
                else:
                    add_rows_double(<double **> pointers, &steps[0], m, t * STRETCH, min(n, (t + 1) * STRETCH), &e[0])
    finally:
        free(pointers)
    return 0
