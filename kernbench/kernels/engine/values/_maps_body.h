/* One precision of the maps; see _maps.h. Included twice, so no guard.
 *
 * One clamp per loop: with two, the compiler's masks cost a fifth of the speed. */

/* --- of inner products ----------------------------------------------------------------------------------------- */

/* out_j = exp(min(0, t_j - a - b_j)): t = 2 gamma <x, z>, a = gamma |x|^2, b = gamma |z|^2. The clamp prevents values
 * above one from the rounding of a tiny squared distance. The exponent overwrites t, which is in cache, so that each
 * value of `out`, which may not be, is written once, while others are computed. */
KB_CLONES KB_UNUSED static void KB_NAME(gaussian_row)(KB_T *KB_RESTRICT t, KB_T a, const KB_T *KB_RESTRICT b,
                                                      ptrdiff_t n, KB_T *KB_RESTRICT out)
{
    for (ptrdiff_t j = 0; j < n; j++) {
        KB_T v = t[j] - a - b[j];
        t[j] = v > 0 ? 0 : v;
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        KB_T v = t[j];
        out[j] = KB_EXP(v < KB_EXP_LOW ? KB_EXP_LOW : v);
    }
}

/* out_j = max(0, a + b_j - t_j): t = 2 <x, z>, a = |x|^2, b = |z|^2. */
KB_CLONES KB_UNUSED static void KB_NAME(squared_distance_row)(const KB_T *KB_RESTRICT t, KB_T a,
                                                              const KB_T *KB_RESTRICT b, ptrdiff_t n,
                                                              KB_T *KB_RESTRICT out)
{
    for (ptrdiff_t j = 0; j < n; j++) {
        KB_T v = (a - t[j]) + b[j];
        out[j] = v < 0 ? 0 : v;
    }
}

/* out_j = t_j - a - b_j: t = <x, z>, a = <x, c> - |c|^2 / 2, b = <z, c> - |c|^2 / 2. */
KB_CLONES KB_UNUSED static void KB_NAME(centred_row)(const KB_T *KB_RESTRICT t, KB_T a, const KB_T *KB_RESTRICT b,
                                                     ptrdiff_t n, KB_T *KB_RESTRICT out)
{
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] = (t[j] - a) - b[j];
}

/* Matern kernels with closed forms, in place: out_j a squared distance r^2, 2 nu = 1, 3, 5:
 * exp(-r), (1 + r) exp(-r), (1 + r + r^2/3) exp(-r). */
KB_CLONES KB_UNUSED static void KB_NAME(matern_row)(int twice_nu, ptrdiff_t n, KB_T *KB_RESTRICT out)
{
    const KB_T linear = twice_nu > 1, quadratic = twice_nu > 3 ? (KB_T)1 / 3 : 0;
    for (ptrdiff_t j = 0; j < n; j++) {
        KB_T r = KB_SQRT(out[j]);
        out[j] = r > -KB_EXP_LOW ? -KB_EXP_LOW : r;
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        const KB_T r = out[j];
        out[j] = (1 + r * (linear + quadratic * r)) * KB_EXP(-r);
    }
}

/* Matern kernels by a table, in place: out_j a squared distance s. -log k(s) is a polynomial on each of
 * 2^KB_MATERN_BITS intervals per binade, found by the leading bits of s; `pieces` holds its coefficients, lowest first,
 * for intervals `first` to `first + n_pieces - 1`. Below them is piece 0, all zeros: k = 1. */
KB_CLONES KB_UNUSED static void KB_NAME(matern_table_row)(const KB_T *KB_RESTRICT pieces, int32_t first,
                                                          int32_t n_pieces, ptrdiff_t n, KB_T *KB_RESTRICT out)
{
    enum { N = KB_IS_FLOAT ? KB_MATERN_TERMS_float : KB_MATERN_TERMS_double };
    enum { FRACTION = KB_IS_FLOAT ? 23 : 52, SHIFT = FRACTION - KB_MATERN_BITS };
    const KB_UINT fraction = ((KB_UINT)1 << FRACTION) - 1, one = KB_NAME(kb_bits)(1);
    const KB_T largest = (KB_T)KB_MATERN_LARGEST;
    for (ptrdiff_t j = 0; j < n; j++) {
        KB_T s = out[j];
        out[j] = s > largest ? largest : s;
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        const KB_UINT bits = KB_NAME(kb_bits)(out[j]);
        KB_INT piece = (KB_INT)(bits >> SHIFT) - first;
        piece = piece < 0 ? 0 : piece;
        piece = piece < n_pieces ? piece : n_pieces - 1;
        const KB_T u = KB_NAME(kb_from_bits)(((bits << KB_MATERN_BITS) & fraction) | one) - (KB_T)1.5;
        const KB_T *KB_RESTRICT c = pieces + piece * N;
        KB_T p = c[N - 1];
        for (int k = N - 2; k >= 0; k--)
            p = p * u + c[k];
        out[j] = 0 * out[j] - p; /* NaN stays NaN */
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        KB_T v = out[j];
        out[j] = v > 0 ? 0 : v;
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        KB_T v = out[j];
        out[j] = KB_EXP(v < KB_EXP_LOW ? KB_EXP_LOW : v);
    }
}

