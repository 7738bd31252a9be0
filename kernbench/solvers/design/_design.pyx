"""Scores from features or from a kernel, behind one interface.

A design maps an element f of a Hilbert space H to its scores, f(x_1), …, f(x_n), and takes values g_i at the samples
back to the element sum_i g_i k(x_i, .). An element is an array of coefficients: the d weights w where there are
features (k the inner product), the n coefficients of the k(x_i, .) where there is a kernel. A solver written in these
terms is a linear and a kernel method at once.

Rows are distributed over the threads in chunks whose bounds depend on the shape only, and the sums of chunks are added
in order: the result does not depend on the number of threads. Storage may be float32, sums are float64.
"""

from cython.parallel cimport prange
from libc.math cimport sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from scipy.linalg.cython_blas cimport dsyrk

from kernbench.kernels.engine._engine cimport allocate
from kernbench.solvers.design._passes cimport (
    dense_combine_double, dense_combine_float, dense_gather_double, dense_gather_float, dense_scores_double,
    dense_scores_float, sparse_combine_double, sparse_combine_float, sparse_gather_double, sparse_gather_float,
    sparse_scores_double, sparse_scores_float,
)

import numpy as np
from scipy import sparse

from kernbench.problems.linear.empty_columns import without_empty_columns

cdef enum:
    CHUNK_ROWS = 2048          # smallest number of rows of a chunk
    SUMS = 1 << 20             # largest size of the partial sums of all chunks (four chunks are always allowed)
    THREADED = 1 << 18         # entries of X from which a second thread pays off
    LANES = 8                  # largest number of partial sums of moments, whatever the number of threads
    BLOCK = 256                # rows of a moment multiplied at a time
    SCATTERED = 4              # multiplications of dense rows in the time of one of scattered entries
    MULTIPLIED = 1 << 20       # multiplications from which on threads pay off


cdef class Design:
    """A map between elements of a Hilbert space and scores; see the module."""

    cdef int score(self, const double *coef, double *scores) except -1 nogil:
        return 0

    cdef int gather_up(self, const double *g, double *element) except -1 nogil:
        return 0

    cdef double inner(self, const double *u, const double *v, const double *scores_of_v) noexcept nogil:
        return dot(u, scores_of_v if self.is_kernel else v, self.n_coef)

    cdef int square_sums(self, const double *h, double *out) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(self.n_coef):
            out[k] = 1.0
        return 0

    cdef int moments(self, const Py_ssize_t *rows, Py_ssize_t count, const double *h, const unsigned char *mask,
                     const double *means, double *out) except -1 nogil:
        with gil:
            raise TypeError("moments are those of explicit features")

    def without_empty_columns(self):
        """Return the design of the columns that have entries, and their indices; itself and None if these are all."""
        return self, None

    def scores(self, coef):
        """Return f(x_i) for all samples.

        Parameters
        ----------
        coef : array-like of shape (n_coef,)

        Returns
        -------
        ndarray of shape (n_samples,), float64
        """
        cdef const double[::1] f = _vector(coef, self.n_coef, "coef")
        cdef double[::1] out = np.empty(self.n_samples)
        with nogil:
            self.score(&f[0], &out[0])
        return np.asarray(out)

    def combine(self, g):
        """Return the element sum_i g_i k(x_i, .).

        Parameters
        ----------
        g : array-like of shape (n_samples,)

        Returns
        -------
        ndarray of shape (n_coef,), float64
        """
        cdef const double[::1] values = _vector(g, self.n_samples, "g")
        cdef double[::1] out = np.empty(self.n_coef)
        with nogil:
            self.gather_up(&values[0], &out[0])
        return np.asarray(out)


