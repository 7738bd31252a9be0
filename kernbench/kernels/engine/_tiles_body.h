/* One precision of the tile loops; see _tiles.h. Included twice, so no guard. */

/* --- sparse rows against a dense panel of KB_PANEL queries ----------------------------------------------------- */

/* out[r][q] = scale * sum over the stored entries of row r of value * panel[column][q].
 * Eight named vector accumulators: an array of them would be kept in memory, at a tenth of the speed. */
#ifdef KB_VECTORS
typedef KB_T KB_NAME(kb_lanes) __attribute__((vector_size(32), aligned(sizeof(KB_T)), may_alias));

KB_CLONES KB_UNUSED static void KB_NAME(csr_dots)(const KB_T *KB_RESTRICT values, const int32_t *KB_RESTRICT columns,
                                        const int64_t *KB_RESTRICT starts, ptrdiff_t n_rows,
                                        const KB_T *KB_RESTRICT panel, KB_T scale, KB_T *KB_RESTRICT out)
{
    enum { WIDTH = 8 * 32 / sizeof(KB_T) };
    for (ptrdiff_t r = 0; r < n_rows; r++) {
        for (int part = 0; part < KB_PANEL; part += WIDTH) {
            KB_NAME(kb_lanes) s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
            for (int64_t k = starts[r]; k < starts[r + 1]; k++) {
                const KB_NAME(kb_lanes) *p =
                    (const KB_NAME(kb_lanes) *)(panel + (ptrdiff_t)columns[k] * KB_PANEL + part);
                const KB_T v = values[k];
                s0 += v * p[0];
                s1 += v * p[1];
                s2 += v * p[2];
                s3 += v * p[3];
                s4 += v * p[4];
                s5 += v * p[5];
                s6 += v * p[6];
                s7 += v * p[7];
            }
            KB_NAME(kb_lanes) *o = (KB_NAME(kb_lanes) *)(out + r * KB_PANEL + part);
            o[0] = scale * s0;
            o[1] = scale * s1;
            o[2] = scale * s2;
            o[3] = scale * s3;
            o[4] = scale * s4;
            o[5] = scale * s5;
            o[6] = scale * s6;
            o[7] = scale * s7;
        }
    }
}
#else
static void KB_NAME(csr_dots)(const KB_T *KB_RESTRICT values, const int32_t *KB_RESTRICT columns,
                              const int64_t *KB_RESTRICT starts, ptrdiff_t n_rows,
                              const KB_T *KB_RESTRICT panel, KB_T scale, KB_T *KB_RESTRICT out)
{
    for (ptrdiff_t r = 0; r < n_rows; r++) {
        KB_T *KB_RESTRICT o = out + r * KB_PANEL;
        for (int q = 0; q < KB_PANEL; q++)
            o[q] = 0;
        for (int64_t k = starts[r]; k < starts[r + 1]; k++)
            for (int q = 0; q < KB_PANEL; q++)
                o[q] += scale * values[k] * panel[(ptrdiff_t)columns[k] * KB_PANEL + q];
    }
}
#endif

/* The same for a panel of KB_NARROW queries. Two accumulators: with one, each addition would wait for the previous one.
 * */
