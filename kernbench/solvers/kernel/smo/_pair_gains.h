/* Loops of the pair steps of dual coordinate ascent over the candidates of a batch; see _sdca.pyx. */
#ifndef KB_PAIR_GAINS_H
#define KB_PAIR_GAINS_H

#include <stddef.h>
#include "_simd.h"

#define KB_LEAST_CURVATURE 1e-12

/* The gain of moving signed mass s from k to i, for every k: the maximum of slope s - h/2 s^2 within the bounds of
 * both. slopes = y psi'(a), f = responses, own = curvature of psi, all by candidate. */
KB_CLONES KB_UNUSED static void kb_pair_gains(ptrdiff_t i, const double *KB_RESTRICT row, double scale,
                                              const double *KB_RESTRICT diagonal, const double *KB_RESTRICT slopes,
                                              const double *KB_RESTRICT f, const double *KB_RESTRICT own,
                                              const double *KB_RESTRICT grow, const double *KB_RESTRICT shrink,
                                              ptrdiff_t n, double *KB_RESTRICT gains)
{
    const double e_i = slopes[i] - f[i], own_i = own[i], k_ii = diagonal[i], grow_i = grow[i], shrink_i = shrink[i];
    for (ptrdiff_t k = 0; k < n; k++) {
        double h = (k_ii + diagonal[k] - 2.0 * row[k]) * scale + (own_i + own[k]);
        const double slope = e_i - (slopes[k] - f[k]);
        const double high = grow_i < shrink[k] ? grow_i : shrink[k];
        const double low = -(shrink_i < grow[k] ? shrink_i : grow[k]);
        h = h > KB_LEAST_CURVATURE ? h : KB_LEAST_CURVATURE;
        double s = slope / h;
        s = s < high ? s : high;
        s = s > low ? s : low;
        gains[k] = s * (slope - 0.5 * s * h);
    }
}

/* f += step (row_i - row_j) */
KB_CLONES KB_UNUSED static void kb_move_pair(const double *KB_RESTRICT row_i, const double *KB_RESTRICT row_j,
                                             double step, ptrdiff_t n, double *KB_RESTRICT f)
{
    for (ptrdiff_t k = 0; k < n; k++)
        f[k] += step * (row_i[k] - row_j[k]);
}

#endif
