/* Loops over one tile of a kernel matrix, in both precisions.
 *
 * _tiles_body.h is included twice: KB_T is the element type, KB_NAME(f) names the function for it.
 */
#ifndef KB_TILES_H
#define KB_TILES_H

#include <stddef.h>
#include "_simd.h"

/* Queries that one sparse panel holds side by side: eight AVX2 registers of floats. */
#define KB_PANEL 64

#define KB_T float
#define KB_NAME(f) f##_float
#define KB_EXP kb_exp_float
#define KB_EXP_LOW KB_EXP_LOW_float
#include "_tiles_body.h"
#undef KB_T
#undef KB_NAME
#undef KB_EXP
#undef KB_EXP_LOW

#define KB_T double
#define KB_NAME(f) f##_double
#define KB_EXP kb_exp_double
#define KB_EXP_LOW KB_EXP_LOW_double
#include "_tiles_body.h"
#undef KB_T
#undef KB_NAME
#undef KB_EXP
#undef KB_EXP_LOW

#endif
