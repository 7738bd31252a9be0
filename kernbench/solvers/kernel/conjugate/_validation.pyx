"""The change of the mean loss on a validation sample; responses that are known are looked up."""

import numpy as np

cdef enum:
    UNKNOWN = -1


cdef class ValidationLoss:
    """Map from ids to columns of the responses; ids without a column are listed, and get columns after the last one.

    Parameters
    ----------
    source : a source of samples
        See ``kernbench.problems.streaming.samples``.
    """

    def __init__(self, source):
        self.source = source
        self.columns = np.full(source.size, UNKNOWN, dtype=np.intc)
        self.listed = np.empty(0, dtype=np.intp)

    def place(self, ids, first):
        """Assign the columns from `first` on to ids."""
        np.asarray(self.columns)[ids] = np.arange(first, first + len(ids))

    def columns_of(self, ids):
        return np.asarray(self.columns)[ids]

    cdef list_unknown(self, const Py_ssize_t[::1] ids, Py_ssize_t n_columns):
        cdef Py_ssize_t q, i, count = 0
        if self.listed.shape[0] < ids.shape[0]:
            self.listed = np.empty(ids.shape[0], dtype=np.intp)
        for q in range(ids.shape[0]):
            i = ids[q]
            if self.columns[i] == UNKNOWN:
                self.listed[count], self.columns[i] = i, <int> (n_columns + count)
                count += 1
        return np.asarray(self.listed)[:count]

    cdef void forget(self, const Py_ssize_t[::1] unknown) noexcept:
        cdef Py_ssize_t q
        for q in range(unknown.shape[0]):
            self.columns[unknown[q]] = UNKNOWN

    cdef double change(self, const Py_ssize_t[::1] ids, const double[::1] u, const double[::1] v, Py_ssize_t n_columns,
                       const double[:, ::1] found, double t, double at_zero, double at_t) except? -1.0:
        cdef:
            const double[::1] y = self.source.y, weights = self.source.weights
            Py_ssize_t q, i, column, n = ids.shape[0]
            double total = 0.0, margin, a, b
        for q in range(n):
            i = ids[q]
            column = self.columns[i]
            if column < n_columns:
                a, b = u[column], v[column]
            else:
                a, b = found[column - n_columns, 0], found[column - n_columns, 1]
            margin = y[i] * (a + at_zero)
            total -= weights[i] * (1.0 - margin) if margin < 1.0 else 0.0
            margin = y[i] * (a + t * b + at_t)
            total += weights[i] * (1.0 - margin) if margin < 1.0 else 0.0
        return total / n
