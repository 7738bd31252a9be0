/* The loop of dual coordinate ascent over the rows of an epoch: reference/linear/sdca.py in C.
 *
 * Its cost is the access to rows: they come in random order, and each would be a cache miss. The order is known, so
 * rows are prefetched a few steps ahead. The data of a row are contiguous, in one half of a cache line.
 *
 * _dual_steps_body.h is included twice: KB_T is the type of the stored data, KB_NAME(f) names the function for it.
 * w and all sums are double.
 */
#ifndef KB_DUAL_STEPS_H
#define KB_DUAL_STEPS_H

#include <stddef.h>
#include <math.h>
#include "_margin.h"
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
    double residual;                   /* sum of |push_i| (l(m_i) - psi(a_i) + a_i m_i) */
    long long n_updates;
} kb_epoch;

enum { KB_AHEAD = 8, KB_FAR_AHEAD = 16 }; /* rows; samples */

#define KB_STILL 1e-12 /* a gradient, or a step of the logistic loss, that is rounding */

#if defined(__GNUC__) || defined(__clang__)
#define KB_PREFETCH(address) __builtin_prefetch(address)
#else
#define KB_PREFETCH(address) ((void)0)
#endif

/* Prefetch the first cache lines of a row; the hardware prefetcher follows longer ones. */
KB_INLINE void kb_prefetch(const char *from, const char *to)
{
    const char *most = from + 8 * 64;
    for (to = to < most ? to : most; from < to; from += 64)
        KB_PREFETCH(from);
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
        projected = next - a; /* never at a bound: the step itself measures the distance */
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

#define KB_T float
#define KB_NAME(f) f##_float
#include "_dual_steps_body.h"
#undef KB_T
#undef KB_NAME

#define KB_T double
#define KB_NAME(f) f##_double
#include "_dual_steps_body.h"
#undef KB_T
#undef KB_NAME

/* sum_i |push_i| psi(a_i) */
KB_UNUSED static double kb_dual_sum(const kb_sample *samples, ptrdiff_t n, int loss)
{
    double total = 0.0;
    for (ptrdiff_t i = 0; i < n; i++)
        total += fabs(samples[i].push) * kb_dual_value(loss, samples[i].a);
    return total;
}

#endif
