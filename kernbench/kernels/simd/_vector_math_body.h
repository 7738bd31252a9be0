/* The functions of _vector_math.h over arrays, in one precision. Included twice, so no guard.
 *
 * KB_T is the element type, KB_UINT the unsigned integer of its size, KB_NAME(f) names the function for it and
 * KB_LIBM(f) libm's. An output may be the input itself; otherwise the two must not overlap. */

KB_CLONES KB_UNUSED static void KB_NAME(kb_exp_array)(const KB_T *in, ptrdiff_t n, KB_T *out)
{
    KB_INDEPENDENT
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = KB_NAME(kb_exp_wide)(in[i]);
}

/* The exponential of the kernels, kb_exp of _simd.h with the clamp its callers put before it: for x <= 0. */
KB_CLONES KB_UNUSED static void KB_NAME(kb_exp_nonpositive_array)(const KB_T *in, ptrdiff_t n, KB_T *out)
{
    KB_INDEPENDENT
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = KB_NAME(kb_exp)(in[i] < KB_NAME(KB_EXP_LOW) ? KB_NAME(KB_EXP_LOW) : in[i]);
}

KB_CLONES KB_UNUSED static void KB_NAME(kb_acos_array)(const KB_T *in, ptrdiff_t n, KB_T *out)
{
    KB_INDEPENDENT
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = KB_NAME(kb_acos)(in[i]);
}

/* Whether every element lies in [low, high], 0 < low: positive numbers are ordered as their bits are, so one of the
 * differences is negative outside, and leaves its sign in `outside`. NaN is outside. */
KB_INLINE int KB_NAME(kb_all_within)(const KB_T *in, ptrdiff_t n, KB_T low, KB_T high)
{
    const KB_UINT first = KB_NAME(kb_bits)(low), last = KB_NAME(kb_bits)(high);
    KB_UINT outside = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const KB_UINT bits = KB_NAME(kb_bits)(in[i]);
        outside |= (bits - first) | (last - bits);
    }
    return !(outside >> (8 * sizeof(KB_T) - 1));
}

/* Whether every |x| <= limit; NaN is not. */
KB_INLINE int KB_NAME(kb_all_below)(const KB_T *in, ptrdiff_t n, KB_T limit)
{
    const KB_UINT last = KB_NAME(kb_bits)(limit), unsigned_part = ~(KB_UINT)0 >> 1;
    KB_UINT outside = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        outside |= last - (KB_NAME(kb_bits)(in[i]) & unsigned_part);
    return !(outside >> (8 * sizeof(KB_T) - 1));
}

/* Blocks of normal numbers, as most are, skip the steps for denormals, zero, infinity and NaN. */
KB_CLONES KB_UNUSED static void KB_NAME(kb_log_array)(const KB_T *in, ptrdiff_t n, KB_T *out)
{
    for (ptrdiff_t start = 0; start < n; start += KB_MATH_BLOCK) {
        const ptrdiff_t count = n - start < KB_MATH_BLOCK ? n - start : KB_MATH_BLOCK;
        const KB_T *x = in + start;
        KB_T *y = out + start;
        if (KB_NAME(kb_all_within)(x, count, KB_SMALLEST, KB_LARGEST)) {
            KB_INDEPENDENT
            for (ptrdiff_t i = 0; i < count; i++)
                y[i] = KB_NAME(kb_log_normal)(x[i]);
        } else {
            KB_INDEPENDENT
            for (ptrdiff_t i = 0; i < count; i++)
                y[i] = KB_NAME(kb_log)(x[i]);
        }
    }
}

/* The vector pass over a block, then libm for the rare elements beyond the limit. */
#define KB_TRIG_ARRAY(name, vector, libm)                                                                              \
    KB_CLONES KB_UNUSED static void KB_NAME(name)(const KB_T *in, ptrdiff_t n, KB_T *out)                              \
    {                                                                                                                  \
        KB_T kept[KB_MATH_BLOCK];                                                                                      \
        for (ptrdiff_t start = 0; start < n; start += KB_MATH_BLOCK) {                                                 \
            const ptrdiff_t count = n - start < KB_MATH_BLOCK ? n - start : KB_MATH_BLOCK;                             \
            const KB_T *x = in + start;                                                                                \
            KB_T *y = out + start;                                                                                     \
            const int ordinary = KB_NAME(kb_all_below)(x, count, KB_TRIG_LIMIT);                                       \
            if (!ordinary)                                                                                             \
                memcpy(kept, x, (size_t)count * sizeof *x);                                                            \
            KB_INDEPENDENT                                                                                             \
            for (ptrdiff_t i = 0; i < count; i++)                                                                      \
                y[i] = vector(x[i]);                                                                                   \
            if (!ordinary)                                                                                             \
                for (ptrdiff_t i = 0; i < count; i++)                                                                  \
                    if (!(KB_LIBM(fabs)(kept[i]) <= KB_TRIG_LIMIT))                                                    \
                        y[i] = libm(kept[i]);                                                                          \
        }                                                                                                              \
    }

KB_TRIG_ARRAY(kb_sin_array, KB_NAME(kb_sin), KB_LIBM(sin))
KB_TRIG_ARRAY(kb_cos_array, KB_NAME(kb_cos), KB_LIBM(cos))
#undef KB_TRIG_ARRAY

KB_CLONES KB_UNUSED static void KB_NAME(kb_sincos_array)(const KB_T *in, ptrdiff_t n, KB_T *sine, KB_T *cosine)
{
    KB_T kept[KB_MATH_BLOCK];
    for (ptrdiff_t start = 0; start < n; start += KB_MATH_BLOCK) {
        const ptrdiff_t count = n - start < KB_MATH_BLOCK ? n - start : KB_MATH_BLOCK;
        const KB_T *x = in + start;
        KB_T *s = sine + start, *c = cosine + start;
        const int ordinary = KB_NAME(kb_all_below)(x, count, KB_TRIG_LIMIT);
        if (!ordinary)
            memcpy(kept, x, (size_t)count * sizeof *x);
        KB_INDEPENDENT
        for (ptrdiff_t i = 0; i < count; i++) {
            KB_T both[2];
            KB_NAME(kb_sincos)(x[i], &both[0], &both[1]);
            s[i] = both[0];
            c[i] = both[1];
        }
        if (!ordinary)
            for (ptrdiff_t i = 0; i < count; i++)
                if (!(KB_LIBM(fabs)(kept[i]) <= KB_TRIG_LIMIT)) {
                    s[i] = KB_LIBM(sin)(kept[i]);
                    c[i] = KB_LIBM(cos)(kept[i]);
                }
    }
}
