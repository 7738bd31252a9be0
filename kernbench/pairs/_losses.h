/* Lists of losses: values, slopes and curvatures, and shares of the highest of them. Codes are those of losses/. */
#ifndef KB_LOSSES_H
#define KB_LOSSES_H

#include "_margin.h"
#include "_regression.h"
#include "_vector_math.h"

/* log(1 + e) for 0 <= e <= 1, small ones too (Kahan). */
KB_INLINE double kb_log1p_of_exp(double e)
{
    const double u = 1.0 + e;
    return u == 1.0 ? e : kb_log_normal_double(u) * (e / (u - 1.0));
}

/* Losses of y and s. `key` rises with the loss and is exact: minus the margin, or the size of the residual. */
KB_CLONES KB_UNUSED static void kb_list_losses(int loss, const double *y, const double *s, ptrdiff_t n, double *key,
                                               double *value, double *slope)
{
    if (loss == KB_LOG_LOSS) {
        for (ptrdiff_t i = 0; i < n; i++) {
            const double m = y[i] * s[i], size = m < 0.0 ? -m : m, low = size > 708.0 ? -708.0 : -size;
            const double e = kb_exp_double(low);
            key[i] = -m;
            value[i] = kb_log1p_of_exp(e) + (m < 0.0 ? -m : 0.0);
            slope[i] = -y[i] * (m < 0.0 ? 1.0 : e) / (1.0 + e);
        }
    } else if (loss < KB_SQUARED_ERROR) {
        for (ptrdiff_t i = 0; i < n; i++) {
            const double m = y[i] * s[i], room = m < 1.0 ? 1.0 - m : 0.0;
            key[i] = -m;
            value[i] = loss == KB_HINGE ? room : room * room;
            slope[i] = -y[i] * (loss == KB_HINGE ? (room > 0.0 ? 1.0 : 0.0) : 2.0 * room);
        }
    } else {
        const double p = kb_regression_default(loss);
        for (ptrdiff_t i = 0; i < n; i++) {
            const double r = s[i] - y[i];
            key[i] = r < 0.0 ? -r : r;
            value[i] = kb_regression_value(loss, p, r);
            slope[i] = kb_regression_slope(loss, p, r);
        }
    }
}

/* The second derivatives; 0 at the kinks of the slope. */
KB_UNUSED static double kb_curvature(int loss, double key, double slope)
{
    const double p = slope < 0.0 ? -slope : slope;
    if (loss == KB_LOG_LOSS)
        return p * (1.0 - p);
    if (loss == KB_SQUARED_HINGE)
        return p > 0.0 ? 2.0 : 0.0;
    if (loss == KB_HUBER)
        return key <= 1.0 ? 1.0 : 0.0;
    return loss == KB_SQUARED_ERROR ? 1.0 : 0.0;
}

/* The share of each key among those beyond a threshold and, by index, of `rest` of the weight of those equal to it. */
KB_CLONES KB_UNUSED static void kb_shares(const double *key, const double *w, ptrdiff_t n, double threshold,
                                          double rest, double *share)
{
    if (w)
        for (ptrdiff_t i = 0; i < n; i++)
            share[i] = key[i] > threshold ? w[i] : 0.0;
    else
        for (ptrdiff_t i = 0; i < n; i++)
            share[i] = key[i] > threshold ? 1.0 : 0.0;
    for (ptrdiff_t i = 0; i < n && rest > 0.0; i++) {
        if (key[i] == threshold) {
            const double weight = w ? w[i] : 1.0;
            share[i] = weight < rest ? weight : rest;
            rest -= share[i];
        }
    }
}

/* The sum of x y, in parts of fixed length. */
KB_CLONES KB_UNUSED static double kb_dot_product(const double *x, const double *y, ptrdiff_t n)
{
    enum { LANES = 8, PART = 1024 };
    double total = 0.0;
    for (ptrdiff_t begin = 0; begin < n; begin += PART) {
        const ptrdiff_t end = n - begin < PART ? n : begin + PART;
        double sums[LANES] = {0.0};
        ptrdiff_t i = begin;
        for (; i + LANES <= end; i += LANES)
            for (int l = 0; l < LANES; l++)
                sums[l] += x[i + l] * y[i + l];
        for (; i < end; i++)
            sums[0] += x[i] * y[i];
        for (int l = 1; l < LANES; l++)
            sums[0] += sums[l];
        total += sums[0];
    }
    return total;
}

#endif
