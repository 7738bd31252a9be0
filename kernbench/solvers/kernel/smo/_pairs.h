/* The two passes of a two-coordinate step of SMO over a working set, in both precisions of the kernel rows.
 *
 * Coordinates that may not grow (beta at its upper bound) have the penalty -inf in `up`, those that may not shrink +inf
 * in `low`, so the searches need no branches. Best values are kept per lane, in vectors of four doubles; ties go to the
 * smallest index, as in a plain loop. Arrays are padded by KB_PAD readable entries that can never be chosen (penalties
 * of both signs), so there are no loop tails.
 */
#ifndef KB_PAIRS_H
#define KB_PAIRS_H

#include <math.h>
#include <stddef.h>
#include "_simd.h"

#define KB_PAD 8 /* lengths are multiples of this */

#ifdef KB_VECTORS
typedef double kb_d4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t kb_m4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef float kb_f4 __attribute__((vector_size(16), aligned(4), may_alias));

KB_INLINE kb_d4 kb_select(kb_m4 mask, kb_d4 yes, kb_d4 no)
{
    return (kb_d4)(((kb_m4)yes & mask) | ((kb_m4)no & ~mask));
}
KB_INLINE kb_d4 kb_spread(double x)
{
    return (kb_d4){x, x, x, x};
}
KB_INLINE kb_d4 kb_load_float(const float *p)
{
    return __builtin_convertvector(*(const kb_f4 *)p, kb_d4);
}
KB_INLINE kb_d4 kb_load_double(const double *p)
{
    return *(const kb_d4 *)p;
}
KB_INLINE void kb_store(double *p, kb_d4 x)
{
    *(kb_d4 *)p = x;
}
#else
#error "kernbench needs a compiler with vector extensions (GCC or clang)"
#endif

/* The best value over all lanes and its index. */
KB_INLINE ptrdiff_t kb_best_lane(kb_d4 best, kb_d4 where, kb_d4 best2, kb_d4 where2, double *value)
{
    int winner = 0;
    double b[8], w[8];
    for (int l = 0; l < 4; l++) {
        b[l] = best[l];
        w[l] = where[l];
        b[l + 4] = best2[l];
        w[l + 4] = where2[l];
    }
    for (int l = 1; l < 8; l++)
        if (b[l] > b[winner] || (b[l] == b[winner] && w[l] < w[winner]))
            winner = l;
    *value = b[winner];
    return (ptrdiff_t)w[winner];
}

#define KB_BODY "_pairs_body.h"
#include "_both_precisions.h"

#endif
