# Steps of pairs of one sign.

from kernbench.solvers.kernel.smo._coordinates cimport Coordinates

# Set in which directions coordinates can move, in each family.
cdef void mark_signs(Coordinates work, Py_ssize_t k) noexcept nogil
cdef void mark_all_signs(Coordinates work) noexcept nogil
# As `pair_steps`, in the family of the larger violation.
cdef Py_ssize_t sign_steps(Coordinates work, double goal, Py_ssize_t budget) except -1 nogil
