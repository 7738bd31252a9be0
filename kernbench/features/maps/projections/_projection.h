/* From arguments t = <w, x> to features, row by row while they are in cache.
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
    KB_STEP,        /* [t > 0], and 1/2 at 0 */
    KB_RAMP,        /* max(t, 0) */
    KB_SQUARE_RAMP, /* max(t, 0)^2 */
    KB_IDENTITY     /* t */
};

#define KB_BODY "_projection_body.h"
#include "_pairs_of_types.h"

#endif