#ifdef KB_VECTORS
KB_CLONES KB_UNUSED static void KB_NAME(csr_dots_narrow)(const KB_T *KB_RESTRICT values,
                                        const int32_t *KB_RESTRICT columns, const int64_t *KB_RESTRICT starts,
                                        ptrdiff_t n_rows, const KB_T *KB_RESTRICT panel, KB_T scale,
                                        KB_T *KB_RESTRICT out)
{
    enum { WIDTH = 32 / sizeof(KB_T) };
    for (ptrdiff_t r = 0; r < n_rows; r++) {
        for (int part = 0; part < KB_NARROW; part += WIDTH) {
            KB_NAME(kb_lanes) s0 = {0}, s1 = {0};
            int64_t k = starts[r];
            for (; k + 1 < starts[r + 1]; k += 2) {
                s0 += values[k] * *(const KB_NAME(kb_lanes) *)(panel + (ptrdiff_t)columns[k] * KB_NARROW + part);
                s1 += values[k + 1] *
                      *(const KB_NAME(kb_lanes) *)(panel + (ptrdiff_t)columns[k + 1] * KB_NARROW + part);
            }
            if (k < starts[r + 1])
                s0 += values[k] * *(const KB_NAME(kb_lanes) *)(panel + (ptrdiff_t)columns[k] * KB_NARROW + part);
            *(KB_NAME(kb_lanes) *)(out + r * KB_NARROW + part) = scale * (s0 + s1);
        }
    }
}
#else
static void KB_NAME(csr_dots_narrow)(const KB_T *KB_RESTRICT values, const int32_t *KB_RESTRICT columns,
                                     const int64_t *KB_RESTRICT starts, ptrdiff_t n_rows,
                                     const KB_T *KB_RESTRICT panel, KB_T scale, KB_T *KB_RESTRICT out)
{
    for (ptrdiff_t r = 0; r < n_rows; r++) {
        KB_T *KB_RESTRICT o = out + r * KB_NARROW;
        for (int q = 0; q < KB_NARROW; q++)
            o[q] = 0;
        for (int64_t k = starts[r]; k < starts[r + 1]; k++)
            for (int q = 0; q < KB_NARROW; q++)
                o[q] += scale * values[k] * panel[(ptrdiff_t)columns[k] * KB_NARROW + q];
    }
}
#endif

/* rows[q][r] = tile[r][q] for the first n_queries queries: the tile is small enough to stay in the first-level cache. */
KB_CLONES KB_UNUSED static void KB_NAME(untangle)(const KB_T *KB_RESTRICT tile, ptrdiff_t n_rows, ptrdiff_t n_queries,
                                        KB_T **rows, ptrdiff_t offset)
{
    ptrdiff_t q = 0;
#ifdef KB_TURNS
    enum { SIDE = KB_NAME(KB_SIDE) };
    const ptrdiff_t whole = n_rows / SIDE * SIDE;
    for (; q + SIDE <= n_queries; q += SIDE) {
        for (ptrdiff_t r = 0; r < whole; r += SIDE)
            KB_NAME(kb_turn)(tile + r * KB_PANEL + q, rows + q, offset + r);
        for (ptrdiff_t r = whole; r < n_rows; r++)
            for (int l = 0; l < SIDE; l++)
                rows[q + l][offset + r] = tile[r * KB_PANEL + q + l];
    }
#endif
    for (; q < n_queries; q++) {
        KB_T *KB_RESTRICT row = rows[q] + offset;
        for (ptrdiff_t r = 0; r < n_rows; r++)
            row[r] = tile[r * KB_PANEL + q];
    }
}

/* out[r] += sum over the first n_queries queries of weights[q] * tile[r][q], in double. Sixteen at a time in four
 * vectors: with a single accumulator, each addition would wait for the previous one. */
#ifdef KB_VECTORS
typedef KB_T KB_NAME(kb_four) __attribute__((vector_size(4 * sizeof(KB_T)), aligned(sizeof(KB_T)), may_alias));
#ifndef KB_FOUR_DOUBLES
#define KB_FOUR_DOUBLES
typedef double kb_four_doubles __attribute__((vector_size(32), aligned(8), may_alias));
#endif
#define KB_FOUR(p) __builtin_convertvector(*(const KB_NAME(kb_four) *)(p), kb_four_doubles)

KB_CLONES KB_UNUSED static void KB_NAME(add_columns)(const KB_T *KB_RESTRICT tile, ptrdiff_t n_rows,
                                        const double *KB_RESTRICT weights, ptrdiff_t n_queries,
                                        double *KB_RESTRICT out)
{
    const kb_four_doubles *w = (const kb_four_doubles *)weights;
    for (ptrdiff_t r = 0; r < n_rows; r++) {
        const KB_T *row = tile + r * KB_PANEL;
        kb_four_doubles s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
        ptrdiff_t q = 0;
        for (; q + 16 <= n_queries; q += 16) {
            s0 += w[q / 4] * KB_FOUR(row + q);
            s1 += w[q / 4 + 1] * KB_FOUR(row + q + 4);
            s2 += w[q / 4 + 2] * KB_FOUR(row + q + 8);
            s3 += w[q / 4 + 3] * KB_FOUR(row + q + 12);
        }
        s0 = (s0 + s1) + (s2 + s3);
        double total = (s0[0] + s0[1]) + (s0[2] + s0[3]);
        for (; q < n_queries; q++)
            total += weights[q] * (double)row[q];
        out[r] += total;
    }
}
#undef KB_FOUR
#else
static void KB_NAME(add_columns)(const KB_T *KB_RESTRICT tile, ptrdiff_t n_rows, const double *KB_RESTRICT weights,
                                 ptrdiff_t n_queries, double *KB_RESTRICT out)
{
    for (ptrdiff_t r = 0; r < n_rows; r++)
        for (ptrdiff_t q = 0; q < n_queries; q++)
            out[r] += weights[q] * (double)tile[r * KB_PANEL + q];
}
#endif

