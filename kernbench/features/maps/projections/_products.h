/* Inner products of a row of features with coefficients, while the row is in cache; sums of floats are carried in
 * sixteen lanes, and lanes are added in double. */
#ifndef KB_FEATURE_PRODUCTS_H
#define KB_FEATURE_PRODUCTS_H

#include <stddef.h>
#include "_simd.h"

#define KB_LANES 16

/* out[c] += <z, A[c]> for n_outputs rows of A that are `leading` numbers apart. */
#define KB_ADD_DOTS(name, type)                                                                                \
    KB_CLONES KB_UNUSED static void name(const type *KB_RESTRICT z, ptrdiff_t n, const type *KB_RESTRICT A,    \
                                         ptrdiff_t leading, ptrdiff_t n_outputs, double *KB_RESTRICT out)      \
    {                                                                                                          \
        for (ptrdiff_t c = 0; c < n_outputs; c++) {                                                            \
            const type *KB_RESTRICT a = A + c * leading;                                                       \
            type lanes[KB_LANES] = {0};                                                                        \
            double sum = 0.0;                                                                                  \
            ptrdiff_t j = 0;                                                                                   \
            for (; j + KB_LANES <= n; j += KB_LANES)                                                           \
                for (int l = 0; l < KB_LANES; l++)                                                             \
                    lanes[l] += z[j + l] * a[j + l];                                                           \
            for (; j < n; j++)                                                                                 \
                sum += (double)(z[j] * a[j]);                                                                  \
            for (int l = 0; l < KB_LANES; l++)                                                                 \
                sum += (double)lanes[l];                                                                       \
            out[c] += sum;                                                                                     \
        }                                                                                                      \
    }

KB_ADD_DOTS(kb_add_dots_float, float)
KB_ADD_DOTS(kb_add_dots_double, double)

#endif
