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

/*
 * The Moreau envelope l_mu(z) = min_u l(u) + (z - u)^2 / (2 mu) = max_a psi(a) - a z - mu/2 a^2, which is l itself for mu = 0:
 * its slope -a, and its second derivative at the z where the slope is -a (that of the side away from a kink). For mu = 0 the
 * loss must be smooth, and mu is 0 for the logistic loss.
 */
static inline double kb_envelope_slope(int loss, double p, double z, double mu)
{
    return loss == KB_LOG_LOSS ? kb_margin_slope(loss, z) : -kb_loss_dual_coordinate(loss, p, 0.0, z, mu);
}

static inline double kb_envelope_curvature(int loss, double p, double a, double mu)
{
    if (loss == KB_LOG_LOSS)
        return a * (1.0 - a);
    if (loss < KB_SQUARED_ERROR)
        return a > 0.0 && (loss == KB_SQUARED_HINGE || a < 1.0) ? 1.0 / (mu + (loss == KB_SQUARED_HINGE ? 0.5 : 0.0)) : 0.0;
    if (a <= kb_dual_lower(loss, p) || a >= kb_dual_upper(loss, p) || (a == 0.0 && kb_dual_zone(loss, p) > 0.0))
        return 0.0;
    return 1.0 / (kb_dual_bend(loss) + mu);
}

/* By how much z must change before the slope differs from 0; negative where it always does. */
static inline double kb_loss_room(int loss, double p, double z)
{
    if (loss >= KB_SQUARED_ERROR)
        return kb_dual_zone(loss, p) > 0.0 ? kb_dual_zone(loss, p) - fabs(z) : -1.0;
    return loss == KB_HINGE || loss == KB_SQUARED_HINGE ? z - 1.0 : -1.0;
}

#endif