/* out_j = (t_j + c)^degree by repeated squaring, 32 columns at a time, so that the powers stay in registers. */
KB_CLONES KB_UNUSED static void KB_NAME(polynomial_row)(const KB_T *KB_RESTRICT t, KB_T c, int degree, ptrdiff_t n,
                                                        KB_T *KB_RESTRICT out)
{
    enum { WIDTH = 32 };
    ptrdiff_t j = 0;
    for (; j + WIDTH <= n; j += WIDTH) {
        KB_T base[WIDTH], power[WIDTH];
        for (int l = 0; l < WIDTH; l++)
            base[l] = t[j + l] + c;
        for (int l = 0; l < WIDTH; l++)
            power[l] = degree & 1 ? base[l] : 1;
        for (int bits = degree >> 1; bits > 0; bits >>= 1) {
            for (int l = 0; l < WIDTH; l++)
                base[l] *= base[l];
            if (bits & 1)
                for (int l = 0; l < WIDTH; l++)
                    power[l] *= base[l];
        }
        for (int l = 0; l < WIDTH; l++)
            out[j + l] = power[l];
    }
    for (; j < n; j++) {
        KB_T base = t[j] + c, power = degree & 1 ? base : 1;
        for (int bits = degree >> 1; bits > 0; bits >>= 1) {
            base *= base;
            power *= bits & 1 ? base : 1;
        }
        out[j] = power;
    }
}

/* out_j = sum_i c_i t_j^i by Horner's rule, 32 columns at a time, so that the powers stay in registers. */
KB_CLONES KB_UNUSED static void KB_NAME(power_series_row)(const KB_T *KB_RESTRICT t, const double *KB_RESTRICT c,
                                                          ptrdiff_t n_terms, ptrdiff_t n, KB_T *KB_RESTRICT out)
{
    enum { WIDTH = 32 };
    ptrdiff_t j = 0;
    for (; j + WIDTH <= n; j += WIDTH) {
        KB_T sums[WIDTH];
        for (int l = 0; l < WIDTH; l++)
            sums[l] = (KB_T)c[n_terms - 1];
        for (ptrdiff_t i = n_terms - 2; i >= 0; i--) {
            const KB_T term = (KB_T)c[i];
            for (int l = 0; l < WIDTH; l++)
                sums[l] = sums[l] * t[j + l] + term;
        }
        for (int l = 0; l < WIDTH; l++)
            out[j + l] = sums[l];
    }
    for (; j < n; j++) {
        KB_T sum = (KB_T)c[n_terms - 1];
        for (ptrdiff_t i = n_terms - 2; i >= 0; i--)
            sum = sum * t[j] + (KB_T)c[i];
        out[j] = sum;
    }
}

/* out_j = tanh(t_j + c). */
KB_CLONES KB_UNUSED static void KB_NAME(sigmoid_row)(const KB_T *KB_RESTRICT t, KB_T c, ptrdiff_t n,
                                                     KB_T *KB_RESTRICT out)
{
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] = KB_NAME(kb_tanh)(t[j] + c);
}

/* out_j = a b_j J_order(theta) / pi, t_j = cos(theta), clipped to [-1, 1] first (Cho and Saul 2009). */
KB_CLONES KB_UNUSED static void KB_NAME(arc_cosine_row)(const KB_T *KB_RESTRICT t, KB_T a, const KB_T *KB_RESTRICT b,
                                                        int order, ptrdiff_t n, KB_T *KB_RESTRICT out)
{
    const KB_T pi = (KB_T)3.14159265358979323846, share = (KB_T)0.31830988618379067154;
    for (ptrdiff_t j = 0; j < n; j++) {
        KB_T v = t[j];
        out[j] = v > 1 ? 1 : v;
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        KB_T v = out[j];
        out[j] = v < -1 ? -1 : v;
    }
    if (order == 0) {
        for (ptrdiff_t j = 0; j < n; j++)
            out[j] = 1 - share * KB_NAME(kb_acos)(out[j]);
    } else if (order == 1) {
        for (ptrdiff_t j = 0; j < n; j++) {
            const KB_T c = out[j], s = KB_SQRT((1 - c) * (1 + c));
            out[j] = a * (share * (s + (pi - KB_NAME(kb_acos)(c)) * c)) * b[j];
        }
    } else {
        for (ptrdiff_t j = 0; j < n; j++) {
            const KB_T c = out[j], s = KB_SQRT((1 - c) * (1 + c));
            out[j] = a * (share * (3 * s * c + (pi - KB_NAME(kb_acos)(c)) * (1 + 2 * c * c))) * b[j];
        }
    }
}

