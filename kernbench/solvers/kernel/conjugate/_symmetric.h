/* Products with a symmetric matrix: an entry above the diagonal is read once, for both of its places. */
#ifndef KERNBENCH_SYMMETRIC_H
#define KERNBENCH_SYMMETRIC_H

#include <stddef.h>
#include "_simd.h"

#ifdef KB_VECTORS
typedef double kb_four_doubles __attribute__((vector_size(32), aligned(8), may_alias));
#endif

#define KB_BODY "_symmetric_body.h"
#include "_both_precisions.h"

#endif
