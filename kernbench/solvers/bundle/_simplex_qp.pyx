"""The small quadratic programme of a bundle of cuts, by an active set.

Wolfe's algorithm for the nearest point of a polytope: the maximiser over the affine hull of the active vertices solves
a linear system; where it leaves the simplex a vertex is dropped, otherwise the vertex of steepest ascent is added.
Finite and exact, where coordinate steps would converge slowly along a flat face.
"""

from libc.math cimport fabs
from scipy.linalg.cython_lapack cimport dposv

import numpy as np

cdef double RIDGE = 1e-13   # of the squared lengths of a cut and the first; for linearly dependent cuts


cdef class SimplexQP:
    """Working memory for programmes of up to `capacity` variables."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.hessian, self.target = np.empty(capacity * capacity), np.empty(capacity)
        self.ascent, self.active = np.empty(capacity), np.empty(capacity, dtype=np.intp)

    def maximise(self, Q, b, u):
        """Return the maximiser of b'u - u'Qu/2 over the simplex; `u` is where to start, or zeros."""
        cdef double[:, ::1] matrix = np.ascontiguousarray(Q, dtype=np.float64)
        cdef double[::1] linear = np.ascontiguousarray(b, dtype=np.float64)
        cdef double[::1] found = np.array(u, dtype=np.float64)
        if not 0 < len(b) <= self.capacity or np.shape(Q) != (len(b), len(b)) or np.shape(u) != (len(b),):
            raise ValueError(f"Q, b and u must belong to one programme of 1 to {self.capacity} variables")
        self.solve(&matrix[0, 0], len(b), &linear[0], len(b), &found[0])
        return np.asarray(found)

    cdef void solve(self, const double *Q, Py_ssize_t stride, const double *b, Py_ssize_t k, double *u) noexcept nogil:
        cdef:
            Py_ssize_t i, j, n_active = 0, newest, best, leaving, _turn
            Py_ssize_t *active = &self.active[0]
            double *target = &self.target[0]
            double *ascent = &self.ascent[0]
            double step, ratio, level, size, total
            bint inside
        for i in range(k):
            if u[i] > 0.0:
                active[n_active] = i
                n_active += 1
        if n_active == 0:
            best = 0
            for i in range(1, k):
                if b[i] - Q[i * stride + i] / 2 > b[best] - Q[best * stride + best] / 2:
                    best = i
            u[best] = 1.0
            active[0] = best
            n_active = 1
        for _turn in range(20 * k + 100):
            newest = active[n_active - 1]
            while True:
                if not self._affine_maximiser(Q, stride, b, n_active):
                    _normalise(u, k)
                    return
                step, leaving = 1.0, -1
                for j in range(n_active):
                    if target[j] <= 0.0:
                        ratio = u[active[j]] / (u[active[j]] - target[j])
                        if leaving < 0 or ratio < step:
                            step, leaving = ratio, j
                if leaving < 0:
                    for j in range(n_active):
                        u[active[j]] = target[j]
                    break
                for j in range(n_active):
                    i = active[j]
                    u[i] = max(u[i] + step * (target[j] - u[i]), 0.0)
                i = active[leaving]
                u[i] = 0.0
                for j in range(leaving, n_active - 1):
                    active[j] = active[j + 1]
                n_active -= 1
                if i == newest and step == 0.0:     # it cannot enter: the remaining ascent is a rounding error
                    _normalise(u, k)
                    return
            best, level, size = 0, 0.0, 0.0
            for i in range(k):
                total = 0.0
                for j in range(n_active):
                    total += Q[i * stride + active[j]] * u[active[j]]
                ascent[i] = b[i] - total
                if ascent[i] > ascent[best]:
                    best = i
                level += ascent[i] * u[i]
                size = max(size, fabs(b[i]))
            inside = False
            for j in range(n_active):
                inside = inside or active[j] == best
            if inside or ascent[best] - level <= 1e-14 * (fabs(ascent[best]) + size):
                break
            active[n_active] = best
            n_active += 1
        _normalise(u, k)

    cdef bint _affine_maximiser(self, const double *Q, Py_ssize_t stride, const double *b,
                                Py_ssize_t n_active) noexcept nogil:
        """Set `target` to the maximiser over the affine hull of the active vertices.

        The constraint eliminates the vertex with the shortest cut, which is made the first: differences from a long
        cut, such as that at f = 0, would cancel.
        """
        cdef:
            Py_ssize_t *active = &self.active[0]
            double *target = &self.target[0]
            double *H = &self.hessian[0]
            Py_ssize_t first, shortest = 0, i, j, m = n_active - 1, _attempt
            double corner, largest, ridge = RIDGE, rest = 1.0
            int order = <int> m, one = 1, info = 0
        if m == 0:
            target[0] = 1.0
            return True
        for j in range(n_active):
            if Q[active[j] * stride + active[j]] < Q[active[shortest] * stride + active[shortest]]:
                shortest = j
        first = active[shortest]
        active[shortest], active[0] = active[0], first
        corner = Q[first * stride + first]
        for _attempt in range(6):
            for i in range(m):
                for j in range(m):
                    H[i * m + j] = (Q[active[i + 1] * stride + active[j + 1]] - Q[active[i + 1] * stride + first]
                                    - Q[first * stride + active[j + 1]] + corner)
                largest = Q[active[i + 1] * stride + active[i + 1]] + corner
                H[i * m + i] += ridge * (largest if largest > 0.0 else 1.0)
                target[i + 1] = (b[active[i + 1]] - b[first]) - (Q[active[i + 1] * stride + first] - corner)
            dposv("L", &order, &one, H, &order, target + 1, &order, &info)
            if info == 0:
                break
            ridge *= 100.0          # rounding made it indefinite
        if info != 0:
            return False
        for i in range(m):
            rest -= target[i + 1]
        target[0] = rest
        return True


cdef void _normalise(double *u, Py_ssize_t k) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(k):
        total += u[i]
    for i in range(k):
        u[i] /= total
