/* One precision of the coordinatewise sums; see _coordinates.h. Included twice, so no guard.
 *
 * Each routine defines
 *   KB_ROUTINE                         its name
 *   KB_STREAMS                      numbers held for one entry: x, or x and y
 *   KB_START, KB_JOIN               0 and += for a sum over the features, 1 and *= for a product
 *   KB_STEP(sum, x, y, u, v)        one feature: x (and y) of one row, u (and v) of the other
 * and, where a zero entry of the first row contributes the same as in the value of a row of zeros,
 *   KB_SWEEP_STEP(sum, x, y, u, v)  one stored entry x, y against the queries' entries u, v
 *   KB_SWEEP_BASE(base)             what is added to the sums; base is a number for each query, its `row_terms`
 */

/* log2(1 + r) = u p(u^2) with u = r / (2 + r), that is 2 atanh(u) / ln 2; |u| <= 1/3.
 * Near-minimax polynomials: relative error 2.2e-8 (float) and 8e-17 (double), with coefficients rounded to the type. */
KB_INLINE KB_T KB_NAME(kb_log2_1p)(KB_T u)
{
    const KB_T w = u * u;
#if KB_IS_FLOAT
    KB_T p = 0.40623087f;
    p = p * w + 0.40345194f;
    p = p * w + 0.57743285f;
    p = p * w + 0.96179172f;
    p = p * w + 2.88539009f;
#else
    KB_T p = 0.25652219795151532;
    p = p * w + 0.14254965360722935;
    p = p * w + 0.19608109023253079;
    p = p * w + 0.22165099534099511;
    p = p * w + 0.26232321663322999;
    p = p * w + 0.32059844553352324;
    p = p * w + 0.41219859090498345;
    p = p * w + 0.5770780162875998;
    p = p * w + 0.96179669392620515;
    p = p * w + 2.8853900817779268;
#endif
    return u * p;
}

/* (x - z)^2, for rows so far apart that |x|^2 + |z|^2 - 2 <x, z> would be rounding errors alone. */
#define KB_ROUTINE gaussian_of_differences
#define KB_STREAMS 1
#define KB_START 0
#define KB_JOIN +=
#define KB_STEP(sum, x, y, u, v) sum += ((u) - (x)) * ((u) - (x))
#include "_coordinates_loop.h"

/* |x - z|. Against zeros a query has |x|_1. */
#define KB_ROUTINE laplacian
#define KB_STREAMS 1
#define KB_START 0
#define KB_JOIN +=
#define KB_STEP(sum, x, y, u, v) sum += KB_ABS((u) - (x))
#define KB_SWEEP_STEP(sum, x, y, u, v) sum += KB_ABS((u) - (x)) - KB_ABS(u)
#define KB_SWEEP_BASE(base) (base)
#include "_coordinates_loop.h"

/* prod 1 + (x - z)^2; a product that overflows correctly gives the kernel value 0. */
#define KB_ROUTINE cauchy
#define KB_STREAMS 1
#define KB_START 1
#define KB_JOIN *=
#define KB_STEP(sum, x, y, u, v) sum *= 1 + ((u) - (x)) * ((u) - (x))
#include "_coordinates_loop.h"

/* prod cosh(2 (s - t)) with x, y = 2^(-1/4) exp(+-s) and u, v = 2^(-1/4) exp(+-t): cosh(2 (s - t)) = 1 + (x v - y u)^2,
 * which is 1 for equal entries, to the last digit. */
#define KB_ROUTINE sech
#define KB_STREAMS 2
#define KB_START 1
#define KB_JOIN *=
#define KB_STEP(sum, x, y, u, v) sum *= 1 + ((x) * (v) - (y) * (u)) * ((x) * (v) - (y) * (u))
#include "_coordinates_loop.h"

/* prod 1 + x + z */
#define KB_ROUTINE reciprocal_semigroup
#define KB_STREAMS 1
#define KB_START 1
#define KB_JOIN *=
#define KB_STEP(sum, x, y, u, v) sum *= (1 + (x)) + (u)
#include "_coordinates_loop.h"

/* sum sqrt(x + z) */
#define KB_ROUTINE exponential_semigroup
#define KB_STREAMS 1
#define KB_START 0
#define KB_JOIN +=
#define KB_STEP(sum, x, y, u, v) sum += KB_SQRT((x) + (u))
#include "_coordinates_loop.h"

/* x z / (x + z), with 0/0 = 0; the quotient first, which neither overflows nor underflows. */
#define KB_ROUTINE chi_squared
#define KB_STREAMS 1
#define KB_START 0
#define KB_JOIN +=
#define KB_STEP(sum, x, y, u, v) sum += (x) * ((u) / (((x) + KB_TINY) + (u)))
#define KB_SWEEP_STEP KB_STEP
#define KB_SWEEP_BASE(base) 0
#include "_coordinates_loop.h"

