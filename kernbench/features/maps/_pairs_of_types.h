/* Includes the file named by KB_BODY for each pair of types of arguments and features. No guard: used once per body.
 *
 * KB_T is the type of arguments and KB_OUT that of features: both float or both double, or double and float, as for
 * heavy-tailed frequencies, whose arguments float cannot hold. KB_TYPED(f) names functions of KB_T, KB_NAME(f) those of
 * the pair.
 */
#define KB_T float
#define KB_OUT float
#define KB_TYPED(f) f##_float
#define KB_NAME(f) f##_float_float
#include KB_BODY
#undef KB_T
#undef KB_TYPED
#undef KB_NAME

#define KB_T double
#define KB_TYPED(f) f##_double
#define KB_NAME(f) f##_double_float
#include KB_BODY
#undef KB_OUT
#undef KB_NAME

#define KB_OUT double
#define KB_NAME(f) f##_double_double
#include KB_BODY
#undef KB_T
#undef KB_OUT
#undef KB_TYPED
#undef KB_NAME
#undef KB_BODY
