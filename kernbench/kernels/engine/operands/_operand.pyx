"""One side of a kernel matrix: prepared rows and pointers to them."""

from libc.stdint cimport int32_t, int64_t

import numpy as np

from kernbench.kernels.engine.operands.prepared import prepare


cdef class Operand:
    """Rows of data in the layout of the engine.

    Parameters
    ----------
    X : ndarray or canonical CSR matrix of shape (n, d)
    kernel : Kernel
        Determines how rows are prepared, see :mod:`kernbench.kernels.engine.operands.prepared`.
    dtype : {float32, float64}
    like : Operand, optional
        Take storage (dense or sparse) and centre from there, so that the two can be compared.
    """

    def __init__(self, X, kernel, dtype, Operand like=None):
        self.single = np.dtype(dtype) == np.float32
        self.n_rows, self.n_features = X.shape
        self.source, self.components = X, ()
        if like is not None and self.n_features != like.n_features:
            raise ValueError(f"X has {self.n_features} features, Z has {like.n_features}: they must agree")
        if kernel.components:
            others = (None,) * len(kernel.components) if like is None else like.components
            self.components = tuple(Operand(X, component, dtype, other) for component, other in zip(kernel.components, others))
        elif kernel.routine != "callable":
            self.prepared = prepare(kernel, X, dtype, None if like is None else like.prepared)
            self._point()

    cdef _point(self):
        rows = self.prepared
        self.n_streams = rows.n_streams
        self.values = <void *> <size_t> rows.data.ctypes.data
        self.terms = <void *> <size_t> rows.terms.ctypes.data
        if rows.storage == "csr":
            self.columns = <const int32_t *> <size_t> rows.columns.ctypes.data
            self.starts = <const int64_t *> <size_t> rows.starts.ctypes.data

    def take(self, indices):
        """Return the operand of a subset of the rows; centre and terms stay as they are."""
        cdef Operand subset = Operand.__new__(Operand)
        subset.single, subset.n_rows, subset.n_features = self.single, len(indices), self.n_features
        subset.source = self.source[indices]
        subset.components = tuple(child.take(indices) for child in self.components)
        if self.prepared is not None:
            subset.prepared = self.prepared.take(indices)
            subset._point()
        return subset
