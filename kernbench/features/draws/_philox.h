/* Stateless random numbers: Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011),
 * and the distributions drawn from it.
 *
 * A counter of four words gives four random words, whatever was drawn before, so a block of frequencies can be
 * regenerated from its seed alone. Counters are processed KB_COUNTERS at a time, one loop for each step, with words and
 * numbers in four separate arrays, so that every loop vectorises.
 */
#ifndef KB_PHILOX_H
#define KB_PHILOX_H

#include <math.h>
#include <stddef.h>
#include <string.h>
#include "_vector_math.h"

#define KB_COUNTERS 128

typedef struct {
    uint32_t seed_low, seed_high; /* the key */
    uint32_t tag;                 /* the counter's last word: what the numbers are for */
} kb_stream;

/* The distributions; u is uniform on (0, 1), z standard normal. */
enum kb_distribution {
    KB_WORD,        /* the 32 bits themselves */
    KB_UNIFORM,     /* u */
    KB_NORMAL,      /* z */
    KB_CAUCHY,      /* tan(pi (u - 1/2)) */
    KB_LAPLACE,     /* density exp(-|w|)/2 */
    KB_SECH,        /* log(tan(pi u / 2)) / pi, density sech(pi w) */
    KB_EXPONENTIAL, /* -log(u) */
    KB_LEVY,        /* 1 / (2 z^2) */
    KB_SIGN         /* +1 where u < 1/2, else -1 */
};

/* --- the generator -------------------------------------------------------------------------------------------- */

#define KB_PHILOX_M0 0xD2511F53u
#define KB_PHILOX_M1 0xCD9E8D57u
#define KB_PHILOX_W0 0x9E3779B9u
#define KB_PHILOX_W1 0xBB67AE85u

/* w[i][t] = word i of counter (c0[t], c1[t], c2[t], tag), for t < KB_COUNTERS. */
KB_CLONES KB_UNUSED static void kb_philox_plain(const uint32_t *KB_RESTRICT c0, const uint32_t *KB_RESTRICT c1,
                                                const uint32_t *KB_RESTRICT c2, kb_stream stream,
                                                uint32_t w[4][KB_COUNTERS])
{
    uint32_t *KB_RESTRICT w0 = w[0], *KB_RESTRICT w1 = w[1], *KB_RESTRICT w2 = w[2], *KB_RESTRICT w3 = w[3];
    for (int t = 0; t < KB_COUNTERS; t++) {
        w0[t] = c0[t];
        w1[t] = c1[t];
        w2[t] = c2[t];
        w3[t] = stream.tag;
    }
    for (int round = 0; round < 10; round++) {
        for (int t = 0; t < KB_COUNTERS; t++) {
            const uint32_t a = w0[t], c = w2[t];
            const uint32_t high_a = (uint32_t)((uint64_t)KB_PHILOX_M0 * a >> 32), low_a = KB_PHILOX_M0 * a;
            const uint32_t high_c = (uint32_t)((uint64_t)KB_PHILOX_M1 * c >> 32), low_c = KB_PHILOX_M1 * c;
            w0[t] = high_c ^ w1[t] ^ stream.seed_low;
            w1[t] = low_c;
            w2[t] = high_a ^ w3[t] ^ stream.seed_high;
            w3[t] = low_a;
        }
        stream.seed_low += KB_PHILOX_W0;
        stream.seed_high += KB_PHILOX_W1;
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
#define KB_PHILOX_AVX2
#include <immintrin.h>

/* The compiler does not recognise that only the low halves of the 64-bit lanes are multiplied, and inserts
 * permutations; with intrinsics the generator takes 0.6 ns a word instead of 1.7. */
#define KB_PHILOX_PRODUCT(x, multiplier, low, high)                                                            \
    do {                                                                                                       \
        const __m256i even = _mm256_mul_epu32(x, multiplier);                                                  \
        const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), multiplier);                            \
        high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);                                     \
        low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);                                      \
    } while (0)

