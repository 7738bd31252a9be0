/* Elementary functions that vectorise: exp, log, sin, cos, acos and tanh in both precisions.
 *
 * The functions of one number have no branches and call no library, so that a loop around them inside a KB_CLONES
 * function becomes vector code (GCC >= 12, the flags of setup.py). The functions of arrays, at the end, are such loops.
 *
 * Method: reduce the argument (exponent bits; Cody and Waite, "Software Manual for the Elementary Functions", 1980),
 * then a minimax polynomial for the relative error, its coefficients rounded one by one and the rest refitted.
 *
 * Relative error, the largest seen over every float32 and 2e7 float64 of all magnitudes next to all hard places:
 *
 *                             float32   float64   holds for
 *     kb_exp_wide             8.5e-8    1.6e-16   every x; a denormal result is within one unit of its last place
 *     kb_log                  8.3e-8    1.6e-16   every x
 *     kb_sin, cos, sincos     1.9e-7    3.3e-16   |x| <= KB_TRIG_LIMIT, next to the zeros too; arrays: every x
 *     kb_acos                 1.5e-7    2.6e-16   |x| <= 1; NaN outside
 *     kb_tanh                 2e-7      4e-16     every x (over 4e6 of all magnitudes)
 *
 * NaN gives NaN, infinities and zeros what C's functions give, but a zero may lose its sign. Processors with and
 * without fused multiply-add may differ in the last bit.
 */
#ifndef KB_VECTOR_MATH_H
#define KB_VECTOR_MATH_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include "_simd.h"

/* Beyond this sin, cos and sincos of one number are meaningless (NaN and infinity too); those of arrays call libm. */
#define KB_TRIG_LIMIT_float 6000.0f
#define KB_TRIG_LIMIT_double 1e6

/* Reinterpreting bits, as expressions. */
KB_INLINE uint32_t kb_bits_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

KB_INLINE float kb_from_bits_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

KB_INLINE uint64_t kb_bits_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

KB_INLINE double kb_from_bits_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Adding it rounds to an integer and leaves that integer in the low bits. */
#define KB_MAGIC_float 12582912.0f           /* 1.5 * 2^23 */
#define KB_MAGIC_double 6755399441055744.0   /* 1.5 * 2^52 */

/* --- exp --------------------------------------------------------------------------------------------------- */

/* exp(x) for every x: x = n ln 2 + r, |r| <= ln(2)/2; kb_exp of _simd.h is faster, for KB_EXP_LOW <= x <= 0. Here 2^n
 * comes in two factors, so that results beyond the largest number overflow to infinity and those below the smallest
 * normal one are rounded once, to a denormal. */
KB_INLINE float kb_exp_wide_float(float x)
{
    const float shifted = x * 1.44269504088896341f + KB_MAGIC_float, n = shifted - KB_MAGIC_float;
    float r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    float p = 0.0013820138f;
    p = p * r + 0.008368686f;
    p = p * r + 0.041668274f;
    p = p * r + 0.16666521f;
    p = p * r + 0.49999994f;
    p = p * (r * r) + r + 1.0f;
    const uint32_t power = kb_bits_float(shifted), half = power >> 1 << 23;
    p = p * kb_from_bits_float(half + 0x3f800000u) * kb_from_bits_float((power << 23) - half + 0x3f800000u);
    p = x > 89.0f ? INFINITY : p;
    return x < -104.0f ? 0.0f : p;
}

KB_INLINE double kb_exp_wide_double(double x)
{
    const double shifted = x * 1.4426950408889634074 + KB_MAGIC_double, n = shifted - KB_MAGIC_double;
    double r = x - n * 6.93145751953125e-1;
    r = r - n * 1.42860682030941723212e-6;
    double p = 2.50087464540476e-08;
    p = p * r + 2.763052467256413e-07;
    p = p * r + 2.7557558488361688e-06;
    p = p * r + 2.4801492298435675e-05;
    p = p * r + 0.00019841269538638416;
    p = p * r + 0.0013888888944446063;
    p = p * r + 0.008333333333479036;
    p = p * r + 0.041666666666526755;
    p = p * r + 0.16666666666666438;
    p = p * r + 0.5000000000000011;
    p = p * (r * r) + r + 1.0;
    const uint64_t power = kb_bits_double(shifted), half = power >> 1 << 52;
    p = p * kb_from_bits_double(half + 0x3ff0000000000000u)
          * kb_from_bits_double((power << 52) - half + 0x3ff0000000000000u);
    p = x > 710.0 ? (double)INFINITY : p;
    return x < -746.0 ? 0.0 : p;
}

/* --- log --------------------------------------------------------------------------------------------------- */

