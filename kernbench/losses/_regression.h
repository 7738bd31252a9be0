/* Losses of a residual, their slopes and their steps of dual coordinate ascent: regression.py in C, formula for formula. */
#ifndef KERNBENCH_REGRESSION_H
#define KERNBENCH_REGRESSION_H

#include <math.h>

enum kb_regression_loss { /* 0, 1 and 2 are the losses of a margin; 3, 9 and 10 others of an output */
    KB_SQUARED_ERROR = 4,
    KB_HUBER,
    KB_EPSILON_INSENSITIVE,
    KB_ABSOLUTE_ERROR,
    KB_QUANTILE,
    KB_SQUARED_EPSILON_INSENSITIVE = 11
};

/* delta, epsilon and the quantile where a loss is given by its name alone */
static inline double kb_regression_default(int loss)
{
    if (loss == KB_EPSILON_INSENSITIVE || loss == KB_SQUARED_EPSILON_INSENSITIVE)
        return 0.1;
    return loss == KB_HUBER ? 1.0 : loss == KB_QUANTILE ? 0.5 : 0.0;
}

/* l(r); `p` is delta, epsilon or the quantile. */
static inline double kb_regression_value(int loss, double p, double r)
{
    const double size = fabs(r);
    switch (loss) {
    case KB_SQUARED_ERROR:
        return 0.5 * r * r;
    case KB_HUBER:
        return size <= p ? 0.5 * r * r : p * (size - 0.5 * p);
    case KB_EPSILON_INSENSITIVE:
        return size > p ? size - p : 0.0;
    case KB_SQUARED_EPSILON_INSENSITIVE:
        return size > p ? (size - p) * (size - p) : 0.0;
    case KB_ABSOLUTE_ERROR:
        return size;
    default:
        return r < 0.0 ? -p * r : (1.0 - p) * r;
    }
}

static inline double kb_regression_slope(int loss, double p, double r)
{
    switch (loss) {
    case KB_SQUARED_ERROR:
        return r;
    case KB_HUBER:
        return r > p ? p : r < -p ? -p : r;
    case KB_EPSILON_INSENSITIVE:
        return r > p ? 1.0 : r < -p ? -1.0 : 0.0;
    case KB_SQUARED_EPSILON_INSENSITIVE:
        return 2.0 * (r > p ? r - p : r < -p ? r + p : 0.0);
    case KB_ABSOLUTE_ERROR:
        return r > 0.0 ? 1.0 : r < 0.0 ? -1.0 : 0.0;
    default:
        return r >= 0.0 ? 1.0 - p : -p;
    }
}

/* psi(a) = -zone |a| - bend/2 a^2 on [lower, upper] */
static inline double kb_dual_zone(int loss, double p)
{
    return loss == KB_EPSILON_INSENSITIVE || loss == KB_SQUARED_EPSILON_INSENSITIVE ? p : 0.0;
}

static inline double kb_dual_bend(int loss)
{
    if (loss == KB_SQUARED_EPSILON_INSENSITIVE)
        return 0.5;
    return loss == KB_SQUARED_ERROR || loss == KB_HUBER ? 1.0 : 0.0;
}

static inline double kb_dual_upper(int loss, double p)
{
    if (loss == KB_SQUARED_ERROR || loss == KB_SQUARED_EPSILON_INSENSITIVE)
        return INFINITY;
    return loss == KB_HUBER || loss == KB_QUANTILE ? p : 1.0;
}

static inline double kb_dual_lower(int loss, double p)
{
    return loss == KB_QUANTILE ? p - 1.0 : -kb_dual_upper(loss, p);
}

static inline double kb_residual_dual_value(int loss, double p, double a)
{
    return -kb_dual_zone(loss, p) * fabs(a) - 0.5 * kb_dual_bend(loss) * a * a;
}

/* The derivative of a r - psi(a) to the right of a, and to its left; infinite at the ends of the domain. */
static inline double kb_residual_right(int loss, double p, double a, double r)
{
    const double zone = kb_dual_zone(loss, p);
    return a >= kb_dual_upper(loss, p) ? INFINITY : r + kb_dual_bend(loss) * a + (a >= 0.0 ? zone : -zone);
}

static inline double kb_residual_left(int loss, double p, double a, double r)
{
    const double zone = kb_dual_zone(loss, p);
    return a <= kb_dual_lower(loss, p) ? -INFINITY : r + kb_dual_bend(loss) * a + (a > 0.0 ? zone : -zone);
}

/* The a' that maximises psi(a') - r (a' - a) - curvature/2 (a' - a)^2. */
static inline double kb_residual_dual_coordinate(int loss, double p, double a, double r, double curvature)
{
    const double zone = kb_dual_zone(loss, p), bend = kb_dual_bend(loss);
    const double lower = kb_dual_lower(loss, p), upper = kb_dual_upper(loss, p), total = bend + curvature;
    double u, size;
    if (!(total > 0.0))
        return r < -zone ? upper : r > zone ? lower : 0.0;
    u = a - (r + bend * a) / total;
    size = fabs(u) - zone / total;
    u = size > 0.0 ? (u < 0.0 ? -size : size) : 0.0;
    return u < lower ? lower : u > upper ? upper : u;
}

#endif
