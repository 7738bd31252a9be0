"""Steps of Pegasos on explicit features: the cost of a step is that of its row."""

from libc.math cimport INFINITY, sqrt

from kernbench.losses._loss cimport loss_slope
from kernbench.solvers.design._design cimport FeatureDesign, dot
from kernbench.solvers.linear._rows cimport row_add, row_dot

import numpy as np

cdef enum:
    RECOMPUTED = 4096      # steps between two recomputations of |g|^2
cdef double SMALLEST_SCALE = 1e-6


def steps(FeatureDesign design, problem, const double[::1] norms, const Py_ssize_t[:, ::1] drawn, double lam, double delay,
          double limit, double[::1] g, double[::1] counts, double[::1] lags, double[::1] numbers):
    """Do a step on each row of `drawn`; `numbers` are the steps done so far, scale, |g|^2, begun, passed, total, inner
    products and kept."""
    cdef:
        const double[::1] y = problem.y, targets = problem.targets
        double[::1] margins = np.empty(drawn.shape[1])
        int loss = problem.loss.code
        double parameter = problem.loss.parameter, step, shrunk
        double scale = numbers[1], squared_norm = numbers[2], begun = numbers[3], passed = numbers[4], total = numbers[5]
        double radius, n_products = numbers[6], kept = numbers[7], t = numbers[0]
        bint project = limit < INFINITY
        Py_ssize_t i, j, k, s, size = drawn.shape[1], d = g.shape[0]
    with nogil:
        for s in range(drawn.shape[0]):
            shrunk = scale / (lam * max(t + delay, 1.0))
            for k in range(size):
                i = drawn[s, k]
                margins[k] = y[i] * shrunk * row_dot(design, i, &g[0]) - targets[i]
            n_products += size
            for k in range(size):
                i = drawn[s, k]
                step = -loss_slope(loss, parameter, margins[k]) / (size * scale)
                if step != 0.0:
                    if project:
                        squared_norm += step * (2.0 * y[i] * row_dot(design, i, &g[0]) + step * norms[i])
                        n_products += 1
                    row_add(design, i, step * y[i], &g[0])
                    counts[i] += step
                    lags[i] += passed * step
                    n_products += 1
            t += 1
            if project:
                radius = limit * (lam * (t + delay)) ** 2
                if <long long> t % RECOMPUTED == 0:
                    squared_norm = dot(&g[0], &g[0], d)
                if scale * scale * squared_norm > radius:
                    scale = sqrt(radius / squared_norm)
                    if scale < SMALLEST_SCALE:
                        for j in range(d):
                            g[j] *= scale
                        for j in range(counts.shape[0]):
                            lags[j] -= passed * counts[j]
                            counts[j] *= scale
                        kept *= scale
                        passed, squared_norm, scale = 0.0, radius, 1.0
            begun += scale * kept
            passed += scale
            total += t + delay
    numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6], numbers[7] = (
        t, scale, squared_norm, begun, passed, total, n_products, kept)