/* log(x) + (exponent + 127) ln 2 for a positive, normal, finite x.
 * x = 2^k m, sqrt(1/2) <= m < sqrt(2), f = m - 1; log(1 + f) = f - f^2/2 + f^3 P(f). */
KB_INLINE float kb_log_scaled_float(float x, float exponent)
{
    const uint32_t bits = kb_bits_float(x) + (0x3f800000u - 0x3f3504f3u); /* carries into the exponent at sqrt(2) */
    const float k = (float)(int32_t)(bits >> 23) + exponent;
    const float f = kb_from_bits_float((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f, z = f * f;
    float p = -0.07636327f;
    p = p * f + 0.12762167f;
    p = p * f - 0.1315962f;
    p = p * f + 0.14201584f;
    p = p * f - 0.16623409f;
    p = p * f + 0.20001242f;
    p = p * f - 0.2500082f;
    p = p * f + 0.3333333f;
    p = f * z * p - k * 2.12194440e-4f;
    return k * 0.693359375f + (f + (p - 0.5f * z));
}

/* The same in double by s = f / (2 + f), log(1 + f) = f - (f^2/2 - s (f^2/2 + s^2 P(s^2))): a division is cheaper than
 * the ten more coefficients (the arrangement of fdlibm's e_log.c). */
KB_INLINE double kb_log_scaled_double(double x, double exponent)
{
    const uint64_t bits = kb_bits_double(x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    /* 2^52 + k + 1023, by its bits: AVX2 has no conversion from 64-bit integers. */
    const double k = kb_from_bits_double((bits >> 52) | 0x4330000000000000u) + (exponent - 4503599627370496.0);
    const double f = kb_from_bits_double((bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
    const double s = f / (2.0 + f), z = s * s, h = 0.5 * f * f;
    double p = 0.14795290287915505;
    p = p * z + 0.15314117675187905;
    p = p * z + 0.18183561650027733;
    p = p * z + 0.2222219862583694;
    p = p * z + 0.2857142874186058;
    p = p * z + 0.39999999999417135;
    p = p * z + 0.6666666666666734;
    p = s * (h + p * z) + k * 1.90821492927058770002e-10;
    return k * 6.93147180369123816490e-01 - ((h - p) - f);
}

/* log(x) for a normal x: positive, finite, not denormal. */
KB_INLINE float kb_log_normal_float(float x)
{
    return kb_log_scaled_float(x, -127.0f);
}

KB_INLINE double kb_log_normal_double(double x)
{
    return kb_log_scaled_double(x, -1023.0);
}

/* log(x) for every x: -inf at 0, NaN below. Denormal numbers are made normal first. */
KB_INLINE float kb_log_float(float x)
{
    const float scale = x < FLT_MIN ? 0x1p25f : 1.0f, exponent = x < FLT_MIN ? -152.0f : -127.0f;
    float y = kb_log_scaled_float(x * scale, exponent);
    y = x < 0.0f ? NAN : y;
    y = x == 0.0f ? -INFINITY : y;
    return x < INFINITY ? y : x;
}

KB_INLINE double kb_log_double(double x)
{
    const double scale = x < DBL_MIN ? 0x1p54 : 1.0, exponent = x < DBL_MIN ? -1077.0 : -1023.0;
    double y = kb_log_scaled_double(x * scale, exponent);
    y = x < 0.0 ? (double)NAN : y;
    y = x == 0.0 ? -(double)INFINITY : y;
    return x < (double)INFINITY ? y : x;
}

/* --- sin and cos ------------------------------------------------------------------------------------------- */

/* sin(r) for |r| <= pi/2. */
KB_INLINE float kb_sin_reduced_float(float r)
{
    const float z = r * r;
    float p = 2.6061027e-06f;
    p = p * z - 0.00019809778f;
    p = p * z + 0.008333069f;
    p = p * z - 0.1666666f;
    return r + r * (z * p);
}

KB_INLINE double kb_sin_reduced_double(double r)
{
    const double z = r * r;
    double p = 2.7214766022860605e-15;
    p = p * z - 7.643023947315713e-13;
    p = p * z + 1.605894114308543e-10;
    p = p * z - 2.5052106906479548e-08;
    p = p * z + 2.7557319211583547e-06;
    p = p * z - 0.00019841269841212514;
    p = p * z + 0.008333333333333207;
    p = p * z - 0.16666666666666666;
    return r + r * (z * p);
}

/* x - q pi/2 (Cody and Waite), |q| < 2^12 in float and 2^20 in double. The first three parts have 12 and 33 bits: their
 * products with q are exact, and the result keeps its relative accuracy next to a multiple of pi/2. */
KB_INLINE float kb_reduce_float(float x, float q)
{
    x -= q * 0x1.922p+0f;
    x += q * 0x1.2aep-18f;
    x += q * 0x1.deap-31f;
    return x - q * 0x1.184698p-44f;
}

KB_INLINE double kb_reduce_double(double x, double q)
{
    x -= q * 0x1.921fb544p+0;
    x -= q * 0x1.0b4611a6p-34;
    x -= q * 0x1.3198a2ep-69;
    return x - q * 0x1.b839a252049c1p-104;
}

/* cos x = (-1)^n sin r, r = x - (2n - 1) pi/2: one polynomial, and relative accuracy at the zeros. */
KB_INLINE float kb_cos_float(float x)
{
    const float shifted = x * 0.318309886f + 0.5f + KB_MAGIC_float;
    const float r = kb_reduce_float(x, 2.0f * (shifted - KB_MAGIC_float) - 1.0f);
    return kb_sin_reduced_float(kb_from_bits_float(kb_bits_float(r) ^ kb_bits_float(shifted) << 31));
}

KB_INLINE double kb_cos_double(double x)
{
    const double shifted = x * 0.31830988618379067 + 0.5 + KB_MAGIC_double;
    const double r = kb_reduce_double(x, 2.0 * (shifted - KB_MAGIC_double) - 1.0);
    return kb_sin_reduced_double(kb_from_bits_double(kb_bits_double(r) ^ kb_bits_double(shifted) << 63));
}

/* sin x = (-1)^n sin r, r = x - n pi. */
KB_INLINE float kb_sin_float(float x)
{
    const float shifted = x * 0.318309886f + KB_MAGIC_float;
    const float r = kb_reduce_float(x, 2.0f * (shifted - KB_MAGIC_float));
    return kb_sin_reduced_float(kb_from_bits_float(kb_bits_float(r) ^ kb_bits_float(shifted) << 31));
}

KB_INLINE double kb_sin_double(double x)
{
    const double shifted = x * 0.31830988618379067 + KB_MAGIC_double;
    const double r = kb_reduce_double(x, 2.0 * (shifted - KB_MAGIC_double));
    return kb_sin_reduced_double(kb_from_bits_double(kb_bits_double(r) ^ kb_bits_double(shifted) << 63));
}

/* Both at once: r = x - q pi/2; an odd q swaps the two, its second bit gives the signs. */
KB_INLINE void kb_sincos_float(float x, float *sine, float *cosine)
{
    const float shifted = x * 0.636619772f + KB_MAGIC_float;
    const float r = kb_reduce_float(x, shifted - KB_MAGIC_float), z = r * r;
    const uint32_t q = kb_bits_float(shifted);
    float a = -0.00019518286f;
    a = a * z + 0.008332189f;
    a = a * z - 0.16666655f;
    a = r + r * (z * a);
    float b = 2.4432564e-05f;
    b = b * z - 0.0013887311f;
    b = b * z + 0.041666646f;
    b = 1.0f - 0.5f * z + z * z * b;
    const uint32_t u = kb_bits_float(a), v = kb_bits_float(b), other = (u ^ v) & -(q & 1u);
    *sine = kb_from_bits_float(u ^ other ^ ((q & 2u) << 30));
    *cosine = kb_from_bits_float(v ^ other ^ (((q + 1u) & 2u) << 30));
}

KB_INLINE void kb_sincos_double(double x, double *sine, double *cosine)
{
    const double shifted = x * 0.63661977236758134 + KB_MAGIC_double;
    const double r = kb_reduce_double(x, shifted - KB_MAGIC_double), z = r * r;
    const uint64_t q = kb_bits_double(shifted);
    double a = 1.5895847949783658e-10;
    a = a * z - 2.50507406312361e-08;
    a = a * z + 2.7557313571493995e-06;
    a = a * z - 0.00019841269829429402;
    a = a * z + 0.008333333333321891;
    a = a * z - 0.1666666666666663;
    a = r + r * (z * a);
    double b = -1.1358738870302356e-11;
    b = b * z + 2.087570522472559e-09;
    b = b * z - 2.755731421602412e-07;
    b = b * z + 2.480158728899956e-05;
    b = b * z - 0.001388888888887334;
    b = b * z + 0.041666666666666595;
    b = 1.0 - 0.5 * z + z * z * b;
    const uint64_t u = kb_bits_double(a), v = kb_bits_double(b), other = (u ^ v) & -(q & 1u);
    *sine = kb_from_bits_double(u ^ other ^ ((q & 2u) << 62));
    *cosine = kb_from_bits_double(v ^ other ^ (((q + 1u) & 2u) << 62));
}

/* --- acos -------------------------------------------------------------------------------------------------- */

/* acos(x), NaN outside [-1, 1]. asin(s) = s + s^3 R(s^2) on [0, 1/2];
 * |x| <= 1/2: pi/2 - asin(x);  x > 1/2: 2 asin(s), s^2 = (1 - x)/2;  x < -1/2: pi - acos(-x). */
KB_INLINE float kb_acos_float(float x)
{
    const float size = x < 0.0f ? -x : x;
    const float z = size > 0.5f ? 0.5f - 0.5f * size : size * size, s = sqrtf(z);
    float p = 0.042158306f;
    p = p * z + 0.024184778f;
    p = p * z + 0.04546915f;
    p = p * z + 0.074953094f;
    p = p * z + 0.16666752f;
    p = s + s * (z * p);
    p = size > 0.5f ? 2.0f * p : 1.57079637f - p;
    return x < 0.0f ? 3.14159274f - p : p;
}

KB_INLINE double kb_acos_double(double x)
{
    const double size = x < 0.0 ? -x : x;
    const double z = size > 0.5 ? 0.5 - 0.5 * size : size * size, s = sqrt(z);
    double p = 0.03191244241435729;
    p = p * z - 0.016224537829878153;
    p = p * z + 0.019528471412968637;
    p = p * z + 0.006527889344640993;
    p = p * z + 0.012169234429060424;
    p = p * z + 0.013885231457987663;
    p = p * z + 0.01735970523577508;
    p = p * z + 0.02237175801350954;
    p = p * z + 0.03038195913881712;
    p = p * z + 0.04464285682827289;
    p = p * z + 0.07500000000337101;
    p = p * z + 0.16666666666665408;
    p = s + s * (z * p);
    p = size > 0.5 ? 2.0 * p : 1.5707963267948966 - p;
    return x < 0.0 ? 3.1415926535897931 - p : p;
}

/* --- tanh -------------------------------------------------------------------------------------------------- */

/* tanh(x) = (1 - e)/(1 + e) up to the sign, e = exp(-2|x|); below 5/8, where that cancels, x + x^3 P(x^2) (float) or
 * x + x^3 P(x^2)/Q(x^2) (double), the coefficients of Cephes (Moshier, 1989). */
KB_INLINE float kb_tanh_float(float x)
{
    const float size = x < 0.0f ? -x : x, z = x * x, low = KB_EXP_LOW_float;
    const float w = -2.0f * size, e = kb_exp_float(w < low ? low : w);
    const float far = (1.0f - e) / (1.0f + e);
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    const float near = x + x * (z * p);
    return size < 0.625f ? near : x < 0.0f ? -far : far;
}

KB_INLINE double kb_tanh_double(double x)
{
    const double size = x < 0.0 ? -x : x, z = x * x, low = KB_EXP_LOW_double;
    const double w = -2.0 * size, e = kb_exp_double(w < low ? low : w);
    const double far = (1.0 - e) / (1.0 + e);
    const double p = (-9.64399179425052238628e-1 * z - 9.92877231001918586564e1) * z - 1.61468768441708447952e3;
    const double q = ((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z + 4.84406305325125486048e3;
    const double near = x + x * (z * (p / q));
    return size < 0.625 ? near : x < 0.0 ? -far : far;
}

/* --- arrays ------------------------------------------------------------------------------------------------ */

/* Elements that are checked together for special values. */
#define KB_MATH_BLOCK 256

/* The iterations of the next loop are independent, even if input and output are the same array. */
#if defined(__clang__)
#define KB_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define KB_INDEPENDENT _Pragma("GCC ivdep")
#else
#define KB_INDEPENDENT
#endif

#define KB_T float
#define KB_UINT uint32_t
#define KB_NAME(f) f##_float
#define KB_LIBM(name) name##f
#define KB_TRIG_LIMIT KB_TRIG_LIMIT_float
#define KB_SMALLEST FLT_MIN
#define KB_LARGEST FLT_MAX
#include "_vector_math_body.h"
#undef KB_T
#undef KB_UINT
#undef KB_NAME
#undef KB_LIBM
#undef KB_TRIG_LIMIT
#undef KB_SMALLEST
#undef KB_LARGEST

#define KB_T double
#define KB_UINT uint64_t
#define KB_NAME(f) f##_double
#define KB_LIBM(name) name
#define KB_TRIG_LIMIT KB_TRIG_LIMIT_double
#define KB_SMALLEST DBL_MIN
#define KB_LARGEST DBL_MAX
#include "_vector_math_body.h"
#undef KB_T
#undef KB_UINT
#undef KB_NAME
#undef KB_LIBM
#undef KB_TRIG_LIMIT
#undef KB_SMALLEST
#undef KB_LARGEST

#endif
