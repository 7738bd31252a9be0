/* From inner products and coordinatewise sums to kernel values, one row of a tile at a time.
 *
 * A row of inner products comes with a term `a` of the query and a term `b[j]` for each column (`row_terms` of the
 * kernel): squared norms for kernels of the distance, lengths for the arc-cosine kernel. Kernels with a singularity
 * where two rows coincide need more digits there than inner products give: see `near_row`.
 */
#ifndef KB_MAPS_H
#define KB_MAPS_H

#include <math.h>
#include <stddef.h>
#include "_routines.h"
#include "_simd.h"
#include "_vector_math.h"

/* Squared distances below this share of |x|^2 + |z|^2 (and unit rows whose |cosine| is above one minus it) are
 * recomputed from differences: the error of kernel values is then at most some twenty roundings, for rows of any
 * length, besides what the rounding of the rows, centred and divided by the unit, changes: up to some |x| roundings. */
#define KB_NEAR 0.05

/* The table of a Matern kernel: 2^bits intervals per binade of the squared distance, terms per interval, and a squared
 * distance at which every allowed order has underflowed. matern_table.py fills it. */
#define KB_MATERN_BITS 4
#define KB_MATERN_TERMS_float 5
#define KB_MATERN_TERMS_double 8
#define KB_MATERN_LARGEST 33554432.0

#define KB_BODY "_maps_body.h"
#include "_both_precisions.h"

#endif
