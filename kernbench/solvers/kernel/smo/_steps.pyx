"""Steps inside a working set of SMO, of a pair of coordinates or of one.

A step with a bias moves two coordinates, beta_i += s and beta_j -= s, chosen by second-order information (Fan, Chen,
Lin, JMLR 2005); without one it moves the single coordinate that gains most.
"""

from libc.math cimport fabs

from kernbench.solvers.kernel.smo._coordinates cimport ROUNDING, Coordinates, mark
from kernbench.solvers.kernel.smo._kinks cimport round_to_zero, shrunk, step_over_kinks
from kernbench.solvers.kernel.smo._pairs cimport (
    best_partner_double, best_partner_float, move_and_choose_double, move_and_choose_float,
    move_and_choose_kinked_double, move_and_choose_kinked_float, move_and_scan_double, move_and_scan_float,
)

ctypedef fused real:
    float
    double


cdef Py_ssize_t pair_steps(Coordinates work, double goal, Py_ssize_t budget) except -1 nogil:
    if work.single:
        return _pair_steps[float](work, <const float **> work.kernel, goal, budget)
    return _pair_steps[double](work, <const double **> work.kernel, goal, budget)


cdef Py_ssize_t single_steps(Coordinates work, double goal, Py_ssize_t budget) except -1 nogil:
    if work.single:
        return _single_steps[float](work, <const float **> work.kernel, goal, budget)
    return _single_steps[double](work, <const double **> work.kernel, goal, budget)


cdef Py_ssize_t _pair_steps(Coordinates work, const real **kernel, double goal, Py_ssize_t budget) except -1 nogil:
    cdef:
        Py_ssize_t i, j, n = work.padded, steps = 0
        double *e = &work.e[0]
        double *up = &work.up[0]
        double *low = &work.low[0]
        double top, bottom, gain, curvature, slope, step, room_i, room_j, after_i, after_j
        const real *row_i = <const real *> work.block  # any readable row
        const real *row_j = row_i
    if real is float:
        i = move_and_scan_float(e, row_i, row_j, 0.0, up, low, n, &top, &bottom)
    else:
        i = move_and_scan_double(e, row_i, row_j, 0.0, up, low, n, &top, &bottom)
    while top - bottom > goal and steps < budget and work.dual_gain <= work.most_gain:
        if kernel[i] == NULL:
            work._demand(i, True)
        row_i = kernel[i]
        if real is float:
            j = best_partner_float(e, low, row_i, &work.diagonal[0], work.diagonal[i], top, n, &gain)
        else:
            j = best_partner_double(e, low, row_i, &work.diagonal[0], work.diagonal[i], top, n, &gain)
        if gain <= 0.0:
            break
        if kernel[j] == NULL:
            work._demand(j, False)
        row_j = kernel[j]
        curvature = max(work.diagonal[i] + work.diagonal[j] - 2.0 * row_i[j], 1e-12)
        slope = top - (e[j] + low[j])
        room_i = work.upper[i] - work.beta[i]
        room_j = work.beta[j] - work.lower[j]
        if work.zone > 0.0:
            step = step_over_kinks(work, i, j, slope, curvature, min(room_i, room_j))
        else:
            step = min(slope / curvature, min(room_i, room_j))
            work.dual_gain += step * slope - 0.5 * step * step * curvature
        # A coordinate that reaches its bound up to rounding is set to it exactly: tests for "at the bound" compare for
        # equality, and steps of the size of a rounding error would only mislead the search.
        after_i, after_j = work.beta[i] + step, work.beta[j] - step
        work.reach = max(work.reach, ROUNDING * max(fabs(after_i), fabs(after_j)))
        work.beta[i] = work.upper[i] if room_i - step <= min(work.least_change[i], work.reach) else after_i
        work.beta[j] = work.lower[j] if room_j - step <= min(work.least_change[j], work.reach) else after_j
        if work.zone > 0.0:
            round_to_zero(work, i)
            round_to_zero(work, j)
        mark(work, i)
        mark(work, j)
        e[i] -= step * work.ridge[i]
        e[j] += step * work.ridge[j]
        if real is float:
            i = move_and_scan_float(e, row_i, row_j, step, up, low, n, &top, &bottom)
        else:
            i = move_and_scan_double(e, row_i, row_j, step, up, low, n, &top, &bottom)
        steps += 1
    work.violation, work.top, work.bottom = max(top - bottom, 0.0), top, bottom
    return steps


cdef Py_ssize_t _single_steps(Coordinates work, const real **kernel, double goal, Py_ssize_t budget) except -1 nogil:
    cdef:
        Py_ssize_t i, steps = 0
        double *e = &work.e[0]
        double gain, violation, curvature, step, after, least_change
        const real *row_i = <const real *> work.block  # any readable row
    i = _move_and_choose[real](work, row_i, 0.0, &gain, &violation)
    while violation > goal and gain > 0.0 and steps < budget and work.dual_gain <= work.most_gain:
        if kernel[i] == NULL:
            work._demand(i, e[i] > 0.0)
        row_i = kernel[i]
        curvature = max(work.diagonal[i], 1e-12)
        step = e[i] / curvature
        if work.zone > 0.0:
            step = shrunk(work.beta[i] + step, work.zone / curvature) - work.beta[i]
        step = min(max(step, work.low[i]), work.up[i])
        after = work.beta[i] + step
        work.reach = max(work.reach, ROUNDING * fabs(after))
        least_change = min(work.least_change[i], work.reach)
        work.dual_gain += step * (e[i] - 0.5 * step * curvature) - work.zone * (fabs(after) - fabs(work.beta[i]))
        work.beta[i] = (work.upper[i] if work.up[i] - step <= least_change else
                        work.lower[i] if step - work.low[i] <= least_change else after)
        mark(work, i)
        e[i] -= step * work.ridge[i]
        i = _move_and_choose[real](work, row_i, step, &gain, &violation)
        steps += 1
    work.violation = violation
    return steps


cdef Py_ssize_t _move_and_choose(Coordinates work, const real *row_i, double step, double *gain,
                                 double *violation) noexcept nogil:
    cdef Py_ssize_t n = work.padded
    if work.zone > 0.0:
        if real is float:
            return move_and_choose_kinked_float(&work.e[0], row_i, step, &work.diagonal[0], &work.low[0], &work.up[0],
                                                &work.beta[0], work.zone, n, gain, violation)
        else:
            return move_and_choose_kinked_double(&work.e[0], row_i, step, &work.diagonal[0], &work.low[0], &work.up[0],
                                                 &work.beta[0], work.zone, n, gain, violation)
    if real is float:
        return move_and_choose_float(&work.e[0], row_i, step, &work.diagonal[0], &work.low[0], &work.up[0], n, gain,
                                     violation)
    else:
        return move_and_choose_double(&work.e[0], row_i, step, &work.diagonal[0], &work.low[0], &work.up[0], n, gain,
                                      violation)