#define KB_PHILOX_ROUND(a, b, c, d)                                                                            \
    do {                                                                                                       \
        __m256i low_a, high_a, low_c, high_c;                                                                  \
        KB_PHILOX_PRODUCT(a, m0, low_a, high_a);                                                               \
        KB_PHILOX_PRODUCT(c, m1, low_c, high_c);                                                               \
        a = _mm256_xor_si256(_mm256_xor_si256(high_c, b), key0);                                               \
        c = _mm256_xor_si256(_mm256_xor_si256(high_a, d), key1);                                               \
        b = low_c;                                                                                             \
        d = low_a;                                                                                             \
    } while (0)

__attribute__((target("avx2"))) KB_UNUSED static void kb_philox_avx2(const uint32_t *c0, const uint32_t *c1,
                                                                     const uint32_t *c2, kb_stream stream,
                                                                     uint32_t w[4][KB_COUNTERS])
{
    const __m256i m0 = _mm256_set1_epi64x(KB_PHILOX_M0), m1 = _mm256_set1_epi64x(KB_PHILOX_M1);
    /* Two groups of eight counters, so that one computes while the other waits for its products. */
    for (int t = 0; t < KB_COUNTERS; t += 16) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(c0 + t));
        __m256i b = _mm256_loadu_si256((const __m256i *)(c1 + t));
        __m256i c = _mm256_loadu_si256((const __m256i *)(c2 + t));
        __m256i d = _mm256_set1_epi32((int)stream.tag);
        __m256i e = _mm256_loadu_si256((const __m256i *)(c0 + t + 8));
        __m256i f = _mm256_loadu_si256((const __m256i *)(c1 + t + 8));
        __m256i g = _mm256_loadu_si256((const __m256i *)(c2 + t + 8));
        __m256i h = d;
        uint32_t low = stream.seed_low, high = stream.seed_high;
        for (int round = 0; round < 10; round++) {
            const __m256i key0 = _mm256_set1_epi32((int)low), key1 = _mm256_set1_epi32((int)high);
            KB_PHILOX_ROUND(a, b, c, d);
            KB_PHILOX_ROUND(e, f, g, h);
            low += KB_PHILOX_W0;
            high += KB_PHILOX_W1;
        }
        _mm256_storeu_si256((__m256i *)(w[0] + t), a);
        _mm256_storeu_si256((__m256i *)(w[1] + t), b);
        _mm256_storeu_si256((__m256i *)(w[2] + t), c);
        _mm256_storeu_si256((__m256i *)(w[3] + t), d);
        _mm256_storeu_si256((__m256i *)(w[0] + t + 8), e);
        _mm256_storeu_si256((__m256i *)(w[1] + t + 8), f);
        _mm256_storeu_si256((__m256i *)(w[2] + t + 8), g);
        _mm256_storeu_si256((__m256i *)(w[3] + t + 8), h);
    }
}
#endif

KB_UNUSED static void kb_philox(const uint32_t *c0, const uint32_t *c1, const uint32_t *c2, kb_stream stream,
                                uint32_t w[4][KB_COUNTERS])
{
#ifdef KB_PHILOX_AVX2
    if (__builtin_cpu_supports("avx2")) {
        kb_philox_avx2(c0, c1, c2, stream, w);
        return;
    }
#endif
    kb_philox_plain(c0, c1, c2, stream, w);
}

/* --- from words to distributions -------------------------------------------------------------------------------- */

/* (word + 1/2) 2^-32, exact; processors convert signed integers only. */
KB_INLINE double kb_uniform(uint32_t word)
{
    return ((double)(int32_t)(word ^ 0x80000000u) + 2147483648.5) * 0x1p-32;
}

