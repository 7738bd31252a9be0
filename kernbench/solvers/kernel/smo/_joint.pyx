"""The core of `joint`: the inner problem of one of several dual problems, on a kernel block that all of them share."""

from kernbench.kernels._rows cimport KernelRows
from kernbench.solvers.kernel.smo._pairs cimport KB_PAD
from kernbench.solvers.kernel.smo._working_set cimport WorkingSet

import numpy as np

cdef enum:
    CHUNK_STEPS = 2000      # between two calls of `should_stop`: some 10 ms


def kernel_between(KernelRows rows, const Py_ssize_t[::1] members):
    """Return the kernel between the members, its rows padded for the searches of `WorkingSet`."""
    cdef Py_ssize_t m = members.shape[0], padded = (m + KB_PAD - 1) // KB_PAD * KB_PAD
    matrix = np.empty((m, padded), dtype=rows.dtype)
    matrix[:, m:] = 0.0
    addresses = matrix.ctypes.data + matrix.strides[0] * np.arange(m, dtype=np.uintp)
    cdef size_t[::1] pointers = addresses.astype(np.uintp)
    if m:
        rows.fetch_square(members, <void **> &pointers[0])
    return matrix


def solve_members(matrix, const Py_ssize_t[::1] members, state, bint with_bias, double goal, Py_ssize_t budget,
                  should_stop):
    """Take steps inside the set `members` of a `State` until their violation is at most `goal`.

    Parameters
    ----------
    matrix : ndarray
        As `kernel_between` returns it.
    members : ndarray of shape (m,)
    state : State
    with_bias : bool
    goal : float
    budget : int
        Largest number of steps.
    should_stop : callable
        Called from time to time; True ends the steps early.

    Returns
    -------
    beta : ndarray of shape (m,)
        The coefficients afterwards; `state` is unchanged.
    steps : int
    """
    cdef:
        WorkingSet inner
        Py_ssize_t steps, room, done = 0
    inner = WorkingSet(1, matrix.dtype == np.float32, with_bias, True, True, state.zone, state.constraint)
    inner.load_with(matrix, members, state)
    while done < budget:
        room = min(budget - done, <Py_ssize_t> CHUNK_STEPS)
        with nogil:
            steps = inner.solve(goal, room)
        done += steps
        if steps < room or should_stop():
            break
    return np.asarray(inner.beta)[: members.shape[0]].copy(), done
