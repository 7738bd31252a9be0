/* Losses of z = y f(x) - t: of a margin (t = 0), or of a residual (y = 1, t the target). `p` is a residual loss's parameter. */
#ifndef KERNBENCH_LOSS_H
#define KERNBENCH_LOSS_H

#include "_margin.h"
#include "_regression.h"

static inline double kb_loss_value(int loss, double p, double z)
{
    return loss < KB_SQUARED_ERROR ? kb_margin_value(loss, z) : kb_regression_value(loss, p, z);
}

static inline double kb_loss_slope(int loss, double p, double z)
{
    return loss < KB_SQUARED_ERROR ? kb_margin_slope(loss, z) : kb_regression_slope(loss, p, z);
}

static inline double kb_loss_dual_value(int loss, double p, double a)
{
    return loss < KB_SQUARED_ERROR ? kb_dual_value(loss, a) : kb_residual_dual_value(loss, p, a);
}

static inline double kb_loss_dual_coordinate(int loss, double p, double a, double z, double curvature)
{
    return loss < KB_SQUARED_ERROR ? kb_dual_coordinate(loss, a, z, curvature)
                                   : kb_residual_dual_coordinate(loss, p, a, z, curvature);
}

/* By how much z must change before the slope differs from 0; negative where it always does. */
static inline double kb_loss_room(int loss, double p, double z)
{
    if (loss == KB_EPSILON_INSENSITIVE)
        return p - fabs(z);
    return loss == KB_HINGE || loss == KB_SQUARED_HINGE ? z - 1.0 : -1.0;
}

#endif