/* (x - z)^2 / (x + z), with 0/0 = 0. Against zeros a query has sum x. */
#define KB_ROUTINE exponential_chi_squared
#define KB_STREAMS 1
#define KB_START 0
#define KB_JOIN +=
#define KB_STEP(sum, x, y, u, v) sum += ((u) - (x)) * (((u) - (x)) / (((x) + KB_TINY) + (u)))
#define KB_SWEEP_STEP(sum, x, y, u, v) sum += ((u) - (x)) * (((u) - (x)) / (((x) + KB_TINY) + (u))) - (u)
#define KB_SWEEP_BASE(base) (base)
#include "_coordinates_loop.h"

/* min(x, z) */
#define KB_ROUTINE intersection
#define KB_STREAMS 1
#define KB_START 0
#define KB_JOIN +=
#define KB_STEP(sum, x, y, u, v) sum += (u) < (x) ? (u) : (x)
#define KB_SWEEP_STEP KB_STEP
#define KB_SWEEP_BASE(base) 0
#include "_coordinates_loop.h"

/* x log2(1 + z/x) + z log2(1 + x/z) = (x + z) log2(1 + r) + m |log2 x - log2 z|, m the smaller of the two and r their
 * ratio: one division and one polynomial in m / (2 (x + z) - m), and nothing cancels. y, v are the logarithms. */
#define KB_ROUTINE jensen_shannon
#define KB_STREAMS 2
#define KB_START 0
#define KB_JOIN +=
#define KB_STEP(sum, x, y, u, v)                                                                                   \
    {                                                                                                              \
        const KB_T both = (x) + (u), smaller = (u) < (x) ? (u) : (x);                                              \
        sum += both * KB_NAME(kb_log2_1p)(smaller / ((both - smaller) + (both + KB_TINY)));                        \
        sum += smaller * KB_ABS((y) - (v));                                                                        \
    }
#define KB_SWEEP_STEP KB_STEP
#define KB_SWEEP_BASE(base) 0
#include "_coordinates_loop.h"

/* out[q][0:width] (+)= the sums over `n_features` features of m queries against one strip; `first` starts them. */
static KB_UNUSED void KB_NAME(coordinates_strip)(enum kb_routine routine, const KB_T *x, ptrdiff_t row_length, ptrdiff_t m,
                                           const KB_T *strip, ptrdiff_t n_features, int first, ptrdiff_t width,
                                           KB_T **rows, ptrdiff_t offset)
{
#define KB_CASE(CASE, routine_name)                                                                                   \
    case CASE:                                                                                                     \
        KB_NAME(routine_name##_strip)(x, row_length, m, strip, n_features, first, width, rows, offset);               \
        break;
    switch (routine) {
        KB_CASE(KB_GAUSSIAN_OF_DIFFERENCES, gaussian_of_differences)
        KB_CASE(KB_LAPLACIAN, laplacian)
        KB_CASE(KB_CAUCHY, cauchy)
        KB_CASE(KB_SECH, sech)
        KB_CASE(KB_RECIPROCAL_SEMIGROUP, reciprocal_semigroup)
        KB_CASE(KB_EXPONENTIAL_SEMIGROUP, exponential_semigroup)
        KB_CASE(KB_CHI_SQUARED, chi_squared)
        KB_CASE(KB_EXPONENTIAL_CHI_SQUARED, exponential_chi_squared)
        KB_CASE(KB_INTERSECTION, intersection)
        KB_CASE(KB_JENSEN_SHANNON, jensen_shannon)
    default:
        break;
    }
#undef KB_CASE
}

/* out[r][q]: the same for the stored entries of CSR rows against a panel of KB_PANEL queries. */
static KB_UNUSED void KB_NAME(coordinates_sweep)(enum kb_routine routine, const KB_T *values, const int32_t *columns,
                                           const int64_t *starts, ptrdiff_t n_rows, const KB_T *panel,
                                           const KB_T *base, KB_T *out)
{
#define KB_CASE(CASE, routine_name)                                                                                   \
    case CASE:                                                                                                     \
        KB_NAME(routine_name##_sweep)(values, columns, starts, n_rows, panel, base, out);                             \
        break;
    switch (routine) {
        KB_CASE(KB_LAPLACIAN, laplacian)
        KB_CASE(KB_CHI_SQUARED, chi_squared)
        KB_CASE(KB_EXPONENTIAL_CHI_SQUARED, exponential_chi_squared)
        KB_CASE(KB_INTERSECTION, intersection)
        KB_CASE(KB_JENSEN_SHANNON, jensen_shannon)
    default:
        break;
    }
#undef KB_CASE
}
