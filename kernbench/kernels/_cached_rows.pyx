"""Rows of a training kernel matrix with a least-recently-used cache of bounded size: how solvers fetch them.

A batch of rows costs one pass of the engine, a tenth of the same rows one by one; so solvers that know which rows they
will need request them in advance. Computed and cached values are counted separately.
"""

from cython.parallel cimport prange
from libc.stdlib cimport free

from kernbench.kernels.engine._engine cimport Engine, allocate
from kernbench.kernels.engine.operands._operand cimport Operand

import numpy as np

from kernbench.kernels.engine._products import fill_block
from kernbench.kernels.blocks import as_rows
from kernbench.kernels.engine.engines import make_engine

DEFAULT_CACHE_BYTES = 500_000_000

# Multiply-adds per kernel value up to which steps recompute their rows, a tile at a time, instead of keeping them. Kept
# values are written to main memory and read again, the first time to pages that the system has to clear; that takes as
# long as about a hundred multiply-adds.
CHEAP_WORK = 80

cdef enum:
    SERIAL_VALUES = 100000  # kernel values that are copied faster by one thread than by several

ctypedef fused real:
    float
    double


cdef class CachedRows:
    """Base class of `KernelRows`: the cache, fetching rows through it, and restricting it to a subset."""

    def __init__(self, X, kernel, *, cache_bytes=DEFAULT_CACHE_BYTES, dtype=np.float32, keep=False):
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")
        if not cache_bytes >= 0:
            raise ValueError(f"cache_bytes must be at least 0, got {cache_bytes!r}")
        X = as_rows(X)
        if kernel.routine == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed training kernel must be square, got shape {X.shape}")
        self.kernel, self.dtype = kernel, np.dtype(dtype).type
        self.operand = Operand(X, kernel, dtype)
        self.single = self.operand.single
        self.in_place = kernel.routine == "precomputed"
        self.can_restrict = not self.in_place
        self.pool_bytes = int(cache_bytes)
        self.keep = keep
        self._use(self.kernel, self.operand)

    def _use(self, kernel, Operand operand):
        """Start with an empty cache over the rows of `operand`."""
        cdef Py_ssize_t n = operand.n_rows
        self.reserved = True    # until `_forget`: an error or Ctrl-C in between leaves slots without their rows
        engine, slot_of = make_engine(kernel, operand, operand), np.empty(n, dtype=np.intp)
        self.engine, self.slot_of, self.n_rows = engine, slot_of, n
        self.cheap = self.engine.tiled and not self.in_place and not self.keep and self.engine.work <= CHEAP_WORK
        self.row_bytes = max(n, 1) * self.engine.item
        self.capacity = n if self.in_place else min(n, max(<Py_ssize_t> 2, self.pool_bytes // self.row_bytes))
        self.on_demand = self.engine.tiled and not self.in_place and self.capacity == n
        if not self.in_place and self.pool is None:
            # Large enough for any later restriction; untouched pages cost nothing, and NumPy requests huge pages.
            size = max(self.capacity * self.row_bytes, min(self.pool_bytes, n * self.row_bytes))
            self.pool = np.empty(size + 64, dtype=np.uint8)
            self.base = <char *> <size_t> self.pool.ctypes.data
        self._forget()

    def _forget(self):
        """Empty the cache."""
        cdef Py_ssize_t ring = self.capacity
        self.slot_of[:] = -1
        self.owner, self.newer, self.older = np.full((3, ring + 1), ring, dtype=np.intp)
        self.owner[:] = -1
        self.n_used = 0
        self.reserved = False

    cdef bint holds(self, Py_ssize_t index) noexcept nogil:
        return self.slot_of[index] >= 0

    cdef int fetch(self, const Py_ssize_t *indices, Py_ssize_t m, void **rows) except -1 nogil:
        cdef:
            Py_ssize_t q, i, slot, n_missing = 0
            Py_ssize_t *missing
            void **targets
        if self.in_place:
            for q in range(m):
                i = indices[q]
                rows[q] = <char *> self.engine.X.values + i * self.row_bytes
                if self.slot_of[i] < 0:
                    self.slot_of[i] = i
                    self.n_evaluations += self.n_rows
                else:
                    self.n_cached += self.n_rows
            return 0
        if m > self.capacity:
            with gil:
                raise ValueError(f"{m} rows asked for at once from a cache of {self.capacity}: raise cache_size")
        if self.reserved:
            with gil:
                self._forget()
        targets = <void **> allocate(m * (sizeof(void *) + sizeof(Py_ssize_t)))
        missing = <Py_ssize_t *> (targets + m)
        # Cached rows first, so that making room for the others cannot evict them.
        for q in range(m):
            slot = self.slot_of[indices[q]]
            if slot >= 0:
                self._touch(slot)
        for q in range(m):
            i = indices[q]
            slot = self.slot_of[i]
            if slot < 0:
                slot = self._make_room()
                self.slot_of[i] = slot
                self.owner[slot] = i
                missing[n_missing] = i
                targets[n_missing] = self.base + slot * self.row_bytes
                n_missing += 1
            rows[q] = self.base + slot * self.row_bytes
        self.n_evaluations += n_missing * self.n_rows
        self.n_cached += (m - n_missing) * self.n_rows
        # If `fill` raises, `reserved` stays True, and the next call discards the rows that were not computed.
        self.reserved = True
        try:
            self.engine.fill(missing, n_missing, targets)
        finally:
            free(targets)
        self.reserved = False
        return 0

    cdef int fetch_square(self, const Py_ssize_t[::1] members, void **rows) except -1:
        """rows[q][0 : m] = K(members[q], members): from cached rows if possible, else computed."""
        cdef:
            Py_ssize_t m = members.shape[0], q, k, n_missing = 0
            Py_ssize_t[::1] missing = np.empty(m, dtype=np.intp)
            bint single = self.single
            char *row
        if m == 0:
            return 0
        if self.reserved:
            self._forget()
        for q in range(m):
            if _held_row(self, members[q]) == NULL:
                missing[n_missing] = q
                n_missing += 1
        for q in prange(m, schedule="static", nogil=True, use_threads_if=(m - n_missing) * m > SERIAL_VALUES):
            row = _held_row(self, members[q])
            if row == NULL:
                continue
            if single:
                _gather[float](<float *> row, members, <float *> rows[q])
            else:
                _gather[double](<double *> row, members, <double *> rows[q])
        self.n_cached += (m * m - n_missing * n_missing)
        if n_missing == 0:
            return 0
        self.n_evaluations += n_missing * n_missing
        chosen = np.asarray(members)[np.asarray(missing)[:n_missing]]
        cdef const Py_ssize_t[::1] queries = chosen
        cdef Engine engine = make_engine(self.engine.kernel, self.engine.X, self.engine.Z.take(chosen))
        if n_missing == m:
            with nogil:
                engine.fill(&queries[0], m, rows)
            return 0
        cdef const unsigned char[:, ::1] values = fill_block(engine, chosen).view(np.uint8)
        for k in prange(n_missing, schedule="static", nogil=True, use_threads_if=n_missing * m > SERIAL_VALUES):
            if single:
                _fill_in[float](<float *> &values[k, 0], k, missing, n_missing, m, <float **> rows)
            else:
                _fill_in[double](<double *> &values[k, 0], k, missing, n_missing, m, <double **> rows)
        return 0

    cdef void _touch(self, Py_ssize_t slot) noexcept nogil:
        """Make `slot` the most recently used one."""
        self.newer[self.older[slot]] = self.newer[slot]
        self.older[self.newer[slot]] = self.older[slot]
        self._link(slot)

    cdef void _link(self, Py_ssize_t slot) noexcept nogil:
        cdef Py_ssize_t ring = self.capacity, newest = self.older[ring]
        self.older[slot] = newest
        self.newer[slot] = ring
        self.newer[newest] = slot
        self.older[ring] = slot

    cdef Py_ssize_t _make_room(self) noexcept nogil:
        """A slot for a new row: an unused one, else the least recently used."""
        cdef Py_ssize_t slot
        if self.n_used < self.capacity:
            slot = self.n_used
            self.n_used += 1
            self._link(slot)
            return slot
        slot = self.newer[self.capacity]
        self.slot_of[self.owner[slot]] = -1
        self._touch(slot)
        return slot

    def restrict(self, const Py_ssize_t[::1] keep):
        """Restrict to a subset of the rows and columns, renumbered in the order of `keep` (ascending).

        Cached rows of the subset are kept, compacted to its columns; they take less memory, so more of them fit.
        """
        cdef:
            Py_ssize_t n_old = self.n_rows, n_new = keep.shape[0], old_bytes = self.row_bytes, old_capacity
            Py_ssize_t slot, i, j, target = 0
            char *source
            char *compacted
        if not self.can_restrict:
            raise ValueError("a precomputed kernel cannot be restricted")
        kept = self._checked(keep, n_old)
        if np.any(np.diff(kept) <= 0):
            raise ValueError("keep must be ascending: rows are compacted in place")
        if self.reserved:
            self._forget()
        old_owner, old_newer = np.asarray(self.owner), np.asarray(self.newer)
        old_capacity = self.capacity
        position = np.full(n_old, -1, dtype=np.intp)
        position[np.asarray(keep)] = np.arange(n_new)
        # Slots in memory order: a compacted row never reaches beyond the rows still to be moved.
        cdef Py_ssize_t[::1] new_position = position
        cdef Py_ssize_t[::1] moved = np.full(old_capacity + 1, -1, dtype=np.intp)
        cdef Py_ssize_t new_bytes = max(n_new, 1) * self.engine.item
        self.reserved = True    # see `_use`: from here on rows are not where the slots say
        for slot in range(self.n_used):
            if new_position[self.owner[slot]] < 0:
                continue
            source = self.base + slot * old_bytes
            compacted = self.base + target * new_bytes
            if self.single:
                for j in range(n_new):
                    (<float *> compacted)[j] = (<float *> source)[keep[j]]
            else:
                for j in range(n_new):
                    (<double *> compacted)[j] = (<double *> source)[keep[j]]
            moved[slot] = target
            target += 1
        self._use(self.engine.kernel, (<Operand> self.engine.X).take(np.asarray(keep)))
        # Link the remaining rows again, oldest first.
        slot = old_newer[old_capacity]
        while slot != old_capacity:
            if moved[slot] >= 0:
                i = new_position[<Py_ssize_t> old_owner[slot]]
                self.owner[moved[slot]] = i
                self.slot_of[i] = moved[slot]
                self._link(moved[slot])
            slot = old_newer[slot]
        self.n_used = target

    def release(self):
        """Return to all rows, with an empty cache."""
        if self.n_rows != self.operand.n_rows:
            self._use(self.kernel, self.operand)

    @staticmethod
    def _checked(indices, n):
        indices = np.ascontiguousarray(indices, dtype=np.intp).reshape(-1)
        if indices.size and (indices.min() < 0 or indices.max() >= n):
            raise IndexError(f"row indices must be in [0, {n})")
        return indices


cdef inline char *_held_row(CachedRows self, Py_ssize_t index) noexcept nogil:
    """Return where the values of a row are; NULL if they are not yet computed."""
    if self.in_place:
        return <char *> self.engine.X.values + index * self.row_bytes
    return NULL if self.slot_of[index] < 0 else self.base + self.slot_of[index] * self.row_bytes


cdef void _gather(const real *row, const Py_ssize_t[::1] columns, real *out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(columns.shape[0]):
        out[k] = row[columns[k]]


cdef void _fill_in(const real *values, Py_ssize_t k, const Py_ssize_t[::1] missing, Py_ssize_t n_missing,
                   Py_ssize_t m, real **rows) noexcept nogil:
    """Complete row missing[k] of a symmetric matrix: from `values` at the columns `missing`, by symmetry elsewhere."""
    cdef Py_ssize_t q = missing[k], r, done = 0
    for r in range(m):
        if done < n_missing and missing[done] == r:
            rows[q][r] = values[done]
            done += 1
        else:
            rows[q][r] = rows[r][q]