/* Box and Muller on the words of a pair: sqrt(-2 log u) (cos, sin)(2 pi v). */
KB_INLINE void kb_normal_pair(uint32_t first, uint32_t second, double *z0, double *z1)
{
    double sine, cosine;
    const double radius = sqrt(-2.0 * kb_log_normal_double(kb_uniform(first)));
    kb_sincos_double(6.283185307179586 * kb_uniform(second), &sine, &cosine);
    *z0 = radius * cosine;
    *z1 = radius * sine;
}

/* The distance from u to the nearer end of (0, 1): there it is exact, and so are the tails. */
KB_INLINE double kb_nearer_end(double u)
{
    return u < 0.5 ? u : 1.0 - u;
}

KB_INLINE double kb_signed(double u, double size)
{
    return u < 0.5 ? -size : size;
}

KB_INLINE double kb_exponential(double u)
{
    return -kb_log_normal_double(u);
}

KB_INLINE double kb_laplace(double u)
{
    return kb_signed(u, -kb_log_normal_double(2.0 * kb_nearer_end(u)));
}

KB_INLINE double kb_cauchy(double u)
{
    double sine, cosine;
    kb_sincos_double(3.141592653589793 * kb_nearer_end(u), &sine, &cosine);
    return kb_signed(u, cosine / sine);
}

KB_INLINE double kb_sech(double u)
{
    double sine, cosine;
    kb_sincos_double(1.5707963267948966 * kb_nearer_end(u), &sine, &cosine);
    return kb_signed(u, -0.3183098861837907 * kb_log_normal_double(sine / cosine));
}

/* v[t] = scale * (a number from word t). */
#define KB_LOOP(name, number)                                                                              \
    KB_CLONES KB_UNUSED static void name(const uint32_t *KB_RESTRICT w, double scale, double *KB_RESTRICT v)   \
    {                                                                                                          \
        for (int t = 0; t < 4 * KB_COUNTERS; t++) {                                                            \
            const double u = kb_uniform(w[t]);                                                                 \
            v[t] = scale * (number);                                                                           \
        }                                                                                                      \
    }

KB_LOOP(kb_draw_uniform, u)
KB_LOOP(kb_draw_sign, u < 0.5 ? 1.0 : -1.0)
KB_LOOP(kb_draw_exponential, kb_exponential(u))
KB_LOOP(kb_draw_laplace, kb_laplace(u))
KB_LOOP(kb_draw_cauchy, kb_cauchy(u))
KB_LOOP(kb_draw_sech, kb_sech(u))

KB_CLONES KB_UNUSED static void kb_draw_normal(const uint32_t *KB_RESTRICT w, double scale, double *KB_RESTRICT v)
{
    for (int pair = 0; pair < 4; pair += 2)
        for (int t = 0; t < KB_COUNTERS; t++) {
            double z0, z1;
            kb_normal_pair(w[pair * KB_COUNTERS + t], w[(pair + 1) * KB_COUNTERS + t], &z0, &z1);
            v[pair * KB_COUNTERS + t] = scale * z0;
            v[(pair + 1) * KB_COUNTERS + t] = scale * z1;
        }
}

KB_CLONES KB_UNUSED static void kb_draw_levy(const uint32_t *KB_RESTRICT w, double scale, double *KB_RESTRICT v)
{
    kb_draw_normal(w, 1.0, v);
    for (int t = 0; t < 4 * KB_COUNTERS; t++)
        v[t] = scale * 0.5 / (v[t] * v[t]);
}

/* values[i][t] = scale * the distribution's number from w[i][t]. */
KB_UNUSED static void kb_apply_distribution(enum kb_distribution distribution, uint32_t w[4][KB_COUNTERS], double scale,
                                   double values[4][KB_COUNTERS])
{
    switch (distribution) {
    case KB_WORD:
    case KB_UNIFORM:
        kb_draw_uniform(w[0], scale, values[0]);
        break;
    case KB_NORMAL:
        kb_draw_normal(w[0], scale, values[0]);
        break;
    case KB_CAUCHY:
        kb_draw_cauchy(w[0], scale, values[0]);
        break;
    case KB_LAPLACE:
        kb_draw_laplace(w[0], scale, values[0]);
        break;
    case KB_SECH:
        kb_draw_sech(w[0], scale, values[0]);
        break;
    case KB_EXPONENTIAL:
        kb_draw_exponential(w[0], scale, values[0]);
        break;
    case KB_LEVY:
        kb_draw_levy(w[0], scale, values[0]);
        break;
    case KB_SIGN:
        kb_draw_sign(w[0], scale, values[0]);
        break;
    }
}

