# Steps inside a working set.

from kernbench.solvers.kernel.smo._coordinates cimport Coordinates

# Until the violation is at most `goal`; return the number of steps, at most `budget`.
cdef Py_ssize_t pair_steps(Coordinates work, double goal, Py_ssize_t budget) except -1 nogil
cdef Py_ssize_t single_steps(Coordinates work, double goal, Py_ssize_t budget) except -1 nogil
