/* Losses of a residual and their slopes: regression.py in C, formula for formula. */
#ifndef KERNBENCH_REGRESSION_H
#define KERNBENCH_REGRESSION_H

#include <math.h>

enum kb_regression_loss { KB_SQUARED_ERROR = 3, KB_ABSOLUTE_ERROR = 4, KB_HUBER = 5, KB_EPSILON_INSENSITIVE = 6 };

#define KB_EPSILON 0.1

static inline double kb_regression_value(int loss, double residual)
{
    const double size = fabs(residual);
    if (loss == KB_SQUARED_ERROR || (loss == KB_HUBER && size <= 1.0))
        return 0.5 * residual * residual;
    if (loss == KB_ABSOLUTE_ERROR)
        return size;
    if (loss == KB_HUBER)
        return size - 0.5;
    return size > KB_EPSILON ? size - KB_EPSILON : 0.0;
}

static inline double kb_regression_slope(int loss, double residual)
{
    const double sign = (residual > 0.0) - (residual < 0.0);
    if (loss == KB_SQUARED_ERROR || (loss == KB_HUBER && fabs(residual) <= 1.0))
        return residual;
    if (loss == KB_EPSILON_INSENSITIVE && fabs(residual) <= KB_EPSILON)
        return 0.0;
    return sign;
}

#endif
