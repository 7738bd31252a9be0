"""Steps of SMO in problems with a share nu: pairs of one sign, and a bound on the sum of magnitudes.

See the families of `dual_state`.
"""

from libc.math cimport INFINITY, fabs

from kernbench.solvers.kernel.smo._coordinates cimport ROUNDING, Coordinates
from kernbench.solvers.kernel.smo._pairs cimport (
    best_partner_double, best_partner_float, move_and_scan_double, move_and_scan_float,
)

ctypedef fused real:
    float
    double


cdef void mark_signs(Coordinates work, Py_ssize_t k) noexcept nogil:
    """Set in which directions coordinate k can move, in each family; see `State.families`."""
    cdef double beta = work.beta[k]
    cdef bint can_grow = beta < work.upper[k], can_shrink = beta > work.lower[k]
    work.up[k] = 0.0 if can_grow and (work.loose or beta >= 0.0) else -INFINITY
    work.low[k] = 0.0 if (can_shrink if work.loose else beta > 0.0) else INFINITY
    work.up2[k] = 0.0 if beta < 0.0 and not work.loose else -INFINITY
    work.low2[k] = 0.0 if can_shrink and not work.loose and (work.bounded or beta <= 0.0) else INFINITY


cdef void mark_all_signs(Coordinates work) noexcept nogil:
    cdef Py_ssize_t k
    work.loose = work.bounded and work.room > 0.0
    for k in range(work.size):
        mark_signs(work, k)


cdef Py_ssize_t sign_steps(Coordinates work, double goal, Py_ssize_t budget) except -1 nogil:
    if work.single:
        return _sign_steps[float](work, <const float **> work.kernel, goal, budget)
    return _sign_steps[double](work, <const double **> work.kernel, goal, budget)


cdef Py_ssize_t _sign_steps(Coordinates work, const real **kernel, double goal, Py_ssize_t budget) except -1 nogil:
    """Pair steps in the family of the larger violation."""
    cdef:
        Py_ssize_t i, j, other, steps = 0
        double *low
        double top, gain, curvature, step
        const real *row_i = <const real *> work.block  # any readable row
        const real *row_j = row_i
        bint single = real is float
    i = _move_and_scan(work, single, row_i, row_j, 0.0, &other)
    while (max(work.top - work.bottom, work.top2 - work.bottom2) > goal and steps < budget
           and work.dual_gain <= work.most_gain):
        top, low = work.top, &work.low[0]
        if work.top2 - work.bottom2 > work.top - work.bottom:
            i, top, low = other, work.top2, &work.low2[0]
        if kernel[i] == NULL:
            work._demand(i, True)
        row_i = kernel[i]
        if real is float:
            j = best_partner_float(&work.e[0], low, row_i, &work.diagonal[0], work.diagonal[i], top, work.padded, &gain)
        else:
            j = best_partner_double(&work.e[0], low, row_i, &work.diagonal[0], work.diagonal[i], top, work.padded,
                                    &gain)
        if gain <= 0.0:
            break
        if kernel[j] == NULL:
            work._demand(j, False)
        row_j = kernel[j]
        curvature = max(work.diagonal[i] + work.diagonal[j] - 2.0 * row_i[j], 1e-12)
        step = _move_pair(work, i, j, top - work.e[j], curvature)
        if work.loose != (work.bounded and work.room > 0.0):
            mark_all_signs(work)
        else:
            mark_signs(work, i)
            mark_signs(work, j)
        work.e[i] -= step * work.ridge[i]
        work.e[j] += step * work.ridge[j]
        i = _move_and_scan(work, single, row_i, row_j, step, &other)
        steps += 1
    work.violation = max(0.0, max(work.top - work.bottom, work.top2 - work.bottom2))
    return steps


cdef Py_ssize_t _move_and_scan(Coordinates work, bint single, const void *row_i, const void *row_j, double step,
                      Py_ssize_t *other) noexcept nogil:
    """Move the gradient by a step; find in each family the coordinate that wants to grow most, and the extremes."""
    cdef Py_ssize_t i, n = work.padded
    cdef double *e = &work.e[0]
    work.top2, work.bottom2, other[0] = -INFINITY, INFINITY, 0
    if single:
        i = move_and_scan_float(e, <const float *> row_i, <const float *> row_j, step, &work.up[0], &work.low[0], n,
                                &work.top, &work.bottom)
        if not work.loose:
            other[0] = move_and_scan_float(e, <const float *> row_i, <const float *> row_j, 0.0, &work.up2[0],
                                           &work.low2[0], n, &work.top2, &work.bottom2)
    else:
        i = move_and_scan_double(e, <const double *> row_i, <const double *> row_j, step, &work.up[0], &work.low[0],
                                 n, &work.top, &work.bottom)
        if not work.loose:
            other[0] = move_and_scan_double(e, <const double *> row_i, <const double *> row_j, 0.0, &work.up2[0],
                                            &work.low2[0], n, &work.top2, &work.bottom2)
    return i


cdef double _move_pair(Coordinates work, Py_ssize_t i, Py_ssize_t j, double slope, double curvature) noexcept nogil:
    """The best step of a pair up to a bound, to 0, and to the bound on the sum of magnitudes; take it."""
    cdef:
        double beta_i = work.beta[i], beta_j = work.beta[j], after_i, after_j, step
        double end_i = 0.0 if beta_i < 0.0 else work.upper[i], end_j = 0.0 if beta_j > 0.0 else work.lower[j]
    step = min(slope / curvature, min(end_i - beta_i, beta_j - end_j))
    if work.bounded:
        step = _bounded_step(work, beta_i, beta_j, step)
    work.dual_gain += step * slope - 0.5 * step * step * curvature
    after_i, after_j = beta_i + step, beta_j - step
    work.reach = max(work.reach, ROUNDING * max(fabs(after_i), fabs(after_j)))
    work.beta[i] = end_i if end_i - beta_i - step <= min(work.least_change[i], work.reach) else after_i
    work.beta[j] = end_j if beta_j - end_j - step <= min(work.least_change[j], work.reach) else after_j
    return step


cdef double _bounded_step(Coordinates work, double beta_i, double beta_j, double step) noexcept nogil:
    """Return the part of a step that the bound on the sum of magnitudes allows, and subtract it from what is left."""
    cdef double growth = (1.0 if beta_i >= 0.0 else -1.0) + (1.0 if beta_j <= 0.0 else -1.0)
    if growth > 0.0 and step >= work.room / growth:
        step = work.room / growth
        work.room = 0.0
    else:
        work.room -= growth * step
    return step
