/* Features of additive homogeneous kernels on histograms, row by row; see _additive_body.h. */
#ifndef KB_ADDITIVE_H
#define KB_ADDITIVE_H

#include <math.h>
#include <stddef.h>
#include "_vector_math.h"

#define KB_T float
#define KB_OUT float
#define KB_TYPED(f) f##_float
#define KB_NAME(f) f##_float_float
#include "_additive_body.h"
#undef KB_T
#undef KB_TYPED
#undef KB_NAME

#define KB_T double
#define KB_TYPED(f) f##_double
#define KB_NAME(f) f##_double_float
#include "_additive_body.h"
#undef KB_OUT
#undef KB_NAME

#define KB_OUT double
#define KB_NAME(f) f##_double_double
#include "_additive_body.h"
#undef KB_T
#undef KB_OUT
#undef KB_TYPED
#undef KB_NAME

#endif
