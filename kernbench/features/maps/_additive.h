/* Features of additive homogeneous kernels on histograms, row by row; see _additive_body.h. */
#ifndef KB_ADDITIVE_H
#define KB_ADDITIVE_H

#include <math.h>
#include <stddef.h>
#include "_vector_math.h"

#define KB_BODY "_additive_body.h"
#include "_pairs_of_types.h"

#endif
