/* One precision of the products; see _passes.h. Included twice, so no guard. */

/* out_i = <x_i, w>. Eight partial sums let it vectorise without re-association. */
KB_CLONES KB_UNUSED static void KB_NAME(dense_scores)(const KB_T *KB_RESTRICT x, ptrdiff_t n, ptrdiff_t d,
                                                      const double *KB_RESTRICT w, double *KB_RESTRICT out)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const KB_T *KB_RESTRICT row = x + i * d;
        double sums[8] = {0}, total = 0;
        ptrdiff_t k = 0;
        for (; k + 8 <= d; k += 8)
            for (int l = 0; l < 8; l++)
                sums[l] += (double)row[k + l] * w[k + l];
        for (; k < d; k++)
            total += (double)row[k] * w[k];
        for (int l = 0; l < 8; l++)
            total += sums[l];
        out[i] = total;
    }
}

/* sums_k += sum_i g_i x_ik, four rows at a time to spare loads and stores of the sums. */
KB_CLONES KB_UNUSED static void KB_NAME(dense_combine)(const KB_T *KB_RESTRICT x, ptrdiff_t n, ptrdiff_t d,
                                                       const double *KB_RESTRICT g, double *KB_RESTRICT sums)
{
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const KB_T *KB_RESTRICT r = x + i * d;
        const double g0 = g[i], g1 = g[i + 1], g2 = g[i + 2], g3 = g[i + 3];
        for (ptrdiff_t k = 0; k < d; k++)
            sums[k] += (g0 * (double)r[k] + g1 * (double)r[k + d]) +
                       (g2 * (double)r[k + 2 * d] + g3 * (double)r[k + 3 * d]);
    }
    for (; i < n; i++)
        for (ptrdiff_t k = 0; k < d; k++)
            sums[k] += g[i] * (double)x[i * d + k];
}

/* out_i = <x_i, w> for rows start to stop of a CSR matrix. */
KB_UNUSED static void KB_NAME(sparse_scores)(const KB_T *KB_RESTRICT values, const int32_t *KB_RESTRICT columns,
                                             const int64_t *KB_RESTRICT starts, ptrdiff_t start, ptrdiff_t stop,
                                             const double *KB_RESTRICT w, double *KB_RESTRICT out)
{
    for (ptrdiff_t i = start; i < stop; i++) {
        double even = 0, odd = 0;
        int64_t k = starts[i];
        for (; k + 2 <= starts[i + 1]; k += 2) {
            even += (double)values[k] * w[columns[k]];
            odd += (double)values[k + 1] * w[columns[k + 1]];
        }
        if (k < starts[i + 1])
            even += (double)values[k] * w[columns[k]];
        out[i] = even + odd;
    }
}

/* sums_k += sum_i g_i x_ik for rows start to stop of a CSR matrix. */
KB_UNUSED static void KB_NAME(sparse_combine)(const KB_T *KB_RESTRICT values, const int32_t *KB_RESTRICT columns,
                                              const int64_t *KB_RESTRICT starts, ptrdiff_t start, ptrdiff_t stop,
                                              const double *KB_RESTRICT g, double *KB_RESTRICT sums)
{
    for (ptrdiff_t i = start; i < stop; i++) {
        const double gi = g[i];
        if (gi == 0)
            continue;
        for (int64_t k = starts[i]; k < starts[i + 1]; k++)
            sums[columns[k]] += gi * (double)values[k];
    }
}

/* Rows of either kind, dense and double: out is count x d. */
KB_UNUSED static void KB_NAME(dense_gather)(const KB_T *KB_RESTRICT x, ptrdiff_t d, const ptrdiff_t *KB_RESTRICT rows,
                                            ptrdiff_t count, double *KB_RESTRICT out)
{
    for (ptrdiff_t q = 0; q < count; q++)
        for (ptrdiff_t k = 0; k < d; k++)
            out[q * d + k] = (double)x[rows[q] * d + k];
}

KB_UNUSED static void KB_NAME(sparse_gather)(const KB_T *KB_RESTRICT values, const int32_t *KB_RESTRICT columns,
                                             const int64_t *KB_RESTRICT starts, ptrdiff_t d,
                                             const ptrdiff_t *KB_RESTRICT rows, ptrdiff_t count,
                                             double *KB_RESTRICT out)
{
    memset(out, 0, count * d * sizeof *out);
    for (ptrdiff_t q = 0; q < count; q++)
        for (int64_t k = starts[rows[q]]; k < starts[rows[q] + 1]; k++)
            out[q * d + columns[k]] = (double)values[k];
}
