"""Steps of kernel Pegasos on responses, several draws at a time (see `_walk`)."""

from libc.math cimport INFINITY

from kernbench.losses._loss cimport loss_room, loss_slope
from kernbench.solvers.kernel.online._walk cimport Walk as Way

from kernbench.solvers.kernel.online._intercept import intercept_search
from kernbench.solvers.kernel.online._walk import Walk

__all__ = ["Walk", "intercept_search", "steps"]  # what the method takes from its core

cdef double LEAST_SCALE = 1e-100    # the scale of hundreds of projections may underflow: below this a new walk begins


def steps(Way walk, const Py_ssize_t[::1] drawn, loss, const double[::1] y, const double[::1] targets,
          const double[::1] diagonal, double lam, double delay, double squared_radius, double intercept,
          double[::1] sums, double[::1] responses, double[::1] numbers):
    """Do the steps on the examples drawn; `numbers` are the steps done so far and ||g||^2."""
    cdef:
        int code = loss.code
        double parameter = loss.parameter, push, shrink, limit, margin, scale
        Py_ssize_t first = 0, k, i, n_done
    with nogil:
        while first < drawn.shape[0]:
            n_done = walk.open(&drawn[first], drawn.shape[0] - first, &responses[0])
            for k in range(n_done):
                i = drawn[first + k]
                margin = y[i] * (walk.local[k] / _denominator(lam, delay, numbers[0]) + intercept) - targets[i]
                walk.want(k, loss_room(code, parameter, margin))
            walk.fetch()
            scale = 1.0
            for k in range(n_done):
                i = drawn[first + k]
                margin = y[i] * (scale * walk.local[k] / _denominator(lam, delay, numbers[0]) + intercept) - targets[i]
                push = -loss_slope(code, parameter, margin)
                if push != 0.0 and not walk.has(k):
                    n_done = k
                    break
                numbers[0] += 1.0
                if push != 0.0:
                    numbers[1] += push * (2.0 * y[i] * scale * walk.local[k] + push * diagonal[i])
                    # Projections scale everything by `scale`; the sums of the walk are not scaled.
                    sums[i] += push / scale
                    walk.add(k, y[i] * push / scale, 0.0)
                if squared_radius < INFINITY:
                    limit = squared_radius * (numbers[0] + delay) * (numbers[0] + delay)
                    if numbers[1] > limit:
                        shrink = (limit / numbers[1]) ** 0.5
                        numbers[1] = limit
                        scale *= shrink
                        if scale < LEAST_SCALE:
                            n_done = k + 1
                            break
            walk.close(n_done, &responses[0])
            if scale != 1.0:
                for i in range(walk.n):
                    sums[i] *= scale
                    responses[i] *= scale
            first += n_done


cdef inline double _denominator(double lam, double delay, double t) noexcept nogil:
    """f = g / (lambda (t - 1 + t0)) before step t; 0 before the first."""
    return lam * (t + delay if t > 0.0 else 1.0 + delay)
