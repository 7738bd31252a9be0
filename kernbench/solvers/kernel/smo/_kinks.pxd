# Steps of SMO where the dual objective has a kink at 0, on either side of which its slope is less by `zone`.

from libc.math cimport INFINITY, fabs

from kernbench.solvers.kernel.smo._coordinates cimport Coordinates


cdef inline double step_over_kinks(Coordinates work, Py_ssize_t i, Py_ssize_t j, double slope, double curvature,
                                   double end) noexcept nogil:
    """The best step of a pair, up to `end`, and its gain. Where a coefficient passes 0, the slope drops by 2 zone."""
    cdef:
        double kink_i = -work.beta[i] if work.beta[i] < 0.0 else INFINITY
        double kink_j = work.beta[j] if work.beta[j] > 0.0 else INFINITY
        double step = 0.0, kink, length
        int passed
    for passed in range(3):
        kink = INFINITY if passed == 2 else max(kink_i, kink_j) if passed == 1 else min(kink_i, kink_j)
        length = min(min(slope / curvature, end - step), kink - step)
        work.dual_gain += length * (slope - 0.5 * length * curvature)
        step = kink if length == kink - step else step + length
        slope -= length * curvature + 2.0 * work.zone
        if step < kink or step >= end or slope <= 0.0:
            break
    return step


cdef inline void round_to_zero(Coordinates work, Py_ssize_t k) noexcept nogil:
    """Set a coefficient that is 0 up to rounding to 0."""
    if fabs(work.beta[k]) <= min(work.least_change[k], work.reach):
        work.beta[k] = 0.0


cdef inline double shrunk(double x, double width) noexcept nogil:
    """x moved towards 0 by `width`, at most to 0."""
    cdef double size = fabs(x) - width
    return 0.0 if size <= 0.0 else size if x > 0.0 else -size
