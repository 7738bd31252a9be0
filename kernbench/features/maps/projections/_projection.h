/* From arguments t = <w, x> to features, row by row while they are in cache.
 *
 * _projection_body.h is included for each pair of types: arguments and features both float or both double, and
 * arguments double with features float (heavy-tailed frequencies, whose arguments float cannot hold).
 */
#ifndef KB_PROJECTION_H
#define KB_PROJECTION_H

#include <math.h>
#include <stddef.h>
#include "_vector_math.h"

enum kb_finish {
    KB_COSINE,      /* sqrt(2) cos(t + b): the caller's scale holds the sqrt(2) */
    KB_PAIR,        /* cos t and sin t */
    KB_EXPONENTIAL, /* exp(-t) */
    KB_STEP,        /* [t > 0] */
    KB_RAMP,        /* max(t, 0) */
    KB_SQUARE_RAMP, /* max(t, 0)^2 */
    KB_IDENTITY     /* t */
};

#define KB_T float
#define KB_OUT float
#define KB_TYPED(f) f##_float
#define KB_NAME(f) f##_float_float
#include "_projection_body.h"
#undef KB_T
#undef KB_TYPED
#undef KB_NAME

#define KB_T double
#define KB_TYPED(f) f##_double
#define KB_NAME(f) f##_double_float
#include "_projection_body.h"
#undef KB_OUT
#undef KB_NAME

#define KB_OUT double
#define KB_NAME(f) f##_double_double
#include "_projection_body.h"
#undef KB_T
#undef KB_OUT
#undef KB_TYPED
#undef KB_NAME

#endif
