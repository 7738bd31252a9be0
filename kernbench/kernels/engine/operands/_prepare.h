/* Preparation of one row in one pass: centred and scaled in double, rounded, and its squared norm. */
#ifndef KB_PREPARE_H
#define KB_PREPARE_H

#include <stddef.h>
#include "_simd.h"

/* out_j = (x_j - centre_j) / unit, rounded to OUT; returns the sum of out_j^2 in double, in eight chains of sums. */
#define KB_PREPARE(name, IN, OUT)                                                                                      \
    KB_CLONES KB_UNUSED static double name(const IN *KB_RESTRICT x, const double *KB_RESTRICT centre, double unit,     \
                                           ptrdiff_t d, OUT *KB_RESTRICT out)                                          \
    {                                                                                                                  \
        double sums[8] = {0};                                                                                          \
        ptrdiff_t j = 0;                                                                                               \
        for (; j + 8 <= d; j += 8)                                                                                     \
            for (int l = 0; l < 8; l++) {                                                                              \
                const OUT v = (OUT)(((double)x[j + l] - centre[j + l]) / unit);                                        \
                out[j + l] = v;                                                                                        \
                sums[l] += (double)v * (double)v;                                                                      \
            }                                                                                                          \
        double total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));      \
        for (; j < d; j++) {                                                                                           \
            const OUT v = (OUT)(((double)x[j] - centre[j]) / unit);                                                    \
            out[j] = v;                                                                                                \
            total += (double)v * (double)v;                                                                            \
        }                                                                                                              \
        return total;                                                                                                  \
    }

KB_PREPARE(prepare_float_float, float, float)
KB_PREPARE(prepare_float_double, float, double)
KB_PREPARE(prepare_double_float, double, float)
KB_PREPARE(prepare_double_double, double, double)
#undef KB_PREPARE

#endif
