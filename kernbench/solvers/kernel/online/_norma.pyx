"""Steps of NORMA, several draws at a time (see `_walk`).

A run that keeps all terms works with responses. One that drops old terms needs few kernel values: those of the next
draws with the present terms, and with each other, are computed as one block.
"""

from kernbench.losses._loss cimport loss_room, loss_slope
from kernbench.solvers.kernel.online._walk cimport Walk as Way

import numpy as np

from kernbench.solvers.kernel.online._walk import Walk

__all__ = ["Walk", "steps", "steps_with_terms"]  # what the method takes from its core


def steps(Way walk, const Py_ssize_t[::1] drawn, const double[::1] gammas, loss, const double[::1] y,
          const double[::1] targets, double lam, bint has_intercept, double[::1] coef, double[::1] responses,
          double[::1] numbers):
    """Do the steps on the examples drawn, all terms kept; `numbers` are the steps done so far and the intercept."""
    cdef:
        int code = loss.code
        double parameter = loss.parameter, term, scale
        Py_ssize_t first = 0, k, i, n_done
    with nogil:
        while first < drawn.shape[0]:
            n_done = walk.open(&drawn[first], drawn.shape[0] - first, &responses[0])
            for k in range(n_done):
                i = drawn[first + k]
                walk.want(k, loss_room(code, parameter, y[i] * (walk.local[k] + numbers[1]) - targets[i]))
            walk.fetch()
            scale = 1.0
            for k in range(n_done):
                i = drawn[first + k]
                term = -loss_slope(code, parameter, y[i] * (scale * walk.local[k] + numbers[1]) - targets[i])
                if term != 0.0 and not walk.has(k):
                    n_done = k
                    break
                numbers[0] += 1.0
                scale *= 1.0 - gammas[first + k] * lam  # factor of earlier terms; sums of the walk are not scaled
                if term != 0.0:
                    term *= gammas[first + k]
                    coef[i] += term / scale
                    walk.add(k, y[i] * term / scale, 0.0)
                    if has_intercept:
                        numbers[1] += y[i] * term
            walk.close(n_done, &responses[0])
            for i in range(walk.n):
                coef[i] *= scale
                responses[i] *= scale
            first += n_done


def steps_with_terms(Way walk, const Py_ssize_t[::1] drawn, const double[::1] gammas, loss, const double[::1] y,
                     const double[::1] targets, double lam, bint has_intercept, newest, window, table,
                     double[::1] numbers):
    """Do the steps, and keep the newest terms only; return the table of examples, coefficients and steps of birth.

    Columns of the block of kernel values: the present terms, then those that the draws may add.
    """
    cdef:
        Py_ssize_t length = drawn.shape[0], n_old = len(table), head = 0, tail = n_old, k, l, q, i
        Py_ssize_t limit = newest or n_old + length
        int code = loss.code
        double parameter = loss.parameter, term, scale = 1.0, longest = window or np.inf
    columns = np.concatenate([table[:, 0].astype(np.intp), drawn])
    block = np.ascontiguousarray(walk.rows.block(drawn, columns), dtype=np.float64)
    signs = np.asarray(y)[columns]
    cdef:
        const double[:, ::1] values = block
        const double[::1] sign = signs
        double[::1] local = block[:, :n_old] @ (signs[:n_old] * table[:, 1])
        double[::1] terms = np.concatenate([table[:, 1], np.zeros(length)])       # in the order they were made
        Py_ssize_t[::1] place = np.arange(n_old + length)                         # column of a term
        double[::1] born = np.concatenate([table[:, 2], np.zeros(length)])
    with nogil:
        for k in range(length):
            i = drawn[k]
            walk.n_looked += tail - head
            term = -loss_slope(code, parameter, y[i] * (scale * local[k] + numbers[1]) - targets[i])
            numbers[0] += 1.0
            scale *= 1.0 - gammas[k] * lam
            if term != 0.0:
                term *= gammas[k]
                place[tail], terms[tail], born[tail] = n_old + k, term / scale, numbers[0]
                for l in range(k + 1, length):
                    local[l] += y[i] * terms[tail] * values[l, n_old + k]
                tail += 1
                if has_intercept:
                    numbers[1] += y[i] * term
            while tail - head > limit or (head < tail and born[head] <= numbers[0] - longest):
                q = place[head]
                for l in range(k + 1, length):
                    local[l] -= sign[q] * terms[head] * values[l, q]
                head += 1
    kept = np.asarray(place)[head:tail]
    return np.stack([columns[kept], scale * np.asarray(terms)[head:tail], np.asarray(born)[head:tail]], axis=1)
