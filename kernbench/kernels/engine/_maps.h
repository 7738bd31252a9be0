/* From inner products and coordinatewise sums to kernel values, one row of a tile at a time.
 *
 * A row of inner products comes with a term `a` of the query and a term `b[j]` for each column (`row_terms` of the
 * kernel): squared norms for kernels of the distance, lengths for the arc-cosine kernel. Kernels with a singularity
 * where two rows meet need more digits there than inner products have: see `near_row`.
 */
#ifndef KB_MAPS_H
#define KB_MAPS_H

#include <math.h>
#include <stddef.h>
#include "_routines.h"
#include "_simd.h"
#include "_vector_math.h"

/* Distances below this share of |x|^2 + |z|^2 (and unit rows whose |cosine| is above one minus it) are computed again,
 * from differences: the rounding of kernel values is then at most some five times that of the inner products. */
#define KB_NEAR 0.05

#define KB_BODY "_maps_body.h"
#include "_both_precisions.h"

#endif
