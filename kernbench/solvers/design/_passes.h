/* Products with the rows of a data matrix, in both precisions of storage; all sums are double.
 */
#ifndef KB_PASSES_H
#define KB_PASSES_H

#include <stddef.h>
#include "_simd.h"

#define KB_BODY "_passes_body.h"
#include "_both_precisions.h"

#endif
