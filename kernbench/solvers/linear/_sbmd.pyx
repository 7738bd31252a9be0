"""Steps of stochastic block mirror descent."""

from libc.stdint cimport int32_t

from kernbench.losses._loss cimport loss_slope
from kernbench.solvers.design._design cimport FeatureDesign
from kernbench.solvers.linear._rows cimport row_dot


def steps(FeatureDesign design, problem, const Py_ssize_t[::1] examples, const Py_ssize_t[::1] blocks,
          const Py_ssize_t[::1] ends, double lam, double largest_step, double begun, double[::1] w, double[::1] sums,
          double[::1] counted, double[::1] numbers):
    """Do a step for each example and block; `numbers` are the steps done so far and the entries touched."""
    cdef:
        const double[::1] y = problem.y, targets = problem.targets
        int loss = problem.loss.code
        double parameter = problem.loss.parameter, t = numbers[0], passed, since, step, kept, slope
        long long touched = <long long> numbers[1]
        Py_ssize_t s, k, i, block, first, last, d = w.shape[0], n_blocks = counted.shape[0]
    with nogil:
        for s in range(examples.shape[0]):
            i, block = examples[s], blocks[s]
            first, last = ends[block], ends[block + 1]
            slope = loss_slope(loss, parameter, y[i] * row_dot(design, i, &w[0]) - targets[i])
            passed = 0.5 * t * (t + 1.0) - begun
            since = passed - counted[block]
            t += 1
            step = min(largest_step, 2.0 * n_blocks / (lam * (t + 1)))
            kept = 1.0 - step * lam
            for k in range(first, last):
                sums[k] += since * w[k]
                w[k] *= kept
            counted[block] = passed
            if slope != 0.0:
                if design.single:
                    _add_part(design, <const float *> design.values, i, first, last, -step * slope * y[i], &w[0])
                else:
                    _add_part(design, <const double *> design.values, i, first, last, -step * slope * y[i], &w[0])
            touched += d + last - first
    numbers[0], numbers[1] = t, touched


ctypedef fused real:
    float
    double


cdef void _add_part(FeatureDesign design, const real *values, Py_ssize_t i, Py_ssize_t first, Py_ssize_t last, double size,
                    double *w) noexcept nogil:
    """w_k += size x_ik for first <= k < last."""
    cdef Py_ssize_t k, low, high, middle, d = design.n_coef
    cdef const int32_t *columns = design.columns
    if not design.is_sparse:
        for k in range(first, last):
            w[k] += size * values[i * d + k]
        return
    low, high = design.starts[i], design.starts[i + 1]
    while low < high:      # the first stored entry at or beyond `first`; they ascend
        middle = (low + high) // 2
        if columns[middle] < first:
            low = middle + 1
        else:
            high = middle
    while low < design.starts[i + 1] and columns[low] < last:
        w[columns[low]] += size * values[low]
        low += 1
