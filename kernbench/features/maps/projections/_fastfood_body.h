/* The loops of _fastfood.h in one precision. Included twice, so no guard. */

/* z = H z, H the Walsh-Hadamard matrix of n = 2^levels rows (entries +1 and -1), KB_LANES vectors side by side.
 * Two levels in one pass over memory, and a single one first if their number is odd. */
KB_CLONES KB_UNUSED static void KB_NAME(kb_hadamard)(KB_T *KB_RESTRICT z, ptrdiff_t n)
{
    ptrdiff_t h = 1;
    int odd = 0;
    for (ptrdiff_t m = n; m > 1; m >>= 1)
        odd = !odd;
    if (odd) {
        for (ptrdiff_t i = 0; i < n; i += 2) {
            KB_T *KB_RESTRICT p = z + i * KB_LANES;
            for (int l = 0; l < KB_LANES; l++) {
                const KB_T a = p[l], b = p[KB_LANES + l];
                p[l] = a + b;
                p[KB_LANES + l] = a - b;
            }
        }
        h = 2;
    }
    for (; h < n; h *= 4)
        for (ptrdiff_t i = 0; i < n; i += 4 * h)
            for (ptrdiff_t j = i; j < i + h; j++) {
                KB_T *KB_RESTRICT p = z + j * KB_LANES;
                const ptrdiff_t s = h * KB_LANES;
                for (int l = 0; l < KB_LANES; l++) {
                    const KB_T a = p[l] + p[s + l], b = p[l] - p[s + l];
                    const KB_T c = p[2 * s + l] + p[3 * s + l], d = p[2 * s + l] - p[3 * s + l];
                    p[l] = a + c;
                    p[s + l] = b + d;
                    p[2 * s + l] = a - c;
                    p[3 * s + l] = b - d;
                }
            }
}

/* arguments[r][i] = (S H G P H B x_r)_i for i < count, for n_rows <= KB_LANES rows. `z` and `u` hold
 * padded * KB_LANES numbers each. */
KB_CLONES KB_UNUSED static void KB_NAME(kb_fastfood_rows)(const KB_T *KB_RESTRICT x, ptrdiff_t n_rows, ptrdiff_t d,
                                                          ptrdiff_t padded, const KB_T *KB_RESTRICT signs,
                                                          const int32_t *KB_RESTRICT permutation,
                                                          const KB_T *KB_RESTRICT normals,
                                                          const KB_T *KB_RESTRICT lengths, ptrdiff_t count,
                                                          KB_T *KB_RESTRICT z, KB_T *KB_RESTRICT u,
                                                          KB_T *KB_RESTRICT arguments)
{
    memset(z, 0, (size_t)(padded * KB_LANES) * sizeof *z);
    for (ptrdiff_t r = 0; r < n_rows; r++)
        for (ptrdiff_t i = 0; i < d; i++)
            z[i * KB_LANES + r] = signs[i] * x[r * d + i];
    KB_NAME(kb_hadamard)(z, padded);
    for (ptrdiff_t i = 0; i < padded; i++) {
        const KB_T *KB_RESTRICT from = z + (ptrdiff_t)permutation[i] * KB_LANES;
        const KB_T g = normals[i];
        for (int l = 0; l < KB_LANES; l++)
            u[i * KB_LANES + l] = g * from[l];
    }
    KB_NAME(kb_hadamard)(u, padded);
    for (ptrdiff_t r = 0; r < n_rows; r++)
        for (ptrdiff_t i = 0; i < count; i++)
            arguments[r * count + i] = lengths[i] * u[i * KB_LANES + r];
}
