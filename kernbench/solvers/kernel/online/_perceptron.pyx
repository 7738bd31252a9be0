"""Steps of the kernel Perceptron on responses, several examples at a time (see `_walk`)."""

from libc.math cimport INFINITY

from kernbench.solvers.kernel.online._walk cimport Walk as Way

from kernbench.solvers.kernel.online._walk import Walk

__all__ = ["Walk", "steps"]  # what the method takes from its core


def steps(Way walk, const Py_ssize_t[::1] examples, const double[::1] y, const double[::1] weights, double bias_step,
          bint averages, double[::1] mistakes, double[::1] responses, double[::1] mistake_sums,
          double[::1] response_sums, double[::1] numbers):
    """Do the steps on examples; `numbers` are the steps done so far, the mistakes, the logical evaluations, the
    intercept and the support vectors."""
    cdef:
        Py_ssize_t first = 0, k, i, n_done
        double passed
        bint wrong
    with nogil:
        while first < examples.shape[0]:
            n_done = walk.open(&examples[first], examples.shape[0] - first, &responses[0])
            for k in range(n_done):
                i = examples[first + k]
                walk.want(k, y[i] * (walk.local[k] + numbers[3]) if weights[i] > 0.0 else INFINITY)
            walk.fetch()
            passed = 0.0
            for k in range(n_done):
                i = examples[first + k]
                wrong = weights[i] > 0.0 and y[i] * (walk.local[k] + numbers[3]) <= 0.0
                if wrong and not walk.has(k):
                    n_done = k
                    break
                numbers[0] += 1.0
                if weights[i] > 0.0:
                    numbers[2] += numbers[4]
                if wrong:
                    numbers[1] += 1.0
                    numbers[4] += mistakes[i] == 0.0
                    mistakes[i] += weights[i]
                    numbers[3] += weights[i] * y[i] * bias_step
                    walk.add(k, weights[i] * y[i], passed)
                passed += 1.0
            walk.close(n_done, &responses[0])
            if averages:
                walk.add_sums(passed, &y[0], &mistakes[0], &mistake_sums[0], &responses[0], &response_sums[0])
            first += n_done