/* --- combinations of kernels ------------------------------------------------------------------------------------ */

/* out_j = u a_j + v out_j */
KB_CLONES KB_UNUSED static void KB_NAME(add_row)(KB_T u, const KB_T *KB_RESTRICT a, KB_T v, ptrdiff_t n,
                                                 KB_T *KB_RESTRICT out)
{
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] = u * a[j] + v * out[j];
}

/* out_j *= a_j */
KB_CLONES KB_UNUSED static void KB_NAME(multiply_row)(const KB_T *KB_RESTRICT a, ptrdiff_t n, KB_T *KB_RESTRICT out)
{
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] *= a[j];
}

/* out_j *= u */
KB_CLONES KB_UNUSED static void KB_NAME(scale_row)(KB_T u, ptrdiff_t n, KB_T *KB_RESTRICT out)
{
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] *= u;
}

/* --- what is done with finished rows --------------------------------------------------------------------------- */

/* sum_j row_j * a_j in double, eight partial sums so that it vectorises without re-association. */
KB_CLONES KB_UNUSED static double KB_NAME(dot_row)(const KB_T *KB_RESTRICT row, const double *KB_RESTRICT a, ptrdiff_t n)
{
    double sums[16] = {0};
    ptrdiff_t j = 0;
    for (; j + 16 <= n; j += 16)
        for (int l = 0; l < 16; l++)
            sums[l] += (double)row[j + l] * a[j + l];
    double total = 0;
    for (; j < n; j++)
        total += (double)row[j] * a[j];
    for (int l = 0; l < 16; l++)
        total += sums[l];
    return total;
}

/* g_j += sum_w step_w * rows[w][j] for j in [start, stop), four rows at a time to spare passes over g. */
KB_CLONES KB_UNUSED static void KB_NAME(add_rows)(KB_T *const *rows, const double *KB_RESTRICT steps, ptrdiff_t n_rows,
                                        ptrdiff_t start, ptrdiff_t stop, double *KB_RESTRICT g)
{
    ptrdiff_t w = 0;
    for (; w + 4 <= n_rows; w += 4) {
        const KB_T *KB_RESTRICT r0 = rows[w];
        const KB_T *KB_RESTRICT r1 = rows[w + 1];
        const KB_T *KB_RESTRICT r2 = rows[w + 2];
        const KB_T *KB_RESTRICT r3 = rows[w + 3];
        const double s0 = steps[w], s1 = steps[w + 1], s2 = steps[w + 2], s3 = steps[w + 3];
        for (ptrdiff_t j = start; j < stop; j++)
            g[j] += (s0 * (double)r0[j] + s1 * (double)r1[j]) + (s2 * (double)r2[j] + s3 * (double)r3[j]);
    }
    for (; w < n_rows; w++) {
        const KB_T *KB_RESTRICT r0 = rows[w];
        const double s0 = steps[w];
        for (ptrdiff_t j = start; j < stop; j++)
            g[j] += s0 * (double)r0[j];
    }
}

/* One step of responses and of their average in one pass over memory:
 * c_j = (c_j + step * y_j * row_j) * shrink; average_j += share * c_j. */
KB_CLONES KB_UNUSED static void KB_NAME(step_responses)(const KB_T *KB_RESTRICT row, const double *KB_RESTRICT y, double step,
                                              double shrink, double share, ptrdiff_t n, double *KB_RESTRICT c,
                                              double *KB_RESTRICT average)
{
    for (ptrdiff_t j = 0; j < n; j++) {
        const double moved = (c[j] + step * y[j] * (double)row[j]) * shrink;
        c[j] = moved;
        average[j] += share * moved;
    }
}