cdef class FeatureDesign(Design):
    """Explicit features, dense or sparse: H is R^d with the inner product of coefficients.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_coef)

    Attributes
    ----------
    n_samples, n_coef : int
    is_kernel : bool
        False.
    n_passes : int
        Products with X so far.
    n_kernel_evaluations : int
        0.
    """

    def __init__(self, X):
        self.is_sparse = sparse.issparse(X)
        if self.is_sparse:
            X = X.tocsr()
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
        else:
            X = np.asarray(X)
            if X.ndim != 2:
                raise ValueError(f"X must have two dimensions, got shape {X.shape}")
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        self.single = dtype == np.float32
        self.n_samples, self.n_coef = X.shape
        if self.n_samples == 0 or self.n_coef == 0:
            raise ValueError(f"X must have rows and columns, got shape {X.shape}")
        if self.is_sparse:
            if self.n_coef > 2**31:
                raise ValueError(f"X has {self.n_coef} features: the columns of sparse rows are numbered in 32 bits, "
                                 "up to 2**31")
            values = np.ascontiguousarray(X.data, dtype=dtype)
            columns = np.ascontiguousarray(X.indices, dtype=np.int32)
            starts = np.ascontiguousarray(X.indptr, dtype=np.int64)
            self.arrays = (values, columns, starts)
            self.columns = <const int32_t *> <size_t> columns.ctypes.data
            self.starts = <const int64_t *> <size_t> starts.ctypes.data
        else:
            X = values = np.ascontiguousarray(X, dtype=dtype)
            self.arrays = (values,)
        self.X = X
        self.values = <const void *> <size_t> values.ctypes.data
        self.n_values = values.size
        self.threaded = self.n_values >= THREADED
        self.n_chunks = number_of_chunks(self.n_samples, self.n_coef)
        self.sums = np.empty((self.n_chunks, self.n_coef))

    def take(self, indices):
        """Return the design of a subset of the samples."""
        return FeatureDesign(self.X[indices])

    def without_empty_columns(self):
        """Return the design of the columns that have entries, and their indices; itself and None if these are all."""
        X, columns = without_empty_columns(self.X)
        return (self, None) if columns is None else (FeatureDesign(X), columns)

    def embed(self, coef, indices):
        """Return the coefficients here of an element found on the subset `indices`."""
        return coef

    cdef int score(self, const double *coef, double *scores) except -1 nogil:
        cdef Py_ssize_t c, n = self.n_samples, chunks = self.n_chunks
        self.n_passes += 1
        for c in prange(chunks, schedule="static", use_threads_if=self.threaded):
            self._score(n * c // chunks, n * (c + 1) // chunks, coef, scores)
        return 0

    cdef int gather_up(self, const double *g, double *element) except -1 nogil:
        cdef Py_ssize_t c, k, n = self.n_samples, d = self.n_coef, chunks = self.n_chunks
        self.n_passes += 1
        self.sums[:, :] = 0.0
        for c in prange(chunks, schedule="static", use_threads_if=self.threaded):
            self._gather_up(n * c // chunks, n * (c + 1) // chunks, g, &self.sums[c, 0])
        for k in range(d):
            element[k] = self.sums[0, k]
        for c in range(1, chunks):
            for k in range(d):
                element[k] += self.sums[c, k]
        return 0

    cdef int moments(self, const Py_ssize_t *rows, Py_ssize_t count, const double *h, const unsigned char *mask,
                     const double *means, double *out) except -1 nogil:
        cdef:
            Py_ssize_t size = self.n_coef * self.n_coef, lanes = self._number_of_lanes(count), lane, start, k
            double *sums = <double *> allocate(lanes * size * sizeof(double))
            double total
            bint failed[1]  # shared by all threads; a scalar would be lastprivate
        self.n_passes += 1
        failed[0] = False
        try:
            for lane in prange(lanes, schedule="static", use_threads_if=count * size >= MULTIPLIED):
                start = count * lane // lanes
                memset(sums + lane * size, 0, size * sizeof(double))
                if self._moments(rows + start, count * (lane + 1) // lanes - start, h, mask, means, sums + lane * size):
                    failed[0] = True
            if failed[0]:
                with gil:
                    raise MemoryError("could not allocate a block of rows")
            for k in range(size):
                total = 0.0
                for lane in range(lanes):
                    total += sums[lane * size + k]
                out[k] = total
        finally:
            free(sums)
        return 0

    cdef Py_ssize_t _number_of_lanes(self, Py_ssize_t count) noexcept nogil:
        """The number of partial sums of moments that pays off: each costs time in proportion to its entries."""
        cdef double entries = <double> self.n_values / self.n_samples, size = <double> self.n_coef * self.n_coef
        return max(1, min(<Py_ssize_t> LANES, min(count // BLOCK, <Py_ssize_t> (count * entries * entries / size))))

    cdef int square_sums(self, const double *h, double *out) except -1 nogil:
        cdef Py_ssize_t i, k, d = self.n_coef
        cdef int64_t l
        cdef double value
        cdef const float *singles = <const float *> self.values
        cdef const double *doubles = <const double *> self.values
        memset(out, 0, d * sizeof(double))
        for i in range(self.n_samples):
            if h[i] == 0.0:
                continue
            if self.is_sparse:
                for l in range(self.starts[i], self.starts[i + 1]):
                    value = singles[l] if self.single else doubles[l]
                    out[self.columns[l]] += h[i] * value * value
            else:
                for k in range(d):
                    value = singles[i * d + k] if self.single else doubles[i * d + k]
                    out[k] += h[i] * value * value
        return 0

    cdef int _moments(self, const Py_ssize_t *rows, Py_ssize_t count, const double *h, const unsigned char *mask,
                      const double *means, double *sums) noexcept nogil:
        """Add the moments of some rows to `sums`, on this thread; non-zero without memory."""
        cdef:
            Py_ssize_t d = self.n_coef, start = 0, q, k, i, m
            double *block = <double *> malloc(BLOCK * d * sizeof(double))
            const double *mean
            double root, one = 1.0
            int order = <int> d, depth
        if block == NULL:
            return 1
        if self.is_sparse and mask == NULL and self._multiplies_entries(rows, count, means):
            self._add_products(rows, count, h, sums)
            start = count
        while start < count:
            m = min(<Py_ssize_t> BLOCK, count - start)
            self.fetch(rows + start, m, block)
            for q in range(m):
                i = rows[start + q]
                mean = means + d * (mask[i] if mask != NULL else 0)
                root = sqrt(h[i])
                for k in range(d):
                    block[q * d + k] = root * (block[q * d + k] - mean[k])
            depth = <int> m
            dsyrk("L", "N", &order, &depth, &one, block, &order, &one, sums, &order)
            start += m
        free(block)
        return 0

    cdef bint _multiplies_entries(self, const Py_ssize_t *rows, Py_ssize_t count, const double *means) noexcept nogil:
        """Whether products of the stored entries of each row are cheaper than products of dense rows.

        That is so if there is no mean to subtract and few entries are stored.
        """
        cdef Py_ssize_t k
        cdef double products = 0.0, length, d = self.n_coef
        for k in range(self.n_coef):
            if means[k] != 0.0:
                return False
        for k in range(count):
            length = self.starts[rows[k] + 1] - self.starts[rows[k]]
            products += length * length
        return SCATTERED * products < d * d * count

    cdef void _add_products(self, const Py_ssize_t *rows, Py_ssize_t count, const double *h, double *sums) noexcept nogil:
        """Add h_i x_i x_i' of sparse rows, in the triangle where the second index is not the smaller one."""
        cdef:
            Py_ssize_t q, d = self.n_coef
            int64_t k, l, stop
            double value
            double *column
            const float *singles = <const float *> self.values
            const double *doubles = <const double *> self.values
        for q in range(count):
            stop = self.starts[rows[q] + 1]
            for k in range(self.starts[rows[q]], stop):
                column = sums + d * self.columns[k]
                if self.single:
                    value = h[rows[q]] * singles[k]
                    for l in range(k, stop):
                        column[self.columns[l]] += value * singles[l]
                else:
                    value = h[rows[q]] * doubles[k]
                    for l in range(k, stop):
                        column[self.columns[l]] += value * doubles[l]

    cdef void _score(self, Py_ssize_t start, Py_ssize_t stop, const double *coef, double *scores) noexcept nogil:
        cdef Py_ssize_t d = self.n_coef, count = stop - start
        if self.is_sparse:
            if self.single:
                sparse_scores_float(<const float *> self.values, self.columns, self.starts, start, stop, coef, scores)
            else:
                sparse_scores_double(<const double *> self.values, self.columns, self.starts, start, stop, coef, scores)
        elif self.single:
            dense_scores_float(<const float *> self.values + start * d, count, d, coef, scores + start)
        else:
            dense_scores_double(<const double *> self.values + start * d, count, d, coef, scores + start)

    cdef void _gather_up(self, Py_ssize_t start, Py_ssize_t stop, const double *g, double *sums) noexcept nogil:
        cdef Py_ssize_t d = self.n_coef, count = stop - start
        if self.is_sparse:
            if self.single:
                sparse_combine_float(<const float *> self.values, self.columns, self.starts, start, stop, g, sums)
            else:
                sparse_combine_double(<const double *> self.values, self.columns, self.starts, start, stop, g, sums)
        elif self.single:
            dense_combine_float(<const float *> self.values + start * d, count, d, g + start, sums)
        else:
            dense_combine_double(<const double *> self.values + start * d, count, d, g + start, sums)

    cdef void fetch(self, const Py_ssize_t *rows, Py_ssize_t count, double *out) noexcept nogil:
        cdef Py_ssize_t d = self.n_coef
        if self.is_sparse:
            if self.single:
                sparse_gather_float(<const float *> self.values, self.columns, self.starts, d, rows, count, out)
            else:
                sparse_gather_double(<const double *> self.values, self.columns, self.starts, d, rows, count, out)
        elif self.single:
            dense_gather_float(<const float *> self.values, d, rows, count, out)
        else:
            dense_gather_double(<const double *> self.values, d, rows, count, out)


cdef class KernelDesign(Design):
    """A kernel: H is its reproducing kernel Hilbert space, an element has n coefficients, <u, v> = u' K v.

    Parameters
    ----------
    rows : KernelRows, or ndarray of shape (n_samples, n_samples)
        If their cache has room for all of them, the whole matrix is computed once and kept; otherwise each product is
        computed tile by tile.

    Attributes
    ----------
    n_samples, n_coef : int
    is_kernel : bool
        True.
    n_passes : int
        Products with the kernel matrix so far.
    n_kernel_evaluations : int
    """

    def __init__(self, rows):
        self.is_kernel = True
        if isinstance(rows, np.ndarray):
            self._keep(rows)
        elif rows.capacity >= rows.n_rows:
            everything = np.arange(rows.n_rows)
            self._keep(rows.block(everything, everything))
            self.n_kernel_evaluations = self.n_samples * self.n_samples
        else:
            self.rows, self.n_samples = rows, rows.n_rows
        self.n_coef = self.n_samples

    def _keep(self, matrix):
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"a kernel matrix must be square, got shape {matrix.shape}")
        self.matrix = FeatureDesign(matrix)
        self.n_samples = self.matrix.n_samples

    def take(self, indices):
        """Return the design of a subset of the samples."""
        if self.matrix is not None:
            return KernelDesign(self.matrix.X[np.ix_(indices, indices)])
        self.n_kernel_evaluations += len(indices) ** 2
        return KernelDesign(self.rows.block(indices, indices))

    def embed(self, coef, indices):
        """Return the coefficients here of an element found on the subset `indices`."""
        whole = np.zeros(self.n_coef)
        whole[indices] = coef
        return whole

    cdef int score(self, const double *coef, double *scores) except -1 nogil:
        self.n_passes += 1
        if self.matrix is not None:
            return self.matrix.score(coef, scores)
        with gil:
            f = np.array(<const double[:self.n_coef]> coef)
            (<double[:self.n_samples]> scores)[:] = self.rows.matvec(f)
            self.n_kernel_evaluations += self.n_samples * np.count_nonzero(f)
        return 0

    cdef int gather_up(self, const double *g, double *element) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(self.n_samples):
            element[i] = g[i]
        return 0


cdef Py_ssize_t number_of_chunks(Py_ssize_t n_samples, Py_ssize_t n_coef) noexcept nogil:
    """The number of chunks of rows that are summed separately: n_samples * c // chunks is the first row of chunk c."""
    return min((n_samples + CHUNK_ROWS - 1) // CHUNK_ROWS, max(4, SUMS // max(n_coef, 1)))


cdef double dot(const double *u, const double *v, Py_ssize_t n) noexcept nogil:
    cdef double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0
    cdef Py_ssize_t k = 0
    while k + 4 <= n:
        s0 += u[k] * v[k]
        s1 += u[k + 1] * v[k + 1]
        s2 += u[k + 2] * v[k + 2]
        s3 += u[k + 3] * v[k + 3]
        k += 4
    while k < n:
        s0 += u[k] * v[k]
        k += 1
    return (s0 + s1) + (s2 + s3)


def _vector(values, n, name):
    values = np.ascontiguousarray(values, dtype=np.float64)
    if values.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), got {values.shape}")
    return values
