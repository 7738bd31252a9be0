/* One precision of the symmetric product; see _symmetric.h. Included twice, so no guard. */

/* out += the contribution to K a of row i of a symmetric n x n matrix from the diagonal on, and of its mirror image. */
KB_INLINE void KB_NAME(add_half_row)(const KB_T *KB_RESTRICT row, ptrdiff_t i, ptrdiff_t n, const double *KB_RESTRICT a,
                                     double *KB_RESTRICT out)
{
    double sum = (double)row[i] * a[i];
    for (ptrdiff_t j = i + 1; j < n; j++) {
        out[j] += a[i] * (double)row[j];
        sum += (double)row[j] * a[j];
    }
    out[i] += sum;
}

#ifdef KB_VECTORS
typedef KB_T KB_NAME(kb_four) __attribute__((vector_size(4 * sizeof(KB_T)), aligned(sizeof(KB_T)), may_alias));
#define KB_FOUR(p) __builtin_convertvector(*(const KB_NAME(kb_four) *)(p), kb_four_doubles)

/* The same for `count` rows from `first` on; all rows, in any batches, add up to K a. Four at a time, so that a and out
 * are read once for the four. Without these vector types the compiler keeps the eight sums in memory, at a third of the
 * speed. */
KB_CLONES KB_UNUSED static void KB_NAME(add_symmetric)(KB_T *const *rows, ptrdiff_t first, ptrdiff_t count, ptrdiff_t n,
                                                       const double *KB_RESTRICT a, double *KB_RESTRICT out)
{
    ptrdiff_t r = 0;
    for (; r + 4 <= count; r += 4) {
        const ptrdiff_t i = first + r, whole = n - (n - i) % 4; /* where the last four of the columns end */
        const KB_T *KB_RESTRICT r0 = rows[r];
        const KB_T *KB_RESTRICT r1 = rows[r + 1];
        const KB_T *KB_RESTRICT r2 = rows[r + 2];
        const KB_T *KB_RESTRICT r3 = rows[r + 3];
        const double a0 = a[i], a1 = a[i + 1], a2 = a[i + 2], a3 = a[i + 3];
        /* The four rows among themselves, and then the columns to their right. */
        const kb_four_doubles mine = *(const kb_four_doubles *)(a + i);
        kb_four_doubles s0 = KB_FOUR(r0 + i) * mine, s1 = KB_FOUR(r1 + i) * mine;
        kb_four_doubles s2 = KB_FOUR(r2 + i) * mine, s3 = KB_FOUR(r3 + i) * mine;
        for (ptrdiff_t j = i + 4; j < whole; j += 4) {
            const kb_four_doubles k0 = KB_FOUR(r0 + j), k1 = KB_FOUR(r1 + j), k2 = KB_FOUR(r2 + j), k3 = KB_FOUR(r3 + j);
            const kb_four_doubles b = *(const kb_four_doubles *)(a + j);
            *(kb_four_doubles *)(out + j) += (a0 * k0 + a1 * k1) + (a2 * k2 + a3 * k3);
            s0 += k0 * b;
            s1 += k1 * b;
            s2 += k2 * b;
            s3 += k3 * b;
        }
        for (ptrdiff_t j = whole; j < n; j++) {
            const double k0 = r0[j], k1 = r1[j], k2 = r2[j], k3 = r3[j], b = a[j];
            out[j] += (a0 * k0 + a1 * k1) + (a2 * k2 + a3 * k3);
            s0[0] += k0 * b;
            s1[0] += k1 * b;
            s2[0] += k2 * b;
            s3[0] += k3 * b;
        }
        out[i] += (s0[0] + s0[1]) + (s0[2] + s0[3]);
        out[i + 1] += (s1[0] + s1[1]) + (s1[2] + s1[3]);
        out[i + 2] += (s2[0] + s2[1]) + (s2[2] + s2[3]);
        out[i + 3] += (s3[0] + s3[1]) + (s3[2] + s3[3]);
    }
    for (; r < count; r++)
        KB_NAME(add_half_row)(rows[r], first + r, n, a, out);
}
#undef KB_FOUR
#else
KB_UNUSED static void KB_NAME(add_symmetric)(KB_T *const *rows, ptrdiff_t first, ptrdiff_t count, ptrdiff_t n,
                                             const double *KB_RESTRICT a, double *KB_RESTRICT out)
{
    for (ptrdiff_t r = 0; r < count; r++)
        KB_NAME(add_half_row)(rows[r], first + r, n, a, out);
}
#endif
