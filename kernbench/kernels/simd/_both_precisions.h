/* Includes the file named by KB_BODY twice, for float and for double. No guard: it is used once per body.
 *
 * KB_T is the element type, KB_INT and KB_UINT are the integers of its size, KB_NAME(f) names the function for it;
 * KB_EXP, KB_SQRT and KB_ABS are of that type.
 */
#include <float.h>
#include <math.h>
#ifndef KB_PASTE
#define KB_PASTE_EXPANDED(a, b) a##b
#define KB_PASTE(a, b) KB_PASTE_EXPANDED(a, b)
#endif

#define KB_T float
#define KB_INT int32_t
#define KB_UINT uint32_t
#define KB_NAME(f) KB_PASTE(f, _float)
#define KB_EXP kb_exp_float
#define KB_EXP_LOW KB_EXP_LOW_float
#define KB_SQRT sqrtf
#define KB_ABS fabsf
#define KB_LARGEST FLT_MAX
#define KB_TINY 1.2e-38f /* the smallest normal number, rounded up: added to a sum, it keeps 0/0 at 0 */
#define KB_IS_FLOAT 1
#include KB_BODY
#undef KB_T
#undef KB_INT
#undef KB_UINT
#undef KB_NAME
#undef KB_EXP
#undef KB_EXP_LOW
#undef KB_SQRT
#undef KB_ABS
#undef KB_LARGEST
#undef KB_TINY
#undef KB_IS_FLOAT

#define KB_T double
#define KB_INT int64_t
#define KB_UINT uint64_t
#define KB_NAME(f) KB_PASTE(f, _double)
#define KB_EXP kb_exp_double
#define KB_EXP_LOW KB_EXP_LOW_double
#define KB_SQRT sqrt
#define KB_ABS fabs
#define KB_LARGEST DBL_MAX
#define KB_TINY 2.3e-308
#define KB_IS_FLOAT 0
#include KB_BODY
#undef KB_T
#undef KB_INT
#undef KB_UINT
#undef KB_NAME
#undef KB_EXP
#undef KB_EXP_LOW
#undef KB_SQRT
#undef KB_ABS
#undef KB_LARGEST
#undef KB_TINY
#undef KB_IS_FLOAT
#undef KB_BODY
