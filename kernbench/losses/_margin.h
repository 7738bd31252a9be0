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
    last = 2.0 * (high - low);
    for (k = 0; k < 100; ++k) {
        s = kb_expit(z);
        g = z + margin + curvature * (s - a);
        if (g > 0.0)
            high = z;
        else
            low = z;
        step = -g / (1.0 + curvature * s * (1.0 - s));
        if (!(low < z + step && z + step < high) || 2.0 * fabs(step) > fabs(last))
            step = 0.5 * (low + high) - z;
        z += step;
        last = step;
        if (fabs(step) <= 1e-14 * (fabs(z) > 1.0 ? fabs(z) : 1.0))
            break;
    }
    return kb_expit(z);
}

/* psi'(a); for the logistic loss, whose psi has infinite slope at both ends, evaluated slightly inside. */
static inline double kb_inside(double a)
{
    return a < 1e-16 ? 1e-16 : a > 1.0 - 1e-16 ? 1.0 - 1e-16 : a;
}

static inline double kb_dual_slope(int loss, double a)
{
    if (loss == KB_HINGE)
        return 1.0;
    if (loss == KB_SQUARED_HINGE)
        return 1.0 - 0.5 * a;
    a = kb_inside(a);
    return log1p(-a) - log(a);
}

/* -psi''(a) */
static inline double kb_dual_curvature(int loss, double a)
{
    if (loss == KB_HINGE)
        return 0.0;
    if (loss == KB_SQUARED_HINGE)
        return 0.5;
    a = kb_inside(a);
    return 1.0 / (a * (1.0 - a));
}

/* One end of a pair step: a dual variable with its label and weight; its signed mass is y w a. */
typedef struct {
    double a, y, w;
} kb_dual_end;

/* How much the signed mass can grow (up) or shrink within the domain of psi, which ends at `upper`. */
static inline double kb_pair_room(kb_dual_end p, double upper, int up)
{
    return (p.y > 0.0) == (up != 0) ? (upper - p.a) * p.w : p.a * p.w;
}

/* The best step s: the signed mass of p grows by s and that of q shrinks by s; see dual_pair in margin.py. */
static inline double kb_dual_pair(int loss, kb_dual_end p, kb_dual_end q, double difference, double curvature)
{
    const double upper = loss == KB_SQUARED_HINGE ? INFINITY : 1.0;
    double low, high, s, x, z, slope, step, last, tiny;
    int k, near_an_end;
    low = -fmin(kb_pair_room(p, upper, 0), kb_pair_room(q, upper, 1));
    high = fmin(kb_pair_room(p, upper, 1), kb_pair_room(q, upper, 0));
    if (!(low < high))
        return 0.0;
    if (loss != KB_LOG_LOSS) {
        slope = p.y * kb_dual_slope(loss, p.a) - q.y * kb_dual_slope(loss, q.a) - difference;
        if (loss == KB_SQUARED_HINGE)
            curvature += 0.5 / p.w + 0.5 / q.w;
        if (curvature > 0.0)
            return fmin(fmax(slope / curvature, low), high);
        return slope > 0.0 ? high : slope < 0.0 ? low : 0.0;
    }
    near_an_end = fmin(fmin(p.a, q.a), fmin(1.0 - p.a, 1.0 - q.a)) < 1e-6;
    s = near_an_end || !(low < 0.0 && 0.0 < high) ? 0.5 * (low + high) : 0.0;
    tiny = 1e-14 * fmin(p.w, q.w);
    last = 2.0 * (high - low);
    for (k = 0; k < 100; ++k) {
        x = p.a + p.y * s / p.w;
        z = q.a - q.y * s / q.w;
        slope = p.y * kb_dual_slope(loss, x) - q.y * kb_dual_slope(loss, z) - difference - curvature * s;
        if (slope > 0.0)
            low = s;
        else
            high = s;
        step = slope / (curvature + kb_dual_curvature(loss, x) / p.w + kb_dual_curvature(loss, z) / q.w);
        if (!(low < s + step && s + step < high) || 2.0 * fabs(step) > fabs(last))
            step = 0.5 * (low + high) - s;
        s += step;
        last = step;
        if (fabs(step) <= tiny)
            break;
    }
    return s;
}

#endif
