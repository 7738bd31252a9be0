/* The loop of dual coordinate ascent over the rows of an epoch: reference/linear/sdca.py in C.
 *
 * Its cost is the access to rows: they come in random order, and each would be a cache miss. The order is known, so
 * rows are prefetched a few steps ahead. The data of a row are contiguous, in one half of a cache line.
 *
 * w and all sums are double, whatever the type of the stored data.
 */
#ifndef KB_DUAL_STEPS_H
#define KB_DUAL_STEPS_H

#include <stddef.h>
#include <math.h>
#include "_loss.h"
#include "_simd.h"

typedef struct {
    double a;         /* the dual variable */
    double curvature; /* w_i |x_i|^2 / (alpha n) */
    double push;      /* w_i y_i / (alpha n): a step of a moves w by this multiple of x_i */
    int64_t start;    /* of the row among the stored values; the next one's start is its end */
} kb_sample;

typedef struct {
    ptrdiff_t active, position;        /* rows of this epoch, and how many are done */
    double upper, lower;               /* the largest and smallest projected gradient of the last epoch */
    double largest, smallest;          /* of this one */
    double residual;                   /* sum of |push_i| (l(z_i) - psi(a_i) + a_i z_i) */
    long long n_updates;
    double parameter;                  /* of a loss of residuals */
    const double *targets;             /* of these: z_i is the margin m_i minus the target, which is 0 for labels */
} kb_epoch;

enum { KB_AHEAD = 8, KB_FAR_AHEAD = 16 }; /* rows; samples */

#define KB_STILL 1e-12 /* a gradient, or a step of the logistic loss, that is rounding */

#if defined(__GNUC__) || defined(__clang__)
#define KB_PREFETCH(address) __builtin_prefetch(address)
#define KB_APART __attribute__((noinline, unused))
#else
#define KB_PREFETCH(address) ((void)0)
#define KB_APART
#endif

/* Prefetch the first cache lines of a row; the hardware prefetcher follows longer ones. */
KB_INLINE void kb_prefetch(const char *from, const char *to)
{
    const char *most = from + 8 * 64;
    for (to = to < most ? to : most; from < to; from += 64)
        KB_PREFETCH(from);
}

/* The same for a loss of residuals. The optimal a has a left slope of at most 0 and a right slope of at least 0. */
KB_INLINE double kb_residual_step(kb_sample *s, double r, int loss, int shrinking, kb_epoch *e, int *shrunk)
{
    const double p = e->parameter, a = s->a;
    const double left = kb_residual_left(loss, p, a, r), right = kb_residual_right(loss, p, a, r);
    const double projected = right < 0.0 ? right : left > 0.0 ? left : 0.0;
    e->residual += fabs(s->push) * (kb_regression_value(loss, p, r) - kb_residual_dual_value(loss, p, a) + a * r);
    *shrunk = shrinking && (right == INFINITY || right > e->upper) && (left == -INFINITY || left < e->lower);
    if (*shrunk)
        return 0.0;
    e->largest = projected > e->largest ? projected : e->largest;
    e->smallest = projected < e->smallest ? projected : e->smallest;
    if (fabs(projected) <= KB_STILL)
        return 0.0;
    s->a = kb_residual_dual_coordinate(loss, p, a, r, s->curvature);
    return s->a - a;
}

/* Given the margin of sample i, returns the step of a. *shrunk tells whether the sample is left out. */
KB_INLINE double kb_dual_step(kb_sample *s, double margin, int loss, int shrinking, kb_epoch *e, int *shrunk)
{
    const double a = s->a, room = 1.0 - margin, positive = room > 0.0 ? room : 0.0;
    double slope = -room, projected, next, residual;
    *shrunk = 0;
    if (loss == KB_LOG_LOSS)
        residual = kb_margin_value(loss, margin) - kb_dual_value(loss, a) + a * margin;
    else if (loss == KB_HINGE)
        residual = positive - a * room;
    else {
        residual = positive * positive - a * room + 0.25 * a * a;
        slope += 0.5 * a;
    }
    e->residual += fabs(s->push) * residual;
    if (loss == KB_LOG_LOSS) {
        next = kb_dual_coordinate(loss, a, margin, s->curvature);
        /* Never at a bound: the step itself measures the distance, or its effect on the margin where that is larger (on
         * rows of 1e6 the dual variables are tiny). */
        projected = (next - a) * fmax(1.0, s->curvature / fmax(1.0, fabs(margin)));
    } else if (a <= 0.0) {
        if (shrinking && slope > e->upper) {
            *shrunk = 1;
            return 0.0;
        }
        projected = slope < 0.0 ? slope : 0.0;
    } else if (loss == KB_HINGE && a >= 1.0) {
        if (shrinking && slope < e->lower) {
            *shrunk = 1;
            return 0.0;
        }
        projected = slope > 0.0 ? slope : 0.0;
    } else
        projected = slope;
    e->largest = projected > e->largest ? projected : e->largest;
    e->smallest = projected < e->smallest ? projected : e->smallest;
    if (fabs(projected) <= KB_STILL)
        return 0.0; /* held at a bound, or solved up to rounding */
    if (loss != KB_LOG_LOSS)
        next = kb_dual_coordinate(loss, a, margin, s->curvature);
    s->a = next;
    return next - a;
}

#define KB_BODY "_dual_steps_body.h"
#include "_both_precisions.h"

/* sum_i |push_i| (psi(a_i) + a_i t_i) */
KB_UNUSED static double kb_dual_sum(const kb_sample *samples, const double *targets, ptrdiff_t n, int loss, double p)
{
    double total = 0.0;
    for (ptrdiff_t i = 0; i < n; i++)
        total += fabs(samples[i].push) * (kb_loss_dual_value(loss, p, samples[i].a) + samples[i].a * targets[i]);
    return total;
}

#endif
