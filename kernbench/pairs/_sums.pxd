# Sums over all pairs of sorted scores.

from kernbench.pairs._order cimport Record

cdef extern from "_sweeps.h" nogil:
    ctypedef struct Outside "kb_outside":
        double below, above
        double area_below, area_above
        double v_below, v_above

cdef extern from "_logistic.h" nogil:
    ctypedef struct Queue "kb_queue":
        pass


# The mean loss of all pairs of a positive and a negative among some sorted records, times `scale` and their weights.
# Every `gradient` may be NULL; only the entries of the records are written.
cdef class PairSums:
    cdef object arrays
    cdef const Record *records           # sorted; one more repeats the last value
    cdef Py_ssize_t n
    cdef const double *weights           # of the samples; NULL where all are 1
    cdef double scale
    cdef Py_ssize_t n_stretches
    cdef bint weighed                    # the weights outside the stretches are known
    cdef Outside *outside                # what lies outside each stretch of the sorted scores
    cdef double *values                  # what each stretch adds to the value
    cdef double *sorted                  # numbers in the order of the scores
    cdef Queue *queue
    cdef const double *interactions         # of the logistic loss and its derivatives

    # Take other records, or others' order.
    cdef void take(self, const Record *records, Py_ssize_t n, const double *weights, double scale) noexcept nogil
    # The hinge and the squared hinge ask for thresholds a_i - 1, the logistic loss for scores a_i.
    cdef double hinge(self, double *gradient) noexcept nogil
    cdef double squared_hinge(self, double *gradient) noexcept nogil
    cdef void squared_hinge_product(self, const double *v, double *product) noexcept nogil
    cdef double log_loss(self, double *gradient) noexcept nogil
    cdef void log_loss_product(self, const double *v, double *product) noexcept nogil
    # The same by the loss's code (losses.margin), and the product of the squared hinge for the hinge.
    cdef double value(self, int loss, double *gradient) noexcept nogil
    cdef void product(self, int loss, const double *v, double *product) noexcept nogil
    cdef void _weigh(self) noexcept nogil
    cdef void _accumulate(self, double *below, double *above) noexcept nogil
    cdef double _total(self) noexcept nogil


# Of a loss by its code: the margin with which scores are sorted, and the widest range of them.
cdef double margin_of(int loss) noexcept nogil
cdef double widest_of(int loss) noexcept nogil
