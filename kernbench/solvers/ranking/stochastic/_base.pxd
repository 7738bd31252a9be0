# What the stochastic solvers of ranking share.

from kernbench.ranking._window cimport RankedLoss
from kernbench.solvers.design._design cimport FeatureDesign
from kernbench.solvers.ranking.stochastic._batches cimport Batches
from kernbench.solvers.ranking.stochastic._sbcd cimport SBCD


cdef class Stochastic:
    cdef readonly long long n_iter, n_inner_products
    cdef readonly bint converged
    cdef readonly Py_ssize_t first_check
    cdef readonly FeatureDesign design
    cdef RankedLoss window
    cdef double alpha
    cdef Py_ssize_t numbers              # uniform random numbers of an iteration
    cdef long long t, stage              # iterations done in this stage, stages done
    cdef object seed, stream, settings
    cdef double[::1] w
    cdef double[::1] ended, before       # the coefficients after the last stage, and after the one before
    # One iteration on its random numbers; raises ValueError where the iterates overflow.
    cdef int _step(self, const double *u) except -1 nogil
    cdef int _end_stage(self, const double *coef) except -1 nogil
    cdef int _refuse_overflow(self) except -1 nogil


cdef class Ranged(Stochastic):
    cdef Batches batches
    cdef list runs
    cdef bint exact
    cdef double step_size, threshold_step
    cdef Py_ssize_t inner_steps
    cdef double[::1] scores              # of all samples
    cdef void _schedule(self, double *eta, double *theta, long long *T) noexcept nogil
    cdef int _step_of(self, SBCD run, double eta, double theta) except -1 nogil
    cdef int _score(self, const double *w) except -1 nogil
    cdef int _find_threshold(self, SBCD run) except -1 nogil
