/* Losses of an output u and their slopes: output.py in C, formula for formula. */
#ifndef KERNBENCH_OUTPUT_H
#define KERNBENCH_OUTPUT_H

#include <math.h>
#include <stddef.h>
#include "_loss.h"

enum kb_output_loss {
    KB_OUTPUT_SOFTMAX = 3, /* 0, 1 and 2 are the losses of a margin, 4 to 8 and 11 those of a residual */
    KB_OUTPUT_NOVELTY = 9,
    KB_OUTPUT_DENSITY_RATIO,
    KB_OUTPUT_TRUNCATED_RATIO = 20 /* numbers from 12 on are those of further losses of a residual */
};

#define KB_OUTPUT_LARGEST_EXPONENT 30.0

/* l(u, y) of every loss but softmax; `p` is delta, epsilon, the quantile, tau or the floor. */
static inline double kb_output_value(int loss, double p, double u, double y)
{
    switch (loss) {
    case KB_OUTPUT_NOVELTY:
        return u < p ? p - u : 0.0;
    case KB_OUTPUT_DENSITY_RATIO:
        return y > 0.0 ? -u : exp(u < KB_OUTPUT_LARGEST_EXPONENT ? u : KB_OUTPUT_LARGEST_EXPONENT);
    case KB_OUTPUT_TRUNCATED_RATIO:
        if (y > 0.0)
            return u >= p ? -log(u) : 1.0 - log(p) - u / p;
        return u > 0.0 ? u : 0.0;
    default:
        return loss < KB_SQUARED_ERROR ? kb_margin_value(loss, y * u) : kb_regression_value(loss, p, u - y);
    }
}

/* dl/du of every loss but softmax. */
static inline double kb_output_slope(int loss, double p, double u, double y)
{
    switch (loss) {
    case KB_OUTPUT_NOVELTY:
        return u < p ? -1.0 : 0.0;
    case KB_OUTPUT_DENSITY_RATIO:
        return y > 0.0 ? -1.0 : exp(u < KB_OUTPUT_LARGEST_EXPONENT ? u : KB_OUTPUT_LARGEST_EXPONENT);
    case KB_OUTPUT_TRUNCATED_RATIO:
        if (y > 0.0)
            return -1.0 / (u >= p ? u : p);
        return u > 0.0 ? 1.0 : 0.0;
    default:
        return loss < KB_SQUARED_ERROR ? y * kb_margin_slope(loss, y * u) : kb_regression_slope(loss, p, u - y);
    }
}

/* Softmax of one example: slopes to g (may be u itself), returns log sum exp(u) - u[y]. */
static inline double kb_softmax(const double *u, ptrdiff_t n_outputs, ptrdiff_t y, double *g)
{
    double largest = u[0], sum = 0.0, value;
    for (ptrdiff_t c = 1; c < n_outputs; c++)
        if (u[c] > largest)
            largest = u[c];
    value = largest - u[y];
    for (ptrdiff_t c = 0; c < n_outputs; c++) {
        g[c] = exp(u[c] - largest);
        sum += g[c];
    }
    for (ptrdiff_t c = 0; c < n_outputs; c++)
        g[c] /= sum;
    g[y] -= 1.0;
    return value + log(sum);
}

#endif
