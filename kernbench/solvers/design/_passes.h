/* Products with the rows of a data matrix, in both precisions of storage; all sums are double.
 *
 * _passes_body.h is included twice: KB_T is the element type, KB_NAME(f) names the function for it.
 */
#ifndef KB_PASSES_H
#define KB_PASSES_H

#include <stddef.h>
#include "_simd.h"

#define KB_T float
#define KB_NAME(f) f##_float
#include "_passes_body.h"
#undef KB_T
#undef KB_NAME

#define KB_T double
#define KB_NAME(f) f##_double
#include "_passes_body.h"
#undef KB_T
#undef KB_NAME

#endif