/* Whether a pair is so near that the kernel needs its distance computed from differences: a + b - t is a small share of
 * a + b, which is above `floor` (Matern), or |t| is nearly 1 (arc-cosine kernel of order 0, which is as steep where
 * rows are opposite). */
KB_INLINE int KB_NAME(is_near)(enum kb_routine routine, KB_T t, KB_T a, KB_T b, KB_T floor)
{
    if (routine == KB_MATERN)
        return (a + b - t < (KB_T)KB_NEAR * (a + b)) & (a + b > floor);
    return t * t > (KB_T)((1 - KB_NEAR) * (1 - KB_NEAR));
}

/* The number of such pairs in a row. */
KB_CLONES KB_UNUSED static ptrdiff_t KB_NAME(near_row)(enum kb_routine routine, const KB_T *KB_RESTRICT t, KB_T a,
                                                       const KB_T *KB_RESTRICT b, KB_T floor, ptrdiff_t n)
{
    int32_t count = 0;
    if (routine == KB_MATERN)
        for (ptrdiff_t j = 0; j < n; j++)
            count += KB_NAME(is_near)(KB_MATERN, t[j], a, b[j], floor);
    else
        for (ptrdiff_t j = 0; j < n; j++)
            count += KB_NAME(is_near)(KB_ARC_COSINE, t[j], a, a, floor);
    return count;
}

/* --- of coordinatewise sums -------------------------------------------------------------------------------------------- */

/* out_j = exp(-rate t_j), in place; t_j >= 0 up to rounding. */
KB_CLONES KB_UNUSED static void KB_NAME(decay_row)(KB_T rate, ptrdiff_t n, KB_T *KB_RESTRICT out)
{
    for (ptrdiff_t j = 0; j < n; j++) {
        KB_T v = -rate * out[j];
        out[j] = v > 0 ? 0 : v;
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        KB_T v = out[j];
        out[j] = KB_EXP(v < KB_EXP_LOW ? KB_EXP_LOW : v);
    }
}

/* out_j = 1 / t_j, in place; 0 for an infinite t_j. */
KB_CLONES KB_UNUSED static void KB_NAME(reciprocal_row)(ptrdiff_t n, KB_T *KB_RESTRICT out)
{
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] = 1 / out[j];
}

/* From a row of coordinatewise sums to kernel values. */
static KB_UNUSED void KB_NAME(finish_row)(enum kb_routine routine, const double *constants, ptrdiff_t n, KB_T *out)
{
    switch (routine) {
    case KB_GAUSSIAN_OF_DIFFERENCES:
    case KB_LAPLACIAN:
    case KB_EXPONENTIAL_SEMIGROUP:
    case KB_EXPONENTIAL_CHI_SQUARED:
        /* An infinite rate would make NaN of a zero sum. */
        KB_NAME(decay_row)((KB_T)(constants[0] < KB_LARGEST ? constants[0] : KB_LARGEST), n, out);
        break;
    case KB_CAUCHY:
    case KB_SECH:
    case KB_RECIPROCAL_SEMIGROUP:
        KB_NAME(reciprocal_row)(n, out);
        break;
    default:
        break;
    }
}

/* out_j = k(x, z_j) from the inner products t of a query with the columns; those of Matern kernels are left as squared
 * distances, which matern_row or matern_table_row maps. */
static KB_UNUSED void KB_NAME(map_row)(enum kb_routine routine, const double *constants, ptrdiff_t n_constants,
                                       KB_T *t, KB_T a, const KB_T *b, ptrdiff_t n, KB_T *out)
{
    switch (routine) {
    case KB_GAUSSIAN:
        KB_NAME(gaussian_row)(t, a, b, n, out);
        break;
    case KB_MATERN:
        KB_NAME(squared_distance_row)(t, a, b, n, out);
        break;
    case KB_POLYNOMIAL:
        if (constants[1] == 0 && constants[2] == 1)
            memcpy(out, t, n * sizeof(KB_T));
        else
            KB_NAME(polynomial_row)(t, (KB_T)constants[1], (int)constants[2], n, out);
        break;
    case KB_CENTRED:
        KB_NAME(centred_row)(t, a, b, n, out);
        break;
    case KB_POWER_SERIES:
        KB_NAME(power_series_row)(t, constants, n_constants, n, out);
        break;
    case KB_SIGMOID:
        KB_NAME(sigmoid_row)(t, (KB_T)constants[1], n, out);
        break;
    case KB_ARC_COSINE:
        KB_NAME(arc_cosine_row)(t, a, b, (int)constants[0], n, out);
        break;
    default:
        break;
    }
}