/* --- filling a matrix ------------------------------------------------------------------------------------------- */

/* From four arrays to the order of the counters: out[4 t + i] = in[i][t]. */
#define KB_INTERLEAVE(name, from, to)                                                                          \
    KB_CLONES KB_UNUSED static void name(const from in[4][KB_COUNTERS], to *KB_RESTRICT out)                   \
    {                                                                                                          \
        const from *KB_RESTRICT a = in[0], *KB_RESTRICT b = in[1], *KB_RESTRICT c = in[2], *KB_RESTRICT d = in[3]; \
        for (int t = 0; t < KB_COUNTERS; t++) {                                                                \
            out[4 * t] = (to)a[t];                                                                             \
            out[4 * t + 1] = (to)b[t];                                                                         \
            out[4 * t + 2] = (to)c[t];                                                                         \
            out[4 * t + 3] = (to)d[t];                                                                         \
        }                                                                                                      \
    }

KB_INTERLEAVE(kb_interleave_words, uint32_t, uint32_t)
KB_INTERLEAVE(kb_interleave_float, double, float)
KB_INTERLEAVE(kb_interleave_double, double, double)

/* Rows of n_scalars numbers, one row a draw: number j of draw k comes from word j % 4 of the counter
 * (first_quad + j / 4, draws[k], blocks[k], tag). Fills in the numbers of the counters first, first + 1, ..., row after
 * row: at most KB_COUNTERS counters, all below `last`. `item` is the size of an element of out: words and float 4,
 * double 8. */
KB_UNUSED static void kb_fill(enum kb_distribution distribution, kb_stream stream, const uint32_t *draws, const uint32_t *blocks,
                              ptrdiff_t n_scalars, uint32_t first_quad, double scale, ptrdiff_t first,
                              ptrdiff_t last, int item, char *out)
{
    uint32_t c0[KB_COUNTERS], c1[KB_COUNTERS], c2[KB_COUNTERS], words[4][KB_COUNTERS];
    double values[4][KB_COUNTERS], ordered[4 * KB_COUNTERS];
    const ptrdiff_t n_quads = (n_scalars + 3) / 4, count = last - first < KB_COUNTERS ? last - first : KB_COUNTERS;
    ptrdiff_t row = first / n_quads, quad = first % n_quads;
    for (ptrdiff_t t = 0, r = row, q = quad; t < KB_COUNTERS; t++) {
        c0[t] = first_quad + (uint32_t)q;
        c1[t] = t < count ? draws[r] : 0;
        c2[t] = t < count ? blocks[r] : 0;
        if (++q == n_quads) {
            q = 0;
            r++;
        }
    }
    kb_philox(c0, c1, c2, stream, words);
    if (distribution == KB_WORD)
        kb_interleave_words(words, (uint32_t *)ordered);
    else {
        kb_apply_distribution(distribution, words, scale, values);
        if (item == 4)
            kb_interleave_float(values, (float *)ordered);
        else
            kb_interleave_double(values, ordered);
    }
    for (ptrdiff_t t = 0; t < count;) {
        const ptrdiff_t run = n_quads - quad < count - t ? n_quads - quad : count - t, start = 4 * quad;
        const ptrdiff_t length = n_scalars - start < 4 * run ? n_scalars - start : 4 * run;
        memcpy(out + (row * n_scalars + start) * item, (const char *)ordered + 4 * t * item, (size_t)(length * item));
        t += run;
        quad = 0;
        row++;
    }
}

#endif
