"""Steps of stochastic gradient descent within a ball, several draws at a time (see `_walk`).

Within a walk v is not scaled: `scale` is the product of the factors of all projections so far. The average of the
iterates costs one more pass over the rows of the steps, at the end of the walk.
"""

from libc.math cimport fmax, sqrt

from kernbench.losses._loss cimport loss_room
from kernbench.losses._margin cimport KB_SQUARED_HINGE, margin_slope
from kernbench.solvers.kernel.online._walk cimport Walk as Way

from kernbench.solvers.kernel.online._intercept import intercept_search
from kernbench.solvers.kernel.online._walk import Walk

__all__ = ["Walk", "intercept_search", "steps"]  # what the method takes from its core


def steps(Way walk, const Py_ssize_t[::1] drawn, loss, const double[::1] y, const double[::1] diagonal, double radius,
          double r, double power, double intercept, double[::1] coef, double[::1] responses, double[::1] coef_sums,
          double[::1] response_sums, double[::1] numbers):
    """Do the steps on the examples drawn; `numbers` are the steps done so far, ||v||^2 and the sum of the weights."""
    cdef:
        int code = loss.code
        Py_ssize_t first = 0, k, i, n_done
        double push, step, response, shrink, weight, scale, passed
    with nogil:
        while first < drawn.shape[0]:
            n_done = walk.open(&drawn[first], drawn.shape[0] - first, &responses[0])
            for k in range(n_done):
                i = drawn[first + k]
                walk.want(k, loss_room(code, 0.0, y[i] * (radius * walk.local[k] + intercept)))
            walk.fetch()
            scale, passed = 1.0, 0.0
            for k in range(n_done):
                i = drawn[first + k]
                response = scale * walk.local[k]
                # The size of the step, in units of eta_t / r; for the squared hinge, none goes beyond margin 1.
                push = -margin_slope(code, y[i] * (radius * response + intercept))
                if code == KB_SQUARED_HINGE:
                    push /= 2.0 * fmax(1.0, radius * r / sqrt(numbers[0] + 1.0))
                if push != 0.0 and not walk.has(k):
                    n_done = k
                    break
                numbers[0] += 1.0
                if push != 0.0:
                    step = push / (r * sqrt(numbers[0]))
                    numbers[1] += step * (2.0 * y[i] * response + step * diagonal[i])
                    coef[i] += step / scale
                    walk.add(k, y[i] * step / scale, passed)
                if numbers[1] > 1.0:
                    shrink = 1.0 / sqrt(numbers[1])
                    numbers[1] = 1.0
                    scale *= shrink
                weight = (numbers[0] / 1000.0) ** power
                numbers[2] += weight
                passed += weight * scale
                if scale < 1e-2:  # contributions of later steps are subtracted from the sums, which would lose digits
                    n_done = k + 1
                    break
            walk.close(n_done, &responses[0])
            walk.add_sums(passed, &y[0], &coef[0], &coef_sums[0], &responses[0], &response_sums[0])
            if scale != 1.0:
                for i in range(walk.n):
                    coef[i] *= scale
                    responses[i] *= scale
            first += n_done
