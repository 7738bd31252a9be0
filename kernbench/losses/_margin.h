/* Losses of a margin, their slopes and their steps of dual coordinate ascent: margin.py in C, formula for formula. */
#ifndef KERNBENCH_MARGIN_H
#define KERNBENCH_MARGIN_H

#include <math.h>

enum kb_margin_loss { KB_HINGE = 0, KB_SQUARED_HINGE = 1, KB_LOG_LOSS = 2 };

/* 1 / (1 + exp(-z)) without overflow. */
static inline double kb_expit(double z)
{
    double e;
    if (z >= 0.0)
        return 1.0 / (1.0 + exp(-z));
    e = exp(z);
    return e / (1.0 + e);
}

static inline double kb_margin_value(int loss, double margin)
{
    double room = 1.0 - margin;
    if (loss == KB_LOG_LOSS)
        return margin > 0.0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin;
    if (!(room > 0.0))
        return 0.0;
    return loss == KB_HINGE ? room : room * room;
}

static inline double kb_margin_slope(int loss, double margin)
{
    double room = 1.0 - margin;
    if (loss == KB_LOG_LOSS)
        return -kb_expit(-margin);
    if (!(room > 0.0))
        return 0.0;
    return loss == KB_HINGE ? -1.0 : -2.0 * room;
}

/* psi(a) = -l*(-a), for a in its domain. */
static inline double kb_dual_value(int loss, double a)
{
    if (loss == KB_HINGE)
        return a;
    if (loss == KB_SQUARED_HINGE)
        return a - 0.25 * a * a;
    return (a > 0.0 ? -a * log(a) : 0.0) + (a < 1.0 ? -(1.0 - a) * log1p(-a) : 0.0);
}

/* The a' that maximises psi(a') - margin (a' - a) - curvature/2 (a' - a)^2. */
static inline double kb_dual_coordinate(int loss, double a, double margin, double curvature)
{
    double z, pull, low, high, s, g, step, last;
    int k;
    if (loss == KB_HINGE) {
        if (!(curvature > 0.0))
            return margin < 1.0 ? 1.0 : margin > 1.0 ? 0.0 : a;
        a += (1.0 - margin) / curvature;
        return a < 0.0 ? 0.0 : a > 1.0 ? 1.0 : a;
    }
    if (loss == KB_SQUARED_HINGE) {
        a += (1.0 - 0.5 * a - margin) / (curvature + 0.5);
        return a < 0.0 ? 0.0 : a;
    }
    /* Newton on g(z) = z + margin + curvature (s(z) - a) = 0, bracketed; see margin.py. */
    z = -margin;
    pull = curvature * (a - kb_expit(z));
    low = pull < 0.0 ? z + pull : z;
    high = pull < 0.0 ? z : z + pull;
    last = high - low;
    for (k = 0; k < 100; ++k) {
        s = kb_expit(z);
        g = z + margin + curvature * (s - a);
        if (g > 0.0)
            high = z;
        else
            low = z;
        step = g / (1.0 + curvature * s * (1.0 - s));
        if (!(z - step >= low && z - step <= high) || fabs(step) > 0.5 * last)
            step = z - 0.5 * (low + high);
        z -= step;
        last = fabs(step);
        if (last <= 1e-14 * (fabs(z) > 1.0 ? fabs(z) : 1.0))
            break;
    }
    return kb_expit(z);
}

#endif
