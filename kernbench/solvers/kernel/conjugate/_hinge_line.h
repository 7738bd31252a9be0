/* The hinge loss along a direction: one pass over the sample. */
#ifndef KERNBENCH_HINGE_LINE_H
#define KERNBENCH_HINGE_LINE_H

#include <math.h>
#include <stddef.h>
#include "_simd.h"

/* A margin this near to 1 counts as being at the kink: in the search, and in the subgradient at its end. The second is
 * wider, so that a search that ends at a kink ends well inside; see reference/kernel/conjugate/hinge_line.py. */
#define KB_SEARCH_KINK 1e-13
#define KB_KINK 1e-10
#define KB_LANES 4

struct kb_hinge_sums {
    double loss;   /* sum of w max(0, 1 - m), m = y (r + b) */
    double slope;  /* sum of w y v where m < 1 - KB_SEARCH_KINK */
    double excess; /* sum of w y there */
    double tied;   /* number of margins at the kink */
};

/* Separate partial sums, so that the loops vectorise without re-association. */
KB_CLONES KB_UNUSED static void kb_hinge_pass(const double *KB_RESTRICT y, const double *KB_RESTRICT w,
                                              const double *KB_RESTRICT r, const double *KB_RESTRICT v, ptrdiff_t n,
                                              double b, struct kb_hinge_sums *out)
{
    double loss[KB_LANES] = {0}, slope[KB_LANES] = {0}, excess[KB_LANES] = {0}, tied[KB_LANES] = {0};
    ptrdiff_t i = 0;
    for (; i + KB_LANES <= n; i += KB_LANES)
        for (int l = 0; l < KB_LANES; l++) {
            const double room = 1.0 - y[i + l] * (r[i + l] + b), wy = w[i + l] * y[i + l];
            loss[l] += room > 0.0 ? w[i + l] * room : 0.0;
            slope[l] += room > KB_SEARCH_KINK ? wy * v[i + l] : 0.0;
            excess[l] += room > KB_SEARCH_KINK ? wy : 0.0;
            tied[l] += fabs(room) <= KB_SEARCH_KINK ? 1.0 : 0.0;
        }
    for (; i < n; i++) {
        const double room = 1.0 - y[i] * (r[i] + b), wy = w[i] * y[i];
        loss[0] += room > 0.0 ? w[i] * room : 0.0;
        slope[0] += room > KB_SEARCH_KINK ? wy * v[i] : 0.0;
        excess[0] += room > KB_SEARCH_KINK ? wy : 0.0;
        tied[0] += fabs(room) <= KB_SEARCH_KINK ? 1.0 : 0.0;
    }
    out->loss = (loss[0] + loss[1]) + (loss[2] + loss[3]);
    out->slope = (slope[0] + slope[1]) + (slope[2] + slope[3]);
    out->excess = (excess[0] + excess[1]) + (excess[2] + excess[3]);
    out->tied = (tied[0] + tied[1]) + (tied[2] + tied[3]);
}

/* out = u + t v */
KB_CLONES KB_UNUSED static void kb_along(const double *KB_RESTRICT u, const double *KB_RESTRICT v, double t, ptrdiff_t n,
                                         double *KB_RESTRICT out)
{
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = u[i] + t * v[i];
}

/* a = p a + q c */
KB_CLONES KB_UNUSED static void kb_mix(double p, double *KB_RESTRICT a, double q, const double *KB_RESTRICT c, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        a[i] = p * a[i] + q * c[i];
}

KB_CLONES KB_UNUSED static double kb_dot(const double *KB_RESTRICT a, const double *KB_RESTRICT c, ptrdiff_t n)
{
    double sums[8] = {0}, total = 0.0;
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            sums[l] += a[i + l] * c[i + l];
    for (; i < n; i++)
        total += a[i] * c[i];
    for (int l = 0; l < 8; l++)
        total += sums[l];
    return total;
}

#endif
