/* Fastfood arguments, KB_LANES rows of data at a time: lanes lie side by side, so that every step of the transform,
 * and the permutation too, works on whole vectors. */
#ifndef KB_FASTFOOD_H
#define KB_FASTFOOD_H

#include <stddef.h>
#include "_simd.h"

#define KB_LANES 16

#define KB_BODY "_fastfood_body.h"
#include "_both_precisions.h"

#endif
